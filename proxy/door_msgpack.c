/* door_msgpack - frames in, frames out (protocol/PROTOCOL.md).
 *
 *    look:  decode a batch of frames, begin to fetch what their answers need
 *    input: run them -> simple GetItem hits straight into the output (fast_get.h)
 *                    -> the rest, one call each -> dispatch -> finish -> frame
 *
 * D1. A request is copied to its call's arena and checked there before anything else sees it.
 * D2. Answers come in the order in which they are ready.
 * D3. Slots that look filled hold no longer than the input they point into: until input() or closed().
 *
 * Threads: the connection's worker. Here is nothing about sockets and deadlines (conn.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/messages.h"
#include "proxy/call.h"
#include "proxy/conn.h"
#include "proxy/fast_get.h"

enum {
	BATCH = 64,            /* frames of one connection decoded together */
	LOOK = 256             /* frames of all gathered connections */
};

struct slot {
	struct frame frame;
	size_t bytes;          /* of the whole frame */
	struct fast_get get;
};

struct batch {
	struct slot *slot;
	unsigned n;
	enum frame_status status;  /* why there are not more of them; READY: there was no room */
};

struct msgpack {
	bool greeted;
	size_t max_frame;      /* of what the peer takes */
	struct batch ahead;    /* what look decoded; n 0: nothing */
};

/* One a worker. */
struct look {
	struct fast_memo memo;
	unsigned used;         /* of ahead */
	unsigned fetched;      /* of ahead: those whose entries are on their way */
	unsigned holders;      /* connections with slots in ahead; the last one to let go empties it */
	struct slot ahead[LOOK];
	struct slot now[BATCH];    /* of the connection that is being served */
};

static bool door_open(struct conn *c)
{
	struct msgpack *m;

	if (c->worker->look == NULL)
		c->worker->look = calloc(1, sizeof(struct look));
	if (c->worker->look == NULL)
		return false;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return false;
	c->door_state = m;
	c->due = DUE_HEAD; /* the greeting is due at once */
	return true;
}

static void let_go(struct look *l, struct msgpack *m)
{
	if (m->ahead.n == 0)
		return;
	m->ahead.n = 0;
	if (--l->holders == 0)
		l->used = l->fetched = 0;
}

static void door_closed(struct conn *c)
{
	let_go(c->worker->look, c->door_state);
	free(c->door_state);
	c->door_state = NULL;
}

/* ---- answers ---- */

static void put_answer(struct conn *c, struct call *k)
{
	const struct msgpack *m = c->door_state;
	struct buf *out = conn_output(c);
	size_t at;

	if (k->fault.code == ERR_OK && FRAME_HEADER + k->out.n > m->max_frame)
		fault_set(&k->fault, MSG_FRAME_ANSWER_TOO_LONG, FRAME_HEADER + k->out.n, m->max_frame);
	if (k->fault.code != ERR_OK) {
		frame_put_error(out, k->id, &k->fault);
		return;
	}
	at = frame_begin(out, FRAME_ANSWER, (uint8_t)k->cache, k->id);
	frame_end_before(out, at, k->out.n);
	conn_output_take(c, &k->out);
}

static void door_finish(struct call *k)
{
	if (conn_is_alive(k->conn))
		put_answer(k->conn, k);
	call_drop(k);
}

static void door_deadline(struct call *k, const struct fault *f)
{
	if (conn_is_alive(k->conn))
		frame_put_error(conn_output(k->conn), k->id, f);
}

