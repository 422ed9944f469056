/* Random operations on a store beside a plain model; what it answers, and what it holds, must be what the model says.
 *
 * SEED=n repeats a run, STEPS=n makes it longer. */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/table_model.h"
#include "tests/unit/store/fixture.h"

enum { BODY = 64 * 1024 };

/* Append b to the text in a, which has BODY bytes. */
static void append(char *a, const char *b, size_t n)
{
	size_t len = strlen(a);

	cr_assert(len + n < BODY, "test buffer too small");
	memcpy(a + len, b, n);
	a[len + n] = '\0';
}

struct random_run {
	struct fixture *fx;
	struct table_model model;
	unsigned seed;
	uint64_t state;
	int step;
	char body[BODY], want[BODY], item[MODEL_ITEM_TEXT];
};

static unsigned rnd(struct random_run *r, unsigned n)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(r->state >> 33) % n;
}

static void at(struct random_run *r, const char *what)
{
	cr_assert(false, "SEED=%u step %d: %s\nrequest %s", r->seed, r->step, what, r->body);
}

static struct outcome call(struct random_run *r, const char *op, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static struct outcome call(struct random_run *r, const char *op, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->body, sizeof r->body, fmt, args);
	va_end(args);
	return run(r->fx, op, r->body);
}

static void expect(struct random_run *r, struct outcome o, bool good, const char *want)
{
	char text[512];

	if ((o.code == ERR_OK) == good && (!good || strcmp(o.json, want) == 0) && (good || o.code == ERR_CONDITION_FAILED
	    || o.code == ERR_TRANSACTION_CANCELED))
		return;
	snprintf(text, sizeof text, "got %.200s, want %s %.200s", o.json, good ? "success" : "failure", want);
	at(r, text);
}

static struct model_item random_item(struct random_run *r)
{
	struct model_item x = { .exists = true, .v = (int)rnd(r, 10), .group = (int)rnd(r, MODEL_GROUPS + 1) - 1 };

	x.pad = rnd(r, 2) != 0 ? (int)rnd(r, 64) : 0;
	return x;
}

/* ---- writes ---- */

/* "Attributes" of the old image, if there is one. */
static void want_old(struct random_run *r, int p, int s)
{
	if (!r->model.item[p][s].exists) {
		strcpy(r->want, "{}");
		return;
	}
	model_item_json(&r->model, p, s, r->item);
	snprintf(r->want, sizeof r->want, "{\"Attributes\":%s}", r->item);
}

/* A condition that is sometimes false; empty = none. */
static const char *random_condition(struct random_run *r, const struct model_item *x, bool *holds)
{
	switch (rnd(r, 4)) {
	case 0:
		*holds = !x->exists;
		return ",\"ConditionExpression\":\"attribute_not_exists(pk)\"";
	case 1:
		*holds = x->exists && x->v < 5;
		return ",\"ConditionExpression\":\"v < :five\",\"ExpressionAttributeValues\":{\":five\":{\"N\":\"5\"}}";
	default:
		*holds = true;
		return "";
	}
}

static void do_put(struct random_run *r)
{
	int p = (int)rnd(r, MODEL_PARTITIONS), s = (int)rnd(r, MODEL_ROWS);
	struct model_item x = random_item(r);
	char json[MODEL_ITEM_TEXT];
	bool holds;
	const char *condition = random_condition(r, &r->model.item[p][s], &holds);

	want_old(r, p, s);
	model_json(p, s, &x, json);
	struct outcome o = call(r, "PutItem", "{\"TableName\":\"tbl\",\"Item\":%s,\"ReturnValues\":\"ALL_OLD\"%s}", json, condition);

	expect(r, o, holds, r->want);
	if (holds)
		r->model.item[p][s] = x;
}

static void do_delete(struct random_run *r)
{
	int p = (int)rnd(r, MODEL_PARTITIONS), s = (int)rnd(r, MODEL_ROWS);
	bool holds;
	const char *condition = random_condition(r, &r->model.item[p][s], &holds);

	want_old(r, p, s);
	struct outcome o = call(r, "DeleteItem", "{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"}},"
		"\"ReturnValues\":\"ALL_OLD\"%s}", p, s, condition);

	expect(r, o, holds, r->want);
	if (holds)
		r->model.item[p][s].exists = false;
}

