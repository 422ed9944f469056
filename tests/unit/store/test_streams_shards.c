/* test_streams_shards - shards follow partitions: lineage, ends, ageing, and a consumer that walks it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/streams.h"
#include "tests/unit/store/streams_support.h"

#define HALF (UINT64_C(1) << 63)

/* A shard in the JSON of DescribeStream. */
struct told {
	char id[SHARD_ID_TEXT], parent[SHARD_ID_TEXT];   /* parent: empty = none */
	char start[SEQUENCE_TEXT], end[SEQUENCE_TEXT];   /* end: empty = open */
};

/* `"name":"value` somewhere in json before `limit`; empty if it is not there. */
static void find_text(const char *json, const char *limit, const char *name, char *out, size_t size)
{
	char text[TEXT_MAX], mark[64];

	snprintf(mark, sizeof mark, "\"%s\":\"", name);
	const char *at = strstr(json, mark);

	out[0] = '\0';
	if (at == NULL || at >= limit)
		return;
	text_of(at, name, 0, text);
	cr_assert_lt(strlen(text), size);
	strcpy(out, text);
}

/* The shards in an answer; returns how many. */
static unsigned parse_shards(const char *json, struct told *s, unsigned max)
{
	unsigned n = 0;

	for (const char *at = strstr(json, "\"Shards\":["), *end; (end = strstr(at, "\"ShardId\":\"")) != NULL; at = end + 1) {
		cr_assert_lt(n, max);
		find_text(end, end + 1, "ShardId", s[n].id, sizeof s[n].id);
		find_text(at, end, "ParentShardId", s[n].parent, sizeof s[n].parent);
		find_text(at, end, "StartingSequenceNumber", s[n].start, sizeof s[n].start);
		find_text(at, end, "EndingSequenceNumber", s[n].end, sizeof s[n].end);
		n++;
	}
	return n;
}

/* All shards that there are, page by page. */
static unsigned describe(struct followed *s, unsigned limit, struct told *out, unsigned max)
{
	char last[TEXT_MAX] = "";
	unsigned n = 0;

	do {
		struct outcome o = run(s->fx, "DescribeStream", last[0] == '\0' ? fmt("{'StreamArn':'%s','Limit':%u}", s->arn, limit)
			: fmt("{'StreamArn':'%s','Limit':%u,'ExclusiveStartShardId':'%s'}", s->arn, limit, last));

		cr_assert_eq(o.code, ERR_OK, "%s", o.json);
		unsigned page = parse_shards(o.json, out + n, max - n);

		cr_assert_leq(page, limit);
		n += page;
		if (!text_of(o.json, "LastEvaluatedShardId", 0, last))
			last[0] = '\0';
		cr_assert(last[0] == '\0' || strcmp(last, out[n - 1].id) == 0, "the last of the page: %s", o.json);
	} while (last[0] != '\0');
	return n;
}

static void put_key(struct fixture *fx, int key)
{
	ok(fx, "PutItem", fmt("{'TableName':'tbl','Item':{'p':{'S':'k%d'},'c':{'N':'0'}}}", key), NULL);
}

/* ---- lineage ---- */

