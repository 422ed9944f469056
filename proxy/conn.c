/* conn - see conn.h. Ending, output, input, calls, deadlines, in the order of its picture from the right; beginning last. */
#include "proxy/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "proxy/log.h"

static const char *const state_name[] = {
#define X(sym) #sym,
	CONN_STATES(X)
#undef X
};

static void conn_enter(struct conn *c, enum conn_state next)
{
	assert(worker_is_current(c->worker));
	assert(next > c->state); /* the picture has no way back */
	log_trace("conn %d: %s -> %s", c->fd, state_name[c->state], state_name[next]);
	c->state = next;
}

void conn_ref(struct conn *c)
{
	c->refs++;
}

void conn_unref(struct conn *c)
{
	assert(c->refs > 0);
	if (--c->refs == 0) {
		assert(c->state == CONN_STATE_CLOSED);
		free(c);
	}
}

/* ---- events on and off ---- */

static void set_reading(struct conn *c, bool on)
{
	if (c->reading == on)
		return;
	c->reading = on;
	if (on)
		event_add(&c->read_event, NULL);
	else
		event_del(&c->read_event);
}

static void set_writing(struct conn *c, bool on)
{
	if (c->writing == on)
		return;
	c->writing = on;
	if (on)
		event_add(&c->write_event, NULL);
	else
		event_del(&c->write_event);
}

/* ---- ending ---- */

/* Once a connection, before the peer can see its end. */
static void count_outcome(struct conn *c, enum conn_outcome why)
{
	metric_add(&c->worker->metrics->outcome[why], 1);
	log_debug("conn %d: %s", c->fd, conn_outcome_name[why]);
}

void conn_close(struct conn *c, enum conn_outcome why)
{
	struct worker *w = c->worker;

	if (c->state == CONN_STATE_CLOSED)
		return;
	if (c->state != CONN_STATE_LINGERING)
		count_outcome(c, why);
	conn_enter(c, CONN_STATE_CLOSED);
	set_reading(c, false);
	set_writing(c, false);
	metric_sub(&w->metrics->connections, 1);
	c->io->close(c);
	c->fd = -1;
	worker_return_buf(w, &c->in);
	worker_return_buf(w, &c->out);
	buf_release(&c->behind);
	c->taken = c->sent = 0;
	c->paused = false; /* there is nothing to go on with */
	c->door->closed(c);
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		w->conns = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	metric_add(&w->metrics->ended, 1);
	conn_unref(c);
}

/* True if the door has a last word, which is now in the output. */
static bool say_farewell(struct conn *c)
{
	bool ours = c->outcome == CONN_SHUTDOWN || c->outcome == CONN_IDLE; /* the peer gave no reason */

	if (c->door->farewell == NULL || !ours || c->farewell || c->eof)
		return false;
	c->farewell = true;
	return c->door->farewell(c);
}

/* The last step of FINISHING: everything is answered and written. */
static void conn_finished(struct conn *c)
{
	if (say_farewell(c))
		return; /* the flush comes by again */
	if (c->eof || !c->linger) {
		conn_close(c, c->outcome);
		return;
	}
	count_outcome(c, c->outcome);
	c->io->shut(c);
	conn_enter(c, CONN_STATE_LINGERING);
	c->due_ns = c->worker->now_ns;
	c->due_bytes = 0;
	set_reading(c, true);
}

static void mark_dirty(struct conn *c)
{
	if (c->dirty)
		return;
	c->dirty = true;
	conn_ref(c);
	c->next_dirty = c->worker->dirty;
	c->worker->dirty = c;
}

void conn_finish(struct conn *c, enum conn_outcome why, bool linger)
{
	if (c->state != CONN_STATE_OPEN)
		return;
	conn_enter(c, CONN_STATE_FINISHING);
	c->outcome = why;
	c->linger = linger;
	worker_return_buf(c->worker, &c->in);
	c->taken = 0;
	set_reading(c, false);
	mark_dirty(c); /* the flush sees to the rest */
}

