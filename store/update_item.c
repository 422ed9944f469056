/* update_item - UpdateItem: what a worker checks before the writer is asked. */
#include "protocol/messages.h"
#include "store/check_key.h"
#include "store/params.h"
#include "store/write_plan.h"

static const struct params update_params = {
	.expression = (const uint32_t[]){ UpdateItemInput_UpdateExpression, UpdateItemInput_ConditionExpression, PARAMS_END },
	.with_values = (const uint32_t[]){ UpdateItemInput_UpdateExpression, UpdateItemInput_ConditionExpression, PARAMS_END },
	.legacy = (const uint32_t[]){ UpdateItemInput_AttributeUpdates, UpdateItemInput_Expected,
		UpdateItemInput_ConditionalOperator, PARAMS_END },
	.names = UpdateItemInput_ExpressionAttributeNames, .values = UpdateItemInput_ExpressionAttributeValues,
};
static const struct op_params update_op = {
	.condition = UpdateItemInput_ConditionExpression, .names = UpdateItemInput_ExpressionAttributeNames,
	.values = UpdateItemInput_ExpressionAttributeValues, .expected = UpdateItemInput_Expected,
	.conditional_operator = UpdateItemInput_ConditionalOperator, .update = UpdateItemInput_UpdateExpression,
	.attribute_updates = UpdateItemInput_AttributeUpdates,
};

enum err update_check_key(const struct table *t, const struct update *u, struct fault *f)
{
	return u != NULL ? check_update(t, u, f) : ERR_OK;
}

enum err update_item_prepare(struct store_reader *r, struct store_write *w)
{
	const struct record *in = &w->req->in;
	struct write_plan *p = w->plan;
	const struct table *t;
	uint64_t hash;
	enum err rc = write_plan_ops(w, 1);

	if (rc != ERR_OK)
		return rc;
	p->apply = write_apply_one;
	p->op->kind = ITEM_UPDATE;
	p->report = report_of(record_str(in, UpdateItemInput_ReturnConsumedCapacity));
	p->metrics = record_is(in, UpdateItemInput_ReturnItemCollectionMetrics, "SIZE");
	p->op->old_on_failure = record_is(in, UpdateItemInput_ReturnValuesOnConditionCheckFailure, "ALL_OLD");
	rc = params_check(in, &update_params, &w->fault);
	if (rc == ERR_OK)
		rc = write_returning(w, UpdateItemInput_ReturnValues, false, &w->fault);
	if (rc == ERR_OK)
		rc = write_bind(r, w, in, &update_op, p->op, &w->fault);
	if (rc == ERR_OK)
		rc = reader_table(r, record_str(in, UpdateItemInput_TableName), &t, &w->fault);
	if (rc == ERR_OK)
		rc = store_check_key(t, in->m[UpdateItemInput_Key], &hash, &w->fault);
	if (rc == ERR_OK)
		rc = update_check_key(t, p->op->update, &w->fault);
	return rc == ERR_OK ? write_address(w, t, in->m[UpdateItemInput_Key], hash, p->op, &w->fault) : rc;
}
