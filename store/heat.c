/* heat - see heat.h. */
#include "store/heat.h"

#include <stdlib.h>
#include <string.h>

/* LOAD_FRACTION: the load is kept in parts of half units, so that a little of it decays evenly, too. */
enum { LOAD_FRACTION = 16, SAMPLES_MIN = 8 };

struct heat *heat_new(void)
{
	struct heat *h = calloc(1, sizeof *h);

	if (h == NULL)
		return NULL;
	for (unsigned i = 0; i < METER_USES; i++)
		bucket_init(&h->use[i].bucket);
	h->refs = 1;
	return h;
}

struct heat *heat_ref(struct heat *h)
{
	h->refs++;
	return h;
}

void heat_unref(struct heat **h)
{
	if (*h != NULL && --(*h)->refs == 0)
		free(*h);
	*h = NULL;
}

/* ---- sampling ---- */

/* xorshift32 */
uint32_t heat_random(void)
{
	static _Thread_local uint32_t random;

	if (random == 0)
		random = (uint32_t)(uintptr_t)&random | 1;
	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	return random;
}

/* Distances between samples are random, every half units in the mean (H2): from 1 to 2 * every - 1. */
static uint32_t next_distance(uint32_t every)
{
	return 1 + heat_random() % (2 * every - 1);
}

_Thread_local uint64_t heat_left[METER_USES];

unsigned heat_draw(enum meter_use use, uint64_t halves, uint32_t every)
{
	uint64_t left = heat_left[use] != 0 ? heat_left[use] : next_distance(every);
	unsigned n = 0;

	for (; halves >= left; n++) {
		halves -= left;
		left = next_distance(every);
	}
	heat_left[use] = left - halves;
	return n;
}

static uint64_t pair(uint32_t second, uint32_t value)
{
	return (uint64_t)second << 32 | value;
}

/* Seconds since those of a pair. A thread that has read the clock a little earlier is at the same one. */
static uint32_t passed_since(uint64_t word, uint32_t second)
{
	uint32_t passed = second - (uint32_t)(word >> 32);

	return passed <= INT32_MAX ? passed : 0;
}

static uint32_t decayed(uint64_t word, uint32_t passed)
{
	uint32_t load = (uint32_t)word;

	for (; passed > 0 && load > 0; passed--)
		load -= load / HEAT_LOAD_SECONDS + (load % HEAT_LOAD_SECONDS != 0);
	return load;
}

static void add_load(struct heat_use *u, uint64_t halves, uint32_t second)
{
	uint64_t word = atomic_load_explicit(&u->load, memory_order_relaxed), next;

	do {
		uint32_t passed = passed_since(word, second);
		uint64_t load = decayed(word, passed) + halves * LOAD_FRACTION;

		next = pair((uint32_t)(word >> 32) + passed, load < UINT32_MAX ? (uint32_t)load : UINT32_MAX);
	} while (!atomic_compare_exchange_weak_explicit(&u->load, &word, next, memory_order_relaxed, memory_order_relaxed));
}

void heat_sample(struct heat *h, enum meter_use use, uint64_t hash, unsigned samples, uint32_t every, uint32_t second)
{
	struct heat_use *u = &h->use[use];
	uint32_t at = atomic_fetch_add_explicit(&u->samples, samples, memory_order_relaxed);

	for (unsigned i = 0; i < samples; i++)
		atomic_store_explicit(&u->sample[(at + i) % HEAT_SAMPLES], hash, memory_order_relaxed);
	add_load(u, (uint64_t)samples * every, second);
}

double heat_load(const struct heat *h, enum meter_use use, uint32_t second)
{
	uint64_t word = atomic_load_explicit(&h->use[use].load, memory_order_relaxed);

	/* Half a second: of the present one, that much has passed. */
	return (double)decayed(word, passed_since(word, second)) / LOAD_FRACTION / (HEAT_LOAD_SECONDS - 0.5);
}

/* ---- seconds with refusals ---- */

/* The bits as they are at a second, its own the lowest. */
static uint32_t bits_at(uint64_t word, uint32_t passed)
{
	return passed < 32 ? (uint32_t)word << passed : 0;
}

void heat_refuse(struct heat *h, enum meter_use use, uint32_t second)
{
	struct heat_use *u = &h->use[use];
	uint64_t word = atomic_load_explicit(&u->seconds, memory_order_relaxed), next;

	atomic_fetch_add_explicit(&u->refused, 1, memory_order_relaxed);
	do {
		uint32_t passed = passed_since(word, second);

		next = pair((uint32_t)(word >> 32) + passed, bits_at(word, passed) | 1);
	} while (next != word
		&& !atomic_compare_exchange_weak_explicit(&u->seconds, &word, next, memory_order_relaxed, memory_order_relaxed));
}

bool heat_hot(const struct heat *h, enum meter_use use, uint32_t second)
{
	uint64_t word = atomic_load_explicit(&h->use[use].seconds, memory_order_relaxed);
	uint32_t bits = bits_at(word, passed_since(word, second)) & ((1u << HEAT_SECONDS) - 1);

	return __builtin_popcount(bits) >= HEAT_REFUSED;
}

void heat_calm(struct heat *h)
{
	for (unsigned i = 0; i < METER_USES; i++)
		atomic_store_explicit(&h->use[i].seconds, 0, memory_order_relaxed);
}

/* ---- samples ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

unsigned heat_samples(const struct heat *h, enum meter_use use, uint64_t first, uint64_t last, uint64_t out[HEAT_SAMPLES])
{
	const struct heat_use *u = &h->use[use];
	uint32_t taken = atomic_load_explicit(&u->samples, memory_order_relaxed);
	unsigned n = 0;

	for (unsigned i = 0; i < HEAT_SAMPLES && i < taken; i++) {
		uint64_t hash = atomic_load_explicit(&u->sample[i], memory_order_relaxed);

		if (hash >= first && hash <= last)
			out[n++] = hash;
	}
	qsort(out, n, sizeof *out, by_value);
	return n;
}

static unsigned run_end(const uint64_t *sample, unsigned n, unsigned i)
{
	unsigned end = i + 1;

	while (end < n && sample[end] == sample[i])
		end++;
	return end;
}

/* The first hash behind the middle: of all places to cut at, the one that leaves the halves most alike. */
static uint64_t balanced(const uint64_t *sample, unsigned n)
{
	unsigned at = 0, best = n;

	for (unsigned i = run_end(sample, n, 0); i < n; i = run_end(sample, n, i)) {
		unsigned off = 2 * i > n ? 2 * i - n : n - 2 * i;

		if (off < best) {
			best = off;
			at = i;
		}
	}
	return sample[at];
}

struct heat_cuts heat_cuts(const uint64_t *sample, unsigned n, uint64_t first, uint64_t last)
{
	struct heat_cuts c = { .n = 0 };

	if (n < SAMPLES_MIN || first == last)
		return c;
	for (unsigned i = 0, end; i < n; i = end) {
		end = run_end(sample, n, i);
		if (2 * (end - i) < n)
			continue;
		if (sample[i] != first)
			c.at[c.n++] = sample[i];
		if (sample[i] != last)
			c.at[c.n++] = sample[i] + 1;
		return c;
	}
	c.at[c.n++] = balanced(sample, n);
	return c;
}
