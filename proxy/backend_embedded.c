/* backend_embedded.c - the store in this process.
 *
 *    get, query --data fits in memory--> on the worker, at once
 *               --it does not----------> queue -> reader threads -> worker's mailbox -> done
 *    submit ------------------> store's writer thread -> worker's mailbox -> done
 *
 * When the database file is larger than the memory that could hold it, any read may fault a page in from disk and hold up
 * the worker's other connections for a millisecond. So reads then go to a few reader threads. The measure: pages in use of
 * LMDB's map, against MemAvailable of /proc/meminfo (which counts page cache as available), looked at once a second. What
 * fits stays on the worker: a hand-over costs two thread switches, more than the read itself. But for reads of many items,
 * which may be megabytes: copying them out of the store goes to the reader threads.
 *
 * T1. While a read of a reader is with the reader threads, or someone holds it, its catalog is held: quiesce does nothing
 *     (backend.h, B1).
 * T2. A read asked for inside another one's `done` waits until that has returned: each has a view of its own (B2).
 *
 * Locks: pool.lock alone, for the queue of reads. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/messages.h"
#include "protocol/thread.h"
#include "proxy/backend.h"
#include "proxy/fault_point.h"
#include "proxy/log.h"
#include "proxy/worker.h"

enum { READER_THREADS = 4, MANY_ITEMS = 16 };

struct pool_thread {
	struct embedded *e;
	struct store_reader *reader;
	pthread_t thread;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct backend_read *first, **last;
	bool stopping;
	unsigned threads;
	struct pool_thread thread[BACKEND_READERS_MAX];
};

struct embedded {
	struct backend base;
	struct store *store;
	struct pool pool;
	enum hand_over hand_over;
	_Atomic bool cold;               /* reads may wait for the disk */
};

struct backend_reader {
	struct embedded *e;
	struct worker *worker;
	struct store_reader *r;
	unsigned away;                   /* reads with the reader threads, and holds (T1) */
	bool busy;                       /* inside a read's done (T2) */
	struct backend_read *waiting, **last;
};

static struct embedded *of(struct backend *b)
{
	return (struct embedded *)(void *)b; /* base is its first member */
}

/* ---- carrying out a read, on any thread ---- */

static void read_all(struct store_reader *r, struct backend_read *rd)
{
	rd->result = ERR_OK;
	for (unsigned i = 0; i < rd->job.n && rd->result == ERR_OK; i++) {
		struct backend_key *k = &rd->job.keys[i];

		k->refused = ERR_OK;
		rd->result = store_read(r, k->table, k->key, k->hash, k->consistency, &k->item, &rd->fault);
		if (rd->partial && (rd->result == ERR_THROUGHPUT_EXCEEDED || rd->result == ERR_THROTTLING)) {
			k->refused = rd->result;
			k->item = SLICE_NONE;
			rd->result = ERR_OK;
		}
	}
}

static void job_run(struct store_reader *r, struct backend_read *rd)
{
	struct backend_job *j = &rd->job;

	fault_read_delay();
	switch (j->kind) {
	case BACKEND_GET:
		rd->result = store_read(r, j->table, j->key, j->hash, rd->consistency, &rd->item, &rd->fault);
		break;
	case BACKEND_GET_ALL:
		read_all(r, rd);
		break;
	case BACKEND_QUERY:
		rd->result = store_query_run(r, j->req, j->query, rd->out, &rd->fault);
		break;
	}
}

/* ---- on the worker ---- */

static void run_here(struct backend_reader *r, struct backend_read *rd)
{
	store_reader_release(r->r); /* a view that preparing has opened may be older than the call (B2) */
	job_run(r->r, rd);
	r->busy = true;
	rd->done(rd); /* rd may be gone */
	r->busy = false;
	store_reader_release(r->r);
}

static void run_waiting(struct backend_reader *r)
{
	while (r->waiting != NULL) {
		struct backend_read *rd = r->waiting;

		r->waiting = rd->job.next;
		if (r->waiting == NULL)
			r->last = &r->waiting;
		run_here(r, rd);
	}
}

static void pool_put(struct pool *p, struct backend_read *rd);

