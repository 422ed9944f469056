/* PutItem, DeleteItem, UpdateItem and BatchWriteItem: answers, refusals and what they leave behind. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/store/fixture.h"

#define INVALID "One or more parameter values were invalid: "
#define NOT_VALID "One or more parameter values are not valid. "

static struct fixture *fx;

static void setup(void)
{
	fx = fixture_new(NULL);
	ok(fx, "CreateTable", "{'TableName':'hash','BillingMode':'PAY_PER_REQUEST',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
	ok(fx, "CreateTable", "{'TableName':'both','BillingMode':'PAY_PER_REQUEST',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'}]}",
		NULL);
	ok(fx, "CreateTable", "{'TableName':'ind','BillingMode':'PAY_PER_REQUEST',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'},"
		"{'AttributeName':'gpk','AttributeType':'S'},{'AttributeName':'gsk','AttributeType':'S'}],"
		"'GlobalSecondaryIndexes':[{'IndexName':'gi1','KeySchema':[{'AttributeName':'gpk','KeyType':'HASH'},"
		"{'AttributeName':'gsk','KeyType':'RANGE'}],'Projection':{'ProjectionType':'KEYS_ONLY'}}],"
		"'LocalSecondaryIndexes':[{'IndexName':'lo1','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},"
		"{'AttributeName':'gsk','KeyType':'RANGE'}],'Projection':{'ProjectionType':'ALL'}}]}", NULL);
}

static void teardown(void)
{
	fixture_free(fx);
}

TestSuite(item_writes, .init = setup, .fini = teardown);

static void refuses(const char *op, const char *body, const char *text)
{
	fails(fx, op, body, ERR_VALIDATION, text);
}

Test(item_writes, put_and_delete_return_the_old)
{
	ok(fx, "PutItem", "{'TableName':'hash','Item':{'pk':{'S':'x'},'a':{'N':'1'}},'ReturnValues':'ALL_OLD'}", "{}");
	ok(fx, "PutItem", "{'TableName':'hash','Item':{'pk':{'S':'x'},'a':{'N':'2'}},'ReturnValues':'ALL_OLD'}",
		"{'Attributes':{'a':{'N':'1'},'pk':{'S':'x'}}}");
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'x'}}}", "{'Item':{'a':{'N':'2'},'pk':{'S':'x'}}}");
	ok(fx, "DeleteItem", "{'TableName':'hash','Key':{'pk':{'S':'x'}},'ReturnValues':'ALL_OLD'}",
		"{'Attributes':{'a':{'N':'2'},'pk':{'S':'x'}}}");
	ok(fx, "DeleteItem", "{'TableName':'hash','Key':{'pk':{'S':'x'}},'ReturnValues':'ALL_OLD'}", "{}");
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'x'}}}", "{}");
	refuses("PutItem", "{'TableName':'hash','Item':{'pk':{'S':'x'}},'ReturnValues':'ALL_NEW'}",
		"ReturnValues can only be ALL_OLD or NONE");
	refuses("DeleteItem", "{'TableName':'hash','Key':{'pk':{'S':'x'}},'ReturnValues':'UPDATED_OLD'}",
		"ReturnValues can only be ALL_OLD or NONE");
}

Test(item_writes, keys_against_the_schema)
{
	static const char mismatch[] = "The provided key element does not match the schema";

	fails(fx, "PutItem", "{'TableName':'nope','Item':{}}", ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
	refuses("DeleteItem", "{'TableName':'both','Key':{'pk':{'S':'a'}}}", mismatch);
	refuses("DeleteItem", "{'TableName':'both','Key':{'pk':{'S':'a'},'sk':{'S':'b'},'x':{'S':'c'}}}", mismatch);
	refuses("UpdateItem", "{'TableName':'both','Key':{'pk':{'N':'1'},'sk':{'S':'b'}}}", mismatch);
	refuses("PutItem", "{'TableName':'both','Item':{'pk':{'S':'a'}}}", INVALID "Missing the key sk in the item");
	refuses("PutItem", "{'TableName':'both','Item':{'pk':{'N':'1'},'sk':{'S':'b'}}}",
		INVALID "Type mismatch for key pk expected: S actual: N");
	refuses("PutItem", "{'TableName':'hash','Item':{'pk':{'S':''}}}", "One or more parameter values are not valid. "
		"The AttributeValue for a key attribute cannot contain an empty string value. Key: pk");
	refuses("DeleteItem", "{'TableName':'hash','Key':{'pk':{'S':''}}}", "One or more parameter values are not valid. "
		"The AttributeValue for a key attribute cannot contain an empty string value. Key: pk");
}

/* {'TableName':'both','Item':{'pk':{'S':'<p bytes>'},'sk':{'S':'<s bytes>'},'v':{'S':'<v bytes>'}}} */
static char *put_of(int p, int s, int v)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	fprintf(f, "{'TableName':'both','Item':{'pk':{'S':'");
	for (int i = 0; i < p; i++)
		fputc('p', f);
	fprintf(f, "'},'sk':{'S':'");
	for (int i = 0; i < s; i++)
		fputc('s', f);
	fprintf(f, "'},'v':{'S':'");
	for (int i = 0; i < v; i++)
		fputc('v', f);
	fprintf(f, "'}}}");
	fclose(f);
	return text;
}

