/* test_ttl - items that expire: which, when, and what stays. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/ttl.h"
#include "tests/unit/store/fixture.h"

enum { KEEPER_MS = 10, PATIENCE_MS = 10000 };

static const char *fmt(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *fmt(const char *format, ...)
{
	static char text[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return text;
}

static void create(struct fixture *fx)
{
	ok(fx, "CreateTable", "{'TableName':'tbl','KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"
		"'BillingMode':'PAY_PER_REQUEST','GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':[{'AttributeName':'g',"
		"'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}],"
		"'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'OLD_IMAGE'}}", NULL);
}

static void set_ttl(struct fixture *fx, bool enabled)
{
	ok(fx, "UpdateTimeToLive", fmt("{'TableName':'tbl','TimeToLiveSpecification':{'AttributeName':'exp','Enabled':%s}}",
		enabled ? "true" : "false"), NULL);
}

static void put(struct fixture *fx, const char *p, const char *exp)
{
	ok(fx, "PutItem", fmt("{'TableName':'tbl','Item':{'p':{'S':'%s'},'g':{'S':'g'},'exp':%s}}", p, exp), NULL);
}

static void put_at(struct fixture *fx, const char *p, long seconds_from_now)
{
	char exp[64];

	snprintf(exp, sizeof exp, "{'N':'%ld'}", (long)time(NULL) + seconds_from_now);
	put(fx, p, exp);
}

static bool there(struct fixture *fx, const char *p)
{
	struct outcome o = run(fx, "GetItem", fmt("{'TableName':'tbl','Key':{'p':{'S':'%s'}}}", p));

	cr_assert_eq(o.code, ERR_OK, "%s", o.json);
	return strcmp(o.json, "{}") != 0;
}

static void await_gone(struct fixture *fx, const char *p)
{
	for (int ms = 0; there(fx, p); ms += KEEPER_MS) {
		cr_assert_lt(ms, PATIENCE_MS, "%s has not been deleted", p);
		usleep(KEEPER_MS * 1000);
	}
}

Test(ttl, seconds_of_items)
{
	static const struct { const char *number; bool expires; uint64_t second; } t[] = {
		{ "1733003189", true, 1733003189 }, { "1733003189.9", true, 1733003189 }, { "17330031e1", true, 173300310 },
		{ "0", true, 0 }, { "0.5", true, 0 }, { "-1", false, 0 }, { "999999999999999999", true, 999999999999999999 },
		{ "1000000000000000000", false, 0 }, { "1e125", false, 0 }, { "1e-130", true, 0 },
	};
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct number n;
		uint64_t second = 0;

		cr_assert_eq(number_parse(&n, slice_str(t[i].number)), NUMBER_OK);
		buf_clear(&b);
		mp_put_map(&b, 1);
		mp_put_str(&b, SLICE_LIT("exp"));
		value_put_number(&b, number_slice(&n));
		cr_assert_eq(ttl_second(buf_slice(&b), SLICE_LIT("exp"), &second), t[i].expires, "%s", t[i].number);
		if (t[i].expires)
			cr_assert_eq(second, t[i].second, "%s", t[i].number);
		cr_assert_not(ttl_second(buf_slice(&b), SLICE_LIT("other"), &second));
	}
	buf_release(&b);
}

Test(ttl, what_has_expired_goes_and_the_rest_stays)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = KEEPER_MS });

	create(fx);
	put_at(fx, "before", -60);
	put_at(fx, "before-later", 3600);
	set_ttl(fx, true);
	put_at(fx, "past", -60);
	put_at(fx, "later", 3600);
	put_at(fx, "moved", 3600);
	put_at(fx, "ancient", -6L * 365 * 86400);
	put(fx, "text", "{'S':'1000000000'}");
	put(fx, "never", "{'N':'-5'}");
	await_gone(fx, "past");
	await_gone(fx, "before");
	put_at(fx, "moved", 100 * 3600);
	cr_assert(there(fx, "later") && there(fx, "before-later"));
	store_clock_advance(fixture_store(fx), 3700 * 1000);
	await_gone(fx, "later");
	await_gone(fx, "before-later");
	cr_assert(there(fx, "moved") && there(fx, "ancient") && there(fx, "text") && there(fx, "never"));
	/* The index and the counts have followed. */
	ok(fx, "Query", "{'TableName':'tbl','IndexName':'gsi','KeyConditionExpression':'g = :g','Select':'COUNT',"
		"'ExpressionAttributeValues':{':g':{'S':'g'}}}", "{'Count':4,'ScannedCount':4}");
	cr_assert_not_null(strstr(run(fx, "DescribeTable", "{'TableName':'tbl'}").json, "\"ItemCount\":4"));
	fixture_free(fx);
}

