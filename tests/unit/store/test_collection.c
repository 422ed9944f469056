/* Item collections: what the limit refuses and what not, in every form of a write; rows beside a plain model (L1, L2).
 *
 * SEED=n repeats a run, STEPS=n makes it longer. */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "store/store_int.h"

enum { PARTITIONS = 3, ROWS = 8, LIMIT = 1500, PAD_MAX = 400 };

/* Entries of the index hold pk, sk and l, and items without l are not in it. */
static void create(struct fixture *fx)
{
	ok(fx, "CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'},"
		"{'AttributeName':'l','AttributeType':'S'}],'LocalSecondaryIndexes':[{'IndexName':'byl','KeySchema':["
		"{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],"
		"'Projection':{'ProjectionType':'KEYS_ONLY'}}]}", NULL);
}

static const char *pad(int n)
{
	static char text[PAD_MAX + 1];

	memset(text, 'x', (size_t)n);
	text[n] = '\0';
	return text;
}

/* ---- by hand ---- */

#define EXCEEDED "Collection size exceeded."

/* An item of 7 + n bytes: pk, sk, d and their values. */
static void body_of(char *out, size_t size, const char *pk, const char *sk, int n)
{
	snprintf(out, size, "{'TableName':'tab','Item':{'pk':{'S':'%s'},'sk':{'S':'%s'},'d':{'S':'%s'}}}", pk, sk, pad(n));
}

static void put(struct fixture *fx, const char *pk, const char *sk, int n)
{
	char body[PAD_MAX + 200];

	body_of(body, sizeof body, pk, sk, n);
	ok(fx, "PutItem", body, NULL);
}

static void refused(struct fixture *fx, const char *pk, const char *sk, int n)
{
	char body[PAD_MAX + 200];

	body_of(body, sizeof body, pk, sk, n);
	fails(fx, "PutItem", body, ERR_ITEM_COLLECTION_SIZE, EXCEEDED);
}

static struct fixture *limited(uint64_t bytes)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .collection_bytes = bytes });

	create(fx);
	return fx;
}

/* 100 of 200 bytes are used by item a 1. */
Test(collection, put_up_to_the_limit)
{
	struct fixture *fx = limited(200);

	put(fx, "a", "1", 93);
	put(fx, "a", "2", 93);
	refused(fx, "a", "3", 0);
	put(fx, "b", "1", 93);
	refused(fx, "a", "2", 94);
	put(fx, "a", "2", 93);
	put(fx, "a", "2", 92);
	put(fx, "a", "2", 93);
	refused(fx, "a", "2", 94);
	ok(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'S':'1'}}}", NULL);
	put(fx, "a", "3", 93);
	fixture_free(fx);
}

/* The entry of the index counts, of all of its attributes. */
Test(collection, update_into_the_index)
{
	struct fixture *fx = limited(112);
	static const char *const to_l = "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'S':'1'}},"
		"'UpdateExpression':'SET l = :l','ExpressionAttributeValues':{':l':{'S':'%s'}}}";
	char body[300];

	put(fx, "a", "1", 93);
	snprintf(body, sizeof body, to_l, "four");
	fails(fx, "UpdateItem", body, ERR_ITEM_COLLECTION_SIZE, EXCEEDED);
	snprintf(body, sizeof body, to_l, "o");
	ok(fx, "UpdateItem", "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'S':'1'}},'UpdateExpression':'SET d = :d',"
		"'ExpressionAttributeValues':{':d':{'S':''}}}", NULL);
	ok(fx, "UpdateItem", body, NULL);
	/* 7 bytes, 2 for l, 8 in the index. */
	put(fx, "a", "2", 88);
	refused(fx, "a", "3", 0);
	ok(fx, "UpdateItem", "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'S':'1'}},'UpdateExpression':'REMOVE l'}", NULL);
	put(fx, "a", "3", 3);
	fixture_free(fx);
}

