/* client - the blocking client: a pool of connections, and requests that wait for their answers.
 *
 *    dynax_run_many:  jobs --borrow a link--> send all --poll, wire_turn--> ended
 *                       ^                                    \-- connection lost, throttled: may it be tried again?
 *                       '--------- wait (retry.h), next attempt -----------'
 *
 * C1. Each job ends once, at its deadline at the latest.
 * C2. A link is used by one thread at a time; the pool's lock is held for moments only, never across a system call that
 *     may block.
 *
 * Threads: any number, each inside dynax_run_many with a link of its own. */
#include "protocol/client/client_int.h"
#include "protocol/client/endpoint.h"
#include "protocol/client/retry.h"
#include "protocol/client/wire.h"
#include "protocol/monotonic.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* An idle connection that rested longer than this is looked at before it is used: the server may have gone. */
enum { RESTED_MS = 500 };

struct link {
	struct wire wire;
	uint64_t idle_since;      /* retry_now() */
	struct link *next;
};

struct dynax_client {
	struct dynax_opts opts;
	struct endpoint endpoint;
	bool bad_endpoint;        /* mistake says how */
	struct arena arena;       /* of mistake */
	struct fault mistake;
	pthread_mutex_t lock;
	pthread_cond_t freed;     /* a link came back, or may be made */
	struct link *idle;        /* lock; most recently used first */
	unsigned links;           /* lock; lent and idle */
};

enum job_state { JOB_WAITING, JOB_SENT, JOB_ENDED };

struct job {
	struct exchange x;
	struct batch *batch;
	struct slice record;
	enum op op;
	bool resend;
	enum job_state state;
	uint64_t deadline;              /* retry_now() */
	struct dynax_result **result;
};

/* What one call of dynax_run_many carries out. */
struct batch {
	struct job *job;
	size_t n, open, sent;           /* jobs; not ended; under way */
	bool last;                      /* this is the last attempt */
	struct fault fault;             /* why the connection ended */
	struct arena arena;
};

/* ---- opening and closing ---- */

struct dynax_client *dynax_open(const char *endpoint, const struct dynax_opts *opts)
{
	struct dynax_client *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->opts = retry_opts(opts);
	arena_init(&c->arena, 256);
	fault_init(&c->mistake, &c->arena);
	c->bad_endpoint = endpoint_parse(&c->endpoint, endpoint, ENDPOINT_DEFAULT_PORT, &c->mistake) != ERR_OK;
	pthread_mutex_init(&c->lock, NULL);
	monotonic_cond_init(&c->freed);
	return c;
}

static void link_free(struct link *l)
{
	wire_release(&l->wire);
	free(l);
}

void dynax_close(struct dynax_client **client)
{
	struct dynax_client *c = *client;

	if (c == NULL)
		return;
	while (c->idle != NULL) {
		struct link *l = c->idle;

		c->idle = l->next;
		link_free(l);
	}
	pthread_cond_destroy(&c->freed);
	pthread_mutex_destroy(&c->lock);
	arena_release(&c->arena);
	free(c);
	*client = NULL;
}

/* ---- waiting ---- */

static struct timespec timespec_of(uint64_t ms)
{
	return (struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };
}

