/* test_throughput - what is refused, what is charged, and to whom (P1 to P3); how often throughput may be lowered. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static struct fixture *still(enum capacity_mode mode)
{
	return fixture_with(&(struct store_opts){ .still_clock = true, .capacity = mode });
}

#define KEYS "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]"
#define DEFINED "'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]"

static void create(struct fixture *fx, const char *billing)
{
	char body[1024];

	snprintf(body, sizeof body, "{'TableName':'tab'," KEYS "," DEFINED ",%s}", billing);
	ok(fx, "CreateTable", body, NULL);
}

#define TWO_UNITS "'ProvisionedThroughput':{'ReadCapacityUnits':2,'WriteCapacityUnits':2}"

static enum err put(struct fixture *fx, unsigned i)
{
	char body[256];

	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%u'},'v':{'N':'1'}}}", i);
	return run(fx, "PutItem", body).code;
}

static enum err get(struct fixture *fx, bool consistent)
{
	return run(fx, "GetItem", consistent ? "{'TableName':'tab','Key':{'pk':{'S':'k0'}},'ConsistentRead':true}"
		: "{'TableName':'tab','Key':{'pk':{'S':'k0'}}}").code;
}

/* Puts that pass until one is refused. */
static unsigned puts_until_refused(struct fixture *fx, enum err expected)
{
	unsigned n = 0;
	enum err rc;

	while ((rc = put(fx, n)) == ERR_OK && n < 10000)
		n++;
	cr_assert_eq(rc, expected);
	return n;
}

/* 300 seconds saved, then the rate, which is never lost, and never more than 300 seconds of it. */
Test(throughput, burst)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx, TWO_UNITS);
	cr_assert_eq(puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED), 600);
	store_clock_advance(fixture_store(fx), 1000);
	cr_assert_eq(puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED), 2);
	store_clock_advance(fixture_store(fx), 10000);
	cr_assert_eq(puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED), 20);
	store_clock_advance(fixture_store(fx), 3600 * 1000);
	cr_assert_eq(puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED), 600);
	cr_assert_eq(get(fx, true), ERR_OK, "reads have their own");
	fixture_free(fx);
}

Test(throughput, error)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx, TWO_UNITS);
	puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED);
	struct outcome o = run(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'new'}}}");

	cr_assert_str_eq(o.text, "The level of configured provisioned throughput for the table was exceeded. Consider increasing "
		"your provisioning level with the UpdateTable API.");
	cr_assert(strstr(o.json, "\"ThrottlingReasons\":[{\"reason\":\"TableWriteProvisionedThroughputExceeded\",\"resource\":"
		"\"arn:aws:dynamodb:ddblocal:000000000000:table/tab\"}]") != NULL, "%s", o.json);
	/* No trace of it. */
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'new'}}}", "{}");
	cr_assert(strstr(run(fx, "DescribeTable", "{'TableName':'tab'}").json, "\"ItemCount\":600") != NULL);
	fixture_free(fx);
}

Test(throughput, reads)
{
	struct fixture *fx = still(CAPACITY_DECLARED);
	unsigned n = 0;

	create(fx, TWO_UNITS);
	for (; get(fx, false) == ERR_OK; n++)
		;
	cr_assert_eq(n, 1200, "%u", n);
	store_clock_advance(fixture_store(fx), 1000);
	for (n = 0; get(fx, true) == ERR_OK; n++)
		;
	cr_assert_eq(n, 2, "%u", n);
	fails(fx, "Scan", "{'TableName':'tab'}", ERR_THROUGHPUT_EXCEEDED, NULL);
	store_clock_advance(fixture_store(fx), 1000);
	ok(fx, "Scan", "{'TableName':'tab','ConsistentRead':true}", NULL);
	ok(fx, "Scan", "{'TableName':'tab','ConsistentRead':true}", NULL);
	fails(fx, "Scan", "{'TableName':'tab'}", ERR_THROUGHPUT_EXCEEDED, NULL);
	fixture_free(fx);
}

