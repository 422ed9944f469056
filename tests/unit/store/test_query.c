/* test_query - pages, start keys, indexes, segments and complaints of Query and Scan. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/store/query_support.h"

TestSuite(query, .init = session_open, .fini = session_close, .timeout = 60);

#define has(text, part) do { \
	const char *has_text = (text); \
	cr_assert(strstr(has_text, (part)) != NULL, "no %s in %.600s", (part), has_text); \
} while (0)
#define lacks(text, part) do { \
	const char *has_text = (text); \
	cr_assert(strstr(has_text, (part)) == NULL, "%s in %.600s", (part), has_text); \
} while (0)

static void create(const char *name, const char *sort_type, const char *more)
{
	mustf(OP_CreateTable, "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":[{\"AttributeName\":\"pk\","
	      "\"KeyType\":\"HASH\"}%s],\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}%s%s%s",
	      name, sort_type != NULL ? ",{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}" : "",
	      sort_type != NULL ? ",{\"AttributeName\":\"sk\",\"AttributeType\":\"" : "", sort_type != NULL ? sort_type : "",
	      more != NULL ? more : sort_type != NULL ? "\"}]}" : "]}");
}

static void create_gsi(const char *name, const char *projection)
{
	char more[600];

	snprintf(more, sizeof more, "\"},{\"AttributeName\":\"gpk\",\"AttributeType\":\"S\"},{\"AttributeName\":\"gsk\","
		 "\"AttributeType\":\"S\"}],\"GlobalSecondaryIndexes\":[{\"IndexName\":\"idx\",\"KeySchema\":[{\"AttributeName\":"
		 "\"gpk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"gsk\",\"KeyType\":\"RANGE\"}],\"Projection\":{%s}}]}", projection);
	create(name, "S", more);
}

static void create_lsi(const char *name)
{
	create(name, "S", "\"},{\"AttributeName\":\"lsk\",\"AttributeType\":\"S\"}],\"LocalSecondaryIndexes\":[{\"IndexName\":\"idx\","
	       "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"lsk\",\"KeyType\":\"RANGE\"}],"
	       "\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}]}");
}

static void put(const char *table, const char *item)
{
	mustf(OP_PutItem, "{\"TableName\":\"%s\",\"Item\":%s}", table, item);
}

#define PK_A "\"KeyConditionExpression\":\"pk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"}}"

/* The value of a member of an answer, copied; "" if it is not there. Members are objects, arrays or plain. */
static char *member(const char *json, const char *name)
{
	char key[64];
	const char *p, *end;
	int depth = 0;

	snprintf(key, sizeof key, "\"%s\":", name);
	p = strstr(json, key);
	if (p == NULL)
		return strdup("");
	p += strlen(key);
	for (end = p; *end != 0; end++) {
		if (*end == '{' || *end == '[')
			depth++;
		else if ((*end == '}' || *end == ']') && depth-- == 0)
			break;
		else if (*end == ',' && depth == 0)
			break;
	}
	return strndup(p, (size_t)(end - p));
}

static int number(const char *json, const char *name)
{
	char *m = member(json, name);
	int n = atoi(m);

	free(m);
	return n;
}

static int count_of(const char *text, const char *part)
{
	int n = 0;

	for (const char *p = strstr(text, part); p != NULL; p = strstr(p + 1, part))
		n++;
	return n;
}

/* Follow the pages of a request (its members without braces). Counts of pages and items; order: what stood in "name". */
struct walked {
	int pages, items, scanned;
	char order[4096];
};
static struct walked follow(enum op op, const char *request, const char *name)
{
	struct walked w = { 0 };
	char *key = strdup(""), find[32];

