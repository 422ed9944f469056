/* update_table - UpdateTable: throughput, billing, streams, settings and global indexes.
 *
 * What it changes is the CreateTableInput that the catalog keeps: each part below replaces a member of a copy of it,
 * and the catalog draws its conclusions. A new index is at once kept in step by every write, but not read until it
 * is filled with what was there before (backfill.h). */
#include "protocol/messages.h"
#include "store/autoscale.h"
#include "store/backfill.h"
#include "store/control.h"
#include "store/create_table.h"
#include "store/decreases.h"
#include "store/describe.h"
#include "store/partition.h"
#include "store/spec.h"
#include "store/streams.h"
#include "store/switches.h"
#include "store/table_state.h"
#include "store/throughput.h"
#include "store/units_check.h"
#include "store/update_check.h"

/* The table being changed. */
struct change {
	const struct record *in;          /* UpdateTableInput */
	const struct catalog_table *old;
	struct record spec;               /* the CreateTableInput as it will be */
	struct catalog_draft draft;
	struct write_txn *txn;
	struct arena *arena;
	bool on_demand;                   /* afterwards */
	uint32_t dropped;                 /* id of an index that goes; 0 = none */
	uint32_t created;                 /* id of an index that comes; 0 = none */
};

static enum err no_memory(struct fault *f)
{
	return fault_set(f, MSG_NO_MEMORY);
}

/* Of a global index, in the list as it was. */
static int index_place(const struct catalog_table *t, struct slice name)
{
	for (unsigned i = 0; i < t->table.gsis; i++)
		if (slice_eq(t->table.index[i].name, name))
			return (int)i;
	return SPEC_NOWHERE;
}

/* ---- throughput and billing ---- */

static enum err check_units_change(const struct change *c, struct units from, struct units to, struct fault *f)
{
	if (c->old->table.on_demand || !units_same(from, to))
		return ERR_OK;
	return fault_set(f, MSG_UNITS_SAME, (long long)from.read, (long long)to.read, (long long)from.write, (long long)to.write);
}

static enum err change_units(struct change *c, struct fault *f)
{
	struct slice asked = c->in->m[UpdateTableInput_ProvisionedThroughput];
	struct units from = units_of(c->spec.m[CreateTableInput_ProvisionedThroughput], UNITS_NONE), to = units_of(asked, UNITS_NONE);
	enum err rc = check_units_change(c, from, to, f);

	if (rc == ERR_OK && !c->old->table.on_demand)
		rc = decreases_note(c->txn->batch->store, &c->draft.facts, c->old->table.id, from, to, c->arena, f);
	return rc == ERR_OK ? spec_set(&c->spec, SPEC_TABLE, SPEC_PROVISIONED, asked, c->arena, f) : rc;
}

static enum err change_billing(struct change *c, struct fault *f)
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
static enum err change_maximum(struct change *c, int place, struct slice index, struct slice asked, struct fault *f)
{
	struct units now = units_of(spec_get(&c->spec, place, SPEC_ON_DEMAND), UNITS_NONE), u = units_of(asked, now);
	enum err rc = maximum_check(asked, index, c->on_demand, true, f);
	bool ok;

	if (!slice_present(asked) || rc != ERR_OK)
		return rc;
	u.read = u.read == MAXIMUM_CLEARED ? 0 : u.read;
	u.write = u.write == MAXIMUM_CLEARED ? 0 : u.write;
	struct slice next = units_record(u, c->arena, &ok);

	return ok ? spec_set(&c->spec, place, SPEC_ON_DEMAND, next, c->arena, f) : no_memory(f);
}

static enum err change_warm(struct change *c, int place, struct slice index, struct slice asked, struct fault *f)
{
	struct units now = units_warm(spec_get(&c->old->spec, place, SPEC_WARM), spec_get(&c->old->spec, place, SPEC_PROVISIONED),
		c->old->table.on_demand);
	enum err rc = warm_check_change(asked, index, now, f);

	return slice_present(asked) && rc == ERR_OK ? spec_set(&c->spec, place, SPEC_WARM, asked, c->arena, f) : rc;
}

/* What is provisioned follows the billing mode: nothing on demand, and something for each index otherwise. */
static enum err settle_units(struct change *c, int place, struct fault *f)
{
	enum spec_part gone = c->on_demand ? SPEC_PROVISIONED : SPEC_ON_DEMAND;

