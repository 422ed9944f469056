/* log_format - encoders and decoders of log_format.h. Pure functions. */
#include "store/engine/log_format.h"

#include <endian.h>
#include <xxhash.h>

static const uint64_t HEADER_MAGIC = 0x31676f6c786e7964u;   /* "dynxlog1" */
static const uint64_t BATCH_MAGIC = 0xb47c4d8e1f02a96bu;

enum { SUM_AT = 8, SUM_END = 16 };   /* of both headers */

static void put16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof v);
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof v);
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof v);
}

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return le16toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return le32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return le64toh(v);
}

static struct slice after(struct slice s, size_t n)
{
	return slice_of(s.p + n, s.n - n);
}

uint64_t log_salt(const uint8_t uuid[LOG_UUID], uint64_t seq)
{
	return XXH3_64bits_withSeed(uuid, LOG_UUID, seq);
}

/* ---- segment header ---- */

void log_header_encode(uint8_t out[LOG_SEGMENT_HEADER], const struct log_header *h)
{
	memset(out, 0, LOG_SEGMENT_HEADER);
	put64(out, HEADER_MAGIC);
	put32(out + 16, LOG_VERSION);
	put32(out + 20, h->durability);
	memcpy(out + 24, h->uuid, LOG_UUID);
	put64(out + 40, h->seq);
	put64(out + 48, h->prev_lsn);
	put64(out + 56, h->durable_lsn);
	put64(out + SUM_AT, XXH3_64bits(out + SUM_END, LOG_SEGMENT_HEADER - SUM_END));
}

bool log_header_decode(struct slice in, struct log_header *h)
{
	if (in.n < LOG_SEGMENT_HEADER || get64(in.p) != HEADER_MAGIC || get32(in.p + 16) != LOG_VERSION ||
		get64(in.p + SUM_AT) != XXH3_64bits(in.p + SUM_END, LOG_SEGMENT_HEADER - SUM_END))
		return false;
	h->durability = get32(in.p + 20);
	memcpy(h->uuid, in.p + 24, LOG_UUID);
	h->seq = get64(in.p + 40);
	h->prev_lsn = get64(in.p + 48);
	h->durable_lsn = get64(in.p + 56);
	return true;
}

/* ---- building ---- */

static void reserve(struct buf *b, size_t n)
{
	if (buf_reserve(b, n) != NULL)
		b->n += n;
}

void log_batch_begin(struct buf *b)
{
	reserve(b, LOG_BATCH_HEADER);
}

void log_record_begin(struct buf *b)
{
	reserve(b, LOG_RECORD_HEADER);
}

void log_op_put(struct buf *b, const struct log_op *op)
{
	size_t tail_n = op->kind == LOG_OP_PUT ? op->tail.n : 0, n = LOG_OP_HEADER + op->key.n + op->value.n + tail_n;
	uint8_t *p = buf_reserve(b, n);

	if (p == NULL)
		return;
	put32(p, (uint32_t)(op->value.n + tail_n));
	put16(p + 4, (uint16_t)op->key.n);
	p[6] = (uint8_t)op->kind;
	p[7] = 0;
	if (op->key.n != 0)
		memcpy(p + LOG_OP_HEADER, op->key.p, op->key.n);
	if (op->value.n != 0)
		memcpy(p + LOG_OP_HEADER + op->key.n, op->value.p, op->value.n);
	if (tail_n != 0)
		memcpy(p + n - tail_n, op->tail.p, tail_n);
	b->n += n;
}

void log_record_end(struct buf *b, size_t at, uint64_t lsn, uint64_t time_ms, uint32_t ops)
{
	put64(b->p + at, lsn);
	put64(b->p + at + 8, time_ms);
	put32(b->p + at + 16, (uint32_t)(b->n - at - LOG_RECORD_HEADER));
	put32(b->p + at + 20, ops);
}

void log_batch_end(struct buf *b, uint64_t salt, uint32_t records, uint64_t last_lsn, uint64_t durable_lsn)
{
	static const uint8_t zeros[LOG_ALIGN];

	put64(b->p, BATCH_MAGIC ^ salt);
	put32(b->p + 16, (uint32_t)(b->n - LOG_BATCH_HEADER));
	put32(b->p + 20, records);
	put64(b->p + 24, last_lsn);
	put64(b->p + 32, durable_lsn);
	put64(b->p + SUM_AT, XXH3_64bits_withSeed(b->p + SUM_END, b->n - SUM_END, salt));
	buf_put(b, zeros, log_align(b->n) - b->n);
}

/* ---- reading ---- */

size_t log_batch_size(struct slice in, uint64_t salt)
{
	uint32_t length;

	if (in.n < LOG_BATCH_HEADER || get64(in.p) != (BATCH_MAGIC ^ salt))
		return 0;
	length = get32(in.p + 16);
	return length <= LOG_BATCH_MAX ? log_align(LOG_BATCH_HEADER + (size_t)length) : 0;
}

bool log_batch_decode(struct slice in, uint64_t salt, struct log_batch *b)
{
	size_t size = log_batch_size(in, salt);

	if (size == 0 || size > in.n)
		return false;
	uint32_t length = get32(in.p + 16);

	if (get64(in.p + SUM_AT) != XXH3_64bits_withSeed(in.p + SUM_END, LOG_BATCH_HEADER + length - SUM_END, salt))
		return false;
	*b = (struct log_batch){ .last_lsn = get64(in.p + 24), .durable_lsn = get64(in.p + 32),
		.count = get32(in.p + 20), .records = slice_of(in.p + LOG_BATCH_HEADER, length), .size = size };
	return true;
}

bool log_record_next(struct slice *in, struct log_record *r)
{
	if (in->n < LOG_RECORD_HEADER)
		return false;
	uint32_t length = get32(in->p + 16);

	if (length > in->n - LOG_RECORD_HEADER)
		return false;
	*r = (struct log_record){ .lsn = get64(in->p), .time_ms = get64(in->p + 8), .count = get32(in->p + 20),
		.ops = slice_of(in->p + LOG_RECORD_HEADER, length) };
	*in = after(*in, LOG_RECORD_HEADER + length);
	return true;
}

bool log_op_next(struct log_ops *ops, struct log_op *op)
{
	struct slice *in = &ops->in;

	if (in->n < LOG_OP_HEADER)
		return false;
	size_t value_n = get32(in->p), key_n = get16(in->p + 4);
	uint8_t kind = in->p[6];

	if (kind < LOG_OP_PUT || kind > LOG_OP_PUT_MORE || key_n + value_n > in->n - LOG_OP_HEADER)
		return false;
	if (kind == LOG_OP_PUT_MORE && !slice_present(ops->put))
		return false;
	op->kind = kind;
	op->key = slice_of(in->p + LOG_OP_HEADER, key_n);
	op->value = kind == LOG_OP_DEL ? SLICE_NONE : slice_of(in->p + LOG_OP_HEADER + key_n, value_n);
	op->tail = kind == LOG_OP_PUT_MORE ? ops->put : SLICE_NONE;
	if (kind == LOG_OP_PUT)
		ops->put = op->value;
	*in = after(*in, LOG_OP_HEADER + key_n + value_n);
	return true;
}
