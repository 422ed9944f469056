/* cache_shard - one lock's worth of a cache: entries found by hash, bounded in bytes, evicted by eviction.h.
 *
 *    shard --+-- lock
 *            +-- index: buckets of one cache line, seven entries with a byte of their hash each
 *            +-- kept, absent: eviction queues of entries with and without a value
 *
 * The item cache and the query cache are arrays of these and differ in what they let in and out.
 *
 * C1. An entry is immutable once it is linked, but for its eviction node; an update links a new one.
 * C2. bytes counts what malloc took: entries, index and ghost; after cache_shard_put it is at most max_bytes.
 * C3. Entries that are unlinked go to a cache_dead list, to be freed without the lock.
 *
 * Threads: any; all but cache_shard_lock, _prefetch, cache_entry_new and cache_dead_free want the lock held.
 * Ownership: a shard owns what is linked in it. */
#ifndef DYNAX_PROXY_CACHE_SHARD_H
#define DYNAX_PROXY_CACHE_SHARD_H

#include "protocol/slice.h"
#include "proxy/eviction.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

struct cache_entry {
	struct eviction_node node;
	uint64_t expires_ns;     /* CLOCK_MONOTONIC; UINT64_MAX = never */
	uint64_t stamp;          /* item: hash of its partition; query: epoch it was stored under */
	uint64_t space;          /* whose key this is: a table; an operation and a table or index */
	union {
		uint32_t voids;  /* item: low bits of epoch_voids of its table */
		uint32_t cost;   /* query: what the page cost, half units */
	};
	uint32_t value_n;
	uint16_t key_n;
	bool absent;             /* "there is nothing under this key" */
	uint8_t units;           /* item: what reading it would cost, in steps of 4 KiB */
	uint8_t bytes[];         /* key, value */
};

static inline struct slice cache_entry_value(const struct cache_entry *e)
{
	return slice_of(e->bytes + e->key_n, e->value_n);
}

/* Entries on their way to free(), linked through node.older. */
struct cache_dead {
	struct eviction_node *first;
};

enum { CACHE_BUCKET_SLOTS = 7 };
struct cache_bucket {
	alignas(64) uint8_t tag[CACHE_BUCKET_SLOTS];     /* 0 = empty */
	uint8_t passed;                                  /* entries that found it full and went on; 255 sticks */
	struct cache_entry *slot[CACHE_BUCKET_SLOTS];
};

struct cache_shard_stats {
	uint64_t hits, misses, absent_hits, fills, fills_refused, evictions, expirations, invalidations, stale_drops;
};

struct cache_shard {
	alignas(64) pthread_mutex_t lock;
	_Atomic(struct cache_bucket *) bucket;  /* written under the lock, read by _prefetch without: a wrong guess costs nothing */
	_Atomic size_t mask;
	size_t used;
	uint64_t max_bytes;
	uint32_t typical;               /* bytes to fetch of an entry that is likely to be read: their mean, within bounds */
	struct eviction kept, absent;
	struct cache_shard_stats stats;
};

/* An array of shards sized for max_bytes; count is a wish and comes back as a power of two, less where shards would be
 * too small to hold large entries. NULL if out of memory. */
struct cache_shard *cache_shards_new(uint64_t max_bytes, unsigned absent_percent, unsigned *count);
void cache_shards_free(struct cache_shard **s, unsigned count);
/* The shard of a hash: its high bits choose. */
static inline struct cache_shard *cache_shard_of(struct cache_shard *s, unsigned count, uint64_t hash)
{
	return &s[(hash >> 48) & (count - 1)];
}

/* Sum up statistics; takes each lock in turn. */
struct cache_totals {
	struct cache_shard_stats stats;
	uint64_t bytes, entries, absent_entries;
};
void cache_shards_stats(struct cache_shard *s, unsigned count, struct cache_totals *out);

static inline void cache_shard_lock(struct cache_shard *s)
{
	pthread_mutex_lock(&s->lock);
}
static inline void cache_shard_unlock(struct cache_shard *s)
{
	pthread_mutex_unlock(&s->lock);
}

/* Hash of a key in a space. Seeded, so that nobody can choose keys that collide. */
uint64_t cache_hash(uint64_t space, struct slice key);

/* Bring the bucket of a hash near. No lock needed. */
void cache_shard_prefetch(struct cache_shard *s, uint64_t hash);
struct cache_entry *cache_shard_find(struct cache_shard *s, uint64_t hash, uint64_t space, struct slice key);
/* The first entry that may be the one, by its tag alone; NULL if there is none. */
struct cache_entry *cache_shard_guess(struct cache_shard *s, uint64_t hash);

/* A new entry, not linked anywhere; value absent = an absent entry. NULL if out of memory, or too large for any shard. */
struct cache_entry *cache_entry_new(uint64_t hash, uint64_t space, struct slice key, struct slice value);
/* Link an entry in place of the one with its key, if any, and evict down to max_bytes. Takes ownership: what is too large
 * for this shard is dead at once. */
void cache_shard_put(struct cache_shard *s, struct cache_entry *e, struct cache_dead *dead);
void cache_shard_drop(struct cache_shard *s, struct cache_entry *e, struct cache_dead *dead);
void cache_dead_free(struct cache_dead *dead);

/* Memory in use: C2. */
uint64_t cache_shard_bytes(const struct cache_shard *s);

#endif