static bool goes_away(const struct embedded *e, const struct backend_job *j)
{
	return atomic_load_explicit(&e->cold, memory_order_relaxed) || (j->n >= MANY_ITEMS && e->hand_over != HAND_OVER_NEVER);
}

static void job_start(struct backend_reader *r, struct backend_read *rd)
{
	rd->job.reader = r;
	rd->job.next = NULL;
	buf_init(&rd->job.copy);
	rd->item = SLICE_NONE;
	if (goes_away(r->e, &rd->job)) {
		r->away++;
		pool_put(&r->e->pool, rd);
	} else if (r->busy) {
		*r->last = rd;
		r->last = &rd->job.next;
	} else {
		run_here(r, rd);
		run_waiting(r);
	}
}

static void op_get(struct backend_reader *r, const struct table *t, struct slice key, uint64_t hash, struct backend_read *rd)
{
	rd->job = (struct backend_job){ .kind = BACKEND_GET, .table = t, .key = key, .hash = hash };
	job_start(r, rd);
}

static void op_get_all(struct backend_reader *r, struct backend_key *key, unsigned n, struct backend_read *rd)
{
	rd->job = (struct backend_job){ .kind = BACKEND_GET_ALL, .keys = key, .n = n };
	job_start(r, rd);
}

static void op_query_run(struct backend_reader *r, const struct request *req, struct store_query *q, struct backend_read *rd)
{
	rd->job = (struct backend_job){ .kind = BACKEND_QUERY, .req = req, .query = q };
	job_start(r, rd);
}

/* ---- reader threads ---- */

static void pool_put(struct pool *p, struct backend_read *rd)
{
	pthread_mutex_lock(&p->lock);
	*p->last = rd;
	p->last = &rd->job.next;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

/* Back on the worker. */
static void deliver_read(struct mail *m)
{
	struct backend_read *rd =
		(struct backend_read *)(void *)((char *)m - offsetof(struct backend_read, job) - offsetof(struct backend_job, mail));
	struct backend_reader *r = rd->job.reader;
	struct buf copy = rd->job.copy;

	r->away--;
	if (rd->keep != NULL) {
		*rd->keep = copy;
		buf_init(&copy);
	}
	rd->done(rd);
	buf_release(&copy);
}

/* Items live as long as the view they came from, which is this thread's: take them along. */
static void copy_items(struct backend_read *rd)
{
	struct backend_job *j = &rd->job;
	struct buf *b = &j->copy;

	if (rd->result != ERR_OK || j->kind == BACKEND_QUERY)
		return;
	buf_put_slice(b, rd->item);
	for (unsigned i = 0; j->kind == BACKEND_GET_ALL && i < j->n; i++)
		buf_put_slice(b, j->keys[i].item);
	if (b->failed) {
		rd->result = fault_set(&rd->fault, MSG_NO_MEMORY);
		return;
	}
	if (slice_present(rd->item))
		rd->item.p = b->p;
	for (size_t i = 0, at = 0; j->kind == BACKEND_GET_ALL && i < j->n; i++)
		if (slice_present(j->keys[i].item)) {
			j->keys[i].item.p = b->p + at;
			at += j->keys[i].item.n;
		}
}

/* Bytes that can be had without paging anything out; UINT64_MAX if the system does not tell. */
static uint64_t memory_available(void)
{
	uint64_t kb = UINT64_MAX / 1024;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	if (f == NULL)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "MemAvailable: %" SCNu64, &kb) == 1)
			break;
	fclose(f);
	return kb * 1024;
}

static void measure(struct embedded *e)
{
	struct store_stats s;
	bool cold;

	if (e->hand_over != HAND_OVER_AUTO)
		return;
	store_stats(e->store, &s);
	cold = s.engine.map_used_bytes > memory_available();
	if (cold != atomic_exchange_explicit(&e->cold, cold, memory_order_relaxed))
		log_info("the database has %" PRIu64 " MB, which %s: reads run on %s threads", s.engine.map_used_bytes >> 20,
			cold ? "may not fit in memory" : "fits in memory", cold ? "reader" : "worker");
}

