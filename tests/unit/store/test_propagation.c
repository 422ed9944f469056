/* test_propagation - global indexes that fall behind: when, how far, and that they catch up, each change once and in order.
 *
 * SEED=n repeats a random run, STEPS=n makes it longer. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/catalog.h"
#include "store/engine/failpoint.h"
#include "fixture.h"

#define DEF(n) "{'AttributeName':'" n "','AttributeType':'S'}"
#define KEY(n, t) "{'AttributeName':'" n "','KeyType':'" t "'}"
#define UNITS(n) "'ProvisionedThroughput':{'ReadCapacityUnits':100,'WriteCapacityUnits':" n "}"

static struct fixture *still(uint32_t delay_ms)
{
	return fixture_with(&(struct store_opts){ .still_clock = true, .index_delay_ms = delay_ms });
}

static void create(struct fixture *fx, const char *billing, const char *index_units)
{
	char body[1024];

	snprintf(body, sizeof body, "{'TableName':'tab','KeySchema':[" KEY("pk", "HASH") "],'AttributeDefinitions':[" DEF("pk") ","
		DEF("g") "],%s,'GlobalSecondaryIndexes':[{'IndexName':'byg','KeySchema':[" KEY("g", "HASH") "],"
		"'Projection':{'ProjectionType':'ALL'}%s%s}]}", billing, *index_units != '\0' ? "," : "", index_units);
	ok(fx, "CreateTable", body, NULL);
}

#define ON_DEMAND "'BillingMode':'PAY_PER_REQUEST'"

static enum err put(struct fixture *fx, const char *pk, const char *g)
{
	char body[256];

	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'%s'},'g':{'S':'%s'}}}", pk, g);
	return run(fx, "PutItem", body).code;
}

/* How many items the index has under this key. */
static int found(struct fixture *fx, const char *g)
{
	char body[256];
	int n = -1;

	snprintf(body, sizeof body, "{'TableName':'tab','IndexName':'byg','Select':'COUNT','KeyConditionExpression':'g = :g',"
		"'ExpressionAttributeValues':{':g':{'S':'%s'}}}", g);
	sscanf(run(fx, "Query", body).json, "{\"Count\":%d", &n);
	return n;
}

static void add(void *arg, const struct store_index_state *x)
{
	struct store_index_state *sum = arg;

	sum->backlog += x->backlog;
	sum->carried += x->carried;
	if (x->lag_ms > sum->lag_ms)
		sum->lag_ms = x->lag_ms;
}

static struct store_index_state states(struct fixture *fx)
{
	struct store_index_state sum = { .backlog = 0 };

	store_indexes(fixture_store(fx), add, &sum);
	return sum;
}

static void advance(struct fixture *fx, uint64_t ms)
{
	store_clock_advance(fixture_store(fx), ms);
}

/* ---- delay ---- */

Test(propagation, steady_without_delay)
{
	struct fixture *fx = still(0);

	create(fx, ON_DEMAND, "");
	for (int i = 0; i < 100; i++) {
		char g[16];

		snprintf(g, sizeof g, "g%d", i);
		cr_assert_eq(put(fx, "a", g), ERR_OK);
		cr_assert_eq(found(fx, g), 1, "%s", g);
	}
	cr_assert_eq(states(fx).carried, 0, "nothing waited");
	fixture_free(fx);
}

Test(propagation, delay)
{
	struct fixture *fx = still(200);

	create(fx, ON_DEMAND, "");
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'g':{'S':'x'}},'ReturnConsumedCapacity':'INDEXES'}",
		"{'ConsumedCapacity':{'CapacityUnits':2.0,'GlobalSecondaryIndexes':{'byg':{'CapacityUnits':1.0}},"
		"'Table':{'CapacityUnits':1.0},'TableName':'tab'}}");
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'a'}},'ConsistentRead':true}",
		"{'Item':{'g':{'S':'x'},'pk':{'S':'a'}}}");
	advance(fx, 199);
	cr_assert_eq(found(fx, "x"), 0);
	cr_assert_eq(states(fx).backlog, 1);
	cr_assert_eq(states(fx).lag_ms, 199);
	advance(fx, 1);
	cr_assert_eq(found(fx, "x"), 1);
	cr_assert_eq(states(fx).backlog, 0);
	cr_assert_eq(states(fx).lag_ms, 0);
	cr_assert_eq(states(fx).carried, 1);
	fixture_free(fx);
}

