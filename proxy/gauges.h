/* gauges - what /metrics says beside the workers' counters: caches, store, indexes, process. docs/metrics.md lists them all. */
#ifndef DYNAX_PROXY_GAUGES_H
#define DYNAX_PROXY_GAUGES_H

#include "proxy/worker.h"

struct server_gauges {
	uint64_t accept_pauses, max_connections;
	uint64_t descriptors;        /* their limit */
	int64_t started_s;           /* when the process began, CLOCK_REALTIME */
};

void gauges_write(struct buf *out, const struct shared *s, const struct server_gauges *g);

#endif