/* More than is there passes if anything is, and is paid off before anything else passes. */
Test(throughput, debt)
{
	struct fixture *fx = still(CAPACITY_DECLARED);
	static char body[6000], text[5000];

	create(fx, "'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}");
	memset(text, 'x', 4096 + 400);
	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'big'},'v':{'S':'%s'}}}", text);
	for (unsigned i = 0; i < 299; i++)
		cr_assert_eq(put(fx, i), ERR_OK);
	ok(fx, "PutItem", body, NULL);
	for (unsigned second = 0; second < 4; second++) {
		cr_assert_eq(put(fx, 0), ERR_THROUGHPUT_EXCEEDED, "second %u", second);
		store_clock_advance(fixture_store(fx), 1000);
	}
	cr_assert_eq(put(fx, 0), ERR_THROUGHPUT_EXCEEDED, "five units were used, one was there: four seconds");
	store_clock_advance(fixture_store(fx), 1000);
	cr_assert_eq(put(fx, 0), ERR_OK);
	fixture_free(fx);
}

Test(throughput, conditions_and_deletes_cost)
{
	struct fixture *fx = still(CAPACITY_DECLARED);
	unsigned n = 0;

	create(fx, TWO_UNITS);
	put(fx, 0);
	while (run(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'k0'}},'ConditionExpression':'attribute_not_exists(pk)'}").code
	       == ERR_CONDITION_FAILED)
		n++;
	cr_assert_eq(n, 599);
	store_clock_advance(fixture_store(fx), 1000);
	ok(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'nothing'}}}", NULL);
	ok(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'nothing'}}}", NULL);
	fails(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'nothing'}}}", ERR_THROUGHPUT_EXCEEDED, NULL);
	fixture_free(fx);
}

/* Raising the throughput gives no burst that was not saved. */
Test(throughput, update_table)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx, TWO_UNITS);
	puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED);
	ok(fx, "UpdateTable", "{'TableName':'tab','ProvisionedThroughput':{'ReadCapacityUnits':2,'WriteCapacityUnits':7}}", NULL);
	cr_assert_eq(puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED), 0);
	store_clock_advance(fixture_store(fx), 1000);
	cr_assert_eq(puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED), 7);
	store_clock_advance(fixture_store(fx), 10000);
	ok(fx, "UpdateTable", "{'TableName':'tab','ProvisionedThroughput':{'ReadCapacityUnits':2,'WriteCapacityUnits':100}}", NULL);
	cr_assert_eq(puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED), 70, "ten seconds of the rate that was then");
	ok(fx, "UpdateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST'}", NULL);
	cr_assert_eq(put(fx, 0), ERR_OK);
	fixture_free(fx);
}

Test(throughput, on_demand)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx, "'BillingMode':'PAY_PER_REQUEST'");
	for (unsigned i = 0; i < 2000; i++)
		cr_assert_eq(put(fx, i), ERR_OK);
	ok(fx, "UpdateTable", "{'TableName':'tab','OnDemandThroughput':{'MaxWriteRequestUnits':1,'MaxReadRequestUnits':-1}}", NULL);
	cr_assert_eq(puts_until_refused(fx, ERR_THROTTLING), 300);
	struct outcome o = run(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'new'}}}");

	cr_assert_str_eq(o.text, "Throughput exceeds the maximum OnDemandThroughput configured on table or index");
	cr_assert(strstr(o.json, "\"throttlingReasons\":[{\"reason\":\"TableWriteMaxOnDemandThroughputExceeded\"") != NULL, "%s", o.json);
	for (unsigned i = 0; i < 2000; i++)
		cr_assert_eq(get(fx, true), ERR_OK);
	fixture_free(fx);
}

/* ---- batches and transactions ---- */