	if (c->on_demand == c->old->table.on_demand)
		return ERR_OK;
	if (!c->on_demand && !slice_present(spec_get(&c->spec, place, SPEC_PROVISIONED)))
		return fault_set(f, MSG_UPDATE_INDEX_UNITS, SLICE_FMT(spec_index_name(&c->spec, place)));
	return spec_set(&c->spec, place, gone, SLICE_NONE, c->arena, f);
}

/* Warm throughput never goes down: not when less is provisioned, nor when the billing mode changes. */
static enum err settle_warm(struct change *c, int place, struct fault *f)
{
	const struct record *old = &c->old->spec;
	int before = place == SPEC_TABLE ? SPEC_TABLE : index_place(c->old, spec_index_name(&c->spec, place));

	if (before == SPEC_NOWHERE)
		return ERR_OK;
	return spec_raise_warm(&c->spec, place, units_warm(spec_get(old, before, SPEC_WARM), spec_get(old, before, SPEC_PROVISIONED),
		c->old->table.on_demand), c->on_demand, c->arena, f);
}

static enum err settle_throughput(struct change *c, struct fault *f)
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

/* ---- streams and settings ---- */

static enum err change_stream(struct change *c, struct fault *f)
{
	struct slice bytes = c->in->m[UpdateTableInput_StreamSpecification], name = c->old->table.name;
	struct record s;

	if (!slice_present(bytes) || !record_open(&s, &shape_StreamSpecification, bytes))
		return ERR_OK;
	bool enable = record_bool(&s, StreamSpecification_StreamEnabled);

	if (enable != record_has(&s, StreamSpecification_StreamViewType))
		return enable ? fault_set(f, MSG_UPDATE_STREAM_VIEW) : fault_set(f, MSG_UPDATE_STREAM_NO_VIEW);
	if (enable && c->old->streams)
		return fault_set(f, MSG_STREAM_ENABLED, SLICE_FMT(name));
	if (!enable && !c->old->streams)
		return fault_set(f, MSG_STREAM_NONE, SLICE_FMT(name));
	c->spec.m[CreateTableInput_StreamSpecification] = enable ? bytes : SLICE_NONE;
	if (enable)
		return stream_open(c->txn, &c->spec, c->draft.id, &c->draft.facts, f);
	c->draft.facts.shards = 0;
	return stream_close(c->txn, c->old, f);
}

static void change_settings(struct change *c)
{
	static const struct { unsigned from, to; } plain[] = {
		{ UpdateTableInput_DeletionProtectionEnabled, CreateTableInput_DeletionProtectionEnabled },
		{ UpdateTableInput_SSESpecification, CreateTableInput_SSESpecification },
		{ UpdateTableInput_TableClass, CreateTableInput_TableClass },
	};

	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (record_has(c->in, plain[i].from))
			c->spec.m[plain[i].to] = c->in->m[plain[i].from];
}

/* ---- attribute definitions ---- */

/* Absent if the list (which may be absent) does not define it. */
static struct slice defined_type(struct slice list, struct slice name)
{
	if (!slice_present(list))
		return SLICE_NONE;
	struct mp m = mp_open(list);

	for (uint32_t n = mp_array(&m); n > 0; n--) {
		struct record d;

		if (record_open(&d, &shape_AttributeDefinition, mp_skip(&m))
		    && slice_eq(record_str(&d, AttributeDefinition_AttributeName), name))
			return record_str(&d, AttributeDefinition_AttributeType);
	}
	return SLICE_NONE;
}

static bool schema_uses(struct mp m, uint32_t n, struct slice name)
{
	for (; n > 0; n--) {
		struct record e;

		if (record_open(&e, &shape_KeySchemaElement, mp_skip(&m))
		    && slice_eq(record_str(&e, KeySchemaElement_AttributeName), name))
			return true;
	}
	return false;
}

static bool indexes_use(const struct record *spec, unsigned member, const struct shape *shape, unsigned schema, struct slice name)
{
	uint32_t n, keys;

	for (struct mp m = record_list(spec, member, &n); n > 0; n--) {
		struct record x;

		if (!record_open(&x, shape, mp_skip(&m)))
			continue;
		struct mp s = record_list(&x, schema, &keys);

		if (schema_uses(s, keys, name))
			return true;
	}
	return false;
}

