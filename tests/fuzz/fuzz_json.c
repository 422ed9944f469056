/* JSON bodies from an untrusted client. The first byte chooses the operation, and whether the request or the answer is
 * read. What is read must be canonical (record_check), and written and read again it must be the same bytes. */
#include "protocol/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void there_and_back(struct json_reader *r, const struct shape *s, struct slice record, struct arena *a)
{
	struct buf json, again;

	buf_init(&json);
	buf_init(&again);
	require(record_check(s, record, NULL) == ERR_OK);
	json_write(&json, s, record);
	require(!json.failed);
	require(json_read(r, s, buf_slice(&json), a, &again, NULL) == ERR_OK);
	require(slice_eq(buf_slice(&again), record));
	buf_release(&json);
	buf_release(&again);
}

static void read_request(struct json_reader *r, enum op op, struct slice body, struct arena *a)
{
	struct request req;
	struct fault f;
	struct buf out;

	fault_init(&f, a);
	buf_init(&out);
	if (json_read_request(r, op, body, a, &req, &f) == ERR_OK) {
		if (req.value_fault.code == ERR_OK) /* else a name may be one that no record has */
			there_and_back(r, op_info[op].in, req.bytes, a);
		if (request_check(&req, &f) != ERR_OK)
			json_write_fault(&out, &f);
	} else {
		require(f.code == ERR_SERIALIZATION && f.text != NULL);
		json_write_fault(&out, &f);
	}
	buf_release(&out);
}

static void read_answer(struct json_reader *r, enum op op, struct slice body, struct arena *a)
{
	struct buf out;
	struct fault f;

	fault_init(&f, a);
	buf_init(&out);
	if (json_read(r, op_info[op].out, body, a, &out, &f) == ERR_OK)
		there_and_back(r, op_info[op].out, buf_slice(&out), a);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json_reader *r; /* kept, as a worker keeps its own */
	struct arena a;
	struct slice body;

	if (size == 0)
		return 0;
	if (r == NULL)
		r = json_reader_new();
	arena_init(&a, 0);
	body = slice_of(data + 1, size - 1);
	if (data[0] < 0x80)
		read_request(r, (enum op)(data[0] % OP_COUNT), body, &a);
	else
		read_answer(r, (enum op)(data[0] % OP_COUNT), body, &a);
	arena_release(&a);
	return 0;
}
