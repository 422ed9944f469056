/* Partitions are cut while the table is written to, and count right all the time, over restarts too. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fixture.h"
#include "protocol/json.h"
#include "store/background.h"
#include "store/keycode.h"
#include "store/partition.h"
#include "store/write_txn.h"

enum { KEYS = 200 };

static unsigned seed(void)
{
	const char *s = getenv("SEED");
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 10) : (unsigned)time(NULL);

	printf("SEED=%u\n", v);
	return v;
}

static void create(struct fixture *fx)
{
	ok(fx, "CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"
		"'GlobalSecondaryIndexes':[{'IndexName':'byg','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'ALL'}}]}", NULL);
}

/* One put, update of an index key, or delete. */
static void change(struct fixture *fx, unsigned *rnd, bool *there)
{
	unsigned key = (unsigned)rand_r(rnd) % KEYS;
	char body[256];

	if (rand_r(rnd) % 3 == 0) {
		snprintf(body, sizeof body, "{'TableName':'tab','Key':{'pk':{'S':'k%u'}}}", key);
		ok(fx, "DeleteItem", body, NULL);
		there[key] = false;
		return;
	}
	snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%u'},'g':{'S':'g%d'},'v':{'S':'%.*s'}}}", key,
		rand_r(rnd) % 20, rand_r(rnd) % 30, "------------------------------");
	ok(fx, "PutItem", body, NULL);
	there[key] = true;
}

static void cut(struct fixture *fx, bool index, uint64_t at)
{
	struct own_write o;
	struct arena a;
	const struct table *t = store_table(fixture_reader(fx), SLICE_LIT("tab"));
	struct partition_cut c = { t->id, index ? t->index[0].id : t->id, at, CUT_SIZE };

	store_reader_quiesce(fixture_reader(fx));
	arena_init(&a, 0);
	own_write_init(&o, fixture_store(fx));
	cr_assert_eq(partition_cut(&o, &a, &c), ERR_OK);
	own_write_release(&o);
	arena_release(&a);
}

/* Item counts that DescribeTable tells of table and index are the model's at any moment (N3). */
static void check_sums(struct fixture *fx, const bool *there)
{
	unsigned n = 0;
	char text[64];

	for (unsigned i = 0; i < KEYS; i++)
		n += there[i];
	snprintf(text, sizeof text, "\"ItemCount\":%u,", n);
	const char *json = run(fx, "DescribeTable", "{'TableName':'tab'}").json, *first = strstr(json, text);

	cr_assert(first != NULL && strstr(first + 1, text) != NULL, "%s in %s", text, json);
}

static struct counters scan(struct view *v, uint32_t owner, uint64_t from, uint64_t to)
{
	struct counters c = { 0 };
	struct slice key, value;
	struct cursor *cur;
	struct buf lo, hi;

	buf_init(&lo);
	buf_init(&hi);
	keycode_range(&lo, &hi, owner, from, to);
	cr_assert_eq(cursor_open(v, buf_slice(&lo), buf_slice(&hi), false, &cur, NULL), ERR_OK);
	while (cursor_next(cur, &key, &value, NULL) == ERR_OK && slice_present(key)) {
		c.entries++;
		c.bytes += item_size(value);
	}
	cursor_close(&cur);
	buf_release(&lo);
	buf_release(&hi);
	return c;
}

/* N1, and that every part that should be counted is; false if a part is not counted yet. */
static bool check_parts(struct view *v, uint32_t owner, const struct partitions *p)
{
	bool counted = true;

	cr_assert_eq(p->part[0].from, 0);
	for (unsigned i = 0; i < p->n; i++) {
		uint64_t to = i + 1 < p->n ? p->part[i + 1].from : 0;
		struct counters is, should = scan(v, owner, p->part[i].from, to);

		cr_assert(to == 0 || to > p->part[i].from);
		counted &= !p->part[i].uncounted;
		if (p->part[i].uncounted || (i + 1 < p->n && p->part[i + 1].uncounted))
			continue;
		cr_assert_eq(counters_view(v, p->part[i].id, &is, NULL), ERR_OK);
		cr_assert_eq(is.entries, should.entries, "%u of %u: %llu entries, not %llu", i, p->n, (unsigned long long)is.entries,
			(unsigned long long)should.entries);
		cr_assert_eq(is.bytes, should.bytes);
	}
	return counted;
}

