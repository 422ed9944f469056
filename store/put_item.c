/* put_item - PutItem: what a worker checks before the writer is asked. */
#include "store/check_key.h"
#include "store/write_one.h"

static const struct write_one put = {
	WRITE_ONE_MEMBERS(PutItemInput), .kind = ITEM_PUT,
	.params = {
		.expression = (const uint32_t[]){ PutItemInput_ConditionExpression, PARAMS_END },
		.with_values = (const uint32_t[]){ PutItemInput_ConditionExpression, PARAMS_END },
		.legacy = (const uint32_t[]){ PutItemInput_Expected, PutItemInput_ConditionalOperator, PARAMS_END },
		.names = PutItemInput_ExpressionAttributeNames, .values = PutItemInput_ExpressionAttributeValues,
	},
	.members = { WRITE_ONE_CONDITION(PutItemInput), .update = PARAMS_END, .attribute_updates = PARAMS_END },
};

/* Item size after the return values and before the expressions: the service's order. */
enum err put_item_prepare(struct store_reader *r, struct store_write *w)
{
	const struct table *t;
	struct item_op *op;
	uint64_t hash;
	enum err rc = write_one_begin(w, &put);

	if (rc != ERR_OK)
		return rc;
	op = w->plan->op;
	op->item = w->req->in.m[PutItemInput_Item];
	rc = check_put_item(op->item, &w->fault);
	if (rc == ERR_OK)
		rc = write_one_bind(r, w, &put, &t);
	if (rc == ERR_OK)
		rc = check_item_key(t, op->item, &hash, &w->fault);
	if (rc == ERR_OK)
		rc = check_index_keys(t, op->item, &w->fault);
	return rc == ERR_OK ? write_address(w, t, op->item, hash, op, &w->fault) : rc;
}
