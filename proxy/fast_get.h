/* fast_get - GetItem hits, answered without a call: of the msgpack door, and, from JSON (http_get.h), of the HTTP door.
 *
 *    pass 1   every frame of the batch: is it a simple GetItem? find table and hash, prefetch the cache's index
 *    pass 2   prefetch the entries
 *    pass 3   look up; copy the item behind an answer's header, straight into the output
 *
 * Nearly all that a hit costs beside system calls is waiting for memory, so the waits of a whole batch overlap, and those of
 * single requests of many connections too (worker.h, W3).
 *
 * Simple is: TableName, Key and perhaps ConsistentRead, nothing else. Anything else, and any miss, takes the ordinary way,
 * which checks it in full. A hit needs no such check: the key's bytes equal those of a key that was checked when it was
 * stored, and a cached read is as good as a consistent one (epoch.h).
 *
 * Threads: on the worker. */
#ifndef DYNAX_PROXY_FAST_GET_H
#define DYNAX_PROXY_FAST_GET_H

#include "protocol/frame.h"
#include "proxy/worker.h"

struct fast_get {
	const struct table *table;   /* NULL = not a simple GetItem */
	bool consistent;             /* ConsistentRead */
	struct slice key;
	uint64_t hash;               /* item_cache_hash */
};

/* The name that was looked up last: requests that come together mostly read one table. Valid for one event. */
struct fast_memo {
	uint64_t event_number;       /* 0 = none */
	const struct table *table;
	size_t n;
	uint8_t name[UINT8_MAX];
};

/* Pass 1. */
void fast_get_read(struct worker *w, struct fast_memo *memo, struct slice body, struct fast_get *g);
/* Pass 2. */
static inline void fast_get_prefetch(struct worker *w, const struct fast_get *g)
{
	if (g->table != NULL)
		item_cache_prefetch_entry(w->items, g->hash);
}
/* Pass 3. False, with nothing written, on a miss, or if the answer is longer than max_frame. */
bool fast_get_answer(struct worker *w, const struct fast_get *g, uint32_t id, size_t max_frame, struct buf *out);
/* The same without a frame: the answer's record. False, with nothing written, on a miss. */
bool fast_get_record(struct worker *w, const struct fast_get *g, struct buf *out);
/* Put w->fast_hits among the metrics: once an event, since its hits were read and are written together. */
void fast_get_count(struct worker *w);

#endif
