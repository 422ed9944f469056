/* item_apply - one action on one item, inside a transaction: condition, new image, index entries, cost.
 *
 * Threads: the writer only. */
#ifndef DYNAX_STORE_ITEM_APPLY_H
#define DYNAX_STORE_ITEM_APPLY_H

#include "store/write_plan.h"
#include "store/write_txn.h"

/* Fills op->old, op->new and op->cost. ERR_CONDITION_FAILED carries the old item in f->detail if it was asked for.
 * op->old is the engine's, good until the batch is published; op->new lives in the request's arena. */
enum err item_apply(struct write_txn *t, struct item_op *op, bool transactional, struct fault *f)
	__attribute__((warn_unused_result));

#endif