static const char *const five = "{'RequestItems':{'tab':[{'PutRequest':{'Item':{'pk':{'S':'b0'}}}},"
	"{'PutRequest':{'Item':{'pk':{'S':'b1'}}}},{'DeleteRequest':{'Key':{'pk':{'S':'b2'}}}},"
	"{'PutRequest':{'Item':{'pk':{'S':'b3'}}}},{'PutRequest':{'Item':{'pk':{'S':'b4'}}}}]},'ReturnConsumedCapacity':'TOTAL'}";

Test(throughput, batch_write)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx, TWO_UNITS);
	puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED);
	fails(fx, "BatchWriteItem", five, ERR_THROUGHPUT_EXCEEDED, NULL);
	store_clock_advance(fixture_store(fx), 1000);
	ok(fx, "BatchWriteItem", five, "{'ConsumedCapacity':[{'CapacityUnits':2.0,'TableName':'tab'}],'UnprocessedItems':{'tab':["
		"{'DeleteRequest':{'Key':{'pk':{'S':'b2'}}}},{'PutRequest':{'Item':{'pk':{'S':'b3'}}}},"
		"{'PutRequest':{'Item':{'pk':{'S':'b4'}}}}]}}");
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'b1'}}}", "{'Item':{'pk':{'S':'b1'}}}");
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'b3'}}}", "{}");
	fixture_free(fx);
}

/* Another table's requests go through. */
Test(throughput, batch_of_two_tables)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx, TWO_UNITS);
	ok(fx, "CreateTable", "{'TableName':'other'," KEYS "," DEFINED ",'BillingMode':'PAY_PER_REQUEST'}", NULL);
	puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED);
	ok(fx, "BatchWriteItem", "{'RequestItems':{'tab':[{'PutRequest':{'Item':{'pk':{'S':'a'}}}}],"
		"'other':[{'PutRequest':{'Item':{'pk':{'S':'a'}}}}]},'ReturnConsumedCapacity':'TOTAL'}",
		"{'ConsumedCapacity':[{'CapacityUnits':1.0,'TableName':'other'}],"
		"'UnprocessedItems':{'tab':[{'PutRequest':{'Item':{'pk':{'S':'a'}}}}]}}");
	fixture_free(fx);
}

Test(throughput, transaction)
{
	struct fixture *fx = still(CAPACITY_DECLARED);
	static const char *const two = "{'TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{'S':'t0'}}}},"
		"{'Put':{'TableName':'tab','Item':{'pk':{'S':'t1'}}}}]}";

	create(fx, TWO_UNITS);
	puts_until_refused(fx, ERR_THROUGHPUT_EXCEEDED);
	fails(fx, "TransactWriteItems", two, ERR_TRANSACTION_CANCELED, "Transaction cancelled, please refer cancellation reasons "
		"for specific reasons [ProvisionedThroughputExceeded, ProvisionedThroughputExceeded]");
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'t0'}}}", "{}");
	store_clock_advance(fixture_store(fx), 2000);
	ok(fx, "TransactWriteItems", two, NULL);
	cr_assert_eq(put(fx, 0), ERR_THROUGHPUT_EXCEEDED, "two items, two units each");
	fixture_free(fx);
}

/* ---- indexes ---- */

static void create_indexed(struct fixture *fx)
{
	ok(fx, "CreateTable", "{'TableName':'tab'," KEYS ",'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},"
		"{'AttributeName':'g','AttributeType':'S'}],'ProvisionedThroughput':{'ReadCapacityUnits':50,'WriteCapacityUnits':50},"
		"'GlobalSecondaryIndexes':[{'IndexName':'byg','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'ALL'}," TWO_UNITS "}]}", NULL);
}

static enum err put_g(struct fixture *fx, unsigned i)
{
	char body[256];

	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%u'},'g':{'S':'x'}}}", i);
	return run(fx, "PutItem", body).code;
}

/* An index that is too far behind (five seconds' worth of its writes) holds the table's writes up, those that it takes part in
 * alone. */
