/* call - one request on its way through a worker: read by a door, carried out by a handler, answered by the door.
 *
 *    door: call_new -> request read into call->req -> dispatch_run -> handler ... call_answer | call_fail
 *    -> door's finish(): writes answer or error to its connection, recycles the call
 *
 * A handler may finish at once or later (a read in flight, a write at the writer); between, the connection may die:
 * the door then detaches, and finish() only recycles. Exactly one of call_answer and call_fail is called, once.
 *
 * Threads: a call belongs to its worker for life. Ownership: everything it points to lives in its arena, or in buffers of
 * its own, until it is recycled. */
#ifndef DYNAX_PROXY_CALL_H
#define DYNAX_PROXY_CALL_H

#include "protocol/frame.h"
#include "protocol/request.h"

struct worker;
struct conn;

struct call {
	struct worker *worker;
	struct conn *conn;             /* NULL once the connection has gone */
	void (*finish)(struct call *c);
	struct arena arena;
	struct request req;
	struct buf out;                /* the answer record */
	struct fault fault;            /* code != ERR_OK: the error to answer with */
	enum frame_cache cache;        /* where the answer came from */
	uint64_t start_ns;             /* CLOCK_MONOTONIC, when it was read */
	uint64_t deadline_ns;          /* 0 = none */
	uint32_t id;                   /* msgpack door: frame id */
	void *handler;                 /* a handler's own state, in the arena */
	struct call *next;             /* door's or mailbox' list */
};

/* The answer record is in c->out: the door writes it. */
void call_answer(struct call *c, enum frame_cache from);
/* c->fault says why. */
void call_fail(struct call *c);

/* dispatch: find the handler of c->req.op and run it. */
void dispatch_run(struct call *c);

#endif
