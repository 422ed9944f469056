/* Eviction: the queues' books (N1) under random operations, and the three things S3-FIFO is for: a scan does not flush
 * what is used, what comes back soon is kept, sizes are counted. */
#include "proxy/eviction.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

enum { NODES = 4096 };

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 31)) * 0x7FB5D329728EA185u;
	return (x ^ (x >> 27)) * 0x81DADEF4BC2DD44Du;
}

static struct eviction_node *node_new(uint64_t id, uint32_t bytes)
{
	struct eviction_node *n = calloc(1, sizeof(*n));

	n->hash = mix(id);
	n->bytes = bytes;
	return n;
}

static void check_queue(const struct eviction *v, enum eviction_queue_id id)
{
	const struct eviction_queue *q = &v->queue[id];
	const struct eviction_node *newer = NULL;
	uint64_t bytes = 0;
	size_t n = 0;

	for (const struct eviction_node *x = q->newest; x != NULL; newer = x, x = x->older) {
		cr_assert_eq(x->newer, newer);
		cr_assert_eq(x->queue, id);
		cr_assert_leq(x->freq, EVICTION_FREQ_MAX);
		bytes += x->bytes;
		n++;
	}
	cr_assert_eq(q->oldest, newer);
	cr_assert_eq(q->bytes, bytes);
	cr_assert_eq(q->n, n);
}

static void check(const struct eviction *v)
{
	for (unsigned i = 0; i < EVICTION_QUEUES; i++)
		check_queue(v, (enum eviction_queue_id)i);
}

Test(eviction, random_operations_keep_the_books)
{
	unsigned seed = (unsigned)time(NULL);
	struct eviction_node *node[NODES] = { NULL };
	struct eviction v;
	uint64_t max = 200000;

	cr_log_info("SEED=%u", seed);
	srand(seed);
	eviction_init(&v, max);
	for (unsigned step = 0; step < 60000; step++) {
		unsigned i = (unsigned)rand() % NODES;

		if (node[i] == NULL) {
			node[i] = node_new(i, 64 + (uint32_t)rand() % 1000);
			eviction_add(&v, node[i]);
		} else if (rand() % 10 == 0) {
			eviction_remove(&v, node[i]);
			free(node[i]);
			node[i] = NULL;
		} else if (rand() % 10 == 0) {
			struct eviction_node *n = node_new(i, 64 + (uint32_t)rand() % 1000);

			eviction_replace(&v, node[i], n);
			free(node[i]);
			node[i] = n;
		} else {
			eviction_touch(node[i]);
		}
		while (eviction_bytes(&v) > max) {
			struct eviction_node *n = eviction_victim(&v);
			unsigned k = 0;

			cr_assert_not_null(n);
			while (node[k] != n)
				k++;
			free(n);
			node[k] = NULL;
		}
		if (step % 1000 == 0)
			check(&v);
	}
	check(&v);
	for (struct eviction_node *n; (n = eviction_victim(&v)) != NULL;)
		free(n);
	cr_assert_eq(eviction_bytes(&v), 0);
	cr_assert_eq(eviction_count(&v), 0);
	eviction_release(&v);
}

/* A cache of `max` bytes asked for one id; true if it was there. */
static bool ask(struct eviction *v, struct eviction_node **table, uint64_t id, uint32_t bytes)
{
	struct eviction_node *n;

	if (table[id] != NULL) {
		eviction_touch(table[id]);
		return true;
	}
	table[id] = node_new(id, bytes);
	eviction_add(v, table[id]);
	while (eviction_bytes(v) > v->max_bytes) {
		n = eviction_victim(v);
		for (uint64_t i = 0;; i++) {
			if (table[i] == n) {
				table[i] = NULL;
				break;
			}
		}
		free(n);
	}
	return false;
}

Test(eviction, a_scan_does_not_flush_what_is_used)
{
	struct eviction_node **table = calloc(8192, sizeof(*table));
	struct eviction v;
	unsigned kept = 0;

	eviction_init(&v, 100 * 1024);
	for (unsigned round = 0; round < 8; round++)
		for (uint64_t i = 0; i < 50; i++)
			ask(&v, table, i, 1024);
	for (uint64_t i = 1000; i < 8000; i++)
		ask(&v, table, i, 1024);
	for (uint64_t i = 0; i < 50; i++)
		kept += table[i] != NULL;
	cr_assert_geq(kept, 45, "%u of 50 survived a scan of 70 times the cache", kept);
	for (struct eviction_node *n; (n = eviction_victim(&v)) != NULL;)
		free(n);
	eviction_release(&v);
	free(table);
}

Test(eviction, what_comes_back_soon_goes_to_the_main_queue)
{
	struct eviction_node *n, *again;
	struct eviction v;

	eviction_init(&v, 64 * 1024);
	n = node_new(1, 1024);
	eviction_add(&v, n);
	cr_assert_eq(n->queue, EVICTION_SMALL);
	cr_assert_eq(eviction_victim(&v), n);
	again = node_new(1, 1024);
	eviction_add(&v, again);
	cr_assert_eq(again->queue, EVICTION_MAIN);
	free(n);
	eviction_remove(&v, again);
	free(again);
	eviction_release(&v);
}
