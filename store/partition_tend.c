/* partition_tend - what the keeper does for partitions (partition.h): it counts those that were cut, and cuts what is too large,
 * too few, or too hot. */
#include "store/partition.h"

#include "store/heat.h"
#include "store/keeper.h"
#include "store/keycode.h"
#include "store/spec.h"
#include "store/write_txn.h"

enum { STOP_EVERY = 4096 };

/* The partitions of one table or index. */
struct list {
	const struct catalog_table *ct;
	int place;                       /* spec.h */
	uint32_t owner;
	const struct partitions *parts;
};
typedef bool list_fn(const struct list *l, void *arg);

/* Until fn finds what it looks for. */
static bool find_in_lists(const struct catalog *cat, list_fn *fn, void *arg)
{
	for (size_t i = 0; i < cat->n; i++) {
		const struct catalog_table *ct = cat->by_id[i];
		const struct table *t = &ct->table;

		if (fn(&(struct list){ ct, SPEC_TABLE, t->id, &t->parts }, arg))
			return true;
		for (unsigned x = 0; x < t->gsis; x++)
			if (fn(&(struct list){ ct, (int)x, t->index[x].id, &t->index[x].parts }, arg))
				return true;
	}
	return false;
}

/* ---- counting ---- */

/* What is in the partition in the view, less what has changed since it was cut. */
static enum err scan_part(struct keeper *k, struct view *v, struct partition_count *c)
{
	struct slice key, value;
	struct counters since;
	struct cursor *cur = NULL;
	enum err rc = counters_view(v, c->id, &since, NULL);

	c->had = (struct counters){ 0 };
	if (rc == ERR_OK)
		rc = partition_cursor(v, c->owner, c->from, c->to, &cur, NULL);
	while (rc == ERR_OK && (rc = cursor_next(cur, &key, &value, NULL)) == ERR_OK && slice_present(key)) {
		c->had.entries++;
		c->had.bytes += item_size(value);
		if (c->had.entries % STOP_EVERY == 0 && keeper_stopping(k))
			rc = ERR_UNAVAILABLE;
	}
	c->had.entries -= since.entries;
	c->had.bytes -= since.bytes;
	cursor_close(&cur);
	return rc;
}

/* The first uncounted partition of a list. */
static bool find_uncounted(const struct list *l, void *arg)
{
	struct partition_count *c = arg;
	const struct partitions *p = l->parts;

	for (unsigned i = 1; i < p->n; i++) {
		if (!p->part[i].uncounted)
			continue;
		*c = (struct partition_count){ l->ct->table.id, l->owner, p->part[i].id, p->part[i - 1].id, p->part[i].from,
			i + 1 < p->n ? p->part[i + 1].from : 0, { 0 } };
		return true;
	}
	return false;
}

/* The catalog first, then the view: then the view has the cut. */
static void count_all(struct keeper *k)
{
	struct store *s = k->store;
	struct partition_count c;
	enum err rc = ERR_OK;

	while (rc == ERR_OK && !keeper_stopping(k)) {
		struct view *v = NULL;
		bool found = find_in_lists(catalog_current(&s->catalog, &k->reader), find_uncounted, &c);

		catalog_quiesce(&k->reader);
		if (!found)
			return;
		rc = view_open(s->engine, &v, NULL);
		if (rc == ERR_OK)
			rc = scan_part(k, v, &c);
		view_close(&v);
		arena_reset(&k->arena);
		if (rc == ERR_OK)
			rc = partition_settle(&k->write, &k->arena, &c);
	}
}

static bool cut(struct keeper *k, const struct partition_cut *c)
{
	arena_reset(&k->arena);
	return partition_cut(&k->write, &k->arena, c) == ERR_OK;
}

/* ---- what is too large ---- */

struct large {
	struct view *view;
	uint64_t most;
	struct partition_cut cut;        /* at: not known yet */
	uint64_t from, to, bytes;
};

static bool find_large(const struct list *l, void *arg)
{
	struct large *g = arg;
	const struct partitions *p = l->parts;

	for (unsigned i = 0; i < p->n && partitions_counted(p); i++) {
		uint64_t to = i + 1 < p->n ? p->part[i + 1].from : 0;
		struct counters c;

		if (counters_view(g->view, p->part[i].id, &c, NULL) != ERR_OK || c.bytes <= g->most || to - p->part[i].from == 1)
			continue;
		g->cut = (struct partition_cut){ l->ct->table.id, l->owner, 0, CUT_SIZE };
		g->from = p->part[i].from;
		g->to = to;
		g->bytes = c.bytes;
		return true;
	}
	return false;
}

