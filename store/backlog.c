/* backlog - see backlog.h. */
#include "store/backlog.h"

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

#include "protocol/messages.h"
#include "protocol/mp.h"
#include "store/big_endian.h"
#include "store/store_int.h"
#include "store/write_txn.h"

enum { SEQUENCE_BYTES = 8, ROW_KEY = CATALOG_KEY_BYTES + SEQUENCE_BYTES, ROW_FIELDS = 5, SIDE_FIELDS = 4 };

struct backlog *backlog_new(void)
{
	struct backlog *b = calloc(1, sizeof *b);

	if (b != NULL)
		b->refs = 1;
	return b;
}

struct backlog *backlog_ref(struct backlog *b)
{
	b->refs++;
	return b;
}

void backlog_unref(struct backlog **b)
{
	if (*b != NULL && --(*b)->refs == 0)
		free(*b);
	*b = NULL;
}

/* ---- rows ---- */

static struct slice row_key(uint32_t index, uint64_t number, uint8_t out[ROW_KEY])
{
	catalog_key('g', index, out);
	be_put(out + CATALOG_KEY_BYTES, number, SEQUENCE_BYTES);
	return slice_of(out, ROW_KEY);
}

static void put_side(struct buf *b, const struct index_side *s)
{
	mp_put_array(b, SIDE_FIELDS);
	mp_put_bin(b, s->key);
	mp_put_int(b, (int64_t)s->hash);
	mp_put_int(b, (int64_t)s->bytes);
	mp_put_int(b, (int64_t)s->cost);
}

/* An entry's key is never empty. */
static void read_side(struct mp *m, struct index_side *s)
{
	m->bad |= mp_array(m) != SIDE_FIELDS;
	s->key = mp_bin(m);
	s->hash = (uint64_t)mp_int(m);
	s->bytes = mp_uint(m);
	s->cost = mp_uint(m);
	if (s->key.n == 0)
		s->key = SLICE_NONE;
}

static void row_encode(struct buf *b, uint64_t time_ms, uint64_t item, const struct index_move *m)
{
	buf_clear(b);
	mp_put_array(b, ROW_FIELDS);
	mp_put_int(b, (int64_t)time_ms);
	mp_put_int(b, (int64_t)item);
	put_side(b, &m->before);
	put_side(b, &m->after);
	if (slice_present(m->value))
		buf_put_slice(b, m->value);
	else
		mp_put_nil(b);
}

static enum err row_decode(struct slice key, struct slice bytes, struct backlog_row *r, struct fault *f)
{
	struct mp m = mp_open(bytes);

	if (key.n != ROW_KEY || mp_array(&m) != ROW_FIELDS)
		return fault_set(f, MSG_BACKLOG_DAMAGED);
	r->number = be_get(key.p + CATALOG_KEY_BYTES, SEQUENCE_BYTES);
	r->time_ms = mp_uint(&m);
	r->item = (uint64_t)mp_int(&m);
	read_side(&m, &r->move.before);
	read_side(&m, &r->move.after);
	r->move.value = mp_skip(&m);
	return m.bad ? fault_set(f, MSG_BACKLOG_DAMAGED) : ERR_OK;
}

/* ---- changing, on the writer ---- */

static uint64_t *owed_at(struct backlog *b, uint64_t hash)
{
	return &b->owed[hash >> 56];
}

uint64_t backlog_owed(const struct backlog *b, uint64_t first_hash, uint64_t last_hash)
{
	uint64_t halves = 0;

	for (uint64_t i = first_hash >> 56; i <= last_hash >> 56; i++)
		halves += b->owed[i];
	return halves;
}

static uint64_t item_hash(struct slice key)
{
	return XXH3_64bits(key.p, key.n);
}

static uint32_t *without_at(struct backlog *b, uint64_t item)
{
	return &b->without[item % BACKLOG_KINDS];
}

bool backlog_leaves_without(const struct backlog *b, struct slice item_key)
{
	return b->without[item_hash(item_key) % BACKLOG_KINDS] != 0;
}

/* A row of an item comes (sign 1) or goes (-1): note how the backlog is before, and what it owes then. 0: its other facts change.
 * False if memory is out, and then nothing may. */