static void do_update(struct random_run *r)
{
	int p = (int)rnd(r, MODEL_PARTITIONS), s = (int)rnd(r, MODEL_ROWS), add = (int)rnd(r, 3);
	struct model_item x = r->model.item[p][s];
	bool conditional = rnd(r, 2) != 0, holds = !conditional || (x.exists && x.v < 5);
	int group = (int)rnd(r, MODEL_GROUPS + 1) - 1;

	if (!x.exists)
		x = (struct model_item){ .exists = true, .v = 0, .group = -1 };
	x.v += add;
	x.group = group;
	model_json(p, s, &x, r->item);
	snprintf(r->want, sizeof r->want, "{\"Attributes\":%s}", r->item);
	char values[128];
	size_t n = (size_t)snprintf(values, sizeof values, "\":zero\":{\"N\":\"0\"},\":add\":{\"N\":\"%d\"}", add);

	if (conditional)
		n += (size_t)snprintf(values + n, sizeof values - n, ",\":five\":{\"N\":\"5\"}");
	if (group >= 0)
		snprintf(values + n, sizeof values - n, ",\":g\":{\"S\":\"g%d\"}", group);
	struct outcome o = call(r, "UpdateItem", "{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"}},"
		"\"UpdateExpression\":\"SET v = if_not_exists(v, :zero) + :add%s\",%s\"ReturnValues\":\"ALL_NEW\","
		"\"ExpressionAttributeValues\":{%s}}", p, s, group >= 0 ? ", g = :g" : " REMOVE g",
		conditional ? "\"ConditionExpression\":\"v < :five\"," : "", values);

	expect(r, o, holds, r->want);
	if (holds)
		r->model.item[p][s] = x;
}

static void do_batch(struct random_run *r)
{
	int p = (int)rnd(r, MODEL_PARTITIONS), first = (int)rnd(r, MODEL_ROWS), n = 1 + (int)rnd(r, MODEL_ROWS - 1);
	size_t len = (size_t)snprintf(r->body, sizeof r->body, "{\"RequestItems\":{\"tbl\":[");
	char json[MODEL_ITEM_TEXT];

	for (int i = 0; i < n; i++) {
		int s = (first + i) % MODEL_ROWS;
		struct model_item x = random_item(r);

		x.exists = rnd(r, 3) != 0;
		model_json(p, s, &x, json);
		len += (size_t)snprintf(r->body + len, sizeof r->body - len, "%s", i != 0 ? "," : "");
		if (x.exists)
			len += (size_t)snprintf(r->body + len, sizeof r->body - len, "{\"PutRequest\":{\"Item\":%s}}", json);
		else
			len += (size_t)snprintf(r->body + len, sizeof r->body - len,
				"{\"DeleteRequest\":{\"Key\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"}}}}", p, s);
		r->model.item[p][s] = x;
	}
	snprintf(r->body + len, sizeof r->body - len, "]}}");
	expect(r, run(r->fx, "BatchWriteItem", r->body), true, "{\"UnprocessedItems\":{}}");
}

/* Move one unit of v between two items, if the first has one: both or none. */
static void do_transaction(struct random_run *r)
{
	int p = (int)rnd(r, MODEL_PARTITIONS), a = (int)rnd(r, MODEL_ROWS), b = (a + 1) % MODEL_ROWS;
	struct model_item *x = &r->model.item[p][a], *y = &r->model.item[p][b];
	bool holds = x->exists && x->v > 0;
	struct outcome o = call(r, "TransactWriteItems", "{\"TransactItems\":["
		"{\"Update\":{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"}},"
		"\"UpdateExpression\":\"ADD v :one\",\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}},"
		"{\"Update\":{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"}},"
		"\"UpdateExpression\":\"ADD v :less\",\"ConditionExpression\":\"v > :zero\","
		"\"ExpressionAttributeValues\":{\":less\":{\"N\":\"-1\"},\":zero\":{\"N\":\"0\"}}}}]}", p, b, p, a);

	expect(r, o, holds, "{}");
	if (!holds)
		return;
	x->v--;
	if (!y->exists)
		*y = (struct model_item){ .exists = true, .v = 0, .group = -1 };
	y->v++;
}

/* ---- reads ---- */

static void do_get(struct random_run *r)
{
	int p = (int)rnd(r, MODEL_PARTITIONS), s = (int)rnd(r, MODEL_ROWS);

	strcpy(r->want, "{}");
	if (r->model.item[p][s].exists) {
		model_item_json(&r->model, p, s, r->item);
		snprintf(r->want, sizeof r->want, "{\"Item\":%s}", r->item);
	}
	expect(r, call(r, "GetItem", "{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"}}}", p, s), true, r->want);
}

