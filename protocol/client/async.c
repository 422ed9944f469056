/* async - the asynchronous client: one connection on a libevent base, many requests under way.
 *
 *    dynax_async_run --> task --connected--> wire --answer--> done()
 *                          \--not connected, or to be tried again--> waiting list --timer, connection--> wire
 *
 *    IDLE --task--> CONNECTING --HELLO--> UP --ends--> IDLE, or BACKOFF if tasks wait --timer--> CONNECTING
 *
 * A1. A task's callback is called once, from the loop: by its answer, its timer, or the end of its attempts.
 * A2. What one loop turn queues is written at its end, in one system call (the flush event).
 * A3. The callback may run further requests, but not free the client.
 *
 * Threads: that of the event_base. */
#include "protocol/client/client_int.h"
#include "protocol/client/endpoint.h"
#include "protocol/client/retry.h"
#include "protocol/client/wire.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>

enum async_state { ASYNC_IDLE, ASYNC_CONNECTING, ASYNC_UP, ASYNC_BACKOFF, ASYNC_FREED };

/* A list that ends in itself. */
struct line {
	struct line *next, *prev;
};

struct task {
	struct exchange x;
	struct line line;               /* in a->waiting, if `waits` */
	bool waits;
	struct dynax_async *a;
	enum op op;
	bool resend;
	unsigned failures;
	uint64_t deadline;              /* retry_now() */
	struct event timer;             /* the deadline */
	struct dynax_result *result;    /* made already (a mistake): the callback is all that is left */
	dynax_done done;
	void *arg;
	size_t n;
	uint8_t record[];
};

struct dynax_async {
	struct event_base *base;
	struct dynax_opts opts;
	struct endpoint endpoint;
	struct addresses addresses;
	unsigned next_address;
	struct arena arena;             /* of fault */
	struct fault fault;             /* why the connection ended, or the endpoint is bad */
	bool bad_endpoint;
	enum async_state state;
	struct wire wire;
	struct event io_read, io_write, flush, timer;   /* timer: connecting takes too long, backoff is over */
	struct line waiting;            /* tasks that are not under way, in order */
	size_t pending;
	unsigned failures;              /* connections that failed in a row */
};

static void start(struct dynax_async *a);
static void connection_ended(struct dynax_async *a);

static void arm(struct event *timer, unsigned ms)
{
	struct timeval t = { .tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000) * 1000 };

	event_add(timer, &t);
}

/* ---- tasks ---- */

static struct task *task_in(struct line *l)
{
	return (struct task *)(void *)((char *)l - offsetof(struct task, line));
}

static bool nobody_waits(const struct dynax_async *a)
{
	return a->waiting.next == &a->waiting;
}

static void wait_in_line(struct task *t)
{
	struct line *head = &t->a->waiting;

	t->waits = true;
	t->line.prev = head->prev;
	t->line.next = head;
	head->prev->next = &t->line;
	head->prev = &t->line;
}

static void leave_line(struct task *t)
{
	if (!t->waits)
		return;
	t->waits = false;
	t->line.prev->next = t->line.next;
	t->line.next->prev = t->line.prev;
}

/* r belongs to the callback. The task is gone afterwards. */
static void task_end(struct task *t, struct dynax_result *r)
{
	dynax_done done = t->done;
	void *arg = t->arg;

	leave_line(t);
	event_del(&t->timer);
	t->a->pending--;
	free(t);
	done(r, arg);
}

static void task_fail(struct task *t, const struct fault *f)
{
	task_end(t, result_of_fault(t->op, f->code, f->text != NULL ? f->text : MSG_CLIENT_NO_MEMORY));
}

/* Try again if there are attempts left and it is allowed; r may be NULL: the connection's fault is the reason. */
static void task_again(struct task *t, enum err code, struct dynax_result *r)
{
	if (++t->failures < t->a->opts.attempts && retry_allowed(t->op, t->resend, code, t->x.unsent)) {
		dynax_result_free(&r);
		wait_in_line(t);
		if (t->a->state == ASYNC_UP && !evtimer_pending(&t->a->timer, NULL))
			arm(&t->a->timer, retry_wait(&t->a->opts, t->failures));
	} else if (r != NULL) {
		task_end(t, r);
	} else {
		task_fail(t, &t->a->fault);
	}
}

static void task_done(struct exchange *x, const struct frame *fr)
{
	struct task *t = (struct task *)x;
	struct dynax_result *r;

	if (fr == NULL) {
		task_again(t, t->a->fault.code, NULL);
		return;
	}
	r = result_of_frame(t->op, fr);
	if (dynax_ok(r))
		task_end(t, r);
	else
		task_again(t, (enum err)dynax_result_code(r), r);
}

