/* test_partition_heat - limits of partitions, how many there are, and cuts because of heat: through the store's door. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "store/store_int.h"

/* HEAT_TEST_SECONDS: as long as heat must last (heat.h). */
enum { WCU = 10, RCU = 30, HEAT_TEST_SECONDS = 15 };

static unsigned seed(void)
{
	const char *s = getenv("SEED");
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 10) : (unsigned)time(NULL);

	printf("SEED=%u\n", v);
	return v;
}

static struct fixture *open_store(enum capacity_mode mode)
{
	return fixture_with(&(struct store_opts){ .still_clock = true, .capacity = mode, .partition_wcu = WCU, .partition_rcu = RCU,
		.keeper_ms = 2 });
}

static void create(struct fixture *fx, const char *billing)
{
	static char body[1024];

	snprintf(body, sizeof body, "{'TableName':'tab','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],%s}", billing);
	ok(fx, "CreateTable", body, NULL);
}

static void create_provisioned(struct fixture *fx, unsigned read, unsigned write)
{
	char units[128];

	snprintf(units, sizeof units, "'ProvisionedThroughput':{'ReadCapacityUnits':%u,'WriteCapacityUnits':%u}", read, write);
	create(fx, units);
}

/* ---- what there is ---- */

enum { PARTS_MAX = 512 };
struct shown {
	unsigned n, indexes;             /* of the table, of its index */
	struct store_partition part[PARTS_MAX];
	char key[PARTS_MAX][64];         /* its hottest key's bytes; empty: none */
	bool counted;
};

static void take_part(void *arg, const struct store_partition *p)
{
	struct shown *s = arg;

	s->counted &= p->counted;
	if (slice_present(p->index)) {
		s->indexes++;
		return;
	}
	cr_assert_lt(s->n, PARTS_MAX);
	cr_assert_eq(p->first, s->n == 0 ? 0 : s->part[s->n - 1].last + 1);
	s->key[s->n][0] = '\0';
	if (p->hot_keys != 0 && slice_present(p->hot[0].key)) {
		uint32_t n;
		struct mp m = value_pairs(p->hot[0].key, &n);

		cr_assert(slice_eq(mp_str(&m), SLICE_LIT("pk")));
		struct slice value = mp_str(&m);

		snprintf(s->key[s->n], sizeof s->key[0], "%.*s", SLICE_FMT(value));
	}
	s->part[s->n++] = *p;
}

static struct shown *show(struct fixture *fx)
{
	static struct shown s;

	s.n = s.indexes = 0;
	s.counted = true;
	cr_assert_eq(store_partitions(fixture_store(fx), SLICE_LIT("tab"), take_part, &s, NULL), ERR_OK);
	cr_assert_eq(s.part[s.n - 1].last, UINT64_MAX);
	return &s;
}

static struct shown *await_parts(struct fixture *fx, unsigned n)
{
	struct shown *s = show(fx);

	for (unsigned tries = 0; (s->n != n || !s->counted) && tries < 2000; tries++) {
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		s = show(fx);
	}
	cr_assert_eq(s->n, n, "%u partitions", s->n);
	return s;
}

static uint64_t hash_of(const char *key)
{
	struct buf b;
	struct slice value;

	buf_init(&b);
	mp_put_str(&b, slice_str(key));
	value = buf_slice(&b);
	uint64_t hash = store_hash(&value, 1);

	buf_release(&b);
	return hash;
}

/* The number-th key whose hash is in a range. Good for as long as a test asks for few. */
static const char *key_in(uint64_t first, uint64_t last, unsigned number)
{
	static char key[16][24];
	static unsigned turn;
	char *out = key[turn++ % 16];

	for (unsigned i = 0;; i++) {
		snprintf(out, sizeof key[0], "k%u", i);
		uint64_t hash = hash_of(out);

		if (hash >= first && hash <= last && number-- == 0)
			return out;
	}
}

