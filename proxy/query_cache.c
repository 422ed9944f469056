/* query_cache - see query_cache.h. What an entry is and how it is found and evicted: cache_shard.c. */
#include "proxy/query_cache.h"

#include "proxy/cache_shard.h"
#include "proxy/fault_point.h"

#include <stdlib.h>

enum { DEFAULT_SHARDS = 16 };
#define DEFAULT_BYTES ((size_t)64 << 20)

struct query_cache {
	struct cache_shard *shard;
	unsigned shards;
	uint64_t ttl_ns;
	struct epochs *epochs;
};

struct query_cache *query_cache_new(const struct query_cache_opts *o, struct epochs *e)
{
	struct query_cache *c = malloc(sizeof(*c));

	if (c == NULL)
		return NULL;
	*c = (struct query_cache){ .epochs = e, .ttl_ns = o->ttl_ns,
		.shards = o->shards != 0 ? o->shards : DEFAULT_SHARDS };
	c->shard = cache_shards_new(o->max_bytes != 0 ? o->max_bytes : DEFAULT_BYTES, 0, &c->shards);
	if (c->shard == NULL) {
		free(c);
		return NULL;
	}
	return c;
}

void query_cache_free(struct query_cache **c)
{
	if (*c == NULL)
		return;
	cache_shards_free(&(*c)->shard, (*c)->shards);
	free(*c);
	*c = NULL;
}

uint64_t query_cache_space(enum op op, const struct store_query *q)
{
	return (uint64_t)op << 32 | q->stripe_table;
}

uint64_t query_cache_hash(enum op op, struct slice request, const struct store_query *q)
{
	return cache_hash(query_cache_space(op, q), request);
}

/* Lock held. The entry, if it may be served under this epoch; a dead one is dropped on the way. */
static struct cache_entry *find_current(struct cache_shard *s, uint64_t h, uint64_t space, struct slice request,
	uint64_t epoch, uint64_t now_ns, struct cache_dead *dead)
{
	struct cache_entry *e = cache_shard_find(s, h, space, request);

	if (e == NULL || (e->stamp == epoch && now_ns < e->expires_ns) || fault_no_query_epoch())
		return e;
	/* Newer than the epoch that we loaded: somebody was faster, and it may serve others. */
	if (e->stamp > epoch)
		return NULL;
	if (e->stamp < epoch)
		s->stats.stale_drops++;
	else
		s->stats.expirations++;
	cache_shard_drop(s, e, dead);
	return NULL;
}

bool query_cache_get(struct query_cache *c, enum op op, struct slice request, const struct store_query *q, uint64_t epoch,
	uint64_t now_ns, struct buf *out)
{
	struct cache_dead dead = { NULL };
	struct cache_shard *s;
	struct cache_entry *e;
	uint64_t space, h, saved = 0;

	if (c == NULL || !epoch_even(epoch))
		return false;
	space = query_cache_space(op, q);
	h = cache_hash(space, request);
	s = cache_shard_of(c->shard, c->shards, h);
	cache_shard_lock(s);
	e = find_current(s, h, space, request, epoch, now_ns, &dead);
	if (e != NULL) {
		s->stats.hits++;
		eviction_touch(&e->node);
		buf_put_slice(out, cache_entry_value(e));
		saved = e->cost;
	} else {
		s->stats.misses++;
	}
	cache_shard_unlock(s);
	cache_dead_free(&dead);
	if (e != NULL)
		meter_save(q->meter, saved);
	return e != NULL;
}

void query_cache_fill(struct query_cache *c, enum op op, struct slice request, const struct store_query *q, uint64_t epoch,
	uint64_t now_ns, struct slice answer)
{
	struct cache_dead dead = { NULL };
	struct cache_shard *s;
	struct cache_entry *e;
	uint64_t space;

	if (c == NULL || !epoch_even(epoch))
		return;
	space = query_cache_space(op, q);
	e = cache_entry_new(cache_hash(space, request), space, request, answer);
	if (e == NULL)
		return;
	e->stamp = epoch;
	e->cost = (uint32_t)q->cost;
	e->expires_ns = c->ttl_ns != 0 ? now_ns + c->ttl_ns : UINT64_MAX;
	s = cache_shard_of(c->shard, c->shards, e->node.hash);
	cache_shard_lock(s);
	if (epoch_load(c->epochs, q->stripe_table, q->stripe_hash, q->whole) == epoch || fault_no_query_epoch()) {
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

void query_cache_stats(const struct query_cache *c, struct query_cache_stats *out)
{
	struct cache_totals t;

	*out = (struct query_cache_stats){ 0 };
	if (c == NULL)
		return;
	cache_shards_stats(c->shard, c->shards, &t);
	*out = (struct query_cache_stats){
		.hits = t.stats.hits, .misses = t.stats.misses, .fills = t.stats.fills,
		.fills_refused = t.stats.fills_refused, .evictions = t.stats.evictions,
		.expirations = t.stats.expirations, .stale_drops = t.stats.stale_drops,
		.bytes = t.bytes, .entries = t.entries,
	};
}