/* Say why, and close: the stream cannot be followed any further. */
static void refuse(struct conn *c, enum conn_outcome why, enum err code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void refuse(struct conn *c, enum conn_outcome why, enum err code, const char *fmt, ...)
{
	char text[256];
	struct fault f = { .code = code, .text = text };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	frame_put_error(conn_output(c), 0, &f);
	conn_finish(c, why, true);
}

/* What has not been answered by now was not carried out, and this tells the client so. */
static bool door_farewell(struct conn *c)
{
	struct fault f = { .arena = NULL };
	const struct msgpack *m = c->door_state;

	if (!m->greeted)
		return false;
	if (c->outcome == CONN_IDLE)
		fault_set(&f, MSG_FRAME_IDLE);
	else
		fault_set(&f, MSG_FRAME_FAREWELL);
	frame_put_error(conn_output(c), 0, &f);
	return true;
}

/* ---- frames that are not requests ---- */

static void greet(struct conn *c, const struct frame *fr)
{
	struct hello h, mine = { FRAME_VERSION, 0, FRAME_MAX, SLICE_LIT("dynaxd/" DYNAX_VERSION) };
	struct msgpack *m = c->door_state;

	if (fr->kind != FRAME_HELLO) {
		refuse(c, CONN_BAD_GREETING, MSG_FRAME_NO_HELLO);
	} else if (!frame_read_hello(fr, &h)) {
		refuse(c, CONN_BAD_GREETING, MSG_FRAME_BAD_HELLO);
	} else if (h.version < FRAME_VERSION) {
		refuse(c, CONN_BAD_GREETING, MSG_FRAME_VERSION, (unsigned)h.version, (unsigned)FRAME_VERSION);
	} else {
		m->greeted = true;
		m->max_frame = h.max_frame == 0 ? FRAME_MAX : h.max_frame;
		frame_put_hello(conn_output(c), &mine);
	}
}

static void pong(struct conn *c, const struct frame *fr)
{
	struct buf *out = conn_output(c);
	size_t at = frame_begin(out, FRAME_PONG, 0, fr->id);

	buf_put_slice(out, fr->body);
	frame_end(out, at);
}

/* ---- requests ---- */

static enum err read_request(struct call *k, const struct frame *fr)
{
	struct slice bytes;
	enum err rc;

	if (fr->code >= OP_COUNT) {
		k->fault.code = ERR_UNKNOWN_OPERATION;
		return ERR_UNKNOWN_OPERATION;
	}
	bytes = arena_copy(&k->arena, fr->body);
	if (!slice_present(bytes))
		return fault_set(&k->fault, MSG_NO_MEMORY);
	rc = record_check(op_info[fr->code].in, bytes, &k->fault);
	return rc != ERR_OK ? rc : request_open(&k->req, (enum op)fr->code, bytes, &k->arena, &k->fault);
}

static void run_request(struct conn *c, const struct frame *fr)
{
	struct call *k = call_new(c->worker);

	if (k == NULL) {
		conn_close(c, CONN_NO_MEMORY);
		return;
	}
	k->conn = c;
	conn_call_begin(c);
	k->finish = door_finish;
	k->id = fr->id;
	if (fr->deadline_ms != 0) {
		k->deadline_ns = c->worker->now_ns + fr->deadline_ms * UINT64_C(1000000);
		k->on_deadline = door_deadline;
		call_watch(k);
	}
	if (read_request(k, fr) != ERR_OK)
		call_fail(k);
	else
		dispatch_run(k);
}

static void run_frame(struct conn *c, const struct slot *s)
{
	const struct msgpack *m = c->door_state;

	if (!m->greeted)
		greet(c, &s->frame);
	else if (s->get.table != NULL && fast_get_answer(c->worker, &s->get, s->frame.id, m->max_frame, conn_output(c)))
		return;
	else if (s->frame.kind == FRAME_REQUEST)
		run_request(c, &s->frame);
	else if (s->frame.kind == FRAME_PING)
		pong(c, &s->frame);
	else if (s->frame.kind != FRAME_PONG)
		refuse(c, CONN_BAD_FRAME, MSG_FRAME_UNEXPECTED, (unsigned)s->frame.kind);
}

/* ---- batches ---- */

/* Decode what is there, up to `room` frames. */
static void decode(struct conn *c, struct batch *b, unsigned room)
{
	struct worker *w = c->worker;
	struct slice in = conn_input(c);

	b->status = FRAME_READY;
	for (b->n = 0; b->n < room; b->n++) {
		struct slot *s = &b->slot[b->n];
		const uint8_t *from = in.p;

		b->status = frame_next(&in, FRAME_MAX, &s->frame, NULL);
		if (b->status != FRAME_READY)
			break;
		s->bytes = (size_t)(in.p - from);
		s->get.table = NULL;
		if (s->frame.kind == FRAME_REQUEST && s->frame.code == OP_GetItem)
			fast_get_read(w, &w->look->memo, s->frame.body, &s->get);
	}
}

static void fetch_entries(struct worker *w, const struct slot *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fast_get_prefetch(w, &s[i].get);
}

/* The entries of what was decoded ahead: the index has arrived, since a read or more went by. */
static void fetch_ahead(struct worker *w)
{
	struct look *l = w->look;

	fetch_entries(w, l->ahead + l->fetched, l->used - l->fetched);
	l->fetched = l->used;
}

static void door_look(struct conn *c)
{
	struct msgpack *m = c->door_state;
	struct look *l = c->worker->look;
	unsigned room = LOOK - l->used < BATCH ? LOOK - l->used : BATCH;

	fetch_ahead(c->worker);
	let_go(l, m);
	m->ahead.slot = l->ahead + l->used;
	decode(c, &m->ahead, room);
	if (m->ahead.n > 0) {
		l->used += m->ahead.n;
		l->holders++;
	}
}

/* Run them. False if some had to be left. */
static bool run_batch(struct conn *c, const struct batch *b)
{
	unsigned i;

	for (i = 0; i < b->n && conn_may_take(c); i++) {
		conn_take(c, b->slot[i].bytes);
		run_frame(c, &b->slot[i]);
	}
	if (i < b->n || c->state != CONN_STATE_OPEN)
		return false;
	if (b->n > 0)
		conn_request_done(c);
	if (b->status == FRAME_BAD)
		refuse(c, CONN_BAD_FRAME, MSG_FRAME_BAD);
	else if (b->status == FRAME_NEED_MORE && conn_input(c).n > 0)
		conn_expect(c, DUE_BODY);
	return b->status == FRAME_READY;
}

static void door_input(struct conn *c)
{
	struct msgpack *m = c->door_state;
	struct look *l = c->worker->look;
	struct batch b = m->ahead;
	bool more = true;

	if (b.n > 0) {
		fetch_ahead(c->worker);
		more = run_batch(c, &b);
		if (c->state == CONN_STATE_CLOSED)
			return; /* m is gone */
		let_go(l, m);
	}
	while (more) {
		b.slot = l->now;
		decode(c, &b, BATCH);
		/* A single request has nothing to overlap with. */
		fetch_entries(c->worker, b.slot, b.n > 1 ? b.n : 0);
		more = run_batch(c, &b);
	}
}

const struct conn_door door_msgpack = { "msgpack", door_open, door_look, door_input, door_farewell, door_closed };
