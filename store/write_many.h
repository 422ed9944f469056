/* write_many - what BatchWriteItem and TransactWriteItems have in common.
 *
 * Threads and ownership: as write_plan.h says. */
#ifndef DYNAX_STORE_WRITE_MANY_H
#define DYNAX_STORE_WRITE_MANY_H

#include "store/write_plan.h"

/* No two operations of the plan are on one item. */
bool write_many_distinct(const struct write_plan *p);
/* Put ConsumedCapacity, one for each table, and ItemCollectionMetrics into an answer that was begun, if they were asked for. *n counts
 * the answer's members. split: reads and writes are told apart. On the writer. */
enum err write_many_report(struct write_txn *t, struct store_write *w, unsigned *n, bool split) __attribute__((warn_unused_result));

#endif