Test(collection, batch_and_transaction)
{
	struct fixture *fx = limited(30);

	put(fx, "a", "1", 6);
	fails(fx, "BatchWriteItem", "{'RequestItems':{'tab':[{'PutRequest':{'Item':{'pk':{'S':'a'},'sk':{'S':'2'}}}},"
		"{'PutRequest':{'Item':{'pk':{'S':'a'},'sk':{'S':'3'}}}},{'PutRequest':{'Item':{'pk':{'S':'b'},'sk':{'S':'1'}}}},"
		"{'PutRequest':{'Item':{'pk':{'S':'a'},'sk':{'S':'4'}}}}]}}", ERR_ITEM_COLLECTION_SIZE, EXCEEDED);
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'b'},'sk':{'S':'1'}}}", "{}");
	ok(fx, "BatchWriteItem", "{'RequestItems':{'tab':[{'PutRequest':{'Item':{'pk':{'S':'a'},'sk':{'S':'2'}}}},"
		"{'PutRequest':{'Item':{'pk':{'S':'b'},'sk':{'S':'1'}}}},{'DeleteRequest':{'Key':{'pk':{'S':'a'},'sk':{'S':'1'}}}}]},"
		"'ReturnItemCollectionMetrics':'SIZE'}", "{'ItemCollectionMetrics':{'tab':["
		"{'ItemCollectionKey':{'pk':{'S':'a'}},'SizeEstimateRangeGB':[0.0,1.0]},"
		"{'ItemCollectionKey':{'pk':{'S':'b'}},'SizeEstimateRangeGB':[0.0,1.0]}]},'UnprocessedItems':{}}");
	put(fx, "a", "1", 17);
	fails(fx, "TransactWriteItems", "{'TransactItems':["
		"{'Delete':{'TableName':'tab','Key':{'pk':{'S':'b'},'sk':{'S':'1'}}}},"
		"{'Put':{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'S':'3'}}}}]}", ERR_TRANSACTION_CANCELED,
		"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ItemCollectionSizeLimitExceeded]");
	ok(fx, "TransactWriteItems", "{'TransactItems':["
		"{'Delete':{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'S':'1'}}}},"
		"{'Put':{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'S':'3'}}}}],'ClientRequestToken':'once'}", "{}");
	ok(fx, "TransactWriteItems", "{'TransactItems':["
		"{'Delete':{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'S':'1'}}}},"
		"{'Put':{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'S':'3'}}}}],'ClientRequestToken':'once',"
		"'ReturnItemCollectionMetrics':'SIZE'}", "{'ItemCollectionMetrics':{'tab':["
		"{'ItemCollectionKey':{'pk':{'S':'a'}},'SizeEstimateRangeGB':[0.0,1.0]}]}}");
	fixture_free(fx);
}

/* Without local indexes there is no limit. */
Test(collection, plain_tables)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .collection_bytes = 10 });

	ok(fx, "CreateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'}]}", NULL);
	put(fx, "a", "1", 92);
	put(fx, "a", "2", 92);
	fixture_free(fx);
}

/* ---- beside a model ---- */

struct row {
	bool exists;
	int d, l;                        /* bytes of d; of l, 0 = none */
};
struct model {
	struct fixture *fx;
	unsigned seed, rnd;
	int step, refusals;
	struct row row[PARTITIONS][ROWS];
};

static int pick(struct model *m, int n)
{
	return rand_r(&m->rnd) % n;
}

/* pk, sk, d and their values, then l; the entry is pk, sk and l. */
static int bytes_of(const struct row *r)
{
	if (!r->exists)
		return 0;
	return 2 + 1 + 2 + 1 + 1 + r->d + (r->l != 0 ? 1 + r->l + (2 + 1 + 2 + 1 + 1 + r->l) : 0);
}

static int collection_of(const struct model *m, int p)
{
	int sum = 0;

	for (int s = 0; s < ROWS; s++)
		sum += bytes_of(&m->row[p][s]);
	return sum;
}

/* Make it so, unless the limit forbids it. */
static bool change(struct model *m, int p, int s, struct row to)
{
	int growth = bytes_of(&to) - bytes_of(&m->row[p][s]);

	if (growth > 0 && collection_of(m, p) + growth > LIMIT) {
		m->refusals++;
		return false;
	}
	m->row[p][s] = to;
	return true;
}

static struct row random_row(struct model *m)
{
	return (struct row){ true, pick(m, PAD_MAX + 1), pick(m, 2) * (1 + pick(m, 100)) };
}

static size_t item_text(char *out, size_t n, int p, int s, const struct row *r)
{
	size_t at = (size_t)snprintf(out, n, "{'pk':{'S':'%d'},'sk':{'S':'%d'},'d':{'S':'%s'}", p, s, pad(r->d));

	if (r->l != 0)
		at += (size_t)snprintf(out + at, n - at, ",'l':{'S':'%s'}", pad(r->l));
	return at + (size_t)snprintf(out + at, n - at, "}");
}

static void expect(struct model *m, const char *op, const char *body, bool good, enum err refusal)
{
	enum err rc = run(m->fx, op, body).code;

	cr_assert_eq(rc, good ? ERR_OK : refusal, "SEED=%u step %d: %s gives %d\n%s", m->seed, m->step, op, (int)rc, body);
}

static void one(struct model *m, int p, int s)
{
	char body[2000], item[1000];
	struct row to = random_row(m);

	switch (pick(m, 4)) {
	case 0:
		snprintf(body, sizeof body, "{'TableName':'tab','Key':{'pk':{'S':'%d'},'sk':{'S':'%d'}}}", p, s);
		expect(m, "DeleteItem", body, change(m, p, s, (struct row){ 0 }), ERR_OK);
		break;
	case 1:
		to.l = m->row[p][s].l;
		snprintf(body, sizeof body, "{'TableName':'tab','Key':{'pk':{'S':'%d'},'sk':{'S':'%d'}},'UpdateExpression':'SET d = :d',"
			"'ExpressionAttributeValues':{':d':{'S':'%s'}}}", p, s, pad(to.d));
		expect(m, "UpdateItem", body, change(m, p, s, to), ERR_ITEM_COLLECTION_SIZE);
		break;
	default:
		item_text(item, sizeof item, p, s, &to);
		snprintf(body, sizeof body, "{'TableName':'tab','Item':%s}", item);
		expect(m, "PutItem", body, change(m, p, s, to), ERR_ITEM_COLLECTION_SIZE);
	}
}