static struct outcome put(struct fixture *fx, const char *key)
{
	char body[128];

	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'%s'}}}", key);
	return run(fx, "PutItem", body);
}

static enum err get(struct fixture *fx, const char *key)
{
	char body[128];

	snprintf(body, sizeof body, "{'TableName':'tab','Key':{'pk':{'S':'%s'}},'ConsistentRead':true}", key);
	return run(fx, "GetItem", body).code;
}

/* How many of `asked` puts pass. */
static unsigned puts_of(struct fixture *fx, const char *key, unsigned asked)
{
	unsigned passed = 0;

	for (unsigned i = 0; i < asked; i++)
		passed += put(fx, key).code == ERR_OK;
	return passed;
}

static void pass_second(struct fixture *fx)
{
	store_clock_advance(fixture_store(fx), 1000);
}

/* ---- how many ---- */

static unsigned parts_of(enum capacity_mode mode, const char *billing)
{
	struct fixture *fx = open_store(mode);

	create(fx, billing);
	unsigned n = show(fx)->n;

	fixture_free(fx);
	return n;
}

Test(partition_heat, begins_with_as_many_as_the_throughput_needs)
{
	static const char on_demand[] = "'BillingMode':'PAY_PER_REQUEST'";

	cr_assert_eq(parts_of(CAPACITY_DECLARED, "'ProvisionedThroughput':{'ReadCapacityUnits':30,'WriteCapacityUnits':10}"), 1);
	cr_assert_eq(parts_of(CAPACITY_DECLARED, "'ProvisionedThroughput':{'ReadCapacityUnits':31,'WriteCapacityUnits':10}"), 2);
	cr_assert_eq(parts_of(CAPACITY_DECLARED, "'ProvisionedThroughput':{'ReadCapacityUnits':60,'WriteCapacityUnits':21}"), 3);
	cr_assert_eq(parts_of(CAPACITY_DECLARED, on_demand), 1);
	cr_assert_eq(parts_of(CAPACITY_DECLARED, "'BillingMode':'PAY_PER_REQUEST','WarmThroughput':{'ReadUnitsPerSecond':12000,"
		"'WriteUnitsPerSecond':4000}"), 400);
	struct fixture *fx = fixture_with(&(struct store_opts){ .capacity = CAPACITY_AWS });

	create(fx, on_demand);
	cr_assert_eq(show(fx)->n, 4);
	fixture_free(fx);
}

Test(partition_heat, ranges_are_equal_and_indexes_have_their_own)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);

	ok(fx, "CreateTable", "{'TableName':'tab','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'AttributeDefinitions':["
		"{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],'ProvisionedThroughput':"
		"{'ReadCapacityUnits':1,'WriteCapacityUnits':50},'GlobalSecondaryIndexes':[{'IndexName':'byg','KeySchema':["
		"{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'},'ProvisionedThroughput':"
		"{'ReadCapacityUnits':90,'WriteCapacityUnits':1}}]}", NULL);
	struct shown *s = show(fx);

	cr_assert_eq(s->n, 5);
	cr_assert_eq(s->indexes, 3);
	for (unsigned i = 0; i < s->n; i++) {
		uint64_t width = s->part[i].last - s->part[i].first;

		cr_assert(width > UINT64_MAX / 5 - 10 && width < UINT64_MAX / 5 + 10);
	}
	/* A new index; then, throughput raised, until there are enough, and never fewer again. */
	ok(fx, "UpdateTable", "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'h','AttributeType':'S'}],"
		"'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'byh','KeySchema':[{'AttributeName':'h','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'ALL'},'ProvisionedThroughput':{'ReadCapacityUnits':61,'WriteCapacityUnits':1}}}]}", NULL);
	cr_assert_eq(show(fx)->indexes, 6);
	ok(fx, "UpdateTable", "{'TableName':'tab','ProvisionedThroughput':{'ReadCapacityUnits':300,'WriteCapacityUnits':70}}", NULL);
	s = await_parts(fx, 10);
	for (unsigned i = 0; i < s->n; i++)
		cr_assert_leq(s->part[i].last - s->part[i].first, UINT64_MAX / 5 + 10);
	ok(fx, "UpdateTable", "{'TableName':'tab','ProvisionedThroughput':{'ReadCapacityUnits':3,'WriteCapacityUnits':7}}", NULL);
	pass_second(fx);
	cr_assert_eq(show(fx)->n, 10);
	fixture_free(fx);
}

