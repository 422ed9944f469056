/* monotonic - the clock that nobody sets, in nanoseconds: for how long something takes, and when something is due. */
#ifndef DYNAX_PROTOCOL_MONOTONIC_H
#define DYNAX_PROTOCOL_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
