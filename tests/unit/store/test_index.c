/* Secondary indexes: which items they hold, what of them, and in what order. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/store/fixture.h"

static struct fixture *fx;

#define DEF(n, t) "{'AttributeName':'" n "','AttributeType':'" t "'}"
#define HASH(n) "{'AttributeName':'" n "','KeyType':'HASH'}"
#define RANGE(n) "{'AttributeName':'" n "','KeyType':'RANGE'}"

static void setup(void)
{
	fx = fixture_new(NULL);
	ok(fx, "CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','KeySchema':[" HASH("pk") "," RANGE("sk") "],"
		"'AttributeDefinitions':[" DEF("pk", "S") "," DEF("sk", "N") "," DEF("g", "S") "," DEF("l", "N") "],"
		"'GlobalSecondaryIndexes':["
		"{'IndexName':'keys','KeySchema':[" HASH("g") "],'Projection':{'ProjectionType':'KEYS_ONLY'}},"
		"{'IndexName':'some','KeySchema':[" HASH("g") "," RANGE("sk") "],"
		"'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['a','z']}}],"
		"'LocalSecondaryIndexes':[{'IndexName':'loc','KeySchema':[" HASH("pk") "," RANGE("l") "],"
		"'Projection':{'ProjectionType':'ALL'}}]}", NULL);
}

static void teardown(void)
{
	fixture_free(fx);
}

TestSuite(index, .init = setup, .fini = teardown);

static void put(const char *item)
{
	char body[512];

	snprintf(body, sizeof body, "{'TableName':'tab','Item':%s}", item);
	ok(fx, "PutItem", body, "{}");
}

#define QUERY(index, key) "{'TableName':'tab','IndexName':'" index "','KeyConditionExpression':'" key " = :k'," \
	"'ExpressionAttributeValues':{':k':{'S':'x'}}}"

Test(index, projections)
{
	put("{'pk':{'S':'p'},'sk':{'N':'1'},'g':{'S':'x'},'a':{'S':'A'},'b':{'S':'B'}}");
	ok(fx, "Query", QUERY("keys", "g"), "{'Count':1,'Items':[{'g':{'S':'x'},'pk':{'S':'p'},'sk':{'N':'1'}}],'ScannedCount':1}");
	ok(fx, "Query", QUERY("some", "g"),
		"{'Count':1,'Items':[{'a':{'S':'A'},'g':{'S':'x'},'pk':{'S':'p'},'sk':{'N':'1'}}],'ScannedCount':1}");
	/* An attribute that is not projected changes nothing there; one that is does. */
	put("{'pk':{'S':'p'},'sk':{'N':'1'},'g':{'S':'x'},'z':{'S':'Z'},'b':{'S':'C'}}");
	ok(fx, "Query", QUERY("some", "g"),
		"{'Count':1,'Items':[{'g':{'S':'x'},'pk':{'S':'p'},'sk':{'N':'1'},'z':{'S':'Z'}}],'ScannedCount':1}");
}

Test(index, sparse)
{
	put("{'pk':{'S':'p'},'sk':{'N':'1'},'g':{'S':'x'}}");
	put("{'pk':{'S':'p'},'sk':{'N':'2'}}");
	ok(fx, "Query", QUERY("keys", "g"), "{'Count':1,'Items':[{'g':{'S':'x'},'pk':{'S':'p'},'sk':{'N':'1'}}],'ScannedCount':1}");
	/* It loses the key, and leaves; it gets it, and comes. */
	put("{'pk':{'S':'p'},'sk':{'N':'1'}}");
	put("{'pk':{'S':'p'},'sk':{'N':'2'},'g':{'S':'x'}}");
	ok(fx, "Query", QUERY("keys", "g"), "{'Count':1,'Items':[{'g':{'S':'x'},'pk':{'S':'p'},'sk':{'N':'2'}}],'ScannedCount':1}");
	ok(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'p'},'sk':{'N':'2'}}}", "{}");
	ok(fx, "Query", QUERY("keys", "g"), "{'Count':0,'Items':[],'ScannedCount':0}");
}

Test(index, local_order_and_ties)
{
	put("{'pk':{'S':'x'},'sk':{'N':'1'},'l':{'N':'9'}}");
	put("{'pk':{'S':'x'},'sk':{'N':'2'},'l':{'N':'-3'}}");
	put("{'pk':{'S':'x'},'sk':{'N':'3'},'l':{'N':'9'}}");
	put("{'pk':{'S':'x'},'sk':{'N':'4'}}");
	ok(fx, "Query", QUERY("loc", "pk"), "{'Count':3,'Items':[{'l':{'N':'-3'},'pk':{'S':'x'},'sk':{'N':'2'}},"
		"{'l':{'N':'9'},'pk':{'S':'x'},'sk':{'N':'1'}},{'l':{'N':'9'},'pk':{'S':'x'},'sk':{'N':'3'}}],'ScannedCount':3}");
}