/* Warm throughput that is asked for later; and a table of before, once capacity is to be as the service has it. */
Test(partition_heat, on_demand_tables_grow_too)
{
	char dir[] = "/tmp/dynax-heat-XXXXXX", command[64];

	cr_assert_not_null(mkdtemp(dir));
	struct fixture *fx = fixture_with(&(struct store_opts){ .engine.dir = dir, .keeper_ms = 2 });

	create(fx, "'BillingMode':'PAY_PER_REQUEST'");
	cr_assert_eq(show(fx)->n, 1);
	fixture_free(fx);
	fx = fixture_with(&(struct store_opts){ .engine.dir = dir, .keeper_ms = 2, .capacity = CAPACITY_AWS });
	await_parts(fx, 4);
	ok(fx, "UpdateTable", "{'TableName':'tab','WarmThroughput':{'ReadUnitsPerSecond':12000,'WriteUnitsPerSecond':7000}}", NULL);
	await_parts(fx, 7);
	fixture_free(fx);
	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

/* ---- limits ---- */

/* One key is held to a partition's limit, to the second, whatever the table has; others pass meanwhile. */
Test(partition_heat, a_hot_partition_is_throttled_while_others_pass)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);

	create_provisioned(fx, 90, 30);
	struct shown *s = show(fx);
	const char *hot = key_in(s->part[0].first, s->part[0].last, 0), *cold = key_in(s->part[2].first, s->part[2].last, 0);

	for (unsigned second = 0; second < 5; second++) {
		cr_assert_eq(puts_of(fx, hot, 50), WCU, "burst does not exceed it");
		cr_assert_eq(puts_of(fx, cold, 5), 5);
		cr_assert_eq(get(fx, hot), ERR_OK, "reads have a limit of their own");
		pass_second(fx);
	}
	cr_assert_eq(puts_of(fx, hot, 50), WCU);
	struct outcome o = put(fx, hot);

	cr_assert_eq(o.code, ERR_THROUGHPUT_EXCEEDED);
	cr_assert_str_eq(o.text, "The level of configured provisioned throughput for the table was exceeded. Consider increasing "
		"your provisioning level with the UpdateTable API.");
	cr_assert(strstr(o.json, "\"ThrottlingReasons\":[{\"reason\":\"TableWriteKeyRangeThroughputExceeded\",\"resource\":"
		"\"arn:aws:dynamodb:ddblocal:000000000000:table/tab\"}]") != NULL, "%s", o.json);
	for (unsigned i = 0; i < RCU; i++)
		cr_assert_eq(get(fx, hot), ERR_OK);
	char body[128];

	snprintf(body, sizeof body, "{'TableName':'tab','Key':{'pk':{'S':'%s'}}}", hot);
	o = run(fx, "GetItem", body);
	cr_assert(strstr(o.json, "TableReadKeyRangeThroughputExceeded") != NULL, "%s", o.json);
	snprintf(body, sizeof body, "{'TableName':'tab','KeyConditionExpression':'pk=:k','ExpressionAttributeValues':{':k':{'S':'%s'}}}",
		hot);
	o = run(fx, "Query", body);
	cr_assert(strstr(o.json, "TableReadKeyRangeThroughputExceeded") != NULL, "%s", o.json);
	o = run(fx, "Scan", "{'TableName':'tab'}");
	cr_assert(strstr(o.json, "TableReadKeyRangeThroughputExceeded") != NULL, "it begins there: %s", o.json);
	ok(fx, "Scan", "{'TableName':'tab','Segment':2,'TotalSegments':3}", NULL);
	s = show(fx);
	cr_assert_geq(s->part[0].refused[METER_WRITE], 5 * 40);
	cr_assert_eq(s->part[2].refused[METER_WRITE], 0);
	cr_assert_eq(s->part[0].refused[METER_READ], 3);
	cr_assert_str_eq(s->key[0], hot);
	cr_assert_str_eq(s->key[2], cold);
	fixture_free(fx);
}

