/* Conditions: what binding refuses, and what is true of an item. */
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

TestSuite(expr_condition, .init = open_world, .fini = close_world);

static const char item[] =
        "{ n: 5, s: \"hello\", b: 'abc', t: true, z: null, l: [1, \"x\", [2], 'q'], ss: ss(\"a\",\"b\"),"
        "ns: ns(1,2,3), bs: bs('a'), m: { x: 1, y: [10, 20], z: { d: 7 } }, n2: 5.0, s2: \"help\", e: \"\" }";

static const char *refused(const char *text, const char *names_text, const char *values)
{
	struct condition *c;

	return bind_condition(&w, EXPR_FILTER, text, names_text, values, &c);
}

static bool truth(const char *text, const char *values, const char *of)
{
	struct condition *c;
	const char *words = bind_condition(&w, EXPR_CONDITION, text, NULL, values, &c);

	cr_assert(words == NULL, "%s: %s", text, words);
	return condition_eval(c, val(&w, of));
}

struct claim { const char *text, *values; };

static void all(const struct claim *c, bool want)
{
	for (; c->text != NULL; c++)
		cr_expect(truth(c->text, c->values, item) == want, "%s with %s is not %s", c->text, c->values,
			want ? "true" : "false");
}

Test(expr_condition, true_of_an_item)
{
	static const struct claim claims[] = { { "n = :v", "{ :v: 5 }" },
		                               { "n = :v", "{ :v: 5.00 }" },
		                               { "n = n2", NULL },
		                               { "n <> :v", "{ :v: 6 }" },
		                               { "n <> :v", "{ :v: \"5\" }" },
		                               { "lacking <> :v", "{ :v: 1 }" },
		                               { "lacking <> gone", NULL },
		                               { "ss = :v", "{ :v: ss(\"b\",\"a\") }" },
		                               { "m = :v", "{ :v: { z: { d: 7 }, y: [10,20], x: 1 } }" },
		                               { "n < :v", "{ :v: 10 }" },
		                               { "n <= :v", "{ :v: 5 }" },
		                               { "n > :v", "{ :v: -1 }" },
		                               { "n >= :v", "{ :v: 5 }" },
		                               { "s < :v", "{ :v: \"hem\" }" },
		                               { "b < :v", "{ :v: 'abd' }" },
		                               { "s < s2", NULL },
		                               { ":v < n", "{ :v: 4 }" },
		                               { "n BETWEEN :a AND :b", "{ :a: 5, :b: 5 }" },
		                               { "n between :a and n2", "{ :a: 1 }" },
		                               { "n IN (:a, :b)", "{ :a: \"5\", :b: 5 }" },
		                               { "l[0] IN (n, m.x)", NULL },
		                               { "attribute_exists(s)", NULL },
		                               { "attribute_exists(m.z.d)", NULL },
		                               { "attribute_exists(l[3])", NULL },
		                               { "attribute_exists(z)", NULL },
		                               { "attribute_not_exists(l[4])", NULL },
		                               { "attribute_not_exists(m.q)", NULL },
		                               { "attribute_not_exists(s.x)", NULL },
		                               { "attribute_not_exists(m[0])", NULL },
		                               { "attribute_not_exists(l.a)", NULL },
		                               { "attribute_type(n, :t)", "{ :t: \"N\" }" },
		                               { "attribute_type(ns, :t)", "{ :t: \"NS\" }" },
		                               { "attribute_type(z, :t)", "{ :t: \"NULL\" }" },
		                               { "attribute_type(:v, :t)", "{ :t: \"BOOL\", :v: true }" },
		                               { "begins_with(s, :v)", "{ :v: \"he\" }" },
		                               { "begins_with(b, :v)", "{ :v: 'ab' }" },
		                               { "begins_with(s, e)", NULL },
		                               { "begins_with(:v, s)", "{ :v: \"hello world\" }" },
		                               { "contains(s, :v)", "{ :v: \"ell\" }" },
		                               { "contains(b, :v)", "{ :v: 'bc' }" },
		                               { "contains(s, e)", NULL },
		                               { "contains(ss, :v)", "{ :v: \"a\" }" },
		                               { "contains(ns, :v)", "{ :v: 2.0 }" },
		                               { "contains(bs, :v)", "{ :v: 'a' }" },
		                               { "contains(l, :v)", "{ :v: [2] }" },
		                               { "contains(l, :v)", "{ :v: 1.0 }" },
		                               { "size(s) = n", NULL },
		                               { "size(l) = :v", "{ :v: 4 }" },
		                               { "size(m) < n", NULL },
		                               { "size(b) >= :v", "{ :v: 3 }" },
		                               { "size(ss) BETWEEN :v AND n", "{ :v: 2 }" },
		                               { "size(e) = :v", "{ :v: 0 }" },
		                               { "size(:x) > :v", "{ :v: 1, :x: \"ab\" }" },
		                               { "size(:x) = :v", "{ :v: 3, :x: \"ab\u00ff\" }" },
		                               { "size(:x) = :v", "{ :v: 3, :x: \"\u00e9\U0001d11e\" }" },
		                               { "size(s) IN (:v, n)", "{ :v: 9 }" },
		                               { "size(n) <> :v", "{ :v: 1 }" },
		                               { "m.x < m.y[1]", NULL },
		                               { "NOT n = :v", "{ :v: 6 }" },
		                               { "NOT NOT n = :v", "{ :v: 5 }" },
		                               { "n = :v OR s = :v AND s2 = :v", "{ :v: 5 }" },
		                               { "(n = :v OR s = :v) AND NOT s2 = :v", "{ :v: 5 }" },
		                               { "NOT (n = :v AND s = :v)", "{ :v: 5 }" },
		                               { "n2 BETWEEN n AND n AND size(s) = n", NULL },
		                               { "n = :v AND (s = :v OR (t = :v OR NOT z = :v))", "{ :v: 5 }" },
		                               { NULL, NULL } };

	all(claims, true);
}

