#include "store/partition.h"

#include "protocol/messages.h"
#include "store/control.h"
#include "store/keeper.h"
#include "store/keycode.h"
#include "store/streams.h"
#include "store/write_txn.h"

enum { HASH_AT = 4, STOP_EVERY = 4096 };

const struct partitions *partitions_of(const struct table *t, uint32_t owner)
{
	if (t->id == owner)
		return &t->parts;
	for (unsigned i = 0; i < t->gsis; i++)
		if (t->index[i].id == owner)
			return &t->index[i].parts;
	return NULL;
}

bool partition_rows_drop(struct catalog_facts *facts, uint32_t owner, struct arena *a)
{
	struct partition_row *rows = arena_alloc(a, (facts->rows + 1) * sizeof *rows);
	unsigned n = 0;

	if (rows == NULL)
		return false;
	for (unsigned i = 0; i < facts->rows; i++)
		if (facts->row[i].owner != owner)
			rows[n++] = facts->row[i];
	facts->row = rows;
	facts->rows = n;
	return true;
}

/* ---- counters ---- */

static void add(struct counters *sum, const struct counters *c)
{
	sum->entries += c->entries;
	sum->bytes += c->bytes;
}

enum err partitions_read(struct engine *e, const struct partitions *p, struct counters *c, struct fault *f)
{
	enum err rc = ERR_OK;

	*c = (struct counters){ 0 };
	for (unsigned i = 0; i < p->n && rc == ERR_OK; i++) {
		struct counters one;

		rc = counters_read(e, p->part[i].id, &one, f);
		add(c, &one);
	}
	return rc;
}

enum err partitions_view(struct view *v, const struct partitions *p, struct counters *c, struct fault *f)
{
	enum err rc = ERR_OK;

	*c = (struct counters){ 0 };
	for (unsigned i = 0; i < p->n && rc == ERR_OK; i++) {
		struct counters one;

		rc = counters_view(v, p->part[i].id, &one, f);
		add(c, &one);
	}
	return rc;
}

/* ---- changing the catalog, on the writer ---- */

/* The rows of a table in a new list, with room for two more. */
static enum err draft_rows(const struct catalog_table *ct, struct arena *a, struct catalog_draft *d, struct partition_row **rows,
	struct fault *f)
{
	enum err rc = control_draft(ct, a, d, f);

	if (rc != ERR_OK)
		return rc;
	d->spec = control_spec_put(&ct->spec, a);
	*rows = arena_alloc(a, (ct->facts.rows + 2) * sizeof **rows);
	if (*rows == NULL || !slice_present(d->spec))
		return fault_set(f, MSG_NO_MEMORY);
	if (ct->facts.rows != 0)
		memcpy(*rows, ct->facts.row, ct->facts.rows * sizeof **rows);
	d->facts.row = *rows;
	return ERR_OK;
}

/* Put the new partition behind the one that it was cut from. */
static void insert_row(struct catalog_draft *d, struct partition_row *rows, uint32_t owner, uint32_t id, uint64_t at)
{
	unsigned i = 0;

	bool cut_before = false;

	for (unsigned k = 0; k < d->facts.rows; k++)
		cut_before |= rows[k].owner == owner;
	if (!cut_before)
		rows[d->facts.rows++] = (struct partition_row){ owner, { .id = owner } };
	while (i < d->facts.rows && !(rows[i].owner == owner && rows[i].part.from > at))
		i++;
	memmove(rows + i + 1, rows + i, (d->facts.rows - i) * sizeof *rows);
	rows[i] = (struct partition_row){ owner, { .id = id, .from = at, .uncounted = true } };
	d->facts.rows++;
}

static bool all_counted(const struct partitions *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->part[i].uncounted)
			return false;
	return true;
}

static enum err cut_apply(struct write_batch *b, struct store_write *w)
{
	const struct partition_cut *cut = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, cut->table);
	const struct partitions *p = ct != NULL ? partitions_of(&ct->table, cut->owner) : NULL;
	struct partition_row *rows;
	struct catalog *next = NULL;
	struct catalog_draft d;
	struct write_txn t;
	uint32_t id;

	/* N3: one at a time. What is gone, or cut there, needs nothing. */
	if (p == NULL || !all_counted(p) || partition_at(p, cut->at)->from == cut->at)
		return ERR_OK;
	write_txn_begin(&t, b, w->req->arena);
	enum err rc = control_take_ids(&t, 1, &id, &w->fault);

	if (rc == ERR_OK)
		rc = draft_rows(ct, w->req->arena, &d, &rows, &w->fault);
	if (rc == ERR_OK) {
		insert_row(&d, rows, cut->owner, id, cut->at);
		if (cut->owner == cut->table)
			rc = stream_split(&t, ct, &d.facts, cut->at, &w->fault);
	}
	if (rc == ERR_OK)
		rc = control_put_table(&t, &d, &next, &w->fault);
	return control_end(&t, &next, rc, &w->fault);
}

