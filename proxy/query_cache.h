/* query_cache - whole answers of Query and Scan, by canonical request bytes, dead with the first write to their partition.
 *
 * An entry holds the epoch it was stored under, and is current only while its stripe still has it (epoch.h, E2). Nothing
 * has to be told of writes: what a write killed is dropped when it is asked for again, or evicted in its turn. The key is
 * the operation, the id of the table or index (never used twice), and the request's record, in which all that shapes the
 * answer stands, ReturnConsumedCapacity too; so an answer is the same bytes warm and cold.
 *
 * Answers larger than a quarter of a shard, and requests of 64 KiB, are not kept. A cache that is NULL is off.
 *
 * Eviction and threads: as item_cache. */
#ifndef DYNAX_PROXY_QUERY_CACHE_H
#define DYNAX_PROXY_QUERY_CACHE_H

#include "proxy/epoch.h"

struct query_cache;

struct query_cache_opts {     /* zero = default */
	size_t max_bytes;         /* 64 MiB */
	unsigned shards;          /* 16 */
	uint64_t ttl_ns;          /* counted from the fill; 0 = until invalidated */
};

struct query_cache *query_cache_new(const struct query_cache_opts *o, struct epochs *e);
void query_cache_free(struct query_cache **c);

/* key: operation and request record. epoch: the stripe's, just loaded, even. On a hit the answer is appended to out. */
bool query_cache_get(struct query_cache *c, enum op op, struct slice request, const struct store_query *q, uint64_t epoch,
	uint64_t now_ns, struct buf *out);
void query_cache_fill(struct query_cache *c, enum op op, struct slice request, const struct store_query *q, uint64_t epoch,
	uint64_t now_ns, struct slice answer);

/* What the key's space and hash are, for whoever keeps other things under the same keys (flight.h). */
uint64_t query_cache_space(enum op op, const struct store_query *q);
uint64_t query_cache_hash(enum op op, struct slice request, const struct store_query *q);

struct query_cache_stats {
	uint64_t hits, misses, fills, fills_refused, evictions, expirations, stale_drops;
	uint64_t bytes, entries;
};
void query_cache_stats(const struct query_cache *c, struct query_cache_stats *out);

#endif