/* Wait for the wire's socket, until `until` at most; false when that has passed. */
static bool wire_wait(const struct wire *w, uint64_t until)
{
	struct pollfd p = { .fd = w->fd, .events = (short)(wire_wants_write(w) ? POLLIN | POLLOUT : POLLIN) };
	uint64_t now = retry_now();

	if (now >= until)
		return false;
	return poll(&p, 1, (int)(until - now < INT32_MAX ? until - now : INT32_MAX)) != 0;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec t = timespec_of(ms);

	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

/* ---- the pool ---- */

/* Has a rested connection ended? Nothing is under way on it, so all that could arrive is its end. */
static bool link_stale(const struct link *l)
{
	struct pollfd p = { .fd = l->wire.fd, .events = POLLIN };

	return retry_now() - l->idle_since > RESTED_MS && poll(&p, 1, 0) != 0;
}

static void pool_return(struct dynax_client *c, struct link *l)
{
	bool usable = l->wire.state == WIRE_READY && l->wire.taken == 0;

	if (usable)
		l->idle_since = retry_now();
	pthread_mutex_lock(&c->lock);
	if (usable) {
		l->next = c->idle;
		c->idle = l;
	} else {
		c->links--;
	}
	pthread_cond_signal(&c->freed);
	pthread_mutex_unlock(&c->lock);
	if (!usable)
		link_free(l);
}

/* An idle link, or leave to make one (*l is NULL, and counted); false if the deadline passes before. */
static bool pool_borrow(struct dynax_client *c, uint64_t deadline, struct link **l)
{
	struct timespec until = timespec_of(deadline);
	bool ok = true;

	pthread_mutex_lock(&c->lock);
	while (c->idle == NULL && c->links >= c->opts.connections && ok)
		ok = pthread_cond_timedwait(&c->freed, &c->lock, &until) == 0;
	ok = c->idle != NULL || c->links < c->opts.connections;
	*l = c->idle;
	if (c->idle != NULL)
		c->idle = c->idle->next;
	else if (ok)
		c->links++;
	pthread_mutex_unlock(&c->lock);
	return ok;
}

static void pool_forget(struct dynax_client *c)
{
	pthread_mutex_lock(&c->lock);
	c->links--;
	pthread_cond_signal(&c->freed);
	pthread_mutex_unlock(&c->lock);
}

/* Connect and exchange greetings with one address. */
static enum err link_connect(struct link *l, const struct addresses *a, unsigned i, uint64_t until, struct fault *f)
{
	enum err e = wire_connect(&l->wire, (const struct sockaddr *)&a->at[i], a->len[i], f);

	while (e == ERR_OK && l->wire.state != WIRE_READY) {
		if (!wire_wait(&l->wire, until))
			e = fault_set(f, ERR_NETWORK, "%s", wire_late(&l->wire));
		else
			e = wire_turn(&l->wire, f);
	}
	if (e != ERR_OK)
		wire_close(&l->wire);
	return e;
}

/* Where the limit for connecting is, and no later than the deadline of the request. */
static uint64_t connect_until(const struct dynax_client *c, uint64_t deadline)
{
	uint64_t until = retry_now() + c->opts.connect_timeout_ms;

	return until < deadline ? until : deadline;
}

static struct link *link_open(struct dynax_client *c, uint64_t deadline, struct fault *f)
{
	struct link *l = calloc(1, sizeof(*l));
	struct addresses a;
	enum err e;

	if (l == NULL) {
		fault_set(f, ERR_NO_MEMORY, MSG_CLIENT_NO_MEMORY);
		return NULL;
	}
	wire_init(&l->wire);
	e = endpoint_resolve(&c->endpoint, &a, f);
	if (e == ERR_OK) {
		e = ERR_NETWORK;
		for (unsigned i = 0; i < a.n && e != ERR_OK; i++)
			e = link_connect(l, &a, i, connect_until(c, deadline), f);
		if (e != ERR_OK)
			endpoint_blame(&c->endpoint, f);
	}
	if (e == ERR_OK)
		return l;
	link_free(l);
	return NULL;
}

/* A link that is connected; NULL, with the fault set, if there is none before the deadline. */
static struct link *link_take(struct dynax_client *c, uint64_t deadline, struct fault *f)
{
	struct link *l;

	for (;;) {
		if (!pool_borrow(c, deadline, &l)) {
			fault_set(f, ERR_DEADLINE, "all %u connections are in use", c->opts.connections);
			return NULL;
		}
		if (l == NULL || !link_stale(l))
			break;
		pool_forget(c);
		link_free(l);
	}
	if (l == NULL)
		l = link_open(c, deadline, f);
	if (l == NULL)
		pool_forget(c);
	return l;
}

/* ---- jobs ---- */

static void job_end(struct job *j, struct dynax_result *r)
{
	if (j->state == JOB_SENT)
		j->batch->sent--;
	j->state = JOB_ENDED;
	j->batch->open--;
	*j->result = r;
}

static void job_fail(struct job *j, const struct fault *f)
{
	job_end(j, result_of_fault(j->op, f->code, f->text != NULL ? f->text : MSG_CLIENT_NO_MEMORY));
}

/* Back to the start, if that is allowed; else ended. r may be NULL: the batch's fault is the reason. */
static void job_again(struct job *j, enum err code, struct dynax_result *r)
{
	if (!j->batch->last && retry_allowed(j->op, j->resend, code, j->x.unsent)) {
		dynax_result_free(&r);
		if (j->state == JOB_SENT)
			j->batch->sent--;
		j->state = JOB_WAITING;
	} else if (r != NULL) {
		job_end(j, r);
	} else {
		job_fail(j, &j->batch->fault);
	}
}

static void job_done(struct exchange *x, const struct frame *fr)
{
	struct job *j = (struct job *)x;
	struct dynax_result *r;

	if (fr == NULL) {
		job_again(j, j->batch->fault.code, NULL);
		return;
	}
	r = result_of_frame(j->op, fr);
	if (dynax_ok(r))
		job_end(j, r);
	else
		job_again(j, (enum err)dynax_result_code(r), r);
}

/* With the reason, if the last attempt came to nothing by itself. */
static const char *late(struct batch *b)
{
	const char *text = NULL;

	if (b->fault.code != ERR_OK && b->fault.text != NULL)
		text = arena_printf(&b->arena, "no answer within the time limit: %s", b->fault.text);
	return text != NULL ? text : "no answer within the time limit";
}

static void jobs_expire(struct batch *b, struct wire *w)
{
	uint64_t now = retry_now();

	for (size_t i = 0; i < b->n; i++) {
		struct job *j = &b->job[i];

		if (j->state == JOB_ENDED || now < j->deadline)
			continue;
		if (j->state == JOB_SENT)
			wire_drop(w, &j->x);
		job_end(j, result_of_fault(j->op, ERR_DEADLINE, late(b)));
	}
}

static uint64_t earliest_deadline(const struct batch *b)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < b->n; i++)
		if (b->job[i].state != JOB_ENDED && b->job[i].deadline < first)
			first = b->job[i].deadline;
	return first;
}

