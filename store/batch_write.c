/* batch_write - BatchWriteItem: up to 25 puts and deletes, checked as a whole, written in one transaction.
 *
 * Those for which the table, or an index, has no throughput left are not done and come back as UnprocessedItems; if that
 * is all of them, the request fails. Anything else that goes wrong undoes all. */
#include "protocol/messages.h"
#include "store/check_key.h"
#include "store/item_apply.h"
#include "store/throughput.h"
#include "store/write_many.h"

enum { BATCH_WRITES_MAX = 25 };

/* ---- the worker's half ---- */

static uint32_t count_requests(const struct record *in)
{
	uint32_t tables, all = 0;

	for (struct mp m = record_list(in, BatchWriteItemInput_RequestItems, &tables); tables > 0; tables--) {
		mp_str(&m);
		struct mp list = mp_open(mp_skip(&m));

		all += mp_array(&list);
	}
	return all;
}

/* One WriteRequest, without its table: kind, item or key, size. */
static enum err read_request(struct slice bytes, struct item_op *op, struct fault *f)
{
	struct record r, inner;

	if (!record_open(&r, &shape_WriteRequest, bytes)
	    || record_has(&r, WriteRequest_PutRequest) == record_has(&r, WriteRequest_DeleteRequest))
		return fault_set(f, MSG_WRITE_REQUEST_EMPTY);
	if (record_has(&r, WriteRequest_DeleteRequest)) {
		if (!record_open(&inner, &shape_DeleteRequest, r.m[WriteRequest_DeleteRequest]))
			return fault_set(f, MSG_WRITE_REQUEST_EMPTY);
		op->kind = ITEM_DELETE;
		op->key = inner.m[DeleteRequest_Key];
		return ERR_OK;
	}
	if (!record_open(&inner, &shape_PutRequest, r.m[WriteRequest_PutRequest]))
		return fault_set(f, MSG_WRITE_REQUEST_EMPTY);
	op->kind = ITEM_PUT;
	op->item = inner.m[PutRequest_Item];
	return check_put_item(op->item, f);
}

/* A put that lacks a key, or has it of another type, is told of in the words for keys here. */
static enum err check_put(const struct table *t, struct slice item, uint64_t *hash, struct fault *f)
{
	const struct key_attr *attr[] = { &t->key.hash[0], &t->key.range[0] };

	for (unsigned i = 0; i < t->key.hashes + t->key.ranges; i++) {
		struct slice v = map_get(item, attr[i]->name);

		if (!slice_present(v) || value_type(v) != attr[i]->type)
			return fault_set(f, MSG_KEY_SCHEMA);
	}
	enum err rc = check_item_key(t, item, hash, f);

	return rc == ERR_OK ? check_index_keys(t, item, f) : rc;
}

static enum err address(struct store_write *w, const struct table *t, struct item_op *op)
{
	uint64_t hash;
	enum err rc = op->kind == ITEM_PUT ? check_put(t, op->item, &hash, &w->fault)
		: store_check_key(t, op->key, &hash, &w->fault);

	return rc == ERR_OK ? write_address(w, t, op->kind == ITEM_PUT ? op->item : op->key, hash, op, &w->fault) : rc;
}

/* Two passes, as the service: every request by itself, then every table and key. */
static enum err each_request(struct store_reader *r, struct store_write *w, bool with_tables)
{
	struct item_op *op = w->plan->op;
	uint32_t tables, n;
	enum err rc = ERR_OK;

	for (struct mp m = record_list(&w->req->in, BatchWriteItemInput_RequestItems, &tables); tables > 0; tables--) {
		struct slice name = mp_str(&m);
		struct mp list = mp_open(mp_skip(&m));
		const struct table *t = NULL;

		if (with_tables)
			rc = reader_table(r, name, &t, &w->fault);
		for (n = mp_array(&list); n > 0 && rc == ERR_OK; n--, op++)
			rc = with_tables ? address(w, t, op) : read_request(mp_skip(&list), op, &w->fault);
		if (rc != ERR_OK)
			return rc;
	}
	return ERR_OK;
}

static enum err batch_write_apply(struct write_batch *b, struct store_write *w);

enum err batch_write_prepare(struct store_reader *r, struct store_write *w)
{
	const struct record *in = &w->req->in;
	uint32_t n = count_requests(in);

	if (n == 0)
		return fault_set(&w->fault, MSG_REQUEST_ITEMS_REQUIRED, "BatchWriteItem");
	if (n > BATCH_WRITES_MAX)
		return fault_set(&w->fault, MSG_BATCH_WRITE_MANY);
	enum err rc = write_plan_ops(w, n);

	if (rc != ERR_OK)
		return rc;
	w->plan->apply = batch_write_apply;
	w->plan->report = report_of(record_str(in, BatchWriteItemInput_ReturnConsumedCapacity));
	w->plan->metrics = record_is(in, BatchWriteItemInput_ReturnItemCollectionMetrics, "SIZE");
	rc = each_request(r, w, false);
	if (rc == ERR_OK)
		rc = each_request(r, w, true);
	return rc == ERR_OK && !write_many_distinct(w->plan) ? fault_set(&w->fault, MSG_DUPLICATE_KEYS) : rc;
}

/* ---- the writer's half ---- */

/* The requests again that were refused, under their tables. Operations are in the order of the request. */
static void put_unprocessed(struct store_write *w)
{
	const struct item_op *op = w->plan->op;
	uint32_t tables, left = 0;
	struct mp m = record_list(&w->req->in, BatchWriteItemInput_RequestItems, &tables);
	size_t at = map_begin(w->out);

	for (; tables > 0; tables--) {
		struct slice name = mp_str(&m);
		struct mp list = mp_open(mp_skip(&m));
		uint32_t n = mp_array(&list), refused = 0;

		for (uint32_t i = 0; i < n; i++)
			refused += op[i].refused;
		if (refused != 0) {
			left++;
			mp_put_str(w->out, name);
			mp_put_array(w->out, refused);
		}
		for (; n > 0; n--, op++) {
			struct slice request = mp_skip(&list);

			if (op->refused)
				buf_put_slice(w->out, request);
		}
	}
	map_end(w->out, at, left);
}

static enum err put_answer(struct write_txn *t, struct store_write *w)
{
	unsigned n = 0;
	size_t at = record_begin(w->out);
	enum err rc = write_many_report(t, w, &n, false);

	record_key(w->out, &n, BatchWriteItemOutput_UnprocessedItems);
	put_unprocessed(w);
	record_end(w->out, at, n);
	return rc;
}

/* Every operation, but those that are refused; an error if all of them are. */
static enum err apply_all(struct write_txn *t, struct store_write *w)
{
	struct write_plan *p = w->plan;
	unsigned refused = 0;
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < p->ops; i++) {
		rc = item_apply(t, &p->op[i], false, &w->fault);
		p->op[i].refused = throughput_error(rc);
		refused += p->op[i].refused;
		if (rc != ERR_OK && !p->op[i].refused)
			return rc;
	}
	return refused == p->ops ? w->fault.code : ERR_OK;
}

static enum err batch_write_apply(struct write_batch *b, struct store_write *w)
{
	struct write_txn t;

	write_txn_begin(&t, b, w->req->arena);
	enum err rc = apply_all(&t, w);

	if (rc == ERR_OK)
		rc = put_answer(&t, w);
	return write_end(&t, w, rc);
}