/* What waits keeps its place: a write after the delay was taken away is not made before those that wait. */
Test(propagation, delay_changed)
{
	struct fixture *fx = still(1000);

	create(fx, ON_DEMAND, "");
	put(fx, "a", "x");
	put(fx, "a", "y");
	store_set_index_delay(fixture_store(fx), 2000);
	advance(fx, 1500);
	cr_assert_eq(states(fx).backlog, 2);
	store_set_index_delay(fixture_store(fx), 0);
	put(fx, "a", "z");
	advance(fx, 0);
	cr_assert_eq(found(fx, "x") + found(fx, "y"), 0);
	cr_assert_eq(found(fx, "z"), 1);
	cr_assert_eq(states(fx).backlog, 0);
	fixture_free(fx);
}

/* An item that expires leaves its indexes on the same way. */
Test(propagation, time_to_live)
{
	struct fixture *fx = still(1000);

	create(fx, ON_DEMAND, "");
	ok(fx, "UpdateTimeToLive", "{'TableName':'tab','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}", NULL);
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'g':{'S':'x'},'t':{'N':'1'}}}", NULL);
	put(fx, "b", "x");
	char body[256];

	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'c'},'g':{'S':'x'},'t':{'N':'%lld'}}}",
		(long long)time(NULL) + 60);
	ok(fx, "PutItem", body, NULL);
	advance(fx, 3000);
	cr_assert_eq(found(fx, "x"), 3);
	advance(fx, 60 * 1000);
	while (strstr(run(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'c'}}}").json, "Item") != NULL)
		;
	cr_assert_eq(found(fx, "x"), 3);
	advance(fx, 1000);
	cr_assert_eq(found(fx, "x"), 2);
	fixture_free(fx);
}

/* ---- capacity ---- */

/* The item of every put arrives, at the pace that the index pays for; the oldest first. */
Test(propagation, back_pressure)
{
	struct fixture *fx = still(0);
	unsigned n = 0;
	char pk[16];

	create(fx, UNITS("1000"), UNITS("3"));
	do
		snprintf(pk, sizeof pk, "k%u", n++);
	while (put(fx, pk, "x") == ERR_OK);
	n--;
	cr_assert_eq(n, 3 * 300 + 3 * 5 + 1, "%u", n);
	cr_assert_eq(found(fx, "x"), 900);
	cr_assert_eq(states(fx).backlog, 16);
	cr_assert_eq(put(fx, "k0", "x"), ERR_OK, "changes nothing in the index");
	for (int i = 1; i <= 5; i++) {
		advance(fx, 1000);
		cr_assert_eq(found(fx, "x"), 900 + 3 * i);
	}
	cr_assert_eq(states(fx).lag_ms, 5000);
	cr_assert_eq(put(fx, pk, "x"), ERR_OK, "it has caught up so far");
	advance(fx, 1000);
	cr_assert_eq(found(fx, "x"), 917);
	cr_assert_eq(states(fx).backlog, 0);
	cr_assert_eq(put(fx, "direct", "x"), ERR_OK);
	cr_assert_eq(found(fx, "x"), 918, "at once");
	fixture_free(fx);
}

/* A partition of the index that is too far behind does so too, however much the index could do. */
Test(propagation, back_pressure_of_a_partition)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .still_clock = true, .partition_wcu = 3 });
	struct outcome o;
	unsigned n = 0;
	char body[256];

	create(fx, UNITS("3000"), UNITS("3000"));
	do {
		snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%u'},'g':{'S':'x'}}}", n++);
		o = run(fx, "PutItem", body);
	} while (o.code == ERR_OK);
	n--;
	cr_assert_eq(n, 3 + 3 * 5 + 1, "%u %s", n, o.json);
	cr_assert(strstr(o.json, "\"reason\":\"IndexWriteKeyRangeThroughputExceeded\",\"resource\":"
		"\"arn:aws:dynamodb:ddblocal:000000000000:table/tab/index/byg\"") != NULL, "%s", o.json);
	cr_assert_eq(found(fx, "x"), 3);
	for (int i = 1; i <= 5; i++) {
		advance(fx, 1000);
		cr_assert_eq(found(fx, "x"), 3 + 3 * i);
	}
	cr_assert_eq(run(fx, "PutItem", body).code, ERR_OK);
	fixture_free(fx);
}

