/* test_op - operations by name and by X-Amz-Target. */
#include <criterion/criterion.h>

#include "protocol/op.h"

Test(op, every_operation_is_found_by_its_name)
{
	for (unsigned i = 0; i < OP_COUNT; i++)
		cr_assert_eq(op_by_name(slice_str(op_info[i].name)), i, "%s", op_info[i].name);
}

Test(op, by_target)
{
	static const struct {
		const char *target;
		enum op op;
	} c[] = {
		{ "DynamoDB_20120810.GetItem", OP_GetItem },
		{ "DynamoDB_20120810.TransactWriteItems", OP_TransactWriteItems },
		{ "DynamoDBStreams_20120810.GetRecords", OP_GetRecords },
		{ "DynamoDB_20120810.GetRecords", OP_COUNT },
		{ "AnyScaleFrontendService.PutScalingPolicy", OP_PutScalingPolicy },
		{ "DynamoDB_20120810.PutScalingPolicy", OP_COUNT },
		{ "DynamoDBStreams_20120810.GetItem", OP_COUNT },
		{ "DynamoDB_20120810.getItem", OP_COUNT },
		{ "DynamoDB_20120810.GetItemX", OP_COUNT },
		{ "DynamoDB_20120810.", OP_COUNT },
		{ "DynamoDB_20120811.GetItem", OP_COUNT },
		{ "GetItem", OP_COUNT },
		{ "", OP_COUNT },
	};

	for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++)
		cr_assert_eq(op_by_target(slice_str(c[i].target)), c[i].op, "%s", c[i].target);
	cr_assert_eq(op_by_target(SLICE_NONE), OP_COUNT);
}

Test(op, kinds)
{
	cr_assert_eq(op_info[OP_Query].kind, OP_READ);
	cr_assert_eq(op_info[OP_BatchWriteItem].kind, OP_WRITE);
	cr_assert_eq(op_info[OP_DescribeTable].kind, OP_DESCRIBE);
	cr_assert_eq(op_info[OP_CreateTable].kind, OP_CONTROL);
	cr_assert_eq(op_info[OP_GetShardIterator].service, OP_STREAMS);
}