/* ---- output ---- */

struct buf *conn_output(struct conn *c)
{
	struct buf *b = c->sent != 0 || c->behind.n != 0 ? &c->behind : &c->out;

	if (b->p == NULL)
		*b = worker_borrow_buf(c->worker);
	mark_dirty(c);
	return b;
}

void conn_output_take(struct conn *c, struct buf *b)
{
	struct buf *out = conn_output(c);

	out->failed |= b->failed;
	if (b->n <= CONN_WRITE || out == &c->behind) {
		buf_put_slice(out, buf_slice(b));
	} else {
		c->behind = *b;
		buf_init(b);
	}
}

/* All of `out` is sent: what stands behind it is next. */
static void next_output(struct conn *c)
{
	c->sent = 0;
	worker_return_buf(c->worker, &c->out);
	c->out = c->behind;
	buf_init(&c->behind);
}

static void want_resume(struct conn *c)
{
	if (c->resumed)
		return;
	c->resumed = true;
	conn_ref(c);
	c->next_resumed = c->worker->resumed;
	c->worker->resumed = c;
	worker_resume_later(c->worker);
}

/* The peer took some of its answers, or a call ended. */
static void maybe_unpause(struct conn *c)
{
	if (!c->paused || conn_backlog(c) > CONN_OUT_LOW || c->calls >= CONN_CALLS_MAX / 2 || c->long_calls >= CONN_LONG_MAX / 2)
		return;
	c->paused = false;
	c->due_ns = c->worker->now_ns; /* we were the ones that did not read */
	want_resume(c);
}

/* Not everything was taken: wait for the peer, under the write deadline (C5). */
static void output_blocked(struct conn *c, size_t n)
{
	if (c->blocked_ns == 0 || (c->blocked_bytes += n) >= CONN_WRITE_STEP) {
		c->blocked_ns = c->worker->now_ns;
		c->blocked_bytes = 0;
	}
	set_writing(c, true);
}

static void output_drained(struct conn *c)
{
	c->blocked_ns = 0;
	c->blocked_bytes = 0;
	next_output(c);
	set_writing(c, false);
	if (c->state == CONN_STATE_FINISHING && c->calls == 0)
		conn_finished(c);
}

/* What is written next (C2). */
static struct slice next_write(const struct conn *c)
{
	size_t left = c->out.n - c->sent;

	return slice_of(c->out.p + c->sent, left < CONN_WRITE ? left : CONN_WRITE);
}

void conn_flush(struct conn *c)
{
	ssize_t n = 0;

	if (!conn_is_alive(c))
		return;
	if (c->out.failed || c->behind.failed) {
		conn_close(c, CONN_NO_MEMORY); /* an answer is lost, so the stream is */
		return;
	}
	struct slice next = next_write(c);

	if (next.n > 0)
		n = c->io->write(c, next.p, next.n);
	conn_flushed(c, n < 0 ? -errno : n);
}

struct slice conn_unsent(const struct conn *c)
{
	if (!conn_is_alive(c) || c->out.failed || c->behind.failed || !c->io->plain)
		return slice_of(NULL, 0);
	return next_write(c);
}

void conn_flushed(struct conn *c, ssize_t n)
{
	if (n < 0 && n != -EAGAIN && n != -EINTR) {
		conn_close(c, CONN_RESET);
		return;
	}
	if (n > 0) {
		metrics_count(c->worker->metrics, METRIC_BYTES_OUT, (uint64_t)n);
		c->sent += (size_t)n;
	}
	if (c->sent == c->out.n && c->behind.p != NULL)
		next_output(c);
	if (c->sent < c->out.n)
		output_blocked(c, n > 0 ? (size_t)n : 0);
	else
		output_drained(c);
	maybe_unpause(c);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	conn_ref(c); /* it may be among those that are gathered, and end as they are served */
	worker_begin(c->worker);
	conn_flush(c);
	worker_settle(c->worker);
	conn_unref(c);
}

/* ---- input ---- */