Test(throughput, index_writes)
{
	struct fixture *fx = still(CAPACITY_DECLARED);
	unsigned n = 0;

	create_indexed(fx);
	for (; put_g(fx, n) == ERR_OK; n++)
		;
	cr_assert_eq(n, 600 + 5 * 2 + 1, "%u", n);
	struct outcome o = run(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'new'},'g':{'S':'x'}}}");

	cr_assert_eq(o.code, ERR_THROUGHPUT_EXCEEDED);
	cr_assert_str_eq(o.text, "The level of configured provisioned throughput for one or more global secondary indexes of the "
		"table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes "
		"with the UpdateTable API");
	cr_assert(strstr(o.json, "\"reason\":\"IndexWriteProvisionedThroughputExceeded\",\"resource\":"
		"\"arn:aws:dynamodb:ddblocal:000000000000:table/tab/index/byg\"") != NULL, "%s", o.json);
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'new'}}}", "{}");
	cr_assert_eq(put(fx, 9999), ERR_OK, "not in the index");
	store_clock_advance(fixture_store(fx), 1000);
	/* From one place in the index to another: two writes. */
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'k0'},'g':{'S':'y'}}}", NULL);
	cr_assert_eq(put_g(fx, 0), ERR_THROUGHPUT_EXCEEDED, "two units have come, and two are owed more");
	fixture_free(fx);
}

Test(throughput, index_reads)
{
	struct fixture *fx = still(CAPACITY_DECLARED);
	unsigned n = 0;

	create_indexed(fx);
	while (run(fx, "Query", "{'TableName':'tab','IndexName':'byg','KeyConditionExpression':'g=:g',"
		"'ExpressionAttributeValues':{':g':{'S':'x'}}}").code == ERR_OK)
		n++;
	cr_assert_eq(n, 1200, "%u", n);
	cr_assert_eq(get(fx, true), ERR_OK, "the table's own");
	fixture_free(fx);
}

/* ---- counting ---- */

struct sums {
	struct meter_totals table, index;
};

static void note(void *arg, struct slice table, struct slice index, const struct meter_totals *m)
{
	struct sums *s = arg;

	cr_assert(slice_eq(table, SLICE_LIT("tab")));
	*(slice_present(index) ? &s->index : &s->table) = *m;
}

static struct sums sums_of(struct fixture *fx)
{
	struct sums s = { .table.saved = 0 };

	store_meters(fixture_store(fx), note, &s);
	return s;
}

Test(throughput, counts)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create_indexed(fx);
	for (unsigned i = 0; i < 1000; i++)
		cr_assert_eq(put_g(fx, i), ERR_OK, "counted, not refused");
	get(fx, true);
	get(fx, false);
	ok(fx, "Scan", "{'TableName':'tab','IndexName':'byg','Limit':1}", NULL);
	struct sums s = sums_of(fx);

	cr_assert_eq(s.table.used[METER_WRITE], 2000);
	cr_assert_eq(s.index.used[METER_WRITE], 2000);
	cr_assert_eq(s.table.used[METER_READ], 3);
	cr_assert_eq(s.index.used[METER_READ], 1);
	cr_assert_eq(s.table.refused[METER_WRITE], 0);
	/* The meter of a table outlives its descriptions. */
	ok(fx, "UpdateTable", "{'TableName':'tab','DeletionProtectionEnabled':true}", NULL);
	cr_assert_eq(sums_of(fx).index.used[METER_WRITE], 2000);
	fixture_free(fx);
}

Test(throughput, off)
{
	struct fixture *fx = still(CAPACITY_OFF);

	create(fx, TWO_UNITS);
	for (unsigned i = 0; i < 1000; i++)
		cr_assert_eq(put(fx, i), ERR_OK);
	get(fx, true);
	cr_assert_eq(sums_of(fx).table.used[METER_WRITE], 0);
	cr_assert_eq(sums_of(fx).table.used[METER_READ], 0);
	fixture_free(fx);
}

