/* collection - item collections: what a table and its local indexes hold under one value of the partition key.
 *
 *    row of the engine:   0, 'l', table id, hash, partition key  -->  bytes of its items and local index entries, u64
 *    transaction:         each write grows or shrinks a collection --> new rows at the commit
 *
 * L1. A row agrees with the items in any state of the engine: it is written by the transactions that change them. What has no
 *     row has no items.
 * L2. A write that would make a collection larger than the limit, which is 10 GB, is refused; one that does not make it
 *     larger is not. Sizes are those that DescribeTable adds up. A collection may be exactly as large as the limit; in one
 *     request each write finds what those before it have left. The service tells neither.
 *
 * Tables without local indexes have no rows. Source: "Item collections in Local Secondary Indexes" in the developer guide.
 * Threads: the writer only. */
#ifndef DYNAX_STORE_COLLECTION_H
#define DYNAX_STORE_COLLECTION_H

#include "store/write_plan.h"
#include "store/write_txn.h"

/* A collection as a transaction has it. */
struct collection {
	struct slice key;                /* of its row; in the request's arena, like the struct itself */
	uint64_t before, bytes;          /* committed; now */
	bool reported;                   /* its metrics are in the answer */
	struct collection *next;
};

/* The item of op takes so many bytes more (negative: less) in a table with local indexes. ERR_ITEM_COLLECTION_SIZE: too many,
 * and nothing was done. */
enum err collection_grow(struct write_txn *t, const struct table *table, const struct item_op *op, int64_t bytes,
	struct fault *f) __attribute__((warn_unused_result));
/* Append the ItemCollectionMetrics of the collection that op's item is in, unless the transaction has done so; *n counts them. */
enum err collection_metrics_put(struct write_txn *t, const struct table *table, const struct item_op *op, struct buf *out,
	uint32_t *n, struct fault *f) __attribute__((warn_unused_result));

/* At the commit: write the rows that have changed. */
void collections_put(struct write_txn *t);
/* The table goes. */
void collections_drop(struct write_txn *t, uint32_t table);

#define COLLECTION_BYTES ((uint64_t)10 << 30)

#endif
