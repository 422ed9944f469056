/* test_bucket - the token bucket against a plain model (B1 to B3), at its extremes, and under threads. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/bucket.h"
#include "store/meter.h"

/* The bucket as one would explain it: every second something comes, and what is too much is lost. */
struct model {
	int64_t level;
	uint32_t rate;
};

static void model_wait(struct model *m, uint32_t seconds)
{
	for (; seconds > 0; seconds--) {
		m->level += m->rate;
		if (m->level > (int64_t)BUCKET_SECONDS * m->rate)
			m->level = (int64_t)BUCKET_SECONDS * m->rate;
	}
}

static void model_rate(struct model *m, uint32_t rate)
{
	m->rate = rate;
	if (m->level > (int64_t)BUCKET_SECONDS * rate)
		m->level = (int64_t)BUCKET_SECONDS * rate;
}

static unsigned seed(void)
{
	const char *s = getenv("SEED");
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 10) : (unsigned)time(NULL);

	printf("SEED=%u\n", v);
	return v;
}

/* B2, B3, and the levels of any history. */
Test(bucket, model)
{
	unsigned rnd = seed();
	struct bucket b;

	for (unsigned round = 0; round < 200; round++) {
		struct model m = { .level = INT32_MAX };
		uint32_t now = (uint32_t)rand_r(&rnd) * 2u;     /* the counter of seconds may go over its end */

		bucket_init(&b);
		bucket_take(&b, bucket_saving(10), now, 0);
		model_rate(&m, 10);
		m.level = (int64_t)BUCKET_SECONDS * m.rate;
		for (unsigned step = 0; step < 200; step++) {
			uint32_t wait = (uint32_t)rand_r(&rnd) % 4 == 0 ? (uint32_t)rand_r(&rnd) % 700 : 0;
			uint64_t cost = (uint64_t)rand_r(&rnd) % (m.rate * 40u);

			now += wait;
			model_wait(&m, wait);
			if (rand_r(&rnd) % 20 == 0) {
				bucket_take(&b, bucket_saving(m.rate), now, 0);
				model_rate(&m, 1 + (uint32_t)rand_r(&rnd) % 3000);
			}
			cr_assert_eq(bucket_level(&b, bucket_saving(m.rate), now), m.level, "step %u: %lld, model %lld", step,
				(long long)bucket_level(&b, bucket_saving(m.rate), now), (long long)m.level);
			if (m.level <= 0)
				continue;
			bucket_take(&b, bucket_saving(m.rate), now, cost);
			m.level -= (int64_t)cost;
		}
	}
}

Test(bucket, extremes)
{
	struct bucket b;

	bucket_init(&b);
	cr_assert_eq(bucket_level(&b, bucket_saving(BUCKET_RATE_MAX), 7), (int64_t)BUCKET_RATE_MAX * BUCKET_SECONDS, "new ones are full");
	bucket_take(&b, bucket_saving(1), 7, UINT64_MAX);
	bucket_take(&b, bucket_saving(1), 7, UINT64_MAX);
	cr_assert_eq(bucket_level(&b, bucket_saving(1), 7), INT32_MIN, "debts have an end, and do not turn into riches");
	cr_assert_eq(bucket_level(&b, bucket_saving(1), 6), INT32_MIN, "a thread whose clock was read earlier");
	bucket_take(&b, bucket_saving(1), 6, 1);
	cr_assert_eq(bucket_level(&b, bucket_saving(1), 8), INT32_MIN + 1);
}

/* Threads lose no token and find none. */
enum { THREADS = 4, TAKES = 20000 };

static void *taker(void *arg)
{
	struct meter *m = arg;

	for (unsigned i = 0; i < TAKES; i++) {
		bucket_take(&m->bucket[METER_READ], bucket_saving(1000), 5 + i % 3, 3);
		meter_use(m, METER_READ, 3);
		meter_save(m, 1);
	}
	return NULL;
}

Test(bucket, threads)
{
	struct meter *m = meter_new();
	struct meter_totals sum;
	pthread_t t[THREADS];

	bucket_take(&m->bucket[METER_READ], bucket_saving(1000), 7, 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, taker, m);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	cr_assert_eq(bucket_level(&m->bucket[METER_READ], bucket_saving(1000), 7), 1000 * BUCKET_SECONDS - 3 * THREADS * TAKES);
	meter_sum(m, &sum);
	cr_assert_eq(sum.used[METER_READ], 3 * THREADS * TAKES);
	cr_assert_eq(sum.saved, THREADS * TAKES);
	cr_assert_eq(sum.used[METER_WRITE], 0);
	meter_unref(&m);
	cr_assert_null(m);
}
