/* op_get - GetItem, through the item cache.
 *
 *    check --> cache --hit--------------------------------------------> answer
 *                \--miss--> epoch --> flight --leads--> store --> fill, land --> answer
 *                                       \--waits, for another's read ------------> answer
 *
 * The epoch is loaded before the read begins and goes with it to the fill (epoch.h, E3). A read under an odd epoch flies alone
 * and fills nothing. ConsistentRead changes what is reported as consumed, not where the answer comes from: with the
 * embedded store a cached read is as good as a consistent one.
 *
 * Fast hits do not come here (fast_get.h, http_get.h).
 *
 * Threads: on the call's worker, but `wake`, on the leader's. Ownership: the state lives in the call's arena. */
#include "protocol/messages.h"
#include "proxy/fault_point.h"
#include "proxy/flight.h"
#include "proxy/handlers.h"
#include "proxy/read_plan.h"
#include "proxy/worker.h"

struct get {
	struct call *call;
	struct read_plan plan;
	enum report report;
	enum read_consistency consistency;
	const struct table *table;       /* until the read is asked for */
	uint32_t table_id;
	struct slice key;
	uint64_t hash;                   /* of the key in the cache */
	uint64_t part, epoch;            /* hash of the partition, and its epoch before the read */
	struct backend_read read;
	struct flight flight;
	bool leads;
	struct flight_waiter waiter;
	struct mail landed;              /* brings a waiter home to its worker */
};

static enum err get_check(struct get *g)
{
	static const struct read_members ids = { GetItemInput_AttributesToGet, GetItemInput_ExpressionAttributeNames,
		GetItemInput_ProjectionExpression };
	struct call *c = g->call;
	const struct record *in = &c->req.in;
	enum err rc = request_check(&c->req, &c->fault);

	if (rc == ERR_OK)
		rc = read_plan_bind(&g->plan, c->worker, &c->req, in, &ids, &c->fault);
	if (rc == ERR_OK)
		rc = read_table(c->worker, record_str(in, GetItemInput_TableName), &g->table, &c->fault);
	if (rc != ERR_OK)
		return rc;
	g->key = in->m[GetItemInput_Key];
	g->report = report_of(record_str(in, GetItemInput_ReturnConsumedCapacity));
	g->consistency = record_bool(in, GetItemInput_ConsistentRead) ? READ_STRONG : READ_EVENTUAL;
	g->table_id = g->table->id;
	g->hash = item_cache_hash(g->table_id, g->key);
	rc = store_check_key(g->table, g->key, &g->part, &c->fault);
	return rc == ERR_OK ? store_check_paths(g->table, g->plan.projection, NULL, &c->fault) : rc;
}

static void get_fail(struct get *g)
{
	read_plan_release(&g->plan);
	call_fail(g->call);
}

static void get_answer(struct get *g, struct slice item, enum frame_cache from)
{
	struct call *c = g->call;
	size_t at = record_begin(&c->out);
	unsigned n = 0;

	if (g->report != REPORT_NONE) {
		struct consumed used = { .table = record_str(&c->req.in, GetItemInput_TableName),
			.read = read_cost(item, g->consistency) };

		record_key(&c->out, &n, GetItemOutput_ConsumedCapacity);
		consumed_put(&c->out, &used, g->report, false);
	}
	if (slice_present(item)) {
		record_key(&c->out, &n, GetItemOutput_Item);
		read_plan_put(&g->plan, item, &c->out);
	}
	record_end(&c->out, at, n);
	read_plan_release(&g->plan);
	call_answer(c, from);
}

/* What is read from the store, by oneself or by another, went by the cache if there is none. */
static enum frame_cache from_store(const struct get *g)
{
	return g->call->worker->items != NULL ? FRAME_CACHE_MISS : FRAME_CACHE_BYPASS;
}

static bool get_from_cache(struct get *g)
{
	struct worker *w = g->call->worker;
	struct buf item = worker_borrow_buf(w);
	unsigned units;
	enum item_cache_result r = item_cache_get_priced(w->items, g->table_id, g->key, g->hash, w->now_ns, &item, &units);

	if (item.failed)
		r = ITEM_CACHE_MISS;
	if (r != ITEM_CACHE_MISS) {
		meter_save(g->table->meter, read_saved(units, g->consistency));
		get_answer(g, r == ITEM_CACHE_HIT ? buf_slice(&item) : SLICE_NONE, FRAME_CACHE_HIT);
	}
	worker_return_buf(w, &item);
	return r != ITEM_CACHE_MISS;
}

/* ---- the store ---- */

static void get_done(struct backend_read *rd)
{
	struct get *g = rd->arg;
	struct worker *w = g->call->worker;

	fault_fill_delay();
	if (fault_read_error())
		rd->result = fault_set(&rd->fault, MSG_FAULT_POINT);
	if (rd->result == ERR_OK)
		item_cache_fill(w->items, g->table_id, g->key, g->hash, g->part, g->epoch, w->now_ns, rd->item);
	if (g->leads)
		flight_land(w->shared->flights, &g->flight, rd->result, &rd->fault, rd->item);
	if (rd->result == ERR_OK) {
		get_answer(g, rd->item, from_store(g));
	} else {
		g->call->fault = rd->fault;
		get_fail(g);
	}
}

static void get_from_store(struct get *g)
{
	struct worker *w = g->call->worker;

	g->read = (struct backend_read){ .done = get_done, .arg = g, .consistency = g->consistency };
	fault_init(&g->read.fault, &g->call->arena);
	w->backend->ops->get(w->reader, g->table, g->key, g->part, &g->read);
}

/* ---- another's read ---- */

static void get_landed(struct mail *m)
{
	struct get *g = (struct get *)(void *)((char *)m - offsetof(struct get, landed));
	struct flight_result *r = g->waiter.result;

	if (flight_result_fault(r, &g->call->fault) != ERR_OK)
		get_fail(g);
	else
		get_answer(g, flight_result_value(r), from_store(g));
	flight_result_unref(&r);
}

static void get_wake(struct flight_waiter *waiter)
{
	struct get *g = (struct get *)(void *)((char *)waiter - offsetof(struct get, waiter));

	mailbox_post(&g->call->worker->mailbox, &g->landed);
}

void op_get_item(struct call *c)
{
	struct worker *w = c->worker;
	struct get *g = call_state(c, sizeof(*g));

	if (g == NULL)
		return;
	g->call = c;
	g->waiter.wake = get_wake;
	g->landed.deliver = get_landed;
	if (get_check(g) != ERR_OK) {
		get_fail(g);
		return;
	}
	if (get_from_cache(g))
		return;
	g->epoch = epoch_load(w->epochs, g->table_id, g->part, false);
	if (w->shared->flights != NULL && epoch_even(g->epoch)) {
		g->leads = flight_join(w->shared->flights, g->table_id, g->key, g->hash, g->epoch, &g->flight, &g->waiter);
		if (!g->leads)
			return;
	}
	get_from_store(g);
}
