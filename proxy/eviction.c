/* eviction - see eviction.h.
 *
 * The ghost is a hash table of 64-byte buckets, eight fingerprints each with the time of their eviction; time is counted
 * in bytes that have left the small queue, so that "not longer ago than the main queue holds" is one subtraction, and
 * nothing has to be taken out when it is too old: the oldest of a bucket is overwritten. */
#include "proxy/eviction.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SMALL_PERCENT = 10, GHOST_PERCENT = 200, GHOST_WAYS = 8, GHOST_BUCKETS_MIN = 16, CLOCK_SHIFT = 6 };

struct ghost_slot {
	uint32_t print;
	uint32_t time;       /* ghost_clock >> CLOCK_SHIFT; it wraps after 256 GiB, which at worst is a wrong guess (N2) */
};

/* ---- ghost ---- */

static uint32_t print_of(uint64_t hash)
{
	uint32_t p = (uint32_t)(hash >> 16);

	return p != 0 ? p : 1;      /* 0 is an empty slot */
}

static struct ghost_slot *bucket_of(struct ghost_slot *ghost, size_t buckets, uint32_t print)
{
	return &ghost[(size_t)(print * 0x9E3779B1u >> 7 & (buckets - 1)) * GHOST_WAYS];
}

static uint32_t ghost_now(const struct eviction *v)
{
	return (uint32_t)(v->ghost_clock >> CLOCK_SHIFT);
}

static void ghost_store(const struct eviction *v, struct ghost_slot *ghost, size_t buckets, struct ghost_slot s)
{
	struct ghost_slot *b = bucket_of(ghost, buckets, s.print), *oldest = b;
	uint32_t now = ghost_now(v);

	for (unsigned i = 0; i < GHOST_WAYS; i++) {
		if (b[i].print == 0 || b[i].print == s.print) {
			oldest = &b[i];
			break;
		}
		if (now - b[i].time > now - oldest->time)
			oldest = &b[i];
	}
	*oldest = s;
}

/* As many slots as there are entries, with room for uneven buckets. Grows only; out of memory: stays as it is. */
static void ghost_fit(struct eviction *v)
{
	size_t want = v->ghost_buckets != 0 ? v->ghost_buckets : GHOST_BUCKETS_MIN;
	struct ghost_slot *grown;

	while (want * GHOST_WAYS < eviction_count(v) * 5 / 2)
		want *= 2;
	if (want == v->ghost_buckets)
		return;
	grown = calloc(want * GHOST_WAYS, sizeof(*grown));
	if (grown == NULL)
		return;
	for (size_t i = 0; i < v->ghost_buckets * GHOST_WAYS; i++)
		if (v->ghost[i].print != 0)
			ghost_store(v, grown, want, v->ghost[i]);
	free(v->ghost);
	v->ghost = grown;
	v->ghost_buckets = want;
}

static void ghost_remember(struct eviction *v, const struct eviction_node *n)
{
	v->ghost_clock += n->bytes;
	ghost_fit(v);
	if (v->ghost != NULL)
		ghost_store(v, v->ghost, v->ghost_buckets, (struct ghost_slot){ print_of(n->hash), ghost_now(v) });
}

/* Was it evicted not longer ago than GHOST_PERCENT of all bytes? It is forgotten then. */
static bool ghost_recall(struct eviction *v, uint64_t hash)
{
	uint32_t print = print_of(hash);
	uint64_t reach = v->max_bytes * GHOST_PERCENT / 100 >> CLOCK_SHIFT;
	struct ghost_slot *b;

	if (v->ghost == NULL)
		return false;
	b = bucket_of(v->ghost, v->ghost_buckets, print);
	for (unsigned i = 0; i < GHOST_WAYS; i++) {
		if (b[i].print == print) {
			bool recent = ghost_now(v) - b[i].time <= reach;

			b[i].print = 0;
			return recent;
		}
	}
	return false;
}

size_t eviction_overhead(const struct eviction *v)
{
	return v->ghost_buckets * GHOST_WAYS * sizeof(struct ghost_slot);
}

/* ---- queues ---- */

