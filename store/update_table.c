/* update_table - UpdateTable as a whole, its streams and settings: see update_table_int.h. */
#include "store/update_table_int.h"

#include "protocol/messages.h"
#include "store/describe.h"
#include "store/partition.h"
#include "store/spec.h"
#include "store/streams.h"
#include "store/table_state.h"
#include "store/throughput.h"
#include "store/update_check.h"

/* ---- streams and settings ---- */

static enum err change_stream(struct table_update *c, struct fault *f)
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

static void change_settings(struct table_update *c)
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

/* ---- all of it ---- */

/* Scans of on-demand tables cost otherwise. */
static void recost(struct table_update *c)
{
	const struct table *t = &c->old->table;

	if (c->on_demand == t->on_demand)
		return;
	partitions_recost(c->txn, t, t->id);
	for (unsigned i = 0; i < t->gsis; i++)
		partitions_recost(c->txn, t, t->index[i].id);
}

static enum err change_all(struct table_update *c, struct fault *f)
{
	enum err rc = table_update_billing(c, f);

	if (rc == ERR_OK)
		rc = table_update_maximum(c, SPEC_TABLE, SLICE_NONE, c->in->m[UpdateTableInput_OnDemandThroughput], f);
	if (rc == ERR_OK)
		rc = table_update_warm(c, SPEC_TABLE, SLICE_NONE, c->in->m[UpdateTableInput_WarmThroughput], f);
	if (rc == ERR_OK)
		rc = change_stream(c, f);
	if (rc == ERR_OK)
		rc = table_update_indexes(c, f);
	if (rc == ERR_OK)
		rc = table_update_settle(c, f);
	if (rc != ERR_OK)
		return rc;
	recost(c);
	change_settings(c);
	c->draft.facts.state = table_state_begin(c->txn->batch->store, TABLE_UPDATING, c->created);
	c->spec.m[CreateTableInput_AttributeDefinitions] = table_update_definitions(c, &c->spec);
	c->draft.spec = control_spec_put(&c->spec, c->arena);
	return slice_present(c->draft.spec) ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
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
	struct table_update c = { .in = &w->req->in, .old = ct, .spec = ct->spec, .txn = &t, .arena = w->req->arena,
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
