/* units - capacity units a second, read and written, as the requests' records have them.
 *
 * ProvisionedThroughput, OnDemandThroughput and WarmThroughput are one shape under three names: reads, then writes.
 *
 * Threads: pure. */
#ifndef DYNAX_STORE_UNITS_H
#define DYNAX_STORE_UNITS_H

#include "protocol/shape.h"

/* The most that may be provisioned. */
#define UNITS_MOST INT64_C(1000000000000)

struct units {
	int64_t read, write;
};

/* From any of the three; what is not there is as in `absent`. */
struct units units_of(struct slice record, struct units absent);
#define UNITS_NONE ((struct units){ 0, 0 })
/* A record of any of the three, without what is zero, in the arena; absent if nothing is left. *ok: memory was there. */
struct slice units_record(struct units u, struct arena *a, bool *ok);
/* The greater of each. */
struct units units_max(struct units a, struct units b);

static inline bool units_same(struct units a, struct units b)
{
	return a.read == b.read && a.write == b.write;
}

/* What a table or global index is sure to serve from one second to the next, "warm throughput": what it was given or has grown
 * to, and at least what its mode starts with: the provisioned throughput, or 12,000 reads and 4,000 writes on demand.
 * Source: "Understanding DynamoDB warm throughput", "Initial throughput and scaling properties" (on-demand capacity mode). */
struct units units_warm(struct slice given, struct slice provisioned, bool on_demand);

#endif
