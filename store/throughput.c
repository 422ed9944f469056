/* throughput - see throughput.h. */
#include "store/throughput.h"

#include "protocol/capacity.h"
#include "protocol/messages.h"
#include "store/describe.h"
#include "store/heat.h"
#include "store/partition.h"
#include "store/units.h"

/* Units a second as half units; what is more than a bucket can hold, or -1, is no limit. */
static uint32_t rate_of(int64_t units)
{
	return units > 0 && units <= BUCKET_RATE_MAX / CAPACITY_HALVES ? (uint32_t)units * CAPACITY_HALVES : 0;
}

static uint32_t warm_of(int64_t units)
{
	return units < BUCKET_NEW / CAPACITY_HALVES ? (uint32_t)units * CAPACITY_HALVES : 0;
}

struct throughput throughput_of(bool on_demand, struct slice provisioned, struct slice maximum, struct slice warm)
{
	struct units declared = units_of(on_demand ? maximum : provisioned, UNITS_NONE);
	struct units grown = on_demand ? units_warm(warm, provisioned, true) : UNITS_NONE;

	return (struct throughput){ .rate = { rate_of(declared.read), rate_of(declared.write) },
		.warm = { warm_of(grown.read), warm_of(grown.write) } };
}

enum throughput_spent throughput_spent(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	enum meter_use use)
{
	if (!throughput_limited(s, t, x, use))
		return SPENT_NONE;
	uint64_t ms = clock_ms(&s->clock);
	uint32_t rate = throughput_limit(t, x)->rate[use], warm = throughput_warm(s, t, x, use), second = (uint32_t)(ms / 1000);

	if (rate != 0 && bucket_level(&throughput_meter(t, x)->bucket[use], bucket_saving(rate), second) <= 0)
		return SPENT_ALL;
	if (warm != 0 && bucket_level(&throughput_meter(t, x)->warm[use], bucket_passing(warm), second) <= 0)
		return SPENT_WARM;
	if (!throughput_by_partition(s, t))
		return SPENT_NONE;
	const struct heat *h = partition_heat(throughput_parts(t, x), hash);

	return bucket_level(&h->use[use].bucket, heat_law(s->partition_rate[use]), (uint32_t)ms) > 0 ? SPENT_NONE : SPENT_PARTITION;
}

enum throughput_spent throughput_behind(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash,
	const struct throughput_owed *owed, uint32_t seconds)
{
	uint64_t ms = clock_ms(&s->clock);
	uint32_t rate = throughput_limit(t, x)->rate[METER_WRITE], warm = throughput_warm(s, t, x, METER_WRITE);
	uint32_t each = s->partition_rate[METER_WRITE], second = (uint32_t)(ms / 1000);
	struct meter *m = throughput_meter(t, x);

	if (rate != 0 && bucket_level(&m->bucket[METER_WRITE], bucket_saving(rate), second)
			+ (int64_t)rate * seconds < (int64_t)owed->all)
		return SPENT_ALL;
	if (warm != 0 && bucket_level(&m->warm[METER_WRITE], bucket_passing(warm), second)
			+ (int64_t)warm * seconds < (int64_t)owed->all)
		return SPENT_WARM;
	if (!throughput_by_partition(s, t))
		return SPENT_NONE;
	const struct heat *h = partition_heat(throughput_parts(t, x), hash);
	int64_t paid = bucket_level(&h->use[METER_WRITE].bucket, heat_law(each), (uint32_t)ms) / 1000;

	return paid + (int64_t)each * seconds < (int64_t)owed->part ? SPENT_PARTITION : SPENT_NONE;
}

static void take(struct store *s, const struct table *t, const struct table_index *x, struct heat *h, enum meter_use use,
	uint64_t halves, uint64_t ms)
{
	uint32_t rate = throughput_limit(t, x)->rate[use], warm = throughput_warm(s, t, x, use);

	if (rate != 0)
		bucket_take(&throughput_meter(t, x)->bucket[use], bucket_saving(rate), (uint32_t)(ms / 1000), halves);
	if (warm != 0)
		bucket_take(&throughput_meter(t, x)->warm[use], bucket_passing(warm), (uint32_t)(ms / 1000), halves);
	if (throughput_by_partition(s, t))
		bucket_take(&h->use[use].bucket, heat_law(s->partition_rate[use]), (uint32_t)ms, halves * 1000);
}

void throughput_charge_page(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, uint64_t spot,
	enum meter_use use, uint64_t halves)
{
	if (s->capacity == CAPACITY_OFF)
		return;
	uint32_t every = heat_every(s->partition_rate[use]);
	unsigned samples = heat_account(use, halves, every);
	bool limited = throughput_limited(s, t, x, use);

