/* store - tables, items and their laws, on the engine. The one door to the store layer.
 *
 *    worker:  store_table, store_get, store_query      read through views, on the calling thread
 *             store_prepare --> store_submit           a write: all that needs no item is checked by the worker
 *    writer:  takes what is queued: condition, apply, log; one sync; observer; done() of each
 *
 * R1. When done() is called the write is durable, visible, and the observer has heard of it.
 * R2. A write that fails leaves no trace and does not disturb its batch.
 * R3. The observer's begin() comes before a batch is visible, its end() after, and done() after that.
 *
 * Threads: store_reader belongs to one thread; store_submit may be called from any; done() and the observer run on
 * the writer thread and must not block.
 * Errors: DynamoDB's, with its texts, in the fault. */
#ifndef DYNAX_STORE_STORE_H
#define DYNAX_STORE_STORE_H

#include "protocol/capacity.h"
#include "protocol/request.h"
#include "store/engine/engine.h"
#include "store/table.h"

struct store;
struct store_reader;

/* One changed item; or, key absent, a whole table or index whose cached results are void, or those of its Scans. */
struct store_change {
	uint32_t table;          /* table or index id */
	uint64_t hash;           /* of the partition key: store_hash */
	struct slice key;        /* the Key, a canonical map; absent for index entries and whole tables */
	struct slice item;       /* new item; absent = deleted (only with a key) */
	bool whole;              /* the whole table or index */
	bool scans;              /* only what its Scans cost, which their answers tell */
};
struct store_observer {
	void (*begin)(void *arg, const struct store_change *c, size_t n);
	void (*end)(void *arg, const struct store_change *c, size_t n);
	void *arg;
};

/* Throughput (throughput.h): what tables declare is enforced, or also what the service allows on-demand tables; it is only
 * counted, or neither. */
enum capacity_mode { CAPACITY_DECLARED, CAPACITY_AWS, CAPACITY_ACCOUNT, CAPACITY_OFF };
static inline bool capacity_enforced(enum capacity_mode m)
{
	return m <= CAPACITY_AWS;
}

struct store_opts {                       /* zero = default */
	struct engine_opts engine;
	struct store_observer observer;
	const char *region, *account;         /* of ARNs: "ddblocal" and "000000000000" */
	unsigned keeper_ms;                   /* expired items and records are looked for so often: 5000 */
	enum capacity_mode capacity;
	uint64_t partition_bytes;             /* a larger partition is cut in two (partition.h): 10 GiB */
	unsigned partition_rcu, partition_wcu; /* units a second that one gives, 2^20 at most: 3,000 and 1,000 */
	uint64_t collection_bytes;            /* limit of item collections (collection.h): 10 GiB */
	uint32_t index_delay_ms;              /* store_set_index_delay */
	uint64_t table_delay_ms;              /* tables are CREATING, UPDATING, DELETING for so long (table_state.h): 0 */
	bool still_clock;                     /* time passes by store_clock_advance alone (clock.h) */
};

enum err store_open(const struct store_opts *o, struct store **s, struct fault *f) __attribute__((warn_unused_result));
/* Ends what is queued (each gets its done), then closes. */
void store_close(struct store **s);

/* ---- reading ---- */

struct store_reader *store_reader_new(struct store *s);
void store_reader_free(struct store_reader **r);
/* Tell that no table, item or query of this reader is in use: old catalogs may go. Once a loop turn. Cheap. */
void store_reader_quiesce(struct store_reader *r);

/* By name or ARN; NULL if there is no such table (or it is not ACTIVE: data operations then answer
 * ResourceNotFoundException, as the service does). Lock-free. */
const struct table *store_table(struct store_reader *r, struct slice name);

/* The hash that partitions a table, of the value(s) of its partition key: the same on every machine. */
uint64_t store_hash(const struct slice *value, unsigned n);
/* Does `key` (an item-format map) match the schema, no more, no less? Types and lengths too. Gives the hash. */
enum err store_check_key(const struct table *t, struct slice key, uint64_t *hash, struct fault *f)
	__attribute__((warn_unused_result));
/* Key attributes of a table and its indexes have no inside: no path of a projection or condition (either may be NULL) may
 * reach into one. */
enum err store_check_paths(const struct table *t, const struct projection *p, const struct condition *c, struct fault *f)
	__attribute__((warn_unused_result));
/* A Query of an index may only filter by what the index holds (a Scan may by anything: what is not held is missing). */
enum err store_check_filter(const struct table *t, const struct table_index *x, const struct condition *filter, struct arena *a,
	struct fault *f) __attribute__((warn_unused_result));

/* The item under a checked key; item->p == NULL if there is none. Borrowed until store_reader_release. */
enum err store_get(struct store_reader *r, const struct table *t, struct slice key, uint64_t hash, struct slice *item,
	struct fault *f) __attribute__((warn_unused_result));
/* The same, within the table's throughput, and charged to it: ERR_THROUGHPUT_EXCEEDED or ERR_THROTTLING if nothing is left. */
enum err store_read(struct store_reader *r, const struct table *t, struct slice key, uint64_t hash, enum read_consistency c,
	struct slice *item, struct fault *f) __attribute__((warn_unused_result));
/* Several reads of one reader between two releases see one consistent view. */
void store_reader_release(struct store_reader *r);

