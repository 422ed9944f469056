/* throughput - the limits of tables, their global indexes and the partitions of both, and who is refused because of them.
 *
 *    admit, before anything is read or changed --> ... the operation ... --> charge, what it cost
 *
 * Provisioned throughput limits a table and each of its global indexes; on demand, OnDemandThroughput does, if it is given.
 * Either may be exceeded by what was saved in five minutes (bucket.h). A local index uses its table's throughput; a global one
 * that has no write capacity left falls behind first, and holds its table's writes up when it is too far behind (propagation.h).
 * A partition (partition.h) has a limit of its own, which nothing exceeds (heat.h). Below it, the whole of a table's throughput
 * can be used on any of its keys: that is adaptive capacity, which boosts a partition at once. What is read or written needs
 * something left of both. If capacity is to be as the service has it, partitions of on-demand tables are limited
 * too, and so is what such a table serves at all, by how it has grown (growth.h).
 *
 * P1. What is refused has changed nothing and costs nothing.
 * P2. A page of a Query or Scan that is admitted is read whole, and paid for afterwards; a Scan's by the partition where it
 *     began.
 * P3. Deletions by time to live and the filling of an index are neither refused nor charged.
 *
 * Sources: "DynamoDB provisioned capacity mode", "DynamoDB burst and adaptive capacity", "DynamoDB maximum throughput for
 * on-demand tables" (which is exceeded by bursts, too), "Designing partition keys to distribute your workload" and "Diagnosing
 * throttling" in the developer guide; API_ThrottlingReason in the API's reference.
 * Not here: what an operation costs (protocol/capacity.h).
 * Threads: any. */
#ifndef DYNAX_STORE_THROUGHPUT_H
#define DYNAX_STORE_THROUGHPUT_H

#include "store/store_int.h"

/* Limits from a ProvisionedThroughput, an OnDemandThroughput and a WarmThroughput (each may be absent), as the billing mode
 * heeds them. */
struct throughput throughput_of(bool on_demand, struct slice provisioned, struct slice maximum, struct slice warm);

/* The limits and the meter of what is read or written: a global index has its own. */
static inline const struct throughput *throughput_limit(const struct table *t, const struct table_index *x)
{
	return x != NULL && x->global ? &x->limit : &t->limit;
}

static inline struct meter *throughput_meter(const struct table *t, const struct table_index *x)
{
	return x != NULL && x->global ? x->meter : t->meter;
}

static inline const struct partitions *throughput_parts(const struct table *t, const struct table_index *x)
{
	return x != NULL && x->global ? &x->parts : &t->parts;
}

/* Are partitions limited? */
static inline bool throughput_by_partition(const struct store *s, const struct table *t)
{
	return s->capacity == CAPACITY_AWS || (s->capacity == CAPACITY_DECLARED && !t->on_demand);
}

/* What is sure to be served on demand; 0 = no limit. */
static inline uint32_t throughput_warm(const struct store *s, const struct table *t, const struct table_index *x, enum meter_use use)
{
	return s->capacity == CAPACITY_AWS ? throughput_limit(t, x)->warm[use] : 0;
}

/* Half units a second that may be used, bursts aside; 0 = no limit. */
static inline uint32_t throughput_rate(const struct store *s, const struct table *t, const struct table_index *x, enum meter_use use)
{
	uint32_t rate = throughput_limit(t, x)->rate[use], warm = throughput_warm(s, t, x, use);

	return rate == 0 || (warm != 0 && warm < rate) ? warm : rate;
}

/* Is there anything to hold this use to? */
static inline bool throughput_limited(const struct store *s, const struct table *t, const struct table_index *x,
	enum meter_use use)
{
	return capacity_enforced(s->capacity) && (throughput_limit(t, x)->rate[use] != 0 || throughput_by_partition(s, t));
}

/* x: the index that is read or written, or NULL. hash: of the partition key there; a Scan's, where its page begins. */

/* Whose throughput is used up. */
enum throughput_spent { SPENT_NONE, SPENT_ALL, SPENT_WARM, SPENT_PARTITION };
enum throughput_spent throughput_spent(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	enum meter_use use);
/* ERR_THROUGHPUT_EXCEEDED, or ERR_THROTTLING on demand, and a reason as the error's detail. */
enum err throughput_refuse(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, enum meter_use use,
	enum throughput_spent spent, struct fault *f) __attribute__((warn_unused_result));

static inline enum err throughput_admit(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	enum meter_use use, struct fault *f)
{
	if (!throughput_limited(s, t, x, use))
		return ERR_OK;
	enum throughput_spent spent = throughput_spent(s, t, x, hash, use);

	return spent == SPENT_NONE ? ERR_OK : throughput_refuse(s, t, x, hash, use, spent, f);
}

/* Would it take an index, or the partition of it that has the hash, longer than so many seconds to pay for the half units of writes
 * that it owes? Only asked if writes are limited. */
struct throughput_owed {
	uint64_t all, part;
};
enum throughput_spent throughput_behind(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	const struct throughput_owed *owed, uint32_t seconds);

/* spot: the hash that the load is put down to (heat.h): of a Scan's page, any that it has read. */
void throughput_charge_page(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, uint64_t spot,
	enum meter_use use, uint64_t halves);

static inline void throughput_charge(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	enum meter_use use, uint64_t halves)
{
	throughput_charge_page(s, t, x, hash, hash, use, halves);
}

/* The limits of the table and its indexes are about to change: what has come under the present ones is theirs to keep. */
void throughput_settle(struct store *s, const struct table *t);

/* Is it one of the two errors of throughput_refuse? */
static inline bool throughput_error(enum err rc)
{
	return rc == ERR_THROUGHPUT_EXCEEDED || rc == ERR_THROTTLING;
}

#endif