Test(item_writes, sizes_to_the_byte)
{
	static const struct { int p, s, v; const char *text; } all[] = {
		{ 2048, 1024, 0, NULL },
		{ 2049, 1, 0, INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes" },
		{ 1, 1025, 0, INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes" },
		{ 1, 1, 409600 - 7, NULL },
		{ 1, 1, 409600 - 6, "Item size has exceeded the maximum allowed size" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char *body = put_of(all[i].p, all[i].s, all[i].v);

		if (all[i].text == NULL)
			ok(fx, "PutItem", body, "{}");
		else
			refuses("PutItem", body, all[i].text);
		free(body);
	}
}

/* Between the two parts, n letters; good until the next call. */
static const char *put_long(const char *before, int n, const char *after)
{
	static char body[4096];

	snprintf(body, sizeof body, "%s%0*d%s", before, n, 0, after);
	return body;
}

Test(item_writes, keys_of_indexes)
{
	refuses("PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'S':''},'gsk':{'S':'x'}}}",
		"One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
		"The AttributeValue for a key attribute cannot contain an empty string value. IndexName: gi1, IndexKey: gpk");
	refuses("PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'N':'7'},'gsk':{'S':'x'}}}",
		INVALID "Type mismatch for Index Key gpk Expected: S Actual: N IndexName: gi1");
	refuses("PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'NULL':true}}}",
		INVALID "Type mismatch for Index Key gpk Expected: S Actual: NULL IndexName: gi1");
	refuses("PutItem", put_long("{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'S':'", 2049, "'}}}"),
		INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes");
	ok(fx, "GetItem", "{'TableName':'ind','Key':{'pk':{'S':'a'},'sk':{'S':'1'}}}", "{}");
}

/* A value in the request is judged by itself, a computed one in the item that it makes. */
Test(item_writes, updates_of_keys_of_indexes)
{
#define KEY "{'TableName':'ind','Key':{'pk':{'S':'a'},'sk':{'S':'1'}},"
	refuses("UpdateItem", KEY "'UpdateExpression':'SET gpk = :v','ExpressionAttributeValues':{':v':{'M':{}}}}",
		INVALID "Type mismatch for Index Key gpk Expected: S Actual: M IndexName: gi1");
	refuses("UpdateItem", KEY "'AttributeUpdates':{'gsk':{'Value':{'NULL':true}}}}",
		INVALID "Type mismatch for Index Key gsk Expected: S Actual: NULL IndexName: gi1");
	refuses("UpdateItem", KEY "'UpdateExpression':'ADD gpk :v','ExpressionAttributeValues':{':v':{'N':'1'}}}",
		INVALID "Type mismatch for Index Key gpk Expected: S Actual: N IndexName: gi1");
	refuses("UpdateItem", KEY "'UpdateExpression':'SET gpk.x = :v','ExpressionAttributeValues':{':v':{'S':'1'}}}",
		"Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: gpk");
	ok(fx, "UpdateItem", KEY "'UpdateExpression':'SET n = :n, e = :e',"
		"'ExpressionAttributeValues':{':n':{'N':'1'},':e':{'S':''}}}", "{}");
	refuses("UpdateItem", KEY "'UpdateExpression':'SET gpk = n'}",
		"The update expression attempted to update the secondary index key to unsupported type");
	refuses("UpdateItem", KEY "'UpdateExpression':'SET gpk = e'}",
		NOT_VALID "The update expression attempted to update a secondary index key to a value that is not supported. "
		"The AttributeValue for a key attribute cannot contain an empty string value.");
	refuses("UpdateItem", put_long(KEY "'UpdateExpression':'SET gsk = :v','ExpressionAttributeValues':{':v':{'S':'", 1025, "'}}}"),
		"The update expression attempted to update the secondary index key beyond allowed size limits");
	fails(fx, "TransactWriteItems", "{'TransactItems':[{'Update':" KEY "'UpdateExpression':'SET gpk = :v',"
		"'ExpressionAttributeValues':{':v':{'N':'7'}}}}]}", ERR_TRANSACTION_CANCELED, NULL);
	ok(fx, "GetItem", "{'TableName':'ind','Key':{'pk':{'S':'a'},'sk':{'S':'1'}}}",
		"{'Item':{'e':{'S':''},'n':{'N':'1'},'pk':{'S':'a'},'sk':{'S':'1'}}}");
#undef KEY
}

Test(item_writes, capacity)
{
	ok(fx, "DeleteItem", "{'TableName':'hash','Key':{'pk':{'S':'none'}},'ReturnConsumedCapacity':'TOTAL'}",
		"{'ConsumedCapacity':{'CapacityUnits':1.0,'TableName':'hash'}}");
	ok(fx, "PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'S':'G'}},"
		"'ReturnConsumedCapacity':'INDEXES'}",
		"{'ConsumedCapacity':{'CapacityUnits':1.0,'Table':{'CapacityUnits':1.0},'TableName':'ind'}}");
	ok(fx, "PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'S':'G'},'gsk':{'S':'1'}},"
		"'ReturnConsumedCapacity':'INDEXES'}",
		"{'ConsumedCapacity':{'CapacityUnits':3.0,'GlobalSecondaryIndexes':{'gi1':{'CapacityUnits':1.0}},"
		"'LocalSecondaryIndexes':{'lo1':{'CapacityUnits':1.0}},'Table':{'CapacityUnits':1.0},'TableName':'ind'}}");
	/* An index entry that moves pays a delete and an insert; one that stays pays nothing. */
	ok(fx, "PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'S':'H'},'gsk':{'S':'1'}},"
		"'ReturnConsumedCapacity':'INDEXES'}",
		"{'ConsumedCapacity':{'CapacityUnits':4.0,'GlobalSecondaryIndexes':{'gi1':{'CapacityUnits':2.0}},"
		"'LocalSecondaryIndexes':{'lo1':{'CapacityUnits':1.0}},'Table':{'CapacityUnits':1.0},'TableName':'ind'}}");
	ok(fx, "PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'gpk':{'S':'H'},'gsk':{'S':'1'}},"
		"'ReturnConsumedCapacity':'INDEXES'}",
		"{'ConsumedCapacity':{'CapacityUnits':1.0,'Table':{'CapacityUnits':1.0},'TableName':'ind'}}");
}

Test(item_writes, metrics_of_collections)
{
	ok(fx, "PutItem", "{'TableName':'ind','Item':{'pk':{'S':'a'},'sk':{'S':'1'}},'ReturnItemCollectionMetrics':'SIZE'}",
		"{'ItemCollectionMetrics':{'ItemCollectionKey':{'pk':{'S':'a'}},'SizeEstimateRangeGB':[0.0,1.0]}}");
	ok(fx, "PutItem", "{'TableName':'both','Item':{'pk':{'S':'a'},'sk':{'S':'1'}},'ReturnItemCollectionMetrics':'SIZE'}", "{}");
}

Test(item_writes, conditions)
{
	ok(fx, "PutItem", "{'TableName':'hash','Item':{'pk':{'S':'x'},'v':{'N':'1'}}}", "{}");
	struct outcome o = run(fx, "PutItem", "{'TableName':'hash','Item':{'pk':{'S':'x'},'v':{'N':'3'}},"
		"'ConditionExpression':'v = :v','ExpressionAttributeValues':{':v':{'N':'2'}},"
		"'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}");

	cr_assert_eq(o.code, ERR_CONDITION_FAILED);
	cr_assert_str_eq(o.text, "The conditional request failed");
	cr_assert_not_null(strstr(o.json, "\"Item\":{\"pk\":{\"S\":\"x\"},\"v\":{\"N\":\"1\"}}"), "%s", o.json);
	o = run(fx, "DeleteItem", "{'TableName':'hash','Key':{'pk':{'S':'x'}},"
		"'ConditionExpression':'v = :v','ExpressionAttributeValues':{':v':{'N':'2'}}}");
	cr_assert_eq(o.code, ERR_CONDITION_FAILED);
	cr_assert_null(strstr(o.json, "Item"), "%s", o.json);
	ok(fx, "PutItem", "{'TableName':'hash','Item':{'pk':{'S':'x'},'v':{'N':'2'}},'ConditionExpression':'v = :v',"
		"'ExpressionAttributeValues':{':v':{'N':'1'}}}", "{}");
	fails(fx, "PutItem", "{'TableName':'hash','Item':{'pk':{'S':'x'}},'Expected':{'v':{'Value':{'N':'1'}}}}",
		ERR_CONDITION_FAILED, NULL);
	refuses("PutItem", "{'TableName':'nope','Item':{'pk':{'S':'a'}},'ConditionExpression':'((('}", NULL);
	refuses("PutItem", "{'TableName':'hash','Item':{'pk':{'S':'t'}},'Expected':{'pk':{'Exists':false}},"
		"'ConditionExpression':'attribute_not_exists(pk)'}",
		"Can not use both expression and non-expression parameters in the same request: "
		"Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}");
	refuses("PutItem", "{'TableName':'hash','Item':{'pk':{'S':'t'}},'ExpressionAttributeValues':{':v':{'S':'u'}}}",
		"ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null");
}

Test(item_writes, update_return_values)
{
	ok(fx, "UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET a = :v',"
		"'ExpressionAttributeValues':{':v':{'N':'1'}},'ReturnValues':'ALL_OLD'}", "{}");
	ok(fx, "UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET a = a + :v, b = :v',"
		"'ExpressionAttributeValues':{':v':{'N':'1'}},'ReturnValues':'ALL_NEW'}",
		"{'Attributes':{'a':{'N':'2'},'b':{'N':'1'},'pk':{'S':'u'}}}");
	ok(fx, "UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET a = a + :v',"
		"'ExpressionAttributeValues':{':v':{'N':'1'}},'ReturnValues':'UPDATED_OLD'}", "{'Attributes':{'a':{'N':'2'}}}");
	ok(fx, "UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET a = a + :v',"
		"'ExpressionAttributeValues':{':v':{'N':'1'}},'ReturnValues':'UPDATED_NEW'}", "{'Attributes':{'a':{'N':'4'}}}");
	refuses("UpdateItem", "{'TableName':'both','Key':{'pk':{'S':'a'},'sk':{'S':'b'}},'UpdateExpression':'SET sk = :v',"
		"'ExpressionAttributeValues':{':v':{'S':'z'}}}",
		INVALID "Cannot update attribute sk. This attribute is part of the key");
	refuses("UpdateItem", "{'TableName':'ind','Key':{'pk':{'S':'z'},'sk':{'S':'1'}},'UpdateExpression':'SET gpk = :e',"
		"'ExpressionAttributeValues':{':e':{'S':''}}}",
		NOT_VALID "The update expression attempted to update a secondary index key to a value that is not supported. "
		"The AttributeValue for a key attribute cannot contain an empty string value.");
	refuses("UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'u'}},'ExpressionAttributeValues':{':e':{'S':''}}}",
		"ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression "
		"are null");
}

/* An update that only removes does not make an item; one without any action does. */
Test(item_writes, updates_that_create)
{
	ok(fx, "UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'r'}},'UpdateExpression':'REMOVE a'}", "{}");
	ok(fx, "UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'d'}},'AttributeUpdates':{'a':{'Action':'DELETE'}}}", "{}");
	ok(fx, "UpdateItem", "{'TableName':'hash','Key':{'pk':{'S':'n'}}}", "{}");
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'r'}}}", "{}");
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'d'}}}", "{}");
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'n'}}}", "{'Item':{'pk':{'S':'n'}}}");
}