static void jobs_send(struct batch *b, struct wire *w)
{
	uint64_t now = retry_now();

	for (size_t i = 0; i < b->n; i++) {
		struct job *j = &b->job[i];
		enum frame_kind kind = j->op == OP_COUNT ? FRAME_PING : FRAME_REQUEST;
		uint64_t left = j->deadline > now ? j->deadline - now : 1;
		struct fault f;

		if (j->state != JOB_WAITING)
			continue;
		fault_init(&f, &b->arena);
		if (wire_send(w, &j->x, kind, kind == FRAME_PING ? 0 : (uint8_t)j->op, j->record, (uint32_t)left, &f) != ERR_OK) {
			job_fail(j, &f);
			continue;
		}
		j->state = JOB_SENT;
		b->sent++;
	}
}

/* Send what waits, and stay until all that was sent has ended one way or the other. */
static void attempt(struct dynax_client *c, struct batch *b)
{
	uint64_t until = earliest_deadline(b);
	struct link *l;

	fault_init(&b->fault, &b->arena);
	l = link_take(c, until, &b->fault);
	if (l == NULL) {
		for (size_t i = 0; i < b->n; i++) {
			b->job[i].x.unsent = true;
			if (b->job[i].state == JOB_WAITING)
				job_again(&b->job[i], b->fault.code, NULL);
		}
		return;
	}
	jobs_send(b, &l->wire);
	/* Try at once: with one small request the socket takes it, and the wait comes after. */
	while (b->sent > 0) {
		if (wire_turn(&l->wire, &b->fault) != ERR_OK) {
			wire_close(&l->wire);
		} else if (b->sent > 0 && !wire_wait(&l->wire, until)) {
			jobs_expire(b, &l->wire);
			until = earliest_deadline(b);
		}
	}
	pool_return(c, l);
}

static void carry_out(struct dynax_client *c, struct batch *b)
{
	for (unsigned i = 1; b->open > 0; i++) {
		uint64_t wait, left, now;

		b->last = i >= c->opts.attempts;
		attempt(c, b);
		if (b->open == 0)
			break;
		now = retry_now();
		left = earliest_deadline(b);
		left = left > now ? left - now : 0;
		wait = retry_wait(&c->opts, i);
		sleep_ms(wait < left ? wait : left);
		jobs_expire(b, NULL);
	}
}

/* Encode req into the batch's memory; a mistake ends the job. */
static void job_init(struct dynax_client *c, struct batch *b, size_t i, const struct dynax_request *req,
	struct dynax_result **result)
{
	struct job *j = &b->job[i];
	unsigned limit = req != NULL && req->timeout_ms != 0 ? req->timeout_ms : c->opts.timeout_ms;
	struct fault f;
	struct buf out;

	*j = (struct job){ .x.done = job_done, .batch = b, .op = req != NULL ? req->op : OP_COUNT, .result = result,
		.resend = req != NULL && req->resend, .deadline = retry_now() + limit };
	fault_init(&f, &b->arena);
	buf_init(&out);
	if (request_put(req, &out, &f) == ERR_OK) {
		j->record = arena_copy(&b->arena, buf_slice(&out));
		if (!slice_present(j->record))
			fault_set(&f, ERR_NO_MEMORY, MSG_CLIENT_NO_MEMORY);
	}
	buf_release(&out);
	if (f.code != ERR_OK)
		job_fail(j, &f);
}

/* n jobs in memory of the batch; false if out of memory. */
static bool batch_init(struct batch *b, size_t n)
{
	*b = (struct batch){ .job = calloc(n, sizeof(*b->job)), .n = n, .open = n };
	arena_init(&b->arena, 4096);
	return b->job != NULL;
}

static void batch_run(struct dynax_client *c, struct batch *b)
{
	if (c->bad_endpoint) {
		for (size_t i = 0; i < b->n; i++)
			if (b->job[i].state != JOB_ENDED)
				job_fail(&b->job[i], &c->mistake);
	}
	carry_out(c, b);
	arena_release(&b->arena);
	free(b->job);
}

void dynax_run_many(struct dynax_client *c, const struct dynax_request *const *req, size_t n, struct dynax_result **result)
{
	struct batch b;

	for (size_t i = 0; i < n; i++)
		result[i] = NULL;
	if (n == 0 || !batch_init(&b, n))
		return;
	for (size_t i = 0; i < n; i++)
		job_init(c, &b, i, req[i], &result[i]);
	batch_run(c, &b);
}

struct dynax_result *dynax_run(struct dynax_client *c, const struct dynax_request *req)
{
	struct dynax_result *r;

	dynax_run_many(c, &req, 1, &r);
	return r;
}

struct dynax_result *dynax_ping(struct dynax_client *c)
{
	struct dynax_result *r = NULL;
	struct batch b;

	if (!batch_init(&b, 1))
		return NULL;
	b.job[0] = (struct job){ .x.done = job_done, .batch = &b, .op = OP_COUNT, .record = SLICE_LIT(""), .result = &r,
		.deadline = retry_now() + c->opts.timeout_ms };
	batch_run(c, &b);
	return r;
}