	snprintf(find, sizeof find, "\"%s\":{\"", name);
	do {
		const char *got = *key != 0 ? mustf(op, "{%s,\"ExclusiveStartKey\":%s}", request, key) : mustf(op, "{%s}", request);
		char *items = member(got, "Items");

		free(key);
		key = member(got, "LastEvaluatedKey");
		w.pages++;
		w.items += number(got, "Count");
		w.scanned += number(got, "ScannedCount");
		for (char *p = strstr(items, find); p != NULL; p = strstr(p + 1, find)) {
			const char *v = p + strlen(find) + 4; /* S":" */

			strncat(w.order, v, strcspn(v, "\""));
			strcat(w.order, " ");
		}
		free(items);
		cr_assert_lt(w.pages, 300, "no end of pages");
	} while (*key != 0);
	free(key);
	return w;
}

/* ---- pages ---- */

Test(query, limit_counts_evaluated_items)
{
	create("cnt", "N", NULL);
	for (int i = 0; i < 10; i++) {
		char item[100];

		snprintf(item, sizeof item, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"%d\"}}", i);
		put("cnt", item);
	}
	const char *got = must(OP_Query, "{\"TableName\":\"cnt\",\"KeyConditionExpression\":\"pk = :p\",\"FilterExpression\":"
		"\"other_attr = :x\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"},\":x\":{\"N\":\"1\"}},\"Limit\":3}");
	has(got, "\"Count\":0");
	has(got, "\"ScannedCount\":3");
	has(got, "\"Items\":[]");
	has(got, "\"LastEvaluatedKey\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"2\"}}");
	got = must(OP_Query, "{\"TableName\":\"cnt\"," PK_A ",\"Limit\":10,\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"9\"}}}");
	has(got, "\"Count\":0");
	lacks(got, "LastEvaluatedKey");
	got = must(OP_Query, "{\"TableName\":\"cnt\"," PK_A ",\"Limit\":11}");
	has(got, "\"Count\":10");
	lacks(got, "LastEvaluatedKey");
	/* A start key need not exist; descending goes the other way. */
	got = must(OP_Query, "{\"TableName\":\"cnt\"," PK_A ",\"ScanIndexForward\":false,\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"},"
		"\"sk\":{\"N\":\"1.5\"}}}");
	has(got, "\"Items\":[{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"}},{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"0\"}}]");
}

Test(query, a_page_is_a_megabyte_before_filter_and_projection)
{
	char *fat = malloc(60001);

	memset(fat, 'x', 60000);
	fat[60000] = 0;
	create("big", "N", NULL);
	for (int i = 0; i < 20; i++)
		mustf(OP_PutItem, "{\"TableName\":\"big\",\"Item\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"%d\"},\"d\":{\"S\":\"%s\"}}}", i, fat);
	free(fat);
	const char *got = must(OP_Query, "{\"TableName\":\"big\"," PK_A ",\"ProjectionExpression\":\"sk\"}");
	cr_assert(number(got, "Count") >= 17 && number(got, "Count") <= 18, "%s", got);
	has(got, "LastEvaluatedKey");
	struct walked w = follow(OP_Query, "\"TableName\":\"big\"," PK_A ",\"FilterExpression\":\"attribute_not_exists(d)\"", "sk");
	cr_assert_eq(w.pages, 2);
	cr_assert_eq(w.items, 0);
	cr_assert_eq(w.scanned, 20);
	w = follow(OP_Scan, "\"TableName\":\"big\",\"Select\":\"COUNT\"", "sk");
	cr_assert_eq(w.items, 20);
	cr_assert_eq(w.pages, 2);
	/* 10 items cost by the sum of their sizes (CAP-02), half of it when eventually consistent. */
	got = must(OP_Query, "{\"TableName\":\"big\"," PK_A ",\"Limit\":2,\"ConsistentRead\":true,\"ReturnConsumedCapacity\":\"TOTAL\","
		"\"FilterExpression\":\"attribute_not_exists(d)\"}");
	has(got, "\"ConsumedCapacity\":{\"CapacityUnits\":30.0,\"TableName\":\"big\"}"); /* (1 + 2 + 60000) * 2 = 120,0xx bytes */
}

