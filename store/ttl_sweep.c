/* ttl_sweep - the keeper's rounds over tables with a time to live: entering old items, deleting expired ones. */
#include "protocol/messages.h"
#include "store/check_key.h"
#include "store/item_apply.h"
#include "store/keeper.h"
#include "store/keycode.h"
#include "store/table_edit.h"
#include "store/ttl.h"

/* Small pages: the requests' writes wait for one at most. */
enum { FILL_PAGE = 256, SWEEP_PAGE = 64 };

/* A page on its way to the writer. */
struct ttl_page {
	uint32_t table, ttl_id;
	uint64_t from, to;           /* seconds that count as expired: [from, to) */
	struct slice key[FILL_PAGE]; /* of items to enter, or of entries whose items expired */
	unsigned n;
	bool last;                   /* of filling */
};

/* The table, if its time to live is still the one of the page. */
static const struct catalog_table *page_table(const struct write_batch *b, const struct ttl_page *p)
{
	const struct catalog_table *ct = catalog_find_id(b->catalog, p->table);

	return ct != NULL && ct->facts.ttl_id == p->ttl_id ? ct : NULL;
}

/* ---- the writer's half: deleting ---- */

static enum err expire(struct write_txn *t, const struct catalog_table *ct, struct slice ekey, struct slice item, struct fault *f)
{
	struct item_op op = { .kind = ITEM_DELETE, .table = ct->table.id, .ekey = ekey, .expired = true,
		.key = check_key_of(&ct->table, item, t->arena) };

	if (!slice_present(op.key))
		return fault_set(f, MSG_NO_MEMORY);
	if (!keycode_hash(&ct->table.key, op.key, &op.hash))
		return fault_set(f, MSG_KEY_SCHEMA);
	return item_apply(t, &op, false, f);
}

/* X2: only if the entry's time is still the item's, and expired. An entry without such an item just goes. */
static enum err sweep_entry(struct write_txn *t, const struct catalog_table *ct, const struct ttl_page *p, struct slice entry,
	struct fault *f)
{
	struct slice ekey = slice_of(entry.p + TTL_KEY_HEAD, entry.n - TTL_KEY_HEAD), item;
	struct engine *e = t->batch->store->engine;
	uint8_t head[TTL_KEY_HEAD];
	uint64_t second;
	enum err rc = engine_read(e, ekey, &item, f);

	if (rc != ERR_OK)
		return rc;
	if (ttl_second(item, ct->facts.ttl_attribute, &second) && second >= p->from && second < p->to
	    && memcmp(ttl_key_head(p->ttl_id, second, head).p, entry.p, TTL_KEY_HEAD) == 0)
		return expire(t, ct, ekey, item, f);
	engine_del(e, entry);
	return ERR_OK;
}

static enum err sweep_apply(struct write_batch *b, struct store_write *w)
{
	const struct ttl_page *p = w->plan->control;
	const struct catalog_table *ct = page_table(b, p);
	struct write_txn t;
	enum err rc = ERR_OK;

	if (ct == NULL)
		return ERR_OK;
	write_txn_begin(&t, b, w->req->arena);
	for (unsigned i = 0; i < p->n && rc == ERR_OK; i++)
		rc = sweep_entry(&t, ct, p, p->key[i], &w->fault);
	return write_txn_end(&t, rc, &w->fault);
}

/* ---- the writer's half: filling ---- */

static enum err declare_filled(struct write_batch *b, struct store_write *w, const struct catalog_table *ct)
{
	struct table_edit e;
	enum err rc = table_edit_begin(&e, b, w, ct);

	e.draft.facts.ttl_filling = false;
	return table_edit_end(&e, w, rc);
}

static enum err fill_apply(struct write_batch *b, struct store_write *w)
{
	const struct ttl_page *p = w->plan->control;
	const struct catalog_table *ct = page_table(b, p);
	struct write_txn t;
	enum err rc = ERR_OK;

