/* test_clock - a clock that stands still and one that runs (K1, K2), and what goes by it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "store/clock.h"

static void nap(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* K2, and what standing still means. */
Test(clock, still)
{
	struct clock c;

	clock_init(&c, true);
	uint64_t wall = clock_wall_ms(&c), seconds = clock_seconds(&c);

	nap(20);
	cr_assert_eq(clock_wall_ms(&c), wall);
	clock_advance(&c, 999);
	cr_assert_eq(clock_wall_ms(&c), wall + 999);
	cr_assert_leq(clock_seconds(&c) - seconds, 1);
	clock_advance(&c, 300001);
	cr_assert_eq(clock_wall_ms(&c), wall + 301000);
	cr_assert_eq(clock_seconds(&c), seconds + 301);
}

Test(clock, running)
{
	struct clock c;

	clock_init(&c, false);
	uint64_t wall = clock_wall_ms(&c);

	nap(20);
	cr_assert_geq(clock_wall_ms(&c), wall + 20);
	clock_advance(&c, 3600 * 1000);
	cr_assert_geq(clock_wall_ms(&c), wall + 3600 * 1000 + 20);
}

#define TABLE "{'TableName':'tab','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]," \
	"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],'BillingMode':'PAY_PER_REQUEST'}"
#define ADD_ONE "{'ClientRequestToken':'tok','TransactItems':[{'Update':{'TableName':'tab','Key':{'pk':{'S':'a'}}," \
	"'UpdateExpression':'ADD n :o','ExpressionAttributeValues':{':o':{'N':'1'}}}}]}"

static bool counter_is(struct fixture *fx, const char *n)
{
	char body[128];

	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'a'},'n':{'N':'%s'}},'ReturnValues':'ALL_OLD'}", n);
	struct outcome o = run(fx, "PutItem", body);

	snprintf(body, sizeof body, "\"n\":{\"N\":\"%s\"}", n);
	return o.code == ERR_OK && strstr(o.json, body) != NULL;
}

/* A token is remembered for ten minutes of the store's clock, to the millisecond. */
Test(clock, tokens)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .still_clock = true });

	ok(fx, "CreateTable", TABLE, NULL);
	ok(fx, "TransactWriteItems", ADD_ONE, NULL);
	store_clock_advance(fixture_store(fx), 599999);
	ok(fx, "TransactWriteItems", ADD_ONE, NULL);
	cr_assert(counter_is(fx, "1"));
	store_clock_advance(fixture_store(fx), 1);
	ok(fx, "TransactWriteItems", ADD_ONE, NULL);
	cr_assert(counter_is(fx, "2"));
	fixture_free(fx);
}

/* Tables are stamped by it. */
Test(clock, tables)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .still_clock = true });

	ok(fx, "CreateTable", TABLE, NULL);
	double first = strtod(strstr(run(fx, "DescribeTable", "{'TableName':'tab'}").json, "CreationDateTime") + 18, NULL);

	ok(fx, "DeleteTable", "{'TableName':'tab'}", NULL);
	store_clock_advance(fixture_store(fx), 5000);
	ok(fx, "CreateTable", TABLE, NULL);
	double second = strtod(strstr(run(fx, "DescribeTable", "{'TableName':'tab'}").json, "CreationDateTime") + 18, NULL);

	cr_assert(second - first > 4.9995 && second - first < 5.0005, "%f %f", first, second);
	fixture_free(fx);
}