/* Every physical partition that a Scan passes is rounded up by itself; an on-demand table has four. */
Test(query, a_scan_pays_for_each_physical_partition)
{
	const char *got;
	double sum = 0;

	create("comp", "S", NULL);
	put("comp", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"1\"}}");
	has(must(OP_Scan, "{\"TableName\":\"comp\",\"ConsistentRead\":true,\"ReturnConsumedCapacity\":\"TOTAL\"}"),
		"\"CapacityUnits\":4.0");
	has(must(OP_Scan, "{\"TableName\":\"comp\",\"ReturnConsumedCapacity\":\"TOTAL\"}"), "\"CapacityUnits\":2.0");
	for (int i = 0; i < 8; i++) {
		got = mustf(OP_Scan, "{\"TableName\":\"comp\",\"ReturnConsumedCapacity\":\"TOTAL\",\"Segment\":%d,\"TotalSegments\":8}", i);
		sum += strtod(strstr(got, "CapacityUnits") + strlen("CapacityUnits\":"), NULL);
	}
	cr_assert_float_eq(sum, 4.0, 0.01); /* two segments share a partition, and each pays for it */
	must(OP_UpdateTable, "{\"TableName\":\"comp\",\"BillingMode\":\"PROVISIONED\","
		"\"ProvisionedThroughput\":{\"ReadCapacityUnits\":5,\"WriteCapacityUnits\":5}}");
	has(must(OP_Scan, "{\"TableName\":\"comp\",\"ReturnConsumedCapacity\":\"TOTAL\"}"), "\"CapacityUnits\":0.5");
}

static double scan_cost(const char *rest)
{
	return strtod(strstr(mustf(OP_Scan, "{\"TableName\":\"wide\",\"ReturnConsumedCapacity\":\"TOTAL\"%s}", rest), "CapacityUnits")
		+ strlen("CapacityUnits\":"), NULL);
}

/* A table that begins with three partitions, by what it has provisioned: those that are empty cost, too. */
Test(query, a_scan_pays_for_the_partitions_that_there_are)
{
	must(OP_CreateTable, "{\"TableName\":\"wide\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
		"\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],"
		"\"ProvisionedThroughput\":{\"ReadCapacityUnits\":9000,\"WriteCapacityUnits\":5}}");
	cr_assert_float_eq(scan_cost(""), 1.5, 0.01);
	put("wide", "{\"pk\":{\"S\":\"a\"}}");
	cr_assert_float_eq(scan_cost(",\"ConsistentRead\":true"), 3, 0.01);
	/* A page ends in a partition, and the next one begins in it: both pay for it. */
	cr_assert_float_eq(scan_cost(",\"Limit\":1") + scan_cost(",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"}}"), 2, 0.01);
}

Test(query, counts_and_projections)
{
	create("comp", "S", NULL);
	put("comp", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"1\"},\"v\":{\"S\":\"x\"},\"m\":{\"M\":{\"k\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}}}}");
	put("comp", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"2\"}}");
	const char *got = must(OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"Select\":\"COUNT\"}");
	cr_assert_str_eq(got, "{\"Count\":2,\"ScannedCount\":2}");
	got = must(OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"Select\":\"COUNT\",\"Limit\":1}");
	has(got, "LastEvaluatedKey");
	got = must(OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"ProjectionExpression\":\"v, m.k[1]\"}");
	has(got, "\"Items\":[{\"m\":{\"M\":{\"k\":{\"L\":[{\"N\":\"2\"}]}}},\"v\":{\"S\":\"x\"}},{}]");
	got = must(OP_Query, "{\"TableName\":\"comp\",\"AttributesToGet\":[\"v\"],\"KeyConditions\":{\"pk\":{\"ComparisonOperator\":\"EQ\","
		"\"AttributeValueList\":[{\"S\":\"a\"}]}}}");
	has(got, "\"Items\":[{\"v\":{\"S\":\"x\"}},{}]");
	got = must(OP_Query, "{\"TableName\":\"comp\",\"KeyConditionExpression\":\"pk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"none\"}}}");
	cr_assert_str_eq(got, "{\"Count\":0,\"Items\":[],\"ScannedCount\":0}");
	got = must(OP_Query, "{\"TableName\":\"comp\",\"KeyConditionExpression\":\"pk = :p AND sk BETWEEN :b AND :b\","
		"\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"},\":b\":{\"S\":\"2\"}}}");
	has(got, "\"Count\":1");
}

