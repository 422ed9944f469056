/* op_transact_get - TransactGetItems: all items from one view of the store, so from one moment.
 *
 * The caches are neither asked nor filled: two cached items are each current, but not of one moment.
 *
 * A key that does not fit its table's schema cancels the transaction, with a reason for each item; what is wrong with the
 * request as a whole, and an empty key, is refused before that.
 *
 * Threads: on the call's worker. Ownership: the state lives in the call's arena. */
#include "protocol/messages.h"
#include "proxy/handlers.h"
#include "proxy/read_plan.h"
#include "proxy/worker.h"
#include "store/cancel.h"
#include "store/check_key.h"

enum { GETS_MAX = 100, TRANSACTION_BYTES_MAX = 4 << 20 };

struct transact_get {
	struct call *call;
	struct get_part {
		struct slice table_name;
		struct read_plan plan;
		struct fault reason;             /* why this item cancels the transaction; ERR_OK = it does not */
	} part[GETS_MAX];
	struct backend_key key[GETS_MAX];
	unsigned n;
	struct backend_read read;
};

static void transact_release(struct transact_get *t)
{
	for (unsigned i = 0; i < t->n; i++)
		read_plan_release(&t->part[i].plan);
}

static void transact_fail(struct transact_get *t)
{
	transact_release(t);
	call_fail(t->call);
}

/* ---- check ---- */

static enum err read_get(struct transact_get *t, struct slice bytes)
{
	static const struct read_members ids = { READ_NO_MEMBER, Get_ExpressionAttributeNames, Get_ProjectionExpression };
	struct call *c = t->call;
	struct get_part *p = &t->part[t->n];
	struct record item, get;
	enum err rc = ERR_OK;

	if (!record_open(&item, &shape_TransactGetItem, bytes) ||
	    !record_open(&get, &shape_Get, item.m[TransactGetItem_Get]))
		return fault_set(&c->fault, MSG_RECORD_BAD, "TransactGetItems");
	p->table_name = record_str(&get, Get_TableName);
	t->key[t->n].key = get.m[Get_Key];
	/* Names without an expression are no fault here, unlike in GetItem. */
	if (record_has(&get, Get_ProjectionExpression))
		rc = read_plan_bind(&p->plan, c->worker, &c->req, &get, &ids, &c->fault);
	if (rc == ERR_OK)
		t->n++;
	return rc;
}

static enum err check_tables(struct transact_get *t)
{
	struct fault *f = &t->call->fault;

	for (unsigned i = 0; i < t->n; i++) {
		enum err rc = read_table(t->call->worker, t->part[i].table_name, &t->key[i].table, f);

		if (rc == ERR_OK)
			rc = check_filled(t->key[i].table, t->key[i].key, SLICE_NONE, NULL, f);
		if (rc != ERR_OK)
			return rc;
		for (unsigned k = 0; k < i; k++)
			if (t->key[k].table == t->key[i].table && slice_eq(t->key[k].key, t->key[i].key))
				return fault_set(f, MSG_ONE_ITEM_ONCE);
	}
	return ERR_OK;
}

/* The error that tells, item by item, what is wrong. */
static enum err cancel(struct transact_get *t)
{
	struct cancel_reason reason[GETS_MAX];

	for (unsigned i = 0; i < t->n; i++)
		reason[i] = (struct cancel_reason){ .code = t->part[i].reason.code, .text = t->part[i].reason.text };
	return cancel_set(&t->call->fault, reason, t->n);
}

static enum err check_keys(struct transact_get *t)
{
	bool canceled = false;

	for (unsigned i = 0; i < t->n; i++) {
		struct get_part *p = &t->part[i];

		fault_init(&p->reason, &t->call->arena);
		if (store_check_key(t->key[i].table, t->key[i].key, &t->key[i].hash, &p->reason) != ERR_OK ||
		    store_check_paths(t->key[i].table, p->plan.projection, NULL, &p->reason) != ERR_OK)
			canceled = true;
	}
	return canceled ? cancel(t) : ERR_OK;
}

static enum err check(struct transact_get *t)
{
	struct call *c = t->call;
	enum err rc = request_check(&c->req, &c->fault);
	uint32_t n = 0;
	struct mp m;

	if (rc != ERR_OK)
		return rc;
	m = record_list(&c->req.in, TransactGetItemsInput_TransactItems, &n);
	for (; n > 0 && rc == ERR_OK; n--)
		rc = read_get(t, mp_skip(&m));
	if (rc == ERR_OK)
		rc = check_tables(t);
	return rc == ERR_OK ? check_keys(t) : rc;
}