static bool check(struct fixture *fx, unsigned *parts)
{
	struct store_reader *r = fixture_reader(fx);
	struct view *v;

	cr_assert_eq(reader_view(r, &v, NULL), ERR_OK);
	const struct table *t = store_table(r, SLICE_LIT("tab"));
	bool counted = check_parts(v, t->id, &t->parts);

	counted &= check_parts(v, t->index[0].id, &t->index[0].parts);
	*parts = t->parts.n + t->index[0].parts.n;
	store_reader_release(r);
	store_reader_quiesce(r);
	return counted;
}

static void await_counted(struct fixture *fx)
{
	unsigned parts, tries = 0;

	while (!check(fx, &parts) && tries++ < 2000)
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	cr_assert_lt(tries, 2000, "never counted");
}

Test(partition, random_cuts)
{
	char dir[] = "/tmp/dynax-partition-XXXXXX", command[64];
	unsigned rnd = seed(), parts = 0;
	bool there[KEYS] = { false };

	cr_assert_not_null(mkdtemp(dir));
	struct fixture *fx = fixture_with(&(struct store_opts){ .engine.dir = dir, .keeper_ms = 3 });

	create(fx);
	for (unsigned step = 0; step < 3000; step++) {
		change(fx, &rnd, there);
		if (rand_r(&rnd) % 40 == 0)
			cut(fx, rand_r(&rnd) % 2, (uint64_t)rand_r(&rnd) << 33 | (uint64_t)rand_r(&rnd) << 2);
		if (rand_r(&rnd) % 30 == 0)
			check_sums(fx, there);
		if (rand_r(&rnd) % 50 == 0)
			check(fx, &parts);
		if (rand_r(&rnd) % 600 == 0)
			fixture_reopen(fx);
	}
	await_counted(fx);
	check(fx, &parts);
	cr_assert_gt(parts, 10, "cuts happened: %u", parts);
	check_sums(fx, there);
	fixture_reopen(fx);
	check_sums(fx, there);
	cr_assert(check(fx, &parts));
	/* Nothing of it stays behind. */
	ok(fx, "DeleteTable", "{'TableName':'tab'}", NULL);
	struct view *v;
	uint8_t from[CATALOG_KEY_BYTES], to[CATALOG_KEY_BYTES];
	struct cursor *cur;
	struct slice key, value;

	cr_assert_eq(reader_view(fixture_reader(fx), &v, NULL), ERR_OK);
	cr_assert_eq(cursor_open(v, catalog_key('c', 0, from), catalog_key('c' + 1, 0, to), false, &cur, NULL), ERR_OK);
	cr_assert_eq(cursor_next(cur, &key, &value, NULL), ERR_OK);
	cr_assert_not(slice_present(key), "counters are left");
	cursor_close(&cur);
	store_reader_release(fixture_reader(fx));
	fixture_free(fx);
	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

/* At the head of a partition, twice at one place, or of what is gone: nothing to do. */
Test(partition, idle_cuts)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 3 });
	unsigned parts;

	create(fx);
	cut(fx, false, 0);
	check(fx, &parts);
	cr_assert_eq(parts, 2);
	cut(fx, false, 77);
	cut(fx, false, 77);
	await_counted(fx);
	cut(fx, false, 77);
	check(fx, &parts);
	cr_assert_eq(parts, 3);
	cut(fx, false, UINT64_MAX);
	await_counted(fx);
	check(fx, &parts);
	cr_assert_eq(parts, 4);
	fixture_free(fx);
}

