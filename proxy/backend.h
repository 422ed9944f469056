/* backend - what stands behind the caches: the embedded store, and later a shared dynaxd or a DynamoDB service.
 *
 * One vtable; the caches and the dispatch know nothing else of storage. Completion may be immediate (the embedded
 * store reads on the caller's thread) or come later through the worker's mailbox; callers cannot tell.
 *
 * Threads: all functions are called on a worker; completions come back on that same worker. */
#ifndef DYNAX_PROXY_BACKEND_H
#define DYNAX_PROXY_BACKEND_H

#include "store/store.h"

struct backend;
struct backend_reader;     /* a worker's own access */
struct worker;

/* One read in flight. The caller owns it until `done`. */
struct backend_read {
	void (*done)(struct backend_read *r);
	enum err result;
	struct fault fault;
	struct slice item;               /* of get: the item, or absent; borrowed until done returns */
	struct buf *out;                 /* of query: the answer record is appended */
};

struct backend_ops {
	const char *name;
	struct backend_reader *(*reader_new)(struct backend *b, struct worker *w);
	void (*reader_free)(struct backend_reader **r);
	void (*quiesce)(struct backend_reader *r);
	const struct table *(*table)(struct backend_reader *r, struct slice name);
	/* key is checked (store_check_key). */
	void (*get)(struct backend_reader *r, const struct table *t, struct slice key, uint64_t hash, struct backend_read *rd);
	enum err (*query_prepare)(struct backend_reader *r, const struct request *req, struct store_query *q, struct fault *f);
	void (*query)(struct backend_reader *r, const struct request *req, struct store_query *q, struct backend_read *rd);
	enum err (*describe)(struct backend_reader *r, const struct request *req, struct buf *out, struct fault *f);
	enum err (*prepare)(struct backend_reader *r, struct store_write *w);
	void (*submit)(struct backend_reader *r, struct store_write *w);   /* w->done runs on the worker */
	bool (*ready)(struct backend *b, const char **why);
	void (*stats)(struct backend *b, struct store_stats *out);
	void (*close)(struct backend **b);
};

struct backend {
	const struct backend_ops *ops;
};

#endif
