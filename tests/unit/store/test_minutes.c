/* test_minutes - consumption by the minute (T1, T2), against a list of all minutes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/minutes.h"

enum { ALL = 4096 };

static uint64_t greatest(const uint64_t *of, uint64_t end, unsigned n)
{
	uint64_t most = 0;

	for (uint64_t i = end - n; i < end; i++)
		most = of[i] > most ? of[i] : most;
	return most;
}

static uint64_t smallest(const uint64_t *of, uint64_t end, unsigned n)
{
	uint64_t least = UINT64_MAX;

	for (uint64_t i = end - n; i < end; i++)
		least = of[i] < least ? of[i] : least;
	return least;
}

Test(minutes, random)
{
	const char *given = getenv("SEED");
	unsigned rnd = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
	static uint64_t of[MINUTES_USES][ALL];
	struct minutes m = { .begun = false };
	uint64_t total[MINUTES_USES] = { 7, 0 }, second = 1000 + (uint64_t)rand_r(&rnd) % 60, first = second / MINUTE_S;

	printf("SEED=%u\n", rnd);
	of[0][first] = 7;
	minutes_look(&m, total, second);
	while (second / MINUTE_S < ALL - 100) {
		uint64_t add = (uint64_t)rand_r(&rnd) % 1000, minute = second / MINUTE_S;
		unsigned use = rand_r(&rnd) % 2, n = 1 + (unsigned)rand_r(&rnd) % 40;
		struct minutes_range r;

		total[use] += add;
		of[use][minute] += add;
		minutes_look(&m, total, second);
		second += (uint64_t)rand_r(&rnd) % (rand_r(&rnd) % 10 == 0 ? 5000 : 50);
		minutes_look(&m, total, second);
		minute = second / MINUTE_S;
		bool known = n < MINUTES_KEPT && minute >= first + n;

		cr_assert_eq(minutes_range(&m, use, minute, n, &r), known, "%u minutes before %llu", n, (unsigned long long)minute);
		if (known) {
			cr_assert_eq(r.most, greatest(of[use], minute, n));
			cr_assert_eq(r.least, smallest(of[use], minute, n));
		}
		if (minute >= first + MINUTES_KEPT)
			cr_assert_eq(m.before[use], greatest(of[use], minute - MINUTES_KEPT + 1, (unsigned)(minute - MINUTES_KEPT + 1 - first)));
		cr_assert(!minutes_range(&m, use, minute + 2, n, &r));
	}
}

/* Nobody has looked for a while: 150 in two minutes and a half, of which 20 seconds are in the first one. */
Test(minutes, evenly)
{
	uint64_t total[MINUTES_USES] = { 0, 0 };
	struct minutes m = { .begun = false };
	struct minutes_range r;

	minutes_look(&m, total, 6040);
	total[1] = 150;
	minutes_look(&m, total, 6040 + 150);
	cr_assert(minutes_range(&m, 1, 101, 1, &r));
	cr_assert_eq(r.most, 20);
	cr_assert(minutes_range(&m, 1, 102, 1, &r));
	cr_assert_eq(r.most, 60);
	cr_assert(minutes_range(&m, 1, 103, 1, &r));
	cr_assert_eq(r.most, 60);
	cr_assert_eq(m.used[1][103 % MINUTES_KEPT], 10);
	cr_assert_eq(m.used[0][102 % MINUTES_KEPT], 0);
	/* And for a very long while: each of the minutes that are kept has its part. */
	total[1] += 1000000;
	minutes_look(&m, total, 6190 + 1000000);
	cr_assert(minutes_range(&m, 1, m.now, MINUTES_KEPT - 1, &r));
	cr_assert(r.least == 60 && r.most == 60, "%llu, %llu", (unsigned long long)r.least, (unsigned long long)r.most);
	cr_assert_eq(m.before[1], 60);
}

/* Each minute that ends is judged once, in order; the oldest are passed over, and all of them if nobody cares. */
Test(minutes, judged)
{
	const uint64_t none[MINUTES_USES] = { 0, 0 };
	struct minutes m = { .begun = false };

	minutes_look(&m, none, 600);
	cr_assert(!minutes_next(&m, true));
	minutes_look(&m, none, 600 + 3 * MINUTE_S);
	for (uint64_t end = 11; end <= 13; end++) {
		cr_assert(minutes_next(&m, true));
		cr_assert_eq(m.judged, end);
	}
	cr_assert(!minutes_next(&m, true));
	minutes_look(&m, none, 600 + 1000 * MINUTE_S);
	cr_assert(minutes_next(&m, true));
	cr_assert_eq(m.judged, 1010 - MINUTES_KEPT + 2);
	cr_assert(!minutes_next(&m, false));
	cr_assert(!minutes_next(&m, true));
}
