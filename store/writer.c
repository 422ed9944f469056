/* writer - see writer.h. A batch: apply each write, flush once, publish, then answer in order. */
#include "store/writer.h"

#include <pthread.h>
#include <stdlib.h>

#include "protocol/messages.h"
#include "protocol/monotonic.h"
#include "protocol/thread.h"
#include "store/backfill.h"
#include "store/propagation.h"
#include "store/write_plan.h"
#include "store/write_txn.h"

enum { BATCH_MAX = 1024 };
/* A batch ends with the write that brings its part of the log beyond this: one flush must not wait for hundreds of megabytes,
 * which small requests can make that change large items. */
#define BATCH_BYTES ((size_t)8 * 1024 * 1024)

struct writer {
	struct store *store;
	pthread_t thread;
	pthread_mutex_t lock;             /* of the next four */
	pthread_cond_t wake;
	struct store_write *head, **tail; /* the queue, oldest first */
	bool stopping;
	/* Stored by the writer thread alone, read by any. */
	_Atomic uint64_t writes, batches, batch_writes_max, batch_ns_total;
};

/* ---- the queue ---- */

void writer_submit(struct writer *w, struct store_write *write)
{
	write->next = NULL;
	pthread_mutex_lock(&w->lock);
	bool wake = w->head == NULL;

	*w->tail = write;
	w->tail = &write->next;
	pthread_mutex_unlock(&w->lock);
	if (wake)
		pthread_cond_signal(&w->wake);
}

/* Wait for work; the first writes of the queue, or NULL when stopping and all is done. */
static struct store_write *take(struct writer *w)
{
	struct store_write *list, **end = &list;

	pthread_mutex_lock(&w->lock);
	while (w->head == NULL && !w->stopping)
		pthread_cond_wait(&w->wake, &w->lock);
	list = w->head;
	for (unsigned n = 0; *end != NULL && n < BATCH_MAX; n++)
		end = &(*end)->next;
	w->head = *end;
	if (w->head == NULL)
		w->tail = &w->head;
	*end = NULL;
	pthread_mutex_unlock(&w->lock);
	return list;
}

/* ---- a batch ---- */

/* Run one write up to its commit. Answers that come to nothing leave the buffer as it was. */
static void apply(struct write_batch *b, struct store_write *w)
{
	w->plan->out_start = w->out->n;
	w->result = w->plan->apply(b, w);
	if (w->result != ERR_OK && !w->out->failed)
		w->out->n = w->plan->out_start;
}

static void publish(struct write_batch *b)
{
	struct store *s = b->store;
	const struct store_observer *o = &s->observer;

	if (o->begin != NULL && b->changes != 0)
		o->begin(o->arg, b->change, b->changes);
	/* The catalog after what it speaks of: see reader_view. */
	engine_publish(s->engine);
	bool rows = backlog_publish(b), described = b->next != NULL;

	if (described)
		catalog_publish(&s->catalog, b->next);
	b->next = NULL;
	if (o->end != NULL && b->changes != 0)
		o->end(o->arg, b->change, b->changes);
	if (b->wake_backfill)
		backfill_wake(s->backfill);
	b->wake_backfill = false;
	if (described)
		propagation_wake(s->propagation);
	else if (rows)
		propagation_rows(s->propagation);
}

/* The flush failed: the whole batch is undone, and what was decided on its state, failed conditions too, is void. */
static void fail_all(struct write_batch *b, struct store_write *list, const struct fault *why)
{
	for (struct store_write *w = list; w != NULL; w = w->next) {
		if (!w->out->failed)
			w->out->n = w->plan->out_start;
		w->fault.detail = SLICE_NONE;
		w->result = fault_set(&w->fault, why->code, "%s", why->text != NULL ? why->text : err_type(why->code));
	}
	backlog_undo(b, 0);
	catalog_discard(&b->next);
	b->wake_backfill = false;
}

