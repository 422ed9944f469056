/* test_heat - limits of a partition, samples of its keys, and where they say that it is to be cut (H1 to H3). */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/heat.h"

static unsigned seed(void)
{
	const char *s = getenv("SEED");
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 10) : (unsigned)time(NULL);

	printf("SEED=%u\n", v);
	return v;
}

/* ---- the limit ---- */

/* H1: over any interval, what passes costs at most limit * T, one second's worth, and one operation. */
Test(heat, limit)
{
	enum { STEPS = 600 };
	unsigned rnd = seed();
	static uint64_t ms[STEPS], cost[STEPS];

	for (unsigned round = 0; round < 10; round++) {
		uint32_t rate = 1 + (uint32_t)rand_r(&rnd) % (round < 5 ? 20 : 6000), now = (uint32_t)rand_r(&rnd);
		struct heat *h = heat_new();
		struct bucket *b = &h->use[METER_WRITE].bucket;
		uint64_t largest = 0, passed = 0, start = now, when = now;
		unsigned n = 0;

		for (unsigned step = 0; step < STEPS; step++) {
			uint64_t c = 1 + (uint64_t)rand_r(&rnd) % (rate < 20 ? 10 : rate / 2);

			when += rand_r(&rnd) % 3 == 0 ? (unsigned)rand_r(&rnd) % 300 : 0;
			if (bucket_level(b, heat_law(rate), (uint32_t)when) <= 0)
				continue;
			bucket_take(b, heat_law(rate), (uint32_t)when, c * 1000);
			largest = c > largest ? c : largest;
			passed += c;
			ms[n] = when;
			cost[n++] = c;
		}
		for (unsigned i = 0; i < n; i++) {
			uint64_t sum = 0;

			for (unsigned k = i; k < n; k++) {
				sum += cost[k];
				cr_assert_leq(sum * 1000, rate * (ms[k] - ms[i]) + (rate + largest) * 1000, "rate %u", rate);
			}
		}
		/* And no less than the limit, if it is asked for. */
		if (rate < 20)
			cr_assert_geq(passed * 1000, rate * (when - start) / 2, "%llu of %u", (unsigned long long)passed, rate);
		heat_unref(&h);
	}
}

/* The largest limit does not go over the bucket's numbers. */
Test(heat, largest_limit)
{
	struct heat *h = heat_new();
	struct bucket *b = &h->use[METER_READ].bucket;

	cr_assert_eq(bucket_level(b, heat_law(HEAT_RATE_MAX), 5), (int64_t)HEAT_RATE_MAX * 1000);
	bucket_take(b, heat_law(HEAT_RATE_MAX), 5, (uint64_t)HEAT_RATE_MAX * 1000);
	cr_assert_eq(bucket_level(b, heat_law(HEAT_RATE_MAX), 5), 0);
	cr_assert_eq(bucket_level(b, heat_law(HEAT_RATE_MAX), 505), (int64_t)HEAT_RATE_MAX * 500);
	cr_assert_eq(bucket_level(b, heat_law(HEAT_RATE_MAX), 9005), (int64_t)HEAT_RATE_MAX * 1000);
	heat_unref(&h);
}

/* ---- samples ---- */

static void consume(struct heat *h, uint64_t hash, uint64_t halves, uint32_t every, uint32_t second)
{
	unsigned n = heat_account(METER_WRITE, halves, every);

	if (n != 0)
		heat_sample(h, METER_WRITE, hash, n, every, second);
}

static unsigned count(const uint64_t *sample, unsigned n, uint64_t hash)
{
	unsigned c = 0;

	for (unsigned i = 0; i < n; i++)
		c += sample[i] == hash;
	return c;
}

/* H2: by cost, whatever the pattern: two keys take turns, one three times as dear as the other. */
Test(heat, samples_by_cost)
{
	uint64_t sample[HEAT_SAMPLES];
	struct heat *h = heat_new();
	unsigned dear = 0, all = 0;

	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < 1000; i++)
			consume(h, 7 + i % 2, i % 2 == 0 ? 24 : 8, 16, 100);
		unsigned n = heat_samples(h, METER_WRITE, 0, UINT64_MAX, sample);

		all += n;
		dear += count(sample, n, 7);
	}
	cr_assert_eq(all, 40 * HEAT_SAMPLES);
	cr_assert(dear > all * 72 / 100 && dear < all * 78 / 100, "%u of %u", dear, all);
	heat_unref(&h);
}

