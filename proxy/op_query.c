/* op_query - Query and Scan, through the query cache.
 *
 *    check, prepare --> epoch --> cache --hit---------------------------------> answer
 *                                   \--miss--> flight --leads--> store --> fill, land --> answer
 *                                                \--waits, for another's read ----------> answer
 *
 * Preparing tells what the answer depends on: a partition of a table or index, or all of it; that stripe's epoch is loaded
 * before the cache is asked and goes with the read to the fill (epoch.h).
 *
 * Threads: on the call's worker, but `wake`, on the leader's. Ownership: the state lives in the call's arena. */
#include "protocol/messages.h"
#include "proxy/fault_point.h"
#include "proxy/flight.h"
#include "proxy/handlers.h"
#include "proxy/worker.h"

struct query_call {
	struct call *call;
	struct store_query query;
	uint64_t epoch;
	struct backend_read read;
	struct flight flight;
	bool leads;
	struct flight_waiter waiter;
	struct mail landed;              /* brings a waiter home to its worker */
};

/* What is read from the store, by oneself or by another, went by the cache if there is none. */
static enum frame_cache from_store(const struct query_call *q)
{
	return q->call->worker->queries != NULL ? FRAME_CACHE_MISS : FRAME_CACHE_BYPASS;
}

/* Ends the query, and the call. */
static void query_over(struct query_call *q, enum err rc, enum frame_cache from)
{
	struct call *c = q->call;

	c->worker->backend->ops->query_end(c->worker->reader, &q->query);
	if (rc == ERR_OK)
		call_answer(c, from);
	else
		call_fail(c);
}

static void query_done(struct backend_read *rd)
{
	struct query_call *q = rd->arg;
	struct call *c = q->call;
	struct worker *w = c->worker;

	fault_fill_delay();
	if (fault_read_error())
		rd->result = fault_set(&rd->fault, MSG_FAULT_POINT);
	if (rd->result == ERR_OK && c->out.failed)
		rd->result = fault_set(&rd->fault, MSG_NO_MEMORY);
	if (rd->result == ERR_OK)
		query_cache_fill(w->queries, c->req.op, c->req.bytes, &q->query, q->epoch, w->now_ns, buf_slice(&c->out));
	if (q->leads)
		flight_land(w->shared->flights, &q->flight, rd->result, &rd->fault, buf_slice(&c->out));
	c->fault = rd->fault;
	query_over(q, rd->result, from_store(q));
}

static void query_from_store(struct query_call *q)
{
	struct call *c = q->call;

	q->read = (struct backend_read){ .done = query_done, .arg = q, .out = &c->out };
	fault_init(&q->read.fault, &c->arena);
	c->worker->backend->ops->query(c->worker->reader, &c->req, &q->query, &q->read);
}

static void query_landed(struct mail *m)
{
	struct query_call *q = (struct query_call *)(void *)((char *)m - offsetof(struct query_call, landed));
	struct flight_result *r = q->waiter.result;
	enum err rc = flight_result_fault(r, &q->call->fault);

	if (rc == ERR_OK)
		buf_put_slice(&q->call->out, flight_result_value(r));
	flight_result_unref(&r);
	query_over(q, rc, from_store(q));
}

static void query_wake(struct flight_waiter *waiter)
{
	struct query_call *q = (struct query_call *)(void *)((char *)waiter - offsetof(struct query_call, waiter));

	mailbox_post(&q->call->worker->mailbox, &q->landed);
}

static bool query_waits(struct query_call *q)
{
	struct call *c = q->call;
	struct flights *f = c->worker->shared->flights;

	if (f == NULL || !epoch_even(q->epoch))
		return false;
	q->leads = flight_join(f, query_cache_space(c->req.op, &q->query), c->req.bytes,
		query_cache_hash(c->req.op, c->req.bytes, &q->query), q->epoch, &q->flight, &q->waiter);
	return !q->leads;
}

void op_query(struct call *c)
{
	struct worker *w = c->worker;
	struct query_call *q = call_state(c, sizeof(*q));

	if (q == NULL)
		return;
	q->call = c;
	q->waiter.wake = query_wake;
	q->landed.deliver = query_landed;
	if (w->backend->ops->query_prepare(w->reader, &c->req, &q->query, &c->fault) != ERR_OK) {
		call_fail(c);
		return;
	}
	q->epoch = epoch_load(w->epochs, q->query.stripe_table, q->query.stripe_hash, q->query.whole);
	if (query_cache_get(w->queries, c->req.op, c->req.bytes, &q->query, q->epoch, w->now_ns, &c->out))
		query_over(q, ERR_OK, FRAME_CACHE_HIT);
	else if (!query_waits(q))
		query_from_store(q);
}
