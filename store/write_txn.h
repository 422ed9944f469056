/* write_txn - one engine transaction of the writer, with all that follows from a changed item: index entries, counters,
 * and what the observer must hear.
 *
 *    write_txn_begin --> item_apply ... (item_apply.h) --> write_txn_end
 *
 * Counters are exact after any crash because each transaction carries the new values of those it moves: whichever
 * transactions survive, the counters in them agree with the items in them.
 *
 * Threads: the writer only. */
#ifndef DYNAX_STORE_WRITE_TXN_H
#define DYNAX_STORE_WRITE_TXN_H

#include "store/store_int.h"

/* What the writer gathers between two flushes. */
struct write_batch {
	struct store *store;
	const struct catalog *catalog;   /* the newest: the published one, or `next` */
	struct catalog *next;            /* made by this batch, not yet published; or NULL */
	struct store_change *change;     /* heap */
	size_t changes, cap;
	struct backlog_mark *mark;       /* heap: what to undo in backlogs */
	size_t marks, mark_cap;
	unsigned committed;              /* transactions */
	struct buf scratch;              /* an item being made */
	struct buf row;                  /* a row beside the item: a record of a stream, an expiry */
	struct arena arena;              /* for the text of a failed flush */
	bool wake_backfill;              /* a table has got a new index */
};

struct counter_delta {
	uint32_t id;
	int64_t entries, bytes;
};

struct collection;

struct write_txn {
	struct write_batch *batch;
	struct arena *arena;             /* of the request */
	struct counter_delta *delta;     /* in the arena */
	unsigned deltas, delta_cap;
	struct collection *collections;  /* item collections that it has looked at (collection.h) */
	size_t changes_before, marks_before;
	uint32_t next_id;                /* once ids were taken in it (control.h); 0 = not yet */
	bool grows;                      /* items or entries were put: not when the store is full */
	bool failed;                     /* out of memory somewhere: commit refuses */
};

void write_txn_begin(struct write_txn *t, struct write_batch *b, struct arena *a);
void write_txn_count(struct write_txn *t, uint32_t id, int64_t entries, int64_t bytes);
void write_txn_change(struct write_txn *t, const struct store_change *c);
/* On an error everything is as before the begin. */
enum err write_txn_commit(struct write_txn *t, struct fault *f) __attribute__((warn_unused_result));
void write_txn_abort(struct write_txn *t);
/* Commit if rc is ERR_OK, else abort and keep it. */
enum err write_txn_end(struct write_txn *t, enum err rc, struct fault *f) __attribute__((warn_unused_result));

/* The counters of a table or index at the engine's newest state, or in a view. */
enum err counters_read(struct engine *e, uint32_t id, struct counters *c, struct fault *f) __attribute__((warn_unused_result));
enum err counters_view(struct view *v, uint32_t id, struct counters *c, struct fault *f) __attribute__((warn_unused_result));

#endif