/* Some puts and deletes of one request, all or none of which are done. */
static void several(struct model *m, bool transaction)
{
	static char body[16000];
	struct model before = *m;
	size_t at = (size_t)snprintf(body, sizeof body, transaction ? "{'TransactItems':[" : "{'RequestItems':{'tab':[");
	char item[1000];
	bool good = true;

	for (int i = 0, s = pick(m, ROWS); i < 4; i++, s = (s + 1) % ROWS) {
		struct row to = pick(m, 3) != 0 ? random_row(m) : (struct row){ 0 };
		int p = pick(m, PARTITIONS);

		if (to.exists)
			item_text(item, sizeof item, p, s, &to);
		else
			snprintf(item, sizeof item, "{'pk':{'S':'%d'},'sk':{'S':'%d'}}", p, s);
		at += (size_t)snprintf(body + at, sizeof body - at, "%s{'%s%s':{%s'%s':%s}}", i != 0 ? "," : "", to.exists ? "Put" : "Delete",
			transaction ? "" : "Request", transaction ? "'TableName':'tab'," : "", to.exists ? "Item" : "Key", item);
		good = (transaction || good) && change(m, p, s, to) && good;
	}
	snprintf(body + at, sizeof body - at, transaction ? "]}" : "]}}");
	expect(m, transaction ? "TransactWriteItems" : "BatchWriteItem", body, good,
		transaction ? ERR_TRANSACTION_CANCELED : ERR_ITEM_COLLECTION_SIZE);
	if (!good)
		memcpy(m->row, before.row, sizeof m->row);
}

/* All rows of collections in the engine, and the bytes that they tell. */
static unsigned read_rows(struct fixture *fx, unsigned *bytes)
{
	struct store_reader *r = fixture_reader(fx);
	uint8_t lo[CATALOG_KEY_BYTES], hi[CATALOG_KEY_BYTES];
	struct slice key, value;
	struct cursor *cur = NULL;
	struct view *v;
	unsigned rows = 0;

	*bytes = 0;
	cr_assert_eq(reader_view(r, &v, NULL), ERR_OK);
	cr_assert_eq(cursor_open(v, catalog_key('l', 0, lo), catalog_key('m', 0, hi), false, &cur, NULL), ERR_OK);
	for (; cursor_next(cur, &key, &value, NULL) == ERR_OK && slice_present(key); rows++)
		*bytes += (unsigned)(value.p[6] << 8 | value.p[7]);
	cursor_close(&cur);
	store_reader_release(r);
	store_reader_quiesce(r);
	return rows;
}

/* They are those of the model's collections, and no others (L1). */
static void check_rows(struct model *m)
{
	unsigned bytes, rows = read_rows(m->fx, &bytes), want_rows = 0, want = 0;

	for (int p = 0; p < PARTITIONS; p++) {
		want += (unsigned)collection_of(m, p);
		want_rows += collection_of(m, p) != 0;
	}
	cr_assert(rows == want_rows && bytes == want, "SEED=%u step %d: %u rows of %u bytes, not %u of %u", m->seed, m->step, rows,
		bytes, want_rows, want);
}

/* The rows of a table that has gone: freed between checkpoints, the last of which closing makes. */
static void await_no_rows(struct fixture *fx)
{
	unsigned bytes;

	fixture_reopen(fx);
	for (int ms = 0; read_rows(fx, &bytes) != 0; ms += 10) {
		cr_assert_lt(ms, 10000);
		usleep(10 * 1000);
	}
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

Test(collection, random_load)
{
	char dir[] = "/tmp/dynax-collection-XXXXXX";
	const char *seed = getenv("SEED"), *steps = getenv("STEPS");
	static struct model m;

	cr_assert_not_null(mkdtemp(dir));
	m.seed = m.rnd = seed != NULL ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)time(NULL);
	printf("SEED=%u\n", m.seed);
	m.fx = fixture_with(&(struct store_opts){ .engine = { .dir = dir, .durability = DURABILITY_NONE },
		.collection_bytes = LIMIT });
	create(m.fx);
	for (int last = steps != NULL ? atoi(steps) : 3000; m.step < last; m.step++) {
		int what = pick(&m, 10);

		if (what < 8)
			one(&m, pick(&m, PARTITIONS), pick(&m, ROWS));
		else
			several(&m, what == 8);
		if (m.step % 50 == 0)
			check_rows(&m);
		if (m.step % 1000 == 999)
			fixture_reopen(m.fx);
	}
	cr_assert_gt(m.refusals, 0);
	ok(m.fx, "DeleteTable", "{'TableName':'tab'}", NULL);
	await_no_rows(m.fx);
	fixture_free(m.fx);
	nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}
