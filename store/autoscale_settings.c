/* autoscale_settings - what auto scaling is told, and what it changes of a table (autoscale.h): on the writer, but for the reading
 * of the settings. */
#include "protocol/messages.h"
#include "store/autoscale.h"
#include "store/background.h"
#include "store/decreases.h"
#include "store/spec.h"
#include "store/table_edit.h"
#include "store/table_state.h"

/* ---- the rows of a table ---- */

/* A copy of the facts' list with room for one more. */
static struct autoscale_row *copy_rows(struct catalog_facts *facts, struct arena *a)
{
	struct autoscale_row *rows = arena_alloc(a, (facts->scaled + 1) * sizeof *rows);

	if (rows != NULL && facts->scaled != 0)
		memcpy(rows, facts->scale, facts->scaled * sizeof *rows);
	if (rows != NULL)
		facts->scale = rows;
	return rows;
}

bool autoscale_rows_drop(struct catalog_facts *facts, uint32_t owner, struct arena *a)
{
	struct autoscale_row *rows = copy_rows(facts, a);
	unsigned n = 0;

	if (rows == NULL)
		return false;
	for (unsigned i = 0; i < facts->scaled; i++)
		if (rows[i].owner != owner)
			rows[n++] = rows[i];
	facts->scaled = n;
	return true;
}

struct autoscale_row *autoscale_row_find(struct autoscale_row *rows, unsigned n, uint32_t owner, unsigned use)
{
	for (unsigned i = 0; i < n; i++)
		if (rows[i].owner == owner && rows[i].use == use)
			return &rows[i];
	return NULL;
}

/* ---- changing, on the writer ---- */

enum err autoscale_rows_take(struct table_edit *e, struct autoscale_row **rows, struct fault *f)
{
	*rows = copy_rows(&e->draft.facts, e->arena);
	return *rows != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

/* Provision so many units for what the row scales, as of a moment. */
static enum err scale(struct table_edit *e, struct autoscale_row *r, int64_t units, uint64_t ms, struct fault *f)
{
	int place = spec_place(&e->old->table, r->owner);
	struct units from = units_of(spec_get(&e->spec, place, SPEC_PROVISIONED), UNITS_NONE), to = from;
	bool ok;

	*minutely_units(&to, r->use) = units;
	if (units_same(from, to))
		return ERR_OK;
	enum err rc = table_state_check(e->txn.batch->store, e->old, f);

	if (rc == ERR_OK)
		rc = decreases_note(e->txn.batch->store, &e->draft.facts, r->owner, from, to, e->arena, f);
	struct slice record = units_record(to, e->arena, &ok);

	if (rc == ERR_OK)
		rc = ok ? spec_set(&e->spec, place, SPEC_PROVISIONED, record, e->arena, f) : fault_set(f, MSG_NO_MEMORY);
	if (rc == ERR_OK)
		rc = spec_raise_warm(&e->spec, place, from, false, e->arena, f);
	if (rc != ERR_OK)
		return rc;
	*(units > *minutely_units(&from, r->use) ? &r->out_ms : &r->in_ms) = ms;
	e->draft.facts.state = table_state_begin(e->txn.batch->store, TABLE_UPDATING, 0);
	return ERR_OK;
}

enum err autoscale_apply(struct write_batch *b, struct store_write *w)
{
	const struct minutely_change *c = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, c->table);
	struct autoscale_row *rows = NULL, *r = NULL;
	struct table_edit e;

	if (ct == NULL || ct->table.on_demand || spec_place(&ct->table, c->owner) == SPEC_NOWHERE)
		return ERR_OK;
	enum err rc = table_edit_begin(&e, b, w, ct);

	if (rc == ERR_OK)
		rc = autoscale_rows_take(&e, &rows, &w->fault);
	if (rc == ERR_OK)
		r = autoscale_row_find(rows, e.draft.facts.scaled, c->owner, c->use);
	if (r != NULL)
		rc = scale(&e, r, autoscale_within(r, c->units), c->ms, &w->fault);
	return table_edit_end(&e, w, rc);
}

/* ---- settings ---- */

struct asked {
	struct slice table;
	struct store_autoscale set;
	struct fault *fault;             /* of the caller: the writer's is gone with its request */
};

static enum err check(const struct store_autoscale *a, struct fault *f)
{
	if (a->max == 0)
		return ERR_OK;
	if (a->min < 1 || a->max < a->min || a->max > UNITS_MOST)
		return fault_set(f, MSG_AUTOSCALE_RANGE);
	if (a->target < AUTOSCALE_TARGET_LEAST || a->target > AUTOSCALE_TARGET_MOST)
		return fault_set(f, MSG_AUTOSCALE_TARGET, (unsigned)AUTOSCALE_TARGET_LEAST, (unsigned)AUTOSCALE_TARGET_MOST);
	return a->in_cooldown_s > AUTOSCALE_COOLDOWN_MOST_S || a->out_cooldown_s > AUTOSCALE_COOLDOWN_MOST_S
		? fault_set(f, MSG_AUTOSCALE_COOLDOWN, (unsigned)AUTOSCALE_COOLDOWN_MOST_S) : ERR_OK;
}