enum err partition_cut(struct own_write *o, struct arena *a, const struct partition_cut *cut)
{
	struct partition_cut copy = *cut;

	return own_write_run(o, a, cut_apply, &copy);
}

/* ---- counting ---- */

/* An uncounted partition, and what it had when it was cut. */
struct count {
	uint32_t table, owner, id, left;
	uint64_t from, to;               /* to = 0: the last one */
	struct counters had;
};

static enum err settle_apply(struct write_batch *b, struct store_write *w)
{
	const struct count *c = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, c->table);
	struct partition_row *rows;
	struct catalog *next = NULL;
	struct catalog_draft d;
	struct write_txn t;

	if (ct == NULL || partitions_of(&ct->table, c->owner) == NULL)
		return ERR_OK;
	write_txn_begin(&t, b, w->req->arena);
	enum err rc = draft_rows(ct, w->req->arena, &d, &rows, &w->fault);

	if (rc == ERR_OK) {
		for (unsigned i = 0; i < d.facts.rows; i++)
			if (rows[i].part.id == c->id)
				rows[i].part.uncounted = false;
		write_txn_count(&t, c->id, (int64_t)c->had.entries, (int64_t)c->had.bytes);
		write_txn_count(&t, c->left, -(int64_t)c->had.entries, -(int64_t)c->had.bytes);
		rc = control_put_table(&t, &d, &next, &w->fault);
	}
	return control_end(&t, &next, rc, &w->fault);
}

/* What is in the partition in the view, less what has changed since it was cut. */
static enum err scan_part(struct keeper *k, struct view *v, struct count *c)
{
	struct slice key, value;
	struct counters since;
	struct buf lo, hi;
	struct cursor *cur = NULL;
	enum err rc = counters_view(v, c->id, &since, NULL);

	c->had = (struct counters){ 0 };
	buf_init(&lo);
	buf_init(&hi);
	keycode_range(&lo, &hi, c->owner, c->from, c->to);
	if (rc == ERR_OK)
		rc = lo.failed || hi.failed ? ERR_NO_MEMORY : cursor_open(v, buf_slice(&lo), buf_slice(&hi), false, &cur, NULL);
	while (rc == ERR_OK && (rc = cursor_next(cur, &key, &value, NULL)) == ERR_OK && slice_present(key)) {
		c->had.entries++;
		c->had.bytes += item_size(value);
		if (c->had.entries % STOP_EVERY == 0 && keeper_stopping(k))
			rc = ERR_UNAVAILABLE;
	}
	c->had.entries -= since.entries;
	c->had.bytes -= since.bytes;
	cursor_close(&cur);
	buf_release(&lo);
	buf_release(&hi);
	return rc;
}

/* The first uncounted partition of a list. */
static bool find_uncounted(const struct table *t, uint32_t owner, const struct partitions *p, struct count *c)
{
	for (unsigned i = 1; i < p->n; i++) {
		if (!p->part[i].uncounted)
			continue;
		*c = (struct count){ t->id, owner, p->part[i].id, p->part[i - 1].id, p->part[i].from,
			i + 1 < p->n ? p->part[i + 1].from : 0, { 0 } };
		return true;
	}
	return false;
}

/* The catalog first, then the view: then the view has the cut. */
static bool next_uncounted(const struct catalog *cat, struct count *c)
{
	for (size_t i = 0; i < cat->n; i++) {
		const struct table *t = &cat->by_id[i]->table;

		if (find_uncounted(t, t->id, &t->parts, c))
			return true;
		for (unsigned x = 0; x < t->gsis; x++)
			if (find_uncounted(t, t->index[x].id, &t->index[x].parts, c))
				return true;
	}
	return false;
}

static void count_all(struct keeper *k)
{
	struct store *s = k->store;
	struct count c;
	enum err rc = ERR_OK;

	while (rc == ERR_OK && !keeper_stopping(k)) {
		struct view *v = NULL;
		bool found = next_uncounted(catalog_current(&s->catalog, &k->reader), &c);

		catalog_quiesce(&k->reader);
		if (!found)
			return;
		rc = view_open(s->engine, &v, NULL);
		if (rc == ERR_OK)
			rc = scan_part(k, v, &c);
		view_close(&v);
		arena_reset(&k->arena);
		if (rc == ERR_OK)
			rc = own_write_run(&k->write, &k->arena, settle_apply, &c);
	}
}

/* ---- cutting what is too large ---- */

struct large {
	struct partition_cut cut;        /* at: not known yet */
	uint64_t from, to, bytes;
};

