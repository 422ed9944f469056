/* admin - /metrics, /healthz and /readyz, for those who watch over the daemon; /partitions?table=NAME, how a
 * table is cut; /autoscaling?table=NAME, what scales its throughput; /index-delay and /clock, for those who test with them.
 *
 * evhttp serves it: a scrape a second is no hot path.
 *
 * Threads: the main thread; it reads the workers' counters while they run (metrics.h). The clock is moved on a thread of its own,
 * for that waits until what is due has been done: meanwhile all else is served. */
#ifndef DYNAX_PROXY_ADMIN_H
#define DYNAX_PROXY_ADMIN_H

#include <event2/event.h>

#include "store/store.h"

struct admin;

struct admin_source {
	void (*metrics)(void *arg, struct buf *out);
	/* False, and why: not ready to serve. */
	bool (*ready)(void *arg, const char **why);
	/* Append the partitions of a table as JSON; false if there is none of this name. */
	bool (*partitions)(void *arg, struct slice table, struct buf *out);
	/* Auto scaling of a table: set it, unless `set` is NULL, and append what is set as JSON. Or append what is wrong. */
	enum err (*autoscaling)(void *arg, struct slice table, const struct store_autoscale *set, struct buf *out);
	/* How much later global indexes follow. */
	void (*set_index_delay)(void *arg, uint32_t ms);
	uint32_t (*index_delay)(void *arg);
	/* Move the clock on, one call after the other, on the thread for that; NULL if it runs by itself. */
	void (*advance)(void *arg, uint64_t ms);
	void *arg;
};

/* Takes over fd, a listening socket, also on failure. */
struct admin *admin_new(struct event_base *base, int fd, const struct admin_source *source);
/* Waits for an advance under way. */
void admin_free(struct admin **a);

#endif
