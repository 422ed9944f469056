/* dispatch.c - from operation to handler. A new operation is a line here. */
#include "protocol/messages.h"
#include "proxy/conn.h"
#include "proxy/handlers.h"
#include "proxy/worker.h"

static handler_fn *const handler[OP_COUNT] = {
	[OP_GetItem] = op_get_item,
	[OP_BatchGetItem] = op_batch_get_item,
	[OP_Query] = op_query,
	[OP_Scan] = op_query,
	[OP_TransactGetItems] = op_transact_get_items,
	[OP_ExecuteStatement] = op_execute_statement,
	[OP_BatchExecuteStatement] = op_batch_execute_statement,
	[OP_ExecuteTransaction] = op_execute_transaction,
	[OP_PutItem] = op_write,
	[OP_UpdateItem] = op_write,
	[OP_DeleteItem] = op_write,
	[OP_BatchWriteItem] = op_write,
	[OP_TransactWriteItems] = op_write,
	[OP_CreateTable] = op_write,
	[OP_DeleteTable] = op_write,
	[OP_UpdateTable] = op_write,
	[OP_UpdateTimeToLive] = op_write,
	[OP_TagResource] = op_write,
	[OP_UntagResource] = op_write,
	[OP_DescribeTable] = op_describe,
	[OP_ListTables] = op_describe,
	[OP_DescribeTimeToLive] = op_describe,
	[OP_ListTagsOfResource] = op_describe,
	[OP_DescribeLimits] = op_describe,
	[OP_DescribeEndpoints] = op_describe_endpoints,
	[OP_DescribeContinuousBackups] = op_describe,
	[OP_ListStreams] = op_describe,
	[OP_DescribeStream] = op_describe,
	[OP_GetShardIterator] = op_describe,
	[OP_GetRecords] = op_describe,
	[OP_RegisterScalableTarget] = op_write,
	[OP_DeregisterScalableTarget] = op_write,
	[OP_PutScalingPolicy] = op_write,
	[OP_DeleteScalingPolicy] = op_write,
	[OP_DescribeScalableTargets] = op_describe,
	[OP_DescribeScalingPolicies] = op_describe,
};

/* A page or a batch has megabytes. */
static void note_long(struct call *c)
{
	if (c->conn == NULL || c->req.op == OP_GetItem || op_info[c->req.op].kind != OP_READ)
		return;
	c->is_long = true;
	conn_call_is_long(c->conn);
}

void dispatch_run(struct call *c)
{
	handler_fn *run = c->req.op < OP_COUNT ? handler[c->req.op] : NULL;

	if (run == NULL) {
		c->fault.code = ERR_UNKNOWN_OPERATION; /* without words, as the service does */
		call_fail(c);
	} else if (c->deadline_ns != 0 && c->worker->last_ns > c->deadline_ns) {
		fault_set(&c->fault, MSG_DEADLINE);
		call_fail(c);
	} else {
		note_long(c);
		run(c);
	}
}