/* ---- decreases ---- */

static struct outcome set_units(struct fixture *fx, unsigned read, unsigned write)
{
	char body[256];

	snprintf(body, sizeof body, "{'TableName':'tab','ProvisionedThroughput':{'ReadCapacityUnits':%u,'WriteCapacityUnits':%u}}",
		read, write);
	return run(fx, "UpdateTable", body);
}

/* Move the clock to some hour of the next day of UTC. */
static void next_day(struct fixture *fx, unsigned hour)
{
	uint64_t day = 86400000, now;
	const char *created = strstr(run(fx, "DescribeTable", "{'TableName':'tab'}").json, "CreationDateTime");

	now = (uint64_t)(strtod(created + 18, NULL) * 1000 + 0.5);
	store_clock_advance(fixture_store(fx), day - now % day + hour * day / 24);
}

static bool described(struct fixture *fx, const char *text)
{
	return strstr(run(fx, "DescribeTable", "{'TableName':'tab'}").json, text) != NULL;
}

/* D1, D3: four, then one an hour after the last; raising is free; the next day counts anew. */
Test(throughput, decreases)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx, "'ProvisionedThroughput':{'ReadCapacityUnits':20,'WriteCapacityUnits':20}");
	next_day(fx, 1);
	for (unsigned units = 19; units > 15; units--)
		cr_assert_eq(set_units(fx, units, units).code, ERR_OK, "%u", units);
	struct outcome o = set_units(fx, 10, 15);

	cr_assert_eq(o.code, ERR_LIMIT_EXCEEDED);
	static const char start[] = "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. "
		"After the first 4 decreases, each subsequent decrease in the same UTC day can be performed at most once every 3600 "
		"seconds. Number of decreases today: 4. Last decrease at ";

	cr_assert(strncmp(o.text, start, sizeof start - 1) == 0, "%s", o.text);
	cr_assert(strstr(o.text, " at 1:00:00 AM Coordinated Universal Time. Next decrease can be made at ") != NULL, "%s", o.text);
	cr_assert(strstr(o.text, " at 2:00:00 AM Coordinated Universal Time") != NULL, "%s", o.text);
	cr_assert_eq(set_units(fx, 30, 30).code, ERR_OK, "up");
	store_clock_advance(fixture_store(fx), 3600 * 1000 - 1);
	cr_assert_eq(set_units(fx, 29, 30).code, ERR_LIMIT_EXCEEDED);
	cr_assert(described(fx, "\"NumberOfDecreasesToday\":4"));
	store_clock_advance(fixture_store(fx), 1);
	cr_assert_eq(set_units(fx, 29, 31).code, ERR_OK, "down and up is down");
	cr_assert(described(fx, "\"NumberOfDecreasesToday\":5"));
	cr_assert_eq(set_units(fx, 28, 31).code, ERR_LIMIT_EXCEEDED);
	store_clock_advance(fixture_store(fx), 22 * 3600 * 1000u);
	cr_assert(described(fx, "\"NumberOfDecreasesToday\":0"));
	cr_assert(described(fx, "LastDecreaseDateTime"));
	for (unsigned units = 27; units > 23; units--)
		cr_assert_eq(set_units(fx, units, units).code, ERR_OK);
	cr_assert_eq(set_units(fx, 1, 1).code, ERR_LIMIT_EXCEEDED);
	fixture_free(fx);
}

static enum err set_index_units(struct fixture *fx, unsigned units)
{
	char body[256];

	snprintf(body, sizeof body, "{'TableName':'tab','GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'byg',"
		"'ProvisionedThroughput':{'ReadCapacityUnits':%u,'WriteCapacityUnits':9}}}]}", units);
	return run(fx, "UpdateTable", body).code;
}

