/* control - CreateTable, carried out by the writer, and what operations that change the catalog share.
 *
 * Unless states are told to last (table_state.h), a table is ACTIVE, or gone, when its write is published; the answers speak
 * of CREATING and DELETING as the service's do. Ids come from one counter and are never used twice, so that nothing of a
 * deleted table, in a cache or in the engine, can be taken for a new one's. */
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "protocol/messages.h"
#include "store/big_endian.h"
#include "store/control.h"
#include "store/create_table.h"
#include "store/delete_table.h"
#include "store/describe.h"
#include "store/partition.h"
#include "store/spec.h"
#include "store/streams.h"
#include "store/table_state.h"

enum { FIRST_ID = 1, ID_BYTES = 4, UUID_TEXT = 36 };

/* ---- shared with other control operations ---- */

enum err control_take_ids(struct write_txn *t, unsigned n, uint32_t *first, struct fault *f)
{
	struct engine *e = t->batch->store->engine;
	uint8_t key[CATALOG_KEY_BYTES], next[ID_BYTES];
	struct slice v;
	enum err rc = engine_read(e, catalog_key('i', 0, key), &v, f);

	if (rc != ERR_OK)
		return rc;
	*first = t->next_id; /* what this transaction put is not to be read yet */
	if (*first == 0)
		*first = v.n == ID_BYTES ? (uint32_t)be_get(v.p, ID_BYTES) : FIRST_ID;
	t->next_id = *first + n;
	be_put(next, t->next_id, ID_BYTES);
	engine_put(e, catalog_key('i', 0, key), slice_of(next, ID_BYTES));
	return ERR_OK;
}

enum err control_put_table(struct write_txn *t, const struct catalog_draft *d, struct catalog **next, struct fault *f)
{
	uint8_t key[CATALOG_KEY_BYTES];
	struct catalog_table *ct = NULL;
	struct buf b;

	buf_init(&b);
	catalog_draft_put(&b, d);
	enum err rc = b.failed ? fault_set(f, MSG_NO_MEMORY) : catalog_table_decode(buf_slice(&b), &ct, f);

	if (rc == ERR_OK) {
		engine_put(t->batch->store->engine, catalog_key('t', d->id, key), buf_slice(&b));
		*next = catalog_with(t->batch->catalog, ct);
		rc = *next != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
	}
	buf_release(&b);
	return rc;
}

enum err control_draft(const struct catalog_table *t, struct arena *a, struct catalog_draft *d, struct fault *f)
{
	unsigned n = t->table.gsis + t->table.lsis;
	uint32_t *ids = arena_alloc(a, (n + 1) * sizeof *ids);
	bool *building = arena_alloc(a, (n + 1) * sizeof *building);

	if (ids == NULL || building == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	for (unsigned i = 0; i < n; i++) {
		ids[i] = t->table.index[i].id;
		building[i] = !t->table.index[i].readable;
	}
	*d = (struct catalog_draft){ .id = t->table.id, .index_id = ids, .building = building, .indexes = n, .facts = t->facts };
	return ERR_OK;
}

/* A catalog made in this batch, not yet published. */
static void adopt(struct write_batch *b, struct catalog *next)
{
	catalog_discard(&b->next); /* an earlier one of this batch; its tables live on in this one */
	b->next = next;
	b->catalog = next;
}

enum err control_end(struct write_txn *t, struct catalog **next, enum err rc, struct fault *f)
{
	rc = write_txn_end(t, rc, f);
	if (rc == ERR_OK)
		adopt(t->batch, *next);
	else
		catalog_discard(next);
	return rc;
}

enum err control_counters(struct write_batch *b, const struct table *t, struct counters *c, struct fault *f)
{
	enum err rc = partitions_read(b->store->engine, &t->parts, &c[0], f);

	for (unsigned i = 0; i < t->gsis + t->lsis && rc == ERR_OK; i++)
		rc = partitions_read(b->store->engine, &t->index[i].parts, &c[i + 1], f);
	return rc;
}

/* Answers of CreateTable, DeleteTable and UpdateTable are one member: a TableDescription. */
_Static_assert((int)CreateTableOutput_TableDescription == (int)DeleteTableOutput_TableDescription
	&& (int)CreateTableOutput_TableDescription == (int)UpdateTableOutput_TableDescription, "one answer for three");

enum err control_answer(struct write_batch *b, struct store_write *w, const struct catalog_table *t, const char *status,
	const struct counters *c)
{
	unsigned n = 0;
	size_t at = record_begin(w->out);

	record_key(w->out, &n, CreateTableOutput_TableDescription);
	table_description_put(w->out, b->store, t, status, w->req->op == OP_DeleteTable, c);
	record_end(w->out, at, n);
	return w->out->failed ? fault_set(&w->fault, MSG_NO_MEMORY) : ERR_OK;
}

/* ---- CreateTable ---- */

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

static void make_stream_label(uint64_t ms, char out[CONTROL_LABEL_MAX])
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(out, CONTROL_LABEL_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, CONTROL_LABEL_MAX - n, ".%03u", (unsigned)(ms % 1000));
}

const char *control_stream_label(struct arena *a, uint64_t ms)
{
	char label[CONTROL_LABEL_MAX];

	make_stream_label(ms, label);
	return arena_printf(a, "%s", label);
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

struct slice control_record_copy(const struct record *r, struct arena *a)
{
	struct slice out = SLICE_NONE;
	unsigned n = 0;
	struct buf b;

	buf_init(&b);
	size_t at = record_begin(&b);

	for (unsigned i = 0; i < r->shape->members; i++) {
		if (!record_has(r, i))
			continue;
		record_key(&b, &n, i);
		buf_put_slice(&b, r->m[i]);
	}
	record_end(&b, at, n);
	if (!b.failed)
		out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return out;
}

struct slice control_spec_put(const struct record *spec, struct arena *a)
{
	struct record bare = *spec;
	struct slice out;
	struct buf name;

	buf_init(&name);
	mp_put_str(&name, control_table_name(record_str(spec, CreateTableInput_TableName)));
	bare.m[CreateTableInput_TableName] = buf_slice(&name);
	out = name.failed ? SLICE_NONE : control_record_copy(&bare, a);
	buf_release(&name);
	return out;
}

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
		rc = table_tags_check(in->m[CreateTableInput_Tags], &w->fault);
	if (rc != ERR_OK)
		return rc;
	*spec = control_spec_put(in, w->req->arena);
	w->plan->control = spec;
	w->plan->apply = create_table_apply;
	return slice_present(*spec) ? ERR_OK : fault_set(&w->fault, MSG_NO_MEMORY);
}

/* ---- dropping ---- */

void control_drop_counters(struct write_txn *t, const struct partitions *p)
{
	uint8_t key[CATALOG_KEY_BYTES];

	for (unsigned i = 0; i < p->n; i++)
		engine_del(t->batch->store->engine, catalog_key('c', p->part[i].id, key));
}

void control_drop(struct write_txn *t, uint32_t id)
{
	struct engine *e = t->batch->store->engine;
	uint8_t key[CATALOG_KEY_BYTES];
	uint8_t prefix[ID_BYTES];

	be_put(prefix, id, ID_BYTES);
	engine_del(e, catalog_key('c', id, key));
	engine_drop_prefix(e, slice_of(prefix, sizeof prefix));
	write_txn_change(t, &(struct store_change){ .table = id, .whole = true });
}
