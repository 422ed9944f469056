/* write_one - what PutItem, DeleteItem and UpdateItem have in common: parameters, the order of checks, and the answer.
 *
 *    worker:  write_one_begin --> (of the operation: the item) --> write_one_bind --> (the key) --> write_address
 *    writer:  apply: item_apply in a transaction of its own, and the answer, whose members are the same for all three
 *
 * The order of the checks is the service's. Threads and ownership: as write_plan.h says. */
#ifndef DYNAX_STORE_WRITE_ONE_H
#define DYNAX_STORE_WRITE_ONE_H

#include "store/params.h"
#include "store/write_plan.h"

/* An operation's members, by their identifiers. Constant. */
struct write_one {
	enum item_op_kind kind;
	uint32_t table, returning, consumed, metrics, on_failure;
	struct params params;
	struct op_params members;
};
/* Those whose names are the same in each. s: the operation's input. */
#define WRITE_ONE_MEMBERS(s) .table = s##_TableName, .returning = s##_ReturnValues, \
	.consumed = s##_ReturnConsumedCapacity, .metrics = s##_ReturnItemCollectionMetrics, \
	.on_failure = s##_ReturnValuesOnConditionCheckFailure
#define WRITE_ONE_CONDITION(s) .condition = s##_ConditionExpression, .expected = s##_Expected, \
	.conditional_operator = s##_ConditionalOperator, .names = s##_ExpressionAttributeNames, \
	.values = s##_ExpressionAttributeValues

/* A plan of one operation with the options of its answer; old parameters against new ones, the values of the item or key, then
 * ReturnValues. */
enum err write_one_begin(struct store_write *w, const struct write_one *one) __attribute__((warn_unused_result));
/* Expressions, then the table. */
enum err write_one_bind(struct store_reader *r, struct store_write *w, const struct write_one *one, const struct table **t)
	__attribute__((warn_unused_result));

#endif
