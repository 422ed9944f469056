/* catalog - see catalog.h. Lookup, making snapshots, publishing and reclaiming them; tables themselves: catalog_table.c. */
#include "store/catalog.h"

#include <stdlib.h>
#include <xxhash.h>

#include "protocol/messages.h"
#include "store/big_endian.h"
#include "store/heat.h"

struct slice catalog_key(char kind, uint32_t id, uint8_t out[CATALOG_KEY_BYTES])
{
	be_put(out, 0, 4);
	out[4] = (uint8_t)kind;
	be_put(out + 5, id, 4);
	return slice_of(out, CATALOG_KEY_BYTES);
}

/* ---- lookup ---- */

static uint64_t name_hash(struct slice name)
{
	return XXH3_64bits(name.p, name.n);
}

const struct catalog_table *catalog_find(const struct catalog *c, struct slice name)
{
	for (size_t i = name_hash(name) & (c->slots - 1); c->slot[i] != NULL; i = (i + 1) & (c->slots - 1))
		if (slice_eq(c->slot[i]->table.name, name))
			return c->slot[i];
	return NULL;
}

const struct catalog_table *catalog_find_id(const struct catalog *c, uint32_t id)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->by_id[mid]->table.id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->n && c->by_id[lo]->table.id == id ? c->by_id[lo] : NULL;
}

const struct table_index *catalog_find_index(const struct table *t, uint32_t id)
{
	for (unsigned i = 0; t != NULL && i < t->gsis; i++)
		if (t->index[i].id == id)
			return &t->index[i];
	return NULL;
}

size_t catalog_after(const struct catalog *c, struct slice name)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (slice_cmp(c->by_name[mid]->table.name, name) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ---- making snapshots ---- */

/* Room for n tables: one block, so that there is one thing to free. */
static struct catalog *catalog_alloc(size_t n)
{
	size_t slots = 8;

	while (slots < 2 * n + 2)
		slots *= 2;
	struct catalog *c = calloc(1, sizeof *c + (2 * n + slots) * sizeof(struct catalog_table *));

	if (c == NULL)
		return NULL;
	c->by_name = (struct catalog_table **)(c + 1);
	c->by_id = c->by_name + n;
	c->slot = c->by_id + n;
	c->slots = slots;
	return c;
}

static int by_id_cmp(const void *a, const void *b)
{
	uint32_t x = (*(struct catalog_table *const *)a)->table.id, y = (*(struct catalog_table *const *)b)->table.id;

	return (x > y) - (x < y);
}

/* by_name is filled and sorted: the rest follows from it. Takes a reference for each table. */
static void catalog_index(struct catalog *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct catalog_table *t = c->by_name[i];
		size_t at = name_hash(t->table.name) & (c->slots - 1);

		while (c->slot[at] != NULL)
			at = (at + 1) & (c->slots - 1);
		c->slot[at] = t;
		c->by_id[i] = t;
		t->refs++;
	}
	if (c->n != 0)
		qsort(c->by_id, c->n, sizeof *c->by_id, by_id_cmp);
}

/* The heat of each partition that was there before, a new one for the others. Both lists ascend. */
static bool take_heat(struct partitions *p, const struct partitions *before)
{
	bool all = true;

	for (unsigned i = 0, k = 0; i < p->n; i++) {
		while (before != NULL && k < before->n && before->part[k].from < p->part[i].from)
			k++;
		bool same = before != NULL && k < before->n && before->part[k].id == p->part[i].id;

		p->heat[i] = same ? heat_ref(before->heat[k]) : heat_new();
		all &= p->heat[i] != NULL;
	}
	return all;
}

/* What a table or index has consumed: as before (NULL = it is new). */
static bool take_meter(struct meter **m, struct meter *before, struct partitions *p, const struct partitions *parts_before)
{
	*m = before != NULL ? meter_ref(before) : meter_new();
	return take_heat(p, parts_before) && *m != NULL;
}

/* Meters of the table, meters and backlogs of its global indexes: those of the description before this one (NULL = none), or
 * new ones. */
static bool take_meters(struct catalog_table *t, const struct catalog_table *before)
{
	const struct table *was = before != NULL && before->table.id == t->table.id ? &before->table : NULL;
	bool all = take_meter(&t->table.meter, was != NULL ? was->meter : NULL, &t->table.parts, was != NULL ? &was->parts : NULL);

	for (unsigned i = 0; i < t->table.gsis; i++) {
		const struct table_index *x = catalog_find_index(was, t->table.index[i].id);

		all &= take_meter(&t->index[i].meter, x != NULL ? x->meter : NULL, &t->index[i].parts, x != NULL ? &x->parts : NULL);
		t->index[i].backlog = x != NULL ? backlog_ref(x->backlog) : backlog_new();
		all &= t->index[i].backlog != NULL;
	}
	return all;
}

struct catalog *catalog_with(const struct catalog *base, struct catalog_table *t)
{
	struct catalog *c = catalog_alloc(base->n + 1);

	if (!take_meters(t, catalog_find(base, t->table.name))) {
		free(c);
		c = NULL;
	}
	if (c != NULL) {
		size_t at = catalog_after(base, t->table.name);
		bool replace = at > 0 && slice_eq(base->by_name[at - 1]->table.name, t->table.name);
		size_t before = replace ? at - 1 : at;

		memcpy(c->by_name, base->by_name, before * sizeof *c->by_name);
		c->by_name[before] = t;
		memcpy(c->by_name + before + 1, base->by_name + at, (base->n - at) * sizeof *c->by_name);
		c->n = base->n + !replace;
		catalog_index(c);
	}
	catalog_table_unref(&t);
	return c;
}

