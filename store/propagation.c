/* propagation - see propagation.h. */
#include "store/propagation.h"

#include <stdlib.h>

#include "protocol/messages.h"
#include "protocol/monotonic.h"
#include "protocol/thread.h"
#include "store/background.h"
#include "store/held.h"
#include "store/index_admit.h"
#include "store/partition.h"

/* Waits are short, whatever they are for: the system's clock may be set, and the test clock be moved. */
enum { PAGE_ROWS = 256, RETRY_MS = 250, WAIT_MS = 1000 };
#define PAGE_BYTES ((size_t)1024 * 1024)

/* How far a backlog has been looked through, since it was begun at its first row. */
struct walk {
	uint32_t index;
	unsigned call;               /* of propagation_wake, the last before it was begun */
	uint64_t begun_ns;           /* monotonic */
	uint64_t goal;               /* what it is to look at: up to where the backlog ended then, or rows are not due */
	uint64_t next;               /* the number to go on with */
	uint64_t first_held;         /* the first row that has been passed by; NONE */
	struct held held;            /* items and partitions of those */
	bool stopped;                /* nothing more can be done until it is begun anew */
	struct walk *more;
};
#define NONE UINT64_MAX

struct propagation {
	struct store *store;
	pthread_t thread;
	struct rounds rounds;
	_Atomic unsigned calls;      /* of propagation_wake */
	/* The thread's own. */
	struct walk *walks;          /* of indexes that have, or had, a backlog */
	struct own_write write;
	struct arena arena;          /* of one page */
	struct catalog_reader reader;
	unsigned wait_ms;            /* until something may be due */
};

/* A page on its way to the writer. */
struct page {
	uint32_t table;              /* id */
	struct walk *walk;           /* the writer's meanwhile */
	struct backlog_row row[PAGE_ROWS];
	unsigned n;
	uint64_t after;              /* number of what comes behind */
};

/* ---- the writer's half ---- */

static uint64_t part_id(const struct table_index *x, uint64_t hash)
{
	return partition_at(&x->parts, hash)->id;
}

/* R3 */
static bool waits_behind(const struct walk *w, const struct table_index *x, const struct backlog_row *r)
{
	const struct index_move *m = &r->move;

	return held_has(&w->held, r->item) || (m->before.cost != 0 && held_has(&w->held, part_id(x, m->before.hash)))
		|| (m->after.cost != 0 && held_has(&w->held, part_id(x, m->after.hash)));
}

/* Charge a row; false if it has to wait. Then the walk goes on if what has to wait behind it can be noted. */
static bool pay(struct walk *w, struct store *s, const struct table *t, const struct table_index *x, const struct backlog_row *r)
{
	uint64_t hash;
	bool noted = true;

	if (!waits_behind(w, x, r)) {
		enum throughput_spent why = index_pay(s, t, x, &r->move, &hash);

		if (why == SPENT_NONE)
			return true;
		noted = why == SPENT_PARTITION && held_add(&w->held, part_id(x, hash));
	}
	if (w->first_held == NONE)
		w->first_held = r->number;
	w->stopped = !noted || !held_add(&w->held, r->item);
	return false;
}

/* Make the changes of the rows that can be paid for; they are moved to the front. */
static unsigned move_paid(struct write_txn *t, struct page *p, const struct table *table, const struct table_index *x)
{
	unsigned paid = 0;

	for (unsigned i = 0; i < p->n && !p->walk->stopped; i++) {
		if (!pay(p->walk, t->batch->store, table, x, &p->row[i]))
			continue;
		index_move(t, x, &p->row[i].move);
		p->row[paid++] = p->row[i];
	}
	return paid;
}

/* Nothing is done, and that is right, if table or index have gone. What is put comes out of the rows, so it needs no room
 * (write_txn.h: grows). */
static enum err page_apply(struct write_batch *b, struct store_write *w)
{
	struct page *p = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, p->table);
	const struct table_index *x = ct != NULL ? catalog_find_index(&ct->table, p->walk->index) : NULL;
	struct write_txn t;

	if (x == NULL)
		return ERR_OK;
	write_txn_begin(&t, b, w->req->arena);
	const struct backlog_state *s = &x->backlog->now;
	unsigned n = move_paid(&t, p, &ct->table, x);
	bool unpaid = p->walk->first_held != NONE, passed_all = !p->walk->stopped && p->after == s->next;
	struct backlog_waits waits = { unpaid, p->walk->stopped || (s->waits.in_line && !passed_all) };

	if (n == 0 && waits.unpaid == s->waits.unpaid && waits.in_line == s->waits.in_line) {
		write_txn_abort(&t);
		return ERR_OK;
	}
	enum err rc = backlog_remove(&t, x, p->row, n, unpaid ? p->walk->first_held : p->after, waits, &w->fault);

	return write_txn_end(&t, rc, &w->fault);
}

/* ---- the thread's half ---- */

static void wait_at_most(struct propagation *p, uint64_t ms)
{
	if (ms < p->wait_ms)
		p->wait_ms = (unsigned)ms;
}

/* What has come since it was begun need not be waited for. */
static bool walk_over(const struct walk *w)
{
	return w->stopped || w->next >= w->goal;
}

