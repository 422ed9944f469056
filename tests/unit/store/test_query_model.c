/* test_query_model - random queries, paged at random, against a plain list of the items. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/store/query_support.h"

TestSuite(query_model, .init = session_open, .fini = session_close, .timeout = 120);

enum { PARTITIONS = 4, SORT = 40, ROUNDS = 400 };

/* What is stored: item [p][s] has sort key s - 20, and stands in the index under g = (p + s) mod 3 and h = 7 s mod 11. */
static bool stored[PARTITIONS][SORT];

static int g_of(int p, int s)
{
	return (p + s) % 3;
}

static int h_of(int s)
{
	return 7 * s % 11;
}

static void create(void)
{
	must(OP_CreateTable,
	     "{\"TableName\":\"model\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"
	     "{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
	     "{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"},{\"AttributeName\":\"g\",\"AttributeType\":\"N\"},{\"AttributeName\":\"h\","
	     "\"AttributeType\":\"N\"}],\"GlobalSecondaryIndexes\":[{\"IndexName\":\"idx\",\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":"
	     "\"HASH\"},{\"AttributeName\":\"h\",\"KeyType\":\"RANGE\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}]}");
}

static void change(unsigned *seed)
{
	int p = rand_r(seed) % PARTITIONS, s = rand_r(seed) % SORT;

	stored[p][s] = rand_r(seed) % 4 != 0;
	if (stored[p][s])
		mustf(OP_PutItem, "{\"TableName\":\"model\",\"Item\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"},\"g\":{\"N\":\"%d\"},\"h\":{\"N\":\"%d\"},"
		      "\"t\":{\"S\":\"%d.%d\"}}}", p, s - 20, g_of(p, s), h_of(s), p, s);
	else
		mustf(OP_DeleteItem, "{\"TableName\":\"model\",\"Key\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"}}}", p, s - 20);
}

/* A condition on the range key, as text and as a test. */
struct range {
	int op, lo, hi;
	char text[64];
};

static struct range random_range(unsigned *seed, int span, int least)
{
	static const char *const form[] = { "", " AND %s = :l", " AND %s < :l", " AND %s <= :l", " AND %s > :l", " AND %s >= :l",
					    " AND %s BETWEEN :l AND :h" };
	struct range r = { .op = rand_r(seed) % 7, .lo = rand_r(seed) % span + least };

	r.hi = r.lo + rand_r(seed) % 10;
	snprintf(r.text, sizeof r.text, form[r.op], span == SORT ? "sk" : "h");
	return r;
}

static bool in(const struct range *r, int v)
{
	switch (r->op) {
	case 0: return true;
	case 1: return v == r->lo;
	case 2: return v < r->lo;
	case 3: return v <= r->lo;
	case 4: return v > r->lo;
	case 5: return v >= r->lo;
	default: return v >= r->lo && v <= r->hi;
	}
}

/* The tags of a page's items, appended; and its start key for the next, copied. */
static char *take(const char *got, const char *find, char *tags)
{
	const char *token = strstr(got, "\"LastEvaluatedKey\":"), *end = token != NULL ? token : got + strlen(got), *p;

	for (p = strstr(got, find); p != NULL && p < end; p = strstr(p + 1, find)) {
		strncat(tags, p + strlen(find), strcspn(p + strlen(find), "\""));
		strcat(tags, " ");
	}
	if (token == NULL)
		return NULL;
	token += strlen("\"LastEvaluatedKey\":");
	return strndup(token, (size_t)(strstr(token, "}}") + 2 - token));
}

static void run(const char *request, const char *find, unsigned *seed, char *tags)
{
	char *key = NULL;
	int pages = 0;

	*tags = 0;
	do {
		const char *got = mustf(OP_Query, "{%s,\"Limit\":%d%s%s}", request, 1 + rand_r(seed) % 12,
					key != NULL ? ",\"ExclusiveStartKey\":" : "", key != NULL ? key : "");

		free(key);
		key = take(got, find, tags);
		cr_assert_lt(pages++, 300);
	} while (key != NULL);
}

static void query_table(unsigned *seed)
{
	int p = rand_r(seed) % PARTITIONS;
	bool back = rand_r(seed) % 2;
	struct range r = random_range(seed, SORT, -20);
	char request[512], got[4096], want[4096] = "";

	snprintf(request, sizeof request, "\"TableName\":\"model\",\"ScanIndexForward\":%s,\"KeyConditionExpression\":\"pk = :p%s\","
		 "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"p%d\"}", back ? "false" : "true", r.text, p);
	if (r.op != 0)
		snprintf(request + strlen(request), 64, ",\":l\":{\"N\":\"%d\"}", r.lo);
	if (r.op == 6)
		snprintf(request + strlen(request), 64, ",\":h\":{\"N\":\"%d\"}", r.hi);
	strcat(request, "}");
	run(request, "\"t\":{\"S\":\"", seed, got);
	for (int i = 0; i < SORT; i++) {
		int s = back ? SORT - 1 - i : i;

		if (stored[p][s] && in(&r, s - 20))
			snprintf(want + strlen(want), 16, "%d.%d ", p, s);
	}
	cr_assert_str_eq(got, want, "%s", request);
}

/* In the index ties may stand in any order, but the same one in both directions: compare the numbers and the set. */
static void query_index(unsigned *seed)
{
	int g = rand_r(seed) % 3;
	struct range r = random_range(seed, 11, 0);
	char request[512], forth[4096], back[4096], all[8192];
	size_t n;
	int expected = 0;

	snprintf(request, sizeof request, "\"TableName\":\"model\",\"IndexName\":\"idx\",\"KeyConditionExpression\":\"g = :p%s\","
		 "\"ExpressionAttributeValues\":{\":p\":{\"N\":\"%d\"}", r.text, g);
	if (r.op != 0)
		snprintf(request + strlen(request), 64, ",\":l\":{\"N\":\"%d\"}", r.lo);
	if (r.op == 6)
		snprintf(request + strlen(request), 64, ",\":h\":{\"N\":\"%d\"}", r.hi);
	strcat(request, "}");
	run(request, "\"h\":{\"N\":\"", seed, forth);
	strcat(request, ",\"ScanIndexForward\":false");
	run(request, "\"h\":{\"N\":\"", seed, back);
	for (int p = 0; p < PARTITIONS; p++)
		for (int s = 0; s < SORT; s++)
			expected += stored[p][s] && g_of(p, s) == g && in(&r, h_of(s));
	snprintf(all, sizeof all, "%s%s", forth, back);
	int last = -1, count = 0;
	for (char *t = strtok(all, " "); t != NULL; t = strtok(NULL, " "), count++) {
		int h = atoi(t);

		if (count != expected)
			cr_assert(count < expected ? h >= last : h <= last, "%s: %s / %s", request, forth, back);
		last = h;
	}
	cr_assert_eq(count, 2 * expected, "%s: %s / %s", request, forth, back);
	n = strlen(forth);
	cr_assert_eq(n, strlen(back));
}

Test(query_model, random_pages)
{
	unsigned seed = (unsigned)time(NULL);

	cr_log_info("SEED %u", seed);
	create();
	for (int i = 0; i < 120; i++)
		change(&seed);
	for (int i = 0; i < ROUNDS; i++) {
		change(&seed);
		query_table(&seed);
		query_index(&seed);
	}
}