/* A partition that is behind holds up what follows in it, and the items of that, and has writes refused; nothing else. */
Test(propagation, a_hot_partition_holds_up_its_own)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .still_clock = true, .partition_wcu = 3 });
	char pk[16], g[16];
	unsigned n = 0;

	create(fx, UNITS("3000"), UNITS("3000"));
	do
		snprintf(pk, sizeof pk, "k%u", n++);
	while (put(fx, pk, "hot") == ERR_OK);
	cr_assert_eq(--n, 19);
	for (unsigned i = 0; i < 50; i++) {
		snprintf(pk, sizeof pk, "c%u", i);
		snprintf(g, sizeof g, "cold%u", i);
		cr_assert_eq(put(fx, pk, g), ERR_OK);
		cr_assert_eq(found(fx, g), 1, "%s", g);
	}
	advance(fx, 0);
	cr_assert_eq(states(fx).backlog, 16);
	cr_assert_eq(states(fx).carried, 0, "changes of cold partitions were never rows");
	cr_assert_eq(put(fx, "k3", "cold3"), ERR_THROUGHPUT_EXCEEDED, "it would leave the hot one");
	advance(fx, 1000);
	cr_assert_eq(found(fx, "hot"), 6);
	cr_assert_eq(put(fx, "k18", "other"), ERR_OK, "the last that came");
	cr_assert_eq(put(fx, "k18", "another"), ERR_OK);
	for (int i = 0; i < 4; i++)
		advance(fx, 1000);
	cr_assert_eq(found(fx, "hot"), 18);
	cr_assert_eq(found(fx, "other") + found(fx, "another"), 0, "its first change waits, so these do");
	cr_assert_eq(states(fx).backlog, 3);
	advance(fx, 1000);
	cr_assert_eq(found(fx, "hot"), 18);
	cr_assert_eq(found(fx, "other"), 0);
	cr_assert_eq(found(fx, "another"), 1);
	cr_assert_eq(states(fx).backlog, 0);
	cr_assert_eq(states(fx).carried, 16 + 2);
	fixture_free(fx);
}

/* An item that a waiting row takes out of the index does not come back before that; nor does it once no row is in line. */
Test(propagation, what_follows_a_hot_partition)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .still_clock = true, .partition_wcu = 3 });
	char pk[16];

	create(fx, UNITS("3000"), UNITS("3000"));
	for (unsigned i = 0; i < 4; i++) {
		snprintf(pk, sizeof pk, "k%u", i);
		cr_assert_eq(put(fx, pk, "hot"), ERR_OK);
	}
	ok(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'k3'}}}", NULL);
	cr_assert_eq(put(fx, "k3", "cold"), ERR_OK);
	advance(fx, 0);
	cr_assert_eq(found(fx, "cold"), 0);
	cr_assert_eq(states(fx).backlog, 3);

	store_set_index_delay(fixture_store(fx), 1000);
	cr_assert_eq(put(fx, "late", "late"), ERR_OK);
	cr_assert_eq(states(fx).backlog, 4);
	store_set_index_delay(fixture_store(fx), 0);
	advance(fx, 0);
	cr_assert_eq(found(fx, "late"), 1);
	cr_assert_eq(put(fx, "early", "early"), ERR_OK);
	advance(fx, 0);
	cr_assert_eq(states(fx).carried, 1, "of late alone");

	advance(fx, 1000);
	cr_assert_eq(found(fx, "hot"), 3);
	cr_assert_eq(found(fx, "cold"), 1);
	cr_assert_eq(states(fx).backlog, 0);
	fixture_free(fx);
}

/* Put items into the index, all under one key or each under its own, and not so fast that they are refused: none is there before
 * those that were put earlier. */
static void put_in_order(struct fixture *fx, bool one_key)
{
	char pk[16], g[16];

	for (unsigned n = 0; n < 20 || states(fx).carried < 8;) {
		unsigned have = 0, end = 0, i;

		snprintf(pk, sizeof pk, "k%u", n);
		snprintf(g, sizeof g, "g%u", one_key ? 0 : n);
		n += put(fx, pk, g) == ERR_OK;
		usleep(20 * 1000);
		for (const char *at = run(fx, "Scan", "{'TableName':'tab','IndexName':'byg'}").json; (at = strstr(at, "\"k")) != NULL; have++) {
			i = (unsigned)strtoul(at += 2, NULL, 10);
			end = i >= end ? i + 1 : end;
		}
		cr_assert_eq(have, end, "of %u, %u are there, one is the %uth", n, have, end);
	}
}