/* Adaptive capacity: one partition may use all that the table has, though its share would be a third. */
Test(partition_heat, one_partition_uses_the_whole_table)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);

	create_provisioned(fx, 90, 8);
	struct shown *s = show(fx);

	cr_assert_eq(s->n, 3);
	const char *hot = key_in(s->part[1].first, s->part[1].last, 0);

	/* What was saved, 8 * 300; 8 come a second and 10 go, so it lasts for 1,200 seconds. */
	for (unsigned second = 0; second < 1200 - 4; second++) {
		cr_assert_eq(puts_of(fx, hot, WCU), WCU, "second %u", second);
		pass_second(fx);
	}
	for (unsigned second = 0; second < 8; second++) {
		puts_of(fx, hot, WCU);
		pass_second(fx);
	}
	for (unsigned second = 0; second < 40; second++) {
		cr_assert_eq(puts_of(fx, hot, 20), 8);
		cr_assert(strstr(put(fx, hot).json, "TableWriteProvisionedThroughputExceeded") != NULL);
		pass_second(fx);
	}
	cr_assert_eq(show(fx)->n, 3);
	fixture_free(fx);
}

/* On demand: only if capacity is as the service has it, with its words. */
Test(partition_heat, on_demand)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);

	create(fx, "'BillingMode':'PAY_PER_REQUEST'");
	cr_assert_eq(puts_of(fx, "k", 100), 100);
	fixture_free(fx);
	fx = open_store(CAPACITY_AWS);
	create(fx, "'BillingMode':'PAY_PER_REQUEST'");
	cr_assert_eq(puts_of(fx, "k", 100), WCU);
	struct outcome o = put(fx, "k");

	cr_assert_eq(o.code, ERR_THROTTLING);
	cr_assert_str_eq(o.text, "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling "
		"your table or index so please try again shortly. If exceptions persist, check if you have a hot key: "
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html");
	cr_assert(strstr(o.json, "TableWriteKeyRangeThroughputExceeded") != NULL, "%s", o.json);
	fixture_free(fx);
	fx = open_store(CAPACITY_ACCOUNT);
	create_provisioned(fx, 90, 30);
	cr_assert_eq(puts_of(fx, "k", 1000), 1000);
	fixture_free(fx);
}

/* A table of thirty partitions with an index of two. */
static void create_indexed(struct fixture *fx)
{
	ok(fx, "CreateTable", "{'TableName':'tab','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'AttributeDefinitions':["
		"{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],'ProvisionedThroughput':"
		"{'ReadCapacityUnits':90,'WriteCapacityUnits':300},'GlobalSecondaryIndexes':[{'IndexName':'byg','KeySchema':["
		"{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'},'ProvisionedThroughput':"
		"{'ReadCapacityUnits':30,'WriteCapacityUnits':20}}]}", NULL);
}

