/* The parameters from before expressions, given as JSON like a client's. */
#include <criterion/criterion.h>

#include "protocol/expr_legacy.h"
#include "protocol/json.h"
#include "test_expr_support.h"

static struct world w;
static struct json_reader *reader;

static void open_world(void)
{
	world_open(&w);
	reader = json_reader_new();
}

static void close_world(void)
{
	json_reader_free(&reader);
	world_close(&w);
}

TestSuite(expr_legacy, .init = open_world, .fini = close_world);

static struct slice read(const struct shape *shape, const char *body)
{
	struct slice s;
	struct buf b;

	if (body == NULL)
		return SLICE_NONE;
	buf_init(&b);
	cr_assert(json_read(reader, shape, slice_str(body), &w.arena, &b, &w.f) == ERR_OK, "%s: %s", body, w.f.text);
	s = arena_copy(&w.arena, buf_slice(&b));
	buf_release(&b);
	return s;
}

#define PARAMETER(text) "One or more parameter values were invalid: " text

/* ---- Expected ---- */

static const char *expected(const char *body, const char *op, struct condition **c)
{
	enum err rc = legacy_expected(read(&shape_ExpectedAttributeMap, body), slice_str(op), &w.arena, c, &w.f);

	return rc == ERR_OK ? NULL : w.f.text;
}

Test(expr_legacy, expected_refused)
{
	static const struct { const char *body, *op, *words; } t[] = {
		{ "{\"v\":{}}", NULL, PARAMETER("Value must be provided when Exists is null for Attribute: v") },
		{ "{\"v\":{\"Exists\":true}}", NULL,
		  PARAMETER("Value must be provided when Exists is true for Attribute: v") },
		{ "{\"v\":{\"Exists\":false,\"Value\":{\"N\":\"1\"}}}", NULL,
		  PARAMETER("Value cannot be used when Exists is false for Attribute: v") },
		{ "{\"v\":{\"ComparisonOperator\":\"LE\",\"AttributeValueList\":[{\"NS\":[\"1\"]}]}}", NULL,
		  PARAMETER("ComparisonOperator LE is not valid for NS AttributeValue type") },
		{ "{\"a\":{\"ComparisonOperator\":\"LT\"}}", NULL,
		  PARAMETER("Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: a") },
		{ "{\"a\":{\"Exists\":true,\"ComparisonOperator\":\"LT\"}}", NULL,
		  PARAMETER("Exists and ComparisonOperator cannot be used together for Attribute: a") },
		{ "{\"a\":{\"Exists\":true,\"AttributeValueList\":[]}}", NULL,
		  PARAMETER("AttributeValueList can only be used with a ComparisonOperator for Attribute: a") },
		{ "{\"a\":{\"Value\":{\"S\":\"a\"},\"AttributeValueList\":[],\"ComparisonOperator\":\"LT\"}}", NULL,
		  PARAMETER("Value and AttributeValueList cannot be used together for Attribute: a") },
		{ "{\"a\":{\"Value\":{\"S\":\"a\"},\"ComparisonOperator\":\"BETWEEN\"}}", NULL,
		  PARAMETER("Invalid number of argument(s) for the BETWEEN ComparisonOperator") },
		{ "{\"a\":{\"Value\":{\"S\":\"a\"},\"ComparisonOperator\":\"NULL\"}}", NULL,
		  PARAMETER("Invalid number of argument(s) for the NULL ComparisonOperator") },
		{ "{\"a\":{\"AttributeValueList\":[],\"ComparisonOperator\":\"IN\"}}", NULL,
		  PARAMETER("Invalid number of argument(s) for the IN ComparisonOperator") },
		{ "{\"a\":{\"ComparisonOperator\":\"IN\",\"AttributeValueList\":[{\"S\":\"b\"},{\"N\":\"1\"}]}}", NULL,
		  PARAMETER("AttributeValues inside AttributeValueList must be of same type") },
		{ "{\"a\":{\"ComparisonOperator\":\"BETWEEN\",\"AttributeValueList\":[{\"S\":\"b\"},{\"S\":\"a\"}]}}",
		  NULL,
		  "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound" },
		{ "{\"a\":{\"ComparisonOperator\":\"CONTAINS\",\"AttributeValueList\":[{\"L\":[]}]}}", NULL,
		  PARAMETER("ComparisonOperator CONTAINS is not valid for L AttributeValue type") },
		{ "{\"a\":{\"ComparisonOperator\":\"BEGINS_WITH\",\"AttributeValueList\":[{\"N\":\"1\"}]}}", NULL,
		  PARAMETER("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type") },
		{ NULL, "AND", "ConditionalOperator cannot be used without Filter or Expected" },
		{ "{}", "OR", "ConditionalOperator cannot be used without Filter or Expected" },
		{ "{\"a\":{\"Exists\":false}}", "OR",
		  "ConditionalOperator can only be used when Filter or Expected has two or more elements" },
	};
	struct condition *c;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert_text(expected(t[i].body, t[i].op, &c), t[i].words);
	cr_assert(expected(NULL, NULL, &c) == NULL && c == NULL);
	cr_assert(expected("{}", NULL, &c) == NULL && c == NULL);
}