static void task_expired(evutil_socket_t fd, short what, void *arg)
{
	struct task *t = arg;

	(void)fd;
	(void)what;
	if (!t->waits)
		wire_drop(&t->a->wire, &t->x);
	task_end(t, result_of_fault(t->op, ERR_DEADLINE, "no answer within the time limit"));
}

/* Hand a task to the connection, which is up. */
static enum err task_send(struct task *t, struct fault *f)
{
	uint64_t now = retry_now();
	uint32_t left = t->deadline > now ? (uint32_t)(t->deadline - now) : 1;

	return wire_send(&t->a->wire, &t->x, FRAME_REQUEST, (uint8_t)t->op, slice_of(t->record, t->n), left, f);
}

/* Walk those who wait now: callbacks only append to the line, and who comes later has a later turn. */
static void each_waiting(struct dynax_async *a, void (*visit)(struct task *t))
{
	struct line *l = a->waiting.next, *last = a->waiting.prev;
	bool more = !nobody_waits(a);

	while (more) {
		struct line *next = l->next;

		more = l != last;
		visit(task_in(l));
		l = next;
	}
}

static void send_one(struct task *t)
{
	struct fault f;

	fault_init(&f, &t->a->arena);
	if (task_send(t, &f) == ERR_OK)
		leave_line(t);
	else
		task_fail(t, &f);
}

static void send_waiting(struct dynax_async *a)
{
	each_waiting(a, send_one);
	event_active(&a->flush, 0, 0);
}

/* Ends a task that cannot be sent: it has a mistake, or the endpoint has one. */
static void end_hopeless(struct task *t)
{
	struct dynax_async *a = t->a;

	if (t->result != NULL)
		task_end(t, t->result);
	else if (a->bad_endpoint)
		task_fail(t, &a->fault);
}

/* One that waited for a connection that failed. */
static void fail_waiting(struct task *t)
{
	leave_line(t);
	t->x.unsent = true;
	task_again(t, t->a->fault.code, NULL);
}

/* ---- the connection ---- */

static void watch(struct dynax_async *a)
{
	if (wire_wants_write(&a->wire))
		event_add(&a->io_write, NULL);
	else
		event_del(&a->io_write);
}

static void turn(struct dynax_async *a)
{
	arena_reset(&a->arena);
	fault_init(&a->fault, &a->arena);
	if (wire_turn(&a->wire, &a->fault) != ERR_OK) {
		connection_ended(a);
		return;
	}
	if (a->state == ASYNC_CONNECTING && a->wire.state == WIRE_READY) {
		a->state = ASYNC_UP;
		a->failures = 0;
		evtimer_del(&a->timer);
		send_waiting(a);
	}
	watch(a);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	turn(arg);
}

/* The end of a loop turn in which something was queued. */
static void on_flush(evutil_socket_t fd, short what, void *arg)
{
	struct dynax_async *a = arg;

	(void)fd;
	(void)what;
	each_waiting(a, end_hopeless);
	if (a->state == ASYNC_IDLE && !nobody_waits(a))
		start(a);
	else if (a->state == ASYNC_UP)
		turn(a);
}

static void unwatch(struct dynax_async *a)
{
	if (a->state == ASYNC_CONNECTING || a->state == ASYNC_UP) {
		event_del(&a->io_read);
		event_del(&a->io_write);
	}
	evtimer_del(&a->timer);
}

/* Those that wait have failed once more; those under way end, or join them, as the wire closes. */
static void connection_ended(struct dynax_async *a)
{
	if (a->wire.state != WIRE_READY)
		endpoint_blame(&a->endpoint, &a->fault);
	unwatch(a);
	a->state = ASYNC_BACKOFF;
	a->failures++;
	each_waiting(a, fail_waiting);
	wire_close(&a->wire);
	if (!nobody_waits(a))
		arm(&a->timer, retry_wait(&a->opts, a->failures));
	else
		a->state = ASYNC_IDLE;
}

/* Connect to the next address. */
static void start(struct dynax_async *a)
{
	unsigned i = a->next_address++ % a->addresses.n;

	arena_reset(&a->arena);
	fault_init(&a->fault, &a->arena);
	if (wire_connect(&a->wire, (const struct sockaddr *)&a->addresses.at[i], a->addresses.len[i], &a->fault) != ERR_OK) {
		connection_ended(a);
		return;
	}
	a->state = ASYNC_CONNECTING;
	event_assign(&a->io_read, a->base, a->wire.fd, EV_READ | EV_PERSIST, on_socket, a);
	event_assign(&a->io_write, a->base, a->wire.fd, EV_WRITE | EV_PERSIST, on_socket, a);
	event_add(&a->io_read, NULL);
	event_add(&a->io_write, NULL);
	arm(&a->timer, a->opts.connect_timeout_ms);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct dynax_async *a = arg;

	(void)fd;
	(void)what;
	switch (a->state) {
	case ASYNC_CONNECTING:
		fault_set(&a->fault, ERR_NETWORK, "%s", wire_late(&a->wire));
		connection_ended(a);
		break;
	case ASYNC_UP:
		send_waiting(a);
		break;
	case ASYNC_BACKOFF:
		a->state = ASYNC_IDLE;
		if (!nobody_waits(a))
			start(a);
		break;
	case ASYNC_IDLE:
	case ASYNC_FREED:
		break;
	}
}

