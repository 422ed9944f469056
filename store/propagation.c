/* propagation - see propagation.h. */
#include "store/propagation.h"

#include <stdlib.h>

#include "protocol/messages.h"
#include "protocol/thread.h"
#include "store/background.h"
#include "store/index_admit.h"
#include "store/partition.h"

/* Waits are short, whatever they are for: the system's clock may be set, and the test clock be moved. */
enum { PAGE_ROWS = 256, RETRY_MS = 250, WAIT_MS = 1000 };
#define PAGE_BYTES ((size_t)1024 * 1024)

struct propagation {
	struct store *store;
	pthread_t thread;
	struct rounds rounds;
	/* The thread's own. */
	struct own_write write;
	struct arena arena;          /* of one page */
	struct catalog_reader reader;
	unsigned wait_ms;            /* until something may be due */
};

/* A page on its way to the writer. */
struct page {
	uint32_t table, index;       /* ids */
	struct backlog_row row[PAGE_ROWS];
	unsigned n, carried;         /* carried: the writer's answer */
};

/* ---- the writer's half ---- */

/* Nothing is done, and that is right, if table or index have gone. What is put comes out of the rows, so it needs no room
 * (write_txn.h: grows). */
static enum err page_apply(struct write_batch *b, struct store_write *w)
{
	struct page *p = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, p->table);
	const struct table_index *x = ct != NULL ? catalog_find_index(&ct->table, p->index) : NULL;
	struct write_txn t;
	unsigned n = 0;

	if (x == NULL)
		return ERR_OK;
	write_txn_begin(&t, b, w->req->arena);
	for (; n < p->n && index_pay(b->store, &ct->table, x, &p->row[n].move); n++)
		index_move(&t, x, &p->row[n].move);
	enum err rc = write_txn_end(&t, backlog_remove(&t, x, p->row, n, n < p->n, &w->fault), &w->fault);

	p->carried = rc == ERR_OK ? n : 0;
	return rc;
}

/* ---- the thread's half ---- */

static void wait_at_most(struct propagation *p, uint64_t ms)
{
	if (ms < p->wait_ms)
		p->wait_ms = (unsigned)ms;
}

/* How many rows of the page are old enough; what the others wait for is noted. A row from the future is: the clock was set. */
static unsigned count_due(struct propagation *p, const struct page *page)
{
	uint64_t now = store_now_ms(p->store), delay = atomic_load_explicit(&p->store->index_delay_ms, memory_order_relaxed);

	for (unsigned i = 0; i < page->n; i++) {
		uint64_t time = page->row[i].time_ms;

		if (time <= now && now - time < delay) {
			wait_at_most(p, delay - (now - time) < WAIT_MS ? delay - (now - time) : WAIT_MS);
			return i;
		}
	}
	return page->n;
}

/* Carry out a page of an index's backlog from a row on; false if nothing could be done. */
static bool carry_page(struct propagation *p, uint32_t table, uint32_t index, uint64_t first)
{
	struct page *page = arena_alloc(&p->arena, sizeof *page);
	bool done = false;

	if (page != NULL) {
		*page = (struct page){ .table = table, .index = index };
		enum err rc = backlog_read(p->store, index, first, &p->arena, page->row, PAGE_ROWS, PAGE_BYTES, &page->n, NULL);
		unsigned due = rc == ERR_OK ? count_due(p, page) : 0;

		page->n = due;
		if (due != 0)
			rc = own_write_run(&p->write, &p->arena, page_apply, page);
		if (rc != ERR_OK || page->carried < due)
			wait_at_most(p, RETRY_MS);
		done = page->carried != 0;
	}
	arena_reset(&p->arena);
	return done;
}

