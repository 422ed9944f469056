/* transact_write - TransactWriteItems: up to 100 actions, all or none, in one engine transaction.
 *
 * The writer is alone, so a transaction never conflicts with another and is serializable as it is. What one action
 * does wrong with its key is told as a reason of the cancelled transaction, like a failed condition. */
#include "protocol/messages.h"
#include "store/cancel.h"
#include "store/check_key.h"
#include "store/item_apply.h"
#include "store/params.h"
#include "store/throughput.h"
#include "store/token.h"
#include "store/write_many.h"
#include "store/write_txn.h"

#define TRANSACTION_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* Where each kind of action has its members. */
struct action {
	unsigned member;                 /* of TransactWriteItem */
	const struct shape *shape;
	enum item_op_kind kind;
	uint32_t table, key_or_item, on_failure;
	struct op_params params;
};
#define LEGACY_NONE .expected = PARAMS_END, .conditional_operator = PARAMS_END, .attribute_updates = PARAMS_END
#define EXPRESSIONS(s) .condition = s##_ConditionExpression, .names = s##_ExpressionAttributeNames, \
	.values = s##_ExpressionAttributeValues
static const struct action actions[] = {
	{ TransactWriteItem_ConditionCheck, &shape_ConditionCheck, ITEM_CHECK, ConditionCheck_TableName, ConditionCheck_Key,
		ConditionCheck_ReturnValuesOnConditionCheckFailure,
		{ EXPRESSIONS(ConditionCheck), LEGACY_NONE, .update = PARAMS_END } },
	{ TransactWriteItem_Delete, &shape_Delete, ITEM_DELETE, Delete_TableName, Delete_Key,
		Delete_ReturnValuesOnConditionCheckFailure, { EXPRESSIONS(Delete), LEGACY_NONE, .update = PARAMS_END } },
	{ TransactWriteItem_Put, &shape_Put, ITEM_PUT, Put_TableName, Put_Item,
		Put_ReturnValuesOnConditionCheckFailure, { EXPRESSIONS(Put), LEGACY_NONE, .update = PARAMS_END } },
	{ TransactWriteItem_Update, &shape_Update, ITEM_UPDATE, Update_TableName, Update_Key,
		Update_ReturnValuesOnConditionCheckFailure,
		{ EXPRESSIONS(Update), LEGACY_NONE, .update = Update_UpdateExpression } },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

/* ---- the worker's half ---- */

static enum err open_action(struct slice bytes, const struct action **a, struct record *r, struct fault *f)
{
	struct record item;

	*a = NULL;
	if (!record_open(&item, &shape_TransactWriteItem, bytes))
		return fault_set(f, MSG_ONE_ACTION);
	for (unsigned i = 0; i < ACTIONS; i++) {
		if (!record_has(&item, actions[i].member))
			continue;
		if (*a != NULL)
			return fault_set(f, MSG_ONE_ACTION);
		*a = &actions[i];
	}
	return *a != NULL && record_open(r, (*a)->shape, item.m[(*a)->member]) ? ERR_OK : fault_set(f, MSG_ONE_ACTION);
}

/* Names and values without an expression are no fault here, unlike in PutItem and DeleteItem: nothing looks at them. */
static enum err read_action(struct store_reader *r, struct store_write *w, struct slice bytes, struct item_op *op, size_t *total)
{
	const struct action *a;
	struct record rec;
	enum err rc = open_action(bytes, &a, &rec, &w->fault);

	if (rc != ERR_OK)
		return rc;
	op->kind = a->kind;
	op->key = rec.m[a->key_or_item];
	op->item = a->kind == ITEM_PUT ? op->key : SLICE_NONE;
	op->old_on_failure = record_is(&rec, a->on_failure, "ALL_OLD");
	size_t bytes_of = item_size(op->key);

	*total += bytes_of;
	rc = op->kind == ITEM_PUT ? check_put_item(op->item, &w->fault) : ERR_OK;
	if (rc != ERR_OK)
		return rc;
	return write_bind(r, w, &rec, &a->params, op, &w->fault);
}

/* What is wrong with the key, but that it is empty, is the action's own fault; the service looks no further than the first. */
static enum err address(struct store_write *w, const struct table *t, struct item_op *op, struct fault *own)
{
	struct slice key = op->key;
	uint64_t hash;
	enum err rc = op->kind == ITEM_PUT ? check_item_key(t, key, &hash, own) : store_check_key(t, key, &hash, own);

	if (rc == ERR_OK && op->kind == ITEM_UPDATE)
		rc = check_update(t, op->update, own);
	if (rc == ERR_OK && op->kind == ITEM_PUT)
		rc = check_index_types(t, op->item, own);
	if (rc != ERR_OK)
		return ERR_OK;
	if (op->kind == ITEM_PUT)
		rc = check_index_keys(t, op->item, &w->fault);
	return rc == ERR_OK ? write_address(w, t, key, hash, op, &w->fault) : rc;
}

static enum err address_all(struct store_reader *r, struct store_write *w, struct cancel_reason *reason)
{
	uint32_t n;
	bool cancelled = false;
	struct mp m = record_list(&w->req->in, TransactWriteItemsInput_TransactItems, &n);

	for (uint32_t i = 0; i < n; i++) {
		struct item_op *op = &w->plan->op[i];
		const struct action *a;
		const struct table *t;
		struct record rec;
		struct fault own;

		fault_init(&own, w->req->arena);
		enum err rc = open_action(mp_skip(&m), &a, &rec, &w->fault);

		if (rc == ERR_OK)
			rc = reader_table(r, record_str(&rec, a->table), &t, &w->fault);
		if (rc == ERR_OK)
			rc = check_filled(t, op->key, op->item, op->update, &w->fault);
		if (rc == ERR_OK && !cancelled)
			rc = address(w, t, op, &own);
		if (rc != ERR_OK)
			return rc;
		reason[i] = (struct cancel_reason){ .code = own.code, .text = own.text };
		cancelled |= own.code != ERR_OK;
	}
	return cancelled ? cancel_set(&w->fault, reason, n) : ERR_OK;
}

static enum err transact_write_apply(struct write_batch *b, struct store_write *w);

enum err transact_write_prepare(struct store_reader *r, struct store_write *w)
{
	const struct record *in = &w->req->in;
	size_t total = 0;
	uint32_t n;
	struct mp m = record_list(in, TransactWriteItemsInput_TransactItems, &n);
	struct cancel_reason *reason = arena_zalloc(w->req->arena, (n + 1) * sizeof *reason);
	enum err rc = reason != NULL ? write_plan_ops(w, n) : fault_set(&w->fault, MSG_NO_MEMORY);

	w->plan->apply = transact_write_apply;
	w->plan->control = reason;
	w->plan->report = report_of(record_str(in, TransactWriteItemsInput_ReturnConsumedCapacity));
	w->plan->metrics = record_is(in, TransactWriteItemsInput_ReturnItemCollectionMetrics, "SIZE");
	for (uint32_t i = 0; i < n && rc == ERR_OK; i++)
		rc = read_action(r, w, mp_skip(&m), &w->plan->op[i], &total);
	if (rc == ERR_OK && total > TRANSACTION_BYTES_MAX)
		rc = fault_set(&w->fault, MSG_TRANSACTION_SIZE);
	if (rc == ERR_OK)
		rc = address_all(r, w, reason);
	return rc == ERR_OK && !write_many_distinct(w->plan) ? fault_set(&w->fault, MSG_ONE_ITEM_ONCE) : rc;
}

/* ---- the writer's half ---- */

static enum err put_answer(struct write_txn *t, struct store_write *w)
{
	unsigned n = 0;
	size_t at = record_begin(w->out);
	enum err rc = write_many_report(t, w, &n, true);

	record_end(w->out, at, n);
	return rc;
}

/* A replay answers as the first time did, and costs what reading the items costs. */
static enum err replay(struct write_txn *t, struct store_write *w)
{
	const struct write_batch *b = t->batch;

	for (unsigned i = 0; i < w->plan->ops; i++) {
		struct item_op *op = &w->plan->op[i];
		const struct catalog_table *ct = catalog_find_id(b->catalog, op->table);
		enum err rc = ct != NULL ? engine_read(b->store->engine, op->ekey, &op->old, &w->fault)
			: fault_set(&w->fault, MSG_TABLE_UNKNOWN);

		if (rc != ERR_OK)
			return rc;
		size_t bytes = slice_present(op->old) ? item_size(op->old) : 0;

		op->cost = (struct consumed){ .table = ct->table.name, .read = capacity_read_halves(bytes, READ_TRANSACTIONAL) };
		throughput_charge(b->store, &ct->table, NULL, op->hash, METER_READ, op->cost.read);
	}
	return ERR_OK;
}

/* Every action is tried, so that every reason is known. */
static enum err apply_all(struct write_txn *t, struct store_write *w)
{
	struct cancel_reason *reason = w->plan->control;
	bool cancelled = false;

	for (unsigned i = 0; i < w->plan->ops; i++) {
		struct item_op *op = &w->plan->op[i];
		struct fault own;

		fault_init(&own, w->req->arena);
		enum err rc = item_apply(t, op, true, &own);

		if (!cancel_is_reason(rc)) {
			w->fault = own;
			return rc;
		}
		reason[i] = (struct cancel_reason){ .code = rc, .text = own.text };
		if (rc == ERR_CONDITION_FAILED && op->old_on_failure)
			reason[i].item = op->old;
		cancelled |= rc != ERR_OK;
	}
	return cancelled ? cancel_set(&w->fault, reason, w->plan->ops) : ERR_OK;
}

static enum err transact_write_apply(struct write_batch *b, struct store_write *w)
{
	struct slice token = record_str(&w->req->in, TransactWriteItemsInput_ClientRequestToken);
	struct slice items = w->req->in.m[TransactWriteItemsInput_TransactItems];
	enum token_status status = TOKEN_NEW;
	struct write_txn t;
	enum err rc = slice_present(token) ? token_look(b->store, token, items, &status, &w->fault) : ERR_OK;

	if (rc != ERR_OK)
		return rc;
	if (status == TOKEN_MISMATCH)
		return fault_set(&w->fault, MSG_TOKEN_MISMATCH);
	write_txn_begin(&t, b, w->req->arena);
	rc = status == TOKEN_REPLAY ? replay(&t, w) : apply_all(&t, w);
	if (rc == ERR_OK)
		rc = put_answer(&t, w);
	if (rc == ERR_OK && status == TOKEN_NEW && slice_present(token))
		token_keep(&t, token, items);
	return write_end(&t, w, rc);
}