/* One for each half unit, in order, those of a range only, and the last ones only. */
Test(heat, exact_samples)
{
	uint64_t sample[HEAT_SAMPLES];
	struct heat *h = heat_new();

	consume(h, 50, 1, 1, 9);
	consume(h, 10, 3, 1, 9);
	consume(h, 20, 2, 1, 9);
	cr_assert_eq(heat_samples(h, METER_READ, 0, UINT64_MAX, sample), 0);
	cr_assert_eq(heat_samples(h, METER_WRITE, 0, UINT64_MAX, sample), 6);
	cr_assert(sample[0] == 10 && sample[2] == 10 && sample[3] == 20 && sample[5] == 50);
	cr_assert_eq(heat_samples(h, METER_WRITE, 11, 50, sample), 3);
	cr_assert_eq(heat_samples(h, METER_WRITE, 11, 49, sample), 2);
	consume(h, 60, HEAT_SAMPLES - 1, 1, 9);
	cr_assert_eq(heat_samples(h, METER_WRITE, 0, UINT64_MAX, sample), HEAT_SAMPLES);
	cr_assert_eq(count(sample, HEAT_SAMPLES, 60), HEAT_SAMPLES - 1);
	consume(h, 70, 3 * HEAT_SAMPLES, 1, 9);
	heat_samples(h, METER_WRITE, 0, UINT64_MAX, sample);
	cr_assert_eq(count(sample, HEAT_SAMPLES, 70), HEAT_SAMPLES);
	heat_unref(&h);
}

Test(heat, load)
{
	struct heat *h = heat_new();

	for (uint32_t second = 1000; second < 1500; second++)
		for (unsigned i = 0; i < 100; i++)
			consume(h, i, 20, 16, second);
	double load = heat_load(h, METER_WRITE, 1500);

	/* A second has begun in which nothing has come yet. */
	cr_assert(load > 1936 * 0.95 && load < 1936 * 1.05, "%f", load);
	load = heat_load(h, METER_WRITE, 1500 + HEAT_LOAD_SECONDS);
	cr_assert(load > 1936 * 0.33 && load < 1936 * 0.40, "%f", load);
	cr_assert_eq(heat_load(h, METER_WRITE, 5000), 0);
	cr_assert_eq(heat_load(h, METER_READ, 1500), 0);
	heat_unref(&h);
}

/* ---- being hot ---- */

/* H3 */
Test(heat, sustained)
{
	struct heat *h = heat_new();
	uint32_t second = 5000;

	for (unsigned i = 0; i < HEAT_REFUSED; i++) {
		cr_assert_not(heat_hot(h, METER_READ, second + 2 * i), "%u", i);
		heat_refuse(h, METER_READ, second + 2 * i);
		heat_refuse(h, METER_READ, second + 2 * i);
	}
	second += 2 * (HEAT_REFUSED - 1);
	cr_assert(heat_hot(h, METER_READ, second));
	cr_assert_not(heat_hot(h, METER_WRITE, second), "reads were refused");
	cr_assert(heat_hot(h, METER_READ, second + 1));
	cr_assert_not(heat_hot(h, METER_READ, second + 2), "the first refusal is half a minute ago");
	heat_refuse(h, METER_READ, second + 1);
	cr_assert(heat_hot(h, METER_READ, second + 2));
	heat_refuse(h, METER_READ, second); /* by a thread whose clock was read earlier */
	cr_assert(heat_hot(h, METER_READ, second + 2));
	heat_calm(h);
	cr_assert_not(heat_hot(h, METER_READ, second + 2));
	cr_assert_eq(h->use[METER_READ].refused, 2 * HEAT_REFUSED + 2);
	heat_unref(&h);
}

/* ---- where to cut ---- */

static void check_cuts(const uint64_t *sample, unsigned n, uint64_t first, uint64_t last, unsigned cuts, uint64_t a, uint64_t b)
{
	struct heat_cuts c = heat_cuts(sample, n, first, last);

	cr_assert_eq(c.n, cuts, "%u cuts", c.n);
	cr_assert(cuts < 1 || c.at[0] == a, "%llu", (unsigned long long)c.at[0]);
	cr_assert(cuts < 2 || c.at[1] == b, "%llu", (unsigned long long)c.at[1]);
}