Test(streams_shards, a_cut_ends_a_shard_and_begins_two)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 1 });
	struct followed s, child;
	struct told t[3];
	char it[TEXT_MAX], number[TEXT_MAX];
	unsigned seen = 0;

	create(fx, "tbl", "KEYS_ONLY");
	follow(&s, fx, "tbl");
	for (int i = 0; i < 20; i++)
		put_key(fx, i);
	struct outcome o = read_all(&s);

	text_of(o.json, "SequenceNumber", 19, number);
	cut_at(fx, "tbl", HALF);
	cr_assert_eq(describe(&s, 1, t, 3), 3);
	cr_assert_str_eq(t[0].id, s.shard);
	cr_assert_str_eq(t[0].parent, "");
	cr_assert_str_eq(t[1].parent, t[0].id);
	cr_assert_str_eq(t[2].parent, t[0].id);
	cr_assert(t[1].end[0] == '\0' && t[2].end[0] == '\0');
	cr_assert(strcmp(number, t[0].end) < 0 && strcmp(t[0].end, t[1].start) < 0 && strcmp(t[0].end, t[2].start) < 0);
	for (int i = 0; i < 20; i++)
		ok(fx, "DeleteItem", fmt("{'TableName':'tbl','Key':{'p':{'S':'k%d'},'c':{'N':'0'}}}", i), NULL);
	iterator_of(&s, "TRIM_HORIZON", NULL, it);
	cr_assert_eq(count_of(read_on(&s, it, 20).json, "INSERT"), 20);
	cr_assert_eq(it[0], '\0', "the shard has ended, and its last page says so");
	iterator_of(&s, "LATEST", NULL, it);
	o = read_on(&s, it, 1000);
	cr_assert_str_eq(o.json, "{\"Records\":[]}");
	iterator_of(&s, "AFTER_SEQUENCE_NUMBER", number, it);
	cr_assert_str_eq(read_on(&s, it, 1000).json, "{\"Records\":[]}");
	iterator_of(&s, "AT_SEQUENCE_NUMBER", t[0].end, it);
	cr_assert_str_eq(read_on(&s, it, 1000).json, "{\"Records\":[]}");
	child = s;
	for (unsigned i = 1; i < 3; i++) {
		strcpy(child.shard, t[i].id);
		unsigned n = count_of(read_all(&child).json, "REMOVE");

		cr_assert(n > 0 && n < 20, "%u", n);
		seen += n;
	}
	cr_assert_eq(seen, 20);
	/* A number of a child is none of its parent's. */
	fails(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'AT_SEQUENCE_NUMBER',"
		"'SequenceNumber':'%s'}", s.arn, s.shard, t[1].start), ERR_VALIDATION, NULL);
	fixture_free(fx);
}

Test(streams_shards, children_can_be_asked_for)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 1 });
	struct followed s;
	struct told t[5], c[2];

	create(fx, "tbl", "KEYS_ONLY");
	follow(&s, fx, "tbl");
	cut_at(fx, "tbl", HALF);
	cut_at(fx, "tbl", HALF / 2);
	cr_assert_eq(describe(&s, 100, t, 5), 5);
	for (unsigned i = 0; i < 5; i++) {
		struct outcome o = run(fx, "DescribeStream", fmt("{'StreamArn':'%s','ShardFilter':{'Type':'CHILD_SHARDS','ShardId':'%s'}}",
			s.arn, t[i].id));
		unsigned n = parse_shards(o.json, c, 2);

		cr_assert_eq(n, i < 2 ? 2 : 0, "%u: %s", i, o.json);
		for (unsigned k = 0; k < n; k++)
			cr_assert_str_eq(c[k].parent, t[i].id);
	}
	fails(fx, "DescribeStream", fmt("{'StreamArn':'%s','ShardFilter':{'Type':'CHILD_SHARDS'}}", s.arn), ERR_VALIDATION, NULL);
	static const char *const nobody[] = { "shardId-00000000000000000000-nothing!", "shardId-00000000000000000000-ffffffff",
		"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz" };

	for (unsigned i = 0; i < 3; i++) {
		struct outcome o = run(fx, "DescribeStream", fmt("{'StreamArn':'%s','ExclusiveStartShardId':'%s'}", s.arn, nobody[i]));

		cr_assert_eq(parse_shards(o.json, c, 2), 0, "%s", o.json);
	}
	fixture_free(fx);
}

