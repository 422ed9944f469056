/* put_item - PutItem: what a worker checks before the writer is asked. */
#include "store/check_key.h"
#include "store/params.h"
#include "store/write_plan.h"

static const struct params put_params = {
	.expression = (const uint32_t[]){ PutItemInput_ConditionExpression, PARAMS_END },
	.with_values = (const uint32_t[]){ PutItemInput_ConditionExpression, PARAMS_END },
	.legacy = (const uint32_t[]){ PutItemInput_Expected, PutItemInput_ConditionalOperator, PARAMS_END },
	.names = PutItemInput_ExpressionAttributeNames, .values = PutItemInput_ExpressionAttributeValues,
};
static const struct op_params put_op = {
	.condition = PutItemInput_ConditionExpression, .names = PutItemInput_ExpressionAttributeNames,
	.values = PutItemInput_ExpressionAttributeValues, .expected = PutItemInput_Expected,
	.conditional_operator = PutItemInput_ConditionalOperator, .update = PARAMS_END, .attribute_updates = PARAMS_END,
};

/* Item size after the return values and before the expressions: the service's order. */
static enum err check_request(struct store_reader *r, struct store_write *w, struct item_op *op)
{
	const struct record *in = &w->req->in;
	struct fault *f = &w->fault;
	enum err rc = params_check(in, &put_params, f);

	if (rc == ERR_OK)
		rc = write_returning(w, PutItemInput_ReturnValues, true, f);
	if (rc != ERR_OK)
		return rc;
	op->item = in->m[PutItemInput_Item];
	rc = check_put_item(op->item, f);
	return rc == ERR_OK ? write_bind(r, w, in, &put_op, op, f) : rc;
}

enum err put_item_prepare(struct store_reader *r, struct store_write *w)
{
	const struct record *in = &w->req->in;
	struct write_plan *p = w->plan;
	const struct table *t;
	uint64_t hash;
	enum err rc = write_plan_ops(w, 1);

	if (rc != ERR_OK)
		return rc;
	p->apply = write_apply_one;
	p->op->kind = ITEM_PUT;
	p->report = report_of(record_str(in, PutItemInput_ReturnConsumedCapacity));
	p->metrics = record_is(in, PutItemInput_ReturnItemCollectionMetrics, "SIZE");
	p->op->old_on_failure = record_is(in, PutItemInput_ReturnValuesOnConditionCheckFailure, "ALL_OLD");
	rc = check_request(r, w, p->op);
	if (rc == ERR_OK)
		rc = reader_table(r, record_str(in, PutItemInput_TableName), &t, &w->fault);
	if (rc == ERR_OK)
		rc = check_item_key(t, p->op->item, &hash, &w->fault);
	if (rc == ERR_OK)
		rc = check_index_keys(t, p->op->item, &w->fault);
	return rc == ERR_OK ? write_address(w, t, p->op->item, hash, p->op, &w->fault) : rc;
}