/* As many writes of the list as a batch may have, one at least; cuts the others off and returns them. */
static struct store_write *apply_some(struct write_batch *b, struct store_write *list, unsigned *n)
{
	struct store_write *last = list, *rest;

	for (*n = 1;; ++*n) {
		apply(b, last);
		if (last->next == NULL || engine_batch_bytes(b->store->engine) >= BATCH_BYTES)
			break;
		last = last->next;
	}
	rest = last->next;
	last->next = NULL;
	return rest;
}

/* Returns what is left of the list. n: how many writes the batch has had. */
static struct store_write *run_batch(struct write_batch *b, struct store_write *list, unsigned *n)
{
	struct fault f;

	fault_init(&f, &b->arena);
	b->catalog = atomic_load(&b->store->catalog.current);
	b->changes = 0;
	b->marks = 0;
	b->committed = 0;
	struct store_write *rest = apply_some(b, list, n);

	if (b->committed == 0)
		engine_publish(b->store->engine); /* nothing: the view that conditions were judged on, which pins pages, is let go */
	else if (engine_flush(b->store->engine, &f) == ERR_OK)
		publish(b);
	else
		fail_all(b, list, &f);
	arena_reset(&b->arena);
	return rest;
}

static void answer(struct store_write *list)
{
	while (list != NULL) {
		struct store_write *next = list->next; /* done() may free the write */

		write_plan_release(list->plan);
		list->done(list);
		list = next;
	}
}

static void count(struct writer *w, unsigned writes, uint64_t ns)
{
	atomic_fetch_add_explicit(&w->writes, writes, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->batches, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->batch_ns_total, ns, memory_order_relaxed);
	if (writes > atomic_load_explicit(&w->batch_writes_max, memory_order_relaxed))
		atomic_store_explicit(&w->batch_writes_max, writes, memory_order_relaxed);
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	struct write_batch b = { .store = w->store };
	struct store_write *list, *rest = NULL;
	unsigned n;

	buf_init(&b.scratch);
	buf_init(&b.row);
	arena_init(&b.arena, 0);
	while ((list = rest != NULL ? rest : take(w)) != NULL) {
		uint64_t start = monotonic_ns();

		rest = run_batch(&b, list, &n);
		count(w, n, monotonic_ns() - start);
		answer(list);
	}
	buf_release(&b.scratch);
	buf_release(&b.row);
	arena_release(&b.arena);
	free(b.change);
	free(b.mark);
	return NULL;
}

/* ---- start and stop ---- */

enum err writer_start(struct store *s, struct writer **out, struct fault *f)
{
	struct writer *w = calloc(1, sizeof *w);

	if (w == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	w->store = s;
	w->tail = &w->head;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	if (thread_start(&w->thread, writer_main, w, "writer") != 0) {
		pthread_cond_destroy(&w->wake);
		pthread_mutex_destroy(&w->lock);
		free(w);
		return fault_set(f, MSG_NO_MEMORY);
	}
	*out = w;
	return ERR_OK;
}

void writer_stop(struct writer **w)
{
	if (*w == NULL)
		return;
	pthread_mutex_lock(&(*w)->lock);
	(*w)->stopping = true;
	pthread_mutex_unlock(&(*w)->lock);
	pthread_cond_signal(&(*w)->wake);
	pthread_join((*w)->thread, NULL);
	pthread_cond_destroy(&(*w)->wake);
	pthread_mutex_destroy(&(*w)->lock);
	free(*w);
	*w = NULL;
}

void writer_stats(struct writer *w, struct store_stats *out)
{
	out->writes = atomic_load_explicit(&w->writes, memory_order_relaxed);
	out->batches = atomic_load_explicit(&w->batches, memory_order_relaxed);
	out->batch_writes_max = atomic_load_explicit(&w->batch_writes_max, memory_order_relaxed);
	out->batch_ns_total = atomic_load_explicit(&w->batch_ns_total, memory_order_relaxed);
}