/* What has come back of the throughput is for those that wait. */
Test(propagation, no_overtaking_in_a_partition)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .partition_wcu = 3 });

	create(fx, UNITS("3000"), UNITS("3000"));
	put_in_order(fx, true);
	fixture_free(fx);
}

Test(propagation, no_overtaking_in_an_index)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 0 });

	create(fx, UNITS("1000"), UNITS("10000")); /* of ten partitions, which stay */
	ok(fx, "UpdateTable", "{'TableName':'tab','GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'byg'," UNITS("3") "}}]}", NULL);
	for (unsigned i = 0; states(fx).backlog == 0; i++)
		cr_assert_eq(put(fx, "spends", i % 2 == 0 ? "x" : "y"), ERR_OK);
	put_in_order(fx, false);
	fixture_free(fx);
}

/* What waits for its time alone is not behind. */
Test(propagation, a_delay_does_not_refuse)
{
	struct fixture *fx = still(0);
	char pk[16];
	unsigned n = 0;

	create(fx, UNITS("1000"), UNITS("2"));
	for (; n < 600; n++) {
		snprintf(pk, sizeof pk, "k%u", n);
		cr_assert_eq(put(fx, pk, "x"), ERR_OK);
	}
	store_set_index_delay(fixture_store(fx), 30 * 1000);
	for (int second = 0; second < 100; second++) {
		for (int i = 0; i < 2; i++, n++) {
			snprintf(pk, sizeof pk, "k%u", n);
			cr_assert_eq(put(fx, pk, "x"), ERR_OK, "second %d", second);
		}
		advance(fx, 1000);
	}
	cr_assert_eq(states(fx).backlog, 60 - 2);
	fixture_free(fx);
}

/* More capacity, or none to be declared, lets what waits go; and so does not heeding it. */
Test(propagation, more_capacity)
{
	struct fixture *fx = still(0);
	char pk[16];

	create(fx, UNITS("1000"), UNITS("1"));
	for (unsigned i = 0; i < 305; i++) {
		snprintf(pk, sizeof pk, "k%u", i);
		cr_assert_eq(put(fx, pk, "x"), ERR_OK);
	}
	cr_assert_eq(states(fx).backlog, 5);
	ok(fx, "UpdateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST'}", NULL);
	advance(fx, 0);
	cr_assert_eq(found(fx, "x"), 305);
	cr_assert_eq(states(fx).backlog, 0);
	fixture_free(fx);
}

/* ---- undoing ---- */

Test(propagation, what_is_undone_leaves_no_row)
{
	struct fixture *fx = still(1000);

	create(fx, ON_DEMAND, "");
	put(fx, "there", "x");
	fails(fx, "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'tab','Item':{'pk':{'S':'a'},'g':{'S':'x'}}}},"
		"{'ConditionCheck':{'TableName':'tab','Key':{'pk':{'S':'b'}},'ConditionExpression':'attribute_exists(pk)'}}]}",
		ERR_TRANSACTION_CANCELED, NULL);
	cr_assert_eq(states(fx).backlog, 1);
	failpoint_arm(FAILPOINT_LOG_WRITE, &(struct failpoint_plan){ .error = EIO, .times = 1 });
	cr_assert_neq(put(fx, "c", "x"), ERR_OK);
	failpoint_disarm(FAILPOINT_LOG_WRITE);
	cr_assert_eq(states(fx).backlog, 1);
	put(fx, "d", "x");
	advance(fx, 1000);
	cr_assert_eq(found(fx, "x"), 2);
	cr_assert_eq(states(fx).backlog, 0);
	fixture_free(fx);
}