/* The next read, or NULL: the second is over, or it is time to stop. */
static struct backend_read *pool_take(struct pool *p, bool *stop)
{
	struct backend_read *rd;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&p->lock);
	while (p->first == NULL && !p->stopping)
		if (pthread_cond_timedwait(&p->more, &p->lock, &until) != 0)
			break;
	rd = p->first;
	if (rd != NULL) {
		p->first = rd->job.next;
		if (p->first == NULL)
			p->last = &p->first;
	}
	*stop = p->stopping && rd == NULL;
	pthread_mutex_unlock(&p->lock);
	return rd;
}

static void *reader_thread(void *arg)
{
	struct pool_thread *t = arg;
	struct embedded *e = t->e;
	struct store_reader *r = t->reader;
	uint64_t measured = 0;
	bool stop = false;

	while (!stop) {
		struct backend_read *rd = pool_take(&e->pool, &stop);

		if (rd != NULL) {
			struct worker *w = rd->job.reader->worker;

			job_run(r, rd);
			copy_items(rd);
			store_reader_release(r);
			rd->job.mail.deliver = deliver_read;
			mailbox_post(&w->mailbox, &rd->job.mail);
		}
		store_reader_quiesce(r);
		/* Whichever of the threads comes by; twice does no harm. */
		if (monotonic_ns() - measured > UINT64_C(1000000000)) {
			measured = monotonic_ns();
			measure(e);
		}
	}
	return NULL;
}

static bool pool_thread_start(struct embedded *e, unsigned i)
{
	struct pool_thread *t = &e->pool.thread[i];

	*t = (struct pool_thread){ .e = e, .reader = store_reader_new(e->store) };
	if (t->reader != NULL && thread_start(&t->thread, reader_thread, t, "reader-%u", i) == 0)
		return true;
	store_reader_free(&t->reader);
	return false;
}

static bool pool_start(struct embedded *e, unsigned threads)
{
	struct pool *p = &e->pool;

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	p->last = &p->first;
	threads = threads == 0 ? READER_THREADS : threads > BACKEND_READERS_MAX ? BACKEND_READERS_MAX : threads;
	while (p->threads < threads && pool_thread_start(e, p->threads))
		p->threads++;
	return p->threads > 0;
}

static void pool_stop(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->threads; i++) {
		pthread_join(p->thread[i].thread, NULL);
		store_reader_free(&p->thread[i].reader);
	}
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
}

/* ---- writes ---- */

/* A write on its way: where it goes when the writer is done with it. */
struct passage {
	struct mail mail;
	struct worker *worker;
	struct store_write *write;
	void (*done)(struct store_write *w);
	void *arg;
};

static void deliver_write(struct mail *m)
{
	struct passage *p = (struct passage *)(void *)m;
	struct store_write *w = p->write;

	w->done = p->done;
	w->arg = p->arg;
	w->done(w);
}

/* On the writer thread. */
static void write_done(struct store_write *w)
{
	struct passage *p = w->arg;

	mailbox_post(&p->worker->mailbox, &p->mail);
}

static enum err op_prepare(struct backend_reader *r, struct store_write *w)
{
	return store_prepare(r->r, w);
}

static void op_submit(struct backend_reader *r, struct store_write *w)
{
	struct passage *p = arena_alloc(w->req->arena, sizeof(*p));

	if (p == NULL) {
		store_forgo(w);
		w->result = fault_set(&w->fault, MSG_NO_MEMORY);
		w->done(w);
		return;
	}
	*p = (struct passage){ { NULL, deliver_write }, r->worker, w, w->done, w->arg };
	w->done = write_done;
	w->arg = p;
	store_submit(r->e->store, w);
}

/* ---- the rest ---- */

static struct backend_reader *op_reader_new(struct backend *b, struct worker *w)
{
	struct backend_reader *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->e = of(b);
	r->worker = w;
	r->last = &r->waiting;
	r->r = store_reader_new(r->e->store);
	if (r->r == NULL) {
		free(r);
		return NULL;
	}
	return r;
}

static void op_reader_free(struct backend_reader **rp)
{
	if (*rp == NULL)
		return;
	store_reader_free(&(*rp)->r);
	free(*rp);
	*rp = NULL;
}

static void op_quiesce(struct backend_reader *r)
{
	if (r->away == 0)
		store_reader_quiesce(r->r);
}

static void op_hold(struct backend_reader *r, bool on)
{
	r->away += on ? 1u : -1u;
}

