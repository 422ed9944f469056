/* memtable - what the overlay's table costs the writer and the readers, by the number of its keys and by what they look like.
 *
 *    build/bench/memtable [KEYS...]         100,000 and 400,000 by default
 *
 * A table is filled with KEYS keys with values of 100 bytes; then are timed: a tenth as many keys that it has not seen, sets and
 * seeks of keys picked at random, and a walk over all in either direction. CPU time of the thread, medians of some rounds.
 * Bytes are beyond those of key and value: as the table counts them, and as it takes them from malloc. */
#include "store/engine/memtable.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KEY = 24, VALUE = 100, PROBES = 100000, ROUNDS = 7, TABLE_BYTES = 128 << 20 };

enum measure { INSERT, AGAIN, SEEK, STEP, BACK, COUNTED, HELD, MEASURES };

struct bench {
	uint8_t (*key)[KEY];         /* in the order in which they are put */
	uint8_t (*probe)[KEY];       /* some of them, in another order */
	size_t n;                    /* in the table when the clock starts; a tenth more follow */
	double result[MEASURES][ROUNDS];
};

static uint8_t value[VALUE];

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- keys: table, hash, partition key, perhaps a number ---- */

static void make_key(uint8_t out[KEY], uint64_t hash, const char *text, uint64_t number)
{
	memset(out, 0, KEY);
	out[3] = 7;
	hash = __builtin_bswap64(hash);
	memcpy(out + 4, &hash, 8);
	number = __builtin_bswap64(number);
	memcpy(out + KEY - 8, &number, 8);
	memcpy(out + 12, text, strlen(text));
}

static void many_partitions(uint8_t out[KEY], uint64_t i)
{
	char text[12];

	snprintf(text, sizeof text, "user%07llu", (unsigned long long)(i % 10000000));
	make_key(out, mix(i + 1), text, 0);
}

static void random_in_one(uint8_t out[KEY], uint64_t i)
{
	make_key(out, mix(1), "hot", mix(i + 1));
}

/* At the ends of partitions in turn. */
static void ascending_in_many(uint8_t out[KEY], uint64_t i)
{
	make_key(out, mix(i % 1000), "p", i / 1000);
}

static const struct pattern {
	const char *name;
	void (*make)(uint8_t out[KEY], uint64_t i);
} patterns[] = {
	{ "a partition each", many_partitions },
	{ "in one partition, random", random_in_one },
	{ "in 1,000, ascending", ascending_in_many },
};

/* ---- a round ---- */

static void set(struct memtable *t, const uint8_t key[KEY], uint64_t lsn)
{
	if (memtable_set(t, lsn, slice_of(key, KEY), slice_of(value, VALUE), SLICE_NONE) == NULL)
		abort();
}

static double inserts(struct memtable *t, const struct bench *b, size_t from, size_t to)
{
	double start = cpu_ns();

	for (size_t i = from; i < to; i++)
		set(t, b->key[i], i + 1);
	return (cpu_ns() - start) / (double)(to - from);
}

static double again(struct memtable *t, const struct bench *b)
{
	double start = cpu_ns();

	for (size_t i = 0; i < PROBES; i++)
		set(t, b->probe[i], 2 * b->n + i);
	return (cpu_ns() - start) / PROBES;
}

static double seeks(const struct memtable *t, const struct bench *b)
{
	double start = cpu_ns();

	for (size_t i = 0; i < PROBES; i++)
		if (memtable_ge(t, slice_of(b->probe[i], KEY)) == NULL)
			abort();
	return (cpu_ns() - start) / PROBES;
}

static const struct memnode *next(const struct memtable *t, const struct memnode *n, bool back)
{
	return back ? memtable_lt(t, memnode_key(n)) : memnode_next(n);
}

static double walk(const struct memtable *t, bool back)
{
	double start = cpu_ns();
	size_t bytes = 0;

	for (const struct memnode *n = back ? memtable_last(t) : memtable_first(t); n != NULL; n = next(t, n, back))
		bytes += memnode_at(n, UINT64_MAX)->n;
	return (cpu_ns() - start) / (double)(bytes / VALUE);
}

static size_t malloced(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void run_round(struct bench *b, unsigned round)
{
	size_t before = malloced(), all = b->n + b->n / 10;
	struct memtable *t = memtable_new(TABLE_BYTES);

	if (t == NULL)
		abort();
	(void)inserts(t, b, 0, b->n);
	b->result[INSERT][round] = inserts(t, b, b->n, all);
	b->result[COUNTED][round] = (double)atomic_load(&t->bytes) / (double)all - KEY - VALUE;
	b->result[HELD][round] = (double)(malloced() - before) / (double)all - KEY - VALUE;
	b->result[SEEK][round] = seeks(t, b);
	b->result[STEP][round] = walk(t, false);
	b->result[BACK][round] = walk(t, true);
	b->result[AGAIN][round] = again(t, b);
	memtable_free(&t);
}

/* ---- all of them ---- */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct pattern *p, size_t n)
{
	size_t all = n + n / 10;
	struct bench b = { .n = n, .key = malloc(all * KEY), .probe = malloc(PROBES * KEY) };

	if (b.key == NULL || b.probe == NULL)
		abort();
	for (size_t i = 0; i < all; i++)
		p->make(b.key[i], i);
	for (size_t i = 0; i < PROBES; i++)
		memcpy(b.probe[i], b.key[mix(i) % n], KEY);
	for (unsigned round = 0; round < ROUNDS; round++)
		run_round(&b, round);
	printf("%-26s %8zu", p->name, n);
	for (unsigned i = 0; i < MEASURES; i++) {
		qsort(b.result[i], ROUNDS, sizeof b.result[i][0], ascending);
		printf(" %8.0f", b.result[i][ROUNDS / 2]);
	}
	printf("\n");
	fflush(stdout);
	free(b.key);
	free(b.probe);
}

static void measure_all(size_t n)
{
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
		measure(&patterns[i], n);
}

int main(int argc, char **argv)
{
	printf("%-26s %8s %8s %8s %8s %8s %8s %8s %8s\n", "keys", "number", "insert", "again", "seek", "step", "back", "counted",
		"held");
	for (int i = 1; i < argc; i++)
		measure_all(strtoul(argv[i], NULL, 10));
	if (argc == 1) {
		measure_all(100000);
		measure_all(400000);
	}
	return 0;
}
