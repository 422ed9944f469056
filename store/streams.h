/* streams - the changes of a table, kept a day for those who follow them: DynamoDB Streams.
 *
 *    item_apply --stream_record--> | shard id | position | -> [what, Key, old image, new image]
 *    GetRecords <-- one range walk of a view, from where the iterator points
 *    keeper     --streams_trim--> drops what is older than a day, bucket by bucket
 *
 *    streams_rows.c: a row for each stream, also of a table long deleted, and for each shard
 *
 *    position:  milliseconds since 1970, 44 bits | counter, 20 bits          its first 3 bytes are a bucket of 17.5 minutes
 *
 * A record is an entry of the engine of its own, put by the transaction that changes the item, and not a place in the log:
 * so it is there exactly if the change is, before and after any crash, with no index to rebuild; a page of records costs
 * what it holds, however much other tables write; the log is recycled as if there were no streams; and a day's records of a
 * few tables are kept instead of a day's log of all. A new image is in the log once, for the item and the record alike; records
 * of a shard are appended in key order, the cheapest way into LMDB.
 *
 * T1. Positions grow from record to record of the whole store, over restarts, and whatever the system's clock does.
 * T2. Open shards are the table's partitions, range by range: the cut of one, in its own transaction, ends its shard and begins
 *     two children. So the records of an item follow each other in one shard, and then in the child that has its hash.
 * T3. What is older than RETENTION is not delivered. It leaves the engine a bucket later at the earliest, and iterators
 *     live shorter than that: whether one has lost records can be seen.
 * T4. A stream is written to from stream_open to stream_close, a shard from its start to its end; both are forgotten RETENTION
 *     after that. A child keeps the name of a parent that has been.
 *
 * Not here: shards that end though their partition is not cut. The service's do after some hours, and says nothing of when.
 * Sources: "Change data capture for DynamoDB Streams" ("Reading and processing a stream", "Data retention limit for DynamoDB
 * Streams") in the developer guide; DescribeStream, GetShardIterator, GetRecords and ShardFilter in the API's reference.
 * Threads: stream_open, stream_split, stream_close and stream_record, the writer only; the others are pure or read a view. */
#ifndef DYNAX_STORE_STREAMS_H
#define DYNAX_STORE_STREAMS_H

#include "store/describe.h"
#include "store/write_plan.h"
#include "store/write_txn.h"

enum {
	STREAM_RECORD_KEY = 12,
	SHARD_ROW_KEY = 13,
	STREAM_BUCKET_KEY = 7,           /* as much of it as all keys of a bucket share */
	STREAM_COUNTER_BITS = 20,
	STREAM_BUCKET_BITS = 40,
	STREAM_RETENTION_MS = 24 * 60 * 60 * 1000,
	STREAM_ITERATOR_MS = 15 * 60 * 1000
};

struct shard {
	uint32_t id;
	uint64_t start, end;             /* positions; end = 0: open */
	uint64_t from, to;               /* hashes, both inclusive */
	uint32_t parent;                 /* its id, 0 = none */
	uint64_t parent_start;
};

struct stream {
	uint32_t id;                     /* shared with table ids */
	struct slice table, label, schema;/* schema: an encoded KeySchema */
	enum stream_view view;
	uint64_t created_ms, closed_ms;  /* closed_ms = 0: enabled */
};

/* ---- rows: streams_rows.c ---- */

/* Append the key of a stream's row, or of the first and the end of all of them. */
void stream_row_key(struct buf *b, struct slice label, struct slice table);
void stream_row_bounds(struct buf *lo, struct buf *hi);
void stream_row_put(struct buf *b, const struct stream *s);
/* The stream borrows the bytes of its row. */
bool stream_decode(struct slice row, struct stream *s) __attribute__((warn_unused_result));
struct slice shard_row_key(uint32_t stream, uint32_t id, uint8_t out[SHARD_ROW_KEY]);
void shard_row_put(struct buf *b, const struct shard *s);
bool shard_decode(struct slice key, struct slice row, struct shard *s) __attribute__((warn_unused_result));
struct slice stream_record_key(uint32_t shard, uint64_t position, uint8_t out[STREAM_RECORD_KEY]);
uint64_t stream_record_position(struct slice key);

