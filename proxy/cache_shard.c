/* cache_shard - see cache_shard.h.
 *
 * The index is open addressing over buckets:
 *
 *    bucket, 64 bytes:  t0 t1 .. t6 passed | entry0 | entry1 | .. | entry6
 *
 * An entry lives in the bucket of its hash, or, where that is full, in the next one that is not; each full bucket that it
 * went by counts it in `passed`, so that a search ends at the first bucket that nobody went by: nearly always the first
 * one. A look-up touches that line, then the entry. */
#include "proxy/cache_shard.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/random.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	BUCKETS_MIN = 4,
	PASSED_MAX = 255,
	MALLOC_HEADER = 8,              /* what malloc keeps beside the usable bytes */
	TYPICAL_MIN = 128, TYPICAL_MAX = 1280,
	ENTRY_SHARE = 4,                /* no entry may take more than a quarter of a shard */
	SHARD_BYTES_MIN = 4 << 20,
	SHARDS_MAX = 1024
};
#define ENTRY_BYTES_MAX ((size_t)64 << 20)

/* ---- hash ---- */

/* One for the process, since workers hash keys before they know which cache they will ask; written once, before the
 * first cache is there. */
static uint64_t hash_seed;
static pthread_once_t hash_seed_once = PTHREAD_ONCE_INIT;

static void hash_seed_choose(void)
{
	if (getrandom(&hash_seed, sizeof(hash_seed), 0) != (ssize_t)sizeof(hash_seed))
		hash_seed = (uint64_t)(uintptr_t)&hash_seed;
}

uint64_t cache_hash(uint64_t space, struct slice key)
{
	return XXH3_64bits_withSeed(key.p, key.n, hash_seed ^ space * 0x9E3779B97F4A7C15u);
}

/* ---- index ---- */

static inline struct cache_bucket *buckets_of(struct cache_shard *s)
{
	return atomic_load_explicit(&s->bucket, memory_order_relaxed);
}

static inline size_t mask_of(struct cache_shard *s)
{
	return atomic_load_explicit(&s->mask, memory_order_relaxed);
}

static inline uint8_t tag_of(uint64_t hash)
{
	uint8_t t = (uint8_t)(hash >> 40);

	return t != 0 ? t : 1;
}

/* Is (space, key) the entry's? Hash first: it is in the line that is being read anyway. */
static inline bool entry_is(const struct cache_entry *e, uint64_t hash, uint64_t space, struct slice key)
{
	return e->node.hash == hash && e->space == space && e->key_n == key.n && memcmp(e->bytes, key.p, key.n) == 0;
}

void cache_shard_prefetch(struct cache_shard *s, uint64_t hash)
{
	__builtin_prefetch(&buckets_of(s)[hash & mask_of(s)]);
}

struct cache_entry *cache_shard_find(struct cache_shard *s, uint64_t hash, uint64_t space, struct slice key)
{
	struct cache_bucket *buckets = buckets_of(s);
	size_t mask = mask_of(s);
	uint8_t tag = tag_of(hash);

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct cache_bucket *b = &buckets[i];

		for (unsigned k = 0; k < CACHE_BUCKET_SLOTS; k++)
			if (b->tag[k] == tag && entry_is(b->slot[k], hash, space, key))
				return b->slot[k];
		if (b->passed == 0)
			return NULL;
	}
}

struct cache_entry *cache_shard_guess(struct cache_shard *s, uint64_t hash)
{
	struct cache_bucket *b = &buckets_of(s)[hash & mask_of(s)];
	uint8_t tag = tag_of(hash);

	for (unsigned k = 0; k < CACHE_BUCKET_SLOTS; k++)
		if (b->tag[k] == tag)
			return b->slot[k];
	return NULL;
}

static void bucket_pass(struct cache_bucket *b, int by)
{
	if (b->passed != PASSED_MAX)
		b->passed = (uint8_t)(b->passed + by);
}

/* There is an empty slot: index_grow sees to it. */
static void index_insert(struct cache_bucket *buckets, size_t mask, struct cache_entry *e)
{
	for (size_t i = e->node.hash & mask;; i = (i + 1) & mask) {
		struct cache_bucket *b = &buckets[i];

		for (unsigned k = 0; k < CACHE_BUCKET_SLOTS; k++) {
			if (b->tag[k] == 0) {
				b->tag[k] = tag_of(e->node.hash);
				b->slot[k] = e;
				return;
			}
		}
		bucket_pass(b, 1);
	}
}

static unsigned bucket_slot(const struct cache_bucket *b, const struct cache_entry *e)
{
	for (unsigned k = 0; k < CACHE_BUCKET_SLOTS; k++)
		if (b->tag[k] != 0 && b->slot[k] == e)
			return k;
	return CACHE_BUCKET_SLOTS;
}

