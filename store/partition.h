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
 * The keeper cuts a partition for one of three reasons, the last two within a second; the items of one partition key always stay
 * together:
 *
 *    size        it has grown beyond PARTITION_BYTES: where half of its bytes are before the cut; one key is not cut
 *    throughput  there are fewer than the table's throughput needs, since it was raised: the widest, in its middle
 *    heat        operations on it were refused in a sustained way: where half of its load is before the cut; or a key that has
 *                half of the load by itself gets a partition of its own, which then stays, and stays limited (heat.h)
 *
 * A table begins with as many equal ranges as its throughput needs: partitions are never put together again.
 * Sources: "Partitions and data distribution in DynamoDB", "Designing partition keys to distribute your workload", "DynamoDB
 * burst and adaptive capacity" in the developer guide. How many partitions "sufficient" ones are is not published any more: here, as
 * many as give the reads, or the writes if those need more, for the limits of both are kept apart. An older edition says that
 * provisioned tables with a stream get no partitions for single keys; here they do, and their shards follow.
 * Threads: the writer cuts and settles; the keeper counts; all else is immutable, like the description of the table. */
#ifndef DYNAX_STORE_PARTITION_H
#define DYNAX_STORE_PARTITION_H

#include "store/store_int.h"

struct own_write;
struct write_txn;
struct keeper;

static inline unsigned partition_place(const struct partitions *p, uint64_t hash)
{
	unsigned lo = 0, hi = p->n;

	while (hi - lo > 1) {
		unsigned mid = lo + (hi - lo) / 2;

		if (p->part[mid].from <= hash)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static inline const struct partition *partition_at(const struct partitions *p, uint64_t hash)
{
	return &p->part[partition_place(p, hash)];
}

/* Of a table or global index. */
static inline struct heat *partition_heat(const struct partitions *p, uint64_t hash)
{
	return p->heat[partition_place(p, hash)];
}

static inline uint64_t partition_last(const struct partitions *p, unsigned place)
{
	return place + 1 < p->n ? p->part[place + 1].from - 1 : UINT64_MAX;
}

/* The rows of facts without those of an index that goes, in the arena; false if memory is out. */
bool partition_rows_drop(struct catalog_facts *facts, uint32_t owner, struct arena *a) __attribute__((warn_unused_result));

/* Counters of all partitions of a list, at the engine's newest state, or in a view. */
enum err partitions_read(struct engine *e, const struct partitions *p, struct counters *c, struct fault *f)
	__attribute__((warn_unused_result));
enum err partitions_view(struct view *v, const struct partitions *p, struct counters *c, struct fault *f)
	__attribute__((warn_unused_result));

/* A cursor over what a table or index has of hashes in [from, to); to = 0: up to the last. */
enum err partition_cursor(struct view *v, uint32_t owner, uint64_t from, uint64_t to, struct cursor **c, struct fault *f)
	__attribute__((warn_unused_result));

/* How many partitions the throughput of a table, or of an index at its place (spec.h), needs: its warm throughput, which is
 * what it is sure to serve. An on-demand table that does not tell needs several only if it is limited as the service's. */
unsigned partitions_wanted(const struct store *s, const struct record *spec, int place);
/* Add the rows of a new owner with n partitions; on the writer. */
enum err partitions_begin(struct write_txn *t, struct catalog_facts *facts, uint32_t owner, unsigned n, struct fault *f)
	__attribute__((warn_unused_result));
/* What Scans of a table, or of one of its global indexes, cost has changed: their partitions (query.c, Q3). On the writer. */
void partitions_recost(struct write_txn *t, const struct table *table, uint32_t owner);
/* None of them was cut just now. */
bool partitions_counted(const struct partitions *p);

/* Cut the partition that has `at` so that a new one begins there; at the head of a partition nothing is done. Waits until it is
 * durable. Not from the writer's thread. */
struct partition_cut {
	uint32_t table, owner;
	uint64_t at;
	enum cut_reason why;
};
enum err partition_cut(struct own_write *o, struct arena *a, const struct partition_cut *cut)
	__attribute__((warn_unused_result));

/* An uncounted partition, and what it had when it was cut; settling it waits, too. */
struct partition_count {
	uint32_t table, owner, id, left;
	uint64_t from, to;               /* to = 0: the last one */
	struct counters had;
};
enum err partition_settle(struct own_write *o, struct arena *a, const struct partition_count *c)
	__attribute__((warn_unused_result));

/* Count what is uncounted, and cut what should be cut, in all tables; and the same but for what is too large, which costs next
 * to nothing as long as there is nothing to do (partition_tend.c). */
void partitions_tend(struct keeper *k);
void partitions_watch(struct keeper *k);

#define PARTITION_BYTES ((uint64_t)10 << 30)
/* PARTITIONS_MAX: that many are made for the sake of throughput; the service's tables have 40,000 units unless more is asked for. */
enum { PARTITION_RCU = 3000, PARTITION_WCU = 1000, PARTITIONS_MAX = 1024 };

#endif
