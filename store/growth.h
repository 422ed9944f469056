/* growth - what an on-demand table, or its global index, is sure to serve from one second to the next, and how that grows with
 * its traffic: with --capacity aws alone.
 *
 *    traffic    ____/~~~~~~~~~~~~~~~~~~\____          its greatest minute: the peak
 *    served     -------------------------/~~~~~~      twice the peak, half an hour later
 *
 * G1. It is the warm throughput (units.h) that DescribeTable tells: 12,000 reads and 4,000 writes at first, what was provisioned
 *     before or asked for if that is more. A table and each of its indexes have their own, of reads and writes.
 * G2. It grows to twice the previous peak, which is the greatest average of a minute that ended half an hour ago, or earlier
 *     (minutes.h).
 * G3. It is kept with the table when it grows, and never goes down. Peaks of the last half hour are forgotten when the process
 *     ends.
 * G4. What a second asks for beyond it is refused (throughput.h), with the reason KeyRangeThroughputExceeded. Nothing is saved
 *     for bursts: it stands for what the table has partitions for, whose limits bursts do not exceed either.
 *
 * Sources: "DynamoDB on-demand capacity mode" (initial throughput and scaling properties), "Understanding DynamoDB warm throughput
 * in different scenarios" and, for the error, "Key range throughput exceeded" in the developer guide. What averages and moments
 * make a peak is not published; neither is how fast DynamoDB grows when more than twice the peak is asked for: here, not before
 * the half hour has passed.
 * Threads: the keeper judges, the writer changes. */
#ifndef DYNAX_STORE_GROWTH_H
#define DYNAX_STORE_GROWTH_H

#include "store/minutely.h"

static inline bool growth_wanted(const struct store *s, const struct catalog_table *t)
{
	return s->capacity == CAPACITY_AWS && t->table.on_demand;
}

/* What has become due for a table or global index; how many changes. */
unsigned growth_changes(const struct catalog_table *t, uint32_t owner, const struct minutes *m, uint64_t ms,
	struct minutely_change change[METER_USES]);

#endif
