/* streams_support - see streams_support.h. */
#include "tests/unit/store/streams_support.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "store/background.h"
#include "store/partition.h"

bool text_of(const char *json, const char *name, unsigned nth, char out[TEXT_MAX])
{
	char mark[64];
	const char *at = json;

	snprintf(mark, sizeof mark, "\"%s\":\"", name);
	for (unsigned i = 0; (at = strstr(at, mark)) != NULL; i++) {
		at += strlen(mark);
		if (i < nth)
			continue;
		size_t n = strcspn(at, "\"");

		cr_assert_lt(n, TEXT_MAX);
		memcpy(out, at, n);
		out[n] = '\0';
		return true;
	}
	return false;
}

unsigned count_of(const char *json, const char *what)
{
	unsigned n = 0;

	for (const char *at = json; (at = strstr(at, what)) != NULL; at += strlen(what))
		n++;
	return n;
}

const char *fmt(const char *format, ...)
{
	static char text[4 * TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return text;
}

void create(struct fixture *fx, const char *table, const char *view)
{
	ok(fx, "CreateTable", fmt("{'TableName':'%s','KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"
		"{'AttributeName':'c','KeyType':'RANGE'}],'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"
		"{'AttributeName':'c','AttributeType':'N'}],'BillingMode':'PAY_PER_REQUEST','StreamSpecification':%s%s%s}", table,
		view != NULL ? "{'StreamEnabled':true,'StreamViewType':'" : "{'StreamEnabled':false", view != NULL ? view : "",
		view != NULL ? "'}" : "}"), NULL);
}

/* Every part counted? Only then may there be another cut. */
static bool counted(struct fixture *fx, const char *table)
{
	const struct table *t = store_table(fixture_reader(fx), slice_str(table));
	bool all = true;

	for (unsigned i = 0; i < t->parts.n; i++)
		all = all && !t->parts.part[i].uncounted;
	store_reader_quiesce(fixture_reader(fx));
	return all;
}

void cut_at(struct fixture *fx, const char *table, uint64_t at)
{
	uint32_t id = store_table(fixture_reader(fx), slice_str(table))->id;
	struct own_write o;
	struct arena a;

	store_reader_quiesce(fixture_reader(fx));
	for (unsigned tries = 0; !counted(fx, table); tries++) {
		cr_assert_lt(tries, 5000, "never counted");
		usleep(1000);
	}
	arena_init(&a, 0);
	own_write_init(&o, fixture_store(fx));
	cr_assert_eq(partition_cut(&o, &a, &(struct partition_cut){ id, id, at, CUT_SIZE }), ERR_OK);
	own_write_release(&o);
	arena_release(&a);
}

void follow(struct followed *s, struct fixture *fx, const char *table)
{
	s->fx = fx;
	struct outcome o = run(fx, "DescribeTable", fmt("{'TableName':'%s'}", table));

	cr_assert(text_of(o.json, "LatestStreamArn", 0, s->arn), "%s", o.json);
	o = run(fx, "DescribeStream", fmt("{'StreamArn':'%s'}", s->arn));
	cr_assert(text_of(o.json, "ShardId", 0, s->shard), "%s", o.json);
	cr_assert_geq(strlen(s->shard), 28);
	cr_assert_leq(strlen(s->shard), 65);
}

void iterator_of(struct followed *s, const char *type, const char *number, char out[TEXT_MAX])
{
	struct outcome o = run(s->fx, "GetShardIterator", number == NULL
		? fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'%s'}", s->arn, s->shard, type)
		: fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'%s','SequenceNumber':'%s'}", s->arn, s->shard, type, number));

	cr_assert_eq(o.code, ERR_OK, "%s", o.json);
	cr_assert(text_of(o.json, "ShardIterator", 0, out));
}

struct outcome read_on(struct followed *s, char it[TEXT_MAX], unsigned limit)
{
	struct outcome o = run(s->fx, "GetRecords", fmt("{'ShardIterator':'%s','Limit':%u}", it, limit));

	if (o.code == ERR_OK && !text_of(o.json, "NextShardIterator", 0, it))
		it[0] = '\0';
	return o;
}

struct outcome read_all(struct followed *s)
{
	char it[TEXT_MAX];

	iterator_of(s, "TRIM_HORIZON", NULL, it);
	return read_on(s, it, 1000);
}

void put(struct fixture *fx, const char *table, int c, const char *more)
{
	ok(fx, "PutItem", fmt("{'TableName':'%s','Item':{'p':{'S':'a'},'c':{'N':'%d'}%s}}", table, c, more), NULL);
}
