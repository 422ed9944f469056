/* CREATING, UPDATING, DELETING on a clock that stands still: who is told what, and what a restart leaves. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

enum { DELAY = 5000 };

#define IN_USE "Attempt to change a resource which is still in use: "
#define CREATE "{'TableName':'slow','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]," \
	"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}"
#define TAG "{'ResourceArn':'arn:aws:dynamodb:ddblocal:000000000000:table/slow','Tags':[{'Key':'k','Value':'v'}]}"
#define TTL "{'TableName':'slow','TimeToLiveSpecification':{'AttributeName':'t','Enabled':true}}"
#define PUT "{'TableName':'slow','Item':{'pk':{'S':'a'},'g':{'S':'x'}}}"
#define SLOW "{'TableName':'slow'}"
#define ADD_INDEX "{'TableName':'slow','AttributeDefinitions':[{'AttributeName':'g','AttributeType':'S'}]," \
	"'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'byg','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}]," \
	"'Projection':{'ProjectionType':'ALL'}}}]}"
#define QUERY_INDEX "{'TableName':'slow','IndexName':'byg','KeyConditionExpression':'g = :g'," \
	"'ExpressionAttributeValues':{':g':{'S':'x'}},'Select':'COUNT'}"

static struct fixture *fx;

static void setup(void)
{
	fx = fixture_with(&(struct store_opts){ .still_clock = true, .table_delay_ms = DELAY });
}

static void teardown(void)
{
	fixture_free(fx);
}

TestSuite(table_state, .init = setup, .fini = teardown);

static bool described(const char *text)
{
	return strstr(run(fx, "DescribeTable", SLOW).json, text) != NULL;
}

static void pass(uint64_t ms)
{
	store_clock_advance(fixture_store(fx), ms);
}

static void create_active(void)
{
	ok(fx, "CreateTable", CREATE, NULL);
	pass(DELAY);
	cr_assert(described("\"TableStatus\":\"ACTIVE\""));
}

Test(table_state, creating)
{
	ok(fx, "CreateTable", CREATE, NULL);
	cr_assert(described("\"TableStatus\":\"CREATING\""));
	ok(fx, "ListTables", "{}", "{'TableNames':['slow']}");
	fails(fx, "PutItem", PUT, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
	fails(fx, "Scan", SLOW, ERR_RESOURCE_NOT_FOUND, NULL);
	fails(fx, "CreateTable", CREATE, ERR_RESOURCE_IN_USE, IN_USE "Table is being created: slow");
	fails(fx, "DeleteTable", SLOW, ERR_RESOURCE_IN_USE, IN_USE "Table is being created: slow");
	fails(fx, "UpdateTable", "{'TableName':'slow','DeletionProtectionEnabled':true}", ERR_RESOURCE_IN_USE,
		IN_USE "Table is being created: slow");
	fails(fx, "UpdateTimeToLive", TTL, ERR_RESOURCE_IN_USE, IN_USE "Table slow is being created");
	fails(fx, "DescribeTimeToLive", SLOW, ERR_VALIDATION,
		"Cannot describe time to live while table is in CREATING state: Current table state is CREATING");
	fails(fx, "TagResource", TAG, ERR_RESOURCE_NOT_FOUND, NULL);
	pass(DELAY - 1);
	cr_assert(described("\"TableStatus\":\"CREATING\""));
	pass(1);
	cr_assert(described("\"TableStatus\":\"ACTIVE\""));
	ok(fx, "PutItem", PUT, "{}");
	ok(fx, "TagResource", TAG, "{}");
	fails(fx, "CreateTable", CREATE, ERR_RESOURCE_IN_USE, "Table already exists: slow");
}

Test(table_state, updating)
{
	create_active();
	ok(fx, "UpdateTable", "{'TableName':'slow','DeletionProtectionEnabled':false}", NULL);
	cr_assert(described("\"TableStatus\":\"UPDATING\""));
	ok(fx, "PutItem", PUT, "{}");
	ok(fx, "TagResource", TAG, "{}");
	ok(fx, "UpdateTimeToLive", TTL, NULL);
	fails(fx, "UpdateTable", "{'TableName':'slow','DeletionProtectionEnabled':false}", ERR_RESOURCE_IN_USE,
		IN_USE "Table: slow is in the process of being updated.");
	fails(fx, "DeleteTable", SLOW, ERR_RESOURCE_IN_USE, IN_USE "Table: slow is in the process of being updated.");
	fails(fx, "CreateTable", CREATE, ERR_RESOURCE_IN_USE, "Table already exists: slow");
	pass(DELAY);
	cr_assert(described("\"TableStatus\":\"ACTIVE\""));
}

Test(table_state, index_creating)
{
	create_active();
	ok(fx, "PutItem", PUT, "{}");
	ok(fx, "UpdateTable", ADD_INDEX, NULL);
	fails(fx, "DeleteTable", SLOW, ERR_RESOURCE_IN_USE, IN_USE
		"Cannot delete table while indexes are being created, updated, or deleted.");
	/* However soon it is filled. */
	for (int i = 0; described("\"Backfilling\":true"); i++) {
		cr_assert_lt(i, 1000);
		usleep(10 * 1000);
	}
	cr_assert(described("\"IndexStatus\":\"CREATING\""));
	fails(fx, "Query", QUERY_INDEX, ERR_VALIDATION, "Cannot read from backfilling global secondary index: byg");
	pass(DELAY);
	cr_assert(described("\"IndexStatus\":\"ACTIVE\""));
	ok(fx, "Query", QUERY_INDEX, "{'Count':1,'ScannedCount':1}");
}