uint32_t autoscale_owner(const struct table *t, struct slice index)
{
	if (!slice_present(index))
		return t->id;
	for (unsigned i = 0; i < t->gsis; i++)
		if (slice_eq(t->index[i].name, index))
			return t->index[i].id;
	return 0;
}

struct autoscale_row *autoscale_row_make(struct table_edit *e, struct autoscale_row *rows, uint32_t owner, unsigned use)
{
	struct catalog_facts *facts = &e->draft.facts;
	struct autoscale_row *r = autoscale_row_find(rows, facts->scaled, owner, use);

	if (r == NULL) {
		r = &rows[facts->scaled++];
		*r = (struct autoscale_row){ .owner = owner, .use = use, .created_ms = store_now_ms(e->txn.batch->store) };
	}
	return r;
}

void autoscale_row_remove(struct catalog_facts *facts, struct autoscale_row *rows, struct autoscale_row *r)
{
	*r = rows[--facts->scaled];
}

/* Put, replace or take away the row; NULL if there is none now. */
static struct autoscale_row *put_row(struct table_edit *e, struct autoscale_row *rows, uint32_t owner,
	const struct store_autoscale *a)
{
	unsigned use = a->write ? METER_WRITE : METER_READ;
	struct autoscale_row *r = a->max != 0 ? autoscale_row_make(e, rows, owner, use)
		: autoscale_row_find(rows, e->draft.facts.scaled, owner, use);

	if (a->max == 0 && r != NULL)
		autoscale_row_remove(&e->draft.facts, rows, r);
	if (a->max == 0)
		return NULL;
	r->min = a->min;
	r->max = a->max;
	r->target = a->target;
	r->in_cooldown_s = a->in_cooldown_s;
	r->out_cooldown_s = a->out_cooldown_s;
	r->out_only = false;
	if (!slice_present(r->policy))
		r->policy = SLICE_LIT("dynax");
	return r;
}

enum err autoscale_bring_inside(struct table_edit *e, struct autoscale_row *r, struct fault *f)
{
	struct units u = units_of(spec_get(&e->spec, spec_place(&e->old->table, r->owner), SPEC_PROVISIONED), UNITS_NONE);
	enum err rc = scale(e, r, autoscale_within(r, *minutely_units(&u, r->use)), store_now_ms(e->txn.batch->store), f);

	return rc == ERR_LIMIT_EXCEEDED || rc == ERR_RESOURCE_IN_USE ? ERR_OK : rc;
}

static enum err set_apply(struct write_batch *b, struct store_write *w)
{
	struct asked *a = w->plan->control;
	const struct catalog_table *ct = table_state_find(b->store, b->catalog, a->table);
	struct autoscale_row *rows = NULL, *r = NULL;
	struct table_edit e;

	if (ct == NULL)
		return fault_set(a->fault, MSG_TABLE_NOT_FOUND, SLICE_FMT(a->table));
	uint32_t owner = autoscale_owner(&ct->table, a->set.index);

	if (owner == 0)
		return fault_set(a->fault, MSG_INDEX_UNKNOWN, SLICE_FMT(a->set.index));
	enum err rc = table_edit_begin(&e, b, w, ct);

	if (rc == ERR_OK)
		rc = autoscale_rows_take(&e, &rows, &w->fault);
	if (rc == ERR_OK)
		r = put_row(&e, rows, owner, &a->set);
	if (r != NULL && !ct->table.on_demand)
		rc = autoscale_bring_inside(&e, r, &w->fault);
	return table_edit_end(&e, w, rc);
}

enum err store_autoscale_set(struct store *s, struct slice table, const struct store_autoscale *set, struct fault *f)
{
	struct asked a = { table, *set, f };
	struct own_write o;
	struct arena arena;
	enum err rc = check(set, f);

	if (rc != ERR_OK)
		return rc;
	own_write_init(&o, s);
	arena_init(&arena, 0);
	rc = own_write_run(&o, &arena, set_apply, &a);
	own_write_release(&o);
	arena_release(&arena);
	return rc;
}

enum err store_autoscale_list(struct store *s, struct slice table, store_autoscale_fn *fn, void *arg, struct fault *f)
{
	struct catalog_reader r;

	catalog_join(&s->catalog, &r);
	const struct catalog_table *ct = table_state_find(s, catalog_current(&s->catalog, &r), table);

	for (unsigned i = 0; ct != NULL && i < ct->facts.scaled; i++) {
		const struct autoscale_row *row = &ct->facts.scale[i];
		int place = spec_place(&ct->table, row->owner);
		struct units u = units_of(spec_get(&ct->spec, place, SPEC_PROVISIONED), UNITS_NONE);

		fn(arg, &(struct store_autoscale){ .index = place >= 0 ? ct->table.index[place].name : SLICE_NONE,
			.write = row->use == METER_WRITE, .min = row->min, .max = row->max, .target = row->target,
			.in_cooldown_s = row->in_cooldown_s, .out_cooldown_s = row->out_cooldown_s,
			.units = *minutely_units(&u, row->use) });
	}
	catalog_leave(&s->catalog, &r);
	return ct != NULL ? ERR_OK : fault_set(f, MSG_TABLE_NOT_FOUND, SLICE_FMT(table));
}