static bool spec_uses(const struct record *spec, struct slice name)
{
	uint32_t keys;
	struct mp s = record_list(spec, CreateTableInput_KeySchema, &keys);

	return schema_uses(s, keys, name)
		|| indexes_use(spec, CreateTableInput_GlobalSecondaryIndexes, &shape_GlobalSecondaryIndex,
			GlobalSecondaryIndex_KeySchema, name)
		|| indexes_use(spec, CreateTableInput_LocalSecondaryIndexes, &shape_LocalSecondaryIndex,
			LocalSecondaryIndex_KeySchema, name);
}

/* Append those of `list` that are not in `except` and, if spec is given, that it uses; returns how many. */
static uint32_t put_definitions(struct buf *b, struct slice list, struct slice except, const struct record *spec)
{
	uint32_t kept = 0;

	if (!slice_present(list))
		return 0;
	struct mp m = mp_open(list);

	for (uint32_t n = mp_array(&m); n > 0; n--) {
		struct slice bytes = mp_skip(&m);
		struct record d;

		if (!record_open(&d, &shape_AttributeDefinition, bytes))
			continue;
		struct slice name = record_str(&d, AttributeDefinition_AttributeName);

		if (slice_present(defined_type(except, name)) || (spec != NULL && !spec_uses(spec, name)))
			continue;
		buf_put_slice(b, bytes);
		kept++;
	}
	return kept;
}

/* What was defined, and what the request adds; only what a key of `used` needs, if it is given. */
static struct slice definitions(struct change *c, const struct record *used)
{
	struct slice old = c->spec.m[CreateTableInput_AttributeDefinitions];
	struct slice more = c->in->m[UpdateTableInput_AttributeDefinitions];
	struct slice out = SLICE_NONE;
	struct buf b;

	buf_init(&b);
	size_t at = list_begin(&b);
	uint32_t n = put_definitions(&b, old, SLICE_NONE, used);

	n += put_definitions(&b, more, old, used);
	list_end(&b, at, n);
	if (!b.failed)
		out = arena_copy(c->arena, buf_slice(&b));
	buf_release(&b);
	return out;
}

/* ---- global indexes ---- */

/* Every key of a new index must be defined by the request itself, and not anew. */
static enum err check_definitions(const struct change *c, const struct record *x, struct fault *f)
{
	struct slice given = c->in->m[UpdateTableInput_AttributeDefinitions];
	struct slice old = c->spec.m[CreateTableInput_AttributeDefinitions];
	uint32_t n;

	for (struct mp m = record_list(x, CreateGlobalSecondaryIndexAction_KeySchema, &n); n > 0; n--) {
		struct record e;

		if (!record_open(&e, &shape_KeySchemaElement, mp_skip(&m)))
			return fault_set(f, MSG_CATALOG_DAMAGED);
		struct slice name = record_str(&e, KeySchemaElement_AttributeName);
		struct slice type = defined_type(given, name), before = defined_type(old, name);

		if (!slice_present(type))
			return fault_set(f, MSG_INDEX_UNDEFINED, SLICE_FMT(record_str(x, CreateGlobalSecondaryIndexAction_IndexName)));
		if (slice_present(before) && !slice_eq(before, type))
			return fault_set(f, MSG_ATTRIBUTES_REDEFINED, SLICE_FMT(name), SLICE_FMT(before), SLICE_FMT(name),
				SLICE_FMT(type));
	}
	return ERR_OK;
}

static bool local_named(const struct catalog_table *t, struct slice name)
{
	for (unsigned i = 0; i < t->table.lsis; i++)
		if (slice_eq(t->table.index[t->table.gsis + i].name, name))
			return true;
	return false;
}

/* There is no such global index. */
static enum err index_missing(const struct change *c, const char *action, struct slice name, struct fault *f)
{
	return local_named(c->old, name) ? fault_set(f, MSG_INDEX_NOT_GLOBAL, action, SLICE_FMT(name)) : fault_set(f, MSG_TABLE_UNKNOWN);
}

/* Ids and states of the draft with place `at` taken out, or opened. */
static void move_ids(struct catalog_draft *d, unsigned at, bool insert, uint32_t id)
{
	uint32_t *ids = d->index_id;
	bool *building = d->building;
	unsigned rest = d->indexes - at - !insert;

	if (insert) {
		memmove(ids + at + 1, ids + at, rest * sizeof *ids);
		memmove(building + at + 1, building + at, rest * sizeof *building);
		ids[at] = id;
		building[at] = true;
		d->indexes++;
		return;
	}
	memmove(ids + at, ids + at + 1, rest * sizeof *ids);
	memmove(building + at, building + at + 1, rest * sizeof *building);
	d->indexes--;
}