static bool mark(struct write_txn *t, struct backlog *b, uint64_t item, const struct index_move *m, int sign)
{
	struct write_batch *batch = t->batch;

	if (batch->marks == batch->mark_cap) {
		size_t cap = batch->mark_cap != 0 ? 2 * batch->mark_cap : 64;
		struct backlog_mark *grown = realloc(batch->mark, cap * sizeof *grown);

		if (grown == NULL) {
			t->failed = true;
			return false;
		}
		batch->mark = grown;
		batch->mark_cap = cap;
	}
	struct backlog_mark *k = &batch->mark[batch->marks++];

	*k = (struct backlog_mark){ .backlog = b, .before = b->now };
	if (sign == 0)
		return true;
	k->owes[0].hash = m->before.hash;
	k->owes[0].halves = (uint64_t)sign * m->before.cost;
	k->owes[1].hash = m->after.hash;
	k->owes[1].halves = (uint64_t)sign * m->after.cost;
	for (unsigned i = 0; i < 2; i++)
		*owed_at(b, k->owes[i].hash) += k->owes[i].halves;
	k->item = item;
	k->without = slice_present(m->after.key) ? 0 : (uint32_t)sign;
	*without_at(b, item) += k->without;
	b->now.cost += (uint64_t)sign * index_move_cost(m);
	b->now.rows += (uint64_t)sign;
	return true;
}

void backlog_append(struct write_txn *t, const struct table_index *x, struct slice item_key, const struct index_move *m,
	struct backlog_waits waits)
{
	struct backlog_state *s = &x->backlog->now;
	uint64_t now = store_now_ms(t->batch->store), item = item_hash(item_key);
	struct buf *row = &t->batch->row;
	uint8_t key[ROW_KEY];

	row_encode(row, now, item, m);
	t->failed |= row->failed;
	if (t->failed || !mark(t, x->backlog, item, m, 1))
		return;
	if (s->first == s->next) {
		s->oldest_ms = now;
		s->waits.in_line = false;
	}
	engine_put(t->batch->store->engine, row_key(x->id, s->next++, key), buf_slice(row));
	s->waits.unpaid |= waits.unpaid;
	s->waits.in_line |= waits.in_line;
}

/* What is left is found in the engine: this transaction puts no rows. */
static enum err find_oldest(struct engine *e, uint32_t index, struct backlog_state *s, struct fault *f)
{
	struct backlog_row row;
	struct slice value;
	uint8_t key[ROW_KEY];

	if (s->first == s->next)
		return ERR_OK;
	enum err rc = engine_read(e, row_key(index, s->first, key), &value, f);

	if (rc == ERR_OK)
		rc = row_decode(slice_of(key, ROW_KEY), value, &row, f);
	if (rc == ERR_OK)
		s->oldest_ms = row.time_ms;
	return rc;
}

enum err backlog_remove(struct write_txn *t, const struct table_index *x, const struct backlog_row *row, unsigned n,
	uint64_t first, struct backlog_waits waits, struct fault *f)
{
	struct engine *e = t->batch->store->engine;
	struct backlog_state *s = &x->backlog->now;
	uint64_t was = s->first;
	uint8_t key[ROW_KEY];
	bool marked = mark(t, x->backlog, 0, NULL, 0);

	for (unsigned i = 0; i < n && marked; i++) {
		marked = mark(t, x->backlog, row[i].item, &row[i].move, -1);
		engine_del(e, row_key(x->id, row[i].number, key));
	}
	if (!marked)
		return ERR_OK; /* the commit refuses */
	s->waits = waits;
	s->first = first;
	s->carried += n;
	assert((s->rows == 0) == (s->first == s->next));
	return first != was ? find_oldest(e, x->id, s, f) : ERR_OK;
}

void backlog_drop(struct write_txn *t, const struct table_index *x)
{
	uint8_t key[CATALOG_KEY_BYTES];

	if (!backlog_empty(x->backlog))
		engine_drop_prefix(t->batch->store->engine, catalog_key('g', x->id, key));
}

/* ---- a batch ---- */

void backlog_undo(struct write_batch *b, size_t keep)
{
	while (b->marks > keep) {
		const struct backlog_mark *m = &b->mark[--b->marks];

		m->backlog->now = m->before;
		for (unsigned i = 0; i < 2; i++)
			*owed_at(m->backlog, m->owes[i].hash) -= m->owes[i].halves;
		*without_at(m->backlog, m->item) -= m->without;
	}
}

