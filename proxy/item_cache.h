/* item_cache - items by (table, key), encoded as they are stored, so that a repeat read copies bytes.
 *
 *    worker --get--> shard --hit, epoch even--> bytes to the answer
 *       |  \-miss--> epoch_load, view, read --fill, if the epoch is still the same--> shard
 *    writer --apply--> shard: the new item in place of the old, or nothing
 *
 * Entries are immutable; an update links a new one. Absent items are entries too (negative), with a bounded share of the
 * bytes. A write replaces what is cached and caches nothing new. Eviction: eviction.h, by bytes.
 *
 * I1. item_cache_get looks at the epoch itself, under the shard's lock (epoch.h, E2): a hit is current at that moment,
 *     and while a batch that touches the item's partition is becoming visible there is none.
 * I2. A fill is taken only under the rule E3.
 * I3. Entries of a voided table are never served again: they hold the number of voids they were filled under. They leave
 *     when they are found or their turn to be evicted comes, and count as bytes until then.
 *
 * A cache that is NULL is off: it misses and takes nothing.
 *
 * Threads: any; sharded, a lock a shard, never two at once, never across a callback. */
#ifndef DYNAX_PROXY_ITEM_CACHE_H
#define DYNAX_PROXY_ITEM_CACHE_H

#include "proxy/epoch.h"

struct item_cache;

struct item_cache_opts {          /* zero = default */
	size_t max_bytes;             /* 256 MiB; entries, keys and bookkeeping */
	unsigned shards;              /* 64 */
	uint64_t ttl_ns;              /* counted from the fill; 0 = until invalidated */
	unsigned negative_percent;    /* of max_bytes at most for absent items: 10 */
};

enum item_cache_result { ITEM_CACHE_MISS, ITEM_CACHE_HIT, ITEM_CACHE_NEGATIVE };

struct item_cache *item_cache_new(const struct item_cache_opts *o, struct epochs *e);
void item_cache_free(struct item_cache **c);

/* Hash of a cache key. Key: the canonical Key map of the request. Seeded, so that nobody can choose keys that collide. */
uint64_t item_cache_hash(uint32_t table, struct slice key);
/* For a pipelined batch, in two passes before the gets: the index, then the entry. */
void item_cache_prefetch(struct item_cache *c, uint64_t h);
void item_cache_prefetch_entry(struct item_cache *c, uint64_t h);
/* On a hit the item's bytes are appended to out. now_ns: CLOCK_MONOTONIC, for the time to live. */
enum item_cache_result item_cache_get(struct item_cache *c, uint32_t table, struct slice key, uint64_t h, uint64_t now_ns,
	struct buf *out);
/* The same, and what reading the item would have cost its table: steps of 4 KiB, 1 for none. */
enum item_cache_result item_cache_get_priced(struct item_cache *c, uint32_t table, struct slice key, uint64_t h,
	uint64_t now_ns, struct buf *out, unsigned *units);
/* The same for who takes the longer way if it is a miss, and asks again there: then that one counts. */
enum item_cache_result item_cache_try(struct item_cache *c, uint32_t table, struct slice key, uint64_t h, uint64_t now_ns,
	struct buf *out, unsigned *units);
/* E3. epoch: loaded before the read began; part: store_hash of the partition. item absent = negative entry. */
void item_cache_fill(struct item_cache *c, uint32_t table, struct slice key, uint64_t h, uint64_t part, uint64_t epoch,
	uint64_t now_ns, struct slice item);
/* From the observer, between epochs_begin and epochs_end: replace what is cached, drop what was deleted or `whole`. */
void item_cache_apply(struct item_cache *c, const struct store_change *ch, size_t n, uint64_t now_ns);

struct item_cache_stats {
	uint64_t hits, misses, negative_hits, fills, fills_refused, evictions, expirations, invalidations;
	uint64_t bytes, entries, negative_entries;   /* entries: negative ones too */
};
void item_cache_stats(const struct item_cache *c, struct item_cache_stats *out);

#endif