/* Each part is cut when it is too large, where that balances it, but for one that holds a single partition key. */
Test(partition, by_size)
{
	enum { MOST = 20000 };
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 3, .partition_bytes = MOST });
	static char body[2048], text[1024];
	unsigned parts, tries = 0;

	ok(fx, "CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},"
		"{'AttributeName':'sk','KeyType':'RANGE'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},"
		"{'AttributeName':'sk','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],'GlobalSecondaryIndexes':["
		"{'IndexName':'byg','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}", NULL);
	memset(text, '-', 1000);
	/* A hundred keys of a kilobyte each, and one with sixty. */
	for (unsigned i = 0; i < 160; i++) {
		snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%u'},'sk':{'S':'%u'},'g':{'S':'one'},'v':{'S':'%s'}}}",
			i < 100 ? i : 1000, i, text);
		ok(fx, "PutItem", body, NULL);
	}
	for (bool large = true; large && tries < 1000; tries++) {
		struct view *v;
		struct counters c;

		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
		large = !check(fx, &parts);
		cr_assert_eq(reader_view(fixture_reader(fx), &v, NULL), ERR_OK);
		const struct table *t = store_table(fixture_reader(fx), SLICE_LIT("tab"));

		for (unsigned i = 0; i < t->parts.n; i++) {
			uint64_t to = i + 1 < t->parts.n ? t->parts.part[i + 1].from : 0;

			c = scan(v, t->id, t->parts.part[i].from, to);
			large |= c.bytes > MOST && to - t->parts.part[i].from != 1;
		}
		store_reader_release(fixture_reader(fx));
		store_reader_quiesce(fixture_reader(fx));
	}
	cr_assert_lt(tries, 1000);
	/* 160 KB in parts of 20 KB, three more for the large key at most, and those of the index, which has one key. */
	cr_assert(parts >= 8 + 1 && parts <= 20 + 3, "%u", parts);
	fixture_free(fx);
}

/* ---- what Scans cost ---- */

struct heard {
	uint32_t scans;                  /* of the last one */
	unsigned n;
};

static void hear(void *arg, const struct store_change *c, size_t n)
{
	struct heard *h = arg;

	for (size_t i = 0; i < n; i++)
		if (c[i].scans) {
			h->scans = c[i].table;
			h->n++;
		}
}

/* A Scan that was prepared before a cut, and is carried out after it, costs what one costs then: the cache may have been told of
 * the cut in between. */
Test(partition, a_scan_costs_what_it_does_when_it_is_read)
{
	struct heard heard = { 0 };
	struct fixture *fx = fixture_with(&(struct store_opts){ .observer = { .begin = hear, .arg = &heard }, .keeper_ms = 3 });
	struct store_reader *r = store_reader_new(fixture_store(fx));
	struct json_reader *json = json_reader_new();
	struct store_query q;
	struct request req;
	struct arena a;
	struct fault f;
	struct buf out;

	create(fx);
	arena_init(&a, 0);
	fault_init(&f, &a);
	buf_init(&out);
	for (uint64_t i = 1; i <= 4; i++) {
		cr_assert_eq(json_read_request(json, OP_Scan, SLICE_LIT("{\"TableName\":\"tab\"}"), &a, &req, &f), ERR_OK);
		cr_assert_eq(store_query_prepare(r, &req, &q, &f), ERR_OK);
		uint32_t id = q.table->id;

		await_counted(fx);
		cut(fx, false, i << 32);
		cr_assert(heard.n == i && heard.scans == id);
		cr_assert_eq(store_query_run(r, &req, &q, &out, &f), ERR_OK);
		cr_assert_eq(q.cost, i + 1 < 4 ? 4 : i + 1, "on demand, at least four; eventually consistent, a half each");
		store_query_end(&q);
		store_reader_release(r);
		store_reader_quiesce(r);
	}
	buf_release(&out);
	arena_release(&a);
	json_reader_free(&json);
	store_reader_free(&r);
	fixture_free(fx);
}