Test(streams_shards, a_stream_begins_with_a_shard_for_each_partition)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 1 });
	struct followed s;
	struct told t[8];
	unsigned seen = 0;

	create(fx, "tbl", NULL);
	cut_at(fx, "tbl", HALF);
	cut_at(fx, "tbl", HALF / 2);
	cut_at(fx, "tbl", HALF + HALF / 2);
	ok(fx, "UpdateTable", "{'TableName':'tbl','StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}", NULL);
	follow(&s, fx, "tbl");
	cr_assert_eq(describe(&s, 3, t, 8), 4);
	for (int i = 0; i < 100; i++)
		put_key(fx, i);
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_str_eq(t[i].parent, "");
		strcpy(s.shard, t[i].id);
		unsigned n = count_of(read_all(&s).json, "INSERT");

		cr_assert(n > 5 && n < 50, "%u", n);
		seen += n;
	}
	cr_assert_eq(seen, 100);
	/* All of them end with the stream. */
	ok(fx, "UpdateTable", "{'TableName':'tbl','StreamSpecification':{'StreamEnabled':false}}", NULL);
	cut_at(fx, "tbl", 77);
	cr_assert_eq(describe(&s, 3, t, 8), 4);
	for (unsigned i = 0; i < 4; i++)
		cr_assert_neq(t[i].end[0], '\0');
	fixture_free(fx);
}

/* ---- age ---- */

/* Rows of shards that the engine has. */
static unsigned rows_kept(struct fixture *fx)
{
	uint8_t lo[SHARD_ROW_KEY], hi[SHARD_ROW_KEY];
	struct slice key, value;
	struct cursor *c;
	struct view *v;
	unsigned n = 0;

	cr_assert_eq(view_open(fixture_store(fx)->engine, &v, NULL), ERR_OK);
	cr_assert_eq(cursor_open(v, shard_row_key(0, 0, lo), shard_row_key(UINT32_MAX, 0, hi), false, &c, NULL), ERR_OK);
	while (cursor_next(c, &key, &value, NULL) == ERR_OK && slice_present(key))
		n++;
	cursor_close(&c);
	view_close(&v);
	return n;
}

static void await_rows(struct fixture *fx, unsigned n)
{
	for (unsigned ms = 0; rows_kept(fx) != n; ms++) {
		cr_assert_lt(ms, 5000, "%u rows are kept, not %u", rows_kept(fx), n);
		usleep(1000);
	}
}

Test(streams_shards, a_shard_that_ended_a_day_ago_is_gone)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 1 });
	struct followed s;
	struct told before[3], after[3];
	char it[TEXT_MAX], oldest[TEXT_MAX];

	create(fx, "tbl", "KEYS_ONLY");
	follow(&s, fx, "tbl");
	put_key(fx, 1);
	store_clock_advance(fixture_store(fx), HOUR_MS);
	cut_at(fx, "tbl", HALF);
	cr_assert_eq(describe(&s, 100, before, 3), 3);
	/* Its only record is gone an hour earlier than it. */
	store_clock_advance(fixture_store(fx), 24 * HOUR_MS - 60 * 1000);
	cr_assert_eq(describe(&s, 100, after, 3), 3);
	cr_assert_str_eq(read_all(&s).json, "{\"Records\":[]}");
	iterator_of(&s, "LATEST", NULL, it);
	iterator_of(&s, "TRIM_HORIZON", NULL, oldest);
	store_clock_advance(fixture_store(fx), 2 * 60 * 1000);
	cr_assert_eq(describe(&s, 100, after, 3), 2);
	for (unsigned i = 0; i < 2; i++) {
		cr_assert_str_eq(after[i].id, before[i + 1].id);
		cr_assert_str_eq(after[i].parent, s.shard, "children keep the name of their parent");
	}
	fails(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}", s.arn, s.shard),
		ERR_RESOURCE_NOT_FOUND, NULL);
	/* Who stands in it comes to its end all the same. */
	cr_assert_str_eq(read_on(&s, it, 1000).json, "{\"Records\":[]}");
	cr_assert_str_eq(read_on(&s, oldest, 1000).json, "{\"Records\":[]}");
	/* A page may begin after a shard that is gone. */
	struct outcome o = run(fx, "DescribeStream", fmt("{'StreamArn':'%s','ExclusiveStartShardId':'%s'}", s.arn, s.shard));

	cr_assert_eq(parse_shards(o.json, after, 3), 2, "%s", o.json);
	cr_assert_eq(rows_kept(fx), 3);
	store_clock_advance(fixture_store(fx), HOUR_MS);
	await_rows(fx, 2);
	/* The stream ends; its shards go with it. */
	ok(fx, "DeleteTable", "{'TableName':'tbl'}", NULL);
	cr_assert_eq(describe(&s, 100, after, 3), 2);
	store_clock_advance(fixture_store(fx), 25 * HOUR_MS);
	await_rows(fx, 0);
	fixture_free(fx);
}