Test(propagation, goes_with_table_and_index)
{
	struct fixture *fx = still(1000);

	create(fx, ON_DEMAND, "");
	put(fx, "a", "x");
	ok(fx, "DeleteTable", "{'TableName':'tab'}", NULL);
	create(fx, ON_DEMAND, "");
	cr_assert_eq(states(fx).backlog, 0);
	put(fx, "a", "y");
	ok(fx, "UpdateTable", "{'TableName':'tab','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'byg'}}]}", NULL);
	cr_assert_eq(states(fx).backlog, 0);
	put(fx, "b", "y");
	advance(fx, 5000);
	ok(fx, "UpdateTable", "{'TableName':'tab','AttributeDefinitions':[" DEF("pk") "," DEF("g") "],'GlobalSecondaryIndexUpdates':["
		"{'Create':{'IndexName':'byg','KeySchema':[" KEY("g", "HASH") "],'Projection':{'ProjectionType':'ALL'}}}]}", NULL);
	while (run(fx, "Scan", "{'TableName':'tab','IndexName':'byg'}").code != ERR_OK)
		;
	cr_assert_eq(found(fx, "y"), 2);
	fixture_free(fx);
}

/* Put other bytes into all rows that wait. */
static void damage_rows(const char *dir)
{
	uint8_t from[CATALOG_KEY_BYTES], to[CATALOG_KEY_BYTES];
	struct engine *e;
	struct view *v;
	struct cursor *c;
	struct slice key, value;
	uint64_t lsn;

	cr_assert_eq(engine_open(&(struct engine_opts){ .dir = dir }, &e, NULL), ERR_OK);
	cr_assert_eq(view_open(e, &v, NULL), ERR_OK);
	cr_assert_eq(cursor_open(v, catalog_key('g', 0, from), catalog_key('h', 0, to), false, &c, NULL), ERR_OK);
	engine_begin(e);
	while (cursor_next(c, &key, &value, NULL) == ERR_OK && slice_present(key))
		engine_put(e, key, SLICE_LIT("\x94\1\2\3\4"));
	cursor_close(&c);
	view_close(&v);
	cr_assert_eq(engine_commit(e, &lsn, NULL), ERR_OK);
	cr_assert_eq(engine_flush(e, NULL), ERR_OK);
	engine_publish(e);
	engine_close(&e);
}

Test(propagation, rows_that_cannot_be_read)
{
	char dir[] = "/tmp/dynax-propagation-XXXXXX", command[128];
	struct store_opts opts = { .index_delay_ms = 1000, .still_clock = true, .engine.dir = mkdtemp(dir) };
	struct fixture *fx = fixture_with(&opts);
	struct store *s = NULL;
	struct arena a;
	struct fault f;

	create(fx, ON_DEMAND, "");
	put(fx, "a", "x");
	fixture_free(fx);
	damage_rows(dir);
	arena_init(&a, 0);
	fault_init(&f, &a);
	cr_assert_eq(store_open(&opts, &s, &f), ERR_CORRUPT);
	cr_assert_str_eq(f.text, "A change that waits for its global index is damaged, or not of this version");
	arena_release(&a);
	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

/* ---- a model ---- */

enum { PKS = 12, VALUES = 4, INDEXES = 3, STEPS = 1500, VERSIONS = 4 * STEPS };

/* An item: attributes that are absent, or one letter, by number; -1 = absent. */
struct model_item {
	bool exists;
	int a, b, v;
};

struct model_run {
	struct fixture *fx;
	unsigned seed;
	uint64_t state;
	int step;
	struct model_item item[PKS];
	/* What each index would have of each item after each change, told by a hash; 0 = nothing. */
	uint64_t version[INDEXES][VERSIONS][PKS];
	bool by_item;                    /* items may be late by different times */
	unsigned versions, seen[INDEXES][PKS];
	unsigned refused, late;
	struct { uint64_t n, bytes; } size[INDEXES];
};

#define DEFINITIONS "'AttributeDefinitions':[" DEF("pk") "," DEF("a") "," DEF("b") "]"
#define INDEX_A(units) "{'IndexName':'by-a','KeySchema':[" KEY("a", "HASH") "],'Projection':{'ProjectionType':'ALL'}," units "}"
#define INDEX_B(units) "{'IndexName':'by-b','KeySchema':[" KEY("b", "HASH") "]," units "," \
	"'Projection':{'ProjectionType':'KEYS_ONLY'}}"
#define INDEX_AB(units) "{'IndexName':'by-ab','KeySchema':[" KEY("a", "HASH") "," KEY("b", "RANGE") "]," units "," \
	"'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['v']}}"
#define MUCH "'ProvisionedThroughput':{'ReadCapacityUnits':1000000,'WriteCapacityUnits':40}"

/* Of little throughput; or of much, in many partitions. */
static const char *const index_name[INDEXES] = { "by-a", "by-b", "by-ab" };
static const char *const index_json[2][INDEXES] = { { INDEX_A(UNITS("1")), INDEX_B(UNITS("2")), INDEX_AB(UNITS("2")) },
	{ INDEX_A(MUCH), INDEX_B(MUCH), INDEX_AB(MUCH) } };

static unsigned rnd(struct model_run *r, unsigned n)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(r->state >> 33) % n;
}

