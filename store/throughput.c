/* throughput - see throughput.h. */
#include "store/throughput.h"

#include "protocol/capacity.h"
#include "protocol/messages.h"

/* Units a second as half units; what is more than a bucket can hold, or -1, is no limit. */
static uint32_t rate_of(int64_t units)
{
	return units > 0 && units <= BUCKET_RATE_MAX / CAPACITY_HALVES ? (uint32_t)units * CAPACITY_HALVES : 0;
}

struct throughput throughput_of(bool on_demand, struct slice provisioned, struct slice maximum)
{
	struct record r;

	if (!on_demand && slice_present(provisioned) && record_open(&r, &shape_ProvisionedThroughput, provisioned))
		return (struct throughput){ { rate_of(record_int(&r, ProvisionedThroughput_ReadCapacityUnits, 0)),
			rate_of(record_int(&r, ProvisionedThroughput_WriteCapacityUnits, 0)) } };
	if (on_demand && slice_present(maximum) && record_open(&r, &shape_OnDemandThroughput, maximum))
		return (struct throughput){ { rate_of(record_int(&r, OnDemandThroughput_MaxReadRequestUnits, 0)),
			rate_of(record_int(&r, OnDemandThroughput_MaxWriteRequestUnits, 0)) } };
	return (struct throughput){ { 0, 0 } };
}

bool throughput_left(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, enum meter_use use)
{
	(void)hash;
	return !capacity_enforced(s->capacity) || bucket_level(&throughput_meter(t, x)->bucket[use],
		throughput_limit(t, x)->rate[use], (uint32_t)clock_seconds(&s->clock)) > 0;
}

bool throughput_behind(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, uint64_t owed)
{
	uint32_t rate = throughput_limit(t, x)->rate[METER_WRITE];

	(void)hash;
	return rate != 0 && capacity_enforced(s->capacity)
		&& bucket_level(&throughput_meter(t, x)->bucket[METER_WRITE], rate, (uint32_t)clock_seconds(&s->clock))
			+ (int64_t)rate * INDEX_BEHIND_SECONDS < (int64_t)owed;
}

void throughput_charge(struct store *s, const struct table *t, const struct table_index *x, uint64_t hash, enum meter_use use,
	uint64_t halves)
{
	(void)hash;
	struct meter *m = throughput_meter(t, x);
	uint32_t rate = throughput_limit(t, x)->rate[use];

	if (s->capacity == CAPACITY_OFF)
		return;
	meter_use(m, use, halves);
	if (rate != 0 && capacity_enforced(s->capacity))
		bucket_take(&m->bucket[use], rate, (uint32_t)clock_seconds(&s->clock), halves);
}

static void settle(struct meter *m, const struct throughput *limit, uint32_t second)
{
	for (unsigned use = 0; use < METER_USES; use++)
		if (limit->rate[use] != 0)
			bucket_take(&m->bucket[use], limit->rate[use], second, 0);
}

void throughput_settle(struct store *s, const struct table *t)
{
	uint32_t second = (uint32_t)clock_seconds(&s->clock);

	settle(t->meter, &t->limit, second);
	for (unsigned i = 0; i < t->gsis; i++)
		settle(t->index[i].meter, &t->index[i].limit, second);
}

/* ---- the error ---- */

/* ThrottlingReasons: what was exceeded, and whose it is. */
static struct slice put_reasons(const struct store *s, const struct table *t, const struct table_index *x, enum meter_use use,
	struct arena *a)
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

	buf_printf(&text, "%s%s%sThroughputExceeded", x != NULL ? "Index" : "Table", use == METER_READ ? "Read" : "Write",
		t->on_demand ? "MaxOnDemand" : "Provisioned");
	record_put_str(&b, &members, ThrottlingReason_reason, buf_slice(&text));
	buf_clear(&text);
	buf_printf(&text, "arn:aws:dynamodb:%s:%s:table/%.*s", s->region, s->account, SLICE_FMT(t->name));
	if (x != NULL)
		buf_printf(&text, "/index/%.*s", SLICE_FMT(x->name));
	record_put_str(&b, &members, ThrottlingReason_resource, buf_slice(&text));
	record_end(&b, reason, members);
	record_end(&b, at, n);
	if (!b.failed && !text.failed)
		out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	buf_release(&text);
	return out;
}

enum err throughput_refuse(struct store *s, const struct table *t, const struct table_index *x, enum meter_use use,
	struct fault *f)
{
	const struct table_index *global = x != NULL && x->global ? x : NULL;
	enum err rc = t->on_demand ? fault_set(f, MSG_MAXIMUM_EXCEEDED)
		: global != NULL ? fault_set(f, MSG_INDEX_UNITS_EXCEEDED) : fault_set(f, MSG_UNITS_EXCEEDED);

	atomic_fetch_add_explicit(&throughput_meter(t, x)->refused[use], 1, memory_order_relaxed);
	if (f != NULL && f->arena != NULL)
		f->detail = put_reasons(s, t, global, use, f->arena);
	return rc;
}