Test(query, binary_sort_keys_and_tokens)
{
	create("cbin", "B", NULL);
	put("cbin", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"B\":\"AP8=\"},\"v\":{\"S\":\"1\"}}");
	put("cbin", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"B\":\"AP8B\"},\"v\":{\"S\":\"2\"}}");
	const char *got = must(OP_Query, "{\"TableName\":\"cbin\"," PK_A ",\"ProjectionExpression\":\"v\",\"Limit\":1}");
	has(got, "\"Items\":[{\"v\":{\"S\":\"1\"}}]");
	has(got, "\"LastEvaluatedKey\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"B\":\"AP8=\"}}");
	struct walked w = follow(OP_Query, "\"TableName\":\"cbin\"," PK_A ",\"Limit\":1", "v");
	cr_assert_str_eq(w.order, "1 2 ");
}

/* ---- start keys ---- */

Test(query, invalid_start_keys)
{
	create("comp", "S", NULL);
	create("hash", NULL, NULL);
	has(ask(OP_Query, "{\"TableName\":\"comp\",\"KeyConditionExpression\":\"pk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"right\"}},"
		"\"ExclusiveStartKey\":{\"pk\":{\"S\":\"wrong\"},\"sk\":{\"S\":\"0\"}}}"),
	    "ValidationException: The provided starting key is outside query boundaries based on provided conditions");
	cr_assert_str_eq(ask(OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"0\"},\"x\":{\"S\":\"y\"}}}"),
			 "ValidationException: The provided starting key is invalid");
	cr_assert_str_eq(ask(OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"ExclusiveStartKey\":{\"pk\":{\"N\":\"1\"},\"sk\":{\"S\":\"0\"}}}"),
			 "ValidationException: The provided key element does not match the schema");
	has(ask(OP_Query, "{\"TableName\":\"comp\",\"KeyConditionExpression\":\"pk = :p AND sk > :s\",\"ExpressionAttributeValues\":{\":p\":"
		"{\"S\":\"a\"},\":s\":{\"S\":\"5\"}},\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"1\"}}}"),
	    "The provided starting key does not match the range key predicate");
	cr_assert_str_eq(ask(OP_Scan, "{\"TableName\":\"comp\",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"}}}"),
			 "ValidationException: The provided starting key is invalid: The provided key element does not match the schema");
	has(ask(OP_Query, "{\"TableName\":\"hash\"," PK_A ",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"}}}"),
	    "The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:a}}");
	has(ask(OP_Query, "{\"TableName\":\"hash\",\"KeyConditionExpression\":\"pk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"\"}}}"), "empty string");
}

Test(query, a_token_belongs_to_its_segment)
{
	int right = 0;

	create("hash", NULL, NULL);
	put("hash", "{\"pk\":{\"S\":\"a\"}}");
	for (int s = 0; s < 100; s++) {
		const char *got = askf(OP_Scan, "{\"TableName\":\"hash\",\"TotalSegments\":100,\"Segment\":%d,\"ExclusiveStartKey\":{\"pk\":"
			"{\"S\":\"a\"}}}", s);

		if (*got == '{') {
			right++;
			has(got, "\"Count\":0");
		} else {
			has(got, "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
				"correct Segment. TotalSegments: 100 Segment: ");
		}
	}
	cr_assert_eq(right, 1);
}

/* ---- scans ---- */