Test(table_state, deleting)
{
	create_active();
	ok(fx, "PutItem", PUT, "{}");
	ok(fx, "DeleteTable", SLOW, NULL);
	cr_assert(described("\"TableStatus\":\"DELETING\""));
	fails(fx, "DescribeTimeToLive", SLOW, ERR_VALIDATION,
		"Cannot describe time to live while table is in DELETING state: Current table state is DELETING");
	ok(fx, "ListTables", "{}", "{'TableNames':['slow']}");
	fails(fx, "PutItem", PUT, ERR_RESOURCE_NOT_FOUND, NULL);
	fails(fx, "CreateTable", CREATE, ERR_RESOURCE_IN_USE, "Table already exists: slow");
	fails(fx, "DeleteTable", SLOW, ERR_RESOURCE_IN_USE, IN_USE "Table is being deleted: slow");
	fails(fx, "UpdateTable", ADD_INDEX, ERR_RESOURCE_IN_USE, IN_USE "Table is being deleted: slow");
	fails(fx, "UpdateTimeToLive", TTL, ERR_RESOURCE_IN_USE, IN_USE "Table slow is being deleted");
	fails(fx, "TagResource", TAG, ERR_RESOURCE_NOT_FOUND, NULL);
	pass(DELAY);
	/* At once, whenever the keeper comes to it. */
	fails(fx, "DescribeTable", SLOW, ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: slow not found");
	ok(fx, "ListTables", "{}", "{'TableNames':[]}");
	fails(fx, "DeleteTable", SLOW, ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: slow not found");
	create_active();
	ok(fx, "GetItem", "{'TableName':'slow','Key':{'pk':{'S':'a'}}}", "{}");
}

/* ListTables pages over tables that have gone. */
Test(table_state, lists)
{
	char body[512];

	for (char c = 'a'; c <= 'f'; c++) {
		snprintf(body, sizeof body, "{'TableName':'tab%c','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk',"
			"'KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", c);
		ok(fx, "CreateTable", body, NULL);
	}
	pass(DELAY);
	for (const char *c = "bef"; *c != '\0'; c++) {
		snprintf(body, sizeof body, "{'TableName':'tab%c'}", *c);
		ok(fx, "DeleteTable", body, NULL);
	}
	pass(DELAY);
	ok(fx, "ListTables", "{'Limit':2}", "{'LastEvaluatedTableName':'tabc','TableNames':['taba','tabc']}");
	ok(fx, "ListTables", "{'Limit':2,'ExclusiveStartTableName':'tabc'}", "{'TableNames':['tabd']}");
	ok(fx, "ListTables", "{}", "{'TableNames':['taba','tabc','tabd']}");
}

/* S3, though the clock is back where it was at the start; and what has gone is cleared away. */
Test(table_state_restart, ends_states)
{
	char dir[] = "/tmp/dynax-state-XXXXXX", command[64];

	cr_assert_not_null(mkdtemp(dir));
	fx = fixture_with(&(struct store_opts){ .engine.dir = dir, .still_clock = true, .table_delay_ms = DELAY });
	create_active();
	ok(fx, "DeleteTable", SLOW, NULL);
	ok(fx, "CreateTable", "{'TableName':'new','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk',"
		"'KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
	pass(1);
	fixture_reopen(fx);
	ok(fx, "ListTables", "{}", "{'TableNames':['new']}");
	cr_assert(strstr(run(fx, "DescribeTable", "{'TableName':'new'}").json, "\"TableStatus\":\"ACTIVE\"") != NULL);
	struct store_stats s;

	for (int i = 0; store_stats(fixture_store(fx), &s), s.tables != 1; i++) {
		cr_assert_lt(i, 1000, "it is kept");
		usleep(10 * 1000);
	}
	fixture_free(fx);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	cr_assert_eq(system(command), 0);
}