/* ---- answer ---- */

/* A line for each table, in order of appearance. */
static void put_consumed(struct transact_get *t, enum report report, struct buf *out)
{
	size_t at = list_begin(out);
	uint32_t n = 0;

	for (unsigned i = 0; i < t->n; i++) {
		struct consumed used = { .table = t->part[i].table_name };
		bool told = false;

		for (unsigned k = 0; k < i && !told; k++)
			told = t->key[k].table == t->key[i].table;
		if (told)
			continue;
		for (unsigned k = i; k < t->n; k++)
			if (t->key[k].table == t->key[i].table)
				used.read += read_cost(t->key[k].item, READ_TRANSACTIONAL);
		consumed_put(out, &used, report, true);
		n++;
	}
	list_end(out, at, n);
}

/* An item of which nothing is asked for that it has is not told from one that is missing; GetItem tells them apart. */
static void put_response(struct buf *out, const struct read_plan *plan, struct slice item)
{
	size_t at = record_begin(out), item_at = out->n;
	unsigned n = 0;

	if (slice_present(item)) {
		size_t image;

		record_key(out, &n, ItemResponse_Item);
		image = out->n;
		read_plan_put(plan, item, out);
		if (!out->failed && value_count(slice_of(out->p + image, out->n - image)) == 0) {
			out->n = item_at;
			n = 0;
		}
	}
	record_end(out, at, n);
}

static void put_responses(struct transact_get *t, struct buf *out)
{
	mp_put_array(out, t->n);
	for (unsigned i = 0; i < t->n; i++)
		put_response(out, &t->part[i].plan, t->key[i].item);
}

static bool too_large(const struct transact_get *t)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < t->n; i++)
		if (slice_present(t->key[i].item))
			bytes += item_size(t->key[i].item);
	return bytes > TRANSACTION_BYTES_MAX;
}

/* A transaction for which there is not enough throughput is cancelled, as a whole. */
static enum err check_refused(struct transact_get *t)
{
	bool refused = false;

	for (unsigned i = 0; i < t->n; i++) {
		struct fault *reason = &t->part[i].reason;

		if (t->key[i].refused == ERR_THROUGHPUT_EXCEEDED)
			fault_set(reason, MSG_UNITS_EXCEEDED);
		else if (t->key[i].refused == ERR_THROTTLING)
			fault_set(reason, MSG_MAXIMUM_EXCEEDED);
		refused |= t->key[i].refused != ERR_OK;
	}
	return refused ? cancel(t) : ERR_OK;
}

static void transact_done(struct backend_read *rd)
{
	struct transact_get *t = rd->arg;
	struct call *c = t->call;
	enum report report = report_of(record_str(&c->req.in, TransactGetItemsInput_ReturnConsumedCapacity));
	unsigned n = 0;
	size_t at;

	if (rd->result == ERR_OK && check_refused(t) != ERR_OK) {
		transact_fail(t);
		return;
	}
	if (rd->result == ERR_OK && too_large(t))
		rd->result = fault_set(&rd->fault, MSG_TRANSACT_GET_SIZE);
	if (rd->result != ERR_OK) {
		c->fault = rd->fault;
		transact_fail(t);
		return;
	}
	at = record_begin(&c->out);
	if (report != REPORT_NONE) {
		record_key(&c->out, &n, TransactGetItemsOutput_ConsumedCapacity);
		put_consumed(t, report, &c->out);
	}
	record_key(&c->out, &n, TransactGetItemsOutput_Responses);
	put_responses(t, &c->out);
	record_end(&c->out, at, n);
	transact_release(t);
	call_answer(c, FRAME_CACHE_BYPASS);
}

void op_transact_get_items(struct call *c)
{
	struct worker *w = c->worker;
	struct transact_get *t = call_state(c, sizeof(*t));

	if (t == NULL)
		return;
	t->call = c;
	if (check(t) != ERR_OK) {
		transact_fail(t);
		return;
	}
	for (unsigned i = 0; i < t->n; i++)
		t->key[i].consistency = READ_TRANSACTIONAL;
	t->read = (struct backend_read){ .done = transact_done, .arg = t, .partial = true };
	fault_init(&t->read.fault, &c->arena);
	w->backend->ops->get_all(w->reader, t->key, t->n, &t->read);
}