Test(query, segments_share_a_table_out)
{
	static const int totals[] = { 1, 2, 3, 7 };
	char seen[50 * 3] = { 0 };

	create("cnt", "N", NULL);
	for (int i = 0; i < 50; i++)
		for (int k = 0; k < 3; k++)
			mustf(OP_PutItem, "{\"TableName\":\"cnt\",\"Item\":{\"pk\":{\"S\":\"k%02d\"},\"sk\":{\"N\":\"%d\"},\"o\":{\"S\":\"%d-%d\"}}}",
			      i, (k + 2) % 3 + 1, i, (k + 2) % 3);
	for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
		memset(seen, 0, sizeof seen);
		for (int s = 0; s < totals[t]; s++) {
			char request[200];
			int last_pk = -1, last_k = 0;

			snprintf(request, sizeof request, "\"TableName\":\"cnt\",\"Limit\":4,\"TotalSegments\":%d,\"Segment\":%d", totals[t], s);
			struct walked w = follow(OP_Scan, request, "o");
			for (char *p = strtok(w.order, " "); p != NULL; p = strtok(NULL, " ")) {
				int pk, k;

				cr_assert_eq(sscanf(p, "%d-%d", &pk, &k), 2);
				cr_assert_eq(seen[pk * 3 + k]++, 0);
				/* A partition is contiguous and in order. */
				cr_assert(pk == last_pk ? k == last_k + 1 : k == 0);
				last_pk = pk;
				last_k = k;
			}
		}
		cr_assert_eq(memchr(seen, 0, sizeof seen), NULL, "%d segments", totals[t]);
	}
}

/* ---- indexes ---- */

Test(query, pages_of_equal_index_keys)
{
	struct walked w, back;

	create_gsi("gtab", "\"ProjectionType\":\"ALL\"");
	for (int i = 1; i <= 7; i++)
		mustf(OP_PutItem, "{\"TableName\":\"gtab\",\"Item\":{\"pk\":{\"S\":\"p%d\"},\"sk\":{\"S\":\"s%d\"},\"gpk\":{\"S\":\"G\"},\"gsk\":{\"S\":"
		      "\"SAME\"}}}", i % 3, i);
	put("gtab", "{\"pk\":{\"S\":\"p0\"},\"sk\":{\"S\":\"sparse\"},\"gpk\":{\"S\":\"G\"}}");
#define ALL_G "\"TableName\":\"gtab\",\"IndexName\":\"idx\",\"Limit\":2,\"KeyConditionExpression\":\"gpk = :g\"," \
	"\"ExpressionAttributeValues\":{\":g\":{\"S\":\"G\"}}"
	w = follow(OP_Query, ALL_G, "sk");
	cr_assert_eq(w.items, 7);
	cr_assert_leq(w.pages, 5);
	back = follow(OP_Query, ALL_G ",\"ScanIndexForward\":false", "sk");
	for (int i = 0; i < 7; i++)
		cr_assert_eq(memcmp(w.order + 3 * i, back.order + 3 * (6 - i), 2), 0, "%s / %s", w.order, back.order);
	for (int i = 1; i <= 7; i++) {
		char one[16];

		snprintf(one, sizeof one, "s%d ", i);
		cr_assert_eq(count_of(w.order, one), 1);
	}
	w = follow(OP_Scan, "\"TableName\":\"gtab\",\"IndexName\":\"idx\",\"Limit\":2", "sk");
	cr_assert_eq(w.items, 7);
	char *key = member(must(OP_Query, "{" ALL_G "}"), "LastEvaluatedKey");
	cr_assert(strstr(key, "gpk") != NULL && strstr(key, "gsk") != NULL && strstr(key, "\"pk") != NULL && strstr(key, "\"sk") != NULL);
	cr_assert_eq(count_of(key, "\"S\""), 4);
	free(key);
}