static void put_attr(char *text, const char *name, int letter, unsigned *n, uint64_t *bytes)
{
	if (letter < 0)
		return;
	sprintf(text + strlen(text), "%s\"%s\":{\"S\":\"%c\"}", (*n)++ != 0 ? "," : "", name, 'a' + letter);
	*bytes += strlen(name) + 1;
}

/* An item as an index has it, or the table (index < 0): names in order. Its size, or 0 if it is not there. */
static uint64_t item_text(const struct model_item *x, int pk, int index, char text[256])
{
	uint64_t bytes = 0;
	unsigned n = 0;
	bool a = x->a >= 0, b = x->b >= 0;

	text[0] = '\0';
	if (!x->exists || (index == 0 && !a) || (index == 1 && !b) || (index == 2 && !(a && b)))
		return 0;
	strcpy(text, "{");
	put_attr(text, "a", index != 1 ? x->a : -1, &n, &bytes);
	put_attr(text, "b", x->b, &n, &bytes);
	put_attr(text, "pk", pk, &n, &bytes);
	put_attr(text, "v", index != 1 ? x->v : -1, &n, &bytes);
	strcat(text, "}");
	return bytes;
}

static uint64_t text_hash(const char *text, size_t n)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)text[i]) * 1099511628211u;
	return h;
}

static void note_version(struct model_run *r)
{
	cr_assert_lt(r->versions, VERSIONS);
	for (int k = 0; k < INDEXES; k++) {
		r->size[k].n = r->size[k].bytes = 0;
		for (int pk = 0; pk < PKS; pk++) {
			char text[256];
			uint64_t bytes = item_text(&r->item[pk], pk, k, text);

			r->version[k][r->versions][pk] = bytes != 0 ? text_hash(text, strlen(text)) : 0;
			r->size[k].n += bytes != 0;
			r->size[k].bytes += bytes;
		}
	}
	r->versions++;
}

static void model_set(struct model_run *r, int pk, struct model_item x)
{
	r->item[pk] = x;
	note_version(r);
}

/* The same of what a Scan of the index gives: an item that it has twice is like none. False if it is being built. */
static bool index_items(struct model_run *r, int k, uint64_t out[PKS])
{
	char body[128];

	snprintf(body, sizeof body, "{'TableName':'tab','IndexName':'%s'}", index_name[k]);
	struct outcome o = run(r->fx, "Scan", body);

	if (o.code == ERR_VALIDATION && strstr(o.text, "backfilling") != NULL)
		return false;
	cr_assert_eq(o.code, ERR_OK, "SEED=%u step %d: %s", r->seed, r->step, o.json);
	const char *at = strstr(o.json, "\"Items\":[") + 9;

	memset(out, 0, PKS * sizeof *out);
	while (*at != ']') {
		const char *pk = strstr(at, "\"pk\":{\"S\":\"");
		size_t n = 0;
		int depth = 0;

		do
			depth += (at[n] == '{') - (at[n] == '}');
		while (n++, depth > 0);
		out[pk[11] - 'a'] += text_hash(at, n);
		at += n + (at[n] == ',');
	}
	return true;
}

/* Items from..to of an index are at one version, none before the one that they were at. */
static void check_items(struct model_run *r, int k, const uint64_t *have, int from, int to)
{
	size_t bytes = (size_t)(to - from) * sizeof *have;
	unsigned i = r->seen[k][from];

	while (i < r->versions && memcmp(&r->version[k][i][from], &have[from], bytes) != 0)
		i++;
	cr_assert_lt(i, r->versions, "SEED=%u step %d: %s, items %d to %d: at no version after %u", r->seed, r->step, index_name[k],
		from, to, r->seen[k][from]);
	r->seen[k][from] = i;
	r->late += memcmp(&r->version[k][r->versions - 1][from], &have[from], bytes) != 0;
}

