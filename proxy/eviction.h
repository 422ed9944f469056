/* eviction - which entry goes when the bytes run out: S3-FIFO, counted in bytes and aware of sizes.
 *
 *                    ghost remembers it
 *          add ---------------------------------.
 *           |                                   v
 *           v   used again meanwhile        .-> main --oldest, not used--> victim
 *         small --oldest-----------------> -'     \--oldest, used--> again at the front
 *           \--oldest, not used--> victim, remembered by the ghost
 *
 * Most keys are asked for once. They pass through the small queue, a tenth of the bytes, and never disturb the main
 * one; what comes back soon after it went (the ghost knows) was worth keeping and goes to the main queue. A use only
 * bumps a two-bit counter, so that a hit moves nothing. After Yang et al., "FIFO queues are all you need for cache
 * eviction", SOSP 2023, with two changes that bench/eviction.c measured, as share of the gap between LRU and the optimum:
 * the ghost reaches back twice the cache instead of nine tenths of it (21.6 -> 26.1 %, objects of one size), and a large
 * entry must have been used more often than a small one to stay (26.6 -> 32.8 %, sizes as they are).
 *
 * N1. bytes is the sum of the nodes' bytes; every node added is in one queue until removed or given out as a victim.
 * N2. The ghost is a help, not a truth: it may forget, and confuse two hashes, and the cache is as correct as before.
 *
 * Threads: none of its own; the caller holds its lock. Ownership: nodes are the caller's, linked in here. */
#ifndef DYNAX_PROXY_EVICTION_H
#define DYNAX_PROXY_EVICTION_H

#include <stddef.h>
#include <stdint.h>

enum eviction_queue_id { EVICTION_SMALL, EVICTION_MAIN, EVICTION_QUEUES };
enum { EVICTION_FREQ_MAX = 3 };

/* Lies inside the caller's entry. The caller sets hash and bytes before it adds the node. */
struct eviction_node {
	struct eviction_node *newer, *older;
	uint64_t hash;
	uint32_t bytes;
	uint8_t queue;      /* enum eviction_queue_id */
	uint8_t freq;       /* uses since it was last looked at, at most EVICTION_FREQ_MAX */
};

struct eviction_queue {
	struct eviction_node *newest, *oldest;
	uint64_t bytes;
	size_t n;
};

struct ghost_slot;

struct eviction {
	struct eviction_queue queue[EVICTION_QUEUES];
	uint64_t max_bytes;           /* what the shares are of */
	struct ghost_slot *ghost;     /* NULL until there is something to remember, or out of memory */
	size_t ghost_buckets;         /* a power of two */
	uint64_t ghost_clock;         /* bytes that went from the small queue, ever */
};

void eviction_init(struct eviction *v, uint64_t max_bytes);
/* Frees the ghost; the nodes are the caller's. */
void eviction_release(struct eviction *v);

void eviction_add(struct eviction *v, struct eviction_node *n);
static inline void eviction_touch(struct eviction_node *n)
{
	if (n->freq < EVICTION_FREQ_MAX)
		n->freq++;
}
void eviction_remove(struct eviction *v, struct eviction_node *n);
/* Put n where old is; old is out. */
void eviction_replace(struct eviction *v, struct eviction_node *old, struct eviction_node *n);
/* Take out the node that should go next; NULL if there is none. */
struct eviction_node *eviction_victim(struct eviction *v);

static inline uint64_t eviction_bytes(const struct eviction *v)
{
	return v->queue[EVICTION_SMALL].bytes + v->queue[EVICTION_MAIN].bytes;
}

static inline size_t eviction_count(const struct eviction *v)
{
	return v->queue[EVICTION_SMALL].n + v->queue[EVICTION_MAIN].n;
}

/* Memory of the ghost, to be counted with the cache's. */
size_t eviction_overhead(const struct eviction *v);

#endif
