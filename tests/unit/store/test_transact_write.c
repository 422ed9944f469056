/* test_transact_write - reasons in their order, limits, tokens and costs of TransactWriteItems. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/store/fixture.h"

static struct fixture *fx;

static void setup(void)
{
	fx = fixture_new(NULL);
	ok(fx, "CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
}

static void teardown(void)
{
	fixture_free(fx);
}

TestSuite(transact_write, .init = setup, .fini = teardown);

#define PUT(k) "{'Put':{'TableName':'tab','Item':{'pk':{'S':'" k "'}}}}"

static bool has(const char *json, const char *part)
{
	char want[512];

	snprintf(want, sizeof want, "%s", part);
	for (char *p = want; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	return strstr(json, want) != NULL;
}

Test(transact_write, reasons_in_order)
{
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'b'},'v':{'N':'1'}}}", "{}");
	struct outcome o = run(fx, "TransactWriteItems", "{'TransactItems':[" PUT("a") ","
		"{'Put':{'TableName':'tab','Item':{'pk':{'S':'b'}},'ConditionExpression':'attribute_not_exists(pk)',"
		"'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}},"
		"{'ConditionCheck':{'TableName':'tab','Key':{'pk':{'S':'c'}},'ConditionExpression':'attribute_exists(pk)'}},"
		"{'Update':{'TableName':'tab','Key':{'pk':{'S':'d'}},'UpdateExpression':'SET x = nope'}}]}");

	cr_assert_eq(o.code, ERR_TRANSACTION_CANCELED);
	cr_assert_str_eq(o.text, "Transaction cancelled, please refer cancellation reasons for specific reasons "
		"[None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]");
	cr_assert(has(o.json, "'CancellationReasons':[{'Code':'None'},{'Code':'ConditionalCheckFailed',"
		"'Item':{'pk':{'S':'b'},'v':{'N':'1'}},'Message':'The conditional request failed'},"
		"{'Code':'ConditionalCheckFailed','Message':'The conditional request failed'},{'Code':'ValidationError',"
		"'Message':'The provided expression refers to an attribute that does not exist in the item'}]"), "%s", o.json);
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'a'}}}", "{}");
}

Test(transact_write, shape)
{
	fails(fx, "TransactWriteItems", "{'TransactItems':[" PUT("a") ",{'ConditionCheck':{'TableName':'tab','Key':{'pk':{'S':'a'}},"
		"'ConditionExpression':'attribute_exists(pk)'}}]}", ERR_VALIDATION,
		"Transaction request cannot include multiple operations on one item");
	fails(fx, "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{'S':'a'}}},"
		"'Delete':{'TableName':'tab','Key':{'pk':{'S':'b'}}}}]}", ERR_VALIDATION,
		"TransactItems can only contain one of Check, Put, Update or Delete");
	fails(fx, "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'nothere','Item':{'pk':{'S':'a'}}}}]}",
		ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
	struct outcome o = run(fx, "TransactWriteItems", "{'TransactItems':[" PUT("a")
		",{'Delete':{'TableName':'tab','Key':{'wrong':{'S':'b'}}}}]}");

	cr_assert_str_eq(o.text, "Transaction cancelled, please refer cancellation reasons for specific reasons "
		"[None, ValidationError]");
	fails(fx, "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{'S':'a'}},"
		"'ConditionExpression':'((('}}]}", ERR_VALIDATION, NULL);
}

/* n puts of `bytes` each. */
static char *many(int n, int bytes)
{
	char *s = NULL;
	size_t len;
	FILE *f = open_memstream(&s, &len);

	fprintf(f, "{'TransactItems':[");
	for (int i = 0; i < n; i++) {
		fprintf(f, "%s{'Put':{'TableName':'tab','Item':{'pk':{'S':'k%d'},'d':{'S':'", i != 0 ? "," : "", i);
		for (int k = 0; k < bytes; k++)
			fputc('x', f);
		fprintf(f, "'}}}}");
	}
	fprintf(f, "]}");
	fclose(f);
	return s;
}

Test(transact_write, limits)
{
	static const struct { int n, bytes; bool good; } all[] = { { 100, 1, true }, { 101, 1, false }, { 10, 350000, true }, { 12, 350000, false } };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char *body = many(all[i].n, all[i].bytes);

		if (all[i].good)
			ok(fx, "TransactWriteItems", body, "{}");
		else
			fails(fx, "TransactWriteItems", body, ERR_VALIDATION, NULL);
		free(body);
	}
}

#define ADD(token, more) "{'ClientRequestToken':'" token "','TransactItems':[{'Update':{'TableName':'tab','Key':{'pk':{'S':'x'}}," \
	"'UpdateExpression':'ADD c :o','ExpressionAttributeValues':{':o':{'N':'1'}}}}]" more "}"

Test(transact_write, tokens)
{
	ok(fx, "TransactWriteItems", ADD("tok-1", ""), "{}");
	ok(fx, "TransactWriteItems", ADD("tok-1", ""), "{}");
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'x'}}}", "{'Item':{'c':{'N':'1'},'pk':{'S':'x'}}}");
	ok(fx, "TransactWriteItems", ADD("tok-2", ""), "{}");
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'x'}}}", "{'Item':{'c':{'N':'2'},'pk':{'S':'x'}}}");
	fails(fx, "TransactWriteItems", "{'ClientRequestToken':'tok-1','TransactItems':[" PUT("y") "]}", ERR_IDEMPOTENT_MISMATCH, NULL);
	/* One that failed may be tried again under its token. */
	fails(fx, "TransactWriteItems", "{'ClientRequestToken':'tok-3','TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{'S':'z'}},"
		"'ConditionExpression':'attribute_exists(pk)'}}]}", ERR_TRANSACTION_CANCELED, NULL);
	ok(fx, "TransactWriteItems", ADD("tok-3", ""), "{}");
}

Test(transact_write, capacity)
{
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'x'},'c':{'N':'0'}}}", "{}");
	ok(fx, "TransactWriteItems", ADD("tok-4", ",'ReturnConsumedCapacity':'TOTAL'"),
		"{'ConsumedCapacity':[{'CapacityUnits':2.0,'TableName':'tab','WriteCapacityUnits':2.0}]}");
	ok(fx, "TransactWriteItems", ADD("tok-4", ",'ReturnConsumedCapacity':'TOTAL'"),
		"{'ConsumedCapacity':[{'CapacityUnits':2.0,'ReadCapacityUnits':2.0,'TableName':'tab'}]}");
}
