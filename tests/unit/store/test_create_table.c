/* test_create_table - what is refused of a table's description, and in which words. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/store/fixture.h"

#define PK "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]"
#define PK_DEF "'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]"
#define ON_DEMAND "'BillingMode':'PAY_PER_REQUEST'"
#define INVALID "One or more parameter values were invalid: "

static void refuses(struct fixture *fx, const char *body, const char *text)
{
	fails(fx, "CreateTable", body, ERR_VALIDATION, text);
}

Test(create_table, names)
{
	struct fixture *fx = fixture_new(NULL);

	refuses(fx, "{'TableName':'ab'," PK "," PK_DEF "," ON_DEMAND "}",
		"1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
		"Member must have length greater than or equal to 3");
	ok(fx, "CreateTable", "{'TableName':'abc'," PK "," PK_DEF "," ON_DEMAND "}", NULL);
	fails(fx, "CreateTable", "{'TableName':'abc'," PK "," PK_DEF "," ON_DEMAND "}", ERR_RESOURCE_IN_USE,
		"Table already exists: abc");
	fixture_free(fx);
}

Test(create_table, billing)
{
	struct fixture *fx = fixture_new(NULL);

	refuses(fx, "{'TableName':'b1'," PK "," PK_DEF "}", NULL);
	refuses(fx, "{'TableName':'b11'," PK "," PK_DEF "," ON_DEMAND
		",'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}",
		INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
	refuses(fx, "{'TableName':'b22'," PK "," PK_DEF "}",
		INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED");
	refuses(fx, "{'TableName':'b22'," PK "," PK_DEF
		",'ProvisionedThroughput':{'ReadCapacityUnits':1000000000001,'WriteCapacityUnits':1000000000001}}",
		"Given value 1000000000001 for ReadCapacityUnits is out of bounds");
	fixture_free(fx);
}

Test(create_table, definitions)
{
	struct fixture *fx = fixture_new(NULL);

	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," PK
		",'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'x','AttributeType':'S'}]}",
		INVALID "Number of attributes in KeySchema does not exactly match number of attributes defined in "
		"AttributeDefinitions");
	refuses(fx, "{'TableName':'t22'," ON_DEMAND "," PK
		",'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'pk','AttributeType':'N'}]}",
		"Attribute Name is duplicated: pk");
	refuses(fx, "{'TableName':'t44'," ON_DEMAND "," PK "}",
		"1 validation error detected: Value null at 'attributeDefinitions' failed to satisfy constraint: "
		"Member must not be null");
	refuses(fx, "{'TableName':'t44'," ON_DEMAND "," PK ",'AttributeDefinitions':[{'AttributeName':'x','AttributeType':'S'}]}",
		INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], AttributeDefinitions: [x]");
	refuses(fx, "{'TableName':'t44'," ON_DEMAND "," PK ",'AttributeDefinitions':[]}",
		"Invalid KeySchema: Some index key attribute have no definition");
	refuses(fx, "{'TableName':'t44'," ON_DEMAND "," PK_DEF
		",'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'pk','KeyType':'RANGE'}]}",
		"Invalid KeySchema: Some index key attribute have no definition");
	fixture_free(fx);
}

#define TWO_DEFS "'AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'},{'AttributeName':'b','AttributeType':'S'}]"
#define TWO_KEYS "'KeySchema':[{'AttributeName':'a','KeyType':'HASH'},{'AttributeName':'b','KeyType':'RANGE'}]"
#define ALL "'Projection':{'ProjectionType':'ALL'}"

Test(create_table, key_schema)
{
	struct fixture *fx = fixture_new(NULL);

	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS
		",'KeySchema':[{'AttributeName':'a','KeyType':'HASH'},{'AttributeName':'a','KeyType':'RANGE'}]}",
		"Both the Hash Key and the Range Key element in the KeySchema have the same name");
	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS
		",'KeySchema':[{'AttributeName':'a','KeyType':'RANGE'},{'AttributeName':'b','KeyType':'HASH'}]}",
		"Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS
		",'KeySchema':[{'AttributeName':'a','KeyType':'HASH'},{'AttributeName':'b','KeyType':'HASH'}]}",
		"Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS
		",'KeySchema':[{'AttributeName':'a','KeyType':'HASH'},{'AttributeName':'b','KeyType':'RANGE'},"
		"{'AttributeName':'c','KeyType':'RANGE'}]}",
		"1 validation error detected: Value '[KeySchemaElement(attributeName=a, keyType=HASH), "
		"KeySchemaElement(attributeName=b, keyType=RANGE), KeySchemaElement(attributeName=c, keyType=RANGE)]' at "
		"'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2");
	fixture_free(fx);
}

Test(create_table, local_indexes)
{
	struct fixture *fx = fixture_new(NULL);

	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS ",'KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],"
		"'LocalSecondaryIndexes':[{'IndexName':'lq1'," TWO_KEYS "," ALL "}]}",
		INVALID "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");
	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS "," TWO_KEYS ",'LocalSecondaryIndexes':[]}",
		INVALID "List of LocalSecondaryIndexes is empty");
	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS "," TWO_KEYS
		",'LocalSecondaryIndexes':[{'IndexName':'lq1','KeySchema':[{'AttributeName':'a','KeyType':'HASH'}]," ALL "}]}",
		INVALID "Index KeySchema does not have a range key for index: lq1");
	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS "," TWO_KEYS
		",'LocalSecondaryIndexes':[{'IndexName':'lq1','KeySchema':[{'AttributeName':'b','KeyType':'HASH'},"
		"{'AttributeName':'a','KeyType':'RANGE'}]," ALL "}]}",
		INVALID "Index KeySchema does not have the same leading hash key as table KeySchema for index: lq1. "
		"index hash key: b, table hash key: a");
	refuses(fx, "{'TableName':'t11'," ON_DEMAND "," TWO_DEFS "," TWO_KEYS
		",'LocalSecondaryIndexes':[{'IndexName':'lq1'," TWO_KEYS "," ALL "},{'IndexName':'lq1'," TWO_KEYS "," ALL "}]}",
		INVALID "Duplicate index name: lq1");
	fixture_free(fx);
}

/* A CreateTable with n global indexes on pk. */
static char *with_globals(const char *name, int n)
{
	char *s = NULL;
	size_t len;
	FILE *f = open_memstream(&s, &len);

	fprintf(f, "{'TableName':'%s'," ON_DEMAND "," PK_DEF "," PK ",'GlobalSecondaryIndexes':[", name);
	for (int i = 0; i < n; i++)
		fprintf(f, "%s{'IndexName':'gsi%d'," PK "," ALL "}", i != 0 ? "," : "", i);
	fprintf(f, "]}");
	fclose(f);
	return s;
}