/* Query and Scan in two steps, so that a cache can look between them. The query lives in the request's arena. */
struct store_query {
	const struct table *table;
	uint32_t stripe_table;     /* id of the table or index that is read */
	bool whole;                /* a Scan: depends on all of it */
	uint64_t stripe_hash;      /* a Query: hash of its partition */
	struct meter *meter;       /* of what is read (meter.h) */
	uint64_t cost;             /* of the page that store_query_run has read, half units */
	struct query *plan;        /* the store's own */
};
enum err store_query_prepare(struct store_reader *r, const struct request *req, struct store_query *q, struct fault *f)
	__attribute__((warn_unused_result));
enum err store_query_run(struct store_reader *r, const struct request *req, struct store_query *q, struct buf *out,
	struct fault *f) __attribute__((warn_unused_result));

/* Give back what prepare took (references to parsed expressions): once for each query that prepare returned ERR_OK for,
 * run or not. */
void store_query_end(struct store_query *q);

/* DescribeTable, ListTables, and the others of OP_DESCRIBE: the answer record is appended. */
enum err store_describe(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
	__attribute__((warn_unused_result));

/* ---- writing and control ---- */

struct store_write {
	const struct request *req;       /* lives until done() */
	struct buf *out;                 /* the answer record is appended by the writer */
	struct fault fault;
	enum err result;
	void (*done)(struct store_write *w);
	void *arg;                       /* the caller's */
	struct store_write *next;        /* the queue's */
	struct write_plan *plan;         /* the store's; in the request's arena */
};
/* request_check, expressions, table and key, on the worker. On an error the write is over: done() is not called. */
enum err store_prepare(struct store_reader *r, struct store_write *w) __attribute__((warn_unused_result));
void store_submit(struct store *s, struct store_write *w);
/* Instead of store_submit: a write that was prepared is not to be carried out. done() is not called. */
void store_forgo(struct store_write *w);

/* Move the store's clock on (clock.h), and let what is now due be done: when this returns, it has been, unless the store is winding
 * down. For tests. */
void store_clock_advance(struct store *s, uint64_t ms);
/* store_close is to follow soon: what is done beside the requests, and is done again after a restart, stops after the step under
 * way, and nobody waits for the rest. From any thread. */
void store_wind_down(struct store *s);

/* As engine_set_map_max. From any thread. */
uint64_t store_set_map_max(struct store *s, uint64_t bytes);

/* Have global indexes follow their tables so much later, by the store's clock (propagation.h); changes that wait do so too. */
void store_set_index_delay(struct store *s, uint32_t ms);
uint32_t store_index_delay(struct store *s);

/* Auto scaling (autoscale.h) of what a table, or its global index, has provisioned. */
struct store_autoscale {
	struct slice index;              /* its name; absent: the table */
	bool write;                      /* its writes, or its reads */
	int64_t min, max;                /* units a second; max 0: no auto scaling (any more) */
	unsigned target;                 /* percent */
	unsigned in_cooldown_s, out_cooldown_s;
	int64_t units;                   /* provisioned now; store_autoscale_set does not look at it */
};
/* Durable when it returns. Waits for the writer: not from its thread, nor from a worker. */
enum err store_autoscale_set(struct store *s, struct slice table, const struct store_autoscale *set, struct fault *f)
	__attribute__((warn_unused_result));
/* What is set; ERR_RESOURCE_NOT_FOUND if there is no such table. From any thread. */
typedef void store_autoscale_fn(void *arg, const struct store_autoscale *a);
enum err store_autoscale_list(struct store *s, struct slice table, store_autoscale_fn *fn, void *arg, struct fault *f)
	__attribute__((warn_unused_result));

/* ---- looking inside ---- */

/* What each table and global index has consumed since the store was opened. index: absent for the table itself. */
typedef void store_meter_fn(void *arg, struct slice table, struct slice index, const struct meter_totals *m);
void store_meters(struct store *s, store_meter_fn *fn, void *arg);

/* How far each global index is behind its table, and how far one that is being built has come. */
struct store_index_state {
	struct slice table, index;
	uint64_t backlog;          /* changes that it has not been told (backlog.h) */
	uint64_t lag_ms;           /* how long the oldest of them has waited; 0 = there is none */
	uint64_t carried;          /* changes that waited, and were carried out, since the store was opened */
	bool building;
	uint64_t filled, items;    /* while it is built: items of the table that were looked at, of how many */
};
typedef void store_index_fn(void *arg, const struct store_index_state *x);
void store_indexes(struct store *s, store_index_fn *fn, void *arg);

/* A partition key that is often read or written. */
struct store_hot_key {
	uint64_t hash;
	struct slice key;          /* its attributes, in a map; absent if nothing has it now */
	double share[METER_USES];  /* of the partition's load, by samples of the last of it */
};
enum { STORE_HOT_KEYS = 5 };

/* A partition of a table, or of its index of this name (absent: the table). Hashes are inclusive. */
struct store_partition {
	struct slice index;
	uint64_t first, last;
	uint64_t entries, bytes;
	bool counted;              /* false: it was just cut, and its size is not known yet, nor that of the one before it */
	double load[METER_USES];   /* units a second, of late */
	uint64_t refused[METER_USES]; /* operations, since the store was opened or the partition began */
	struct store_hot_key hot[STORE_HOT_KEYS]; /* the hottest first */
	unsigned hot_keys;
};
typedef void store_partition_fn(void *arg, const struct store_partition *p);
/* Those of a table at one moment, by name; ERR_RESOURCE_NOT_FOUND if there is no such table. */
enum err store_partitions(struct store *s, struct slice name, store_partition_fn *fn, void *arg, struct fault *f)
	__attribute__((warn_unused_result));

struct store_stats {
	struct engine_stats engine;
	uint64_t writes, batches, batch_writes_max, batch_ns_total;
	unsigned tables;
};
void store_stats(struct store *s, struct store_stats *out);

#endif
