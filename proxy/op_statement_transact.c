/* op_statement_transact - ExecuteTransaction: up to 100 statements, as one TransactGetItems or one TransactWriteItems.
 *
 *    statements --> all SELECTs of one item each            --> TransactGetItems --> Responses, columns picked
 *               \-> INSERT, UPDATE, DELETE, EXISTS(SELECT)  --> TransactWriteItems --> []
 *
 * What is wrong with a statement itself is told with its number. A table that is not there, or a key that does not fit or is
 * not whole, cancels the transaction, with a reason in each place. The rest is the ordinary transaction's.
 *
 * Threads: on the call's worker. Ownership: the state lives in the call's arena. */
#include "protocol/messages.h"
#include "proxy/child.h"
#include "proxy/handlers.h"
#include "proxy/statement.h"
#include "proxy/worker.h"
#include "store/cancel.h"
#include "store/check_key.h"

struct transaction {
	struct call *call;
	struct part {
		struct slice text, parameters;
		bool old_on_failure;
		struct statement *statement;
		const struct table *table;
		struct slice key;
	} *part;
	struct bound *bound;
	struct cancel_reason *reason;
	unsigned n;
	bool reads;
	struct child child;
};

/* ---- statements ---- */

static enum err in_statement(struct transaction *t, unsigned i)
{
	struct fault *f = &t->call->fault;

	return f->code == ERR_VALIDATION ? fault_set(f, MSG_PQ_TRANSACT_STATEMENT, i, f->text) : f->code;
}

static enum err open_part(struct transaction *t, unsigned i, struct slice bytes)
{
	struct part *p = &t->part[i];
	struct call *c = t->call;
	struct record in;

	if (!record_open(&in, &shape_ParameterizedStatement, bytes))
		return fault_set(&c->fault, MSG_RECORD_BAD, "ExecuteTransaction");
	p->text = record_str(&in, ParameterizedStatement_Statement);
	p->parameters = in.m[ParameterizedStatement_Parameters];
	p->old_on_failure = record_is(&in, ParameterizedStatement_ReturnValuesOnConditionCheckFailure, "ALL_OLD");
	if (statement_parse(p->text, p->parameters, &c->arena, &p->statement, &c->fault) != ERR_OK)
		return in_statement(t, i);
	return ERR_OK;
}

static enum err open_parts(struct transaction *t)
{
	struct call *c = t->call;
	struct mp m = record_list(&c->req.in, ExecuteTransactionInput_TransactStatements, &t->n);

	t->part = arena_zalloc(&c->arena, t->n * sizeof *t->part);
	t->bound = arena_zalloc(&c->arena, t->n * sizeof *t->bound);
	t->reason = arena_zalloc(&c->arena, t->n * sizeof *t->reason);
	if (t->part == NULL || t->bound == NULL || t->reason == NULL)
		return fault_set(&c->fault, MSG_NO_MEMORY);
	for (unsigned i = 0; i < t->n; i++) {
		enum err rc = open_part(t, i, mp_skip(&m));

		if (rc != ERR_OK)
			return rc;
	}
	t->reads = t->part[0].statement->kind == STATEMENT_SELECT;
	for (unsigned i = 1; i < t->n; i++)
		if ((t->part[i].statement->kind == STATEMENT_SELECT) != t->reads)
			return fault_set(&c->fault, MSG_PQ_TRANSACT_MIXED);
	return ERR_OK;
}

static bool find_table(struct transaction *t, struct part *p)
{
	struct worker *w = t->call->worker;

	p->table = w->backend->ops->table(w->reader, p->statement->table);
	return p->table != NULL;
}

/* What a transaction does not take, of statements whose table is there. */
static enum err check_part(struct transaction *t, unsigned i)
{
	struct fault *f = &t->call->fault;
	const struct part *p = &t->part[i];
	const struct statement *s = p->statement;

	if (slice_present(s->index) && s->kind == STATEMENT_EXISTS)
		fault_set(f, MSG_PQ_EXISTS_INDEX);
	else if (slice_present(s->index))
		fault_set(f, MSG_PQ_TRANSACT_INDEX);
	else if (s->returning != STATEMENT_NONE)
		fault_set(f, MSG_PQ_TRANSACT_RETURNING);
	return f->code != ERR_OK ? in_statement(t, i) : ERR_OK;
}

static void give_reason(struct transaction *t, unsigned i, const struct fault *f)
{
	t->reason[i] = (struct cancel_reason){ .code = f->code, .text = f->text };
}

static enum err cancel(struct transaction *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->reason[i].code != ERR_OK)
			return cancel_set(&t->call->fault, t->reason, t->n);
	return ERR_OK;
}

static enum err check_tables(struct transaction *t)
{
	struct fault missing;

	fault_init(&missing, &t->call->arena);
	fault_set(&missing, MSG_TABLE_UNKNOWN);
	for (unsigned i = 0; i < t->n; i++) {
		enum err rc = ERR_OK;

		if (!find_table(t, &t->part[i]))
			give_reason(t, i, &missing);
		else
			rc = check_part(t, i);
		if (rc != ERR_OK)
			return rc;
	}
	return cancel(t);
}

