/* Deadlines: each expires once, never early, in spite of removals in between, and one that was removed never. */
#include <criterion/criterion.h>
#include <event2/event.h>
#include <time.h>

#include "proxy/deadline.h"

enum { MS = 1000000 };

struct probe {
	struct due due;
	struct due *also;      /* removed when this one expires */
	unsigned expired;
	bool early;
};

static unsigned settled;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void expire(struct due *d, uint64_t now_ns)
{
	struct probe *p = (struct probe *)(void *)d;

	p->expired++;
	p->early |= now_ns < d->at_ns;
	if (p->also != NULL)
		deadlines_remove(p->also);
}

static void settle(void *arg)
{
	(void)arg;
	settled++;
}

static void run_for(struct event_base *base, unsigned ms)
{
	struct timeval tv = { 0, (suseconds_t)ms * 1000 };

	event_base_loopexit(base, &tv);
	event_base_dispatch(base);
}

Test(deadline, each_expires_once_and_never_early)
{
	struct event_base *base = event_base_new();
	struct deadlines d;
	struct probe p[6] = { { .early = false } };
	static const unsigned at_ms[6] = { 30, 10, 20, 10, 400, 15 };
	uint64_t start = now();

	settled = 0;
	cr_assert(deadlines_init(&d, base, settle, NULL));
	for (int i = 0; i < 6; i++) {
		p[i].due.at_ns = start + (uint64_t)at_ms[i] * MS;
		p[i].due.expire = expire;
		deadlines_add(&d, &p[i].due, start);
	}
	p[1].also = &p[2].due;            /* removed while the list is walked */
	deadlines_remove(&p[5].due);      /* answered in time */
	deadlines_remove(&p[5].due);
	run_for(base, 100);
	for (int i = 0; i < 6; i++) {
		unsigned want = i == 0 || i == 1 || i == 3;

		cr_assert_eq(p[i].expired, want, "%d expired %u times", i, p[i].expired);
		cr_assert_not(p[i].early);
	}
	cr_assert_geq(settled, 2);
	deadlines_remove(&p[4].due);
	deadlines_release(&d);
	event_base_free(base);
}
