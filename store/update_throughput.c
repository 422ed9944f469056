/* update_throughput - UpdateTable's billing mode and throughput: see update_table_int.h. */
#include "store/update_table_int.h"

#include "protocol/messages.h"
#include "store/decreases.h"
#include "store/spec.h"
#include "store/switches.h"
#include "store/units_check.h"

static enum err check_units_change(const struct table_update *c, struct units from, struct units to, struct fault *f)
{
	if (c->old->table.on_demand || !units_same(from, to))
		return ERR_OK;
	return fault_set(f, MSG_UNITS_SAME, (long long)from.read, (long long)to.read, (long long)from.write, (long long)to.write);
}

static enum err change_units(struct table_update *c, struct fault *f)
{
	struct slice asked = c->in->m[UpdateTableInput_ProvisionedThroughput];
	struct units from = units_of(c->spec.m[CreateTableInput_ProvisionedThroughput], UNITS_NONE), to = units_of(asked, UNITS_NONE);
	enum err rc = check_units_change(c, from, to, f);

	if (rc == ERR_OK && !c->old->table.on_demand)
		rc = decreases_note(c->txn->batch->store, &c->draft.facts, c->old->table.id, from, to, c->arena, f);
	return rc == ERR_OK ? spec_set(&c->spec, SPEC_TABLE, SPEC_PROVISIONED, asked, c->arena, f) : rc;
}

enum err table_update_billing(struct table_update *c, struct fault *f)
{
	const struct record *in = c->in;
	bool units_given = record_has(in, UpdateTableInput_ProvisionedThroughput);

	if (record_has(in, UpdateTableInput_BillingMode)) {
		c->on_demand = record_is(in, UpdateTableInput_BillingMode, "PAY_PER_REQUEST");
		c->spec.m[CreateTableInput_BillingMode] = in->m[UpdateTableInput_BillingMode];
	}
	if (c->on_demand && units_given)
		return fault_set(f, MSG_ON_DEMAND_UNITS);
	if (!c->on_demand && record_has(in, UpdateTableInput_BillingMode) && !units_given)
		return fault_set(f, MSG_UPDATE_UNITS_MISSING);
	if (units_given)
		return change_units(c, f);
	if (!c->on_demand || c->old->table.on_demand)
		return ERR_OK;
	c->draft.facts.on_demand_since_ms = store_now_ms(c->txn->batch->store);
	return switches_note(c->txn->batch->store, &c->draft.facts, f);
}

/* Members of a maximum that are given replace those that are there. */
enum err table_update_maximum(struct table_update *c, int place, struct slice index, struct slice asked, struct fault *f)
{
	struct units now = units_of(spec_get(&c->spec, place, SPEC_ON_DEMAND), UNITS_NONE), u = units_of(asked, now);
	enum err rc = maximum_check(asked, index, c->on_demand, true, f);
	bool ok;

	if (!slice_present(asked) || rc != ERR_OK)
		return rc;
	u.read = u.read == MAXIMUM_CLEARED ? 0 : u.read;
	u.write = u.write == MAXIMUM_CLEARED ? 0 : u.write;
	struct slice next = units_record(u, c->arena, &ok);

	return ok ? spec_set(&c->spec, place, SPEC_ON_DEMAND, next, c->arena, f) : fault_set(f, MSG_NO_MEMORY);
}

enum err table_update_warm(struct table_update *c, int place, struct slice index, struct slice asked, struct fault *f)
{
	struct units now = units_warm(spec_get(&c->old->spec, place, SPEC_WARM), spec_get(&c->old->spec, place, SPEC_PROVISIONED),
		c->old->table.on_demand);
	enum err rc = warm_check_change(asked, index, now, f);

	return slice_present(asked) && rc == ERR_OK ? spec_set(&c->spec, place, SPEC_WARM, asked, c->arena, f) : rc;
}

enum err table_update_index_units(struct table_update *c, int place, struct slice asked, struct fault *f)
{
	struct units from = units_of(spec_get(&c->spec, place, SPEC_PROVISIONED), UNITS_NONE), to = units_of(asked, UNITS_NONE);
	const struct table_index *x = &c->old->table.index[place];
	enum err rc = ERR_OK;

	if (!slice_present(asked))
		return ERR_OK;
	if (!c->old->table.on_demand && units_same(from, to))
		return fault_set(f, MSG_INDEX_UNITS_SAME, SLICE_FMT(x->name), SLICE_FMT(x->name), (long long)from.read,
			(long long)to.read, SLICE_FMT(x->name), (long long)from.write, (long long)to.write);
	if (!c->old->table.on_demand)
		rc = decreases_note(c->txn->batch->store, &c->draft.facts, x->id, from, to, c->arena, f);
	return rc == ERR_OK ? spec_set(&c->spec, place, SPEC_PROVISIONED, asked, c->arena, f) : rc;
}

/* What is provisioned follows the billing mode: nothing on demand, and something for each index otherwise. */
static enum err settle_units(struct table_update *c, int place, struct fault *f)
{
	enum spec_part gone = c->on_demand ? SPEC_PROVISIONED : SPEC_ON_DEMAND;

	if (c->on_demand == c->old->table.on_demand)
		return ERR_OK;
	if (!c->on_demand && !slice_present(spec_get(&c->spec, place, SPEC_PROVISIONED)))
		return fault_set(f, MSG_UPDATE_INDEX_UNITS, SLICE_FMT(spec_index_name(&c->spec, place)));
	return spec_set(&c->spec, place, gone, SLICE_NONE, c->arena, f);
}

/* Warm throughput never goes down: not when less is provisioned, nor when the billing mode changes. */
static enum err settle_warm(struct table_update *c, int place, struct fault *f)
{
	const struct record *old = &c->old->spec;
	int before = place == SPEC_TABLE ? SPEC_TABLE : table_update_index_place(c->old, spec_index_name(&c->spec, place));

	if (before == SPEC_NOWHERE)
		return ERR_OK;
	return spec_raise_warm(&c->spec, place, units_warm(spec_get(old, before, SPEC_WARM), spec_get(old, before, SPEC_PROVISIONED),
		c->old->table.on_demand), c->on_demand, c->arena, f);
}

enum err table_update_settle(struct table_update *c, struct fault *f)
{
	enum err rc = ERR_OK;
	uint32_t n;

	record_list(&c->spec, CreateTableInput_GlobalSecondaryIndexes, &n);
	for (int place = SPEC_TABLE; place < (int)n && rc == ERR_OK; place++) {
		rc = settle_units(c, place, f);
		if (rc == ERR_OK)
			rc = settle_warm(c, place, f);
	}
	return rc;
}