static void index_remove(struct cache_shard *s, struct cache_entry *e)
{
	struct cache_bucket *buckets = buckets_of(s);
	size_t mask = mask_of(s), i = e->node.hash & mask;
	unsigned k;

	for (; (k = bucket_slot(&buckets[i], e)) == CACHE_BUCKET_SLOTS; i = (i + 1) & mask)
		bucket_pass(&buckets[i], -1);
	buckets[i].tag[k] = 0;
	buckets[i].slot[k] = NULL;
	s->used--;
}

static size_t buckets_bytes(size_t n)
{
	return n * sizeof(struct cache_bucket);
}

static struct cache_bucket *buckets_new(size_t n)
{
	struct cache_bucket *b = aligned_alloc(64, buckets_bytes(n));

	if (b != NULL)
		memset(b, 0, buckets_bytes(n));
	return b;
}

/* Room for one more entry below three quarters full. Out of memory: true as long as a slot is free at all. */
static bool index_grow(struct cache_shard *s)
{
	size_t n = mask_of(s) + 1, slots = n * CACHE_BUCKET_SLOTS;
	struct cache_bucket *old = buckets_of(s), *grown;

	if (s->used + 1 <= slots / 4 * 3)
		return true;
	grown = buckets_new(n * 2);
	if (grown == NULL)
		return s->used + 1 < slots;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < CACHE_BUCKET_SLOTS; k++)
			if (old[i].tag[k] != 0)
				index_insert(grown, n * 2 - 1, old[i].slot[k]);
	/* A prefetch between the two stores goes to a wrong address, which is harmless. */
	atomic_store_explicit(&s->bucket, grown, memory_order_relaxed);
	atomic_store_explicit(&s->mask, n * 2 - 1, memory_order_relaxed);
	free(old);
	return true;
}

/* ---- entries ---- */

struct cache_entry *cache_entry_new(uint64_t hash, uint64_t space, struct slice key, struct slice value)
{
	struct cache_entry *e;

	if (key.n > UINT16_MAX || value.n > ENTRY_BYTES_MAX)
		return NULL;
	e = malloc(sizeof(*e) + key.n + value.n);
	if (e == NULL)
		return NULL;
	*e = (struct cache_entry){ .space = space, .key_n = (uint16_t)key.n, .value_n = (uint32_t)value.n,
		.absent = !slice_present(value), .expires_ns = UINT64_MAX };
	e->node.hash = hash;
	e->node.bytes = (uint32_t)(malloc_usable_size(e) + MALLOC_HEADER);
	memcpy(e->bytes, key.p, key.n);
	if (value.n != 0)
		memcpy(e->bytes + key.n, value.p, value.n);
	return e;
}

static struct cache_entry *entry_of(struct eviction_node *n)
{
	return (struct cache_entry *)(void *)((char *)n - offsetof(struct cache_entry, node));
}

static struct eviction *queues_of(struct cache_shard *s, const struct cache_entry *e)
{
	return e->absent ? &s->absent : &s->kept;
}

static void bury(struct cache_dead *dead, struct cache_entry *e)
{
	e->node.older = dead->first;
	dead->first = &e->node;
}

void cache_dead_free(struct cache_dead *dead)
{
	struct eviction_node *next;

	for (struct eviction_node *n = dead->first; n != NULL; n = next) {
		next = n->older;
		free(entry_of(n));
	}
	dead->first = NULL;
}

void cache_shard_drop(struct cache_shard *s, struct cache_entry *e, struct cache_dead *dead)
{
	index_remove(s, e);
	eviction_remove(queues_of(s, e), &e->node);
	bury(dead, e);
}

uint64_t cache_shard_bytes(const struct cache_shard *s)
{
	return eviction_bytes(&s->kept) + eviction_bytes(&s->absent) + eviction_overhead(&s->kept) +
		eviction_overhead(&s->absent) +
		buckets_bytes(atomic_load_explicit(&s->mask, memory_order_relaxed) + 1);
}

static bool evict_one(struct cache_shard *s, struct eviction *from, struct cache_dead *dead)
{
	struct eviction_node *n = eviction_victim(from);

	if (n == NULL)
		return false;
	index_remove(s, entry_of(n));
	bury(dead, entry_of(n));
	s->stats.evictions++;
	return true;
}

/* Absent entries first keep to their own share; then all must fit. */
static void evict(struct cache_shard *s, struct cache_dead *dead)
{
	while (eviction_bytes(&s->absent) > s->absent.max_bytes && evict_one(s, &s->absent, dead))
		;
	while (cache_shard_bytes(s) > s->max_bytes && (evict_one(s, &s->kept, dead) || evict_one(s, &s->absent, dead)))
		;
}

