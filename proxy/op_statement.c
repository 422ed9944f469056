/* op_statement - ExecuteStatement and BatchExecuteStatement.
 *
 *    ExecuteStatement        one statement (statement.h) --> Items, NextToken | its error
 *    BatchExecuteStatement   up to 25, all reads or all writes, at once --> for each: Item | Error
 *
 * The statements of a batch do not wait for each other: their writes share a group commit, and one that fails says so in its
 * place. Threads: on the call's worker. Ownership: the state lives in the call's arena. */
#include "protocol/messages.h"
#include "proxy/handlers.h"
#include "proxy/statement.h"
#include "proxy/worker.h"

/* ---- ExecuteStatement ---- */

static void put_items(struct buf *out, const struct statement_run *r)
{
	mp_put_array(out, r->count);
	if (r->count != 0)
		buf_put_slice(out, r->rows);
}

static void execute_done(struct statement_run *r)
{
	struct call *c = r->call;
	unsigned n = 0;
	size_t at;

	if (r->fault.code != ERR_OK) {
		c->fault = r->fault;
		call_fail(c);
		return;
	}
	at = record_begin(&c->out);
	if (slice_present(r->consumed)) {
		record_key(&c->out, &n, ExecuteStatementOutput_ConsumedCapacity);
		buf_put_slice(&c->out, r->consumed);
	}
	record_key(&c->out, &n, ExecuteStatementOutput_Items);
	put_items(&c->out, r);
	if (slice_present(r->last_key)) {
		record_key(&c->out, &n, ExecuteStatementOutput_LastEvaluatedKey);
		buf_put_slice(&c->out, r->last_key);
	}
	if (slice_present(r->next_token))
		record_put_str(&c->out, &n, ExecuteStatementOutput_NextToken, r->next_token);
	record_end(&c->out, at, n);
	call_answer(c, r->cache);
}

void op_execute_statement(struct call *c)
{
	const struct record *in = &c->req.in;
	struct statement_run *r = call_state(c, sizeof *r);

	if (r == NULL)
		return;
	if (request_check(&c->req, &c->fault) != ERR_OK) {
		call_fail(c);
		return;
	}
	*r = (struct statement_run){ .call = c, .text = record_str(in, ExecuteStatementInput_Statement),
		.parameters = in->m[ExecuteStatementInput_Parameters],
		.consistent = record_bool(in, ExecuteStatementInput_ConsistentRead),
		.old_on_failure = record_is(in, ExecuteStatementInput_ReturnValuesOnConditionCheckFailure, "ALL_OLD"),
		.capacity = record_str(in, ExecuteStatementInput_ReturnConsumedCapacity),
		.limit = (uint32_t)record_int(in, ExecuteStatementInput_Limit, UINT32_MAX),
		.token = record_str(in, ExecuteStatementInput_NextToken), .done = execute_done, .cache = FRAME_CACHE_NONE };
	if (statement_open(r))
		statement_run(r);
	else
		execute_done(r);
}

/* ---- BatchExecuteStatement ---- */

struct statement_batch {
	struct call *call;
	struct statement_run *run;
	unsigned n, left;                /* left: those not over, and one while they are being started */
};

static const char *batch_code(enum err code)
{
	switch (code) {
	case ERR_CONDITION_FAILED:
		return "ConditionalCheckFailed";
	case ERR_ITEM_COLLECTION_SIZE:
		return "ItemCollectionSizeLimitExceeded";
	case ERR_REQUEST_LIMIT_EXCEEDED:
		return "RequestLimitExceeded";
	case ERR_VALIDATION:
		return "ValidationError";
	case ERR_THROUGHPUT_EXCEEDED:
		return "ProvisionedThroughputExceeded";
	case ERR_TRANSACTION_CONFLICT:
		return "TransactionConflict";
	case ERR_THROTTLING:
		return "ThrottlingError";
	case ERR_RESOURCE_NOT_FOUND:
		return "ResourceNotFound";
	case ERR_ACCESS_DENIED:
		return "AccessDenied";
	case ERR_DUPLICATE_ITEM:
		return "DuplicateItem";
	default:
		return "InternalServerError";
	}
}

static void put_error(struct buf *out, const struct fault *f)
{
	struct record detail;
	unsigned n = 0;
	size_t at = record_begin(out);

	record_put_str(out, &n, BatchStatementError_Code, slice_str(batch_code(f->code)));
	if (slice_present(f->detail) && record_open(&detail, &shape_ConditionalCheckFailedException, f->detail) &&
		record_has(&detail, ConditionalCheckFailedException_Item)) {
		record_key(out, &n, BatchStatementError_Item);
		buf_put_slice(out, detail.m[ConditionalCheckFailedException_Item]);
	}
	record_put_str(out, &n, BatchStatementError_Message, slice_str(f->text));
	record_end(out, at, n);
}

