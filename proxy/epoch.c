/* epoch - see epoch.h for the rule, docs/coherence.md for the proof.
 *
 *    partition[2^k]   one for hash(table, partition): turned by changes of that partition
 *    scan[2^10]       one for each table or index: turned by every change of it, and of what its Scans cost
 *    voids[2^10]      one for each table or index: turned when all of it is void
 *
 * A partition's epoch is the sum of its own counter and its table's void counter, so that dropping a table turns all of
 * its partitions at once. Both only grow, so equal sums mean that neither has moved.
 *
 * Tables that share a stripe invalidate each other now and then; that costs a miss, never a stale answer.
 *
 * Memory orders. There is one writer, so it reads its own counters relaxed. Its odd stores are sequenced before the
 * store's publish, which is a release: whoever sees the batch in a view sees the odd epochs too. They are
 * releases themselves for the readers that meet the writer at a shard's lock only. The even store releases what was done
 * before it, the publish and the mended cache, to readers whose acquiring load sees it: their views, opened afterwards,
 * show the batch. */
#include "proxy/epoch.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { STRIPES_LOG2 = 16, STRIPES_LOG2_MAX = 28, TABLES_LOG2 = 10, TABLES = 1 << TABLES_LOG2 };

struct epochs {
	unsigned shift;                  /* 64 - log2 of partition stripes */
	_Atomic uint64_t scan[TABLES];
	_Atomic uint64_t voids[TABLES];
	_Atomic uint64_t partition[];
};

struct epochs *epochs_new(unsigned log2_stripes)
{
	unsigned log2 = log2_stripes == 0 ? STRIPES_LOG2 : log2_stripes;
	struct epochs *e;

	if (log2 > STRIPES_LOG2_MAX)
		log2 = STRIPES_LOG2_MAX;
	e = calloc(1, sizeof(*e) + ((size_t)1 << log2) * sizeof(e->partition[0]));
	if (e != NULL)
		e->shift = 64 - log2;
	return e;
}

void epochs_free(struct epochs **e)
{
	free(*e);
	*e = NULL;
}

/* Multiplying by 2^64 / golden ratio spreads table ids, which are small and dense, over the high bits. */
static inline size_t partition_of(const struct epochs *e, uint32_t table, uint64_t hash)
{
	return (size_t)((hash ^ (uint64_t)table * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u >> e->shift);
}

static inline size_t table_of(uint32_t table)
{
	return table & (TABLES - 1);
}

uint64_t epoch_load(const struct epochs *e, uint32_t table, uint64_t hash, bool whole)
{
	uint64_t own, voids;

	if (whole)
		return atomic_load_explicit(&e->scan[table_of(table)], memory_order_acquire);
	own = atomic_load_explicit(&e->partition[partition_of(e, table, hash)], memory_order_acquire);
	voids = atomic_load_explicit(&e->voids[table_of(table)], memory_order_acquire);
	return (own + voids) | ((own | voids) & 1);      /* two odd ones would add up to an even one */
}

void epoch_prefetch(const struct epochs *e, uint32_t table, uint64_t hash)
{
	__builtin_prefetch((const char *)e + offsetof(struct epochs, partition) +
			   partition_of(e, table, hash) * sizeof(e->partition[0]));
}

uint64_t epoch_voids(const struct epochs *e, uint32_t table)
{
	return atomic_load_explicit(&e->voids[table_of(table)], memory_order_acquire);
}

/* Turn a counter to odd or to even, unless this batch has done so already. */
static void turn(_Atomic uint64_t *c, bool odd)
{
	uint64_t v = atomic_load_explicit(c, memory_order_relaxed);

	if ((v & 1) != (uint64_t)odd)
		atomic_store_explicit(c, v + 1, memory_order_release);
}

static void turn_all(struct epochs *e, const struct store_change *c, size_t n, bool odd)
{
	for (size_t i = 0; i < n; i++) {
		turn(&e->scan[table_of(c[i].table)], odd);
		if (c[i].whole)
			turn(&e->voids[table_of(c[i].table)], odd);
		else if (!c[i].scans)
			turn(&e->partition[partition_of(e, c[i].table, c[i].hash)], odd);
	}
}

void epochs_begin(struct epochs *e, const struct store_change *c, size_t n)
{
	turn_all(e, c, n, true);
}

void epochs_end(struct epochs *e, const struct store_change *c, size_t n)
{
	turn_all(e, c, n, false);
}
