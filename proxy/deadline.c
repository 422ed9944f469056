/* deadline - see deadline.h. */
#include "proxy/deadline.h"

#include <stddef.h>

#include <event2/event.h>

#include "protocol/monotonic.h"

/* Never early: the microsecond that a deadline lies in must have ended. */
static void arm(struct deadlines *d, uint64_t at_ns, uint64_t now_ns)
{
	uint64_t us = at_ns > now_ns ? (at_ns - now_ns) / 1000 + 1 : 0;
	struct timeval tv = { (time_t)(us / 1000000), (suseconds_t)(us % 1000000) };

	if (event_add(d->timer, &tv) == 0)
		d->armed_ns = at_ns;
}

/* Those whose time has come leave the list one by one: what expire() does may remove others. */
static bool expire_one(struct deadlines *d, uint64_t now_ns, uint64_t *nearest)
{
	*nearest = UINT64_MAX;
	for (struct due *i = d->list.next; i != &d->list; i = i->next) {
		if (i->at_ns <= now_ns) {
			deadlines_remove(i);
			i->expire(i, now_ns);
			return true;
		}
		if (i->at_ns < *nearest)
			*nearest = i->at_ns;
	}
	return false;
}

static void on_timer(int fd, short what, void *arg)
{
	struct deadlines *d = arg;
	uint64_t now_ns = monotonic_ns(), nearest;
	bool any = false;

	(void)fd;
	(void)what;
	d->armed_ns = UINT64_MAX;
	while (expire_one(d, now_ns, &nearest))
		any = true;
	if (nearest != UINT64_MAX)
		arm(d, nearest, now_ns);
	if (any)
		d->settle(d->arg);
}

bool deadlines_init(struct deadlines *d, struct event_base *base, void (*settle)(void *arg), void *arg)
{
	d->list.prev = d->list.next = &d->list;
	d->armed_ns = UINT64_MAX;
	d->settle = settle;
	d->arg = arg;
	d->timer = event_new(base, -1, 0, on_timer, d);
	return d->timer != NULL;
}

void deadlines_release(struct deadlines *d)
{
	if (d->timer != NULL)
		event_free(d->timer);
	d->timer = NULL;
}

void deadlines_add(struct deadlines *d, struct due *due, uint64_t now_ns)
{
	due->next = &d->list;
	due->prev = d->list.prev;
	due->prev->next = due;
	d->list.prev = due;
	if (due->at_ns < d->armed_ns)
		arm(d, due->at_ns, now_ns);
}

void deadlines_remove(struct due *due)
{
	if (due->next == NULL)
		return;
	due->prev->next = due->next;
	due->next->prev = due->prev;
	due->prev = due->next = NULL;
}
