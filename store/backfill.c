/* backfill - see backfill.h. Pages of keys go to the writer as writes of its own kind, whose apply is page_apply. */
#include "store/backfill.h"

#include <stdlib.h>

#include "protocol/messages.h"
#include "protocol/thread.h"
#include "store/background.h"
#include "store/index.h"
#include "store/keycode.h"
#include "store/table_edit.h"

enum { PAGE_ITEMS = 256, RETRY_MS = 500 };

struct backfill {
	struct store *store;
	pthread_t thread;
	struct rounds rounds;
	/* The thread's own. */
	struct own_write write;
	struct arena arena;          /* of one page */
	struct buf from;             /* where the next page begins */
	struct catalog_reader reader;
};

/* A page on its way to the writer. */
struct page {
	uint32_t table, index;       /* ids */
	struct slice key[PAGE_ITEMS];
	unsigned n;
	uint64_t before;             /* items of the pages before */
	bool last;                   /* nothing left: declare the index readable */
};

/* ---- the writer's half ---- */

static const struct table_index *find_building(const struct catalog_table *ct, uint32_t id)
{
	const struct table_index *x = ct != NULL ? catalog_find_index(&ct->table, id) : NULL;

	return x != NULL && !x->readable ? x : NULL;
}

static enum err fill_page(struct write_batch *b, struct store_write *w, const struct catalog_table *ct,
	const struct table_index *x, const struct page *p)
{
	struct write_txn t;
	enum err rc = ERR_OK;

	write_txn_begin(&t, b, w->req->arena);
	for (unsigned i = 0; i < p->n && rc == ERR_OK; i++) {
		struct slice item;

		rc = engine_read(b->store->engine, p->key[i], &item, &w->fault);
		if (rc == ERR_OK && slice_present(item))
			rc = index_fill(&t, &ct->table, x, item, &w->fault);
	}
	atomic_store_explicit(&x->backlog->filled, p->before + p->n, memory_order_relaxed);
	return write_txn_end(&t, rc, &w->fault);
}

static enum err declare_readable(struct write_batch *b, struct store_write *w, const struct catalog_table *ct,
	const struct table_index *x)
{
	struct table_edit e;
	enum err rc = table_edit_begin(&e, b, w, ct);

	if (rc == ERR_OK) {
		e.draft.building[x - ct->table.index] = false;
		write_txn_change(&e.txn, &(struct store_change){ .table = x->id, .whole = true });
	}
	return table_edit_end(&e, w, rc);
}

/* Nothing is done, and that is right, if table or index have gone. */
static enum err page_apply(struct write_batch *b, struct store_write *w)
{
	const struct page *p = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, p->table);
	const struct table_index *x = find_building(ct, p->index);

	if (x == NULL)
		return ERR_OK;
	return p->last ? declare_readable(b, w, ct, x) : fill_page(b, w, ct, x, p);
}

/* ---- the thread's half ---- */

/* The next page of the table's keys; p->n < PAGE_ITEMS at its end. */
static enum err read_page(struct backfill *b, struct page *p, struct fault *f)
{
	struct buf lo, hi;

	buf_init(&lo);
	buf_init(&hi);
	keycode_segment(&lo, &hi, p->table, 0, 1);
	if (b->from.n == 0)
		buf_put_slice(&b->from, buf_slice(&lo));
	enum err rc = lo.failed || hi.failed || b->from.failed ? fault_set(f, MSG_NO_MEMORY)
		: key_page(b->store->engine, &b->from, buf_slice(&hi), &b->arena, p->key, PAGE_ITEMS, &p->n, f);

	buf_release(&lo);
	buf_release(&hi);
	return rc;
}

/* A failure leaves the index unreadable, and a later round begins again (F2). */
static enum err fill_index(struct backfill *b, uint32_t table, uint32_t index)
{
	enum err rc = ERR_OK;
	uint64_t before = 0;
	bool end = false;

	buf_clear(&b->from);
	while (rc == ERR_OK && !end && !rounds_stopping(&b->rounds)) {
		struct page *p = arena_zalloc(&b->arena, sizeof *p);

		if (p == NULL)
			return ERR_NO_MEMORY;
		*p = (struct page){ .table = table, .index = index, .before = before };
		rc = read_page(b, p, NULL);
		end = p->n < PAGE_ITEMS;
		before += p->n;
		if (rc == ERR_OK && p->n != 0)
			rc = own_write_run(&b->write, &b->arena, page_apply, p);
		if (rc == ERR_OK && end) {
			*p = (struct page){ .table = table, .index = index, .last = true };
			rc = own_write_run(&b->write, &b->arena, page_apply, p);
		}
		arena_reset(&b->arena);
	}
	return rc;
}

/* The index with the next id that waits to be filled; false if there is none. */
static bool next_building(struct backfill *b, uint32_t *table, uint32_t *index)
{
	const struct catalog *c = catalog_current(&b->store->catalog, &b->reader);
	uint32_t after = *index, best = UINT32_MAX;

	for (size_t i = 0; i < c->n; i++) {
		const struct table *t = &c->by_id[i]->table;

		for (unsigned k = 0; k < t->gsis; k++) {
			if (t->index[k].readable || t->index[k].id <= after || t->index[k].id >= best)
				continue;
			*table = t->id;
			best = t->index[k].id;
		}
	}
	catalog_quiesce(&b->reader);
	*index = best;
	return best != UINT32_MAX;
}

static void *backfill_main(void *arg)
{
	struct backfill *b = arg;
	unsigned wait_ms = ROUNDS_UNTIL_WOKEN;

	while (rounds_next(&b->rounds, wait_ms)) {
		uint32_t table, index = 0;

		wait_ms = ROUNDS_UNTIL_WOKEN;
		while (!rounds_stopping(&b->rounds) && next_building(b, &table, &index))
			if (fill_index(b, table, index) != ERR_OK)
				wait_ms = RETRY_MS;
	}
	return NULL;
}

enum err backfill_start(struct store *s, struct backfill **out, struct fault *f)
{
	struct backfill *b = calloc(1, sizeof *b);

	if (b == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	b->store = s;
	own_write_init(&b->write, s);
	arena_init(&b->arena, 0);
	buf_init(&b->from);
	catalog_join(&s->catalog, &b->reader);
	rounds_init(&b->rounds);
	if (thread_start(&b->thread, backfill_main, b, "backfill") != 0) {
		catalog_leave(&s->catalog, &b->reader);
		own_write_release(&b->write);
		rounds_release(&b->rounds);
		free(b);
		return fault_set(f, MSG_NO_MEMORY);
	}
	*out = b;
	return ERR_OK;
}

void backfill_stop(struct backfill *b)
{
	rounds_stop(&b->rounds);
	pthread_join(b->thread, NULL);
	catalog_leave(&b->store->catalog, &b->reader);
}

void backfill_free(struct backfill **out)
{
	struct backfill *b = *out;

	if (b == NULL)
		return;
	own_write_release(&b->write);
	arena_release(&b->arena);
	buf_release(&b->from);
	rounds_release(&b->rounds);
	free(b);
	*out = NULL;
}

void backfill_wake(struct backfill *b)
{
	rounds_wake(&b->rounds);
}
