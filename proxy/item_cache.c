/* item_cache - see item_cache.h. What an entry is and how it is found and evicted: cache_shard.c. */
#include "proxy/item_cache.h"

#include "proxy/cache_shard.h"
#include "proxy/fault_point.h"

#include <stdlib.h>

enum { DEFAULT_SHARDS = 64, DEFAULT_NEGATIVE_PERCENT = 10 };
#define DEFAULT_BYTES ((size_t)256 << 20)

struct item_cache {
	struct cache_shard *shard;
	unsigned shards;
	uint64_t ttl_ns;
	struct epochs *epochs;
};

uint64_t item_cache_hash(uint32_t table, struct slice key)
{
	return cache_hash(table, key);
}

struct item_cache *item_cache_new(const struct item_cache_opts *o, struct epochs *e)
{
	struct item_cache *c = malloc(sizeof(*c));

	if (c == NULL)
		return NULL;
	*c = (struct item_cache){ .epochs = e, .ttl_ns = o->ttl_ns,
		.shards = o->shards != 0 ? o->shards : DEFAULT_SHARDS };
	c->shard = cache_shards_new(o->max_bytes != 0 ? o->max_bytes : DEFAULT_BYTES,
		o->negative_percent != 0 ? o->negative_percent : DEFAULT_NEGATIVE_PERCENT, &c->shards);
	if (c->shard == NULL) {
		free(c);
		return NULL;
	}
	return c;
}

void item_cache_free(struct item_cache **c)
{
	if (*c == NULL)
		return;
	cache_shards_free(&(*c)->shard, (*c)->shards);
	free(*c);
	*c = NULL;
}

void item_cache_prefetch(struct item_cache *c, uint64_t h)
{
	if (c != NULL)
		cache_shard_prefetch(cache_shard_of(c->shard, c->shards, h), h);
}

void item_cache_prefetch_entry(struct item_cache *c, uint64_t h)
{
	struct cache_shard *s;
	const char *e;
	uint32_t bytes;

	if (c == NULL)
		return;
	s = cache_shard_of(c->shard, c->shards, h);
	cache_shard_lock(s);
	e = (const char *)cache_shard_guess(s, h);
	bytes = s->typical;
	cache_shard_unlock(s);
	/* Freed meanwhile, perhaps: a prefetch of it is harmless. */
	for (uint32_t at = 0; e != NULL && at < bytes; at += 64)
		__builtin_prefetch(e + at);
}

static struct cache_entry *entry_new(uint64_t h, uint32_t table, struct slice key, struct slice item)
{
	struct cache_entry *e = cache_entry_new(h, table, key, item);

	if (e != NULL)
		e->units = (uint8_t)capacity_read_halves(slice_present(item) ? item_size(item) : 0, READ_EVENTUAL);
	return e;
}

static uint64_t expiry(const struct item_cache *c, uint64_t now_ns)
{
	return c->ttl_ns != 0 ? now_ns + c->ttl_ns : UINT64_MAX;
}

/* Lock held. The entry, if it may be served now; what may never be served again is dropped on the way. */
static struct cache_entry *find_current(struct item_cache *c, struct cache_shard *s, uint32_t table, struct slice key,
	uint64_t h, uint64_t now_ns, struct cache_dead *dead)
{
	struct cache_entry *e = cache_shard_find(s, h, table, key);

	if (e == NULL)
		return NULL;
	if (now_ns >= e->expires_ns) {
		s->stats.expirations++;
		cache_shard_drop(s, e, dead);
		return NULL;
	}
	if (e->voids != (uint32_t)epoch_voids(c->epochs, table)) {
		s->stats.stale_drops++;
		cache_shard_drop(s, e, dead);
		return NULL;
	}
	/* E2: after the entry was found, with the lock held, so that the writer cannot have mended in between. */
	return epoch_even(epoch_load(c->epochs, table, e->stamp, false)) ? e : NULL;
}

/* misses: how many are counted if it is one. */
static enum item_cache_result look(struct item_cache *c, uint32_t table, struct slice key, uint64_t h, uint64_t now_ns,
	struct buf *out, unsigned *units, unsigned misses)
{
	enum item_cache_result result = ITEM_CACHE_MISS;
	struct cache_dead dead = { NULL };
	struct cache_shard *s;
	struct cache_entry *e;