/* The hash of the entry at half of the bytes; the one after it if that is where the partition begins. */
static enum err find_middle(struct keeper *k, struct large *l)
{
	struct slice key, value;
	struct cursor *cur = NULL;
	uint64_t bytes = 0, n = 0;
	enum err rc = partition_cursor(l->view, l->cut.owner, l->from, l->to, &cur, NULL);

	l->cut.at = l->from;
	while (rc == ERR_OK && bytes < l->bytes / 2 && (rc = cursor_next(cur, &key, &value, NULL)) == ERR_OK && slice_present(key)) {
		bytes += item_size(value);
		l->cut.at = keycode_hash_in(key);
		if (++n % STOP_EVERY == 0 && keeper_stopping(k))
			rc = ERR_UNAVAILABLE;
	}
	cursor_close(&cur);
	if (l->cut.at == l->from)
		l->cut.at++;
	return rc;
}

/* Cut one; false if there is none. */
static bool cut_large(struct keeper *k)
{
	struct store *s = k->store;
	struct large l = { .most = s->partition_bytes };
	bool found = false;
	/* The catalog first, as above. */
	const struct catalog *cat = catalog_current(&s->catalog, &k->reader);
	enum err rc = view_open(s->engine, &l.view, NULL);

	if (rc == ERR_OK)
		found = find_in_lists(cat, find_large, &l);
	catalog_quiesce(&k->reader);
	if (found)
		rc = find_middle(k, &l);
	view_close(&l.view);
	return found && rc == ERR_OK && cut(k, &l.cut);
}

/* ---- what is too few ---- */

struct thin {
	const struct store *store;
	struct partition_cut cut;
};

/* The widest of a list that gives less throughput than it should, in its middle. */
static bool find_thin(const struct list *l, void *arg)
{
	struct thin *t = arg;
	const struct partitions *p = l->parts;
	uint64_t most = 0;

	if (p->n >= partitions_wanted(t->store, &l->ct->spec, l->place) || !partitions_counted(p))
		return false;
	for (unsigned i = 0; i < p->n; i++) {
		uint64_t width = partition_last(p, i) - p->part[i].from;

		if (width > most) {
			most = width;
			t->cut = (struct partition_cut){ l->ct->table.id, l->owner, p->part[i].from + width / 2 + 1, CUT_THROUGHPUT };
		}
	}
	return most != 0;
}

static bool cut_thin(struct keeper *k)
{
	struct thin t = { .store = k->store };
	bool found = find_in_lists(catalog_current(&k->store->catalog, &k->reader), find_thin, &t);

	catalog_quiesce(&k->reader);
	return found && cut(k, &t.cut);
}

/* ---- what is too hot ---- */

struct hot {
	uint32_t second;
	struct partition_cut cut;
	struct heat_cuts cuts;
};

static bool find_hot(const struct list *l, void *arg)
{
	struct hot *h = arg;
	const struct partitions *p = l->parts;
	uint64_t sample[HEAT_SAMPLES];

	for (unsigned i = 0; i < p->n * METER_USES && partitions_counted(p); i++) {
		unsigned place = i / METER_USES, use = i % METER_USES;
		uint64_t first = p->part[place].from, last = partition_last(p, place);

		if (!heat_hot(p->heat[place], use, h->second))
			continue;
		unsigned n = heat_samples(p->heat[place], use, first, last, sample);

		h->cuts = heat_cuts(sample, n, first, last);
		h->cut = (struct partition_cut){ l->ct->table.id, l->owner, 0, CUT_HEAT };
		if (h->cuts.n != 0)
			return true;
	}
	return false;
}

/* The second cut, which isolates a key, has to wait until the first one is counted (N3). Should it not come to be made, the key
 * is found hot in its new partition again, which begins with it then. */
static bool cut_hot(struct keeper *k)
{
	struct hot h = { .second = (uint32_t)clock_seconds(&k->store->clock) };
	bool found = find_in_lists(catalog_current(&k->store->catalog, &k->reader), find_hot, &h);

	catalog_quiesce(&k->reader);
	for (unsigned i = 0; found && i < h.cuts.n; i++) {
		if (i != 0)
			count_all(k);
		h.cut.at = h.cuts.at[i];
		found = cut(k, &h.cut);
	}
	return found;
}

void partitions_tend(struct keeper *k)
{
	do
		count_all(k);
	while (!keeper_stopping(k) && (cut_large(k) || cut_thin(k) || cut_hot(k)));
}

void partitions_watch(struct keeper *k)
{
	while (!keeper_stopping(k) && (cut_thin(k) || cut_hot(k)))
		count_all(k);
}
