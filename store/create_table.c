/* create_table - CreateTable: what create_table_check.h does not tell, the writer does.
 *
 * A table of that name that has gone, but is not cleared away yet (table_state.h), is dropped first. */
#include <sys/random.h>

#include "protocol/messages.h"
#include "store/control.h"
#include "store/create_table_check.h"
#include "store/delete_table.h"
#include "store/describe.h"
#include "store/partition.h"
#include "store/spec.h"
#include "store/streams.h"
#include "store/table_state.h"
#include "store/tags.h"

enum { UUID_TEXT = 36 };

/* ---- the writer's half ---- */

static bool make_uuid(char out[UUID_TEXT + 1])
{
	static const char hex[] = "0123456789abcdef";
	uint8_t r[16];
	unsigned n = 0;

	if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
		return false;
	r[6] = (uint8_t)((r[6] & 0x0f) | 0x40); /* version 4 */
	r[8] = (uint8_t)((r[8] & 0x3f) | 0x80); /* variant 1 */
	for (unsigned i = 0; i < sizeof r; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[n++] = '-';
		out[n++] = hex[r[i] >> 4];
		out[n++] = hex[r[i] & 15];
	}
	out[n] = '\0';
	return true;
}

/* The draft of a new table, with ids from `first` on. */
static enum err draft_new(struct write_batch *b, struct store_write *w, uint32_t first, unsigned indexes, struct catalog_draft *d)
{
	struct arena *a = w->req->arena;
	uint32_t *ids = arena_alloc(a, (indexes + 1) * sizeof *ids);
	char *uuid = arena_alloc(a, UUID_TEXT + 1);

	if (ids == NULL || uuid == NULL)
		return fault_set(&w->fault, MSG_NO_MEMORY);
	if (!make_uuid(uuid))
		return fault_set(&w->fault, MSG_NO_RANDOM);
	for (unsigned i = 0; i < indexes; i++)
		ids[i] = first + 1 + i;
	*d = (struct catalog_draft){ .id = first, .index_id = ids, .indexes = indexes, .spec = *(struct slice *)w->plan->control };
	d->facts.uuid = slice_str(uuid);
	d->facts.created_ms = store_now_ms(b->store);
	d->facts.state = table_state_begin(b->store, TABLE_CREATING, 0);
	if (record_is(&w->req->in, CreateTableInput_BillingMode, "PAY_PER_REQUEST"))
		d->facts.on_demand_since_ms = d->facts.created_ms;
	return ERR_OK;
}

/* Partitions of the table and its global indexes. */
static enum err begin_partitions(struct write_txn *t, const struct record *spec, unsigned gsis, struct catalog_draft *d,
	struct fault *f)
{
	const struct store *s = t->batch->store;
	enum err rc = partitions_begin(t, &d->facts, d->id, partitions_wanted(s, spec, SPEC_TABLE), f);

	for (unsigned i = 0; i < gsis && rc == ERR_OK; i++)
		rc = partitions_begin(t, &d->facts, d->index_id[i], partitions_wanted(s, spec, (int)i), f);
	return rc;
}

static bool wants_stream(const struct record *in)
{
	struct slice stream = in->m[CreateTableInput_StreamSpecification];
	struct record s;

	return slice_present(stream) && record_open(&s, &shape_StreamSpecification, stream)
		&& record_bool(&s, StreamSpecification_StreamEnabled);
}

/* What has gone may still have to be cleared away; anything else has the name. */
static enum err make_way(struct write_batch *b, struct store_write *w, const struct catalog_table *t)
{
	if (t == NULL)
		return ERR_OK;
	if (table_gone(b->store, t))
		return table_drop(b, t, w->req->arena, &w->fault);
	if (table_state_now(b->store, t) == TABLE_CREATING)
		return fault_set(&w->fault, MSG_TABLE_CREATING, SLICE_FMT(t->table.name));
	return fault_set(&w->fault, MSG_TABLE_EXISTS, SLICE_FMT(t->table.name));
}

static enum err create_table_apply(struct write_batch *b, struct store_write *w)
{
	static const struct counters none[DESCRIBED_MAX];
	struct slice name = control_table_name(record_str(&w->req->in, CreateTableInput_TableName));
	struct catalog *next = NULL;
	struct catalog_draft d;
	struct write_txn t;
	uint32_t gsis, lsis, first;
	enum err rc = make_way(b, w, catalog_find(b->catalog, name));

	if (rc != ERR_OK)
		return rc;
	record_list(&w->req->in, CreateTableInput_GlobalSecondaryIndexes, &gsis);
	record_list(&w->req->in, CreateTableInput_LocalSecondaryIndexes, &lsis);
	write_txn_begin(&t, b, w->req->arena);
	rc = control_take_ids(&t, 1 + gsis + lsis, &first, &w->fault);

	if (rc == ERR_OK)
		rc = draft_new(b, w, first, gsis + lsis, &d);
	if (rc == ERR_OK)
		rc = begin_partitions(&t, &w->req->in, gsis, &d, &w->fault);
	if (rc == ERR_OK && wants_stream(&w->req->in))
		rc = stream_open(&t, &w->req->in, d.id, &d.facts, &w->fault);
	if (rc == ERR_OK)
		rc = control_put_table(&t, &d, &next, &w->fault);
	if (rc == ERR_OK)
		rc = control_answer(b, w, catalog_find(next, name), "CREATING", none);
	return control_end(&t, &next, rc, &w->fault);
}

/* ---- the worker's half ---- */

enum err create_table_prepare(struct store_reader *r, struct store_write *w)
{
	const struct record *in = &w->req->in;
	struct slice name = control_table_name(record_str(in, CreateTableInput_TableName));
	struct slice *spec = arena_alloc(w->req->arena, sizeof *spec);

	(void)r;
	if (spec == NULL)
		return fault_set(&w->fault, MSG_NO_MEMORY);
	if (name.n < TABLE_NAME_MIN)
		return fault_set(&w->fault, MSG_TABLE_NAME_SHORT, SLICE_FMT(name));
	enum err rc = create_table_check(in, w->req->arena, &w->fault);

	if (rc == ERR_OK && record_has(in, CreateTableInput_Tags))
		rc = tags_check(in->m[CreateTableInput_Tags], &w->fault);
	if (rc != ERR_OK)
		return rc;
	*spec = control_spec_put(in, w->req->arena);
	w->plan->control = spec;
	w->plan->apply = create_table_apply;
	return slice_present(*spec) ? ERR_OK : fault_set(&w->fault, MSG_NO_MEMORY);
}