Test(heat, cuts)
{
	static const uint64_t even[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, front[] = { 3, 3, 3, 4, 5, 6, 7, 8 },
		back[] = { 1, 2, 3, 4, 5, 8, 8, 8 }, half[] = { 1, 2, 5, 5, 5, 5, 9, 9 }, one[] = { 5, 5, 5, 5, 5, 5, 5, 5 },
		two[] = { 2, 2, 2, 2, 6, 6, 6, 6 }, ends[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		UINT64_MAX, UINT64_MAX };

	check_cuts(even, 8, 0, 100, 1, 5, 0);
	check_cuts(front, 8, 0, 100, 1, 5, 0);
	check_cuts(back, 8, 0, 100, 1, 5, 0);
	check_cuts(half, 8, 0, 100, 2, 5, 6);
	check_cuts(one, 8, 0, 100, 2, 5, 6);
	check_cuts(one, 8, 5, 100, 1, 6, 0);
	check_cuts(one, 8, 0, 5, 1, 5, 0);
	check_cuts(one, 8, 5, 5, 0, 0, 0);
	check_cuts(two, 8, 2, 100, 1, 3, 0);
	check_cuts(even, 7, 0, 100, 0, 0, 0);
	check_cuts(ends, 8, 0, UINT64_MAX, 1, UINT64_MAX, 0);
}

/* Against the plain way to say it: no other cut between samples balances better, and each cut leaves something on both sides. */
Test(heat, random_cuts)
{
	unsigned rnd = seed();

	for (unsigned round = 0; round < 3000; round++) {
		unsigned n = 8 + (unsigned)rand_r(&rnd) % 60, keys = 1 + (unsigned)rand_r(&rnd) % 20, most = 0;
		uint64_t count_of[20] = { 0 }, sample[80];
		unsigned at = 0;

		for (unsigned i = 0; i < n; i++)
			count_of[(unsigned)rand_r(&rnd) % keys * ((unsigned)rand_r(&rnd) % 2)]++;
		for (unsigned k = 0; k < 20; k++) {
			most = count_of[k] > most ? (unsigned)count_of[k] : most;
			for (unsigned i = 0; i < count_of[k]; i++)
				sample[at++] = 100 + 10 * k;
		}
		struct heat_cuts c = heat_cuts(sample, n, 100, 500);

		cr_assert_eq(c.n == 1 && c.at[0] % 10 == 0 && 2 * most < n, 2 * most < n);
		for (unsigned i = 0; i < c.n; i++)
			cr_assert(c.at[i] > 100 && c.at[i] <= 500);
		if (2 * most >= n)
			continue;
		unsigned best = n, left = 0, chosen = 0;

		for (unsigned k = 0; k + 1 < 20; k++) {
			left += (unsigned)count_of[k];
			unsigned off = 2 * left > n ? 2 * left - n : n - 2 * left;

			best = off < best ? off : best;
			if (100 + 10 * k < c.at[0])
				chosen = off;
		}
		cr_assert_eq(chosen, best);
	}
}

/* ---- threads ---- */

static void *worker(void *arg)
{
	struct heat *h = arg;

	for (unsigned i = 0; i < 20000; i++) {
		consume(h, i % 50, 2, 16, 100 + i / 1000);
		heat_refuse(h, METER_WRITE, 100 + i / 1000);
	}
	return NULL;
}

Test(heat, threads)
{
	enum { THREADS = 4 };
	struct heat *h = heat_new();
	uint64_t sample[HEAT_SAMPLES];
	pthread_t t[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, h);
	for (unsigned i = 0; i < 1000; i++)
		heat_samples(h, METER_WRITE, 0, UINT64_MAX, sample);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	cr_assert_eq(h->use[METER_WRITE].refused, THREADS * 20000);
	cr_assert(heat_hot(h, METER_WRITE, 119));
	cr_assert_eq(heat_samples(h, METER_WRITE, 0, 49, sample), HEAT_SAMPLES);
	unsigned taken = h->use[METER_WRITE].samples, expected = THREADS * 20000 * 2 / 16;

	cr_assert(taken > expected * 9 / 10 && taken < expected * 11 / 10, "%u of %u", taken, expected);
	heat_unref(&h);
}