bool conn_may_take(struct conn *c)
{
	const struct worker *w = c->worker;

	if (c->state != CONN_STATE_OPEN)
		return false;
	if (w->last_ns > w->slice_ns && w->last_ns - w->slice_ns > WORKER_SLICE_NS) {
		c->paused = true;
		want_resume(c);
		return false;
	}
	if (conn_backlog(c) <= CONN_OUT_HIGH && c->calls < CONN_CALLS_MAX && c->long_calls < CONN_LONG_MAX)
		return true;
	if (!c->paused) {
		c->paused = true;
		metrics_count(c->worker->metrics, METRIC_READ_PAUSES, 1);
		mark_dirty(c); /* a flush may end it at once */
	}
	return false;
}

void conn_expect(struct conn *c, enum conn_due due)
{
	if (c->due == due)
		return;
	c->due = due;
	c->due_ns = c->worker->now_ns;
	c->due_bytes = 0;
}

void conn_request_done(struct conn *c)
{
	c->due = DUE_NOTHING;
	c->due_ns = c->worker->now_ns;
	c->due_bytes = 0;
}

/* Keep what the door left, in as little memory as it needs. */
static void keep_leftover(struct conn *c)
{
	size_t left = c->in.n - c->taken;
	struct buf small;

	if (left == 0) {
		c->taken = 0;
		worker_return_buf(c->worker, &c->in);
		return;
	}
	if (left <= CONN_SMALL_INPUT && c->in.cap > 2 * CONN_SMALL_INPUT) {
		buf_init(&small);
		buf_put(&small, c->in.p + c->taken, left);
		if (!small.failed) {
			worker_return_buf(c->worker, &c->in);
			c->in = small;
			c->taken = 0;
			return;
		}
		buf_release(&small);
	}
	if (c->taken > 0) {
		memmove(c->in.p, c->in.p + c->taken, left);
		c->in.n = left;
		c->taken = 0;
	}
}

/* Let the door work on what is there, then see what is to be waited for. */
static void run_door(struct conn *c)
{
	if (c->state == CONN_STATE_OPEN && c->in.n > c->taken)
		c->door->input(c);
	if (c->state != CONN_STATE_OPEN)
		return;
	if (c->paused) {
		set_reading(c, false);
	} else if (c->eof) {
		conn_finish(c, c->in.n > c->taken ? CONN_TRUNCATED : CONN_PEER_CLOSED, false);
		return;
	} else {
		set_reading(c, true);
	}
	keep_leftover(c);
}

void conn_resume(struct conn *c)
{
	c->paused = false;
	if (c->state == CONN_STATE_OPEN)
		run_door(c);
}

/* Room for one read: in the big buffer, behind what is left over. */
static uint8_t *read_room(struct conn *c)
{
	if (c->in.p == NULL) {
		c->in = worker_borrow_buf(c->worker);
	} else if (c->in.cap - c->in.n < CONN_READ && c->in.n <= CONN_SMALL_INPUT) {
		struct buf big = worker_borrow_buf(c->worker);

		buf_put(&big, c->in.p, c->in.n);
		worker_return_buf(c->worker, &c->in);
		c->in = big;
	}
	return buf_reserve(&c->in, CONN_READ);
}

static void read_linger(struct conn *c)
{
	struct buf scratch = worker_borrow_buf(c->worker);
	uint8_t *p = buf_reserve(&scratch, CONN_READ);
	ssize_t n = p != NULL ? c->io->read(c, p, CONN_READ) : -1;

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		conn_close(c, c->outcome);
	else if (n > 0)
		c->due_bytes += (size_t)n;
	worker_return_buf(c->worker, &scratch);
}

