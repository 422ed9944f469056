/* A log segment's bytes as recovery and log readers see them: headers, batches, records, ops, and the scan of the rest.
 *
 * The first byte chooses whether the sums are made right first, so that the fuzzer gets behind them. */
#include <stdlib.h>

#include "store/engine/log_format.h"
#include "store/engine/log_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 16 };

static const uint8_t uuid[LOG_UUID];

static enum err record(void *arg, const struct log_record *r, struct fault *f)
{
	struct log_ops ops = log_ops_of(r->ops);
	struct log_op op;
	volatile uint8_t *sink = arg;

	(void)f;
	while (log_op_next(&ops, &op)) {
		if (op.key.n > 0)
			*sink ^= op.key.p[op.key.n - 1];
		if (op.value.n > 0)
			*sink ^= op.value.p[op.value.n - 1];
		if (op.tail.n > 0)
			*sink ^= op.tail.p[op.tail.n - 1];
	}
	return ERR_OK;
}

/* Put the input into batches that are whole: only their records are the fuzzer's. */
static size_t make_segment(uint8_t *out, const uint8_t *data, size_t size, uint64_t salt)
{
	size_t at = LOG_SEGMENT_HEADER;

	while (size > 2) {
		size_t n = data[0] | (size_t)(data[1] & 15) << 8;
		struct buf b;

		n = n < size - 2 ? n : size - 2;
		buf_init(&b);
		log_batch_begin(&b);
		buf_put(&b, data + 2, n);
		log_batch_end(&b, salt, data[0] & 3, data[1], data[0]);
		if (b.n > ROOM - at) {
			buf_release(&b);
			break;
		}
		memcpy(out + at, b.p, b.n);
		at += b.n;
		buf_release(&b);
		data += 2 + n;
		size -= 2 + n;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t salt = log_salt(uuid, 1);
	uint8_t *segment, sink = 0;
	struct log_scan s = { .record = record, .arg = &sink };
	struct log_header h;
	size_t n;

	if (size < 1 || size > ROOM / 2)
		return 0;
	segment = calloc(1, ROOM);
	n = data[0] & 1 ? make_segment(segment, data + 1, size - 1, salt) : size - 1;
	if ((data[0] & 1) == 0)
		memcpy(segment, data + 1, size - 1);
	(void)log_header_decode(slice_of(segment, n), &h);
	enum err rc = log_scan(slice_of(segment, n), salt, &s, NULL);

	if (rc != ERR_OK && rc != ERR_CORRUPT)
		abort();
	if (s.end > n && n >= LOG_SEGMENT_HEADER)
		abort();
	free(segment);
	return 0;
}