/* An index's partition pushes back on the base table's writes, by its own key. */
Test(partition_heat, index)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);
	unsigned passed = 0;
	struct outcome o;
	char body[128];

	create_indexed(fx);
	do {
		snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%u'},'g':{'S':'one'}}}", passed);
		o = run(fx, "PutItem", body);
		passed += o.code == ERR_OK;
	} while (o.code == ERR_OK && passed < 100);
	cr_assert_eq(o.code, ERR_THROUGHPUT_EXCEEDED);
	cr_assert(strstr(o.json, "\"reason\":\"IndexWriteKeyRangeThroughputExceeded\",\"resource\":"
		"\"arn:aws:dynamodb:ddblocal:000000000000:table/tab/index/byg\"") != NULL, "%s", o.json);
	bool low = hash_of("one") <= UINT64_MAX / 2;

	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'other'},'g':{'S':'%s'}}}",
		low ? key_in(UINT64_MAX / 2 + 1, UINT64_MAX, 0) : key_in(0, UINT64_MAX / 2, 0));
	ok(fx, "PutItem", body, NULL);
	fixture_free(fx);
}

/* ---- cuts ---- */

/* Several keys of a partition are too much for it: it is cut between them, and then they have what they ask for. */
Test(partition_heat, sustained_heat_cuts)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);
	const char *key[4];

	create_provisioned(fx, 90, 30);
	struct shown *s = show(fx);

	for (unsigned i = 0; i < 4; i++)
		key[i] = key_in(s->part[1].first, s->part[1].last, i);
	for (unsigned second = 0; second < HEAT_TEST_SECONDS; second++) {
		unsigned passed = 0;

		cr_assert_eq(show(fx)->n, 3, "second %u", second);
		for (unsigned i = 0; i < 5 * 4; i++)
			passed += put(fx, key[i % 4]).code == ERR_OK;
		/* In the last second it may be cut already. */
		cr_assert(passed == WCU || second + 1 == HEAT_TEST_SECONDS, "%u in second %u", passed, second);
		pass_second(fx);
	}
	s = await_parts(fx, 4);
	unsigned before = 0;

	for (unsigned i = 0; i < 4; i++)
		before += hash_of(key[i]) < s->part[2].first;
	cr_assert_eq(before, 2, "two on each side");
	for (unsigned second = 0; second < 40; second++) {
		for (unsigned i = 0; i < 5 * 4; i++)
			cr_assert_eq(put(fx, key[i % 4]).code, ERR_OK, "second %u", second);
		pass_second(fx);
	}
	cr_assert_eq(show(fx)->n, 4);
	fixture_free(fx);
}

/* However seldom the keeper looks for what has expired, what is too few or too hot is cut within a second. */
Test(partition_heat, watched_every_second)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .still_clock = true, .partition_wcu = WCU, .partition_rcu = RCU,
		.keeper_ms = 3600 * 1000 });

	create_provisioned(fx, 30, 10);
	ok(fx, "UpdateTable", "{'TableName':'tab','ProvisionedThroughput':{'ReadCapacityUnits':30,'WriteCapacityUnits':30}}", NULL);
	struct shown *s = await_parts(fx, 3);
	const char *key[4];

	for (unsigned i = 0; i < 4; i++)
		key[i] = key_in(s->part[1].first, s->part[1].last, i);
	for (unsigned second = 0; second < HEAT_TEST_SECONDS; second++) {
		clock_advance(&fixture_store(fx)->clock, 1000); /* settles nothing */
		for (unsigned i = 0; i < 2 * WCU; i++)
			put(fx, key[i % 4]);
	}
	await_parts(fx, 4);
	fixture_free(fx);
}