Test(ttl, deletions_are_marked_in_the_stream)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = KEEPER_MS });
	char arn[256], shard[64], it[2048];
	const char *at;

	create(fx);
	set_ttl(fx, true);
	put_at(fx, "user", 3600);
	ok(fx, "DeleteItem", "{'TableName':'tbl','Key':{'p':{'S':'user'}}}", NULL);
	put_at(fx, "expired", -60);
	await_gone(fx, "expired");
	at = strstr(run(fx, "DescribeTable", "{'TableName':'tbl'}").json, "\"LatestStreamArn\":\"");
	cr_assert_eq(sscanf(at, "\"LatestStreamArn\":\"%255[^\"]", arn), 1);
	at = strstr(run(fx, "DescribeStream", fmt("{'StreamArn':'%s'}", arn)).json, "\"ShardId\":\"");
	cr_assert_eq(sscanf(at, "\"ShardId\":\"%63[^\"]", shard), 1);
	at = strstr(run(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}",
		arn, shard)).json, "\"ShardIterator\":\"");
	cr_assert_eq(sscanf(at, "\"ShardIterator\":\"%2047[^\"]", it), 1);
	const char *records = run(fx, "GetRecords", fmt("{'ShardIterator':'%s'}", it)).json;
	const char *mark = strstr(records, "\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\",\"Type\":\"Service\"}");

	cr_assert_not_null(mark, "%s", records);
	cr_assert_null(strstr(mark + 2, "userIdentity"));
	const char *expired = strstr(records, "\"OldImage\":{\"exp\"");

	cr_assert_not_null(expired);
	cr_assert_lt(strstr(records, "\"S\":\"user\""), mark);
	fixture_free(fx);
}

Test(ttl, disabling_ends_it_and_enabling_begins_anew)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = KEEPER_MS });

	create(fx);
	set_ttl(fx, true);
	put_at(fx, "one", 1000);
	set_ttl(fx, false);
	put_at(fx, "two", 1000);
	store_clock_advance(fixture_store(fx), 2000 * 1000);
	usleep(5 * KEEPER_MS * 1000);
	cr_assert(there(fx, "one") && there(fx, "two"));
	set_ttl(fx, true);
	await_gone(fx, "one");
	await_gone(fx, "two");
	fixture_free(fx);
}

/* More than a page of each kind, and a restart in between. */
Test(ttl, many_items_over_a_restart)
{
	char dir[] = "/tmp/dynax-ttl-XXXXXX", name[16];
	enum { ITEMS = 700 };

	cr_assert_not_null(mkdtemp(dir));
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = KEEPER_MS, .engine.dir = dir });

	create(fx);
	for (int i = 0; i < ITEMS; i++) {
		snprintf(name, sizeof name, "i%d", i);
		put_at(fx, name, i % 2 == 0 ? 1000 + i : 100000);
	}
	set_ttl(fx, true);
	fixture_reopen(fx);
	store_clock_advance(fixture_store(fx), 2000 * 1000);
	for (int i = 0; i < ITEMS; i += 2) {
		snprintf(name, sizeof name, "i%d", i);
		await_gone(fx, name);
	}
	ok(fx, "Scan", "{'TableName':'tbl','Select':'COUNT'}", fmt("{'Count':%d,'ScannedCount':%d}", ITEMS / 2, ITEMS / 2));
	fixture_free(fx);
	cr_assert_eq(system(fmt("rm -rf %s", dir)), 0);
}
