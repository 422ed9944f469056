/* door_http - DynamoDB's HTTP API: requests as JSON in, answers in the order of their requests out.
 *
 *    look:  http_reader as far as the first message; of a GetItem, http_get begins to fetch what it needs
 *    input: http_reader: head -> judged at once (length, expectation)
 *                        message -> a simple GetItem's hit straight into the output (http_get.h)
 *                                -> the rest: call -> JSON to record -> dispatch
 *    finish: ready answers leave the queue from its front:   [ready] [ready] [waits] [ready]
 *                                                             written         ^ holds up what is behind it
 *
 * P1. Pipelined requests run side by side and are answered in order. Answers that wait for their turn count as backlog.
 * P2. A request that is refused before its body came is answered at once, and what still comes is read and forgotten: the
 *     client is in the middle of sending, and a reset would take our answer away from it.
 * P3. A long answer is written as text on another thread (offload.h); meanwhile its call keeps its place in the queue.
 * P4. What look found is kept as the step that input will take first; a look answers nothing.
 *
 * Threads: the connection's worker. Not here: the parser (http_reader.h), how an answer looks (http_answer.h). */
#include <stddef.h>
#include <stdlib.h>

#include "protocol/json.h"
#include "protocol/messages.h"
#include "proxy/conn.h"
#include "proxy/handlers.h"
#include "proxy/http_answer.h"
#include "proxy/http_get.h"
#include "proxy/http_reader.h"

struct http {
	struct http_reader reader;
	struct call *first, **last;    /* unanswered, in order; linked through http_answer.next */
	bool owe_continue;             /* 100 Continue, once the answers before it are out */
	enum http_step ahead;          /* P4; MORE = nothing */
	struct http_get get;           /* of the message that is there, if it is a GetItem */
};

static bool door_open(struct conn *c)
{
	struct http *h = http_get_setup(c->worker) ? malloc(sizeof(*h)) : NULL;

	if (h == NULL)
		return false;
	http_reader_init(&h->reader);
	h->first = NULL;
	h->last = &h->first;
	h->owe_continue = false;
	h->ahead = HTTP_STEP_MORE;
	http_get_forget(&h->get);
	c->door_state = h;
	return true;
}

static void drop(struct call *k)
{
	http_answer_release(k->door);
	call_drop(k);
}

static void door_closed(struct conn *c)
{
	struct http *h = c->door_state;
	struct call *k = h->first;

	/* Those that are ready wait for nobody any more; the others come to finish by themselves. */
	while (k != NULL) {
		struct http_answer *a = k->door;
		struct call *next = a->next;

		if (a->ready)
			drop(k);
		k = next;
	}
	free(h);
	c->door_state = NULL;
}

/* ---- answering, in order ---- */

static void say_continue(struct conn *c, struct http *h)
{
	if (!h->owe_continue || h->first != NULL)
		return;
	h->owe_continue = false;
	buf_put_slice(conn_output(c), SLICE_LIT("HTTP/1.1 100 Continue\r\n\r\n"));
}

static void write_ready(struct conn *c)
{
	struct http *h = c->door_state;

	while (h->first != NULL && ((struct http_answer *)h->first->door)->ready) {
		struct call *k = h->first;
		struct http_answer *a = k->door;

		h->first = a->next;
		if (h->first == NULL)
			h->last = &h->first;
		c->held -= a->held;
		http_answer_write(k, a);
		drop(k);
	}
	say_continue(c, h);
}

/* On the worker again. */
static void deliver_made(struct mail *m)
{
	struct http_answer *a = (struct http_answer *)(void *)((char *)m - offsetof(struct http_answer, job.mail));
	struct call *k = a->call;

	if (!conn_is_alive(k->conn)) {
		drop(k);
		return;
	}
	a->ready = true;
	write_ready(k->conn);
}

static void make(struct offload_job *j)
{
	struct http_answer *a = (struct http_answer *)(void *)((char *)j - offsetof(struct http_answer, job));

	http_answer_make(a->call, a);
}

static void door_finish(struct call *k)
{
	struct http_answer *a = k->door;
	struct conn *c = k->conn;

	if (!conn_is_alive(c)) {
		call_drop(k);
		return;
	}
	a->held = k->out.n;
	c->held += a->held;
	if (k->fault.code == ERR_OK && k->out.n >= HTTP_OFFLOAD_MIN && a->status == 0) {
		a->call = k;
		a->job = (struct offload_job){ .mail.deliver = deliver_made, .to = &c->worker->mailbox, .run = make };
		offload_put(c->worker->shared->offload, &a->job);
		return;
	}
	a->ready = true;
	write_ready(c);
}

