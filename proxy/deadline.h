/* deadline - requests in flight that must be answered by a certain time, of one worker, and one timer for all of them.
 *
 * The timer is set for the nearest deadline and not touched for later ones, so a request whose answer comes in time costs
 * two list operations. Few requests are in flight at once; when the timer fires all of them are looked at.
 *
 * Threads: the worker's. Ownership: a `due` is its owner's; it is in the list from deadlines_add until deadlines_remove, or
 * until expire() is called. */
#ifndef DYNAX_PROXY_DEADLINE_H
#define DYNAX_PROXY_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct event_base;

struct due {
	struct due *prev, *next;                 /* NULL when in no list */
	uint64_t at_ns;                          /* CLOCK_MONOTONIC */
	void (*expire)(struct due *d, uint64_t now_ns);
};

struct deadlines {
	struct due list;                         /* ring; its own node is the head */
	struct event *timer;
	uint64_t armed_ns;                       /* when the timer fires; UINT64_MAX = not set */
	void (*settle)(void *arg);               /* called after some have expired */
	void *arg;
};

/* False: out of memory. */
bool deadlines_init(struct deadlines *d, struct event_base *base, void (*settle)(void *arg), void *arg);
void deadlines_release(struct deadlines *d);
void deadlines_add(struct deadlines *d, struct due *due, uint64_t now_ns);
/* Harmless for one that is in no list. */
void deadlines_remove(struct due *due);

#endif