/* Every change once, in order: of all items, or of each. */
static void check_indexes(struct model_run *r)
{
	for (int k = 0; k < INDEXES; k++) {
		uint64_t have[PKS];
		int step = r->by_item ? 1 : PKS;

		for (int pk = 0; index_items(r, k, have) && pk < PKS; pk += step)
			check_items(r, k, have, pk, pk + step);
	}
}

static struct model_item random_item(struct model_run *r)
{
	return (struct model_item){ rnd(r, 5) != 0, (int)rnd(r, VALUES + 1) - 1, (int)rnd(r, VALUES + 1) - 1, (int)rnd(r, VALUES) };
}

/* A request of a batch or transaction for an item to become x. */
static void request_text(const struct model_item *x, int pk, bool transaction, char out[512])
{
	const char *of = transaction ? "\"TableName\":\"tab\"," : "", *request = transaction ? "" : "Request";
	char text[256];

	if (item_text(x, pk, -1, text) != 0)
		snprintf(out, 512, "{\"Put%s\":{%s\"Item\":%s}}", request, of, text);
	else
		snprintf(out, 512, "{\"Delete%s\":{%s\"Key\":{\"pk\":{\"S\":\"%c\"}}}}", request, of, 'a' + pk);
}

static void judge(struct model_run *r, struct outcome o, const struct model_item *x, int pk, unsigned n)
{
	bool refused = o.code == ERR_THROUGHPUT_EXCEEDED || (o.code == ERR_TRANSACTION_CANCELED
		&& strstr(o.json, "ProvisionedThroughputExceeded") != NULL);

	cr_assert(o.code == ERR_OK || refused || o.code == ERR_IO, "SEED=%u step %d: %s", r->seed, r->step, o.json);
	r->refused += refused;
	for (unsigned i = 0; i < n && o.code == ERR_OK; i++)
		model_set(r, (pk + (int)i) % PKS, x[i]);
}

/* One item, or two as a transaction. */
static void do_write(struct model_run *r)
{
	int pk = (int)rnd(r, PKS);
	struct model_item x[2] = { random_item(r), random_item(r) };
	char one[512], two[512], body[1200];

	if (rnd(r, 3) != 0) {
		request_text(&x[0], pk, false, one);
		snprintf(body, sizeof body, "{\"RequestItems\":{\"tab\":[%s]}}", one);
		judge(r, run(r->fx, "BatchWriteItem", body), x, pk, 1);
		return;
	}
	request_text(&x[0], pk, true, one);
	request_text(&x[1], (pk + 1) % PKS, true, two);
	snprintf(body, sizeof body, "{\"TransactItems\":[%s,%s]}", one, two);
	judge(r, run(r->fx, "TransactWriteItems", body), x, pk, 2);
}

/* A batch whose flush fails, the writes' own or the propagation's. */
static void do_fail(struct model_run *r)
{
	failpoint_arm(FAILPOINT_LOG_WRITE, &(struct failpoint_plan){ .error = EIO, .times = 1 });
	if (rnd(r, 2) != 0)
		do_write(r);
	else
		advance(r->fx, 1000);
	failpoint_disarm(FAILPOINT_LOG_WRITE);
}

/* Delete an index, and add it again: it is filled beside the writes. */
static void do_rebuild(struct model_run *r)
{
	int k = (int)rnd(r, INDEXES);
	char body[1024];

	snprintf(body, sizeof body, "{'TableName':'tab','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'%s'}}]}",
		index_name[k]);
	if (run(r->fx, "UpdateTable", body).code != ERR_OK)
		return;
	snprintf(body, sizeof body, "{'TableName':'tab'," DEFINITIONS ",'GlobalSecondaryIndexUpdates':[{'Create':%s}]}",
		index_json[r->by_item][k]);
	struct outcome o;

	while ((o = run(r->fx, "UpdateTable", body)).code == ERR_LIMIT_EXCEEDED)
		; /* another one is being built */
	cr_assert_eq(o.code, ERR_OK, "SEED=%u step %d: %s", r->seed, r->step, o.json);
	for (int pk = 0; pk < PKS; pk++)
		r->seen[k][pk] = r->versions - 1;
}