/* The index with the next id that has a backlog: false if there is none. */
static bool next_index(struct propagation *p, uint32_t *table, uint32_t *index, uint64_t *first)
{
	const struct catalog *c = catalog_current(&p->store->catalog, &p->reader);
	uint32_t after = *index, best = UINT32_MAX;

	for (size_t i = 0; i < c->n; i++) {
		const struct table *t = &c->by_id[i]->table;

		for (unsigned k = 0; k < t->gsis; k++) {
			const struct table_index *x = &t->index[k];
			struct backlog_state s = backlog_look(x->backlog);

			if (x->id <= after || x->id >= best || s.first == s.next)
				continue;
			best = x->id;
			*table = t->id;
			*first = s.first;
		}
	}
	catalog_quiesce(&p->reader);
	*index = best;
	return best != UINT32_MAX;
}

/* A page of every index; false if none got on (R1). */
static bool carry_all(struct propagation *p)
{
	uint32_t table, index = 0;
	uint64_t first;
	bool some = false;

	while (!rounds_stopping(&p->rounds) && next_index(p, &table, &index, &first))
		some |= carry_page(p, table, index, first);
	return some;
}

static void *propagation_main(void *arg)
{
	struct propagation *p = arg;

	while (rounds_next(&p->rounds, p->wait_ms)) {
		do
			p->wait_ms = ROUNDS_UNTIL_WOKEN;
		while (carry_all(p));
	}
	return NULL;
}

/* ---- start and stop ---- */

enum err propagation_start(struct store *s, struct propagation **out, struct fault *f)
{
	struct propagation *p = calloc(1, sizeof *p);

	if (p == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	p->store = s;
	own_write_init(&p->write, s);
	arena_init(&p->arena, 0);
	catalog_join(&s->catalog, &p->reader);
	rounds_init(&p->rounds);
	if (thread_start(&p->thread, propagation_main, p, "propagation") != 0) {
		catalog_leave(&s->catalog, &p->reader);
		propagation_free(&p);
		return fault_set(f, MSG_NO_MEMORY);
	}
	*out = p;
	return ERR_OK;
}

void propagation_stop(struct propagation *p)
{
	rounds_stop(&p->rounds);
	pthread_join(p->thread, NULL);
	catalog_leave(&p->store->catalog, &p->reader);
}

void propagation_free(struct propagation **out)
{
	struct propagation *p = *out;

	if (p == NULL)
		return;
	own_write_release(&p->write);
	arena_release(&p->arena);
	rounds_release(&p->rounds);
	free(p);
	*out = NULL;
}

void propagation_wake(struct propagation *p)
{
	rounds_wake(&p->rounds);
}

void propagation_settle(struct propagation *p)
{
	rounds_settle(&p->rounds);
}

/* ---- looking ---- */

static struct store_index_state look(struct store *s, const struct table *t, const struct table_index *x, uint64_t items)
{
	struct backlog_state b = backlog_look(x->backlog);
	uint64_t now = store_now_ms(s);
	bool waits = b.first != b.next && b.oldest_ms < now;

	return (struct store_index_state){ .table = t->name, .index = x->name, .backlog = b.next - b.first, .carried = b.carried,
		.lag_ms = waits ? now - b.oldest_ms : 0, .building = !x->readable,
		.filled = atomic_load_explicit(&x->backlog->filled, memory_order_relaxed), .items = items };
}

void store_indexes(struct store *s, store_index_fn *fn, void *arg)
{
	struct catalog_reader r;
	struct view *v = NULL;

	catalog_join(&s->catalog, &r);
	const struct catalog *c = catalog_current(&s->catalog, &r);
	for (size_t i = 0; i < c->n; i++) {
		const struct table *t = &c->by_name[i]->table;
		struct counters n = { .entries = 0 };

		/* Without memory the size of a table is not known: 0. */
		if (c->by_name[i]->building && (v != NULL || view_open(s->engine, &v, NULL) == ERR_OK)
		    && partitions_view(v, &t->parts, &n, NULL) != ERR_OK)
			n.entries = 0;
		for (unsigned k = 0; k < t->gsis; k++) {
			struct store_index_state state = look(s, t, &t->index[k], n.entries);

			fn(arg, &state);
		}
	}
	view_close(&v);
	catalog_leave(&s->catalog, &r);
}
