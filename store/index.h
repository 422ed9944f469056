/* index - entries of secondary indexes, kept in step with the items of their table.
 *
 *    entry:  index id, hash, key attributes..., the table's key  -->  projected item
 *
 * An item that lacks one of an index' key attributes, or has it with another type, is not in that index (sparse).
 * Maintenance is part of the write's own transaction: an index answers with the same snapshot as its table.
 *
 * Threads: the writer only. */
#ifndef DYNAX_STORE_INDEX_H
#define DYNAX_STORE_INDEX_H

#include "store/write_plan.h"
#include "store/write_txn.h"

/* The item went from old to new (either may be absent). Adds to cost what the indexes cost. */
enum err index_maintain(struct write_txn *t, const struct table *table, struct slice old, struct slice new,
	bool transactional, struct consumed *cost, struct fault *f) __attribute__((warn_unused_result));

/* Enter an item into an index that is being built, unless it is there already. */
enum err index_fill(struct write_txn *t, const struct table *table, const struct table_index *x, struct slice item,
	struct fault *f) __attribute__((warn_unused_result));

/* Append what an index keeps of an item: a canonical map. */
void index_project(const struct table *table, const struct table_index *x, struct slice item, struct buf *out);

#endif