Test(create_table, global_indexes)
{
	struct fixture *fx = fixture_new(NULL);
	char *twenty = with_globals("t20", 20), *more = with_globals("t21", 21);

	ok(fx, "CreateTable", twenty, NULL);
	refuses(fx, more, INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20");
	free(twenty);
	free(more);
	refuses(fx, "{'TableName':'inc'," ON_DEMAND "," PK_DEF "," PK
		",'GlobalSecondaryIndexes':[{'IndexName':'gq1'," PK ",'Projection':{'ProjectionType':'INCLUDE'}}]}",
		INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
	refuses(fx, "{'TableName':'inc'," ON_DEMAND "," PK_DEF "," PK
		",'GlobalSecondaryIndexes':[{'IndexName':'gq1'," PK ",'Projection':{'ProjectionType':'ALL','NonKeyAttributes':['x']}}]}",
		INVALID "ProjectionType is ALL, but NonKeyAttributes is specified");
	refuses(fx, "{'TableName':'inc'," ON_DEMAND "," PK_DEF "," PK ",'GlobalSecondaryIndexes':[{'IndexName':'gq1'," PK "," ALL
		",'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}]}",
		INVALID "ProvisionedThroughput should not be specified for index: gq1 when BillingMode is PAY_PER_REQUEST");
	refuses(fx, "{'TableName':'inc'," ON_DEMAND "," TWO_DEFS ",'KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],"
		"'GlobalSecondaryIndexes':[{'IndexName':'gq1','KeySchema':[{'AttributeName':'a','KeyType':'HASH'}]," ALL "}]}",
		INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [a, b], keys used: [a]");
	fixture_free(fx);
}
