/* partition_show - how a table is partitioned, for those who look (store.h). */
#include "store/partition.h"

#include "protocol/messages.h"
#include "store/heat.h"
#include "store/write_txn.h"

struct show {
	struct store *store;
	struct view *view;
	struct arena arena;              /* of one partition */
	uint32_t second;
	store_partition_fn *fn;
	void *arg;
};

/* ---- hot keys ---- */

/* The partition key in an item or entry, as a map. */
static struct slice key_of(const struct key_schema *ks, struct slice item, struct arena *a)
{
	struct slice out = SLICE_NONE;
	struct buf b;

	buf_init(&b);
	mp_put_map(&b, ks->hashes);
	for (unsigned i = 0; i < ks->hashes; i++) {
		mp_put_str(&b, ks->hash[i].name);
		buf_put_slice(&b, map_get(item, ks->hash[i].name));
	}
	if (!b.failed)
		out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return out;
}

/* Of the first entry that has this hash; absent if there is none. */
static enum err find_key(struct show *s, uint32_t owner, const struct key_schema *ks, uint64_t hash, struct slice *out,
	struct fault *f)
{
	struct slice key, value;
	struct cursor *cur = NULL;
	enum err rc = partition_cursor(s->view, owner, hash, hash + 1, &cur, f);

	*out = SLICE_NONE;
	if (rc == ERR_OK)
		rc = cursor_next(cur, &key, &value, f);
	if (rc == ERR_OK && slice_present(key))
		*out = key_of(ks, value, &s->arena);
	cursor_close(&cur);
	return rc;
}

static double heavier(const struct store_hot_key *k)
{
	return k->share[METER_READ] > k->share[METER_WRITE] ? k->share[METER_READ] : k->share[METER_WRITE];
}

/* Into its place among the hottest, if it is one of them. */
static void rank(struct store_partition *p, const struct store_hot_key *key)
{
	unsigned at = p->hot_keys;

	while (at > 0 && heavier(&p->hot[at - 1]) < heavier(key))
		at--;
	if (at == STORE_HOT_KEYS)
		return;
	p->hot_keys += p->hot_keys < STORE_HOT_KEYS;
	memmove(&p->hot[at + 1], &p->hot[at], (p->hot_keys - at - 1) * sizeof *p->hot);
	p->hot[at] = *key;
}

static unsigned count_of(const uint64_t *sample, unsigned n, unsigned *i, uint64_t hash)
{
	unsigned from = *i;

	while (*i < n && sample[*i] == hash)
		++*i;
	return *i - from;
}

/* By what of the samples they have, those of reads or those of writes. */
static void rank_keys(const struct heat *h, struct store_partition *p)
{
	uint64_t sample[METER_USES][HEAT_SAMPLES];
	unsigned n[METER_USES], i[METER_USES] = { 0 };

	for (unsigned use = 0; use < METER_USES; use++)
		n[use] = heat_samples(h, use, p->first, p->last, sample[use]);
	while (i[METER_READ] < n[METER_READ] || i[METER_WRITE] < n[METER_WRITE]) {
		struct store_hot_key key = { .hash = UINT64_MAX };

		for (unsigned use = 0; use < METER_USES; use++)
			if (i[use] < n[use] && sample[use][i[use]] < key.hash)
				key.hash = sample[use][i[use]];
		for (unsigned use = 0; use < METER_USES; use++)
			key.share[use] = n[use] != 0 ? (double)count_of(sample[use], n[use], &i[use], key.hash) / n[use] : 0;
		rank(p, &key);
	}
}

/* ---- partitions ---- */

static void take_heat(struct show *s, const struct heat *h, struct store_partition *p)
{
	for (unsigned use = 0; use < METER_USES; use++) {
		p->load[use] = heat_load(h, use, s->second) / CAPACITY_HALVES;
		p->refused[use] = atomic_load_explicit(&h->use[use].refused, memory_order_relaxed);
	}
	rank_keys(h, p);
}

static enum err show_parts(struct show *s, uint32_t owner, struct slice index, const struct key_schema *ks,
	const struct partitions *parts, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < parts->n && rc == ERR_OK; i++) {
		bool last = i + 1 == parts->n;
		struct store_partition p = { .index = index, .first = parts->part[i].from, .last = partition_last(parts, i),
			.counted = !parts->part[i].uncounted && (last || !parts->part[i + 1].uncounted) };
		struct counters c;

		rc = counters_view(s->view, parts->part[i].id, &c, f);
		p.entries = c.entries;
		p.bytes = c.bytes;
		take_heat(s, parts->heat[i], &p);
		for (unsigned k = 0; k < p.hot_keys && rc == ERR_OK; k++)
			rc = find_key(s, owner, ks, p.hot[k].hash, &p.hot[k].key, f);
		if (rc == ERR_OK)
			s->fn(s->arg, &p);
		arena_reset(&s->arena);
	}
	return rc;
}

enum err store_partitions(struct store *store, struct slice name, store_partition_fn *fn, void *arg, struct fault *f)
{
	struct show s = { .store = store, .second = (uint32_t)clock_seconds(&store->clock), .fn = fn, .arg = arg };
	struct catalog_reader r;

	arena_init(&s.arena, 0);
	catalog_join(&store->catalog, &r);
	const struct catalog_table *ct = catalog_find(catalog_current(&store->catalog, &r), name);
	enum err rc = ct != NULL ? view_open(store->engine, &s.view, f) : fault_set(f, MSG_TABLE_NOT_FOUND, SLICE_FMT(name));

	if (rc == ERR_OK)
		rc = show_parts(&s, ct->table.id, SLICE_NONE, &ct->table.key, &ct->table.parts, f);
	for (unsigned i = 0; rc == ERR_OK && i < ct->table.gsis; i++) {
		const struct table_index *x = &ct->table.index[i];

		rc = show_parts(&s, x->id, x->name, &x->key, &x->parts, f);
	}
	view_close(&s.view);
	catalog_leave(&store->catalog, &r);
	arena_release(&s.arena);
	return rc;
}
