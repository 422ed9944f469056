/* delete_item - DeleteItem: what a worker checks before the writer is asked. */
#include "store/write_one.h"

static const struct write_one delete = {
	WRITE_ONE_MEMBERS(DeleteItemInput), .kind = ITEM_DELETE,
	.params = {
		.expression = (const uint32_t[]){ DeleteItemInput_ConditionExpression, PARAMS_END },
		.with_values = (const uint32_t[]){ DeleteItemInput_ConditionExpression, PARAMS_END },
		.legacy = (const uint32_t[]){ DeleteItemInput_Expected, DeleteItemInput_ConditionalOperator, PARAMS_END },
		.names = DeleteItemInput_ExpressionAttributeNames, .values = DeleteItemInput_ExpressionAttributeValues,
	},
	.members = { WRITE_ONE_CONDITION(DeleteItemInput), .update = PARAMS_END, .attribute_updates = PARAMS_END },
};

enum err delete_item_prepare(struct store_reader *r, struct store_write *w)
{
	struct slice key = w->req->in.m[DeleteItemInput_Key];
	const struct table *t;
	uint64_t hash;
	enum err rc = write_one_begin(w, &delete);

	if (rc == ERR_OK)
		rc = write_one_bind(r, w, &delete, &t);
	if (rc == ERR_OK)
		rc = store_check_key(t, key, &hash, &w->fault);
	return rc == ERR_OK ? write_address(w, t, key, hash, w->plan->op, &w->fault) : rc;
}
