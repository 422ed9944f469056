/* cache_hit - what a hit in the item cache costs, for random keys among N entries, in batches of 16 as a pipelined
 * connection brings them: looked up one by one; with the index prefetched; with the entries prefetched too.
 *
 *    build/bench/cache_hit [ENTRIES [ITEM BYTES]]
 *
 * CPU time of the thread, so that other work on the machine shows only by the processor's caches that it fouls. It includes
 * hashing the key and copying the item; the keys lie in an array of their own, prefetched beforehand. */
#include "proxy/item_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 16, GETS = 4000000, KEY_BYTES = 20, TABLE = 1 };

struct setup {
	struct epochs *epochs;
	struct item_cache *cache;
	char (*key)[KEY_BYTES];
	unsigned n;
	struct buf out;
	uint32_t random;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fill(struct setup *s, size_t item_bytes)
{
	uint8_t *item = calloc(1, item_bytes);

	for (unsigned i = 0; i < s->n && item != NULL; i++) {
		char text[KEY_BYTES + 1];
		struct slice key = slice_of(s->key[i], KEY_BYTES);

		snprintf(text, sizeof(text), "customer-%011u", i);
		memcpy(s->key[i], text, KEY_BYTES);
		item_cache_fill(s->cache, TABLE, key, item_cache_hash(TABLE, key), i * 0x9E3779B97F4A7C15u, 0, 0,
			slice_of(item, item_bytes));
	}
	free(item);
}

/* prefetch: 0 none, 1 the index, 2 index and entries. Returns hits. */
static unsigned get_batch(struct setup *s, unsigned prefetch)
{
	struct slice key[BATCH];
	uint64_t hash[BATCH];
	unsigned hits = 0;

	for (unsigned i = 0; i < BATCH; i++) {
		s->random = s->random * 1664525 + 1013904223;
		key[i] = slice_of(s->key[(uint64_t)s->random * s->n >> 32], KEY_BYTES);
		__builtin_prefetch(key[i].p);
	}
	for (unsigned i = 0; i < BATCH; i++) {
		hash[i] = item_cache_hash(TABLE, key[i]);
		if (prefetch > 0)
			item_cache_prefetch(s->cache, hash[i]);
	}
	for (unsigned i = 0; i < BATCH && prefetch > 1; i++)
		item_cache_prefetch_entry(s->cache, hash[i]);
	buf_clear(&s->out);
	for (unsigned i = 0; i < BATCH; i++)
		hits += item_cache_get(s->cache, TABLE, key[i], hash[i], 0, &s->out) == ITEM_CACHE_HIT;
	return hits;
}

int main(int argc, char **argv)
{
	static const char *const name[] = { "one by one", "index prefetched", "index and entries prefetched" };
	struct setup s = { .n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100000, .epochs = epochs_new(0),
		.random = 1 };
	size_t item_bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	struct item_cache_stats stats;

	s.cache = item_cache_new(&(struct item_cache_opts){ .max_bytes = (size_t)8 << 30 }, s.epochs);
	s.key = malloc((size_t)s.n * KEY_BYTES);
	if (s.n == 0 || s.epochs == NULL || s.cache == NULL || s.key == NULL)
		return 1;
	buf_init(&s.out);
	fill(&s, item_bytes);
	item_cache_stats(s.cache, &stats);
	printf("%u entries of %zu bytes and a key of %d, %.0f bytes of memory each\n", s.n, item_bytes, KEY_BYTES,
		(double)stats.bytes / (double)stats.entries);
	for (unsigned prefetch = 0; prefetch < 3; prefetch++) {
		uint64_t start = cpu_ns();
		unsigned hits = 0;

		for (unsigned i = 0; i < GETS / BATCH; i++)
			hits += get_batch(&s, prefetch);
		printf("%-30s %6.1f ns a hit\n", name[prefetch], (double)(cpu_ns() - start) / hits);
	}
	buf_release(&s.out);
	free(s.key);
	item_cache_free(&s.cache);
	epochs_free(&s.epochs);
	return 0;
}
