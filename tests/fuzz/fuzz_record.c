/* Records from an untrusted msgpack peer. The first byte chooses the operation. What record_check accepts can be opened,
 * validated and written as JSON, and comes back from JSON as the same bytes: there is one form of each request. */
#include "protocol/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void accepted(struct json_reader *r, enum op op, struct slice bytes, struct arena *a)
{
	struct request req, again;
	struct fault f;
	struct buf json;

	fault_init(&f, a);
	buf_init(&json);
	require(request_open(&req, op, bytes, a, &f) == ERR_OK);
	if (request_check(&req, &f) != ERR_OK)
		require(f.code == ERR_VALIDATION && f.text != NULL);
	json_write(&json, op_info[op].in, bytes);
	require(json_read_request(r, op, buf_slice(&json), a, &again, &f) == ERR_OK);
	require(again.value_fault.code == ERR_OK);
	require(slice_eq(again.bytes, bytes));
	buf_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json_reader *r;
	struct arena a;
	struct record rec;
	struct slice bytes;
	enum op op;

	if (size == 0)
		return 0;
	if (r == NULL)
		r = json_reader_new();
	op = (enum op)(data[0] % OP_COUNT);
	bytes = slice_of(data + 1, size - 1);
	arena_init(&a, 0);
	if (record_check(op_info[op].in, bytes, NULL) == ERR_OK)
		accepted(r, op, bytes, &a);
	else if (record_open(&rec, op_info[op].in, bytes))
		for (unsigned id = 0; id < op_info[op].in->members; id++)
			record_int(&rec, id, 0);
	arena_release(&a);
	return 0;
}