/* ---- the interface ---- */

struct dynax_async *dynax_async_new(struct event_base *base, const char *endpoint, const struct dynax_opts *opts)
{
	struct dynax_async *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->base = base;
	a->opts = retry_opts(opts);
	a->waiting.next = a->waiting.prev = &a->waiting;
	arena_init(&a->arena, 256);
	fault_init(&a->fault, &a->arena);
	wire_init(&a->wire);
	event_assign(&a->flush, base, -1, 0, on_flush, a);
	evtimer_assign(&a->timer, base, on_timer, a);
	a->bad_endpoint = endpoint_parse(&a->endpoint, endpoint, ENDPOINT_DEFAULT_PORT, &a->fault) != ERR_OK
		|| endpoint_resolve(&a->endpoint, &a->addresses, &a->fault) != ERR_OK;
	return a;
}

void dynax_async_free(struct dynax_async **async)
{
	struct dynax_async *a = *async;

	if (a == NULL)
		return;
	/* No attempt is left for anybody. */
	a->opts.attempts = 0;
	if (!a->bad_endpoint)
		fault_set(&a->fault, ERR_NETWORK, "the client was freed");
	unwatch(a);
	a->state = ASYNC_FREED;
	wire_close(&a->wire);
	while (!nobody_waits(a)) {
		struct task *t = task_in(a->waiting.next);

		if (t->result != NULL)
			task_end(t, t->result);
		else
			task_fail(t, &a->fault);
	}
	event_del(&a->flush);
	wire_release(&a->wire);
	arena_release(&a->arena);
	free(a);
	*async = NULL;
}

/* A task with a copy of the record, or of the mistake; NULL if out of memory. */
static struct task *task_new(struct dynax_async *a, const struct dynax_request *req, struct slice record,
	const struct fault *f)
{
	struct task *t = calloc(1, sizeof(*t) + record.n);

	if (t == NULL)
		return NULL;
	t->x.done = task_done;
	t->x.unsent = true;
	t->a = a;
	t->op = req->op;
	t->resend = req->resend;
	t->n = record.n;
	if (record.n > 0)
		memcpy(t->record, record.p, record.n);
	if (f->code != ERR_OK) {
		t->result = result_of_fault(req->op, f->code, f->text);
		if (t->result == NULL) {
			free(t);
			return NULL;
		}
	}
	return t;
}

static struct task *task_of(struct dynax_async *a, const struct dynax_request *req)
{
	struct arena scratch;
	struct task *t = NULL;
	struct fault f;
	struct buf b;

	buf_init(&b);
	arena_init(&scratch, 256);
	fault_init(&f, &scratch);
	if (request_put(req, &b, &f) != ERR_NO_MEMORY)
		t = task_new(a, req, f.code == ERR_OK ? buf_slice(&b) : SLICE_NONE, &f);
	arena_release(&scratch);
	buf_release(&b);
	return t;
}

/* A failure to send is reported from the loop, like everything else. */
static void send_or_wait(struct task *t)
{
	struct arena scratch;
	struct fault f;

	if (t->a->state != ASYNC_UP || t->result != NULL) {
		wait_in_line(t);
		return;
	}
	arena_init(&scratch, 256);
	fault_init(&f, &scratch);
	if (task_send(t, &f) != ERR_OK) {
		t->result = result_of_fault(t->op, f.code, f.text);
		wait_in_line(t);
	}
	arena_release(&scratch);
}

bool dynax_async_run(struct dynax_async *a, const struct dynax_request *req, dynax_done done, void *arg)
{
	struct task *t = req != NULL && a->state != ASYNC_FREED ? task_of(a, req) : NULL;
	unsigned limit;

	if (t == NULL)
		return false;
	limit = req->timeout_ms != 0 ? req->timeout_ms : a->opts.timeout_ms;
	t->deadline = retry_now() + limit;
	t->done = done;
	t->arg = arg;
	evtimer_assign(&t->timer, a->base, task_expired, t);
	arm(&t->timer, limit);
	a->pending++;
	send_or_wait(t);
	event_active(&a->flush, 0, 0);
	return true;
}

size_t dynax_async_pending(const struct dynax_async *a)
{
	return a->pending;
}
