/* index - see index.h. What an entry holds, which indexes a write moves, and in what order entries change. */
#include "store/index.h"

#include "protocol/messages.h"
#include "store/check_key.h"
#include "store/keycode.h"
#include "store/partition.h"

/* ---- projection ---- */

/* The item's names are sorted, and so is what is left of them. */
void index_project(const struct table *t, const struct table_index *x, struct slice item, struct buf *out)
{
	uint32_t n, kept = 0;

	if (x->projection == INDEX_ALL) {
		buf_put_slice(out, item);
		return;
	}
	struct mp m = value_pairs(item, &n);

	for (uint32_t i = 0; i < n; i++) {
		kept += table_index_holds(t, x, mp_str(&m));
		mp_skip(&m);
	}
	mp_put_map(out, kept);
	for (m = value_pairs(item, &n); n > 0; n--) {
		struct slice name = mp_str(&m), value = mp_skip(&m);

		if (table_index_holds(t, x, name)) {
			mp_put_str(out, name);
			buf_put_slice(out, value);
		}
	}
}

/* ---- maintenance ---- */

static void entry_make(struct index_entry *e, const struct table *t, const struct table_index *x, struct slice item)
{
	buf_init(&e->key);
	buf_init(&e->value);
	e->bytes = 0;
	if (!slice_present(item) || !check_index_holds(&x->key, item) || !keycode_entry(&e->key, x, &t->key, item, &e->hash))
		return;
	index_project(t, x, item, &e->value);
	if (!e->value.failed)
		e->bytes = item_size(buf_slice(&e->value));
}

static void entry_release(struct index_entry *e)
{
	buf_release(&e->key);
	buf_release(&e->value);
}

static void touch(struct write_txn *t, const struct table_index *x, uint64_t hash)
{
	write_txn_change(t, &(struct store_change){ .table = x->id, .hash = hash });
}

static bool same_key(const struct index_entry *old, const struct index_entry *new)
{
	return old->key.n != 0 && new->key.n != 0 && slice_eq(buf_slice(&old->key), buf_slice(&new->key));
}

/* An entry that moves costs a delete and an insert, one whose projection changes a write of the larger; one that stays
 * costs nothing. Source: "Using Global Secondary Indexes", on write capacity, in the developer guide. */
static void weigh(struct index_change *c, bool transactional)
{
	const struct index_entry *old = &c->before, *new = &c->after;

	if (same_key(old, new)) {
		if (!slice_eq(buf_slice(&old->value), buf_slice(&new->value)))
			c->cost_after = capacity_write_halves(old->bytes > new->bytes ? old->bytes : new->bytes, transactional);
		return;
	}
	if (old->key.n != 0)
		c->cost_before = capacity_write_halves(old->bytes, transactional);
	if (new->key.n != 0)
		c->cost_after = capacity_write_halves(new->bytes, transactional);
}

static void carry_out(struct write_txn *t, const struct index_change *c)
{
	struct engine *e = t->batch->store->engine;
	const struct index_entry *old = &c->before, *new = &c->after;
	bool had = old->key.n != 0, has = new->key.n != 0;

	if (had && !same_key(old, new)) {
		engine_del(e, buf_slice(&old->key));
		touch(t, c->x, old->hash);
	}
	if (had)
		write_txn_count(t, partition_at(&c->x->parts, old->hash)->id, -1, -(int64_t)old->bytes);
	if (has) {
		engine_put(e, buf_slice(&new->key), buf_slice(&new->value));
		touch(t, c->x, new->hash);
		write_txn_count(t, partition_at(&c->x->parts, new->hash)->id, 1, (int64_t)new->bytes);
	}
}

/* An index that is being built may lack the entry of the old image still. */
static enum err forget_missing(struct write_txn *t, const struct table_index *x, struct index_entry *old, struct fault *f)
{
	struct slice there;

	if (x->readable || old->key.n == 0)
		return ERR_OK;
	enum err rc = engine_read(t->batch->store->engine, buf_slice(&old->key), &there, f);

	if (rc == ERR_OK && !slice_present(there)) {
		buf_clear(&old->key);
		old->bytes = 0;
	}
	return rc;
}

static enum err plan_one(struct write_txn *t, const struct table *table, struct slice old, struct slice new, bool transactional,
	struct index_change *c, struct fault *f)
{
	entry_make(&c->before, table, c->x, old);
	entry_make(&c->after, table, c->x, new);
	bool failed = c->before.key.failed || c->before.value.failed || c->after.key.failed || c->after.value.failed;
	enum err rc = failed ? fault_set(f, MSG_NO_MEMORY) : forget_missing(t, c->x, &c->before, f);

	c->cost_before = c->cost_after = 0;
	if (rc == ERR_OK)
		weigh(c, transactional);
	return rc;
}

enum err index_plan(struct write_txn *t, const struct table *table, struct slice old, struct slice new, bool transactional,
	struct index_plan *p, struct consumed *cost, struct fault *f)
{
	unsigned n = table->gsis + table->lsis;
	enum err rc = ERR_OK;

	p->n = 0;
	p->change = arena_alloc(t->arena, n * sizeof *p->change);
	cost->index = arena_alloc(t->arena, n * sizeof *cost->index);
	if (p->change == NULL || cost->index == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	for (unsigned i = 0; i < n && rc == ERR_OK; i++) {
		struct index_change *c = &p->change[p->n];

		c->x = &table->index[i];
		rc = plan_one(t, table, old, new, transactional, c, f);
		uint64_t write = c->cost_before + c->cost_after;

		if (write == 0) {
			entry_release(&c->before);
			entry_release(&c->after);
			continue;
		}
		cost->index[p->n++] = (struct consumed_index){ .name = c->x->name, .global = c->x->global, .write = write };
	}
	return rc;
}

int64_t index_local_growth(const struct index_plan *p)
{
	int64_t bytes = 0;

	for (unsigned i = 0; i < p->n; i++)
		if (!p->change[i].x->global)
			bytes += (int64_t)p->change[i].after.bytes - (int64_t)p->change[i].before.bytes;
	return bytes;
}

void index_carry_out(struct write_txn *t, const struct index_plan *p)
{
	for (unsigned i = 0; i < p->n; i++)
		carry_out(t, &p->change[i]);
}

void index_plan_release(struct index_plan *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		entry_release(&p->change[i].before);
		entry_release(&p->change[i].after);
	}
	p->n = 0;
}

enum err index_fill(struct write_txn *t, const struct table *table, const struct table_index *x, struct slice item,
	struct fault *f)
{
	struct engine *engine = t->batch->store->engine;
	struct slice there = SLICE_NONE;
	struct index_entry e;

	entry_make(&e, table, x, item);
	enum err rc = e.key.failed || e.value.failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;

	if (rc == ERR_OK && e.key.n != 0) {
		rc = engine_read(engine, buf_slice(&e.key), &there, f);
		if (rc == ERR_OK && !slice_present(there)) {
			t->grows = true;
			engine_put(engine, buf_slice(&e.key), buf_slice(&e.value));
			write_txn_count(t, partition_at(&x->parts, e.hash)->id, 1, (int64_t)e.bytes);
		}
	}
	entry_release(&e);
	return rc;
}