	if (ct == NULL)
		return ERR_OK;
	if (p->last)
		return declare_filled(b, w, ct);
	write_txn_begin(&t, b, w->req->arena);
	for (unsigned i = 0; i < p->n && rc == ERR_OK; i++) {
		struct slice item;

		rc = engine_read(b->store->engine, p->key[i], &item, &w->fault);
		if (rc == ERR_OK)
			ttl_enter(&t, ct, p->key[i], item);
	}
	return write_txn_end(&t, rc, &w->fault);
}

/* ---- the keeper's half ---- */

/* The next table, by id, with a time to live (or one that is being filled); false if there is none. */
static bool next_table(struct keeper *k, bool filling, uint32_t *table, uint32_t *ttl_id)
{
	const struct catalog *c = catalog_current(&k->store->catalog, &k->reader);
	bool found = false;

	for (size_t i = 0; i < c->n && !found; i++) {
		const struct catalog_table *t = c->by_id[i];

		found = t->table.id > *table && t->facts.ttl_id != 0 && (!filling || t->facts.ttl_filling);
		if (found) {
			*table = t->table.id;
			*ttl_id = t->facts.ttl_id;
		}
	}
	catalog_quiesce(&k->reader);
	return found;
}

/* Pages of keys in [from, to), each given to apply. */
static enum err walk(struct keeper *k, const struct ttl_page *like, struct buf *from, struct slice to, unsigned page_max,
	enum err (*apply)(struct write_batch *b, struct store_write *w))
{
	bool end = false;
	enum err rc = ERR_OK;

	while (rc == ERR_OK && !end && !keeper_stopping(k)) {
		struct ttl_page *p = arena_alloc(&k->arena, sizeof *p);

		if (p == NULL)
			return ERR_NO_MEMORY;
		*p = *like;
		rc = key_page(k->store->engine, from, to, &k->arena, p->key, page_max, &p->n, NULL);
		end = p->n < page_max;
		if (rc == ERR_OK && p->n != 0)
			rc = own_write_run(&k->write, &k->arena, apply, p);
		arena_reset(&k->arena);
	}
	return rc == ERR_OK && !end ? ERR_BUSY : rc;
}

static void fill_table(struct keeper *k, uint32_t table, uint32_t ttl_id)
{
	struct ttl_page page = { .table = table, .ttl_id = ttl_id };
	struct buf lo, hi;

	buf_init(&lo);
	buf_init(&hi);
	keycode_segment(&lo, &hi, table, 0, 1);
	enum err rc = lo.failed || hi.failed ? ERR_NO_MEMORY : walk(k, &page, &lo, buf_slice(&hi), FILL_PAGE, fill_apply);

	page.last = true;
	if (rc == ERR_OK)
		rc = own_write_run(&k->write, &k->arena, fill_apply, &page);
	(void)rc; /* the next round begins again (X3) */
	arena_reset(&k->arena);
	buf_release(&lo);
	buf_release(&hi);
}

void ttl_fill(struct keeper *k)
{
	uint32_t table = 0, ttl_id;

	while (!keeper_stopping(k) && next_table(k, true, &table, &ttl_id))
		fill_table(k, table, ttl_id);
}

static void sweep_table(struct keeper *k, uint32_t table, uint32_t ttl_id)
{
	uint64_t now = store_now_ms(k->store) / 1000;
	struct ttl_page page = { .table = table, .ttl_id = ttl_id, .from = now - TTL_PAST_SECONDS, .to = now };
	uint8_t head[TTL_KEY_HEAD];
	struct buf from;

	buf_init(&from);
	buf_put_slice(&from, ttl_key_head(ttl_id, page.from, head));
	if (!from.failed) /* what fails is found again in the next round */
		(void)!walk(k, &page, &from, ttl_key_head(ttl_id, page.to, head), SWEEP_PAGE, sweep_apply);
	buf_release(&from);
}

void ttl_sweep(struct keeper *k)
{
	uint32_t table = 0, ttl_id;

	while (!keeper_stopping(k) && next_table(k, false, &table, &ttl_id))
		sweep_table(k, table, ttl_id);
}
