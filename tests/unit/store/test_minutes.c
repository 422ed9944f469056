/* test_minutes - consumption by the minute (T1 to T3), against a list of all minutes. */
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