static bool find_large(struct view *v, const struct table *t, uint32_t owner, const struct partitions *p, uint64_t most,
	struct large *l)
{
	for (unsigned i = 0; i < p->n && all_counted(p); i++) {
		uint64_t to = i + 1 < p->n ? p->part[i + 1].from : 0;
		struct counters c;

		if (counters_view(v, p->part[i].id, &c, NULL) != ERR_OK || c.bytes <= most || to - p->part[i].from == 1)
			continue;
		*l = (struct large){ { t->id, owner, 0 }, p->part[i].from, to, c.bytes };
		return true;
	}
	return false;
}

static bool next_large(const struct catalog *cat, struct view *v, uint64_t most, struct large *l)
{
	for (size_t i = 0; i < cat->n; i++) {
		const struct table *t = &cat->by_id[i]->table;

		if (find_large(v, t, t->id, &t->parts, most, l))
			return true;
		for (unsigned x = 0; x < t->gsis; x++)
			if (find_large(v, t, t->index[x].id, &t->index[x].parts, most, l))
				return true;
	}
	return false;
}

static uint64_t hash_in(struct slice key)
{
	uint64_t hash = 0;

	for (unsigned i = HASH_AT; i < HASH_AT + sizeof hash && i < key.n; i++)
		hash = hash << 8 | key.p[i];
	return hash;
}

/* The hash of the entry at half of the bytes; the one after it if that is where the partition begins. */
static enum err find_middle(struct keeper *k, struct view *v, struct large *l)
{
	struct slice key, value;
	struct cursor *cur = NULL;
	struct buf lo, hi;
	uint64_t bytes = 0, n = 0;
	enum err rc;

	l->cut.at = l->from;
	buf_init(&lo);
	buf_init(&hi);
	keycode_range(&lo, &hi, l->cut.owner, l->from, l->to);
	rc = lo.failed || hi.failed ? ERR_NO_MEMORY : cursor_open(v, buf_slice(&lo), buf_slice(&hi), false, &cur, NULL);
	while (rc == ERR_OK && bytes < l->bytes / 2 && (rc = cursor_next(cur, &key, &value, NULL)) == ERR_OK && slice_present(key)) {
		bytes += item_size(value);
		l->cut.at = hash_in(key);
		if (++n % STOP_EVERY == 0 && keeper_stopping(k))
			rc = ERR_UNAVAILABLE;
	}
	cursor_close(&cur);
	buf_release(&lo);
	buf_release(&hi);
	if (l->cut.at == l->from)
		l->cut.at++;
	return rc;
}

/* Cut one; false if there is none. */
static bool cut_large(struct keeper *k)
{
	struct store *s = k->store;
	struct view *v = NULL;
	struct large l;
	bool found = false;
	/* The catalog first, as above. */
	const struct catalog *cat = catalog_current(&s->catalog, &k->reader);
	enum err rc = view_open(s->engine, &v, NULL);

	if (rc == ERR_OK)
		found = next_large(cat, v, s->partition_bytes, &l);
	catalog_quiesce(&k->reader);
	if (found)
		rc = find_middle(k, v, &l);
	view_close(&v);
	if (!found || rc != ERR_OK)
		return false;
	arena_reset(&k->arena);
	return partition_cut(&k->write, &k->arena, &l.cut) == ERR_OK;
}

void partitions_tend(struct keeper *k)
{
	do
		count_all(k);
	while (!keeper_stopping(k) && cut_large(k));
}

/* ---- looking ---- */

static enum err show(struct view *v, struct slice index, const struct partitions *p, store_partition_fn *fn, void *arg,
	struct fault *f)
{
	for (unsigned i = 0; i < p->n; i++) {
		bool last = i + 1 == p->n;
		struct counters c;
		enum err rc = counters_view(v, p->part[i].id, &c, f);

		if (rc != ERR_OK)
			return rc;
		fn(arg, &(struct store_partition){ .index = index, .first = p->part[i].from,
			.last = last ? UINT64_MAX : p->part[i + 1].from - 1, .entries = c.entries, .bytes = c.bytes,
			.counted = !p->part[i].uncounted && (last || !p->part[i + 1].uncounted) });
	}
	return ERR_OK;
}

enum err store_partitions(struct store *s, struct slice name, store_partition_fn *fn, void *arg, struct fault *f)
{
	struct catalog_reader r;
	struct view *v = NULL;

	catalog_join(&s->catalog, &r);
	const struct catalog_table *ct = catalog_find(catalog_current(&s->catalog, &r), name);
	enum err rc = ct != NULL ? view_open(s->engine, &v, f) : fault_set(f, MSG_TABLE_NOT_FOUND, SLICE_FMT(name));

	if (rc == ERR_OK)
		rc = show(v, SLICE_NONE, &ct->table.parts, fn, arg, f);
	for (unsigned i = 0; rc == ERR_OK && i < ct->table.gsis; i++)
		rc = show(v, ct->table.index[i].name, &ct->table.index[i].parts, fn, arg, f);
	view_close(&v);
	catalog_leave(&s->catalog, &r);
	return rc;
}