/* End walks that are over, now and then, and all that a call asks to be begun anew. */
static void end_walks(struct propagation *p, bool all)
{
	unsigned calls = atomic_load(&p->calls);
	uint64_t now = monotonic_ns();

	for (struct walk **at = &p->walks, *w; (w = *at) != NULL;) {
		if (!all && w->call == calls && !(walk_over(w) && now - w->begun_ns >= RETRY_MS * UINT64_C(1000000))) {
			at = &w->more;
			continue;
		}
		*at = w->more;
		held_release(&w->held);
		free(w);
	}
}

/* NULL if there is none. */
static struct walk *find_walk(const struct propagation *p, uint32_t index)
{
	struct walk *w = p->walks;

	while (w != NULL && w->index != index)
		w = w->more;
	return w;
}

/* The index's walk, which may begin; NULL if out of memory. */
static struct walk *take_walk(struct propagation *p, uint32_t index, const struct backlog_state *s)
{
	struct walk *w = find_walk(p, index);

	if (w != NULL || (w = calloc(1, sizeof *w)) == NULL)
		return w;
	*w = (struct walk){ .index = index, .call = atomic_load(&p->calls), .begun_ns = monotonic_ns(), .goal = s->next,
		.next = s->first, .first_held = NONE, .more = p->walks };
	p->walks = w;
	return w;
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

/* Rows of the walk that are due. What comes behind a page with none in the view has the number `next`, if that is not in it. */
static enum err read_page(struct propagation *p, struct page *page, uint64_t next)
{
	enum err rc = backlog_read(p->store, page->walk->index, page->walk->next, &p->arena, page->row, PAGE_ROWS, PAGE_BYTES,
		&page->n, &page->after, NULL);
	unsigned due = rc == ERR_OK ? count_due(p, page) : 0;

	if (due < page->n)
		page->walk->goal = page->after = page->row[due].number;
	else if (page->after == NONE && page->n != 0 && page->row[page->n - 1].number >= next)
		page->after = page->row[page->n - 1].number + 1;
	else if (page->after == NONE)
		page->after = next;
	page->n = due;
	return rc;
}

/* Go through a page of an index's backlog; false if there was nothing to go through. */
static bool carry_page(struct propagation *p, uint32_t table, uint32_t index, const struct backlog_state *s)
{
	struct page *page = arena_alloc(&p->arena, sizeof *page);
	struct walk *w = take_walk(p, index, s);
	bool further = false;

	if (page != NULL && w != NULL) {
		*page = (struct page){ .table = table, .walk = w };
		enum err rc = read_page(p, page, s->next);

		if (rc == ERR_OK && page->n != 0)
			rc = own_write_run(&p->write, &p->arena, page_apply, page);
		further = rc == ERR_OK && page->n != 0;
		w->stopped |= rc != ERR_OK;
		w->next = page->after;
	}
	arena_reset(&p->arena);
	if (page == NULL || w == NULL || w->stopped || w->first_held != NONE)
		wait_at_most(p, RETRY_MS);
	return further;
}

/* The index with the next id that has rows to be looked at: false if there is none. */
static bool next_index(struct propagation *p, uint32_t *table, uint32_t *index, struct backlog_state *state)
{
	const struct catalog *c = catalog_current(&p->store->catalog, &p->reader);
	uint32_t after = *index, best = UINT32_MAX;

	for (size_t i = 0; i < c->n; i++) {
		const struct table *t = &c->by_id[i]->table;

		for (unsigned k = 0; k < t->gsis; k++) {
			const struct table_index *x = &t->index[k];
			struct backlog_state s = backlog_look(x->backlog);
			const struct walk *w;

			if (x->id <= after || x->id >= best || s.first == s.next)
				continue;
			w = find_walk(p, x->id);
			if (w != NULL && (w->stopped || w->next >= s.next)) {
				wait_at_most(p, RETRY_MS);
				continue;
			}
			best = x->id;
			*table = t->id;
			*state = s;
		}
	}
	catalog_quiesce(&p->reader);
	*index = best;
	return best != UINT32_MAX;
}

/* A page of every index; false if none got on (R1). */
static bool carry_all(struct propagation *p)
{
	struct backlog_state s = { .first = 0 };
	uint32_t table, index = 0;
	bool some = false;

	end_walks(p, false);
	while (!rounds_stopping(&p->rounds) && next_index(p, &table, &index, &s))
		some |= carry_page(p, table, index, &s);
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

void propagation_wind_down(struct propagation *p)
{
	rounds_stop(&p->rounds);
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
	end_walks(p, true);
	own_write_release(&p->write);
	arena_release(&p->arena);
	rounds_release(&p->rounds);
	free(p);
	*out = NULL;
}

void propagation_rows(struct propagation *p)
{
	rounds_wake(&p->rounds);
}

void propagation_wake(struct propagation *p)
{
	atomic_fetch_add(&p->calls, 1);
	rounds_wake(&p->rounds);
}

void propagation_settle(struct propagation *p)
{
	atomic_fetch_add(&p->calls, 1);
	rounds_settle(&p->rounds);
}

/* ---- looking ---- */

static struct store_index_state look(struct store *s, const struct table *t, const struct table_index *x, uint64_t items)
{
	struct backlog_state b = backlog_look(x->backlog);
	uint64_t now = store_now_ms(s);
	bool waits = b.first != b.next && b.oldest_ms < now;

	return (struct store_index_state){ .table = t->name, .index = x->name, .backlog = b.rows, .carried = b.carried,
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
