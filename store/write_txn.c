/* write_txn - see write_txn.h. */
#include "store/write_txn.h"

#include <stdlib.h>

#include "protocol/messages.h"
#include "store/big_endian.h"
#include "store/collection.h"

enum { COUNTERS_BYTES = 16 };

/* ---- counters: two big-endian numbers under 'c' ---- */

static enum err counters_decode(struct slice v, struct counters *c, struct fault *f)
{
	*c = (struct counters){ 0 };
	if (!slice_present(v))
		return ERR_OK;
	if (v.n != COUNTERS_BYTES)
		return fault_set(f, MSG_CATALOG_DAMAGED);
	*c = (struct counters){ .entries = be_get(v.p, 8), .bytes = be_get(v.p + 8, 8) };
	return ERR_OK;
}

enum err counters_read(struct engine *e, uint32_t id, struct counters *c, struct fault *f)
{
	uint8_t key[CATALOG_KEY_BYTES];
	struct slice v;
	enum err rc = engine_read(e, catalog_key('c', id, key), &v, f);

	return rc != ERR_OK ? rc : counters_decode(v, c, f);
}

enum err counters_view(struct view *view, uint32_t id, struct counters *c, struct fault *f)
{
	uint8_t key[CATALOG_KEY_BYTES];
	struct slice v;
	enum err rc = view_get(view, catalog_key('c', id, key), &v, f);

	return rc != ERR_OK ? rc : counters_decode(v, c, f);
}

static enum err put_counters(struct write_txn *t, struct fault *f)
{
	struct engine *e = t->batch->store->engine;

	for (unsigned i = 0; i < t->deltas; i++) {
		const struct counter_delta *d = &t->delta[i];
		struct counters c;
		enum err rc = counters_read(e, d->id, &c, f);
		uint8_t key[CATALOG_KEY_BYTES], value[COUNTERS_BYTES];

		if (rc != ERR_OK)
			return rc;
		if (d->entries == 0 && d->bytes == 0)
			continue; /* they cancelled out */
		be_put(value, c.entries + (uint64_t)d->entries, 8);
		be_put(value + 8, c.bytes + (uint64_t)d->bytes, 8);
		engine_put(e, catalog_key('c', d->id, key), slice_of(value, sizeof value));
	}
	return ERR_OK;
}

void write_txn_count(struct write_txn *t, uint32_t id, int64_t entries, int64_t bytes)
{
	if (entries == 0 && bytes == 0)
		return;
	for (unsigned i = 0; i < t->deltas; i++) {
		if (t->delta[i].id == id) {
			t->delta[i].entries += entries;
			t->delta[i].bytes += bytes;
			return;
		}
	}
	if (t->deltas == t->delta_cap) {
		unsigned cap = t->delta_cap != 0 ? 2 * t->delta_cap : 8;
		struct counter_delta *d = arena_alloc(t->arena, cap * sizeof *d);

		if (d == NULL) {
			t->failed = true;
			return;
		}
		if (t->deltas != 0)
			memcpy(d, t->delta, t->deltas * sizeof *d);
		t->delta = d;
		t->delta_cap = cap;
	}
	t->delta[t->deltas++] = (struct counter_delta){ id, entries, bytes };
}

/* ---- changes ---- */

void write_txn_change(struct write_txn *t, const struct store_change *c)
{
	struct write_batch *b = t->batch;

	if (b->changes == b->cap) {
		size_t cap = b->cap != 0 ? 2 * b->cap : 256;
		struct store_change *grown = realloc(b->change, cap * sizeof *grown);

		if (grown == NULL) {
			t->failed = true;
			return;
		}
		b->change = grown;
		b->cap = cap;
	}
	b->change[b->changes++] = *c;
}

/* ---- begin and end ---- */

void write_txn_begin(struct write_txn *t, struct write_batch *b, struct arena *a)
{
	*t = (struct write_txn){ .batch = b, .arena = a, .changes_before = b->changes, .marks_before = b->marks };
	engine_begin(b->store->engine);
}

static void forget(struct write_txn *t)
{
	t->batch->changes = t->changes_before;
	backlog_undo(t->batch, t->marks_before);
}

void write_txn_abort(struct write_txn *t)
{
	engine_abort(t->batch->store->engine);
	forget(t);
}

enum err write_txn_commit(struct write_txn *t, struct fault *f)
{
	uint64_t lsn;
	enum err rc = put_counters(t, f);

	collections_put(t);
	if (rc == ERR_OK && t->failed)
		rc = fault_set(f, MSG_NO_MEMORY);
	if (rc != ERR_OK) {
		write_txn_abort(t);
		return rc;
	}
	if (!t->grows)
		engine_makes_room(t->batch->store->engine);
	rc = engine_commit(t->batch->store->engine, &lsn, f);
	if (rc != ERR_OK) {
		forget(t);
		return rc;
	}
	t->batch->committed += lsn != 0;
	return ERR_OK;
}

enum err write_txn_end(struct write_txn *t, enum err rc, struct fault *f)
{
	if (rc == ERR_OK)
		return write_txn_commit(t, f);
	write_txn_abort(t);
	return rc;
}
