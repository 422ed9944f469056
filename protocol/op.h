/* op - the operations: name, wire number, request and answer shapes, what they touch.
 *
 * An operation's place in the table is its number on the msgpack wire: append only. A new operation is a line
 * here, its shapes in shapes.def, and a handler in the proxy's dispatch table. */
#ifndef DYNAX_PROTOCOL_OP_H
#define DYNAX_PROTOCOL_OP_H

#include "protocol/shape.h"

/* What an operation does to the store. */
enum op_kind {
	OP_READ,      /* reads items */
	OP_WRITE,     /* changes items */
	OP_DESCRIBE,  /* reads the catalog or streams */
	OP_CONTROL    /* changes the catalog */
};

enum op_service { OP_DYNAMODB, OP_STREAMS, OP_SCALING }; /* the last is Application Auto Scaling */

/* X(name, request shape, answer shape, kind, service) */
#define OP_TABLE(X) \
	X(GetItem, GetItemInput, GetItemOutput, READ, DYNAMODB) \
	X(PutItem, PutItemInput, PutItemOutput, WRITE, DYNAMODB) \
	X(UpdateItem, UpdateItemInput, UpdateItemOutput, WRITE, DYNAMODB) \
	X(DeleteItem, DeleteItemInput, DeleteItemOutput, WRITE, DYNAMODB) \
	X(Query, QueryInput, QueryOutput, READ, DYNAMODB) \
	X(Scan, ScanInput, ScanOutput, READ, DYNAMODB) \
	X(BatchGetItem, BatchGetItemInput, BatchGetItemOutput, READ, DYNAMODB) \
	X(BatchWriteItem, BatchWriteItemInput, BatchWriteItemOutput, WRITE, DYNAMODB) \
	X(TransactGetItems, TransactGetItemsInput, TransactGetItemsOutput, READ, DYNAMODB) \
	X(TransactWriteItems, TransactWriteItemsInput, TransactWriteItemsOutput, WRITE, DYNAMODB) \
	X(CreateTable, CreateTableInput, CreateTableOutput, CONTROL, DYNAMODB) \
	X(DescribeTable, DescribeTableInput, DescribeTableOutput, DESCRIBE, DYNAMODB) \
	X(ListTables, ListTablesInput, ListTablesOutput, DESCRIBE, DYNAMODB) \
	X(DeleteTable, DeleteTableInput, DeleteTableOutput, CONTROL, DYNAMODB) \
	X(UpdateTable, UpdateTableInput, UpdateTableOutput, CONTROL, DYNAMODB) \
	X(UpdateTimeToLive, UpdateTimeToLiveInput, UpdateTimeToLiveOutput, CONTROL, DYNAMODB) \
	X(DescribeTimeToLive, DescribeTimeToLiveInput, DescribeTimeToLiveOutput, DESCRIBE, DYNAMODB) \
	X(TagResource, TagResourceInput, EmptyOutput, CONTROL, DYNAMODB) \
	X(UntagResource, UntagResourceInput, EmptyOutput, CONTROL, DYNAMODB) \
	X(ListTagsOfResource, ListTagsOfResourceInput, ListTagsOfResourceOutput, DESCRIBE, DYNAMODB) \
	X(DescribeLimits, DescribeLimitsInput, DescribeLimitsOutput, DESCRIBE, DYNAMODB) \
	X(DescribeEndpoints, DescribeEndpointsRequest, DescribeEndpointsResponse, DESCRIBE, DYNAMODB) \
	X(ExecuteStatement, ExecuteStatementInput, ExecuteStatementOutput, WRITE, DYNAMODB) \
	X(BatchExecuteStatement, BatchExecuteStatementInput, BatchExecuteStatementOutput, WRITE, DYNAMODB) \
	X(ExecuteTransaction, ExecuteTransactionInput, ExecuteTransactionOutput, WRITE, DYNAMODB) \
	X(DescribeContinuousBackups, DescribeContinuousBackupsInput, DescribeContinuousBackupsOutput, DESCRIBE, DYNAMODB) \
	X(UpdateContinuousBackups, UpdateContinuousBackupsInput, UpdateContinuousBackupsOutput, CONTROL, DYNAMODB) \
	X(ListStreams, ListStreamsInput, ListStreamsOutput, DESCRIBE, STREAMS) \
	X(DescribeStream, DescribeStreamInput, DescribeStreamOutput, DESCRIBE, STREAMS) \
	X(GetShardIterator, GetShardIteratorInput, GetShardIteratorOutput, DESCRIBE, STREAMS) \
	X(GetRecords, GetRecordsInput, GetRecordsOutput, DESCRIBE, STREAMS) \
	X(RegisterScalableTarget, RegisterScalableTargetRequest, EmptyOutput, CONTROL, SCALING) \
	X(DescribeScalableTargets, DescribeScalableTargetsRequest, DescribeScalableTargetsResponse, DESCRIBE, SCALING) \
	X(DeregisterScalableTarget, DeregisterScalableTargetRequest, EmptyOutput, CONTROL, SCALING) \
	X(PutScalingPolicy, PutScalingPolicyRequest, PutScalingPolicyResponse, CONTROL, SCALING) \
	X(DescribeScalingPolicies, DescribeScalingPoliciesRequest, DescribeScalingPoliciesResponse, DESCRIBE, SCALING) \
	X(DeleteScalingPolicy, DeleteScalingPolicyRequest, EmptyOutput, CONTROL, SCALING)

enum op {
#define X(name, in, out, kind, service) OP_##name,
	OP_TABLE(X)
#undef X
	OP_COUNT
};

struct op_info {
	const char *name;
	const struct shape *in, *out;
	enum op_kind kind;
	enum op_service service;
};

extern const struct op_info op_info[OP_COUNT];

/* By the value of X-Amz-Target, "DynamoDB_20120810.GetItem"; OP_COUNT if there is no such operation. */
enum op op_by_target(struct slice target);
enum op op_by_name(struct slice name);

#endif
