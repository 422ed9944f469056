/* throughput - the limits that a table declares for itself and its global indexes, and who is refused because of them.
 *
 *    admit, before anything is read or changed --> ... the operation ... --> charge, what it cost
 *
 * Provisioned throughput limits a table and each of its global indexes; on demand, OnDemandThroughput does, if it is given.
 * Either may be exceeded by what was saved in five minutes (bucket.h). A local index uses its table's throughput; a global one
 * that has no write capacity left falls behind first, and holds its table's writes up when it is too far behind (propagation.h).
 *
 * P1. What is refused has changed nothing and costs nothing.
 * P2. A page of a Query or Scan that is admitted is read whole, and paid for afterwards.
 * P3. Deletions by time to live and the filling of an index are neither refused nor charged.
 *
 * Sources: "DynamoDB provisioned capacity mode", "DynamoDB burst and adaptive capacity", "DynamoDB maximum throughput for
 * on-demand tables" (which is exceeded by bursts, too) and "Diagnosing throttling" in the developer guide.
 * Not here: what an operation costs (protocol/capacity.h); limits of single partitions: the whole of a table's throughput
 * can be used on any of its keys, as adaptive capacity has it.
 * Threads: any. */
#ifndef DYNAX_STORE_THROUGHPUT_H
#define DYNAX_STORE_THROUGHPUT_H

#include "store/store_int.h"

/* Limits from a ProvisionedThroughput and an OnDemandThroughput (each may be absent), whichever the billing mode heeds. */
struct throughput throughput_of(bool on_demand, struct slice provisioned, struct slice maximum);

/* The limits and the meter of what is read or written: a global index has its own. */
static inline const struct throughput *throughput_limit(const struct table *t, const struct table_index *x)
{
	return x != NULL && x->global ? &x->limit : &t->limit;
}

static inline struct meter *throughput_meter(const struct table *t, const struct table_index *x)
{
	return x != NULL && x->global ? x->meter : t->meter;
}

/* Nothing left: ERR_THROUGHPUT_EXCEEDED, or ERR_THROTTLING on demand, and a reason as the error's detail. */
enum err throughput_refuse(struct store *s, const struct table *t, const struct table_index *x, enum meter_use use,
	struct fault *f) __attribute__((warn_unused_result));

/* x: the index that is read or written, or NULL. hash: of the partition key there; a Scan's, where its page begins. */
bool throughput_left(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, enum meter_use use);

static inline bool throughput_allows(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	enum meter_use use)
{
	return throughput_limit(t, x)->rate[use] == 0 || throughput_left(s, t, x, hash, use);
}

static inline enum err throughput_admit(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	enum meter_use use, struct fault *f)
{
	return throughput_allows(s, t, x, hash, use) ? ERR_OK : throughput_refuse(s, t, x, use, f);
}

/* Would an index that still has to pay for so many half units of writes be too far behind (propagation.h)? */
enum { INDEX_BEHIND_SECONDS = 5 };
bool throughput_behind(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, uint64_t owed);

void throughput_charge(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, enum meter_use use,
	uint64_t halves);

/* The limits of the table and its indexes are about to change: what has come under the present ones is theirs to keep. */
void throughput_settle(struct store *s, const struct table *t);

/* Is it one of the two errors of throughput_refuse? */
static inline bool throughput_error(enum err rc)
{
	return rc == ERR_THROUGHPUT_EXCEEDED || rc == ERR_THROTTLING;
}

#endif