static struct call **link_of(struct call *k)
{
	return &((struct http_answer *)k->door)->next;
}

/* A call with its place in the queue; NULL, and the connection closed, if out of memory. */
static struct call *begin_call(struct conn *c)
{
	struct http *h = c->door_state;
	struct call *k = call_new(c->worker);
	struct http_answer *a;

	if (k == NULL || (a = arena_zalloc(&k->arena, sizeof(*a))) == NULL) {
		if (k != NULL)
			call_drop(k);
		conn_close(c, CONN_NO_MEMORY);
		return NULL;
	}
	k->conn = c;
	conn_call_begin(c);
	k->finish = door_finish;
	k->door = a;
	*h->last = k;
	h->last = link_of(k);
	return k;
}

/* An answer that needs no handler. */
static void reply(struct call *k, int status, const char *type, struct slice text)
{
	struct http_answer *a = k->door;

	a->status = status;
	a->type = type;
	a->text = text;
	k->cache = FRAME_CACHE_NONE;
	k->finish(k);
}

/* Answer without a request, and read no further (P2). */
static void refuse(struct conn *c, int status, const struct fault *f, enum conn_outcome why)
{
	struct call *k = begin_call(c);
	struct http_answer *a;

	if (k == NULL)
		return;
	a = k->door;
	a->close = true;
	if (f != NULL) {
		k->fault.code = f->code;
		k->fault.text = f->text;
		k->finish(k);
	} else {
		reply(k, status, "text/plain", SLICE_LIT(""));
	}
	conn_finish(c, why, true);
}

static void refuse_body(struct conn *c)
{
	struct fault f = { 0 };

	fault_set(&f, MSG_BODY_TOO_LONG);
	refuse(c, 0, &f, CONN_BODY_TOO_LONG);
}

/* ---- heads ---- */

/* Judge the head (H2). False: refused. */
static bool on_head(struct conn *c, struct http *h)
{
	const struct http_reader *r = &h->reader;
	struct slice expect = http_slice(conn_input(c).p, r->header[HEADER_EXPECT]);

	if (http_reader_length(r) > HTTP_BODY_MAX) {
		refuse_body(c);
		return false;
	}
	if (slice_present(expect) && (r->parser.http_major > 1 || r->parser.http_minor >= 1)) {
		if (!slice_is_word(expect, "100-continue")) {
			refuse(c, 417, NULL, CONN_BAD_EXPECT);
			return false;
		}
		/* One byte is the head's last, which the parser keeps back: more means that the client did not wait. */
		h->owe_continue = conn_input(c).n <= r->parsed + 1;
		say_continue(c, h);
	}
	conn_expect(c, DUE_BODY);
	return true;
}

/* ---- requests ---- */

static void read_head(struct conn *c, const struct http_reader *r, struct http_answer *a)
{
	const uint8_t *p = conn_input(c).p;
	struct slice accept = http_slice(p, r->header[HEADER_ACCEPT]);
	bool old = r->parser.http_major == 1 && r->parser.http_minor == 0;

	a->close = !r->keep_alive;
	a->old_keep_alive = old && r->keep_alive;
	a->head_only = http_reader_method(r) == HTTP_HEAD;
	a->cors = r->header[HEADER_ORIGIN].present && c->worker->limits.cors;
	a->plain_json = slice_is_word(http_slice(p, r->header[HEADER_TYPE]), "application/json");
	a->coding = slice_present(accept) ? coding_accepted(accept) : CODING_NONE;
}

static void answer_preflight(struct conn *c, const struct http_reader *r, struct call *k)
{
	const uint8_t *p = conn_input(c).p;
	struct http_answer *a = k->door;

	a->preflight = true;
	if (r->header[HEADER_CORS_METHOD].present)
		a->allow_method = arena_copy(&k->arena, http_slice(p, r->header[HEADER_CORS_METHOD]));
	if (r->header[HEADER_CORS_HEADERS].present)
		a->allow_headers = arena_copy(&k->arena, http_slice(p, r->header[HEADER_CORS_HEADERS]));
	reply(k, 200, "text/plain", SLICE_LIT(""));
}