/* A single hot key gets a partition of its own; its neighbours are rid of it, and it stays limited. */
Test(partition_heat, a_hot_key_is_isolated)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);

	create_provisioned(fx, 90, 30);
	struct shown *s = show(fx);
	const char *hot = key_in(s->part[1].first, s->part[1].last, 0);
	const char *other = key_in(s->part[1].first, s->part[1].last, 1);

	for (unsigned second = 0; second < HEAT_TEST_SECONDS; second++) {
		puts_of(fx, other, 2);
		puts_of(fx, hot, 12);
		pass_second(fx);
	}
	s = await_parts(fx, 5);
	unsigned at = 0;

	while (s->part[at].last < hash_of(hot))
		at++;
	cr_assert(s->part[at].first == hash_of(hot) && s->part[at].last == hash_of(hot));
	cr_assert_eq(s->part[at].entries, 1);
	for (unsigned second = 0; second < 2 * HEAT_TEST_SECONDS; second++) {
		cr_assert_eq(puts_of(fx, hot, 15), WCU);
		cr_assert_eq(puts_of(fx, other, 9), 9);
		pass_second(fx);
	}
	s = show(fx);
	cr_assert_eq(s->n, 5, "it is never cut again");
	cr_assert_str_eq(s->key[at], hot);
	cr_assert_float_eq(s->part[at].hot[0].share[METER_WRITE], 1, 0.001);
	cr_assert_float_eq(s->part[at].load[METER_WRITE], WCU, 2);
	fixture_free(fx);
}

/* Partitions of an index are cut, too: what held the table's writes up passes then. */
Test(partition_heat, index_cuts)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);
	unsigned tries = 0, passed = 0;
	char body[160];

	create_indexed(fx);
	cr_assert_eq(show(fx)->indexes, 2);
	const char *g[4];

	for (unsigned i = 0; i < 4; i++)
		g[i] = key_in(0, UINT64_MAX / 2, i);
	for (; show(fx)->indexes == 2 && tries < 100; tries++) {
		for (unsigned i = 0; i < 2 * WCU; i++) {
			snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%u'},'g':{'S':'%s'}}}", passed, g[i % 4]);
			passed += run(fx, "PutItem", body).code == ERR_OK;
		}
		pass_second(fx);
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	cr_assert(tries > HEAT_TEST_SECONDS && tries < 40, "%u", tries);
	cr_assert_eq(show(fx)->indexes, 3);
	cr_assert_eq(show(fx)->n, 30, "the table's have nothing to do with it");
	fixture_free(fx);
}

/* The load of a Scan lies on all that it reads. */
Test(partition_heat, scans)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);

	create_provisioned(fx, 3 * RCU, WCU);
	struct shown *s = show(fx);

	cr_assert_eq(s->n, 3);
	for (unsigned i = 0; i < 50; i++) {
		cr_assert_eq(put(fx, key_in(s->part[0].first, s->part[0].last, i)).code, ERR_OK);
		if (i % 8 == 7)
			pass_second(fx);
	}
	for (unsigned second = 0; second < HEAT_TEST_SECONDS; second++) {
		unsigned passed = 0;

		for (unsigned i = 0; i < 2 * RCU + 10; i++)
			passed += run(fx, "Scan", "{'TableName':'tab','Segment':0,'TotalSegments':3}").code == ERR_OK;
		cr_assert(passed == 2 * RCU || second + 1 == HEAT_TEST_SECONDS, "%u in second %u", passed, second);
		pass_second(fx);
	}
	s = await_parts(fx, 4);
	cr_assert(s->part[0].entries >= 10 && s->part[1].entries >= 10, "%llu and %llu", (unsigned long long)s->part[0].entries,
		(unsigned long long)s->part[1].entries);
	fixture_free(fx);
}

/* A burst is not enough; nor is what the table refuses. */
Test(partition_heat, no_cut_without_cause)
{
	struct fixture *fx = open_store(CAPACITY_DECLARED);

	create_provisioned(fx, 30, 1);
	for (unsigned second = 0; second < 100; second++) {
		puts_of(fx, "k", second % 3 == 0 ? 15 : 5);
		pass_second(fx);
	}
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	cr_assert_eq(show(fx)->n, 1);
	for (unsigned second = 0; second < 100; second++) {
		puts_of(fx, "k", 5);
		pass_second(fx);
	}
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	cr_assert_eq(show(fx)->n, 1);
	fixture_free(fx);
}

/* ---- the law ---- */

enum { LAW_STEPS = 6000, LAW_KEYS = 60 };
struct passed {
	uint64_t ms, hash;
	unsigned cost;                   /* units */
};