Test(item_writes, batch)
{
	ok(fx, "BatchWriteItem", "{'RequestItems':{'hash':[{'PutRequest':{'Item':{'pk':{'S':'a'}}}},"
		"{'PutRequest':{'Item':{'pk':{'S':'b'}}}}],'both':[{'PutRequest':{'Item':{'pk':{'S':'a'},'sk':{'S':'1'}}}}]},"
		"'ReturnConsumedCapacity':'TOTAL'}",
		"{'ConsumedCapacity':[{'CapacityUnits':1.0,'TableName':'both'},{'CapacityUnits':2.0,'TableName':'hash'}],"
		"'UnprocessedItems':{}}");
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'b'}}}", "{'Item':{'pk':{'S':'b'}}}");
	ok(fx, "BatchWriteItem", "{'RequestItems':{'hash':[{'DeleteRequest':{'Key':{'pk':{'S':'a'}}}},"
		"{'DeleteRequest':{'Key':{'pk':{'S':'missing'}}}}]},'ReturnConsumedCapacity':'TOTAL'}",
		"{'ConsumedCapacity':[{'CapacityUnits':2.0,'TableName':'hash'}],'UnprocessedItems':{}}");
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'a'}}}", "{}");
}

Test(item_writes, batch_all_or_nothing)
{
	refuses("BatchWriteItem", "{'RequestItems':{'hash':[{'PutRequest':{'Item':{'pk':{'S':'good'}}}},"
		"{'PutRequest':{'Item':{'nokey':{'S':'x'}}}}]}}", "The provided key element does not match the schema");
	fails(fx, "BatchWriteItem", "{'RequestItems':{'hash':[{'PutRequest':{'Item':{'pk':{'S':'good'}}}}],"
		"'nope':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}]}}", ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
	refuses("BatchWriteItem", "{'RequestItems':{'hash':[{'PutRequest':{'Item':{'pk':{'S':'a'}}}},"
		"{'DeleteRequest':{'Key':{'pk':{'S':'a'}}}}]}}", "Provided list of item keys contains duplicates");
	refuses("BatchWriteItem", "{'RequestItems':{}}", NULL);
	refuses("BatchWriteItem", "{'RequestItems':{'hash':[]}}", NULL);
	refuses("BatchWriteItem", "{'RequestItems':{'hash':[{}]}}", NULL);
	refuses("BatchWriteItem", "{'RequestItems':{'hash':[{'PutRequest':{'Item':{}}}]}}", NULL);
	refuses("BatchWriteItem", "{'RequestItems':{'hash':[{'PutRequest':{'Item':{'pk':{'S':'a'}}},"
		"'DeleteRequest':{'Key':{'pk':{'S':'b'}}}}]}}", NULL);
	ok(fx, "GetItem", "{'TableName':'hash','Key':{'pk':{'S':'good'}}}", "{}");
}
