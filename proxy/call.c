/* call - see call.h. Calls and their arenas are kept by the worker for the next request. */
#include "proxy/call.h"

#include <stddef.h>
#include <stdlib.h>

#include "protocol/messages.h"
#include "proxy/conn.h"
#include "proxy/log.h"

struct call *call_new(struct worker *w)
{
	struct call *c = w->free_calls;

	if (c != NULL) {
		w->free_calls = c->next;
		w->calls_free--;
	} else {
		c = calloc(1, sizeof(*c));
		if (c == NULL)
			return NULL;
		arena_init(&c->arena, 0);
		buf_init(&c->out);
	}
	c->worker = w;
	w->calls_live++;
	c->start_ns = w->now_ns;
	c->req = (struct request){ .op = OP_COUNT };
	fault_init(&c->fault, &c->arena);
	return c;
}

void call_drop(struct call *c)
{
	struct worker *w = c->worker;

	deadlines_remove(&c->due);
	if (c->conn != NULL)
		conn_call_end(c->conn, c->is_long);
	w->calls_live--;
	if (w->calls_free >= WORKER_SPARE_CALLS) {
		arena_release(&c->arena);
		buf_release(&c->out);
		free(c);
		return;
	}
	arena_reset(&c->arena); /* keeps the memory of an ordinary request, not that of a giant */
	if (c->out.cap > WORKER_SPARE_BYTES)
		buf_release(&c->out);
	else
		buf_clear(&c->out);
	c->conn = NULL;
	c->door = c->handler = NULL;
	c->deadline_ns = 0;
	c->expired = c->is_long = false;
	c->id = 0;
	c->host = SLICE_NONE;
	c->cache = FRAME_CACHE_NONE;
	c->next = w->free_calls;
	w->free_calls = c;
	w->calls_free++;
}

/* The handler may be at work on another thread: nothing of the call is touched but what only this worker reads. */
static void expire(struct due *d, uint64_t now_ns)
{
	struct call *c = (struct call *)(void *)((char *)d - offsetof(struct call, due));
	struct fault f = { .arena = NULL };

	c->expired = true;
	fault_set(&f, MSG_DEADLINE);
	metrics_observe(c->worker->metrics, c->req.op, f.code, FRAME_CACHE_NONE, now_ns - c->start_ns, 1);
	c->on_deadline(c, &f);
}

void call_watch(struct call *c)
{
	c->due.at_ns = c->deadline_ns;
	c->due.expire = expire;
	deadlines_add(&c->worker->deadlines, &c->due, c->worker->now_ns);
}

static void call_end(struct call *c)
{
	struct worker *w = c->worker;

	if (c->expired) {
		metrics_count(w->metrics, METRIC_ORPHANS, 1);
		call_drop(c);
		return;
	}
	w->last_ns = monotonic_ns();
	if (c->req.op < OP_COUNT)
		metrics_observe(w->metrics, c->req.op, c->fault.code, (uint8_t)c->cache, w->last_ns - c->start_ns, 1);
	if (c->conn != NULL && !conn_is_alive(c->conn))
		metrics_count(w->metrics, METRIC_ORPHANS, 1);
	c->finish(c);
}

void call_answer(struct call *c, enum frame_cache from)
{
	c->cache = from;
	c->fault.code = ERR_OK;
	if (c->out.failed)
		fault_set(&c->fault, MSG_NO_MEMORY);
	call_end(c);
}

/* What an operator must know of: a full disk, a full map, damage, want of memory. */
static void log_failure(const struct call *c)
{
	static struct log_gate gate; /* one for the process: its log is what it guards */

	if (log_gate_open(&gate))
		log_error("%s: %s", c->req.op < OP_COUNT ? op_info[c->req.op].name : "request",
			c->fault.text != NULL ? c->fault.text : err_type(c->fault.code));
}

void call_fail(struct call *c)
{
	if (c->fault.code == ERR_OK) /* a failure must have a reason */
		fault_set(&c->fault, ERR_INTERNAL, "Internal server error");
	if (err_http_status(c->fault.code) == 500)
		log_failure(c);
	call_end(c);
}

void *call_state(struct call *c, size_t n)
{
	void *p = arena_zalloc(&c->arena, n);

	if (p == NULL) {
		fault_set(&c->fault, MSG_NO_MEMORY);
		call_fail(c);
	}
	return p;
}