static void push(struct eviction *v, enum eviction_queue_id id, struct eviction_node *n)
{
	struct eviction_queue *q = &v->queue[id];

	n->queue = (uint8_t)id;
	n->newer = NULL;
	n->older = q->newest;
	if (q->newest != NULL)
		q->newest->newer = n;
	else
		q->oldest = n;
	q->newest = n;
	q->bytes += n->bytes;
	q->n++;
}

void eviction_remove(struct eviction *v, struct eviction_node *n)
{
	struct eviction_queue *q = &v->queue[n->queue];

	*(n->newer != NULL ? &n->newer->older : &q->newest) = n->older;
	*(n->older != NULL ? &n->older->newer : &q->oldest) = n->newer;
	q->bytes -= n->bytes;
	q->n--;
}

void eviction_replace(struct eviction *v, struct eviction_node *old, struct eviction_node *n)
{
	struct eviction_queue *q = &v->queue[old->queue];

	n->newer = old->newer;
	n->older = old->older;
	n->queue = old->queue;
	n->freq = old->freq;
	*(n->newer != NULL ? &n->newer->older : &q->newest) = n;
	*(n->older != NULL ? &n->older->newer : &q->oldest) = n;
	q->bytes += n->bytes;
	q->bytes -= old->bytes;
}

void eviction_init(struct eviction *v, uint64_t max_bytes)
{
	*v = (struct eviction){ .max_bytes = max_bytes };
}

void eviction_release(struct eviction *v)
{
	free(v->ghost);
	*v = (struct eviction){ 0 };
}

void eviction_add(struct eviction *v, struct eviction_node *n)
{
	n->freq = 0;
	push(v, ghost_recall(v, n->hash) ? EVICTION_MAIN : EVICTION_SMALL, n);
}

/* ---- who goes ---- */

static uint64_t mean_bytes(const struct eviction *v)
{
	size_t n = eviction_count(v);

	return n != 0 ? eviction_bytes(v) / n : 0;
}

/* Uses it takes to pass from the small queue to the main one. A small entry's place costs little, a large one's keeps out
 * many others. */
static unsigned price_of_main(const struct eviction *v, const struct eviction_node *n)
{
	uint64_t mean = mean_bytes(v);

	return n->bytes > 4 * mean ? 3 : n->bytes >= mean / 2 ? 2 : 1;
}

/* Uses it takes to stay in the main queue for another round. */
static unsigned price_of_stay(const struct eviction *v, const struct eviction_node *n)
{
	uint64_t mean = mean_bytes(v);

	return n->bytes > 6 * mean ? 3 : n->bytes > 2 * mean ? 2 : 1;
}

/* Take the oldest of a queue and decide: true if it goes, false if it has been put elsewhere. */
static bool small_lets_go(struct eviction *v, struct eviction_node *n)
{
	bool earned = n->freq >= price_of_main(v, n);

	eviction_remove(v, n);
	if (earned) {
		n->freq = 0;
		push(v, EVICTION_MAIN, n);
		return false;
	}
	ghost_remember(v, n);
	return true;
}

static bool main_lets_go(struct eviction *v, struct eviction_node *n)
{
	unsigned price = price_of_stay(v, n);

	eviction_remove(v, n);
	if (n->freq >= price) {
		n->freq = (uint8_t)(n->freq - price);
		push(v, EVICTION_MAIN, n);
		return false;
	}
	return true;
}

/* Ends: each turn takes a node out of the small queue for good, or lowers the freq of one in the main queue. */
struct eviction_node *eviction_victim(struct eviction *v)
{
	struct eviction_queue *small = &v->queue[EVICTION_SMALL], *big = &v->queue[EVICTION_MAIN];
	struct eviction_node *n;

	for (;;) {
		bool from_small = small->n > 0 && (big->n == 0 || small->bytes > v->max_bytes * SMALL_PERCENT / 100);

		n = from_small ? small->oldest : big->oldest;
		if (n == NULL)
			return NULL;
		if (from_small ? small_lets_go(v, n) : main_lets_go(v, n))
			return n;
	}
}
