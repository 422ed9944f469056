/* backend - what stands behind the caches: the embedded store, and later a shared dynaxd or a DynamoDB service.
 *
 * One vtable; the caches and the dispatch know nothing else of storage. Completion may be immediate (the embedded
 * store reads on the caller's thread) or come later through the worker's mailbox; callers cannot tell.
 *
 * B1. A table stays valid until the handler that asked for it returns; while a read is in flight its table and query stay
 *     valid until `done` returns.
 * B2. Each read sees a view that was opened after get or query was called: what was published before is in it.
 *
 * Threads: reader functions are called on the reader's worker, and completions come back on that same worker; ready, stats,
 * meters, partitions, indexes, the index delay, wind_down and close may be called on any one thread, advance on another. */
#ifndef DYNAX_PROXY_BACKEND_H
#define DYNAX_PROXY_BACKEND_H

#include "proxy/mailbox.h"
#include "store/store.h"

struct backend;
struct backend_reader;     /* a worker's own access */
struct worker;

/* What a backend notes of a read in flight. */
enum backend_job_kind { BACKEND_GET, BACKEND_GET_ALL, BACKEND_QUERY };
struct backend_job {
	struct mail mail;
	struct backend_read *next;
	struct backend_reader *reader;
	enum backend_job_kind kind;
	const struct table *table;       /* get */
	struct slice key;
	uint64_t hash;
	struct backend_key *keys;        /* get_all */
	unsigned n;
	const struct request *req;       /* query */
	struct store_query *query;
	struct buf copy;                 /* of items, when they were read on another thread */
};

/* One read in flight. The caller owns it, and keeps it alive until `done`. */
struct backend_read {
	void (*done)(struct backend_read *r);
	enum err result;
	struct fault fault;              /* set fault.arena before the call */
	enum read_consistency consistency; /* of get: what it is charged as */
	bool partial;                    /* of get_all: keys that the table has no throughput left for do not fail the read */
	struct slice item;               /* of get: the item, or absent; borrowed until done returns */
	struct buf *keep;                /* of get_all, or NULL: takes what was read on another thread; then items live on */
	struct buf *out;                 /* of query: the answer record is appended */
	void *arg;                       /* the caller's */
	struct backend_job job;          /* the backend's */
};

/* One of several items that are read from one view; hash and key as for get. */
struct backend_key {
	const struct table *table;
	struct slice key;
	uint64_t hash;
	enum read_consistency consistency;
	struct slice item;               /* out: the item, or absent; borrowed until done returns */
	enum err refused;                /* out, if the read is partial: why it was not read; its words are in rd->fault */
};

struct backend_ops {
	const char *name;
	struct backend_reader *(*reader_new)(struct backend *b, struct worker *w);
	void (*reader_free)(struct backend_reader **r);
	/* No table of this reader is in use but by reads in flight. */
	void (*quiesce)(struct backend_reader *r);
	/* Between hold and its release (not on) tables of this reader stay valid. */
	void (*hold)(struct backend_reader *r, bool on);
	const struct table *(*table)(struct backend_reader *r, struct slice name);
	/* key is checked (store_check_key) and lives until done. */
	void (*get)(struct backend_reader *r, const struct table *t, struct slice key, uint64_t hash, struct backend_read *rd);
	/* All n from one consistent view, for BatchGetItem and TransactGetItems. key[] lives until done; rd->item is unused. */
	void (*get_all)(struct backend_reader *r, struct backend_key *key, unsigned n, struct backend_read *rd);
	enum err (*query_prepare)(struct backend_reader *r, const struct request *req, struct store_query *q, struct fault *f);
	void (*query)(struct backend_reader *r, const struct request *req, struct store_query *q, struct backend_read *rd);
	/* Once for each prepared query, run or not; after done. */
	void (*query_end)(struct backend_reader *r, struct store_query *q);
	enum err (*describe)(struct backend_reader *r, const struct request *req, struct buf *out, struct fault *f);
	/* As store_prepare and store_submit; w->done runs on the worker. */
	enum err (*prepare)(struct backend_reader *r, struct store_write *w);
	void (*submit)(struct backend_reader *r, struct store_write *w);
	bool (*ready)(struct backend *b, const char **why);
	void (*stats)(struct backend *b, struct store_stats *out);
	void (*meters)(struct backend *b, store_meter_fn *fn, void *arg);
	enum err (*partitions)(struct backend *b, struct slice table, store_partition_fn *fn, void *arg, struct fault *f);
	/* Auto scaling of a table: what is set; and setting it (store_autoscale_set), on a thread that may wait. */
	enum err (*autoscale_list)(struct backend *b, struct slice table, store_autoscale_fn *fn, void *arg, struct fault *f);
	enum err (*autoscale_set)(struct backend *b, struct slice table, const struct store_autoscale *set, struct fault *f);
	void (*indexes)(struct backend *b, store_index_fn *fn, void *arg);
	/* As store_set_map_max. */
	uint64_t (*set_map_max)(struct backend *b, uint64_t bytes);
	/* As store_set_index_delay and store_index_delay. */
	void (*set_index_delay)(struct backend *b, uint32_t ms);
	uint32_t (*index_delay)(struct backend *b);
	/* Move a clock that stands still (--test-clock). */
	void (*advance)(struct backend *b, uint64_t ms);
	/* As store_wind_down. */
	void (*wind_down)(struct backend *b);
	/* Ends what is queued, then closes. All readers must be gone. */
	void (*close)(struct backend **b);
};

struct backend {
	const struct backend_ops *ops;
};

/* backend_embedded.c: the store in this process. */
enum { BACKEND_READERS_MAX = 64 };
enum hand_over { HAND_OVER_AUTO, HAND_OVER_ALWAYS, HAND_OVER_NEVER };
struct embedded_opts {                   /* zero = default */
	struct store_opts store;
	unsigned reader_threads;         /* for reads that may wait for a disk: 4; at most BACKEND_READERS_MAX */
	enum hand_over hand_over;        /* when reads go to them; AUTO: when the data may not fit in memory */
};
enum err backend_embedded_open(const struct embedded_opts *o, struct backend **b, struct fault *f)
	__attribute__((warn_unused_result));

#endif