/* ---- keys and conditions ---- */

/* A SELECT names one item by its key, and asks nothing else. */
static enum err read_key(struct transaction *t, unsigned i)
{
	struct part *p = &t->part[i];
	struct fault *f = &t->call->fault;
	struct statement_reads reads;
	struct fault own;
	uint64_t hash;
	bool more;
	enum err rc = statement_key(p->statement, &p->table->key, PICK_READ, &p->key, &more, f);

	fault_init(&own, &t->call->arena);
	if (rc == ERR_OK && slice_present(p->key)) {
		if (store_check_key(p->table, p->key, &hash, &own) != ERR_OK)
			give_reason(t, i, &own);
		return ERR_OK;
	}
	if (rc == ERR_OK && statement_reads(p->statement, &p->table->key, true, &reads, &own) != ERR_OK)
		rc = fault_set(f, own.code, "%s", own.text);
	else if (rc == ERR_OK)
		rc = fault_set(f, MSG_PQ_TRANSACT_SELECT);
	return in_statement(t, i);
}

/* A write whose WHERE does not name one item cancels the transaction. */
static enum err write_key(struct transaction *t, unsigned i)
{
	struct part *p = &t->part[i];
	const struct statement *s = p->statement;
	struct fault own;
	bool more = false, exists = s->kind == STATEMENT_EXISTS;
	uint64_t hash;
	enum err rc = ERR_OK;

	fault_init(&own, &t->call->arena);
	p->key = s->item;
	if (s->kind != STATEMENT_INSERT)
		rc = statement_key(s, &p->table->key, exists ? PICK_EXISTS : PICK_WRITE, &p->key, &more, &own);
	if (rc == ERR_OK && exists && !more)
		rc = fault_set(&own, MSG_PQ_EXISTS);
	if (rc != ERR_OK && exists) {
		t->call->fault = own;
		return in_statement(t, i);
	}
	if (s->kind == STATEMENT_INSERT && check_filled(p->table, s->item, s->item, NULL, &t->call->fault) != ERR_OK)
		return t->call->fault.code;
	if (rc == ERR_OK && s->kind == STATEMENT_INSERT)
		rc = check_item_key(p->table, s->item, &hash, &own);
	else if (rc == ERR_OK && !statement_key_fits(&p->table->key, p->key))
		rc = ERR_VALIDATION;
	if (rc == ERR_VALIDATION) {
		if (s->kind != STATEMENT_INSERT)
			fault_set(&own, MSG_KEY_SCHEMA);
		give_reason(t, i, &own);
		return ERR_OK;
	}
	if (rc == ERR_OK)
		rc = statement_condition(s, p->table->key.hash[0].name, more, &t->bound[i].condition, &t->call->fault);
	t->bound[i].update = s->update;
	t->bound[i].insert = s->kind == STATEMENT_INSERT;
	return rc;
}

static enum err check_keys(struct transaction *t)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < t->n && rc == ERR_OK; i++)
		rc = t->reads ? read_key(t, i) : write_key(t, i);
	return rc == ERR_OK ? cancel(t) : rc;
}

/* ---- the ordinary request ---- */

static void put_get(struct buf *b, const struct part *p)
{
	unsigned n = 0, members = 0;
	size_t at = record_begin(b), get;

	record_key(b, &n, TransactGetItem_Get);
	get = record_begin(b);
	record_key(b, &members, Get_Key);
	buf_put_slice(b, p->key);
	record_put_str(b, &members, Get_TableName, p->statement->table);
	record_end(b, get, members);
	record_end(b, at, n);
}

/* Where each kind of action has its members; the texts of expressions are the statement. */
static const struct action {
	unsigned member, condition, values, key_or_item, on_failure, table, update;
} actions[] = {
	[STATEMENT_INSERT] = { TransactWriteItem_Put, Put_ConditionExpression, Put_ExpressionAttributeValues, Put_Item,
		Put_ReturnValuesOnConditionCheckFailure, Put_TableName, 0 },
	[STATEMENT_UPDATE] = { TransactWriteItem_Update, Update_ConditionExpression, Update_ExpressionAttributeValues,
		Update_Key, Update_ReturnValuesOnConditionCheckFailure, Update_TableName, Update_UpdateExpression },
	[STATEMENT_DELETE] = { TransactWriteItem_Delete, Delete_ConditionExpression, Delete_ExpressionAttributeValues,
		Delete_Key, Delete_ReturnValuesOnConditionCheckFailure, Delete_TableName, 0 },
	[STATEMENT_EXISTS] = { TransactWriteItem_ConditionCheck, ConditionCheck_ConditionExpression,
		ConditionCheck_ExpressionAttributeValues, ConditionCheck_Key, ConditionCheck_ReturnValuesOnConditionCheckFailure,
		ConditionCheck_TableName, 0 },
};