/* True if there is something to serve. */
static bool read_open(struct conn *c)
{
	uint8_t *p = read_room(c);
	ssize_t n;

	if (p == NULL) {
		conn_close(c, CONN_NO_MEMORY);
		return false;
	}
	n = c->io->read(c, p, CONN_READ);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			conn_close(c, CONN_RESET);
		else
			keep_leftover(c);
		return false;
	}
	if (n == 0) {
		c->eof = true;
		set_reading(c, false);
	} else {
		c->in.n += (size_t)n;
		c->due_bytes += (size_t)n;
		metrics_count(c->worker->metrics, METRIC_BYTES_IN, (uint64_t)n);
	}
	return true;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	conn_ref(c);
	if (c->state == CONN_STATE_LINGERING)
		read_linger(c);
	else if (c->state == CONN_STATE_OPEN && read_open(c))
		worker_gather(c->worker, c);
	conn_unref(c);
}

void conn_serve(struct conn *c)
{
	if (c->state == CONN_STATE_OPEN)
		run_door(c);
}

/* ---- calls ---- */

void conn_call_begin(struct conn *c)
{
	c->calls++;
	conn_ref(c);
}

void conn_call_is_long(struct conn *c)
{
	c->long_calls++;
}

void conn_call_end(struct conn *c, bool is_long)
{
	assert(c->calls > 0);
	c->calls--;
	c->long_calls -= is_long;
	if (c->calls == 0 && c->state == CONN_STATE_FINISHING)
		mark_dirty(c);
	maybe_unpause(c);
	conn_unref(c);
}

/* ---- deadlines ---- */

static bool overdue(uint64_t since, uint64_t now, uint64_t limit_ms)
{
	return limit_ms != 0 && now > since && now - since > limit_ms * 1000000u;
}

/* Answers are all out and no request has begun. A msgpack client that has not greeted yet owes its greeting (DUE_HEAD), but is
 * quiet, too. */
static bool is_quiet(const struct conn *c)
{
	return (c->due == DUE_NOTHING || c->in.n == 0) && c->calls == 0 && c->out.n == 0 && c->behind.n == 0;
}

void conn_check(struct conn *c, uint64_t now)
{
	const struct limits *l = &c->worker->limits;

	if (c->state == CONN_STATE_LINGERING) {
		if (overdue(c->due_ns, now, l->linger_ms + c->due_bytes / CONN_BODY_RATE))
			conn_close(c, c->outcome);
	} else if (c->blocked_ns != 0 && overdue(c->blocked_ns, now, l->write_ms)) {
		conn_close(c, CONN_WRITE_DEADLINE);
	} else if (c->state != CONN_STATE_OPEN || c->paused) {
		return;
	} else if (c->worker->draining && is_quiet(c)) {
		conn_finish(c, CONN_SHUTDOWN, false);
	} else if (c->worker->draining && c->due == DUE_NOTHING) {
		conn_finish(c, CONN_SHUTDOWN, true);
	} else if (c->due == DUE_HEAD && overdue(c->due_ns, now, l->head_ms)) {
		conn_close(c, CONN_HEAD_DEADLINE);
	} else if (c->due == DUE_BODY && overdue(c->due_ns, now, l->body_ms + c->due_bytes / CONN_BODY_RATE)) {
		conn_close(c, CONN_BODY_DEADLINE);
	} else if (is_quiet(c) && overdue(c->due_ns, now, l->idle_ms)) {
		conn_finish(c, CONN_IDLE, true); /* a request may be on its way */
	}
}

/* ---- beginning ---- */

struct conn *conn_new(struct worker *w, int fd, const struct conn_door *door)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL || (c->fd = fd, c->worker = w, c->door = door, !door->open(c))) {
		free(c);
		evutil_closesocket(fd);
		return NULL;
	}
	c->io = &transport_tcp;
	c->refs = 1;
	c->due_ns = w->now_ns;
	buf_init(&c->in);
	buf_init(&c->out);
	buf_init(&c->behind);
	event_assign(&c->read_event, w->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	event_assign(&c->write_event, w->base, fd, EV_WRITE | EV_PERSIST, on_writable, c);
	c->next = w->conns;
	if (w->conns != NULL)
		w->conns->prev = c;
	w->conns = c;
	metric_add(&w->metrics->connections, 1);
	set_reading(c, true);
	return c;
}
