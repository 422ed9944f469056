/* call - one request on its way through a worker: read by a door, carried out by a handler, answered by the door.
 *
 *    door: call_new -> request read into call->req -> dispatch_run -> handler ... call_answer | call_fail
 *    -> door's finish(): writes answer or error to its connection, and drops the call
 *
 * A handler may finish at once or later (a read in flight, a write at the writer); between, the connection may die: the
 * call keeps the shell of its connection, and finish() then only lets go of it.
 *
 * L1. Exactly one of call_answer and call_fail is called, once, on the call's worker; whoever calls it lets go of the call.
 * L2. When a call's deadline passes, on_deadline answers it, once. Its handler goes on, and its result is dropped.
 * L3. What a call points to lives in its arena, or in its `out`: never in an input buffer.
 *
 * Threads: a call belongs to its worker for life. */
#ifndef DYNAX_PROXY_CALL_H
#define DYNAX_PROXY_CALL_H

#include "protocol/frame.h"
#include "protocol/request.h"
#include "proxy/deadline.h"

struct worker;
struct conn;

struct call {
	struct worker *worker;
	struct conn *conn;             /* a reference; its state says whether anybody still listens */
	void (*finish)(struct call *c); /* the door's: writes the answer now or in its turn, then call_drop */
	void (*on_deadline)(struct call *c, const struct fault *f); /* the door's, if it sets deadlines: answers with the error */
	struct arena arena;
	struct request req;
	struct buf out;                /* the answer record */
	struct fault fault;            /* code != ERR_OK: the error to answer with; its arena is the call's */
	enum frame_cache cache;        /* where the answer came from */
	uint64_t start_ns;             /* CLOCK_MONOTONIC, when it was read */
	uint64_t deadline_ns;          /* 0 = none */
	struct due due;                /* in the worker's list while a request with a deadline is in flight */
	bool expired;                  /* its deadline was answered: what comes now is for nobody */
	bool is_long;                  /* the answer may be long: its connection knows */
	uint32_t id;                   /* msgpack door: frame id */
	struct slice host;             /* HTTP door: how the client calls us, in the arena; may be absent */
	void *door;                    /* the door's own state, in the arena */
	void *handler;                 /* a handler's own state, in the arena */
	struct call *next;             /* of whoever holds it: pool, door */
};

/* An empty call of this worker, with arena, out and fault ready; NULL if out of memory. */
struct call *call_new(struct worker *w) __attribute__((warn_unused_result));
/* For doors: recycle it. */
void call_drop(struct call *c);

/* Zeroed memory for a handler's state, in the call's arena. NULL if memory is out: then the call has failed. */
void *call_state(struct call *c, size_t n) __attribute__((malloc, warn_unused_result));

/* Have on_deadline called at deadline_ns unless the call ends before. */
void call_watch(struct call *c);

/* The answer record is in c->out. If building it ran out of memory (c->out.failed), this is a failure instead. */
void call_answer(struct call *c, enum frame_cache from);
/* c->fault says why. */
void call_fail(struct call *c);

/* dispatch: find the handler of c->req.op and run it. */
void dispatch_run(struct call *c);

#endif