/* ---- a consumer ---- */

enum { KEYS = 40, EVENTS = 4000, SHARDS = 400 };

/* What happened to each item, in order: the values that it had, 0 = none. */
struct model {
	unsigned value[KEYS][EVENTS], n[KEYS];
};

/* Walks the tree of shards as the Kinesis Client Library does: a child when its parent is finished. */
struct consumer {
	struct followed *stream;
	struct {
		struct told told;
		char checkpoint[SEQUENCE_TEXT];          /* where it is; empty: none */
		bool done;
	} shard[SHARDS];
	unsigned shards;
	unsigned seen[KEYS];                             /* events */
	const struct model *model;
};

static bool knows(const struct consumer *c, const char *id, unsigned *at)
{
	for (*at = 0; *at < c->shards; ++*at)
		if (strcmp(c->shard[*at].told.id, id) == 0)
			return true;
	return false;
}

/* Take in the shards that are new. */
static void discover(struct consumer *c, unsigned limit)
{
	static struct told told[SHARDS];
	unsigned n = describe(c->stream, limit, told, SHARDS), at;

	for (unsigned i = 0; i < n; i++) {
		if (knows(c, told[i].id, &at)) {
			cr_assert_str_eq(c->shard[at].told.start, told[i].start);
			continue;
		}
		memset(&c->shard[c->shards], 0, sizeof c->shard[0]);
		c->shard[c->shards++].told = told[i];
	}
}

/* An event of the item must be the next of the model's. */
static void check_event(struct consumer *c, const char *record, const char *end)
{
	const char *image = strstr(record, "\"NewImage\""), *number;
	unsigned key, value = 0;

	cr_assert_eq(sscanf(strstr(record, "\"p\":{\"S\":\"k"), "\"p\":{\"S\":\"k%u", &key), 1);
	if (image != NULL && image < end) {
		number = strstr(image, "\"v\":{\"N\":\"");
		cr_assert(number != NULL && sscanf(number, "\"v\":{\"N\":\"%u", &value) == 1);
	}
	cr_assert_lt(c->seen[key], c->model->n[key], "k%u: an event that never was: %u", key, value);
	unsigned wanted = c->model->value[key][c->seen[key]];

	cr_assert_eq(value, wanted, "k%u: event %u tells of %u, not of %u", key, c->seen[key], value, wanted);
	c->seen[key]++;
}

/* Read on in a shard from its checkpoint, a page or until there is nothing more. */
static void consume(struct consumer *c, unsigned i, unsigned limit, bool to_the_end)
{
	char it[TEXT_MAX], *checkpoint = c->shard[i].checkpoint;
	bool more = true;

	strcpy(c->stream->shard, c->shard[i].told.id);
	iterator_of(c->stream, checkpoint[0] != '\0' ? "AFTER_SEQUENCE_NUMBER" : "TRIM_HORIZON",
		checkpoint[0] != '\0' ? checkpoint : NULL, it);
	do {
		struct outcome o = read_on(c->stream, it, limit);
		unsigned n = 0;

		cr_assert_eq(o.code, ERR_OK, "%s", o.json);
		for (const char *at = o.json, *end; (at = strstr(at, "\"Keys\":")) != NULL; at = end) {
			char number[SEQUENCE_TEXT];

			end = strstr(at, "\"SequenceNumber\":");
			find_text(end, end + 1, "SequenceNumber", number, sizeof number);
			cr_assert_lt(strcmp(checkpoint, number), 0, "numbers ascend in a shard");
			check_event(c, at, end);
			strcpy(checkpoint, number);
			n++;
		}
		c->shard[i].done = it[0] == '\0';
		more = n != 0 && to_the_end;
	} while (more && !c->shard[i].done);
}

