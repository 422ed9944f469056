/* test_growth - what on-demand tables are sure to serve grows with their traffic (G1 to G4), against a plain model. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/capacity.h"
#include "store/growth.h"
#include "store/throughput.h"
#include "tests/unit/store/fixture.h"

enum { READS_FIRST = 12000, WRITES_FIRST = 4000, MINUTE_OF_ONE = 60 * CAPACITY_HALVES };

static void create(struct fixture *fx)
{
	ok(fx, "CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
		"'GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'ALL'}}]}", NULL);
}

static struct fixture *still(enum capacity_mode mode)
{
	return fixture_with(&(struct store_opts){ .still_clock = true, .capacity = mode });
}

static void consume(struct fixture *fx, bool index, enum meter_use use, uint64_t halves)
{
	struct store_reader *r = fixture_reader(fx);
	const struct table *t = store_table(r, SLICE_LIT("tab"));

	throughput_charge(fixture_store(fx), t, index ? &t->index[0] : NULL, 0, use, halves);
	store_reader_quiesce(r);
}

static void advance(struct fixture *fx, unsigned minutes)
{
	store_clock_advance(fixture_store(fx), minutes * UINT64_C(60000));
}

/* The warm throughput that DescribeTable tells of: the index comes first in it. */
static struct units served(struct fixture *fx, bool index)
{
	const char *json = run(fx, "DescribeTable", "{'TableName':'tab'}").json, *at = strstr(json, "\"WarmThroughput\"");
	long long read, write;

	if (!index)
		at = strstr(at + 1, "\"WarmThroughput\"");
	cr_assert_eq(sscanf(at, "\"WarmThroughput\":{\"ReadUnitsPerSecond\":%lld,\"Status\":\"ACTIVE\",\"WriteUnitsPerSecond\":%lld}", &read,
		&write), 2, "%s", at);
	return (struct units){ read, write };
}

#define SERVES(fx, index, r, w) do { \
		struct units u = served(fx, index); \
		cr_assert(u.read == (r) && u.write == (w), "%lld, %lld", (long long)u.read, (long long)u.write); \
	} while (0)

