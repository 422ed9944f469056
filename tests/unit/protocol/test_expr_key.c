/* Key conditions: what they refuse, and what they come to. */
#include <criterion/criterion.h>

#include "test_expr_support.h"

static struct world w;

static void open_world(void)
{
	world_open(&w);
}

static void close_world(void)
{
	world_close(&w);
}

TestSuite(expr_key, .init = open_world, .fini = close_world);

/* A constant, which SLICE_LIT is not. */
#define ATTR(name, type) { { (const uint8_t *)(name), sizeof(name) - 1 }, type }

static const struct key_schema hash_only = { .hash = { ATTR("a", VALUE_S) }, .hashes = 1 };
static const struct key_schema plain = { .hash = { ATTR("pk", VALUE_S) }, .range = { ATTR("sk", VALUE_S) },
	.hashes = 1, .ranges = 1 };
static const struct key_schema wide = {
	.hash = { ATTR("h1", VALUE_S), ATTR("h2", VALUE_S) },
	.range = { ATTR("r1", VALUE_S), ATTR("r2", VALUE_N), ATTR("r3", VALUE_S) },
	.hashes = 2, .ranges = 3 };

static struct key_condition k;

static const char *bind(const char *text, const char *values, const struct key_schema *ks)
{
	struct expr *e = NULL;
	struct condition *c;
	enum err rc = expr_env_init(&w.env, SLICE_NONE, val(&w, values), true, &w.arena, &w.f);

	if (rc == ERR_OK)
		rc = expr_parse(EXPR_KEY_CONDITION, slice_str(text), &e, &w.f);
	if (rc == ERR_OK)
		rc = condition_bind(e, &w.env, &c, &w.f);
	if (rc == ERR_OK)
		rc = key_condition_fit(e, c, ks, &k, &w.f);
	expr_unref(&e);
	return rc == ERR_OK ? NULL : w.f.text;
}

Test(expr_key, ranges)
{
	static const struct { const char *text; enum key_op op; } t[] = {
		{ "pk = :p AND sk < :s", KEY_OP_LT },
		{ ":p = pk AND :s > sk", KEY_OP_LT },
		{ "sk <= :s AND pk = :p", KEY_OP_LE },
		{ "(pk = :p) AND (sk > :s)", KEY_OP_GT },
		{ "(pk = :p AND :s <= sk)", KEY_OP_GE },
		{ "pk=:p and(begins_with (sk, :s))", KEY_OP_BEGINS_WITH },
		{ "pk = :p AND sk BETWEEN :s AND :s", KEY_OP_BETWEEN },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *words = bind(t[i].text, "{ :p: \"x\", :s: \"y\" }", &plain);

		cr_assert(words == NULL, "%s: %s", t[i].text, words);
		cr_assert(k.op == t[i].op && k.range_eqs == 0, "%s", t[i].text);
		cr_assert_text(show(&w, k.hash[0]), "\"x\"");
		cr_assert_text(show(&w, k.lo), "\"y\"");
		cr_assert(slice_present(k.hi) == (k.op == KEY_OP_BETWEEN));
	}
	cr_assert(bind("pk = :p", "{ :p: \"x\" }", &plain) == NULL && k.op == KEY_OP_NONE && k.range_eqs == 0);
	cr_assert(bind("pk = :p AND sk = :s", "{ :p: \"x\", :s: \"y\" }", &plain) == NULL && k.op == KEY_OP_NONE &&
	          k.range_eqs == 1);
	cr_assert_text(show(&w, k.range_eq[0]), "\"y\"");
}

Test(expr_key, several_attributes)
{
	static const char v[] = "{ :s: \"x\", :n: 1 }", GAP[] = "RANGE key attributes r1 must have equality conditions "
		"specified in the query because a condition is present on key attribute r2";

	cr_assert(bind("r2 > :n AND h2 = :s AND r1 = :s AND h1 = :s", v, &wide) == NULL);
	cr_assert(k.range_eqs == 1 && k.op == KEY_OP_GT);
	cr_assert(bind("h1 = :s AND h2 = :s AND r1 = :s AND r2 = :n AND r3 = :s", v, &wide) == NULL &&
	          k.range_eqs == 3);
	cr_assert(strstr(bind("h1 = :s AND r1 = :s AND r2 = :n", v, &wide), "HASH") != NULL);
	cr_assert_text(bind("h1 = :s AND h2 = :s AND r2 = :n", v, &wide), GAP);
	cr_assert_text(bind("h1 = :s AND h2 = :s AND r1 > :s AND r2 = :n", v, &wide), GAP);
	cr_assert_text(bind("h1 = :s AND h2 = :s AND x = :n", v, &wide), "Query condition missed key schema element: r1");
	cr_assert(strstr(bind("h1 = :s AND h2 > :s", v, &wide), "HASH") != NULL);
}