Test(expr_condition, not_true_of_an_item)
{
	static const struct claim claims[] = { { "n = :v", "{ :v: \"5\" }" },
		                               { "lacking = :v", "{ :v: 1 }" },
		                               { "lacking = gone", NULL },
		                               { "n <> n2", NULL },
		                               { "n < :v", "{ :v: 5 }" },
		                               { "n < :v", "{ :v: \"9\" }" },
		                               { "lacking < :v", "{ :v: 1 }" },
		                               { "l < :v", "{ :v: 1 }" },
		                               { "n BETWEEN l AND :b", "{ :b: 9 }" },
		                               { "s BETWEEN n AND :b", "{ :b: 9 }" },
		                               { "lacking BETWEEN :a AND :b", "{ :a: 1, :b: 2 }" },
		                               { "lacking IN (gone, n)", NULL },
		                               { "n IN (:a)", "{ :a: [5] }" },
		                               { "attribute_exists(l[99])", NULL },
		                               { "attribute_type(lacking, :t)", "{ :t: \"S\" }" },
		                               { "begins_with(n, :v)", "{ :v: \"5\" }" },
		                               { "begins_with(s, :v)", "{ :v: 'he' }" },
		                               { "begins_with(s, :v)", "{ :v: \"hello!\" }" },
		                               { "contains(n, :v)", "{ :v: 5 }" },
		                               { "contains(ns, :v)", "{ :v: \"2\" }" },
		                               { "contains(ss, :v)", "{ :v: ss(\"a\",\"b\") }" },
		                               { "contains(l, :v)", "{ :v: 2 }" },
		                               { "contains(m, :v)", "{ :v: \"x\" }" },
		                               { "contains(lacking, :v)", "{ :v: \"x\" }" },
		                               { "size(n) = :v", "{ :v: 1 }" },
		                               { "size(t) < :v", "{ :v: 1 }" },
		                               { "size(lacking) = :v", "{ :v: 0 }" },
		                               { "size(s) = :v", "{ :v: \"5\" }" },
		                               { "NOT n = :v AND n = :w", "{ :v: 5, :w: 5 }" },
		                               { "n = :v AND s = :v OR s2 = :v", "{ :v: 5 }" },
		                               { "NOT (n = :v OR s = :v)", "{ :v: 5 }" },
		                               { NULL, NULL } };

	all(claims, false);
}

Test(expr_condition, no_item)
{
	cr_assert(truth("attribute_not_exists(pk)", NULL, NULL));
	cr_assert(truth("pk <> :p", "{ :p: 1 }", NULL));
	cr_assert(!truth("pk = :p", "{ :p: 1 }", NULL));
	cr_assert(truth(":a = :b", "{ :a: 1, :b: 1.0 }", NULL));
}