struct catalog *catalog_without(const struct catalog *base, struct slice name)
{
	struct catalog *c = catalog_alloc(base->n);

	if (c == NULL)
		return NULL;
	for (size_t i = 0; i < base->n; i++)
		if (!slice_eq(base->by_name[i]->table.name, name))
			c->by_name[c->n++] = base->by_name[i];
	catalog_index(c);
	return c;
}

void catalog_discard(struct catalog **c)
{
	if (*c == NULL)
		return;
	for (size_t i = 0; i < (*c)->n; i++) {
		struct catalog_table *t = (*c)->by_name[i];

		catalog_table_unref(&t);
	}
	free(*c);
	*c = NULL;
}

/* ---- publishing and reclaiming ---- */

/* The oldest version that a reader may still hold (C1). */
static uint64_t oldest_held(struct catalog_store *cs)
{
	uint64_t oldest = CATALOG_OFFLINE;

	pthread_mutex_lock(&cs->lock);
	for (struct catalog_reader *r = cs->readers; r != NULL; r = r->next) {
		uint64_t since = atomic_load(&r->since);

		if (since < oldest)
			oldest = since;
	}
	pthread_mutex_unlock(&cs->lock);
	return oldest;
}

static void reclaim(struct catalog_store *cs)
{
	uint64_t oldest = oldest_held(cs);

	for (struct catalog **at = &cs->retired; *at != NULL;) {
		struct catalog *c = *at;

		if (c->version < oldest) {
			*at = c->next;
			catalog_discard(&c);
		} else {
			at = &c->next;
		}
	}
}

void catalog_publish(struct catalog_store *cs, struct catalog *next)
{
	struct catalog *last = atomic_load_explicit(&cs->current, memory_order_relaxed); /* only we store it */

	next->version = last->version + 1;
	/* The snapshot first: a reader that takes the new version for its `since` must not find the old snapshot. */
	atomic_store(&cs->current, next);
	atomic_store(&cs->version, next->version);
	last->next = cs->retired;
	cs->retired = last;
	reclaim(cs);
}

const struct catalog *catalog_current(struct catalog_store *cs, struct catalog_reader *r)
{
	/* since is ours alone to store, so a relaxed load sees our own last store. */
	if (atomic_load_explicit(&r->since, memory_order_relaxed) == CATALOG_OFFLINE)
		atomic_store(&r->since, atomic_load(&cs->version)); /* C3 */
	return atomic_load(&cs->current);
}

void catalog_quiesce(struct catalog_reader *r)
{
	/* release: what we read of the snapshots happened before the writer sees us gone. */
	atomic_store_explicit(&r->since, CATALOG_OFFLINE, memory_order_release);
}

void catalog_join(struct catalog_store *cs, struct catalog_reader *r)
{
	atomic_init(&r->since, CATALOG_OFFLINE);
	pthread_mutex_lock(&cs->lock);
	r->next = cs->readers;
	cs->readers = r;
	pthread_mutex_unlock(&cs->lock);
}

void catalog_leave(struct catalog_store *cs, struct catalog_reader *r)
{
	pthread_mutex_lock(&cs->lock);
	for (struct catalog_reader **at = &cs->readers; *at != NULL; at = &(*at)->next) {
		if (*at == r) {
			*at = r->next;
			break;
		}
	}
	pthread_mutex_unlock(&cs->lock);
}

/* ---- opening and closing ---- */

/* Add the tables that the cursor yields to *c, each by a new snapshot: opening is not a hot path. */
static enum err load_tables(struct cursor *cur, struct catalog **c, struct fault *f)
{
	for (;;) {
		struct slice key, value;
		enum err rc = cursor_next(cur, &key, &value, f);

		if (rc != ERR_OK || !slice_present(key))
			return rc;
		struct catalog_table *t = NULL;

		rc = catalog_table_decode(value, &t, f);
		if (rc != ERR_OK)
			return rc;
		struct catalog *next = catalog_with(*c, t);

		if (next == NULL)
			return fault_set(f, MSG_NO_MEMORY);
		catalog_discard(c);
		*c = next;
	}
}

enum err catalog_open(struct catalog_store *cs, struct engine *e, struct fault *f)
{
	uint8_t from[CATALOG_KEY_BYTES], to[CATALOG_KEY_BYTES];
	struct catalog *c = catalog_alloc(0);
	struct view *v = NULL;
	struct cursor *cur = NULL;
	enum err rc = ERR_OK;

	if (c == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	rc = view_open(e, &v, f);
	if (rc == ERR_OK)
		rc = cursor_open(v, catalog_key('t', 0, from), catalog_key('t' + 1, 0, to), false, &cur, f);
	if (rc == ERR_OK)
		rc = load_tables(cur, &c, f);
	cursor_close(&cur);
	view_close(&v);
	if (rc != ERR_OK) {
		catalog_discard(&c);
		return rc;
	}
	c->version = 1;
	*cs = (struct catalog_store){ .retired = NULL };
	atomic_init(&cs->current, c);
	atomic_init(&cs->version, 1);
	pthread_mutex_init(&cs->lock, NULL);
	return ERR_OK;
}

void catalog_close(struct catalog_store *cs)
{
	struct catalog *c = atomic_load(&cs->current);

	if (c == NULL)
		return;
	catalog_discard(&c);
	while (cs->retired != NULL) {
		struct catalog *next = cs->retired->next;

		catalog_discard(&cs->retired);
		cs->retired = next;
	}
	atomic_store(&cs->current, NULL);
	pthread_mutex_destroy(&cs->lock);
}
