/* clock - see clock.h. */
#include "store/clock.h"

#include <time.h>

static uint64_t system_ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void clock_init(struct clock *c, bool still)
{
	c->still = still;
	c->wall_ms = system_ms(CLOCK_REALTIME);
	c->mono_ms = system_ms(CLOCK_MONOTONIC_COARSE);
	atomic_init(&c->ahead_ms, 0);
}

void clock_advance(struct clock *c, uint64_t ms)
{
	atomic_fetch_add_explicit(&c->ahead_ms, ms, memory_order_relaxed);
}

uint64_t clock_wall_ms(const struct clock *c)
{
	return (c->still ? c->wall_ms : system_ms(CLOCK_REALTIME)) + atomic_load_explicit(&c->ahead_ms, memory_order_relaxed);
}

uint64_t clock_ms(const struct clock *c)
{
	uint64_t ms = c->still ? c->mono_ms : system_ms(CLOCK_MONOTONIC_COARSE);

	return ms + atomic_load_explicit(&c->ahead_ms, memory_order_relaxed);
}