/* Twice the peak, half an hour after it has ended; kept from then on, over restarts and in provisioned mode. */
Test(growth, after_half_an_hour)
{
	char dir[] = "/tmp/dynax-growth-XXXXXX", command[128];
	struct fixture *fx;

	cr_assert_not_null(mkdtemp(dir));
	fx = fixture_with(&(struct store_opts){ .still_clock = true, .capacity = CAPACITY_AWS, .engine.dir = dir });
	create(fx);
	SERVES(fx, false, READS_FIRST, WRITES_FIRST);
	SERVES(fx, true, READS_FIRST, WRITES_FIRST);
	consume(fx, false, METER_WRITE, 3000 * MINUTE_OF_ONE);
	consume(fx, true, METER_READ, 7001 * MINUTE_OF_ONE - 1);
	consume(fx, false, METER_READ, 6000 * MINUTE_OF_ONE);
	advance(fx, 30);
	SERVES(fx, false, READS_FIRST, WRITES_FIRST);
	advance(fx, 1);
	SERVES(fx, false, READS_FIRST, 6000);
	SERVES(fx, true, 14002, WRITES_FIRST);
	advance(fx, 100);
	SERVES(fx, false, READS_FIRST, 6000);
	fixture_reopen(fx);
	SERVES(fx, true, 14002, WRITES_FIRST);
	ok(fx, "UpdateTable", "{'TableName':'tab','BillingMode':'PROVISIONED','ProvisionedThroughput':{'ReadCapacityUnits':5,"
		"'WriteCapacityUnits':5},'GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'gsi','ProvisionedThroughput':"
		"{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}}]}", NULL);
	SERVES(fx, false, READS_FIRST, 6000);
	fixture_free(fx);
	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

Test(growth, of_the_service_alone)
{
	struct fixture *fx = still(CAPACITY_DECLARED);

	create(fx);
	consume(fx, false, METER_WRITE, 3000 * MINUTE_OF_ONE);
	advance(fx, 31);
	SERVES(fx, false, READS_FIRST, WRITES_FIRST);
	fixture_free(fx);
}

/* ---- what is refused ---- */

/* Partitions do not stand in the way. */
static struct fixture *without_partitions(enum capacity_mode mode)
{
	return fixture_with(&(struct store_opts){ .still_clock = true, .capacity = mode, .partition_wcu = 1000000,
		.partition_rcu = 1000000 });
}

/* Operations of so many half units that pass, of `wanted`. */
static unsigned pass(struct fixture *fx, bool index, enum meter_use use, uint64_t halves, unsigned wanted)
{
	struct store_reader *r = fixture_reader(fx);
	const struct table *t = store_table(r, SLICE_LIT("tab"));
	const struct table_index *x = index ? &t->index[0] : NULL;
	unsigned n = 0;

	for (; n < wanted && throughput_admit(fixture_store(fx), t, x, 0, use, NULL) == ERR_OK; n++)
		throughput_charge(fixture_store(fx), t, x, 0, use, halves);
	store_reader_quiesce(r);
	return n;
}

Test(growth, limit)
{
	struct fixture *fx = without_partitions(CAPACITY_AWS);
	const uint64_t unit = CAPACITY_HALVES;

	create(fx);
	cr_assert_eq(pass(fx, false, METER_WRITE, 400 * unit, 1000), 10);
	struct outcome o = run(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'}}}");

	cr_assert_eq(o.code, ERR_THROTTLING);
	cr_assert_str_eq(o.text, "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling "
		"your table or index so please try again shortly. If exceptions persist, check if you have a hot key: "
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html");
	cr_assert(strstr(o.json, "\"reason\":\"TableWriteKeyRangeThroughputExceeded\"") != NULL, "%s", o.json);
	cr_assert_eq(pass(fx, false, METER_READ, 100 * unit, 1000), 120);
	cr_assert_eq(pass(fx, true, METER_READ, 100 * unit, 1000), 120, "an index has its own");
	store_clock_advance(fixture_store(fx), 10000);
	cr_assert_eq(pass(fx, false, METER_WRITE, unit, 10000), 4000, "nothing is saved");
	ok(fx, "UpdateTable", "{'TableName':'tab','WarmThroughput':{'WriteUnitsPerSecond':9000}}", NULL);
	cr_assert_eq(pass(fx, false, METER_WRITE, unit, 10000), 0);
	store_clock_advance(fixture_store(fx), 1000);
	cr_assert_eq(pass(fx, false, METER_WRITE, unit, 10000), 9000);
	fixture_free(fx);
}

Test(growth, no_limit_as_declared)
{
	struct fixture *fx = without_partitions(CAPACITY_DECLARED);

	create(fx);
	cr_assert_eq(pass(fx, false, METER_WRITE, 400 * CAPACITY_HALVES, 1000), 1000);
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'}}}", NULL);
	fixture_free(fx);
}

/* A maximum below it holds too, with its own text. */
Test(growth, maximum)
{
	struct fixture *fx = without_partitions(CAPACITY_AWS);

	create(fx);
	ok(fx, "UpdateTable", "{'TableName':'tab','OnDemandThroughput':{'MaxWriteRequestUnits':10}}", NULL);
	cr_assert_eq(pass(fx, false, METER_WRITE, CAPACITY_HALVES, 10000), 3000, "with its burst");
	fails(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'}}}", ERR_THROTTLING,
		"Throughput exceeds the maximum OnDemandThroughput configured on table or index");
	fixture_free(fx);
}

/* ---- random traffic ---- */

enum { MODEL_MINUTES = 400 };

static unsigned seed(void)
{
	const char *s = getenv("SEED");
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 10) : (unsigned)time(NULL);

	printf("SEED=%u\n", v);
	return v;
}

/* After `minutes` have ended: twice the greatest one that ended 30 minutes ago. */
static int64_t model_served(const uint64_t *halves, unsigned minutes, int64_t first)
{
	int64_t most = first;

	for (unsigned i = 0; i + 30 < minutes; i++) {
		double twice = 2.0 * (double)halves[i] / MINUTE_OF_ONE;

		if (twice > (double)most)
			most = (int64_t)twice + ((double)(int64_t)twice < twice);
	}
	return most;
}

Test(growth, random_traffic)
{
	static uint64_t halves[MODEL_MINUTES + 100];
	unsigned rnd = seed(), grown = 0;
	struct fixture *fx = still(CAPACITY_AWS);
	unsigned minutes = 0;
	int64_t before = WRITES_FIRST;

	create(fx);
	while (minutes < MODEL_MINUTES) {
		unsigned idle = rand_r(&rnd) % 30 == 0 ? (unsigned)rand_r(&rnd) % 100 : 0;

		halves[minutes] = (uint64_t)rand_r(&rnd) % (uint64_t)(before + before / 4) * MINUTE_OF_ONE + (uint64_t)rand_r(&rnd) % 100;
		consume(fx, true, METER_WRITE, halves[minutes]);
		advance(fx, 1 + idle);
		minutes += 1 + idle;
		struct units u = served(fx, true);

		cr_assert_eq(u.write, model_served(halves, minutes, WRITES_FIRST), "minute %u: %lld, not %lld", minutes, (long long)u.write,
			(long long)model_served(halves, minutes, WRITES_FIRST));
		cr_assert_eq(u.read, READS_FIRST);
		grown += u.write > before;
		before = u.write;
	}
	cr_assert_gt(grown, 3, "%u", grown);
	fixture_free(fx);
}

/* In no second passes more than twice the peak of half an hour ago, and one operation; and that much does, if it is asked for. */
Test(growth, random_demand)
{
	static uint64_t halves[MODEL_MINUTES + 1];
	unsigned rnd = seed(), minute = 0, refused = 0;
	struct fixture *fx = without_partitions(CAPACITY_AWS);
	uint64_t before = WRITES_FIRST * CAPACITY_HALVES;
	int64_t peak = 0;

	create(fx);
	store_clock_advance(fixture_store(fx), 60000 - clock_ms(&fixture_store(fx)->clock) % 60000);
	while (minute < 150) {
		uint64_t limit = (uint64_t)model_served(halves, minute, WRITES_FIRST) * CAPACITY_HALVES;

		for (unsigned second = 0; second < 60; second += 20) {
			uint64_t cost = 1 + (uint64_t)rand_r(&rnd) % 800;
			unsigned wanted = (unsigned)((uint64_t)rand_r(&rnd) % (3 * limit) / cost) + 1;
			unsigned passed = pass(fx, false, METER_WRITE, cost, wanted);

			/* What has just grown gives more from the next second on. */
			cr_assert(passed == wanted || passed * cost >= (second == 0 ? before : limit), "minute %u, second %u: %u of %u, cost %llu", minute, second, passed, wanted, (unsigned long long)cost);
			cr_assert_lt(passed * cost, limit + cost, "minute %u: %llu, not %llu", minute, (unsigned long long)(passed * cost),
				(unsigned long long)limit);
			halves[minute] += passed * cost;
			refused += passed < wanted;
			/* The next nineteen seconds at nine tenths of the limit, paid for when they have passed. */
			consume(fx, false, METER_WRITE, 19 * limit * 9 / 10);
			halves[minute] += 19 * limit * 9 / 10;
			store_clock_advance(fixture_store(fx), 20000);
		}
		minute++;
		before = limit;
		peak = served(fx, false).write;
		cr_assert_eq(peak, model_served(halves, minute, WRITES_FIRST));
	}
	cr_assert_gt(refused, 20, "%u", refused);
	cr_assert_gt(peak, 2 * WRITES_FIRST, "%lld", (long long)peak);
	fixture_free(fx);
}