/* D2, and over a restart. */
Test(throughput, decreases_of_indexes)
{
	char dir[] = "/tmp/dynax-throughput-XXXXXX";
	struct fixture *fx;

	cr_assert_not_null(mkdtemp(dir));
	fx = fixture_with(&(struct store_opts){ .still_clock = true, .engine.dir = dir });
	create_indexed(fx);
	next_day(fx, 1);
	cr_assert_eq(set_index_units(fx, 20), ERR_OK);
	for (unsigned units = 19; units > 15; units--)
		cr_assert_eq(set_index_units(fx, units), ERR_OK);
	cr_assert_eq(set_index_units(fx, 3), ERR_LIMIT_EXCEEDED);
	cr_assert_eq(set_units(fx, 49, 50).code, ERR_OK, "the table's own");
	fixture_reopen(fx);
	next_day(fx, 1);
	cr_assert_eq(set_index_units(fx, 3), ERR_LIMIT_EXCEEDED);
	fixture_free(fx);
	char command[128];

	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

Test(throughput, decreases_are_only_counted)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create(fx, "'ProvisionedThroughput':{'ReadCapacityUnits':20,'WriteCapacityUnits':20}");
	next_day(fx, 1);
	for (unsigned units = 19; units > 9; units--)
		cr_assert_eq(set_units(fx, units, units).code, ERR_OK);
	cr_assert(described(fx, "\"NumberOfDecreasesToday\":10"));
	fixture_free(fx);
}

/* ---- switches of the billing mode ---- */

static struct outcome bill(struct fixture *fx, bool on_demand)
{
	return run(fx, "UpdateTable", on_demand ? "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST'}"
		: "{'TableName':'tab','BillingMode':'PROVISIONED'," TWO_UNITS "}");
}

static void ok_bill(struct fixture *fx, bool on_demand)
{
	struct outcome o = bill(fx, on_demand);

	cr_assert_eq(o.code, ERR_OK, "%s", o.text);
}

/* S1: four times in 24 hours that begin with any of them; remembered over a restart. */
Test(throughput, switches)
{
	char dir[] = "/tmp/dynax-switches-XXXXXX", command[128];
	struct fixture *fx;

	cr_assert_not_null(mkdtemp(dir));
	fx = fixture_with(&(struct store_opts){ .still_clock = true, .engine.dir = dir });
	create(fx, "'BillingMode':'PAY_PER_REQUEST'");
	for (unsigned i = 0; i < 4; i++) {
		ok_bill(fx, false);
		ok_bill(fx, true);
		ok_bill(fx, true);
		store_clock_advance(fixture_store(fx), 3600 * 1000);
	}
	ok_bill(fx, false);
	struct outcome o = bill(fx, true);
	static const char start[] = "Subscriber limit exceeded: Update to PayPerRequest mode are limited to 4 times in 1 day(s). "
		"Last update at ";

	cr_assert_eq(o.code, ERR_LIMIT_EXCEEDED);
	cr_assert(strncmp(o.text, start, sizeof start - 1) == 0, "%s", o.text);
	cr_assert(strstr(o.text, ". Next update can be made at ") != NULL, "%s", o.text);
	store_clock_advance(fixture_store(fx), 20 * 3600 * 1000 - 1);
	cr_assert_eq(bill(fx, true).code, ERR_LIMIT_EXCEEDED);
	store_clock_advance(fixture_store(fx), 1);
	ok_bill(fx, true);
	ok_bill(fx, false);
	cr_assert_eq(bill(fx, true).code, ERR_LIMIT_EXCEEDED, "the second of the five is not a day old");
	fixture_reopen(fx);
	cr_assert_eq(bill(fx, true).code, ERR_LIMIT_EXCEEDED);
	fixture_free(fx);
	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

Test(throughput, switches_are_only_counted)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create(fx, TWO_UNITS);
	for (unsigned i = 0; i < 6; i++) {
		ok_bill(fx, true);
		ok_bill(fx, false);
	}
	fixture_free(fx);
}