	meter_use(throughput_meter(t, x), use, halves);
	if (samples == 0 && !limited)
		return;
	struct heat *h = partition_heat(throughput_parts(t, x), hash);
	uint64_t ms = clock_ms(&s->clock);

	if (limited)
		take(s, t, x, h, use, halves, ms);
	if (samples != 0)
		heat_sample(h, use, spot, samples, every, (uint32_t)(ms / 1000));
}

static void settle(struct meter *m, const struct throughput *limit, uint32_t second)
{
	for (unsigned use = 0; use < METER_USES; use++) {
		if (limit->rate[use] != 0)
			bucket_take(&m->bucket[use], bucket_saving(limit->rate[use]), second, 0);
		if (limit->warm[use] != 0)
			bucket_take(&m->warm[use], bucket_passing(limit->warm[use]), second, 0);
	}
}

void throughput_settle(struct store *s, const struct table *t)
{
	uint32_t second = (uint32_t)clock_seconds(&s->clock);

	settle(t->meter, &t->limit, second);
	for (unsigned i = 0; i < t->gsis; i++)
		settle(t->index[i].meter, &t->index[i].limit, second);
}

/* ---- the error ---- */

/* API_ThrottlingReason: what is throttled, which use of it, and why. */
static void put_reason_name(struct buf *text, const struct table *t, const struct table_index *x, enum meter_use use,
	enum throughput_spent spent)
{
	const char *why = spent != SPENT_ALL ? "KeyRange" : t->on_demand ? "MaxOnDemand" : "Provisioned";

	buf_printf(text, "%s%s%sThroughputExceeded", x != NULL ? "Index" : "Table", use == METER_READ ? "Read" : "Write", why);
}

/* ThrottlingReasons: what was exceeded, and whose it is. */
static struct slice put_reasons(const struct store *s, const struct table *t, const struct table_index *x, enum meter_use use,
	enum throughput_spent spent, struct arena *a)
{
	struct buf b, text;
	struct slice out = SLICE_NONE;
	unsigned n = 0, members = 0;

	buf_init(&b);
	buf_init(&text);
	size_t at = record_begin(&b);

	record_key(&b, &n, t->on_demand ? (unsigned)ThrottlingException_throttlingReasons
		: (unsigned)ProvisionedThroughputExceededException_ThrottlingReasons);
	mp_put_array(&b, 1);
	size_t reason = record_begin(&b);

	put_reason_name(&text, t, x, use, spent);
	record_put_str(&b, &members, ThrottlingReason_reason, buf_slice(&text));
	buf_clear(&text);
	table_arn_print(&text, s, t->name, x != NULL ? "index" : NULL, x != NULL ? x->name : SLICE_NONE);
	record_put_str(&b, &members, ThrottlingReason_resource, buf_slice(&text));
	record_end(&b, reason, members);
	record_end(&b, at, n);
	if (!b.failed && !text.failed)
		out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	buf_release(&text);
	return out;
}

/* In provisioned mode the service has one text for tables and partitions. */
static enum err set_message(const struct table *t, const struct table_index *x, enum throughput_spent spent, struct fault *f)
{
	if (!t->on_demand)
		return x != NULL ? fault_set(f, MSG_INDEX_UNITS_EXCEEDED) : fault_set(f, MSG_UNITS_EXCEEDED);
	if (spent == SPENT_ALL)
		return fault_set(f, MSG_MAXIMUM_EXCEEDED);
	return x != NULL ? fault_set(f, MSG_INDEX_CAPACITY_EXCEEDED) : fault_set(f, MSG_CAPACITY_EXCEEDED);
}

static void note_refusal(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, enum meter_use use,
	enum throughput_spent spent)
{
	struct meter *m = throughput_meter(t, x);

	atomic_fetch_add_explicit(&m->refused[use], 1, memory_order_relaxed);
	if (spent != SPENT_PARTITION)
		return;
	atomic_fetch_add_explicit(&m->refused_by_partition[use], 1, memory_order_relaxed);
	heat_refuse(partition_heat(throughput_parts(t, x), hash), use, (uint32_t)clock_seconds(&s->clock));
}

enum err throughput_refuse(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, enum meter_use use,
	enum throughput_spent spent, struct fault *f)
{
	const struct table_index *global = x != NULL && x->global ? x : NULL;
	enum err rc = set_message(t, global, spent, f);

	note_refusal(s, t, x, hash, use, spent);
	if (f != NULL && f->arena != NULL)
		f->detail = put_reasons(s, t, global, use, spent, f->arena);
	return rc;
}