Test(expr_condition, placeholders)
{
	struct condition *c;

	cr_assert_text(refused("#a = :v", "{ #b: \"x\" }", "{ :v: 1 }"),
	               "Invalid FilterExpression: An expression attribute name "
	               "used in the document path is not defined; attribute name: #a");
	cr_assert_text(refused("a = :nope", NULL, "{ :v: 1 }"),
	               "Invalid FilterExpression: An expression attribute value used in "
	               "expression is not defined; attribute value: :nope");
	cr_assert_text(refused("begins_with(:hello, #a, #b)", NULL, NULL),
	               "Invalid FilterExpression: An expression attribute "
	               "value used in expression is not defined; attribute value: :hello");
	cr_assert(bind_condition(&w, EXPR_FILTER, "#a.#b = :v", "{ #a: \"m\", #b: \"x.y\", #c: \"c\" }",
	                         "{ :v: 1, :w: 2 }", &c) == NULL);
	cr_assert(condition_eval(c, val(&w, "{ m: { \"x.y\": 1 } }")));
	cr_assert(expr_env_unused(&w.env, &w.f) == ERR_VALIDATION);
	cr_assert_text(w.f.text, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#c}");
	cr_assert(bind_condition(&w, EXPR_FILTER, "a = :v", NULL, "{ :v: 1, :w: 2, :x: 3 }", &c) == NULL);
	cr_assert(expr_env_unused(&w.env, &w.f) == ERR_VALIDATION);
	cr_assert_text(w.f.text, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w, :x}");
	/* One that evaluation may never reach is used all the same. */
	cr_assert(bind_condition(&w, EXPR_FILTER, "a = :v OR b = :w", NULL, "{ :v: 1, :w: 2 }", &c) == NULL);
	cr_assert(expr_env_unused(&w.env, &w.f) == ERR_OK);
}

Test(expr_condition, maps_of_placeholders)
{
	cr_assert_text(refused("a = :v", "{ a: \"x\" }", NULL),
	               "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"");
	cr_assert_text(refused("a = :v", NULL, "{ v: 1 }"),
	               "ExpressionAttributeValues contains invalid key: Syntax error; key: \"v\"");
	cr_assert_text(refused("a = :v", NULL, "{ \":a-b\": 1 }"),
		"ExpressionAttributeValues contains invalid key: Syntax error; key: \":a-b\"");
	cr_assert_text(refused("a = :v", NULL, "{ \":\": 1 }"),
	               "ExpressionAttributeValues contains invalid key: Syntax error; key: \":\"");
	cr_assert_text(refused("a = :v", "{ \"\": \"x\" }", NULL),
		"ExpressionAttributeNames contains invalid key: The expression attribute map contains an empty key;");
	cr_assert_text(refused("a = :v", "{ }", NULL), "ExpressionAttributeNames must not be empty");
	cr_assert_text(refused("a = :v", NULL, "{ }"), "ExpressionAttributeValues must not be empty");
	cr_assert(strstr(refused("a = :v", "{ #a: \"\" }", NULL), "Empty attribute name") != NULL);
	cr_assert(expr_env_init(&w.env, names(&w, "{ #a: \"x\" }"), SLICE_NONE, false, &w.arena, &w.f) ==
	          ERR_VALIDATION);
	cr_assert_text(w.f.text, "ExpressionAttributeNames can only be specified when using expressions");
}

Test(expr_condition, operands)
{
	static const struct { const char *text, *values, *words; } t[] = {
		{ "attribute_exists(things, a) and a=b", NULL,
		  "Incorrect number of operands for operator or function; operator or "
		  "function: attribute_exists, number of operands: 2" },
		{ "begins_with(things, size(a), b)", NULL,
		  "Incorrect number of operands for operator or function; operator or "
		  "function: begins_with, number of operands: 3" },
		{ "size(things, a) > b", NULL,
		  "Incorrect number of operands for operator or function; operator or function: size, "
		  "number of operands: 2" },
		{ "attribute_type(a, size(a)) and a=b", NULL,
		  "Incorrect operand type for operator or function; operator or function: "
		  "attribute_type, operand type: N" },
		{ "attribute_type(a, b)", NULL,
		  "Incorrect operand type for operator or function; operator or function: attribute_type, "
		  "operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}" },
		{ "attribute_type(a, :v)", "{ :v: \"DOG\" }",
		  "Invalid attribute type name found; type: DOG, valid types: "
		  "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}" },
		{ "begins_with(:v, a)", "{ :v: ns(1) }",
		  "Incorrect operand type for operator or function; operator or function: "
		  "begins_with, operand type: NS" },
		{ "size(size(a)) > b", NULL,
		  "Incorrect operand type for operator or function; operator or function: size, operand "
		  "type: N" },
		{ "size(:v) = :v", "{ :v: 1 }",
		  "Incorrect operand type for operator or function; operator or function: size, operand "
		  "type: N" },
		{ "attribute_not_exists(size(:v))", "{ :v: 1 }",
		  "Incorrect operand type for operator or function; operator or "
		  "function: size, operand type: N" },
		{ "attribute_not_exists(size(:v))", "{ :v: \"1\" }",
		  "Operator or function requires a document path; operator or "
		  "function: attribute_not_exists" },
		{ "attribute_exists(:v)", "{ :v: \"1\" }",
		  "Operator or function requires a document path; operator or function: "
		  "attribute_exists" },
		{ "x < :l", "{ :l: [] }",
		  "Incorrect operand type for operator or function; operator or function: <, operand type: L" },
		{ ":l >= x", "{ :l: null }",
		  "Incorrect operand type for operator or function; operator or function: >=, operand type: "
		  "NULL" },
		{ "a BETWEEN :a AND :b", "{ :a: 1, :b: [] }",
		  "Incorrect operand type for operator or function; operator or function: "
		  "BETWEEN, operand type: L" },
		{ "a between :b and :a", "{ :a: \"a\", :b: 1 }",
		  "The BETWEEN operator requires same data type for lower and upper bounds; "
		  "lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}" },
		{ "a between :b and :a", "{ :a: \"a\", :b: \"b\" }",
		  "The BETWEEN operator requires upper bound to be greater than or equal "
		  "to lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: "
		  "{S:a}" },
		{ "a BETWEEN :a AND :b", "{ :a: 'ab', :b: 'a' }",
		  "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: "
		  "AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=2 cap=2]}, upper bound operand: AttributeValue: "
		  "{B:java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]}" },
		{ "contains(s, s)", NULL,
		  "The first operand must be distinct from the remaining operands for this operator or function; "
		  "operator: contains, first operand: [s]" },
		{ "a.b[1] = a.b[1]", NULL,
		  "The first operand must be distinct from the remaining operands for this operator or function; "
		  "operator: =, first operand: [a, b, [1]]" },
		/* Condition by condition, in the order of the text. */
		{ "begins_with(sk, :v) AND pk = :missing", "{ :v: 1 }",
		  "Incorrect operand type for operator or function; operator or "
		  "function: begins_with, operand type: N" },
		{ "pk = :missing AND begins_with(sk, :v)", "{ :v: 1 }",
		  "An expression attribute value used in expression is not defined; "
		  "attribute value: :missing" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert_text(refused(t[i].text, NULL, t[i].values),
		               arena_printf(&w.arena, "Invalid FilterExpression: %s", t[i].words));
}

Test(expr_condition, what_it_touches)
{
	struct condition_at at = { 0, 0 };
	struct condition *c;

	cr_assert(bind_condition(&w, EXPR_FILTER, "a = b.c OR size(d[1]) > :v AND NOT e IN (f)", NULL, "{ :v: 1 }",
	                         &c) == NULL);
	for (const char *n = "abdef"; *n != '\0'; n++)
		cr_assert(condition_uses(c, slice_of(n, 1)));
	cr_assert(!condition_uses(c, SLICE_LIT("c")) && !condition_uses(c, SLICE_LIT("v")));
	cr_assert(condition_nests(c, SLICE_LIT("b")) && condition_nests(c, SLICE_LIT("d")));
	cr_assert(!condition_nests(c, SLICE_LIT("a")) && !condition_nests(c, SLICE_LIT("f")));
	for (const char *n = "abdef"; *n != '\0'; n++)
		cr_assert(slice_eq(condition_next_name(c, &at), slice_of(n, 1)));
	cr_assert(!slice_present(condition_next_name(c, &at)) && !slice_present(condition_next_name(c, &at)));
}
