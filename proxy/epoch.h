/* epoch - the coherence rule's counters: a stripe for each hash(table or index, partition), one for each whole table.
 *
 *    writer:   begin: odd ----> sync, publish ----> mend the item cache ----> end: even, two higher than before
 *    reader:   e = epoch_load ----> read a view ----> fill, if epoch_load is still e
 *
 * E1. Before a batch is visible the writer makes the epochs of all stripes it touches odd; after it is visible and the
 *     item cache has been mended, even again. An epoch never goes back.
 * E2. A reader may serve an item-cache entry if the epoch is even while it holds the entry's shard, and a query-cache
 *     entry that was stored under the very epoch, an even one, that it loaded before. Odd: read the store, fill nothing.
 * E3. A fill is made under the shard's lock, and only if the epoch is still the even one loaded before the read began.
 *
 * Then every cached read is linearizable: see docs/coherence.md for the argument, and tests/integration/coherence.c for
 * the test that fails when E3 is taken out.
 *
 * Threads: any; the counters are the only shared state. Writer: one thread. */
#ifndef DYNAX_PROXY_EPOCH_H
#define DYNAX_PROXY_EPOCH_H

#include "store/store.h"

struct epochs;

struct epochs *epochs_new(unsigned log2_stripes);   /* 0 = 2^16 */
void epochs_free(struct epochs **e);

/* A stripe's current epoch (acquire). `hash` as in store_change; whole: the table's scan stripe. Odd while a batch that
 * touches it is becoming visible, or one that voids the whole table. */
uint64_t epoch_load(const struct epochs *e, uint32_t table, uint64_t hash, bool whole);
static inline bool epoch_even(uint64_t e)
{
	return (e & 1) == 0;
}

/* Before an epoch_load of a partition: fetch its counter while other memory is waited for. */
void epoch_prefetch(const struct epochs *e, uint32_t table, uint64_t hash);
/* How often a table has been voided as a whole (acquire); odd while it is being. What was cached under another
 * number is dead: dropping a table's entries costs nothing. */
uint64_t epoch_voids(const struct epochs *e, uint32_t table);

/* E1, from the store's observer. A stripe touched twice in a batch turns once. */
void epochs_begin(struct epochs *e, const struct store_change *c, size_t n);
void epochs_end(struct epochs *e, const struct store_change *c, size_t n);

#endif