static enum err create_index(struct change *c, struct slice bytes, struct fault *f)
{
	struct record x;
	uint32_t id;

	if (!record_open(&x, &shape_CreateGlobalSecondaryIndexAction, bytes))
		return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
	struct slice name = record_str(&x, CreateGlobalSecondaryIndexAction_IndexName);

	if (index_place(c->old, name) >= 0 || local_named(c->old, name))
		return fault_set(f, MSG_INDEX_EXISTS);
	if (c->old->building)
		return fault_set(f, MSG_INDEX_ONE_AT_ONCE);
	if (c->old->table.gsis == TABLE_GSI_MAX)
		return fault_set(f, MSG_INDEX_LIMIT);
	enum err rc = check_definitions(c, &x, f);

	if (rc != ERR_OK)
		return rc;
	c->spec.m[CreateTableInput_AttributeDefinitions] = definitions(c, NULL);
	if (!slice_present(c->spec.m[CreateTableInput_AttributeDefinitions]))
		return no_memory(f);
	rc = global_index_check(&c->spec, CreateTableInput_AttributeDefinitions, bytes, c->on_demand, c->arena, f);

	if (rc == ERR_OK)
		rc = spec_put_index(&c->spec, SPEC_TABLE, bytes, c->arena, f);
	if (rc == ERR_OK)
		rc = control_take_ids(c->txn, 1, &id, f);
	if (rc != ERR_OK)
		return rc;
	move_ids(&c->draft, c->old->table.gsis, true, id);
	c->created = id;
	return partitions_begin(c->txn, &c->draft.facts, id,
		partitions_wanted(c->txn->batch->store, &c->spec, (int)c->old->table.gsis), f);
}

static enum err delete_index(struct change *c, struct slice bytes, struct fault *f)
{
	struct record x;

	if (!record_open(&x, &shape_DeleteGlobalSecondaryIndexAction, bytes))
		return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
	struct slice name = record_str(&x, DeleteGlobalSecondaryIndexAction_IndexName);
	int at = index_place(c->old, name);

	if (at < 0)
		return index_missing(c, "delete", name, f);
	c->dropped = c->old->table.index[at].id;
	control_drop_counters(c->txn, &c->old->table.index[at].parts);
	backlog_drop(c->txn, &c->old->table.index[at]);
	if (!partition_rows_drop(&c->draft.facts, c->dropped, c->arena)
	    || !autoscale_rows_drop(&c->draft.facts, c->dropped, c->arena))
		return no_memory(f);
	move_ids(&c->draft, (unsigned)at, false, 0);
	return spec_put_index(&c->spec, at, SLICE_NONE, c->arena, f);
}

_Static_assert((int)CreateGlobalSecondaryIndexAction_KeySchema == (int)GlobalSecondaryIndex_KeySchema
	&& (int)CreateGlobalSecondaryIndexAction_WarmThroughput == (int)GlobalSecondaryIndex_WarmThroughput,
	"the action that creates an index is written as the index");

static enum err change_index_units(struct change *c, int place, struct slice asked, struct fault *f)
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

/* New throughput of an index. Its place counts in the list as it was: indexes come and go alone in a request. */
static enum err update_index(struct change *c, struct slice bytes, struct fault *f)
{
	struct record x;

	if (!record_open(&x, &shape_UpdateGlobalSecondaryIndexAction, bytes))
		return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
	struct slice name = record_str(&x, UpdateGlobalSecondaryIndexAction_IndexName);
	int at = index_place(c->old, name);

	if (at < 0 || c->created != 0 || c->dropped != 0)
		return at < 0 ? index_missing(c, "update", name, f) : fault_set(f, MSG_INDEX_ONE_AT_ONCE);
	if (c->on_demand && record_has(&x, UpdateGlobalSecondaryIndexAction_ProvisionedThroughput))
		return fault_set(f, MSG_INDEX_ON_DEMAND_UNITS, SLICE_FMT(name));
	enum err rc = change_index_units(c, at, x.m[UpdateGlobalSecondaryIndexAction_ProvisionedThroughput], f);

	if (rc == ERR_OK)
		rc = change_maximum(c, at, name, x.m[UpdateGlobalSecondaryIndexAction_OnDemandThroughput], f);
	return rc == ERR_OK ? change_warm(c, at, name, x.m[UpdateGlobalSecondaryIndexAction_WarmThroughput], f) : rc;
}