static void answer_health(struct call *k)
{
	char *text = arena_printf(&k->arena, "healthy: %.*s ", SLICE_FMT(endpoint_of(k)));

	if (text == NULL)
		reply(k, 500, "text/plain", SLICE_LIT(""));
	else
		reply(k, 200, "text/plain", slice_str(text));
}

/* Take the content coding off the body, onto `plain`. False: answered. */
static bool decode_body(struct call *k, enum coding coding, struct slice *body, struct buf *plain)
{
	if (coding == CODING_NONE)
		return true;
	switch (coding == CODING_UNKNOWN ? CODING_BROKEN : coding_decode(coding, *body, HTTP_BODY_MAX, plain)) {
	case CODING_OK:
		*body = buf_slice(plain);
		return true;
	case CODING_TOO_LONG:
		fault_set(&k->fault, MSG_BODY_TOO_LONG);
		break;
	case CODING_BROKEN: /* the service's answer, odd as it is */
		fault_set(&k->fault, MSG_BODY_CODING);
		break;
	}
	call_fail(k);
	return false;
}

/* The body as a request; http_get may have read it already. */
static enum err read_body(struct call *k, enum op op, struct slice body)
{
	const struct http_get *g = &((struct http *)k->conn->door_state)->get;
	struct slice record;

	if (g->n == 0)
		return json_read_request(k->worker->json, op, body, &k->arena, &k->req, &k->fault);
	record = arena_copy(&k->arena, slice_of(g->record, g->n));
	if (!slice_present(record))
		return fault_set(&k->fault, MSG_NO_MEMORY);
	return request_open(&k->req, op, record, &k->arena, &k->fault);
}

static void run_operation(struct conn *c, const struct http_reader *r, struct call *k)
{
	const uint8_t *p = conn_input(c).p;
	enum op op = op_by_target(http_slice(p, r->header[HEADER_TARGET]));
	enum coding coding = coding_of(http_slice(p, r->header[HEADER_ENCODING]));
	struct slice body = slice_of(p + r->body_at, r->body_n);
	struct buf plain = { 0 };

	if (op == OP_DescribeEndpoints && r->header[HEADER_HOST].present)
		k->host = arena_copy(&k->arena, http_slice(p, r->header[HEADER_HOST]));
	if (op == OP_COUNT) {
		k->fault.code = ERR_UNKNOWN_OPERATION;
		call_fail(k);
		return;
	}
	if (decode_body(k, coding, &body, &plain)) {
		if (read_body(k, op, body) != ERR_OK)
			call_fail(k);
		else
			dispatch_run(k);
	}
	buf_release(&plain);
}

/* Is it the one path we serve, whatever its form? */
static bool is_root(struct slice url)
{
	struct http_parser_url u;

	if (url.n == 1 && url.p[0] == '/')
		return true;
	http_parser_url_init(&u);
	if (http_parser_parse_url((const char *)url.p, url.n, 0, &u) != 0)
		return false;
	return u.field_data[UF_PATH].len == 0 || (u.field_data[UF_PATH].len == 1 && url.p[u.field_data[UF_PATH].off] == '/');
}

static void route(struct conn *c, const struct http_reader *r, struct call *k)
{
	enum http_method m = http_reader_method(r);
	bool root = is_root(http_slice(conn_input(c).p, r->url));

	if (root && m != HTTP_POST && r->header[HEADER_HOST].present)
		k->host = arena_copy(&k->arena, http_slice(conn_input(c).p, r->header[HEADER_HOST]));
	if (m == HTTP_OPTIONS)
		answer_preflight(c, r, k);
	else if (root && m == HTTP_POST)
		run_operation(c, r, k);
	else if (root && (m == HTTP_GET || m == HTTP_HEAD))
		answer_health(k);
	else
		reply(k, 404, "text/plain", SLICE_LIT("<UnknownOperationException/>\n"));
}

/* Is the message a GetItem in its usual form, that http_get may try? */
static bool is_get(const struct http_reader *r, const uint8_t *p)
{
	return http_reader_method(r) == HTTP_POST && slice_eq(http_slice(p, r->url), SLICE_LIT("/")) &&
		slice_eq(http_slice(p, r->header[HEADER_TARGET]), SLICE_LIT("DynamoDB_20120810.GetItem")) &&
		!r->header[HEADER_ENCODING].present && r->body_n <= HTTP_GET_BODY;
}

