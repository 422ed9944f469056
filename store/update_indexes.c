/* update_indexes - UpdateTable's global indexes, and the attribute definitions that they need: see update_table_int.h.
 *
 * A new index is at once kept in step by every write, but not read until it is filled with what was there before (backfill.h). */
#include "store/update_table_int.h"

#include "protocol/messages.h"
#include "store/autoscale.h"
#include "store/create_table_check.h"
#include "store/partition.h"
#include "store/spec.h"

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

struct slice table_update_definitions(struct table_update *c, const struct record *used)
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

int table_update_index_place(const struct catalog_table *t, struct slice name)
{
	for (unsigned i = 0; i < t->table.gsis; i++)
		if (slice_eq(t->table.index[i].name, name))
			return (int)i;
	return SPEC_NOWHERE;
}

/* Every key of a new index must be defined by the request itself, and not anew. */
static enum err check_definitions(const struct table_update *c, const struct record *x, struct fault *f)
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
static enum err index_missing(const struct table_update *c, const char *action, struct slice name, struct fault *f)
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

_Static_assert((int)CreateGlobalSecondaryIndexAction_KeySchema == (int)GlobalSecondaryIndex_KeySchema
	&& (int)CreateGlobalSecondaryIndexAction_WarmThroughput == (int)GlobalSecondaryIndex_WarmThroughput,
	"the action that creates an index is written as the index");

static enum err create_index(struct table_update *c, struct slice bytes, struct fault *f)
{
	struct record x;
	uint32_t id;

	if (!record_open(&x, &shape_CreateGlobalSecondaryIndexAction, bytes))
		return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
	struct slice name = record_str(&x, CreateGlobalSecondaryIndexAction_IndexName);

	if (table_update_index_place(c->old, name) >= 0 || local_named(c->old, name))
		return fault_set(f, MSG_INDEX_EXISTS);
	if (c->old->building)
		return fault_set(f, MSG_INDEX_ONE_AT_ONCE);
	if (c->old->table.gsis == TABLE_GSI_MAX)
		return fault_set(f, MSG_INDEX_LIMIT);
	enum err rc = check_definitions(c, &x, f);

	if (rc != ERR_OK)
		return rc;
	c->spec.m[CreateTableInput_AttributeDefinitions] = table_update_definitions(c, NULL);
	if (!slice_present(c->spec.m[CreateTableInput_AttributeDefinitions]))
		return fault_set(f, MSG_NO_MEMORY);
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

static enum err delete_index(struct table_update *c, struct slice bytes, struct fault *f)
{
	struct record x;

	if (!record_open(&x, &shape_DeleteGlobalSecondaryIndexAction, bytes))
		return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
	struct slice name = record_str(&x, DeleteGlobalSecondaryIndexAction_IndexName);
	int at = table_update_index_place(c->old, name);

	if (at < 0)
		return index_missing(c, "delete", name, f);
	c->dropped = c->old->table.index[at].id;
	control_drop_counters(c->txn, &c->old->table.index[at].parts);
	backlog_drop(c->txn, &c->old->table.index[at]);
	if (!partition_rows_drop(&c->draft.facts, c->dropped, c->arena)
	    || !autoscale_rows_drop(&c->draft.facts, c->dropped, c->arena))
		return fault_set(f, MSG_NO_MEMORY);
	move_ids(&c->draft, (unsigned)at, false, 0);
	return spec_put_index(&c->spec, at, SLICE_NONE, c->arena, f);
}

/* New throughput of an index. Its place counts in the list as it was: indexes come and go alone in a request. */
static enum err update_index(struct table_update *c, struct slice bytes, struct fault *f)
{
	struct record x;

	if (!record_open(&x, &shape_UpdateGlobalSecondaryIndexAction, bytes))
		return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
	struct slice name = record_str(&x, UpdateGlobalSecondaryIndexAction_IndexName);
	int at = table_update_index_place(c->old, name);

	if (at < 0 || c->created != 0 || c->dropped != 0)
		return at < 0 ? index_missing(c, "update", name, f) : fault_set(f, MSG_INDEX_ONE_AT_ONCE);
	if (c->on_demand && record_has(&x, UpdateGlobalSecondaryIndexAction_ProvisionedThroughput))
		return fault_set(f, MSG_INDEX_ON_DEMAND_UNITS, SLICE_FMT(name));
	enum err rc = table_update_index_units(c, at, x.m[UpdateGlobalSecondaryIndexAction_ProvisionedThroughput], f);

	if (rc == ERR_OK)
		rc = table_update_maximum(c, at, name, x.m[UpdateGlobalSecondaryIndexAction_OnDemandThroughput], f);
	return rc == ERR_OK ? table_update_warm(c, at, name, x.m[UpdateGlobalSecondaryIndexAction_WarmThroughput], f) : rc;
}

enum err table_update_indexes(struct table_update *c, struct fault *f)
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
