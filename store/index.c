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
			c->move.after.cost = capacity_write_halves(old->bytes > new->bytes ? old->bytes : new->bytes, transactional);
		return;
	}
	if (old->key.n != 0)
		c->move.before.cost = capacity_write_halves(old->bytes, transactional);
	if (new->key.n != 0)
		c->move.after.cost = capacity_write_halves(new->bytes, transactional);
}

static struct index_side side_of(const struct index_entry *e)
{
	return e->key.n != 0 ? (struct index_side){ .key = buf_slice(&e->key), .hash = e->hash, .bytes = e->bytes }
		: (struct index_side){ .key = SLICE_NONE };
}

static void count(struct write_txn *t, const struct table_index *x, const struct index_side *s, int sign)
{
	write_txn_count(t, partition_at(&x->parts, s->hash)->id, sign, sign * (int64_t)s->bytes);
}

void index_move(struct write_txn *t, const struct table_index *x, const struct index_move *m)
{
	struct engine *e = t->batch->store->engine;
	bool had = slice_present(m->before.key), has = slice_present(m->after.key);

	if (had && !(has && slice_eq(m->before.key, m->after.key))) {
		engine_del(e, m->before.key);
		touch(t, x, m->before.hash);
	}
	if (had)
		count(t, x, &m->before, -1);
	if (has) {
		engine_put(e, m->after.key, m->value);
		touch(t, x, m->after.hash);
		count(t, x, &m->after, 1);
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

	c->later = false;
	c->move = (struct index_move){ side_of(&c->before), side_of(&c->after),
		c->after.key.n != 0 ? buf_slice(&c->after.value) : SLICE_NONE };
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
		uint64_t write = index_move_cost(&c->move);

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
			bytes += (int64_t)p->change[i].move.after.bytes - (int64_t)p->change[i].move.before.bytes;
	return bytes;
}

void index_carry_out(struct write_txn *t, struct slice item_key, const struct index_plan *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		const struct index_change *c = &p->change[i];

		if (c->later)
			backlog_append(t, c->x, item_key, &c->move, c->waits);
		else
			index_move(t, c->x, &c->move);
	}
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