static void read_get(struct conn *c, struct http *h)
{
	const uint8_t *p = conn_input(c).p;

	if (is_get(&h->reader, p))
		http_get_read(c->worker, &h->get, slice_of(p + h->reader.body_at, h->reader.body_n));
}

/* P1: a hit may not pass by what came before it. */
static bool answer_get(struct conn *c, struct http *h, const struct http_answer *head)
{
	return h->get.n > 0 && h->first == NULL && http_get_answer(c->worker, &h->get, head, conn_output(c));
}

/* A whole message. True if there may be another. */
static bool on_message(struct conn *c, struct http *h)
{
	struct http_answer head = { 0 };
	struct call *k;

	read_head(c, &h->reader, &head);
	if (!answer_get(c, h, &head)) {
		k = begin_call(c);
		if (k == NULL)
			return false;
		*(struct http_answer *)k->door = head;
		route(c, &h->reader, k); /* k may be gone */
	}
	if (!conn_is_alive(c))
		return false;
	conn_take(c, h->reader.parsed);
	http_reader_next(&h->reader);
	http_get_forget(&h->get);
	conn_request_done(c);
	if (head.close)
		conn_finish(c, CONN_FINISHED, true);
	return !head.close;
}

/* ---- input ---- */

static void on_more(struct conn *c, struct http *h)
{
	struct http_reader *r = &h->reader;
	size_t dead = http_reader_dead(r);
	uint8_t *from;

	if (r->body_n > HTTP_BODY_MAX) {
		refuse_body(c);
		return;
	}
	if (!r->begun) { /* blank lines between requests */
		conn_take(c, r->parsed);
		http_reader_next(r);
		return;
	}
	if (dead > 0) {
		from = c->in.p + c->taken + r->parsed;
		memmove(from - dead, from, c->in.n - c->taken - r->parsed);
		c->in.n -= dead;
		r->parsed -= dead;
	}
	if (!r->head_done)
		conn_expect(c, DUE_HEAD);
}

static enum http_step parse(struct conn *c, struct http *h)
{
	enum http_step s = http_reader_step(&h->reader, c->in.p + c->taken, c->in.n - c->taken);

	if (s == HTTP_STEP_MESSAGE)
		read_get(c, h);
	return s;
}

/* The step that look found, or the next. */
static enum http_step next_step(struct conn *c, struct http *h)
{
	enum http_step s = h->ahead;

	h->ahead = HTTP_STEP_MORE;
	return s != HTTP_STEP_MORE ? s : parse(c, h);
}

static bool step(struct conn *c)
{
	struct http *h = c->door_state;
	struct fault f = { .code = ERR_SERIALIZATION };

	if ((!h->reader.head_done || h->ahead != HTTP_STEP_MORE) && !conn_may_take(c))
		return false;
	switch (next_step(c, h)) {
	case HTTP_STEP_MORE:
		on_more(c, h);
		break;
	case HTTP_STEP_HEAD:
		return on_head(c, h);
	case HTTP_STEP_MESSAGE:
		if (h->reader.body_n > HTTP_BODY_MAX) {
			refuse_body(c);
			return false;
		}
		return on_message(c, h);
	case HTTP_STEP_TOO_LONG:
		f.text = "Request head is longer than 16384 bytes";
		refuse(c, 0, &f, CONN_HEAD_TOO_LONG);
		break;
	case HTTP_STEP_BAD:
		f.text = "Request is not HTTP";
		refuse(c, 0, &f, CONN_BAD_HTTP);
		break;
	}
	return false;
}

/* A head that on_head would only nod at. */
static bool head_is_plain(const struct http_reader *r)
{
	return !r->header[HEADER_EXPECT].present && http_reader_length(r) <= HTTP_BODY_MAX;
}

static void door_look(struct conn *c)
{
	struct http *h = c->door_state;

	http_get_fetch(c->worker);
	if (h->ahead != HTTP_STEP_MORE || c->in.n == c->taken)
		return;
	h->ahead = parse(c, h);
	if (h->ahead == HTTP_STEP_HEAD && head_is_plain(&h->reader)) {
		conn_expect(c, DUE_BODY);
		h->ahead = parse(c, h);
	}
}

static void door_input(struct conn *c)
{
	http_get_fetch(c->worker);
	while (c->in.n > c->taken && step(c))
		;
}

const struct conn_door door_http = { "http", door_open, door_look, door_input, NULL, door_closed };
