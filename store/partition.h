/* partition - a table, or a global index, is cut into ranges of the hash of its partition key.
 *
 *    hash:  0 ........ from ........ from ........ 2^64          keys in the engine are ordered by it (keycode.h), so a
 *           [ partition ][ partition ][ partition ]              partition is one range of keys, and cutting it moves nothing
 *
 * Each counts its entries and bytes; those of a table are the sum. A cut is a change of the catalog, and what it leaves to do is
 * counting. The left part keeps the id and the counters; the right part begins at zero, uncounted:
 *
 *    cut        left = what was there + changes of the left part        right = changes of the right part
 *    count      scan the right part in one view V: it holds S there, and its counters say C:  it had S - C at the cut
 *    settle     left -= S - C, right += S - C, in one transaction; the right part is counted
 *
 * N1. Ranges ascend, begin at 0 and leave no gap.
 * N2. What was never cut has one partition, whose id is its own.
 * N3. The counters of all partitions add up to those of the table, always; those of a partition are its own, as unsigned numbers
 *     that wrap, once its right neighbour is counted. One part of a table or index is uncounted at most.
 *
 * A partition that has grown beyond PARTITION_BYTES is cut where half of its bytes are before the cut; the items of one partition
 * key stay together, so one that holds a single key is not cut any more.
 * Source: "Partitions and data distribution in DynamoDB" in the developer guide.
 * Not here: throughput of single partitions, cuts because of heat.
 * Threads: the writer cuts and settles; the keeper counts; all else is immutable, like the description of the table. */
#ifndef DYNAX_STORE_PARTITION_H
#define DYNAX_STORE_PARTITION_H

#include "store/store_int.h"

struct own_write;
struct keeper;

static inline const struct partition *partition_at(const struct partitions *p, uint64_t hash)
{
	unsigned lo = 0, hi = p->n;

	while (hi - lo > 1) {
		unsigned mid = lo + (hi - lo) / 2;

		if (p->part[mid].from <= hash)
			lo = mid;
		else
			hi = mid;
	}
	return &p->part[lo];
}

/* Lists of what owns them: of the table, or of one of its indexes by id; NULL if the id is neither. */
const struct partitions *partitions_of(const struct table *t, uint32_t owner);

/* The rows of facts without those of an index that goes, in the arena; false if memory is out. */
bool partition_rows_drop(struct catalog_facts *facts, uint32_t owner, struct arena *a) __attribute__((warn_unused_result));

/* Counters of all partitions of a list, at the engine's newest state, or in a view. */
enum err partitions_read(struct engine *e, const struct partitions *p, struct counters *c, struct fault *f)
	__attribute__((warn_unused_result));
enum err partitions_view(struct view *v, const struct partitions *p, struct counters *c, struct fault *f)
	__attribute__((warn_unused_result));

/* Cut the partition that has `at` so that a new one begins there; at the head of a partition nothing is done. Waits until it is
 * durable. Not from the writer's thread. */
struct partition_cut {
	uint32_t table, owner;
	uint64_t at;
};
enum err partition_cut(struct own_write *o, struct arena *a, const struct partition_cut *cut) __attribute__((warn_unused_result));
/* Count what is uncounted, and cut what is too large where that balances its bytes, in all tables. */
void partitions_tend(struct keeper *k);

#define PARTITION_BYTES ((uint64_t)10 << 30)

#endif
