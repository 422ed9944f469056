/* clock - the store's time: what tables, tokens, streams, times to live and capacity go by.
 *
 * It runs with the system's, or, for tests, stands still from its start on and is moved by hand: five minutes of burst, a
 * day of retention or the life of an iterator then pass in no time, and nothing passes by accident. What guards against
 * slow peers and disks (timeouts, waits) does not ask this clock: that time is real.
 *
 * K1. The wall clock follows the system's, jumps included; the other never goes back.
 * K2. Moving the clock moves both by the same.
 *
 * Threads: any. */
#ifndef DYNAX_STORE_CLOCK_H
#define DYNAX_STORE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct clock {
	bool still;
	uint64_t wall_ms, mono_ms;       /* where it stands, if it stands still */
	_Atomic uint64_t ahead_ms;       /* moved by hand */
};

void clock_init(struct clock *c, bool still);
void clock_advance(struct clock *c, uint64_t ms);
/* Unix time. */
uint64_t clock_wall_ms(const struct clock *c);
/* Milliseconds, and whole seconds, since some moment. A few nanoseconds: they ask the coarse clock. */
uint64_t clock_ms(const struct clock *c);
static inline uint64_t clock_seconds(const struct clock *c)
{
	return clock_ms(c) / 1000;
}

#endif
