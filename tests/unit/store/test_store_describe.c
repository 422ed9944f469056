/* test_store_describe - DescribeTable through a table's life, ListTables in pages, exact counters. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/store/fixture.h"

#define SIMPLE(name) "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST'," \
	"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}"

static void has(struct outcome o, const char *part)
{
	char want[512];

	cr_assert_eq(o.code, ERR_OK, "%s", o.json);
	snprintf(want, sizeof want, "%s", part);
	for (char *p = want; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	cr_assert_not_null(strstr(o.json, want), "no %s in %s", want, o.json);
}

static void has_not(struct outcome o, const char *part)
{
	cr_assert_null(strstr(o.json, part), "%s in %s", part, o.json);
}

Test(store_describe, life_of_a_table)
{
	struct fixture *fx = fixture_new(NULL);

	fails(fx, "DescribeTable", "{'TableName':'one'}", ERR_RESOURCE_NOT_FOUND,
		"Requested resource not found: Table: one not found");
	fails(fx, "DeleteTable", "{'TableName':'one'}", ERR_RESOURCE_NOT_FOUND,
		"Requested resource not found: Table: one not found");
	has(run(fx, "CreateTable", SIMPLE("one")), "'TableStatus':'CREATING'");
	has(run(fx, "DescribeTable", "{'TableName':'one'}"), "'TableStatus':'ACTIVE'");
	has(run(fx, "DescribeTable", "{'TableName':'arn:aws:dynamodb:eu-west-1:123456789012:table/one'}"), "'TableName':'one'");
	has(run(fx, "DeleteTable", "{'TableName':'one'}"), "'TableStatus':'DELETING'");
	fails(fx, "DescribeTable", "{'TableName':'one'}", ERR_RESOURCE_NOT_FOUND, NULL);
	fixture_free(fx);
}

Test(store_describe, all_members)
{
	struct fixture *fx = fixture_new(NULL);

	ok(fx, "CreateTable", "{'TableName':'full','KeySchema':[{'AttributeName':'a','KeyType':'HASH'},{'AttributeName':'b',"
		"'KeyType':'RANGE'}],'AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'},{'AttributeName':'b',"
		"'AttributeType':'N'},{'AttributeName':'c','AttributeType':'B'}],"
		"'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':6},'TableClass':'STANDARD',"
		"'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'},'SSESpecification':{'Enabled':true},"
		"'Tags':[{'Key':'k','Value':'v'}],'DeletionProtectionEnabled':true,"
		"'LocalSecondaryIndexes':[{'IndexName':'loc','KeySchema':[{'AttributeName':'a','KeyType':'HASH'},"
		"{'AttributeName':'c','KeyType':'RANGE'}],'Projection':{'ProjectionType':'KEYS_ONLY'}}],"
		"'GlobalSecondaryIndexes':[{'IndexName':'glo','KeySchema':[{'AttributeName':'c','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'ALL'},'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':2}}]}", NULL);
	struct outcome o = run(fx, "DescribeTable", "{'TableName':'full'}");

	has(o, "'TableArn':'arn:aws:dynamodb:ddblocal:000000000000:table/full'");
	has(o, "'ProvisionedThroughput':{'NumberOfDecreasesToday':0,'ReadCapacityUnits':5,'WriteCapacityUnits':6}");
	has(o, "'TableClassSummary':{'TableClass':'STANDARD'}");
	has(o, "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'}");
	has(o, "'LatestStreamArn':'arn:aws:dynamodb:ddblocal:000000000000:table/full/stream/");
	has(o, "'SSEDescription':{'KMSMasterKeyArn':'arn:aws:kms:");
	has(o, "'DeletionProtectionEnabled':true");
	has(o, "'IndexArn':'arn:aws:dynamodb:ddblocal:000000000000:table/full/index/loc'");
	has(o, "'IndexArn':'arn:aws:dynamodb:ddblocal:000000000000:table/full/index/glo'");
	has(o, "'IndexStatus':'ACTIVE'");
	has(o, "'ItemCount':0");
	has(o, "'WarmThroughput':{'ReadUnitsPerSecond':5,'Status':'ACTIVE','WriteUnitsPerSecond':6}");
	has_not(o, "BillingModeSummary");
	has_not(o, "Tags");
	fails(fx, "DeleteTable", "{'TableName':'full'}", ERR_VALIDATION,
		"Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.");
	ok(fx, "ListTagsOfResource", "{'ResourceArn':'arn:aws:dynamodb:ddblocal:000000000000:table/full'}",
		"{'Tags':[{'Key':'k','Value':'v'}]}");
	fixture_free(fx);
}

Test(store_describe, list_in_pages)
{
	struct fixture *fx = fixture_new(NULL);

	ok(fx, "ListTables", "{}", "{'TableNames':[]}");
	ok(fx, "CreateTable", SIMPLE("bbb"), NULL);
	ok(fx, "CreateTable", SIMPLE("aaa"), NULL);
	ok(fx, "CreateTable", SIMPLE("ccc"), NULL);
	ok(fx, "ListTables", "{}", "{'TableNames':['aaa','bbb','ccc']}");
	ok(fx, "ListTables", "{'Limit':2}", "{'LastEvaluatedTableName':'bbb','TableNames':['aaa','bbb']}");
	ok(fx, "ListTables", "{'Limit':2,'ExclusiveStartTableName':'bbb'}", "{'TableNames':['ccc']}");
	ok(fx, "ListTables", "{'ExclusiveStartTableName':'abc'}", "{'TableNames':['bbb','ccc']}");
	ok(fx, "ListTables", "{'Limit':3}", "{'TableNames':['aaa','bbb','ccc']}");
	fixture_free(fx);
}

/* Counters follow every kind of write, and a table made anew begins at nothing. */
Test(store_describe, counters)
{
	struct fixture *fx = fixture_new(NULL);

	ok(fx, "CreateTable", SIMPLE("cnt"), NULL);
	ok(fx, "PutItem", "{'TableName':'cnt','Item':{'pk':{'S':'a'},'v':{'S':'12345'}}}", "{}");
	ok(fx, "PutItem", "{'TableName':'cnt','Item':{'pk':{'S':'b'}}}", "{}");
	has(run(fx, "DescribeTable", "{'TableName':'cnt'}"), "'ItemCount':2");
	has(run(fx, "DescribeTable", "{'TableName':'cnt'}"), "'TableSizeBytes':12");
	ok(fx, "PutItem", "{'TableName':'cnt','Item':{'pk':{'S':'a'}}}", "{}");
	has(run(fx, "DescribeTable", "{'TableName':'cnt'}"), "'TableSizeBytes':6");
	ok(fx, "DeleteItem", "{'TableName':'cnt','Key':{'pk':{'S':'a'}}}", "{}");
	ok(fx, "DeleteItem", "{'TableName':'cnt','Key':{'pk':{'S':'nobody'}}}", "{}");
	has(run(fx, "DescribeTable", "{'TableName':'cnt'}"), "'ItemCount':1");
	ok(fx, "DeleteTable", "{'TableName':'cnt'}", NULL);
	ok(fx, "CreateTable", SIMPLE("cnt"), NULL);
	has(run(fx, "DescribeTable", "{'TableName':'cnt'}"), "'ItemCount':0");
	ok(fx, "GetItem", "{'TableName':'cnt','Key':{'pk':{'S':'b'}}}", "{}");
	fixture_free(fx);
}
