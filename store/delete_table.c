/* delete_table - see delete_table.h. */
#include "store/delete_table.h"

#include "protocol/messages.h"
#include "store/backlog.h"
#include "store/collection.h"
#include "store/control.h"
#include "store/describe.h"
#include "store/keeper.h"
#include "store/streams.h"
#include "store/table_edit.h"
#include "store/table_state.h"
#include "store/ttl.h"

enum err table_drop(struct write_batch *b, const struct catalog_table *ct, struct arena *a, struct fault *f)
{
	struct catalog *next = catalog_without(b->catalog, ct->table.name);
	enum err rc = next != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
	uint8_t key[CATALOG_KEY_BYTES];
	struct write_txn t;

	write_txn_begin(&t, b, a);
	engine_del(b->store->engine, catalog_key('t', ct->table.id, key));
	control_drop(&t, ct->table.id);
	control_drop_counters(&t, &ct->table.parts);
	for (unsigned i = 0; i < ct->table.gsis + ct->table.lsis; i++) {
		control_drop(&t, ct->table.index[i].id);
		control_drop_counters(&t, &ct->table.index[i].parts);
		if (i < ct->table.gsis)
			backlog_drop(&t, &ct->table.index[i]);
	}
	if (ct->table.lsis != 0)
		collections_drop(&t, ct->table.id);
	ttl_drop(&t, ct->facts.ttl_id);
	if (rc == ERR_OK && ct->streams)
		rc = stream_close(&t, ct, f);
	return control_end(&t, &next, rc, f);
}

/* ---- DeleteTable ---- */

/* The table stays, DELETING, until the keeper finds that it has gone. */
static enum err begin_deleting(struct write_batch *b, struct store_write *w, const struct catalog_table *ct,
	const struct table_state *state)
{
	struct table_edit e;
	enum err rc = table_edit_begin(&e, b, w, ct);

	e.draft.facts.state = *state;
	return table_edit_end(&e, w, rc);
}

static enum err check_deletable(const struct store *s, const struct catalog_table *ct, struct fault *f)
{
	if (ct->facts.state.index != 0 && table_state_now(s, ct) == TABLE_UPDATING)
		return fault_set(f, MSG_TABLE_INDEXES_BUSY);
	enum err rc = table_state_check(s, ct, f);

	if (rc == ERR_OK && record_bool(&ct->spec, CreateTableInput_DeletionProtectionEnabled))
		rc = fault_set(f, MSG_TABLE_PROTECTED);
	return rc;
}

static enum err delete_table_apply(struct write_batch *b, struct store_write *w)
{
	struct slice name = control_table_name(record_str(&w->req->in, DeleteTableInput_TableName));
	const struct catalog_table *ct = table_state_find(b->store, b->catalog, name);
	struct counters c[DESCRIBED_MAX];

	if (ct == NULL)
		return fault_set(&w->fault, MSG_TABLE_NOT_FOUND, SLICE_FMT(name));
	enum err rc = check_deletable(b->store, ct, &w->fault);

	if (rc == ERR_OK)
		rc = control_counters(b, &ct->table, c, &w->fault);
	if (rc == ERR_OK)
		rc = control_answer(b, w, ct, "DELETING", c);
	if (rc != ERR_OK)
		return rc;
	struct table_state state = table_state_begin(b->store, TABLE_DELETING, 0);

	return state.status == TABLE_DELETING ? begin_deleting(b, w, ct, &state)
		: table_drop(b, ct, w->req->arena, &w->fault);
}

enum err delete_table_prepare(struct store_reader *r, struct store_write *w)
{
	(void)r;
	w->plan->apply = delete_table_apply;
	return ERR_OK;
}

/* ---- what has gone ---- */

static enum err clear_apply(struct write_batch *b, struct store_write *w)
{
	const uint32_t *id = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, *id);

	return ct != NULL && table_gone(b->store, ct) ? table_drop(b, ct, w->req->arena, &w->fault) : ERR_OK;
}

/* The id of a table that has gone, or 0. */
static uint32_t find_gone(struct keeper *k)
{
	const struct catalog *c = catalog_current(&k->store->catalog, &k->reader);
	uint32_t id = 0;

	for (size_t i = 0; i < c->n && id == 0; i++)
		if (table_gone(k->store, c->by_id[i]))
			id = c->by_id[i]->table.id;
	catalog_quiesce(&k->reader);
	return id;
}

void tables_clear(struct keeper *k)
{
	enum err rc = ERR_OK;
	uint32_t id;

	while (rc == ERR_OK && !keeper_stopping(k) && (id = find_gone(k)) != 0) {
		rc = own_write_run(&k->write, &k->arena, clear_apply, &id);
		arena_reset(&k->arena);
	}
}