/* The LastEvaluatedKey of an answer, as the ExclusiveStartKey of the next; empty at the end. */
static void next_page(const char *json, char out[MODEL_ITEM_TEXT])
{
	static const char member[] = "\"LastEvaluatedKey\":";
	const char *from = strstr(json, member);
	size_t n = 0;
	int depth = 0;

	out[0] = '\0';
	if (from == NULL)
		return;
	from += sizeof member - 1;
	do {
		depth += from[n] == '{';
		depth -= from[n] == '}';
		n++;
	} while (depth > 0);
	snprintf(out, MODEL_ITEM_TEXT, ",\"ExclusiveStartKey\":%.*s", (int)n, from);
}

/* Append the text between "Items":[ and its end. */
static void add_items(const char *json, char *all)
{
	const char *from = strstr(json, "\"Items\":["), *to;
	int depth = 0;

	cr_assert_not_null(from, "no Items in %s", json);
	from += strlen("\"Items\":[");
	for (to = from; *to != ']' || depth > 0; to++) {
		depth += *to == '{';
		depth -= *to == '}';
	}
	if (to == from)
		return;
	if (all[0] != '\0')
		append(all, ",", 1);
	append(all, from, (size_t)(to - from));
}

/* Read all pages of `op` on `rest` of the request into all, as the items' JSON with commas. */
static void read_pages(struct random_run *r, const char *op, const char *rest, char *all)
{
	char from[MODEL_ITEM_TEXT] = "";

	all[0] = '\0';
	do {
		struct outcome o = call(r, op, "{\"TableName\":\"tbl\",\"Limit\":%u%s%s}", 1 + rnd(r, 20), rest, from);

		if (o.code != ERR_OK)
			at(r, o.json);
		add_items(o.json, all);
		next_page(o.json, from);
	} while (from[0] != '\0');
}

static char read_text[BODY];

static void do_query(struct random_run *r)
{
	int p = (int)rnd(r, MODEL_PARTITIONS), low = (int)rnd(r, MODEL_ROWS);
	bool down = rnd(r, 2) != 0;
	char rest[512];

	r->want[0] = '\0';
	for (int i = 0; i < MODEL_ROWS; i++) {
		int s = down ? MODEL_ROWS - 1 - i : i;

		if (s < low || !r->model.item[p][s].exists)
			continue;
		model_item_json(&r->model, p, s, r->item);
		if (r->want[0] != '\0')
			append(r->want, ",", 1);
		append(r->want, r->item, strlen(r->item));
	}
	snprintf(rest, sizeof rest, ",\"KeyConditionExpression\":\"pk = :p AND sk >= :low\",\"ScanIndexForward\":%s,"
		"\"ExpressionAttributeValues\":{\":p\":{\"S\":\"p%d\"},\":low\":{\"N\":\"%d\"}}", down ? "false" : "true", p, low);
	read_pages(r, "Query", rest, read_text);
	if (strcmp(read_text, r->want) != 0)
		at(r, "a Query's pages differ from the model");
}

/* Every existing item of the model for which `in` holds appears once in text, and nothing else does. */
static void same_set(struct random_run *r, const char *text, bool (*in)(const struct model_item *x, int arg), int arg)
{
	size_t n = 0, bytes = 0;

	for (int p = 0; p < MODEL_PARTITIONS; p++) {
		for (int s = 0; s < MODEL_ROWS; s++) {
			if (!r->model.item[p][s].exists || !in(&r->model.item[p][s], arg))
				continue;
			model_item_json(&r->model, p, s, r->item);
			if (strstr(text, r->item) == NULL)
				at(r, r->item);
			bytes += strlen(r->item);
			n++;
		}
	}
	if (strlen(text) != bytes + (n != 0 ? n - 1 : 0))
		at(r, "more was read than there is");
}

static bool any(const struct model_item *x, int arg)
{
	(void)x, (void)arg;
	return true;
}

static bool in_group(const struct model_item *x, int g)
{
	return x->group == g;
}

static void do_scan(struct random_run *r)
{
	unsigned segments = 1 + rnd(r, 3);
	char rest[128];
	static char one[BODY];

	one[0] = '\0';
	for (unsigned i = 0; i < segments; i++) {
		snprintf(rest, sizeof rest, ",\"Segment\":%u,\"TotalSegments\":%u", i, segments);
		read_pages(r, "Scan", rest, read_text);
		if (one[0] != '\0' && read_text[0] != '\0')
			append(one, ",", 1);
		append(one, read_text, strlen(read_text));
	}
	same_set(r, one, any, 0);
}

