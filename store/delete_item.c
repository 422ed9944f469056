/* delete_item - DeleteItem: what a worker checks before the writer is asked. */
#include "store/params.h"
#include "store/write_plan.h"

static const struct params delete_params = {
	.expression = (const uint32_t[]){ DeleteItemInput_ConditionExpression, PARAMS_END },
	.with_values = (const uint32_t[]){ DeleteItemInput_ConditionExpression, PARAMS_END },
	.legacy = (const uint32_t[]){ DeleteItemInput_Expected, DeleteItemInput_ConditionalOperator, PARAMS_END },
	.names = DeleteItemInput_ExpressionAttributeNames, .values = DeleteItemInput_ExpressionAttributeValues,
};
static const struct op_params delete_op = {
	.condition = DeleteItemInput_ConditionExpression, .names = DeleteItemInput_ExpressionAttributeNames,
	.values = DeleteItemInput_ExpressionAttributeValues, .expected = DeleteItemInput_Expected,
	.conditional_operator = DeleteItemInput_ConditionalOperator, .update = PARAMS_END, .attribute_updates = PARAMS_END,
};

enum err delete_item_prepare(struct store_reader *r, struct store_write *w)
{
	const struct record *in = &w->req->in;
	struct write_plan *p = w->plan;
	const struct table *t;
	uint64_t hash;
	enum err rc = write_plan_ops(w, 1);

	if (rc != ERR_OK)
		return rc;
	p->apply = write_apply_one;
	p->op->kind = ITEM_DELETE;
	p->report = report_of(record_str(in, DeleteItemInput_ReturnConsumedCapacity));
	p->metrics = record_is(in, DeleteItemInput_ReturnItemCollectionMetrics, "SIZE");
	p->op->old_on_failure = record_is(in, DeleteItemInput_ReturnValuesOnConditionCheckFailure, "ALL_OLD");
	rc = params_check(in, &delete_params, &w->fault);
	if (rc == ERR_OK)
		rc = write_returning(w, DeleteItemInput_ReturnValues, true, &w->fault);
	if (rc == ERR_OK)
		rc = write_bind(r, w, in, &delete_op, p->op, &w->fault);
	if (rc == ERR_OK)
		rc = reader_table(r, record_str(in, DeleteItemInput_TableName), &t, &w->fault);
	if (rc == ERR_OK)
		rc = store_check_key(t, in->m[DeleteItemInput_Key], &hash, &w->fault);
	return rc == ERR_OK ? write_address(w, t, in->m[DeleteItemInput_Key], hash, p->op, &w->fault) : rc;
}