Test(query, index_order_opposite_to_table_order)
{
	create_gsi("gtab", "\"ProjectionType\":\"KEYS_ONLY\"");
	put("gtab", "{\"pk\":{\"S\":\"Z\"},\"sk\":{\"S\":\"9\"},\"gpk\":{\"S\":\"G\"},\"gsk\":{\"S\":\"1\"}}");
	put("gtab", "{\"pk\":{\"S\":\"M\"},\"sk\":{\"S\":\"5\"},\"gpk\":{\"S\":\"G\"},\"gsk\":{\"S\":\"2\"}}");
	put("gtab", "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"1\"},\"gpk\":{\"S\":\"G\"},\"gsk\":{\"S\":\"3\"},\"v\":{\"S\":\"x\"}}");
	struct walked w = follow(OP_Query, ALL_G, "pk");
	cr_assert_str_eq(w.order, "Z M A ");
	w = follow(OP_Query, ALL_G ",\"ScanIndexForward\":false", "pk");
	cr_assert_str_eq(w.order, "A M Z ");
	lacks(must(OP_Query, "{" ALL_G ",\"ScanIndexForward\":false}"), "\"v\"");
	/* ... and moves with its item */
	put("gtab", "{\"pk\":{\"S\":\"Z\"},\"sk\":{\"S\":\"9\"},\"gpk\":{\"S\":\"G\"},\"gsk\":{\"S\":\"9\"}}");
	w = follow(OP_Query, ALL_G, "pk");
	cr_assert_str_eq(w.order, "M A Z ");
}

Test(query, what_a_global_index_refuses)
{
	create_gsi("gtab", "\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"inc\"]");
	has(ask(OP_Query, "{" ALL_G ",\"ConsistentRead\":true}"), "Consistent reads are not supported on global secondary indexes");
	has(ask(OP_Query, "{" ALL_G ",\"Select\":\"ALL_ATTRIBUTES\"}"), "One or more parameter values were invalid: Select type ALL_ATTRIBUTES "
	    "is not supported for global secondary index idx because its projection type is not ALL");
	has(ask(OP_Query, "{" ALL_G ",\"ProjectionExpression\":\"inc, pk, gsk, x.y, z\"}"),
	    "One or more parameter values were invalid: Global secondary index idx does not project [x, z]");
	has(must(OP_Query, "{" ALL_G ",\"ProjectionExpression\":\"inc, pk, gsk\"}"), "\"Items\":[]");
	has(ask(OP_Scan, "{\"TableName\":\"gtab\",\"IndexName\":\"nope\"}"), "ValidationException: The table does not have the specified index: nope");
}

Test(query, a_local_index_reaches_back)
{
	create_lsi("ltab");
	put("ltab", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"1\"},\"lsk\":{\"S\":\"z\"},\"v\":{\"S\":\"deep\"}}");
	const char *got = must(OP_Query, "{\"TableName\":\"ltab\",\"IndexName\":\"idx\",\"ConsistentRead\":true," PK_A "}");
	has(got, "\"Items\":[{\"lsk\":{\"S\":\"z\"},\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"1\"}}]");
	got = must(OP_Query, "{\"TableName\":\"ltab\",\"IndexName\":\"idx\",\"Select\":\"ALL_ATTRIBUTES\",\"ReturnConsumedCapacity\":\"INDEXES\"," PK_A "}");
	has(got, "\"v\":{\"S\":\"deep\"}");
	has(got, "\"ConsumedCapacity\":{\"CapacityUnits\":1.0,\"LocalSecondaryIndexes\":{\"idx\":{\"CapacityUnits\":0.5}},\"Table\":{\"CapacityUnits\":0.5},"
		 "\"TableName\":\"ltab\"}");
	got = must(OP_Query, "{\"TableName\":\"ltab\",\"IndexName\":\"idx\",\"ProjectionExpression\":\"v\"," PK_A "}");
	has(got, "\"Items\":[{\"v\":{\"S\":\"deep\"}}]");
}

/* ---- complaints ---- */