	*units = 0;
	if (c == NULL)
		return ITEM_CACHE_MISS;
	s = cache_shard_of(c->shard, c->shards, h);
	cache_shard_lock(s);
	e = find_current(c, s, table, key, h, now_ns, &dead);
	if (e == NULL) {
		s->stats.misses += misses;
	} else if (e->absent) {
		eviction_touch(&e->node);
		s->stats.absent_hits++;
		*units = e->units;
		result = ITEM_CACHE_NEGATIVE;
	} else {
		eviction_touch(&e->node);
		s->stats.hits++;
		buf_put_slice(out, cache_entry_value(e));
		*units = e->units;
		result = ITEM_CACHE_HIT;
	}
	cache_shard_unlock(s);
	cache_dead_free(&dead);
	return result;
}

enum item_cache_result item_cache_get(struct item_cache *c, uint32_t table, struct slice key, uint64_t h, uint64_t now_ns,
	struct buf *out)
{
	unsigned units;

	return item_cache_get_priced(c, table, key, h, now_ns, out, &units);
}

enum item_cache_result item_cache_get_priced(struct item_cache *c, uint32_t table, struct slice key, uint64_t h,
	uint64_t now_ns, struct buf *out, unsigned *units)
{
	return look(c, table, key, h, now_ns, out, units, 1);
}

enum item_cache_result item_cache_try(struct item_cache *c, uint32_t table, struct slice key, uint64_t h, uint64_t now_ns,
	struct buf *out, unsigned *units)
{
	return look(c, table, key, h, now_ns, out, units, 0);
}

void item_cache_fill(struct item_cache *c, uint32_t table, struct slice key, uint64_t h, uint64_t part, uint64_t epoch,
	uint64_t now_ns, struct slice item)
{
	struct cache_dead dead = { NULL };
	struct cache_shard *s;
	struct cache_entry *e;
	uint64_t voids;

	if (c == NULL || !epoch_even(epoch))
		return;
	e = entry_new(h, table, key, item);
	if (e == NULL)
		return;
	e->stamp = part;
	e->expires_ns = expiry(c, now_ns);
	s = cache_shard_of(c->shard, c->shards, h);
	cache_shard_lock(s);
	voids = epoch_voids(c->epochs, table);    /* before the epoch is looked at: then it is the one of `epoch` */
	if (epoch_load(c->epochs, table, part, false) == epoch || fault_no_epoch_check()) {
		e->voids = (uint32_t)voids;
		s->stats.fills++;
		cache_shard_put(s, e, &dead);
		e = NULL;
	} else {
		s->stats.fills_refused++;
	}
	cache_shard_unlock(s);
	free(e);
	cache_dead_free(&dead);
}

/* Lock held. Replace an entry by the new item, or drop it: because the item was deleted, or memory is out. */
static void mend(struct item_cache *c, struct cache_shard *s, struct cache_entry *old, const struct store_change *ch,
	uint64_t now_ns, struct cache_dead *dead)
{
	uint64_t voids = epoch_voids(c->epochs, ch->table);
	struct cache_entry *e = NULL;

	s->stats.invalidations++;
	if (slice_present(ch->item) && epoch_even(voids))
		e = entry_new(old->node.hash, ch->table, ch->key, ch->item);
	if (e == NULL) {
		cache_shard_drop(s, old, dead);
		return;
	}
	e->stamp = ch->hash;
	e->voids = (uint32_t)voids;
	e->expires_ns = expiry(c, now_ns);
	cache_shard_put(s, e, dead);
}

void item_cache_apply(struct item_cache *c, const struct store_change *ch, size_t n, uint64_t now_ns)
{
	struct cache_dead dead = { NULL };

	if (c == NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		struct cache_shard *s;
		struct cache_entry *old;
		uint64_t h;

		if (ch[i].whole || !slice_present(ch[i].key))
			continue;       /* I3; or an index entry, which no item is cached under */
		h = item_cache_hash(ch[i].table, ch[i].key);
		s = cache_shard_of(c->shard, c->shards, h);
		cache_shard_lock(s);
		old = cache_shard_find(s, h, ch[i].table, ch[i].key);
		if (old != NULL)
			mend(c, s, old, &ch[i], now_ns, &dead);
		cache_shard_unlock(s);
	}
	cache_dead_free(&dead);
}

void item_cache_stats(const struct item_cache *c, struct item_cache_stats *out)
{
	struct cache_totals t;

	*out = (struct item_cache_stats){ 0 };
	if (c == NULL)
		return;
	cache_shards_stats(c->shard, c->shards, &t);
	*out = (struct item_cache_stats){
		.hits = t.stats.hits, .misses = t.stats.misses, .negative_hits = t.stats.absent_hits,
		.fills = t.stats.fills, .fills_refused = t.stats.fills_refused, .evictions = t.stats.evictions,
		.expirations = t.stats.expirations, .invalidations = t.stats.invalidations + t.stats.stale_drops,
		.bytes = t.bytes, .entries = t.entries, .negative_entries = t.absent_entries,
	};
}