static void do_index(struct random_run *r)
{
	int g = (int)rnd(r, MODEL_GROUPS);
	char rest[256];

	snprintf(rest, sizeof rest, ",\"IndexName\":\"by-g\",\"KeyConditionExpression\":\"g = :g\","
		"\"ExpressionAttributeValues\":{\":g\":{\"S\":\"g%d\"}}", g);
	read_pages(r, "Query", rest, read_text);
	same_set(r, read_text, in_group, g);
	/* In the order of v, the index' sort key. */
	long last = -1;

	for (const char *at_v = read_text; (at_v = strstr(at_v, "\"v\":{\"N\":\"")) != NULL;) {
		at_v += strlen("\"v\":{\"N\":\"");
		long v = strtol(at_v, NULL, 10);

		if (v < last)
			at(r, "an index is out of order");
		last = v;
	}
}

/* Counters agree with what is there, counted and measured. */
static void do_describe(struct random_run *r)
{
	struct outcome o = call(r, "DescribeTable", "{\"TableName\":\"tbl\"}");
	size_t bytes = 0, n = model_count(&r->model);
	char want[64];

	for (int p = 0; p < MODEL_PARTITIONS; p++) {
		for (int s = 0; s < MODEL_ROWS; s++) {
			const struct model_item *x = &r->model.item[p][s];

			if (!x->exists)
				continue;
			/* pk "pN", sk and v of one or two digits: a byte, and one for each two digits of either side of it. */
			bytes += 2 + 2 + 2 + (s == 0 ? 1 : 2) + 1 + (x->v == 0 ? 1 : 2);
			bytes += x->group >= 0 ? 1 + 2 : 0;
			bytes += x->pad > 0 ? 3 + (size_t)x->pad : 0;
		}
	}
	snprintf(want, sizeof want, "\"ItemCount\":%zu,\"KeySchema\":[{\"AttributeName\":\"pk\"", n);
	if (strstr(o.json, want) == NULL)
		at(r, "ItemCount differs");
	snprintf(want, sizeof want, "\"TableSizeBytes\":%zu,", bytes);
	if (strstr(o.json, want) == NULL)
		at(r, o.json);
}

/* ---- the runs ---- */

static void step(struct random_run *r)
{
	static void (*const all[])(struct random_run *) = { do_put, do_put, do_put, do_delete, do_update, do_update, do_batch,
		do_transaction, do_get, do_get, do_query, do_scan, do_index, do_describe };

	all[rnd(r, sizeof all / sizeof *all)](r);
}

static struct random_run *start(const char *dir)
{
	struct random_run *r = calloc(1, sizeof *r);
	const char *seed = getenv("SEED");

	r->seed = seed != NULL ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)time(NULL) ^ (unsigned)getpid();
	r->state = r->seed;
	r->fx = fixture_new(dir);
	ok(r->fx, "CreateTable", "{'TableName':'tbl','BillingMode':'PAY_PER_REQUEST',"
		"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'N'},"
		"{'AttributeName':'g','AttributeType':'S'},{'AttributeName':'v','AttributeType':'N'}],"
		"'GlobalSecondaryIndexes':[{'IndexName':'by-g','KeySchema':[{'AttributeName':'g','KeyType':'HASH'},"
		"{'AttributeName':'v','KeyType':'RANGE'}],'Projection':{'ProjectionType':'ALL'}}]}", NULL);
	fprintf(stderr, "SEED=%u\n", r->seed);
	return r;
}

static int steps(int otherwise)
{
	const char *s = getenv("STEPS");

	return s != NULL ? atoi(s) : otherwise;
}

Test(store_random, ephemeral)
{
	struct random_run *r = start(NULL);

	for (int n = steps(3000); r->step < n; r->step++)
		step(r);
	fixture_free(r->fx);
	free(r);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

Test(store_random, durable_with_reopening)
{
	char dir[] = "/tmp/dynax-store-XXXXXX";

	cr_assert_not_null(mkdtemp(dir));
	struct random_run *r = start(dir);

	for (int n = steps(600); r->step < n; r->step++) {
		step(r);
		if (rnd(r, 100) == 0)
			fixture_reopen(r->fx);
	}
	fixture_reopen(r->fx);
	do_scan(r);
	do_describe(r);
	fixture_free(r->fx);
	free(r);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