static uint64_t published(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/* next before first, and backlog_look the other way round: so first is never seen beyond next. */
static void show(struct backlog *b)
{
	atomic_store_explicit(&b->oldest_ms, b->now.oldest_ms, memory_order_relaxed);
	atomic_store_explicit(&b->carried, b->now.carried, memory_order_relaxed);
	atomic_store_explicit(&b->rows, b->now.rows, memory_order_relaxed);
	atomic_store_explicit(&b->next, b->now.next, memory_order_release);
	atomic_store_explicit(&b->first, b->now.first, memory_order_release);
}

bool backlog_publish(struct write_batch *b)
{
	bool woken = false;

	for (size_t i = 0; i < b->marks; i++) {
		struct backlog *x = b->mark[i].backlog;

		woken |= (published(&x->first) == published(&x->next) && !backlog_empty(x))
			|| (x->now.waits.unpaid && published(&x->next) != x->now.next);
		show(x);
	}
	b->marks = 0;
	return woken;
}

/* ---- other threads ---- */

struct backlog_state backlog_look(const struct backlog *b)
{
	struct backlog_state s = { .first = atomic_load_explicit(&b->first, memory_order_acquire) };

	s.next = atomic_load_explicit(&b->next, memory_order_acquire);
	s.rows = published(&b->rows);
	s.oldest_ms = published(&b->oldest_ms);
	s.carried = published(&b->carried);
	return s;
}

/* Rows of an index from a number on: a cursor of v. */
static enum err rows_open(struct view *v, uint32_t index, uint64_t number, struct cursor **c, struct fault *f)
{
	uint8_t from[ROW_KEY], to[ROW_KEY];

	return cursor_open(v, row_key(index, number, from), row_key(index, UINT64_MAX, to), false, c, f);
}

static enum err read_row(struct cursor *c, struct arena *a, struct backlog_row *row, size_t *bytes, struct fault *f)
{
	struct slice key, value;
	enum err rc = cursor_next(c, &key, &value, f);

	*bytes = 0;
	if (rc != ERR_OK || !slice_present(key))
		return rc;
	*bytes = value.n;
	value = arena_copy(a, value);
	return slice_present(value) ? row_decode(key, value, row, f) : fault_set(f, MSG_NO_MEMORY);
}

/* The number of the next row; UINT64_MAX if there is none. */
static enum err read_number(struct cursor *c, uint64_t *number, struct fault *f)
{
	struct slice key, value;
	enum err rc = cursor_next(c, &key, &value, f);

	*number = rc == ERR_OK && slice_present(key) ? be_get(key.p + CATALOG_KEY_BYTES, SEQUENCE_BYTES) : UINT64_MAX;
	return rc;
}

enum err backlog_read(struct store *s, uint32_t index, uint64_t number, struct arena *a, struct backlog_row *row, unsigned max,
	size_t bytes_max, unsigned *n, uint64_t *after, struct fault *f)
{
	struct view *v = NULL;
	struct cursor *c = NULL;
	size_t total = 0, bytes = 1;
	enum err rc = view_open(s->engine, &v, f);

	*n = 0;
	if (rc == ERR_OK)
		rc = rows_open(v, index, number, &c, f);
	while (rc == ERR_OK && bytes != 0 && *n < max && total < bytes_max) {
		rc = read_row(c, a, &row[*n], &bytes, f);
		*n += rc == ERR_OK && bytes != 0;
		total += bytes;
	}
	*after = UINT64_MAX;
	if (rc == ERR_OK && bytes != 0)
		rc = read_number(c, after, f);
	cursor_close(&c);
	view_close(&v);
	return rc;
}

/* ---- opening ---- */

static enum err recover(struct view *v, uint32_t index, struct backlog *b, struct fault *f)
{
	struct backlog_state *s = &b->now;
	struct cursor *c = NULL;
	struct slice key, value;
	struct backlog_row row;
	enum err rc = rows_open(v, index, 0, &c, f);

	while (rc == ERR_OK && (rc = cursor_next(c, &key, &value, f)) == ERR_OK && slice_present(key)) {
		rc = row_decode(key, value, &row, f);
		if (rc != ERR_OK)
			break;
		if (s->first == s->next) {
			s->first = row.number;
			s->oldest_ms = row.time_ms;
			s->waits.in_line = true;
		}
		s->next = row.number + 1;
		s->rows++;
		s->cost += index_move_cost(&row.move);
		*owed_at(b, row.move.before.hash) += row.move.before.cost;
		*owed_at(b, row.move.after.hash) += row.move.after.cost;
		*without_at(b, row.item) += !slice_present(row.move.after.key);
	}
	cursor_close(&c);
	show(b);
	return rc;
}

enum err backlogs_recover(struct store *s, struct fault *f)
{
	const struct catalog *c = atomic_load(&s->catalog.current);
	struct view *v = NULL;
	enum err rc = view_open(s->engine, &v, f);

	for (size_t i = 0; i < c->n && rc == ERR_OK; i++)
		for (unsigned k = 0; k < c->by_id[i]->table.gsis && rc == ERR_OK; k++)
			rc = recover(v, c->by_id[i]->table.index[k].id, c->by_id[i]->table.index[k].backlog, f);
	view_close(&v);
	return rc;
}
