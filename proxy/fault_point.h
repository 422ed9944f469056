/* fault_point - ways to break the caches and the system calls on purpose, for the test that must notice.
 *
 * Compiled in with -DDYNAX_FAULTS only (make FAULTS=1, which builds apart); without it every point is a constant and
 * disappears. DYNAX_FAULT in the environment lists what is on:
 *
 *    no-epoch-check     fills of the item cache do not look at the epoch (E3)
 *    no-query-epoch     hits of the query cache do not look at the epoch (E2)
 *    fill-delay=US      sleep up to US microseconds between every eighth read and its fill
 *    read-delay=US      sleep US microseconds before each read of the store
 *    read-error         the first read of the store fails
 *    ring-short         the first time that a worker writes to several sockets at once, half of that is not done (ring.h)
 *
 * Threads: any. */
#ifndef DYNAX_PROXY_FAULT_POINT_H
#define DYNAX_PROXY_FAULT_POINT_H

#include <stdbool.h>

#ifdef DYNAX_FAULTS
bool fault_no_epoch_check(void);
bool fault_no_query_epoch(void);
void fault_fill_delay(void);
void fault_read_delay(void);
bool fault_read_error(void);
unsigned fault_ring_short(unsigned writes);
#else
static inline bool fault_no_epoch_check(void)
{
	return false;
}
static inline bool fault_no_query_epoch(void)
{
	return false;
}
static inline void fault_fill_delay(void)
{
}
static inline void fault_read_delay(void)
{
}
static inline bool fault_read_error(void)
{
	return false;
}
static inline unsigned fault_ring_short(unsigned writes)
{
	return writes;
}
#endif

#endif
