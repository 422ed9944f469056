/* control - what the operations that change the catalog share: names, ids, drafts, answers.
 *
 * Unless states are told to last (table_state.h), a table is ACTIVE, or gone, when its write is published; the answers speak
 * of CREATING and DELETING as the service's do. Ids come from one counter and are never used twice, so that nothing of a
 * deleted table, in a cache or in the engine, can be taken for a new one's. */
#include "protocol/messages.h"
#include "store/big_endian.h"
#include "store/control.h"
#include "store/describe.h"
#include "store/partition.h"

enum { FIRST_ID = 1, ID_BYTES = 4 };

/* ---- names ---- */

/* The name inside arn:aws:dynamodb:<region>:<account>:table/<name>, of any region and account: there is one namespace.
 * Anything else is a name already. */
struct slice control_table_name(struct slice s)
{
	static const char prefix[] = "arn:aws:dynamodb:", table[] = ":table/";

	if (!slice_starts_with(s, SLICE_LIT(prefix)))
		return s;
	const uint8_t *at = memmem(s.p, s.n, table, sizeof table - 1);

	if (at == NULL)
		return s;
	at += sizeof table - 1;
	return slice_of(at, (size_t)(s.p + s.n - at));
}

enum err control_arn_check(struct slice arn, struct fault *f)
{
	if (!slice_starts_with(arn, SLICE_LIT("arn:")))
		return fault_set(f, MSG_NOT_AN_ARN, SLICE_FMT(arn));
	if (!slice_starts_with(arn, SLICE_LIT("arn:aws:dynamodb:")) || control_table_name(arn).n == arn.n)
		return fault_set(f, MSG_RESOURCE_ARN, SLICE_FMT(arn));
	struct slice name = control_table_name(arn);

	if (memchr(name.p, '/', name.n) != NULL)
		return fault_set(f, MSG_ARN_OF_OTHER, SLICE_FMT(arn));
	return name.n < TABLE_NAME_MIN ? fault_set(f, MSG_RESOURCE_ARN, SLICE_FMT(arn)) : ERR_OK;
}

/* ---- records ---- */

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

/* ---- changing the catalog ---- */

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