static void put_write(struct buf *b, const struct part *p)
{
	const struct action *a = &actions[p->statement->kind];
	unsigned n = 0, members = 0;
	size_t at = record_begin(b), action;
	struct slice values;

	if (!statement_values(p->statement, &values))
		b->failed = true;
	record_key(b, &n, a->member);
	action = record_begin(b);
	record_put_str(b, &members, a->condition, p->text);
	if (slice_present(values)) {
		record_key(b, &members, a->values);
		buf_put_slice(b, values);
	}
	record_key(b, &members, a->key_or_item);
	buf_put_slice(b, p->key);
	if (p->old_on_failure)
		record_put_str(b, &members, a->on_failure, SLICE_LIT("ALL_OLD"));
	record_put_str(b, &members, a->table, p->statement->table);
	if (a->update != 0)
		record_put_str(b, &members, a->update, SLICE_LIT("PartiQL"));
	record_end(b, action, members);
	record_end(b, at, n);
}

static struct slice make_request(struct transaction *t)
{
	const struct record *in = &t->call->req.in;
	struct slice capacity = record_str(in, ExecuteTransactionInput_ReturnConsumedCapacity);
	struct slice token = record_str(in, ExecuteTransactionInput_ClientRequestToken);
	unsigned n = 0;
	struct buf b;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	if (!t->reads && slice_present(token))
		record_put_str(&b, &n, TransactWriteItemsInput_ClientRequestToken, token);
	if (slice_present(capacity) && !t->reads)
		record_put_str(&b, &n, TransactWriteItemsInput_ReturnConsumedCapacity, capacity);
	if (slice_present(capacity) && t->reads)
		record_put_str(&b, &n, TransactGetItemsInput_ReturnConsumedCapacity, capacity);
	record_key(&b, &n, t->reads ? (unsigned)TransactGetItemsInput_TransactItems : (unsigned)TransactWriteItemsInput_TransactItems);
	mp_put_array(&b, t->n);
	for (unsigned i = 0; i < t->n; i++) {
		if (t->reads)
			put_get(&b, &t->part[i]);
		else
			put_write(&b, &t->part[i]);
	}
	record_end(&b, at, n);
	return statement_record(t->call, &b);
}

/* ---- the answer ---- */

static void put_reads(struct transaction *t, const struct record *from, struct buf *out)
{
	uint32_t n;
	struct mp m = record_list(from, TransactGetItemsOutput_Responses, &n);

	mp_put_array(out, n);
	for (uint32_t i = 0; i < n; i++) {
		struct record response;
		unsigned members = 0;
		size_t at;

		if (!record_open(&response, &shape_ItemResponse, mp_skip(&m)))
			out->failed = true;
		at = record_begin(out);
		if (!out->failed && record_has(&response, ItemResponse_Item)) {
			record_key(out, &members, ItemResponse_Item);
			statement_row(t->part[i].statement, response.m[ItemResponse_Item], out);
		}
		record_end(out, at, members);
	}
}

static void put_answer(struct transaction *t, const struct call *from)
{
	unsigned capacity = t->reads ? TransactGetItemsOutput_ConsumedCapacity : TransactWriteItemsOutput_ConsumedCapacity;
	struct buf *out = &t->call->out;
	struct record in;
	unsigned n = 0;
	size_t at = record_begin(out);

	if (!record_open(&in, op_info[from->req.op].out, buf_slice(&from->out)))
		out->failed = true;
	if (!out->failed && record_has(&in, capacity)) {
		record_key(out, &n, ExecuteTransactionOutput_ConsumedCapacity);
		buf_put_slice(out, in.m[capacity]);
	}
	record_key(out, &n, ExecuteTransactionOutput_Responses);
	if (t->reads && !out->failed)
		put_reads(t, &in, out);
	else
		mp_put_array(out, 0);
	record_end(out, at, n);
}

static void transaction_done(struct child *child)
{
	struct transaction *t = child->arg;
	struct call *c = t->call;

	if (child->call->fault.code != ERR_OK) {
		child_fault(child, &c->arena, &c->fault);
		call_fail(c);
		return;
	}
	put_answer(t, child->call);
	call_answer(c, t->reads ? FRAME_CACHE_BYPASS : FRAME_CACHE_NONE);
}

void op_execute_transaction(struct call *c)
{
	struct transaction *t = call_state(c, sizeof *t);
	struct slice record = SLICE_NONE;
	enum err rc;

	if (t == NULL)
		return;
	t->call = c;
	rc = request_check(&c->req, &c->fault);
	if (rc == ERR_OK)
		rc = open_parts(t);
	if (rc == ERR_OK)
		rc = check_tables(t);
	if (rc == ERR_OK)
		rc = check_keys(t);
	if (rc == ERR_OK) {
		record = make_request(t);
		rc = slice_present(record) ? ERR_OK : fault_set(&c->fault, MSG_NO_MEMORY);
	}
	if (rc != ERR_OK) {
		call_fail(c);
		return;
	}
	t->child = (struct child){ .done = transaction_done, .arg = t };
	child_run(&t->child, c, t->reads ? OP_TransactGetItems : OP_TransactWriteItems, record, t->bound);
}
