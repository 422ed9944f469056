/* test_update_table - UpdateTable, indexes that are filled while the table is in use, time to live, tags. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/store/fixture.h"

#define INVALID "One or more parameter values were invalid: "

static struct fixture *fx;

static void setup(void)
{
	fx = fixture_new(NULL);
	ok(fx, "CreateTable", "{'TableName':'prov','ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5},"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
	ok(fx, "CreateTable", "{'TableName':'dem','BillingMode':'PAY_PER_REQUEST',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
}

static void teardown(void)
{
	fixture_free(fx);
}

TestSuite(update_table, .init = setup, .fini = teardown);

static bool described(const char *table, const char *part)
{
	char body[128], want[256];

	snprintf(body, sizeof body, "{'TableName':'%s'}", table);
	snprintf(want, sizeof want, "%s", part);
	for (char *p = want; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	struct outcome o = run(fx, "DescribeTable", body);

	return strstr(o.json, want) != NULL;
}

Test(update_table, throughput_and_billing)
{
	fails(fx, "UpdateTable", "{'TableName':'absent','BillingMode':'PAY_PER_REQUEST'}", ERR_RESOURCE_NOT_FOUND, NULL);
	fails(fx, "UpdateTable", "{'TableName':'prov','BillingMode':'PROVISIONED',"
		"'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}", ERR_VALIDATION, NULL);
	ok(fx, "UpdateTable", "{'TableName':'prov','ProvisionedThroughput':{'ReadCapacityUnits':20,'WriteCapacityUnits':15}}", NULL);
	cr_assert(described("prov", "'ReadCapacityUnits':20,'WriteCapacityUnits':15}"));
	ok(fx, "UpdateTable", "{'TableName':'prov','BillingMode':'PAY_PER_REQUEST'}", NULL);
	cr_assert(described("prov", "'BillingMode':'PAY_PER_REQUEST'"));
	cr_assert(described("prov", "'ReadCapacityUnits':0,'WriteCapacityUnits':0}"));
	ok(fx, "UpdateTable", "{'TableName':'dem','BillingMode':'PAY_PER_REQUEST'}", NULL);
	fails(fx, "UpdateTable", "{'TableName':'dem','BillingMode':'PROVISIONED'}", ERR_VALIDATION,
		INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
	ok(fx, "UpdateTable", "{'TableName':'dem','BillingMode':'PROVISIONED',"
		"'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}", NULL);
	cr_assert(described("dem", "'BillingMode':'PROVISIONED'"));
	fails(fx, "UpdateTable", "{'TableName':'dem','BillingMode':'PROVISIONED'}", ERR_VALIDATION,
		INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
}

#define LOWER " is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
#define INITIAL " is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/" \
	"developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
#define KEY "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]"

/* It is the highest that was ever provisioned, asked for, or begun with on demand. */
Test(update_table, warm_throughput)
{
	cr_assert(described("prov", "'WarmThroughput':{'ReadUnitsPerSecond':5,'Status':'ACTIVE','WriteUnitsPerSecond':5}"));
	ok(fx, "UpdateTable", "{'TableName':'prov','ProvisionedThroughput':{'ReadCapacityUnits':20,'WriteCapacityUnits':3}}", NULL);
	ok(fx, "UpdateTable", "{'TableName':'prov','ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':4}}", NULL);
	cr_assert(described("prov", "'WarmThroughput':{'ReadUnitsPerSecond':20,'Status':'ACTIVE','WriteUnitsPerSecond':5}"));
	fails(fx, "UpdateTable", "{'TableName':'prov','WarmThroughput':{'ReadUnitsPerSecond':19}}", ERR_VALIDATION,
		INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table" LOWER);
	fails(fx, "UpdateTable", "{'TableName':'prov','WarmThroughput':{'ReadUnitsPerSecond':20,'WriteUnitsPerSecond':4}}",
		ERR_VALIDATION, INVALID "Requested WriteUnitsPerSecond for WarmThroughput for table" LOWER);
	ok(fx, "UpdateTable", "{'TableName':'prov','WarmThroughput':{'WriteUnitsPerSecond':50}}", NULL);
	cr_assert(described("prov", "'WarmThroughput':{'ReadUnitsPerSecond':20,'Status':'ACTIVE','WriteUnitsPerSecond':50}"));
	ok(fx, "UpdateTable", "{'TableName':'prov','BillingMode':'PAY_PER_REQUEST'}", NULL);
	cr_assert(described("prov", "'WarmThroughput':{'ReadUnitsPerSecond':12000,'Status':'ACTIVE','WriteUnitsPerSecond':4000}"));
	ok(fx, "UpdateTable", "{'TableName':'prov','BillingMode':'PROVISIONED',"
		"'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':5000}}", NULL);
	cr_assert(described("prov", "'WarmThroughput':{'ReadUnitsPerSecond':12000,'Status':'ACTIVE','WriteUnitsPerSecond':5000}"));
}

Test(update_table, warm_throughput_of_something_new)
{
	fails(fx, "CreateTable", "{'TableName':'cold'," KEY ",'BillingMode':'PAY_PER_REQUEST','WarmThroughput':{'ReadUnitsPerSecond':1}}",
		ERR_VALIDATION, INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table" INITIAL);
	fails(fx, "CreateTable", "{'TableName':'cold'," KEY ",'ProvisionedThroughput':{'ReadCapacityUnits':10,'WriteCapacityUnits':10},"
		"'WarmThroughput':{'WriteUnitsPerSecond':5}}", ERR_VALIDATION,
		INVALID "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than WriteCapacityUnits of ProvisionedThroughput");
	ok(fx, "CreateTable", "{'TableName':'warm'," KEY ",'BillingMode':'PAY_PER_REQUEST','WarmThroughput':{'ReadUnitsPerSecond':12001}}",
		NULL);
	cr_assert(described("warm", "'WarmThroughput':{'ReadUnitsPerSecond':12001,'Status':'ACTIVE','WriteUnitsPerSecond':4000}"));
}

/* Members come and go one by one, for on-demand tables alone. */
Test(update_table, on_demand_maximum)
{
	fails(fx, "UpdateTable", "{'TableName':'prov','OnDemandThroughput':{'MaxReadRequestUnits':1}}", ERR_VALIDATION,
		INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED");
	fails(fx, "CreateTable", "{'TableName':'new'," KEY ",'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1},"
		"'OnDemandThroughput':{'MaxWriteRequestUnits':1}}", ERR_VALIDATION,
		INVALID "MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.");
	fails(fx, "CreateTable", "{'TableName':'new'," KEY ",'BillingMode':'PAY_PER_REQUEST','OnDemandThroughput':"
		"{'MaxWriteRequestUnits':-1}}", ERR_VALIDATION,
		INVALID "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range");
	fails(fx, "UpdateTable", "{'TableName':'dem','OnDemandThroughput':{'MaxReadRequestUnits':0}}", ERR_VALIDATION,
		INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range");
	ok(fx, "UpdateTable", "{'TableName':'dem','OnDemandThroughput':{'MaxReadRequestUnits':7}}", NULL);
	ok(fx, "UpdateTable", "{'TableName':'dem','OnDemandThroughput':{'MaxWriteRequestUnits':8}}", NULL);
	cr_assert(described("dem", "'OnDemandThroughput':{'MaxReadRequestUnits':7,'MaxWriteRequestUnits':8}"));
	ok(fx, "UpdateTable", "{'TableName':'dem','OnDemandThroughput':{'MaxReadRequestUnits':-1}}", NULL);
	cr_assert(described("dem", "'OnDemandThroughput':{'MaxWriteRequestUnits':8}"));
	ok(fx, "UpdateTable", "{'TableName':'dem','OnDemandThroughput':{'MaxWriteRequestUnits':-1}}", NULL);
	cr_assert(!described("dem", "OnDemandThroughput"));
	ok(fx, "UpdateTable", "{'TableName':'dem','OnDemandThroughput':{'MaxWriteRequestUnits':8}}", NULL);
	ok(fx, "UpdateTable", "{'TableName':'dem','BillingMode':'PROVISIONED',"
		"'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}", NULL);
	cr_assert(!described("dem", "OnDemandThroughput"));
}

/* An index has its own of all three. */
Test(update_table, throughputs_of_an_index)
{
	ok(fx, "CreateTable", "{'TableName':'with'," KEY ",'BillingMode':'PAY_PER_REQUEST','GlobalSecondaryIndexes':[{'IndexName':'one',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}},{'IndexName':'two',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}", NULL);
#define UPDATE(x) "{'TableName':'with','GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'two'," x "}}]}"
	fails(fx, "UpdateTable", UPDATE("'WarmThroughput':{'WriteUnitsPerSecond':3999}"), ERR_VALIDATION,
		INVALID "Requested WriteUnitsPerSecond for WarmThroughput for index two" LOWER);
	fails(fx, "UpdateTable", UPDATE("'OnDemandThroughput':{'MaxWriteRequestUnits':-2}"), ERR_VALIDATION,
		INVALID "Requested MaxWriteRequestUnits for OnDemandThroughput for index : two is outside of valid range");
	ok(fx, "UpdateTable", UPDATE("'WarmThroughput':{'WriteUnitsPerSecond':4001}"), NULL);
	ok(fx, "UpdateTable", UPDATE("'OnDemandThroughput':{'MaxWriteRequestUnits':9}"), NULL);
	cr_assert(described("with", "'IndexName':'two'"));
	cr_assert(described("with", "'OnDemandThroughput':{'MaxWriteRequestUnits':9}"));
	cr_assert(described("with", "'WarmThroughput':{'ReadUnitsPerSecond':12000,'Status':'ACTIVE','WriteUnitsPerSecond':4001}}]"));
	fails(fx, "UpdateTable", "{'TableName':'with','BillingMode':'PROVISIONED',"
		"'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}", ERR_VALIDATION,
		INVALID "ProvisionedThroughput must be specified for index: one");
	ok(fx, "UpdateTable", "{'TableName':'with','BillingMode':'PROVISIONED','ProvisionedThroughput':{'ReadCapacityUnits':5,"
		"'WriteCapacityUnits':5},'GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'one','ProvisionedThroughput':"
		"{'ReadCapacityUnits':1,'WriteCapacityUnits':1}}},{'Update':{'IndexName':'two','ProvisionedThroughput':"
		"{'ReadCapacityUnits':2,'WriteCapacityUnits':2}}}]}", NULL);
	cr_assert(!described("with", "OnDemandThroughput"));
	fails(fx, "UpdateTable", UPDATE("'ProvisionedThroughput':{'ReadCapacityUnits':2,'WriteCapacityUnits':2}"), ERR_VALIDATION,
		"The provisioned throughput for the index two will not change. The requested value equals the current value. Current "
		"ReadCapacityUnits provisioned for index two: 2. Requested ReadCapacityUnits: 2. Current WriteCapacityUnits provisioned "
		"for index two: 2. Requested WriteCapacityUnits: 2. Refer to the Amazon DynamoDB Developer Guide for current limits and "
		"how to request higher limits.");
	cr_assert(described("with", "'WarmThroughput':{'ReadUnitsPerSecond':12000,'Status':'ACTIVE','WriteUnitsPerSecond':4001}}]"));
}

Test(update_table, streams_and_protection)
{
	fails(fx, "UpdateTable", "{'TableName':'dem','StreamSpecification':{'StreamEnabled':false}}", ERR_VALIDATION,
		"Table has no stream to disable: TableName: dem");
	ok(fx, "UpdateTable", "{'TableName':'dem','StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}", NULL);
	fails(fx, "UpdateTable", "{'TableName':'dem','StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}",
		ERR_VALIDATION, "Table already has an enabled stream: TableName: dem");
	ok(fx, "UpdateTable", "{'TableName':'dem','StreamSpecification':{'StreamEnabled':false}}", NULL);
	cr_assert(described("dem", "'LatestStreamArn'"));
	cr_assert(!described("dem", "'StreamSpecification'"));
	ok(fx, "UpdateTable", "{'TableName':'dem','DeletionProtectionEnabled':true}", NULL);
	fails(fx, "DeleteTable", "{'TableName':'dem'}", ERR_VALIDATION, NULL);
	ok(fx, "UpdateTable", "{'TableName':'dem','DeletionProtectionEnabled':false}", NULL);
	ok(fx, "DeleteTable", "{'TableName':'dem'}", NULL);
}

/* Until the index can be read; it is filled in the background. */
static void wait_readable(void)
{
	for (int i = 0; i < 2000 && described("dem", "'Backfilling':true"); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	cr_assert(!described("dem", "'Backfilling':true"));
}

#define GSI "{'IndexName':'by-a','KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}"

Test(update_table, a_new_index_holds_what_was_there)
{
	for (int i = 0; i < 1000; i++) {
		char body[160];

		snprintf(body, sizeof body, "{'TableName':'dem','Item':{'pk':{'S':'k%d'},'a':{'S':'%s'}}}", i, i % 4 == 0 ? "four" : "other");
		ok(fx, "PutItem", body, "{}");
	}
	fails(fx, "UpdateTable", "{'TableName':'dem','GlobalSecondaryIndexUpdates':[{'Create':" GSI "}]}", ERR_VALIDATION, NULL);
	ok(fx, "UpdateTable", "{'TableName':'dem','AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'}],"
		"'GlobalSecondaryIndexUpdates':[{'Create':" GSI "}]}", NULL);
	/* Changed while it may still be building: counted once all the same. */
	ok(fx, "PutItem", "{'TableName':'dem','Item':{'pk':{'S':'k999'},'a':{'S':'four'}}}", "{}");
	ok(fx, "DeleteItem", "{'TableName':'dem','Key':{'pk':{'S':'k998'}}}", "{}");
	wait_readable();
	cr_assert(described("dem", "'IndexStatus':'ACTIVE','ItemCount':999"));
	struct outcome o = run(fx, "Query", "{'TableName':'dem','IndexName':'by-a','Select':'COUNT',"
		"'KeyConditionExpression':'a = :a','ExpressionAttributeValues':{':a':{'S':'four'}}}");

	cr_assert_not_null(strstr(o.json, "\"Count\":251"), "%s", o.json);
	fails(fx, "UpdateTable", "{'TableName':'dem','AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'}],"
		"'GlobalSecondaryIndexUpdates':[{'Create':" GSI "}]}", ERR_VALIDATION, "Attempting to create an index which already exists");
	ok(fx, "UpdateTable", "{'TableName':'dem','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'by-a'}}]}", NULL);
	cr_assert(!described("dem", "GlobalSecondaryIndexes"));
	cr_assert(described("dem", "'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]"));
	fails(fx, "UpdateTable", "{'TableName':'dem','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'by-a'}}]}",
		ERR_RESOURCE_NOT_FOUND, NULL);
}

#define STREAM "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}"
#define UNITS "'ProvisionedThroughput':{'ReadCapacityUnits':2,'WriteCapacityUnits':2}"
#define DEFINE_A "{'TableName':'dem','AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'}],"
#define ONE_MOVE "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"

Test(update_table, what_does_not_go_together)
{
	static const char *const refused[][2] = {
		{ "'SSESpecification':{'Enabled':true},'DeletionProtectionEnabled':true",
			"Server-Side Encryption modification must be the only operation in the request" },
		{ "'DeletionProtectionEnabled':true,'TableClass':'STANDARD'",
			"TableClass modification must be the only operation in the request" },
		{ "'DeletionProtectionEnabled':true,'BillingMode':'PAY_PER_REQUEST'",
			"DeletionProtection modification must be the only operation in the request" },
		{ "'WarmThroughput':{'ReadUnitsPerSecond':20},'BillingMode':'PAY_PER_REQUEST'",
			"WarmThroughput must be the only operation in the request" },
		{ "'WarmThroughput':{'ReadUnitsPerSecond':20},'GlobalSecondaryIndexUpdates':[{'Create':" GSI "}]",
			"Create global secondary index cannot be specified when updating WarmThroughput" },
		{ STREAM ",'OnDemandThroughput':{'MaxReadRequestUnits':7}",
			"OnDemandThroughput can only be combined with BillingMode in an UpdateTable request" },
		{ STREAM "," UNITS, "You cannot modify stream status while updating table IOPS" },
		{ STREAM ",'BillingMode':'PROVISIONED'", "You cannot modify stream status while updating table IOPS" },
		{ UNITS ",'GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'one'}}]",
			"You cannot create or delete index while updating table IOPS" },
		{ STREAM ",'GlobalSecondaryIndexUpdates':[{'Create':" GSI "}]",
			"You cannot create or delete index while changing stream status" },
		{ "'GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'one'}},{'Delete':{'IndexName':'one'}}]",
			"Only one global secondary index update per index is allowed simultaneously. Index: one" },
	};

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		char body[512], why[256];

		snprintf(body, sizeof body, "{'TableName':'absent',%s}", refused[i][0]);
		snprintf(why, sizeof why, INVALID "%s", refused[i][1]);
		fails(fx, "UpdateTable", body, ERR_VALIDATION, why);
	}
	fails(fx, "UpdateTable", "{'TableName':'absent','ProvisionedThroughput':{'ReadCapacityUnits':1000000000001,"
		"'WriteCapacityUnits':1}}", ERR_VALIDATION, "Given value 1000000000001 for ReadCapacityUnits is out of bounds");
	ok(fx, "UpdateTable", "{'TableName':'prov','BillingMode':'PAY_PER_REQUEST'," STREAM "}", NULL);
}

Test(update_table, a_local_index_stays_as_it_is)
{
	ok(fx, "CreateTable", "{'TableName':'loc','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},"
		"{'AttributeName':'sk','KeyType':'RANGE'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},"
		"{'AttributeName':'sk','AttributeType':'S'}],'LocalSecondaryIndexes':[{'IndexName':'local','KeySchema':"
		"[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
		"'Projection':{'ProjectionType':'ALL'}}]}", NULL);
	fails(fx, "UpdateTable", "{'TableName':'loc','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'local'}}]}",
		ERR_VALIDATION, "Cannot delete an index that is not a GlobalSecondaryIndex: local");
	fails(fx, "UpdateTable", "{'TableName':'loc','GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'local',"
		"'OnDemandThroughput':{'MaxReadRequestUnits':7}}}]}",
		ERR_VALIDATION, "Cannot update an index that is not a GlobalSecondaryIndex: local");
}

Test(update_table, changes_of_indexes_that_are_refused)
{
	fails(fx, "UpdateTable", "{'TableName':'dem','GlobalSecondaryIndexUpdates':[]}", ERR_VALIDATION, NULL);
	fails(fx, "UpdateTable", DEFINE_A "'GlobalSecondaryIndexUpdates':[{'Create':" GSI ",'Delete':{'IndexName':'other'}}]}",
		ERR_VALIDATION, INVALID "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object");
	fails(fx, "UpdateTable", DEFINE_A "'GlobalSecondaryIndexUpdates':[{'Create':" GSI "},{'Delete':{'IndexName':'other'}}]}",
		ERR_LIMIT_EXCEEDED, ONE_MOVE);
	fails(fx, "UpdateTable", "{'TableName':'dem','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'one'}},"
		"{'Delete':{'IndexName':'two'}}]}", ERR_LIMIT_EXCEEDED, ONE_MOVE);
	ok(fx, "UpdateTable", DEFINE_A "'GlobalSecondaryIndexUpdates':[{'Create':" GSI "}]}", NULL);
	wait_readable();
	fails(fx, "UpdateTable", "{'TableName':'dem','AttributeDefinitions':[{'AttributeName':'a','AttributeType':'N'}],"
		"'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'again','KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'ALL'}}}]}", ERR_VALIDATION,
		INVALID "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
		"Existing schema: Schema:[SchemaElement: key{a:S:HASH}] New schema: Schema:[SchemaElement: key{a:N:HASH}]");
	/* What the table knows already must be said again. */
	fails(fx, "UpdateTable", "{'TableName':'dem','GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'again',"
		"'KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}}]}", ERR_VALIDATION,
		INVALID "AttributeDefinitions is not specified for index: again");
}

/* Such items stay out of the index, and take no update until they are mended. */
Test(update_table, a_new_index_leaves_out_what_cannot_be_its_key)
{
	static const struct { const char *pk, *before; int n; const char *after; } item[] = {
		{ "fit", "{'S':'", 2048, "'}" }, { "long", "{'S':'", 2049, "'}" }, { "huge", "{'S':'", 70000, "'}" },
		{ "empty", "{'S':''}", 0, "" }, { "number", "{'N':'1'}", 0, "" },
	};
	static char body[80000];

	for (size_t i = 0; i < sizeof item / sizeof *item; i++) {
		if (item[i].n != 0)
			snprintf(body, sizeof body, "{'TableName':'dem','Item':{'pk':{'S':'%s'},'a':%s%0*d%s}}", item[i].pk,
				item[i].before, item[i].n, 0, item[i].after);
		else
			snprintf(body, sizeof body, "{'TableName':'dem','Item':{'pk':{'S':'%s'},'a':%s}}", item[i].pk, item[i].before);
		ok(fx, "PutItem", body, "{}");
	}
	ok(fx, "UpdateTable", DEFINE_A "'GlobalSecondaryIndexUpdates':[{'Create':" GSI "}]}", NULL);
	wait_readable();
	cr_assert(described("dem", "'IndexStatus':'ACTIVE','ItemCount':1"));
#define SET_B "'UpdateExpression':'SET b = :b','ExpressionAttributeValues':{':b':{'N':'1'}}}"
	ok(fx, "UpdateItem", "{'TableName':'dem','Key':{'pk':{'S':'fit'}}," SET_B, "{}");
	fails(fx, "UpdateItem", "{'TableName':'dem','Key':{'pk':{'S':'number'}}," SET_B, ERR_VALIDATION,
		"The update expression attempted to update the secondary index key to unsupported type");
	fails(fx, "UpdateItem", "{'TableName':'dem','Key':{'pk':{'S':'long'}}," SET_B, ERR_VALIDATION,
		"The update expression attempted to update the secondary index key beyond allowed size limits");
	ok(fx, "UpdateItem", "{'TableName':'dem','Key':{'pk':{'S':'number'}},'UpdateExpression':'REMOVE a'}", "{}");
	ok(fx, "DeleteItem", "{'TableName':'dem','Key':{'pk':{'S':'huge'}}}", "{}");
}

Test(update_table, time_to_live)
{
	ok(fx, "DescribeTimeToLive", "{'TableName':'dem'}", "{'TimeToLiveDescription':{'TimeToLiveStatus':'DISABLED'}}");
	ok(fx, "UpdateTimeToLive", "{'TableName':'dem','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'ttl'}}",
		"{'TimeToLiveSpecification':{'AttributeName':'ttl','Enabled':true}}");
	ok(fx, "DescribeTimeToLive", "{'TableName':'dem'}",
		"{'TimeToLiveDescription':{'AttributeName':'ttl','TimeToLiveStatus':'ENABLED'}}");
	fails(fx, "UpdateTimeToLive", "{'TableName':'dem','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'ttl'}}",
		ERR_VALIDATION, "TimeToLive is already enabled");
	fails(fx, "UpdateTimeToLive", "{'TableName':'dem','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'other'}}",
		ERR_VALIDATION, "TimeToLive is active on a different AttributeName: current AttributeName is ttl");
	ok(fx, "UpdateTimeToLive", "{'TableName':'dem','TimeToLiveSpecification':{'Enabled':false,'AttributeName':'ttl'}}", NULL);
}

#define ARN "'ResourceArn':'arn:aws:dynamodb:ddblocal:000000000000:table/dem'"

Test(update_table, tags)
{
	ok(fx, "TagResource", "{" ARN ",'Tags':[{'Key':'a','Value':'1'},{'Key':'b','Value':'2'}]}", NULL);
	ok(fx, "TagResource", "{" ARN ",'Tags':[{'Key':'a','Value':'3'}]}", NULL);
	ok(fx, "ListTagsOfResource", "{" ARN "}", "{'Tags':[{'Key':'b','Value':'2'},{'Key':'a','Value':'3'}]}");
	ok(fx, "UntagResource", "{" ARN ",'TagKeys':['b','nothing']}", NULL);
	ok(fx, "ListTagsOfResource", "{" ARN "}", "{'Tags':[{'Key':'a','Value':'3'}]}");
	fails(fx, "TagResource", "{'ResourceArn':'not-a-valid-arn','Tags':[{'Key':'a','Value':'1'}]}", ERR_VALIDATION, NULL);
	fails(fx, "TagResource", "{" ARN ",'Tags':[{'Key':'a!','Value':'1'}]}", ERR_VALIDATION,
		"The Tag Key provided is invalid, Key: a!");
	fails(fx, "TagResource", "{" ARN ",'Tags':[{'Key':'a','Value':'50%'}]}", ERR_VALIDATION,
		"The Tag Value provided is invalid, Value: 50%");
	ok(fx, "TagResource", "{" ARN ",'Tags':[{'Key':'a','Value':'\xd0\xb6 +-=._:/@'}]}", NULL);
	fails(fx, "ListTagsOfResource", "{'ResourceArn':'arn:aws:dynamodb:ddblocal:000000000000:table/dem/index/i'}", ERR_VALIDATION,
		INVALID "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: "
		"arn:aws:dynamodb:ddblocal:000000000000:table/dem/index/i");
	fails(fx, "ListTagsOfResource", "{'ResourceArn':'arn:aws:dynamodb:us-east-1:000000000000:table/nonexistent'}",
		ERR_ACCESS_DENIED, NULL);
	fails(fx, "ListTagsOfResource", "{'ResourceArn':'arn:aws:dynamodb:ddblocal:000000000000:table/nonexistent'}",
		ERR_RESOURCE_NOT_FOUND, NULL);
	fails(fx, "UntagResource", "{'ResourceArn':'arn:aws:dynamodb:ddblocal:000000000000:table/nonexistent','TagKeys':['a']}",
		ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
	fails(fx, "TagResource", "{'ResourceArn':'arn:aws:dynamodb:ddblocal:000000000000:table/ab','Tags':[]}", ERR_VALIDATION,
		"Invalid TableArn: Invalid ResourceArn provided as input arn:aws:dynamodb:ddblocal:000000000000:table/ab");
}