static void step(struct model_run *r)
{
	static const uint32_t delays[] = { 0, 0, 20, 1500 };
	unsigned dice = rnd(r, 100);

	if (dice < 70)
		do_write(r);
	else if (dice < 80)
		advance(r->fx, rnd(r, 2) != 0 ? rnd(r, 30) : 500 * rnd(r, 5));
	else if (dice < 83)
		store_set_index_delay(fixture_store(r->fx), delays[rnd(r, 4)]);
	else if (dice < 85)
		do_fail(r);
	else if (dice < 86)
		do_rebuild(r);
	else
		check_indexes(r);
}

static void create_model_table(struct model_run *r)
{
	const char *const *x = index_json[r->by_item];
	char body[2048];

	snprintf(body, sizeof body, "{'TableName':'tab','KeySchema':[" KEY("pk", "HASH") "]," DEFINITIONS "," UNITS("1000") ","
		"'GlobalSecondaryIndexes':[%s,%s,%s]}", x[0], x[1], x[2]);
	ok(r->fx, "CreateTable", body, NULL);
}

/* Nothing waits any more: each index is the table's projection, and counted right. */
static void check_end(struct model_run *r)
{
	store_set_index_delay(fixture_store(r->fx), 0);
	for (int i = 0; i < 1000 && states(r->fx).backlog != 0; i++)
		advance(r->fx, 1000);
	cr_assert_eq(states(r->fx).backlog, 0);
	for (int k = 0; k < INDEXES; k++) {
		char want[256];
		uint64_t have[PKS];

		while (!index_items(r, k, have))
			;
		cr_assert_eq(memcmp(have, r->version[k][r->versions - 1], sizeof have), 0, "SEED=%u: %s", r->seed, index_name[k]);
		snprintf(want, sizeof want, "\"IndexName\":\"%s\",\"IndexSizeBytes\":%llu,\"IndexStatus\":\"ACTIVE\",\"ItemCount\":%llu,",
			index_name[k], (unsigned long long)r->size[k].bytes, (unsigned long long)r->size[k].n);
		struct outcome o = run(r->fx, "DescribeTable", "{'TableName':'tab'}");

		cr_assert(strstr(o.json, want) != NULL, "SEED=%u: no %s in %s", r->seed, want, o.json);
	}
}

static void count_part(void *arg, const struct store_partition *p)
{
	unsigned *of_indexes = arg;

	*of_indexes += slice_present(p->index);
}

/* Writes, with the clock moved, delays set and taken away, failing disks, restarts, indexes built and cut in two between. */
static void random_run(bool by_item, struct store_opts opts)
{
	char dir[] = "/tmp/dynax-propagation-XXXXXX", command[128];
	struct model_run *r = calloc(1, sizeof *r);
	const char *seed = getenv("SEED"), *steps = getenv("STEPS");
	int all = steps != NULL ? atoi(steps) : STEPS;

	cr_assert_not_null(mkdtemp(dir));
	r->seed = seed != NULL ? (unsigned)strtoul(seed, NULL, 0) : (unsigned)time(NULL);
	r->state = r->seed;
	fprintf(stderr, "SEED=%u\n", r->seed);
	r->by_item = by_item;
	opts.still_clock = true;
	opts.partition_bytes = 20;
	opts.keeper_ms = 3;
	opts.engine = (struct engine_opts){ .dir = dir, .durability = DURABILITY_NONE };
	r->fx = fixture_with(&opts);
	create_model_table(r);
	note_version(r);
	for (; r->step < all; r->step++) {
		if (rnd(r, 300) == 0) {
			fixture_reopen(r->fx);
			check_indexes(r);
		}
		step(r);
	}
	unsigned parts = 0;

	cr_assert_eq(store_partitions(fixture_store(r->fx), SLICE_LIT("tab"), count_part, &parts, NULL), ERR_OK);
	cr_assert_gt(parts, INDEXES);
	cr_assert_gt(r->late, 0);
	check_end(r);
	fixture_reopen(r->fx);
	cr_assert_eq(states(r->fx).backlog, 0);
	fprintf(stderr, "refused %u, late %u, changes %u, partitions %u\n", r->refused, r->late, r->versions, parts);
	fixture_free(r->fx);
	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
	free(r);
}

Test(propagation, random_writes)
{
	random_run(false, (struct store_opts){ .keeper_ms = 0 });
}

/* It is partitions of the indexes that lack throughput: each item by itself goes from version to version. */
Test(propagation, random_writes_and_hot_partitions)
{
	random_run(true, (struct store_opts){ .partition_wcu = 2, .partition_rcu = 1 << 20 });
}