static enum err change_indexes(struct change *c, struct fault *f)
{
	uint32_t n;
	enum err rc = ERR_OK;

	for (struct mp m = record_list(c->in, UpdateTableInput_GlobalSecondaryIndexUpdates, &n); n > 0 && rc == ERR_OK; n--) {
		struct record u;

		if (!record_open(&u, &shape_GlobalSecondaryIndexUpdate, mp_skip(&m)))
			return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
		if (record_has(&u, GlobalSecondaryIndexUpdate_Create))
			rc = create_index(c, u.m[GlobalSecondaryIndexUpdate_Create], f);
		else if (record_has(&u, GlobalSecondaryIndexUpdate_Delete))
			rc = delete_index(c, u.m[GlobalSecondaryIndexUpdate_Delete], f);
		else
			rc = update_index(c, u.m[GlobalSecondaryIndexUpdate_Update], f);
	}
	return rc;
}

/* ---- all of it ---- */

/* Scans of on-demand tables cost otherwise. */
static void recost(struct change *c)
{
	const struct table *t = &c->old->table;

	if (c->on_demand == t->on_demand)
		return;
	partitions_recost(c->txn, t, t->id);
	for (unsigned i = 0; i < t->gsis; i++)
		partitions_recost(c->txn, t, t->index[i].id);
}

static enum err change_all(struct change *c, struct fault *f)
{
	enum err rc = change_billing(c, f);

	if (rc == ERR_OK)
		rc = change_maximum(c, SPEC_TABLE, SLICE_NONE, c->in->m[UpdateTableInput_OnDemandThroughput], f);
	if (rc == ERR_OK)
		rc = change_warm(c, SPEC_TABLE, SLICE_NONE, c->in->m[UpdateTableInput_WarmThroughput], f);
	if (rc == ERR_OK)
		rc = change_stream(c, f);
	if (rc == ERR_OK)
		rc = change_indexes(c, f);
	if (rc == ERR_OK)
		rc = settle_throughput(c, f);
	if (rc != ERR_OK)
		return rc;
	recost(c);
	change_settings(c);
	c->draft.facts.state = table_state_begin(c->txn->batch->store, TABLE_UPDATING, c->created);
	c->spec.m[CreateTableInput_AttributeDefinitions] = definitions(c, &c->spec);
	c->draft.spec = control_spec_put(&c->spec, c->arena);
	return slice_present(c->draft.spec) ? ERR_OK : no_memory(f);
}

static enum err update_table_apply(struct write_batch *b, struct store_write *w)
{
	struct slice name = control_table_name(record_str(&w->req->in, UpdateTableInput_TableName));
	const struct catalog_table *ct = table_state_find(b->store, b->catalog, name);
	struct counters counts[DESCRIBED_MAX];
	struct catalog *next = NULL;
	struct write_txn t;

	if (ct == NULL)
		return fault_set(&w->fault, MSG_TABLE_NOT_FOUND, SLICE_FMT(name));
	struct change c = { .in = &w->req->in, .old = ct, .spec = ct->spec, .txn = &t, .arena = w->req->arena,
		.on_demand = ct->table.on_demand };

	enum err rc = table_state_check(b->store, ct, &w->fault);

	if (rc != ERR_OK)
		return rc;
	write_txn_begin(&t, b, w->req->arena);
	rc = control_draft(ct, c.arena, &c.draft, &w->fault);
	if (rc == ERR_OK)
		rc = change_all(&c, &w->fault);
	if (rc == ERR_OK)
		rc = control_put_table(&t, &c.draft, &next, &w->fault);
	if (rc == ERR_OK)
		rc = control_counters(b, &catalog_find(next, name)->table, counts, &w->fault);
	if (rc == ERR_OK)
		rc = control_answer(b, w, catalog_find(next, name), "UPDATING", counts);
	if (rc == ERR_OK && c.dropped != 0)
		control_drop(&t, c.dropped);
	throughput_settle(b->store, &ct->table);
	rc = control_end(&t, &next, rc, &w->fault);
	if (rc == ERR_OK && c.created != 0)
		b->wake_backfill = true;
	return rc;
}

enum err update_table_prepare(struct store_reader *r, struct store_write *w)
{
	(void)r;
	w->plan->apply = update_table_apply;
	return update_table_check(&w->req->in, &w->fault);
}
