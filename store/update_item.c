/* update_item - UpdateItem: what a worker checks before the writer is asked. */
#include "store/check_key.h"
#include "store/write_one.h"

static const struct write_one update = {
	WRITE_ONE_MEMBERS(UpdateItemInput), .kind = ITEM_UPDATE,
	.params = {
		.expression = (const uint32_t[]){ UpdateItemInput_UpdateExpression, UpdateItemInput_ConditionExpression, PARAMS_END },
		.with_values = (const uint32_t[]){ UpdateItemInput_UpdateExpression, UpdateItemInput_ConditionExpression, PARAMS_END },
		.legacy = (const uint32_t[]){ UpdateItemInput_AttributeUpdates, UpdateItemInput_Expected,
			UpdateItemInput_ConditionalOperator, PARAMS_END },
		.names = UpdateItemInput_ExpressionAttributeNames, .values = UpdateItemInput_ExpressionAttributeValues,
	},
	.members = { WRITE_ONE_CONDITION(UpdateItemInput), .update = UpdateItemInput_UpdateExpression,
		.attribute_updates = UpdateItemInput_AttributeUpdates },
};

enum err update_item_prepare(struct store_reader *r, struct store_write *w)
{
	struct slice key = w->req->in.m[UpdateItemInput_Key];
	const struct table *t;
	uint64_t hash;
	enum err rc = write_one_begin(w, &update);

	if (rc == ERR_OK)
		rc = write_one_bind(r, w, &update, &t);
	if (rc == ERR_OK)
		rc = store_check_key(t, key, &hash, &w->fault);
	if (rc == ERR_OK)
		rc = check_update(t, w->plan->op->update, &w->fault);
	return rc == ERR_OK ? write_address(w, t, key, hash, w->plan->op, &w->fault) : rc;
}