/* The one with the same key, of the same kind, gives its place in the queue to its successor. */
static void link_entry(struct cache_shard *s, struct cache_entry *e, struct cache_dead *dead)
{
	struct cache_entry *old = cache_shard_find(s, e->node.hash, e->space, slice_of(e->bytes, e->key_n));

	if (old != NULL && old->absent == e->absent) {
		index_remove(s, old);
		eviction_replace(queues_of(s, e), &old->node, &e->node);
		bury(dead, old);
	} else {
		if (old != NULL)
			cache_shard_drop(s, old, dead);
		eviction_add(queues_of(s, e), &e->node);
	}
	index_insert(buckets_of(s), mask_of(s), e);
	s->used++;
}

/* How much to prefetch: too little leaves a copy waiting for each line that the processor does not foresee, too much pushes
 * other entries out of its nearest cache. At depth 16 hits of 1 KB cost a sixth less so than with a fixed 192 bytes. */
static void set_typical(struct cache_shard *s)
{
	size_t n = eviction_count(&s->kept);
	uint64_t mean = n > 0 ? eviction_bytes(&s->kept) / n : 0;

	s->typical = mean < TYPICAL_MIN ? TYPICAL_MIN : mean > TYPICAL_MAX ? TYPICAL_MAX : (uint32_t)mean;
}

void cache_shard_put(struct cache_shard *s, struct cache_entry *e, struct cache_dead *dead)
{
	if (e->node.bytes > s->max_bytes / ENTRY_SHARE || !index_grow(s)) {
		struct cache_entry *old = cache_shard_find(s, e->node.hash, e->space, slice_of(e->bytes, e->key_n));

		if (old != NULL)
			cache_shard_drop(s, old, dead);
		bury(dead, e);
		return;
	}
	link_entry(s, e, dead);
	evict(s, dead);
	set_typical(s);
}

/* ---- arrays of shards ---- */

static bool shard_init(struct cache_shard *s, uint64_t max_bytes, unsigned absent_percent)
{
	pthread_mutexattr_t attr;
	struct cache_bucket *b = buckets_new(BUCKETS_MIN);

	if (b == NULL)
		return false;
	/* Held for less than a microsecond as a rule: spinning a little beats sleeping. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&s->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	atomic_init(&s->bucket, b);
	atomic_init(&s->mask, BUCKETS_MIN - 1);
	s->max_bytes = max_bytes;
	eviction_init(&s->kept, max_bytes);
	eviction_init(&s->absent, max_bytes / 100 * absent_percent);
	return true;
}

static void shard_release(struct cache_shard *s)
{
	struct cache_dead dead = { NULL };
	struct cache_bucket *b = buckets_of(s);

	for (size_t i = 0; i <= mask_of(s); i++)
		for (unsigned k = 0; k < CACHE_BUCKET_SLOTS; k++)
			if (b[i].tag[k] != 0)
				bury(&dead, b[i].slot[k]);
	cache_dead_free(&dead);
	eviction_release(&s->kept);
	eviction_release(&s->absent);
	pthread_mutex_destroy(&s->lock);
	free(b);
}

struct cache_shard *cache_shards_new(uint64_t max_bytes, unsigned absent_percent, unsigned *count)
{
	struct cache_shard *s;
	unsigned n = 1;

	pthread_once(&hash_seed_once, hash_seed_choose);
	while (n * 2 <= *count && n < SHARDS_MAX && max_bytes / (n * 2) >= SHARD_BYTES_MIN)
		n *= 2;
	s = aligned_alloc(64, n * sizeof(*s));
	if (s == NULL)
		return NULL;
	memset(s, 0, n * sizeof(*s));
	for (unsigned i = 0; i < n; i++) {
		if (!shard_init(&s[i], max_bytes / n, absent_percent)) {
			cache_shards_free(&s, i);
			return NULL;
		}
	}
	*count = n;
	return s;
}

void cache_shards_free(struct cache_shard **s, unsigned count)
{
	if (*s == NULL)
		return;
	for (unsigned i = 0; i < count; i++)
		shard_release(&(*s)[i]);
	free(*s);
	*s = NULL;
}

static void stats_add(struct cache_shard_stats *to, const struct cache_shard_stats *s)
{
	to->hits += s->hits;
	to->misses += s->misses;
	to->absent_hits += s->absent_hits;
	to->fills += s->fills;
	to->fills_refused += s->fills_refused;
	to->evictions += s->evictions;
	to->expirations += s->expirations;
	to->invalidations += s->invalidations;
	to->stale_drops += s->stale_drops;
}

void cache_shards_stats(struct cache_shard *s, unsigned count, struct cache_totals *out)
{
	*out = (struct cache_totals){ 0 };
	for (unsigned i = 0; i < count; i++) {
		cache_shard_lock(&s[i]);
		stats_add(&out->stats, &s[i].stats);
		out->bytes += cache_shard_bytes(&s[i]);
		out->absent_entries += eviction_count(&s[i].absent);
		out->entries += eviction_count(&s[i].kept) + eviction_count(&s[i].absent);
		cache_shard_unlock(&s[i]);
	}
}