/* One round over all shards that may be read. */
static void walk(struct consumer *c, unsigned *rnd, bool to_the_end)
{
	unsigned parent;

	discover(c, 1 + (unsigned)rand_r(rnd) % 7);
	for (unsigned i = 0; i < c->shards; i++) {
		bool waits = c->shard[i].told.parent[0] != '\0' && knows(c, c->shard[i].told.parent, &parent)
			&& !c->shard[parent].done;

		if (!c->shard[i].done && !waits)
			consume(c, i, to_the_end ? 1000 : 1 + (unsigned)rand_r(rnd) % 20, to_the_end);
	}
}

static void change(struct fixture *fx, struct model *m, unsigned *rnd, unsigned step)
{
	unsigned key = (unsigned)rand_r(rnd) % KEYS, *n = &m->n[key];
	bool there = *n != 0 && m->value[key][*n - 1] != 0;

	if (rand_r(rnd) % 4 != 0) {
		ok(fx, "UpdateItem", fmt("{'TableName':'tbl','Key':{'p':{'S':'k%u'},'c':{'N':'0'}},'UpdateExpression':'SET v = :v',"
			"'ExpressionAttributeValues':{':v':{'N':'%u'}}}", key, step), NULL);
		m->value[key][(*n)++] = step;
		return;
	}
	ok(fx, "DeleteItem", fmt("{'TableName':'tbl','Key':{'p':{'S':'k%u'},'c':{'N':'0'}}}", key), NULL);
	if (there)
		m->value[key][(*n)++] = 0;
}

static unsigned seed(void)
{
	const char *s = getenv("SEED");
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 10) : (unsigned)time(NULL);

	printf("SEED=%u\n", v);
	return v;
}

Test(streams_shards, a_consumer_sees_every_change_once_in_order)
{
	char dir[] = "/tmp/dynax-shards-XXXXXX";
	static struct consumer c;
	static struct model m;
	unsigned rnd = seed(), ended = 0;
	struct followed s;

	cr_assert_not_null(mkdtemp(dir));
	struct fixture *fx = fixture_with(&(struct store_opts){ .engine.dir = dir, .keeper_ms = 1 });

	create(fx, "tbl", "NEW_IMAGE");
	follow(&s, fx, "tbl");
	c.stream = &s;
	c.model = &m;
	for (unsigned step = 1; step < EVENTS; step++) {
		change(fx, &m, &rnd, step);
		if (rand_r(&rnd) % 50 == 0)
			cut_at(fx, "tbl", (uint64_t)rand_r(&rnd) << 33 | (uint64_t)rand_r(&rnd) << 2);
		if (rand_r(&rnd) % 60 == 0)
			walk(&c, &rnd, rand_r(&rnd) % 4 == 0);
		if (rand_r(&rnd) % 1000 == 0)
			fixture_reopen(fx);
	}
	ok(fx, "UpdateTable", "{'TableName':'tbl','StreamSpecification':{'StreamEnabled':false}}", NULL);
	for (unsigned depth = 0; depth < SHARDS && ended != c.shards + 1; depth++) {
		walk(&c, &rnd, true);
		ended = 1;
		for (unsigned i = 0; i < c.shards; i++)
			ended += c.shard[i].done;
	}
	cr_assert_eq(ended, c.shards + 1, "every shard ends with the stream");
	cr_assert_gt(c.shards, 50);
	for (unsigned key = 0; key < KEYS; key++)
		cr_assert_eq(c.seen[key], m.n[key], "k%u: %u of %u events", key, c.seen[key], m.n[key]);
	fixture_free(fx);
	cr_assert_eq(system(fmt("rm -rf %s", dir)), 0);
}