/* "OPERATOR [arguments]" of attribute a. */
static bool holds(const char *op, const char *arguments, const char *item)
{
	const char *body = arena_printf(&w.arena, "{\"a\":{\"ComparisonOperator\":\"%s\",\"AttributeValueList\":[%s]}}",
	                                op, arguments);
	struct condition *c;
	const char *words = expected(body, NULL, &c);

	cr_assert(words == NULL, "%s: %s", body, words);
	return condition_eval(c, val(&w, item));
}

Test(expr_legacy, operators)
{
	static const struct { const char *op, *arguments, *item; bool want; } t[] = {
		{ "EQ", "{\"N\":\"5.0\"}", "{ a: 5 }", true },
		{ "EQ", "{\"SS\":[\"y\",\"x\"]}", "{ a: ss(\"x\",\"y\") }", true },
		{ "EQ", "{\"L\":[]}", "{ a: [] }", true },
		{ "EQ", "{\"N\":\"5\"}", "{ a: \"5\" }", false },
		{ "NE", "{\"N\":\"5\"}", "{ b: 1 }", true },
		{ "NE", "{\"N\":\"5\"}", "{ a: 5 }", false },
		{ "LE", "{\"S\":\"b\"}", "{ a: \"b\" }", true },
		{ "LT", "{\"S\":\"b\"}", "{ a: \"b\" }", false },
		{ "GE", "{\"N\":\"2\"}", "{ a: 10 }", true },
		{ "GT", "{\"N\":\"2\"}", "{ a: [3] }", false },
		{ "BETWEEN", "{\"N\":\"2\"},{\"N\":\"3\"}", "{ a: 3 }", true },
		{ "IN", "{\"N\":\"2\"},{\"N\":\"3\"}", "{ a: 3 }", true },
		{ "IN", "{\"N\":\"2\"}", "{ a: ns(2) }", false },
		{ "NULL", "", "{ b: 1 }", true },
		{ "NULL", "", "{ a: null }", false },
		{ "NOT_NULL", "", "{ a: null }", true },
		{ "NOT_NULL", "", "{ }", false },
		{ "CONTAINS", "{\"S\":\"ell\"}", "{ a: \"hello\" }", true },
		{ "CONTAINS", "{\"N\":\"4\"}", "{ a: [2, 4] }", true },
		{ "CONTAINS", "{\"N\":\"4\"}", "{ a: \"4\" }", false },
		{ "NOT_CONTAINS", "{\"S\":\"x\"}", "{ a: \"hello\" }", true },
		{ "NOT_CONTAINS", "{\"S\":\"x\"}", "{ a: ss(\"x\") }", false },
		{ "NOT_CONTAINS", "{\"S\":\"x\"}", "{ b: 1 }", false },
		{ "BEGINS_WITH", "{\"B\":\"aGk=\"}", "{ a: 'hi there' }", true },
		{ "BEGINS_WITH", "{\"S\":\"h\"}", "{ a: 1 }", false },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert(holds(t[i].op, t[i].arguments, t[i].item) == t[i].want, "%s %s of %s", t[i].op,
		          t[i].arguments, t[i].item);
}

Test(expr_legacy, several)
{
	static const char two[] = "{\"v\":{\"Value\":{\"N\":\"1.0\"}},\"zz\":{\"Exists\":false}}";
	struct condition *c;

	cr_assert(expected(two, "AND", &c) == NULL);
	cr_assert(condition_eval(c, val(&w, "{ v: 1 }")) && !condition_eval(c, val(&w, "{ v: 1, zz: 1 }")));
	cr_assert(!condition_eval(c, val(&w, "{ v: 2 }")) && !condition_eval(c, SLICE_NONE));
	cr_assert(expected(two, "OR", &c) == NULL);
	cr_assert(condition_eval(c, val(&w, "{ v: 1, zz: 1 }")) && condition_eval(c, val(&w, "{ v: 2 }")));
	cr_assert(!condition_eval(c, val(&w, "{ v: 2, zz: 1 }")));
	cr_assert(condition_uses(c, SLICE_LIT("zz")) && !condition_uses(c, SLICE_LIT("z")));
	cr_assert(legacy_filter(read(&shape_FilterConditionMap,
	                             "{\"x\":{\"ComparisonOperator\":\"GE\",\"AttributeValueList\":"
	                             "[{\"N\":\"5.00\"}]}}"),
	                        SLICE_NONE, &w.arena, &c, &w.f) == ERR_OK);
	cr_assert(condition_eval(c, val(&w, "{ x: 5 }")) && !condition_eval(c, val(&w, "{ x: 4 }")));
	cr_assert(legacy_filter(read(&shape_FilterConditionMap, "{\"x\":{\"ComparisonOperator\":\"EQ\"}}"), SLICE_NONE,
	                        &w.arena, &c, &w.f) == ERR_VALIDATION);
	cr_assert_text(w.f.text, PARAMETER("Invalid number of argument(s) for the EQ ComparisonOperator"));
}

/* ---- AttributeUpdates ---- */

static const char *updated(const char *body, const char *old)
{
	struct update *u;

	if (legacy_updates(read(&shape_AttributeUpdates, body), &w.arena, &u, &w.f) != ERR_OK)
		return w.f.text;
	return applied(&w, u, old, "{ pk: 1 }");
}

Test(expr_legacy, updates)
{
	static const struct { const char *body, *old, *want; } t[] = {
		{ "{\"a\":{\"Value\":{\"S\":\"new\"}},\"b\":{\"Action\":\"ADD\",\"Value\":{\"N\":\"2\"}}}",
		  "{ a: \"old\" }", "{a: \"new\", b: 2}" },
		{ "{\"a.b\":{\"Value\":{\"N\":\"1\"}}}", "{ a: { b: 0 } }", "{a: {b: 0}, a.b: 1}" },
		{ "{\"a\":{\"Action\":\"DELETE\"}}", "{ a: 1, b: 2 }", "{b: 2}" },
		{ "{\"a\":{\"Action\":\"DELETE\",\"Value\":{\"NS\":[\"2\",\"9\"]}}}", "{ a: ns(1,2) }", "{a: ns(1)}" },
		{ "{\"a\":{\"Action\":\"ADD\",\"Value\":{\"L\":[{\"N\":\"3\"}]}}}", "{ a: [1] }", "{a: [1, 3]}" },
		{ "{\"a\":{\"Action\":\"ADD\",\"Value\":{\"L\":[{\"N\":\"3\"}]}}}", NULL, "{a: [3], pk: 1}" },
		{ NULL, NULL, "{pk: 1}" },
		{ "{}", NULL, "{pk: 1}" },
		{ "{\"a\":{\"Action\":\"ADD\",\"Value\":{\"N\":\"3\"}}}", "{ a: ss(\"x\") }",
		  "Type mismatch for attribute to update" },
		{ "{\"a\":{\"Action\":\"DELETE\",\"Value\":{\"NS\":[\"3\"]}}}", "{ a: 1 }",
		  "Type mismatch for attribute to update" },
		{ "{\"\":{\"Value\":{\"N\":\"1\"}}}", "{ }", PARAMETER("Empty attribute name") },
		{ "{\"a\":{\"Action\":\"PUT\"}}", "{ }",
		  PARAMETER("Only DELETE action is allowed when no attribute value is specified") },
		{ "{\"a\":{\"Action\":\"DELETE\",\"Value\":{\"L\":[]}}}", "{ }",
		  PARAMETER("DELETE action with value is not supported for the type L") },
		{ "{\"a\":{\"Action\":\"ADD\",\"Value\":{\"S\":\"\"}}}", "{ }",
		  PARAMETER("ADD action is not supported for the type S") },
	};
	struct update *u;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert_text(updated(t[i].body, t[i].old), t[i].want);
	cr_assert(legacy_updates(SLICE_NONE, &w.arena, &u, &w.f) == ERR_OK && update_creates(u));
	cr_assert(legacy_updates(read(&shape_AttributeUpdates, "{\"a\":{\"Action\":\"DELETE\"}}"), &w.arena, &u,
	                         &w.f) == ERR_OK);
	cr_assert(!update_creates(u) && update_touches(u, SLICE_LIT("a")));
}

/* ---- KeyConditions, AttributesToGet ---- */

#define ATTR(name, type) { { (const uint8_t *)(name), sizeof(name) - 1 }, type }
static const struct key_schema plain = {
	.hash = { ATTR("pk", VALUE_S) }, .range = { ATTR("sk", VALUE_S) }, .hashes = 1, .ranges = 1
};
static struct key_condition k;

static const char *key_conditions(const char *body, const struct key_schema *ks)
{
	return legacy_key_conditions(read(&shape_KeyConditions, body), ks, &w.arena, &k, &w.f) == ERR_OK ? NULL
	                                                                                                 : w.f.text;
}

#define EQ(name) "\"" name "\":{\"ComparisonOperator\":\"EQ\",\"AttributeValueList\":[{\"S\":\"x\"}]}"

Test(expr_legacy, key_conditions)
{
	cr_assert(key_conditions("{" EQ("pk") "," EQ("sk") "}", &plain) == NULL && k.range_eqs == 1 &&
	          k.op == KEY_OP_NONE);
	cr_assert(key_conditions("{" EQ("pk") ",\"sk\":{\"ComparisonOperator\":\"BETWEEN\",\"AttributeValueList\":[{"
	                                      "\"S\":\"a\"},"
	                                      "{\"S\":\"b\"}]}}",
	                         &plain) == NULL &&
	          k.op == KEY_OP_BETWEEN);
	cr_assert_text(show(&w, k.hi), "\"b\"");
	cr_assert_text(key_conditions("{" EQ("sk") "}", &plain), "Query condition missed key schema element: pk");
	cr_assert_text(key_conditions("{" EQ("pk") "," EQ("x") "}", &plain),
	               "Query condition missed key schema element: sk");
	cr_assert_text(
	        key_conditions(
	                "{" EQ("pk") ",\"sk\":{\"ComparisonOperator\":\"NE\",\"AttributeValueList\":[{\"S\":\"a\"}]}}",
	                &plain),
	        "Attempted conditional constraint is not an indexable operation");
	cr_assert_text(key_conditions("{\"pk\":{\"ComparisonOperator\":\"GT\",\"AttributeValueList\":[{\"S\":\"a\"}]}}",
	                              &plain),
	               "Query key condition not supported");
	cr_assert_text(key_conditions("{}", NULL), "Conditions can be of length 1 or 2 only");
	cr_assert_text(key_conditions("{" EQ("a") "," EQ("b") "," EQ("c") "}", &plain),
	               "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)");
	cr_assert_text(key_conditions("{\"a\":{\"ComparisonOperator\":\"EQ\"}}", NULL),
		PARAMETER("Invalid number of argument(s) for the EQ ComparisonOperator"));
	cr_assert(key_conditions("{\"a\":{\"ComparisonOperator\":\"NULL\"}}", NULL) == NULL);
}

/* A list is no body of its own. */
static struct slice attributes(const char *list)
{
	struct record r;

	cr_assert(record_open(&r, &shape_GetItemInput, read(&shape_GetItemInput,
		arena_printf(&w.arena, "{\"AttributesToGet\":%s}", list))));
	return r.m[GetItemInput_AttributesToGet];
}

Test(expr_legacy, attributes)
{
	struct projection *p;

	cr_assert(legacy_attributes(attributes("[\"b\",\"a\",\"c\",\"a\",\"b\"]"), &w.arena, &p, &w.f) ==
	          ERR_VALIDATION);
	cr_assert_text(w.f.text, PARAMETER("Duplicate value in attribute name: a"));
	cr_assert(legacy_attributes(attributes("[\"b\",\"size\"]"), &w.arena, &p, &w.f) == ERR_OK);
	cr_assert(legacy_attributes(attributes("[\"\"]"), &w.arena, &p, &w.f) == ERR_VALIDATION);
	cr_assert_text(w.f.text, PARAMETER("Empty attribute name"));
	cr_assert(legacy_attributes(attributes("[\"b\",\"size\"]"), &w.arena, &p, &w.f) == ERR_OK);
	cr_assert(slice_eq(projection_name(p, 0), SLICE_LIT("b")) && slice_eq(projection_name(p, 1), SLICE_LIT("size")));
	cr_assert(!projection_nests(p, SLICE_LIT("b")) && !projection_nests(p, SLICE_LIT("size")));
}
