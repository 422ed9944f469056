/* gauges - what /metrics says beside the workers' counters: caches, store, descriptors. */
#ifndef DYNAX_PROXY_GAUGES_H
#define DYNAX_PROXY_GAUGES_H

#include "proxy/worker.h"

struct server_gauges {
	uint64_t accept_pauses, max_connections, descriptors;
};

void gauges_write(struct buf *out, const struct shared *s, const struct server_gauges *g);

#endif