/* Over any interval, what passes costs at most start + rate * T + the largest operation. */
static void check_law(const struct passed *p, unsigned n, uint64_t first, uint64_t last, uint64_t start, uint64_t rate,
	unsigned largest)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t sum = 0;

		for (unsigned k = i; k < n; k++) {
			if (p[k].hash < first || p[k].hash > last)
				continue;
			sum += p[k].cost;
			cr_assert_leq(sum * 1000, (start + largest) * 1000 + rate * (p[k].ms - p[i].ms), "%u to %u", i, k);
		}
	}
}

/* Random loads on keys of which some are hot, with costs from 1 to 4 units; partitions are cut meanwhile. The ranges of the last
 * partitions lie in those of any before, so what passed them had their limits all the time; but each cut gives its right part a
 * second's worth anew. */
Test(partition_heat, law)
{
	static struct passed p[LAW_STEPS];
	unsigned rnd = seed(), n = 0, refused = 0;
	struct fixture *fx = open_store(CAPACITY_DECLARED);
	bool there[LAW_KEYS] = { false };
	static char body[5000], text[4000];
	uint64_t now = 0;

	memset(text, 'x', sizeof text - 1);
	create_provisioned(fx, 90, 40);
	for (unsigned step = 0; step < LAW_STEPS; step++) {
		unsigned key = rand_r(&rnd) % 2 ? (unsigned)rand_r(&rnd) % 3 : (unsigned)rand_r(&rnd) % LAW_KEYS, units = 1;
		char name[16];

		snprintf(name, sizeof name, "k%u", key);
		if (rand_r(&rnd) % 4 == 0)
			units += (unsigned)rand_r(&rnd) % 4;
		snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'%s'},'n':{'N':'%u'},'t':{'S':'%.*s'}},"
			"'ReturnConsumedCapacity':'TOTAL'}", name, step, (int)(units * 1000 - 100), text);
		struct outcome o = run(fx, "PutItem", body);

		if (o.code == ERR_OK) {
			const char *cost = strstr(o.json, "\"CapacityUnits\":");

			p[n++] = (struct passed){ now, hash_of(name), (unsigned)atoi(cost + 16) };
			there[key] = true;
		} else {
			cr_assert_eq(o.code, ERR_THROUGHPUT_EXCEEDED);
			refused++;
		}
		if (rand_r(&rnd) % 30 == 0) {
			unsigned ms = 1 + (unsigned)rand_r(&rnd) % 900;

			store_clock_advance(fixture_store(fx), ms);
			now += ms;
		}
		if (rand_r(&rnd) % 200 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
	}
	struct shown *s = show(fx);
	unsigned items = 0, counted = 0;

	printf("%u passed, %u refused, %u partitions after %llu s\n", n, refused, s->n, (unsigned long long)now / 1000);
	cr_assert(refused > 100 && n > 500);
	cr_assert_gt(s->n, 4, "it was cut");
	for (unsigned i = 0; i < s->n; i++)
		check_law(p, n, s->part[i].first, s->part[i].last, WCU * (1 + s->n - 4), WCU, 4);
	check_law(p, n, 0, UINT64_MAX, 40 * 300, 40, 4);
	/* And nothing is lost. */
	for (unsigned tries = 0; !s->counted && tries < 2000; tries++) {
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		s = show(fx);
	}
	for (unsigned i = 0; i < LAW_KEYS; i++)
		items += there[i];
	for (unsigned i = 0; i < s->n; i++)
		counted += (unsigned)s->part[i].entries;
	cr_assert_eq(counted, items);
	snprintf(body, sizeof body, "\"Count\":%u,", items);
	store_clock_advance(fixture_store(fx), 10000);
	cr_assert(strstr(run(fx, "Scan", "{'TableName':'tab','Select':'COUNT'}").json, body) != NULL);
	fixture_free(fx);
}
