/* listener - one socket for each door; new connections go to the workers in turn.
 *
 *    main thread: accept4 ... accept4 --mail--> worker 0, 1, 2, 0, ...
 *
 * Not a SO_REUSEPORT socket for each worker: the kernel deals by a hash of addresses, so that of a dozen long-lived SDK
 * connections one worker often gets twice what another has; and what waits in a socket's queue is lost when it closes.
 * A mail for each accept costs some microseconds, once in a connection's life.
 *
 * N1. Some descriptors are kept for the server itself. Beyond max_connections, and when the kernel has no descriptors left,
 *     accepting pauses for a while; new clients wait in the kernel's queue. At most one log line a second.
 *
 * Threads: the main thread. */
#ifndef DYNAX_PROXY_LISTENER_H
#define DYNAX_PROXY_LISTENER_H

#include <event2/event.h>

#include "proxy/config.h"
#include "proxy/worker.h"

struct listener;

struct listener_opts {
	enum door door;
	struct worker **worker;
	unsigned workers;
	uint64_t max_connections;    /* over all listeners */
	uint64_t *given;             /* sockets that went to workers, by all listeners */
};

/* Bind and listen; *at gets the port in use. -1 and e on failure. Separate from serving: addresses are taken before a
 * store is opened, and served after. */
int listen_on(struct address *at, bool insecure, struct config_error *e);

/* Takes over fd, also on failure. */
struct listener *listener_new(struct event_base *base, int fd, const struct listener_opts *o);
void listener_free(struct listener **l);
/* Times that accepting had to rest. */
uint64_t listener_pauses(const struct listener *l);

#endif