static void put_response(struct buf *out, const struct statement_run *r)
{
	unsigned n = 0;
	size_t at = record_begin(out);

	if (r->fault.code != ERR_OK) {
		record_key(out, &n, BatchStatementResponse_Error);
		put_error(out, &r->fault);
	} else if (r->count != 0) {
		record_key(out, &n, BatchStatementResponse_Item);
		buf_put_slice(out, r->rows);
	}
	if (r->ran)
		record_put_str(out, &n, BatchStatementResponse_TableName, r->table);
	record_end(out, at, n);
}

static void put_capacities(struct buf *out, const struct statement_batch *b)
{
	size_t at = list_begin(out);
	uint32_t n = 0;

	for (unsigned i = 0; i < b->n; i++)
		if (slice_present(b->run[i].consumed)) {
			buf_put_slice(out, b->run[i].consumed);
			n++;
		}
	list_end(out, at, n);
}

static void batch_answer(struct statement_batch *b)
{
	struct call *c = b->call;
	unsigned n = 0;
	size_t at = record_begin(&c->out);

	if (report_of(record_str(&c->req.in, BatchExecuteStatementInput_ReturnConsumedCapacity)) != REPORT_NONE) {
		record_key(&c->out, &n, BatchExecuteStatementOutput_ConsumedCapacity);
		put_capacities(&c->out, b);
	}
	record_key(&c->out, &n, BatchExecuteStatementOutput_Responses);
	mp_put_array(&c->out, b->n);
	for (unsigned i = 0; i < b->n; i++)
		put_response(&c->out, &b->run[i]);
	record_end(&c->out, at, n);
	call_answer(c, b->n != 0 ? b->run[0].cache : FRAME_CACHE_NONE);
}

static void batch_done(struct statement_run *r)
{
	struct statement_batch *b = r->arg;

	if (--b->left == 0)
		batch_answer(b);
}

static enum err batch_open(struct statement_batch *b)
{
	struct call *c = b->call;
	struct slice capacity = record_str(&c->req.in, BatchExecuteStatementInput_ReturnConsumedCapacity);
	struct mp m = record_list(&c->req.in, BatchExecuteStatementInput_Statements, &b->n);

	b->run = arena_zalloc(&c->arena, b->n * sizeof *b->run);
	if (b->run == NULL)
		return fault_set(&c->fault, MSG_NO_MEMORY);
	for (unsigned i = 0; i < b->n; i++) {
		struct record in;

		if (!record_open(&in, &shape_BatchStatementRequest, mp_skip(&m)))
			return fault_set(&c->fault, MSG_RECORD_BAD, "BatchExecuteStatement");
		b->run[i] = (struct statement_run){ .call = c, .text = record_str(&in, BatchStatementRequest_Statement),
			.parameters = in.m[BatchStatementRequest_Parameters],
			.consistent = record_bool(&in, BatchStatementRequest_ConsistentRead), .one_item = true,
			.old_on_failure = record_is(&in, BatchStatementRequest_ReturnValuesOnConditionCheckFailure, "ALL_OLD"),
			.capacity = capacity, .limit = UINT32_MAX, .done = batch_done, .arg = b, .cache = FRAME_CACHE_NONE };
		(void)statement_open(&b->run[i]);
	}
	return ERR_OK;
}

/* Those that could be parsed are all reads, or all writes. */
static enum err batch_check_kinds(struct statement_batch *b)
{
	bool reads = false, writes = false;

	for (unsigned i = 0; i < b->n; i++) {
		if (b->run[i].fault.code != ERR_OK)
			continue;
		reads |= b->run[i].statement->kind == STATEMENT_SELECT;
		writes |= b->run[i].statement->kind != STATEMENT_SELECT;
	}
	return reads && writes ? fault_set(&b->call->fault, MSG_PQ_BATCH_MIXED) : ERR_OK;
}

void op_batch_execute_statement(struct call *c)
{
	struct statement_batch *b = call_state(c, sizeof *b);

	if (b == NULL)
		return;
	b->call = c;
	if (request_check(&c->req, &c->fault) != ERR_OK || batch_open(b) != ERR_OK || batch_check_kinds(b) != ERR_OK) {
		call_fail(c);
		return;
	}
	b->left = b->n + 1;
	for (unsigned i = 0; i < b->n; i++) {
		if (b->run[i].fault.code == ERR_OK)
			statement_run(&b->run[i]);
		else
			b->left--;
	}
	if (--b->left == 0)
		batch_answer(b);
}