Test(expr_key, refused)
{
	static const struct { const char *text, *values; const struct key_schema *ks; const char *words; } t[] = {
		{ "sk = :s", "{ :s: \"x\" }", &plain, "Query condition missed key schema element: pk" },
		{ "pk = :p AND foo = :p", "{ :p: \"x\" }", &plain, "Query condition missed key schema element: sk" },
		{ "pk > :p", "{ :p: \"x\" }", &plain, "Query key condition not supported" },
		{ ":a <= a", "{ :a: \"1\" }", &hash_only, "Query key condition not supported" },
		{ "a = :a AND b = :a", "{ :a: \"1\" }", &hash_only, "Query key condition not supported" },
		{ "begins_with(a, :a)", "{ :a: \"1\" }", &hash_only, "Query key condition not supported" },
		{ "a > :a", "{ :a: 1 }", &hash_only,
		  "One or more parameter values were invalid: Condition parameter type does not match schema type" },
		{ "pk = :p AND sk <> :s", "{ :p: \"x\", :s: \"y\" }", &plain,
		  "Invalid operator used in KeyConditionExpression: <>" },
		{ "a > b and size(b) > c or a > c", NULL, NULL, "Invalid operator used in KeyConditionExpression: OR" },
		{ "a in (b, size(c), d)", NULL, NULL, "Invalid operator used in KeyConditionExpression: IN" },
		{ "attribute_exists(a)", NULL, NULL,
		  "Invalid operator used in KeyConditionExpression: attribute_exists" },
		{ "contains(a.d, b)", NULL, NULL, "Invalid operator used in KeyConditionExpression: contains" },
		{ "not a > b", NULL, NULL, "Invalid operator used in KeyConditionExpression: NOT" },
		{ ":a between size(b) and size(a) and b > :b", "{ :a: \"1\", :b: \"1\" }", NULL,
		  "Invalid condition in "
		  "KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand" },
		{ "begins_with(:a, b) and a > :b", "{ :a: \"1\", :b: \"1\" }", NULL,
		  "Invalid condition in KeyConditionExpression: "
		  "begins_with operator must have the key attribute as its first operand" },
		{ "size(b) > a AND a.b > b AND b > c", NULL, NULL,
		  "KeyConditionExpressions cannot contain nested operations" },
		{ "a > size(b.d)", NULL, NULL, "KeyConditionExpressions cannot contain nested operations" },
		{ "b > a.b", NULL, NULL,
		  "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition" },
		{ "a between b and size(a)", NULL, NULL,
		  "Invalid condition in KeyConditionExpression: Multiple attribute names used in one "
		  "condition" },
		{ "b[0] > a", NULL, NULL, "KeyConditionExpressions cannot have conditions on nested attributes" },
		{ ":b > :a AND a < :b", "{ :a: 1, :b: 1 }", NULL,
		  "Invalid condition in KeyConditionExpression: No key attribute specified" },
		{ "b > :a AND b < :a and c = :a and d = :a", "{ :a: 1 }", NULL,
		  "KeyConditionExpressions must only contain one condition per "
		  "key" },
		{ ":a = a and b = :a and :a = c", "{ :a: \"a\" }", &plain,
		  "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)" },
		{ "a=:a and b=:a and c=:a and d=:a and e=:a and f=:a and g=:a and h=:a and i=:a and j=:a", "{ :a: \"a\" }", &plain,
		  "The number of query conditions (10) exceeds the number of key attributes defined in the schema (2)" },
		{ "pk = :p AND begins_with(sk, :s)", "{ :p: \"x\", :s: 1 }", &plain,
		  "Invalid KeyConditionExpression: Incorrect operand type "
		  "for operator or function; operator or function: begins_with, operand type: N" },
		{ "pk = :p", "{ :p: \"\" }", &plain,
		  "One or more parameter values are not valid. The AttributeValue for a key attribute "
		  "cannot contain an empty string value. Key: pk" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert_text(bind(t[i].text, t[i].values, t[i].ks), t[i].words);
	cr_assert(bind("z = :a", "{ :a: 1 }", NULL) == NULL);
}
