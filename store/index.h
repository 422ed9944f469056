/* index - entries of secondary indexes, kept in step with the items of their table.
 *
 *    entry:  index id, hash, key attributes..., the table's key  -->  projected item
 *
 * An item that lacks one of an index' key attributes, or has it with another type, is not in that index (sparse).
 * Maintenance is part of the write's own transaction: an index answers with the same snapshot as its table. Only a global index
 * that may not be changed now (propagation.h) gets a row in its backlog instead, by that transaction.
 *
 * Threads: the writer only. */
#ifndef DYNAX_STORE_INDEX_H
#define DYNAX_STORE_INDEX_H

#include "store/write_plan.h"
#include "store/write_txn.h"

/* What an index holds of one image of an item; key.n == 0: nothing. */
struct index_entry {
	struct buf key, value;
	uint64_t hash;
	size_t bytes;
};

struct index_change {
	const struct table_index *x;
	struct index_entry before, after;
	struct index_move move;          /* of these two; of an entry that changes, the cost is in `after` */
	bool later;                      /* as a row of the backlog, which waits for this (index_admit.h) */
	struct backlog_waits waits;
};

/* The indexes whose entries change when an item does. Zero: none. */
struct index_plan {
	struct index_change *change;     /* in the request's arena */
	unsigned n;
};

/* The item goes from old to new (either may be absent): what would change, and what that costs, by index, into cost. */
enum err index_plan(struct write_txn *t, const struct table *table, struct slice old, struct slice new, bool transactional,
	struct index_plan *p, struct consumed *cost, struct fault *f) __attribute__((warn_unused_result));
/* Bytes by which the local indexes will have grown. */
int64_t index_local_growth(const struct index_plan *p);
/* Make the changes of a plan for the item with this engine key, or put them into the backlog; make one change. */
void index_carry_out(struct write_txn *t, struct slice item_key, const struct index_plan *p);
void index_move(struct write_txn *t, const struct table_index *x, const struct index_move *m);
/* Needed after a plan that has failed, too. */
void index_plan_release(struct index_plan *p);

/* Enter an item into an index that is being built, unless it is there already. */
enum err index_fill(struct write_txn *t, const struct table *table, const struct table_index *x, struct slice item,
	struct fault *f) __attribute__((warn_unused_result));

/* Append what an index keeps of an item: a canonical map. */
void index_project(const struct table *table, const struct table_index *x, struct slice item, struct buf *out);

#endif