/* A shard of a stream by id. */
enum err shard_find(struct view *v, uint32_t stream, uint32_t id, struct shard *s, bool *found, struct fault *f)
	__attribute__((warn_unused_result));
/* All shards of a stream with ids above `after`, ascending: oldest first. */
enum err shards_open(struct view *v, uint32_t stream, uint32_t after, struct cursor **c, struct fault *f)
	__attribute__((warn_unused_result));
enum err shards_next(struct cursor *c, struct shard *s, bool *got, struct fault *f) __attribute__((warn_unused_result));

/* ---- time ---- */

/* The position before which nothing is delivered any more. */
uint64_t stream_horizon(const struct store *s);
/* Closed for so long that it is forgotten? */
bool stream_gone(const struct store *s, const struct stream *stream);
/* Did the shard end after that position, or is it open? Those that ended before the horizon are not told of any more. */
static inline bool shard_lives(const struct shard *s, uint64_t horizon)
{
	return s->end == 0 || s->end >= horizon;
}

/* ---- writing ---- */

/* A new stream for the table of this CreateTableInput, which has the partitions of facts->row: sets label and shards. */
enum err stream_open(struct write_txn *t, const struct record *spec, uint32_t table, struct catalog_facts *facts,
	struct fault *f) __attribute__((warn_unused_result));
/* A partition of the table is cut at the hash: so is the shard of its stream, if it has one. facts: the table's, as they
 * become; a shard that began in this same transaction cannot be split in it. */
enum err stream_split(struct write_txn *t, const struct catalog_table *ct, struct catalog_facts *facts, uint64_t at,
	struct fault *f) __attribute__((warn_unused_result));
enum err stream_close(struct write_txn *t, const struct catalog_table *ct, struct fault *f) __attribute__((warn_unused_result));
/* Record a change that op has made: op->old became op->new. */
void stream_record(struct write_txn *t, const struct catalog_table *ct, const struct item_op *op);
/* Find the last position given; before the writer starts. */
enum err streams_recover(struct store *s, struct fault *f) __attribute__((warn_unused_result));

/* ---- reading ---- */

enum stream_event { STREAM_INSERT = 0, STREAM_MODIFY = 1, STREAM_REMOVE = 2 };
struct stream_change {
	enum stream_event event;
	bool by_service;                 /* time to live */
	struct slice key, old, new;      /* images absent where there are none, or the view leaves them out */
};
bool stream_change_decode(struct slice value, struct stream_change *c) __attribute__((warn_unused_result));
/* The last position of a shard's records in the view; 0 if there is none. */
enum err stream_last(struct view *v, uint32_t shard, uint64_t *position, struct fault *f) __attribute__((warn_unused_result));

/* Where a reader stands in a shard; as text it begins with the stream's ARN, as the service's does. */
struct shard_iterator {
	struct slice arn;
	uint32_t shard;
	uint64_t position;               /* of the next record, at least; 0 = the oldest */
	uint64_t issued_ms;
};
char *shard_iterator_format(const struct shard_iterator *it, struct arena *a);
/* False if the text is not one of ours, or damaged. */
bool shard_iterator_parse(struct slice text, struct arena *a, struct shard_iterator *it) __attribute__((warn_unused_result));

enum { SEQUENCE_TEXT = 24, SHARD_ID_TEXT = 40 };
/* Sequence numbers: 21 digits, one for each position. */
void sequence_format(uint64_t position, char out[SEQUENCE_TEXT]);
/* False if it is not a number. Those out of range are the least or the greatest position. */
bool sequence_parse(struct slice text, uint64_t *position) __attribute__((warn_unused_result));
void shard_id_format(uint32_t id, uint64_t start, char out[SHARD_ID_TEXT]);
/* The id at the end of such a text; false if it is none. What comes before is not looked at. */
bool shard_id_parse(struct slice text, uint32_t *id) __attribute__((warn_unused_result));

/* streams_list.c, streams_read.c */
describe_fn list_streams, describe_stream, get_shard_iterator, get_records;

/* Find a stream by ARN in the reader's view. */
enum err stream_find(struct store_reader *r, struct slice arn, struct stream *s, struct view **v, struct fault *f)
	__attribute__((warn_unused_result));
/* Table name and label of a stream's ARN; false if it is none. */
bool stream_arn_parse(struct slice arn, struct slice *table, struct slice *label) __attribute__((warn_unused_result));

#endif
