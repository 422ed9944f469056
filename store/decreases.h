/* decreases - how often the provisioned throughput of a table or global index was changed, and how often it may be lowered.
 *
 * D1. Four decreases in a day of UTC; then one more, in the same day, whenever an hour has passed since the last.
 * D2. A table and each of its indexes count for themselves; lowering reads and writes in one request is one decrease.
 * D3. What is refused does not count. Raising is not limited. A daemon that does not enforce throughput counts only.
 *
 * Source: "Service, account, and table quotas" in the developer guide, on decreasing provisioned throughput.
 * Threads: the writer; the others are pure. */
#ifndef DYNAX_STORE_DECREASES_H
#define DYNAX_STORE_DECREASES_H

#include "store/store_int.h"
#include "store/units.h"

/* A table or index by id; NULL if its throughput was never changed. */
const struct throughput_past *throughput_past_of(const struct catalog_facts *facts, uint32_t id);
/* Of the day that it is now. */
unsigned decreases_today(const struct throughput_past *p, uint64_t now_ms);

/* The throughput of a table or index is to be changed: notes it in facts (in the arena), or ERR_LIMIT_EXCEEDED. */
enum err decreases_note(const struct store *s, struct catalog_facts *facts, uint32_t id, struct units from, struct units to,
	struct arena *a, struct fault *f) __attribute__((warn_unused_result));

#endif