Test(query, parameters_that_do_not_go_together)
{
	static const struct {
		enum op op;
		const char *body, *text;
	} t[] = {
		{ OP_Query, "{\"TableName\":\"comp\"}",
		  "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request." },
		{ OP_Query, "{\"TableName\":\"comp\",\"AttributesToGet\":[\"a\"],\"QueryFilter\":{},\"ConditionalOperator\":\"OR\",\"KeyConditions\":{},"
			    "\"ProjectionExpression\":\"\",\"FilterExpression\":\"\",\"KeyConditionExpression\":\"\"}",
		  "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet, "
		  "QueryFilter, ConditionalOperator, KeyConditions} Expression parameters: {ProjectionExpression, FilterExpression, "
		  "KeyConditionExpression}" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"ScanFilter\":{},\"FilterExpression\":\"\"}",
		  "Non-expression parameters: {ScanFilter} Expression parameters: {FilterExpression}" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"ExpressionAttributeNames\":{\"#a\":\"a\"}}",
		  "ExpressionAttributeNames can only be specified when using expressions" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"ExpressionAttributeValues\":{\":a\":{\"S\":\"a\"}}}",
		  "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null" },
		{ OP_Query, "{\"TableName\":\"comp\",\"KeyConditions\":{},\"ExpressionAttributeValues\":{\":a\":{\"S\":\"a\"}}}",
		  "ExpressionAttributeValues can only be specified when using expressions: FilterExpression and KeyConditionExpression are null" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"Segment\":0}",
		  "The TotalSegments parameter is required but was not present in the request when Segment parameter is present" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"TotalSegments\":4}",
		  "The Segment parameter is required but was not present in the request when parameter TotalSegments is present" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"Segment\":5,\"TotalSegments\":5}",
		  "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"Limit\":0}", "Member must have value greater than or equal to 1" },
		{ OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"Select\":\"COUNT\",\"ProjectionExpression\":\"sk\"}",
		  "Cannot specify the ProjectionExpression when choosing to get only the Count" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"Select\":\"ALL_ATTRIBUTES\",\"AttributesToGet\":[\"sk\"]}",
		  "Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"Select\":\"ALL_PROJECTED_ATTRIBUTES\"}",
		  "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"Select\":\"SPECIFIC_ATTRIBUTES\"}",
		  "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES" },
		{ OP_Query, "{\"TableName\":\"comp\",\"KeyConditionExpression\":\"sk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"}}}",
		  "Query condition missed key schema element: pk" },
		{ OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"ExpressionAttributeNames\":{\"#unused\":\"x\"}}",
		  "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}" },
		{ OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"FilterExpression\":\"attribute_exists(sk)\"}",
		  "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk" },
		{ OP_Query, "{\"TableName\":\"comp\",\"KeyConditions\":{\"pk\":{\"ComparisonOperator\":\"EQ\",\"AttributeValueList\":[{\"S\":\"a\"}]}},"
			    "\"QueryFilter\":{\"pk\":{\"ComparisonOperator\":\"NOT_NULL\"}}}",
		  "QueryFilter can only contain non-primary key attributes: Primary key attribute: pk" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"FilterExpression\":\"attribute_exists(sk.x)\"}",
		  "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: sk" },
		{ OP_Query, "{\"TableName\":\"comp\"," PK_A ",\"ProjectionExpression\":\"v, pk[1]\"}",
		  "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk" },
		{ OP_Scan, "{\"TableName\":\"nothere\",\"FilterExpression\":\"\"}", "Invalid FilterExpression: The expression can not be empty;" },
		{ OP_Scan, "{\"TableName\":\"nothere\"}", "ResourceNotFoundException: Requested resource not found" },
		{ OP_Scan, "{\"TableName\":\"comp\",\"AttributesToGet\":[\"a\",\"a\"]}", "Duplicate value in attribute name: a" },
	};

	create("comp", "S", NULL);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		has(ask(t[i].op, t[i].body), t[i].text);
	has(must(OP_Scan, "{\"TableName\":\"comp\",\"FilterExpression\":\"pk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"}}}"), "\"Count\":0");
}
