/* monotonic - the clock that nobody sets, in nanoseconds: for how long something takes, and when something is due.
 *
 * Waits go by it too. A wait by the system's clock lasts an hour longer if that is set back by an hour. */
#ifndef DYNAX_PROTOCOL_MONOTONIC_H
#define DYNAX_PROTOCOL_MONOTONIC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A moment so many milliseconds from now, to wait until. */
static inline struct timespec monotonic_in_ms(unsigned ms)
{
	uint64_t ns = monotonic_ns() + ms * UINT64_C(1000000);

	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
}

/* A condition whose timed waits go by this clock. */
static inline void monotonic_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

#endif
