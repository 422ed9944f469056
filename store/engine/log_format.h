/* log_format - the bytes of a log segment. All numbers are little-endian.
 *
 *    segment    [header 64][batch][batch] ... [zeros, or what an earlier life of the file has left]
 *
 *    header     magic 8 | sum 8 | version 4 | durability 4 | uuid 16 | seq 8 | prev_lsn 8 | durable_lsn 8
 *    batch      magic^salt 8 | sum 8 | length 4 | records 4 | last_lsn 8 | durable_lsn 8 | records... | pad to 8
 *    record     lsn 8 | time_ms 8 | length 4 | ops 4 | op...                one transaction
 *    op         value_n 4 | key_n 2 | kind 1 | zero 1 | key | value        PUT_MORE: the value goes on with that of the last PUT
 *                                                                          before it in the record
 *
 * L1. A batch is written by one write and holds whole transactions: it is in the log as a whole or not at all.
 * L2. `sum` covers everything behind it and is seeded with the salt, a hash of the data directory's uuid and the
 *     segment's number: bytes of a recycled file's earlier life never pass for a batch.
 * L3. `durable_lsn` of a batch or a segment: what was on disk for certain before it was written. So a gap in front of
 *     it is damage if that LSN is missing, and a torn tail otherwise.
 *
 * Not here: files (segment.h), threads (wal.h). Decoders trust nothing: tests/fuzz/fuzz_log.c. */
#ifndef DYNAX_STORE_ENGINE_LOG_FORMAT_H
#define DYNAX_STORE_ENGINE_LOG_FORMAT_H

#include "protocol/buf.h"
#include "protocol/slice.h"

enum {
	LOG_VERSION = 1,
	LOG_SEGMENT_HEADER = 64,
	LOG_BATCH_HEADER = 40,
	LOG_RECORD_HEADER = 24,
	LOG_OP_HEADER = 8,
	LOG_ALIGN = 8,
	LOG_BATCH_MAX = 1 << 30,
	LOG_UUID = 16
};

enum log_op_kind { LOG_OP_PUT = 1, LOG_OP_DEL, LOG_OP_NOTE, LOG_OP_DROP, LOG_OP_PUT_MORE };

struct log_header {
	uint32_t durability;
	uint8_t uuid[LOG_UUID];
	uint64_t seq;
	uint64_t prev_lsn;       /* the last LSN before this segment */
	uint64_t durable_lsn;
};

struct log_batch {
	uint64_t last_lsn, durable_lsn;
	uint32_t count;
	struct slice records;
	size_t size;             /* with header and padding */
};

struct log_record {
	uint64_t lsn, time_ms;
	uint32_t count;
	struct slice ops;
};

struct log_op {
	enum log_op_kind kind;
	struct slice key, value; /* NOTE has only a value, DROP and DEL only a key */
	struct slice tail;       /* of PUT_MORE: what its value goes on with; to be encoded: of PUT too */
};

/* A record's ops, those that are left. */
struct log_ops {
	struct slice in;
	struct slice put;        /* value of the last PUT */
};
static inline struct log_ops log_ops_of(struct slice bytes)
{
	return (struct log_ops){ .in = bytes };
}

static inline size_t log_align(size_t n)
{
	return (n + LOG_ALIGN - 1) & ~(size_t)(LOG_ALIGN - 1);
}

uint64_t log_salt(const uint8_t uuid[LOG_UUID], uint64_t seq);

void log_header_encode(uint8_t out[LOG_SEGMENT_HEADER], const struct log_header *h);
bool log_header_decode(struct slice in, struct log_header *h);

/* ---- building a batch ---- */

/* Reserve the batch's header, then for each transaction a record's header, then its ops. */
void log_batch_begin(struct buf *b);
void log_record_begin(struct buf *b);
void log_op_put(struct buf *b, const struct log_op *op);
/* Fill in the header of the record that begins at `at` and goes to the end. */
void log_record_end(struct buf *b, size_t at, uint64_t lsn, uint64_t time_ms, uint32_t ops);
/* Fill in the header of the batch, and pad it. */
void log_batch_end(struct buf *b, uint64_t salt, uint32_t records, uint64_t last_lsn, uint64_t durable_lsn);

/* ---- reading ---- */

/* The size of the batch at the start of `in`, which has at least a header; 0 if there is none. Unverified. */
size_t log_batch_size(struct slice in, uint64_t salt);
/* The batch at the start of `in`; false if there is no whole and undamaged one. */
bool log_batch_decode(struct slice in, uint64_t salt, struct log_batch *b);
/* Take the next record off the front of `in`; false at the end or if it is malformed. */
bool log_record_next(struct slice *in, struct log_record *r);
bool log_op_next(struct log_ops *ops, struct log_op *op);

#endif