static const struct table *op_table(struct backend_reader *r, struct slice name)
{
	return store_table(r->r, name);
}

static enum err op_query_prepare(struct backend_reader *r, const struct request *req, struct store_query *q, struct fault *f)
{
	return store_query_prepare(r->r, req, q, f);
}

static void op_query_end(struct backend_reader *r, struct store_query *q)
{
	(void)r;
	store_query_end(q);
}

static enum err op_describe(struct backend_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	enum err rc = store_describe(r->r, req, out, f);

	if (!r->busy)
		store_reader_release(r->r);
	return rc;
}

static bool op_ready(struct backend *b, const char **why)
{
	(void)b;
	*why = NULL;
	return true; /* an open store is a ready one: recovery was part of opening it */
}

static void op_stats(struct backend *b, struct store_stats *out)
{
	store_stats(of(b)->store, out);
}

static void op_meters(struct backend *b, store_meter_fn *fn, void *arg)
{
	store_meters(of(b)->store, fn, arg);
}

static enum err op_partitions(struct backend *b, struct slice table, store_partition_fn *fn, void *arg, struct fault *f)
{
	return store_partitions(of(b)->store, table, fn, arg, f);
}

static enum err op_autoscale_list(struct backend *b, struct slice table, store_autoscale_fn *fn, void *arg, struct fault *f)
{
	return store_autoscale_list(of(b)->store, table, fn, arg, f);
}

static enum err op_autoscale_set(struct backend *b, struct slice table, const struct store_autoscale *set, struct fault *f)
{
	return store_autoscale_set(of(b)->store, table, set, f);
}

static void op_indexes(struct backend *b, store_index_fn *fn, void *arg)
{
	store_indexes(of(b)->store, fn, arg);
}

static uint64_t op_set_map_max(struct backend *b, uint64_t bytes)
{
	return store_set_map_max(of(b)->store, bytes);
}

static void op_set_index_delay(struct backend *b, uint32_t ms)
{
	store_set_index_delay(of(b)->store, ms);
}

static uint32_t op_index_delay(struct backend *b)
{
	return store_index_delay(of(b)->store);
}

static void op_advance(struct backend *b, uint64_t ms)
{
	store_clock_advance(of(b)->store, ms);
}

static void op_wind_down(struct backend *b)
{
	store_wind_down(of(b)->store);
}

static void op_close(struct backend **b)
{
	struct embedded *e = of(*b);

	if (e->pool.last != NULL)
		pool_stop(&e->pool);
	store_close(&e->store);
	free(e);
	*b = NULL;
}

static const struct backend_ops embedded_ops = {
	.name = "embedded",
	.reader_new = op_reader_new,
	.reader_free = op_reader_free,
	.quiesce = op_quiesce,
	.hold = op_hold,
	.table = op_table,
	.get = op_get,
	.get_all = op_get_all,
	.query_prepare = op_query_prepare,
	.query = op_query_run,
	.query_end = op_query_end,
	.describe = op_describe,
	.prepare = op_prepare,
	.submit = op_submit,
	.ready = op_ready,
	.stats = op_stats,
	.meters = op_meters,
	.partitions = op_partitions,
	.autoscale_list = op_autoscale_list,
	.autoscale_set = op_autoscale_set,
	.indexes = op_indexes,
	.set_map_max = op_set_map_max,
	.set_index_delay = op_set_index_delay,
	.index_delay = op_index_delay,
	.advance = op_advance,
	.wind_down = op_wind_down,
	.close = op_close,
};

enum err backend_embedded_open(const struct embedded_opts *o, struct backend **b, struct fault *f)
{
	struct embedded *e = calloc(1, sizeof(*e));
	enum err rc;

	if (e == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	e->base.ops = &embedded_ops;
	e->hand_over = o->hand_over;
	atomic_init(&e->cold, o->hand_over == HAND_OVER_ALWAYS);
	rc = store_open(&o->store, &e->store, f);
	if (rc != ERR_OK) {
		free(e);
		return rc;
	}
	*b = &e->base;
	if (!pool_start(e, o->reader_threads)) {
		op_close(b);
		return fault_set(f, ERR_NO_MEMORY, "cannot start reader threads");
	}
	return ERR_OK;
}
