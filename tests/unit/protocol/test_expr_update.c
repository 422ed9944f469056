/* Updates and projections: what binding refuses, and what comes of an item. */
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

TestSuite(expr_update, .init = open_world, .fini = close_world);
TestSuite(expr_projection, .init = open_world, .fini = close_world);

static const char *update(const char *text, const char *values, const char *old)
{
	struct update *u;
	const char *words = bind_update(&w, text, NULL, values, &u);

	return words != NULL ? words : applied(&w, u, old, "{ pk: \"k\" }");
}

struct change_case { const char *text, *values, *old, *want; };

static void changes(const struct change_case *c)
{
	for (; c->text != NULL; c++) {
		const char *got = update(c->text, c->values, c->old);

		cr_expect(strcmp(got, c->want) == 0, "%s of %s\ngot:  %s\nwant: %s", c->text, c->old, got, c->want);
	}
}

Test(expr_update, assignments)
{
	static const struct change_case cases[] = {
		{ "SET a = :v, b = a, n = n + :o, m = n", "{ :v: \"NEW\", :o: 1 }", "{ a: \"OLD\", n: 1 }",
			"{a: \"NEW\", b: \"OLD\", m: 1, n: 2}" },
		{ "SET c = (if_not_exists(c, :d) - :a)", "{ :d: 10000, :a: 1 }", "{ }", "{c: 9999}" },
		{ "SET c = if_not_exists(c, :d)+:a", "{ :d: 0, :a: 5 }", "{ c: 9999 }", "{c: 10004}" },
		{ "SET l = list_append(if_not_exists(l, :e), :n)", "{ :e: [], :n: [\"1\"] }", "{ }", "{l: [\"1\"]}" },
		{ "SET l = list_append(:n, l)", "{ :n: [0] }", "{ l: [1, [2]] }", "{l: [0, 1, [2]]}" },
		{ "SET a = if_not_exists(b, if_not_exists(c, :v))", "{ :v: 3 }", "{ c: 1 }", "{a: 1, c: 1}" },
		{ "SET b = pk, x = if_not_exists(pk, :v)", "{ :v: 1 }", NULL, "{b: \"k\", pk: \"k\", x: \"k\"}" },
		{ "SET z = a.c.x", NULL, "{ a: { c: { x: 7 } } }", "{a: {c: {x: 7}}, z: 7}" },
		{ "REMOVE a SET b = a", NULL, "{ a: 1 }", "{b: 1}" },
		{ "SET a = :a - b, b = :a", "{ :a: 0.5 }", "{ b: 1 }", "{a: -0.5, b: 0.5}" },
		{ NULL, NULL, NULL, NULL } };

	changes(cases);
}

Test(expr_update, documents)
{
	static const struct change_case cases[] = {
		{ "SET a.b = :v", "{ :v: 1 }", "{ a: { c: 2 }, z: 0 }", "{a: {b: 1, c: 2}, z: 0}" },
		{ "SET a.c[1].x.y[1] = :v", "{ :v: 9 }", "{ a: { b: 3, c: [\"hi\", { x: { y: [3, 5, 7] } }] } }",
		  "{a: {b: 3, c: [\"hi\", {x: {y: [3, 9, 7]}}]}}" },
		{ "REMOVE a.c[1].x.y[1], a.c[1].q", NULL, "{ a: { b: 3, c: [\"hi\", { x: { y: [3, 5, 7] }, q: 2 }] } }",
		  "{a: {b: 3, c: [\"hi\", {x: {y: [3, 7]}}]}}" },
		{ "SET a.b = :v, a.c.d = :w, b.x = :v REMOVE a.x, b.y", "{ :v: 10, :w: \"dog\" }",
		  "{ a: { x: 3, y: 4, c: { y: 3 } }, b: { x: 1, y: 2 } }",
		  "{a: {b: 10, c: {d: \"dog\", y: 3}, y: 4}, b: {x: 10}}" },
		{ "REMOVE a.b", NULL, "{ a: { b: 1 } }", "{a: {}}" },
		{ "REMOVE a[0]", NULL, "{ a: [1] }", "{a: []}" },
		{ "REMOVE l[0], l[1]", NULL, "{ l: [\"a\", \"b\", \"c\"] }", "{l: [\"c\"]}" },
		{ "SET l[9] = :v", "{ :v: \"z\" }", "{ l: [\"c\"] }", "{l: [\"c\", \"z\"]}" },
		{ "SET a[84] = :a, a[37] = :b, a[17] = :c", "{ :a: 84, :b: 37, :c: 17 }", "{ a: [1] }",
		  "{a: [1, 17, 37, 84]}" },
		{ "REMOVE a[1] SET a[3] = :v", "{ :v: 17 }", "{ a: [2, 3, 4, 5, 6, 7] }", "{a: [2, 4, 17, 6, 7]}" },
		{ "REMOVE a[17], c, b.x", NULL, "{ a: [4], b: { } }", "{a: [4], b: {}}" },
		{ "set b.c=((c[1])+(b.a)),b.a = a,c[1] = a, c[4] = b.a - b.b, c[2] = b.c add c[8] :b, c[6] :a",
		  "{ :a: 2, :b: ss(\"a\") }", "{ a: \"k\", b: { a: 1, b: 2, c: 3 }, c: [1, 3] }",
		  "{a: \"k\", b: {a: \"k\", b: 2, c: 4}, c: [1, \"k\", 3, -1, 2, ss(\"a\")]}" },
		{ "SET a.c = :v", "{ :v: 7 }", "{ a: \"hello\" }",
		  "The document path provided in the update expression is invalid for update" },
		{ "SET a[0] = :v", "{ :v: 7 }", "{ a: { } }",
		  "The document path provided in the update expression is invalid for update" },
		{ "SET a.b.c = :v", "{ :v: 7 }", "{ a: { } }",
		  "The document path provided in the update expression is invalid for update" },
		{ "REMOVE c.c", NULL, "{ a: 1 }",
		  "The document path provided in the update expression is invalid for update" },
		{ "REMOVE a[5].x", NULL, "{ a: [1] }",
		  "The document path provided in the update expression is invalid for update" },
		{ "SET c.c = :v", "{ :v: 7 }", NULL,
		  "The document path provided in the update expression is invalid for update" },
		{ NULL, NULL, NULL, NULL }
	};

	changes(cases);
}

Test(expr_update, add_and_delete)
{
	static const struct change_case cases[] = {
		{ "ADD a :v", "{ :v: 4 }", "{ a: 3 }", "{a: 7}" },
		{ "ADD b :v", "{ :v: 7 }", NULL, "{b: 7, pk: \"k\"}" },
		{ "ADD a :v", "{ :v: ss(\"c\",\"a\") }", "{ a: ss(\"b\",\"a\") }", "{a: ss(\"a\", \"b\", \"c\")}" },
		{ "ADD a :v", "{ :v: ns(10,2) }", "{ a: ns(3,2) }", "{a: ns(2, 3, 10)}" },
		{ "ADD a :v", "{ :v: bs('x') }", "{ }", "{a: bs('x')}" },
		{ "ADD a.b :v, c[0] :v", "{ :v: 1 }", "{ a: { }, c: [1] }", "{a: {b: 1}, c: [2]}" },
		{ "DELETE a :v", "{ :v: ss(\"a\",\"x\") }", "{ a: ss(\"a\",\"b\") }", "{a: ss(\"b\")}" },
		{ "DELETE a :v", "{ :v: ss(\"a\") }", "{ a: ss(\"a\"), b: 1 }", "{b: 1}" },
		{ "DELETE a :v", "{ :v: ss(\"a\") }", "{ b: 1 }", "{b: 1}" },
		{ "DELETE a[0] :v", "{ :v: ns(1) }", "{ a: [ns(1), 2] }", "{a: [2]}" },
		{ "ADD s :i", "{ :i: 1 }", "{ s: \"t\" }",
		  "An operand in the update expression has an incorrect data type" },
		{ "ADD s :i", "{ :i: ns(1) }", "{ s: ss(\"1\") }",
		  "An operand in the update expression has an incorrect data type" },
		{ "DELETE s :i", "{ :i: ns(1) }", "{ s: 1 }",
		  "An operand in the update expression has an incorrect data type" },
		{ NULL, NULL, NULL, NULL }
	};

	changes(cases);
}

Test(expr_update, values_that_do_not_fit)
{
	static const struct change_case cases[] = {
		{ "SET c = z", NULL, "{ }",
		  "The provided expression refers to an attribute that does not exist in the item" },
		{ "SET x = :v, y = x", "{ :v: 4 }", "{ }",
		  "The provided expression refers to an attribute that does not exist in the item" },
		{ "SET l = list_append(absent, :n)", "{ :n: [] }", "{ }",
		  "The provided expression refers to an attribute that does not exist in the item" },
		{ "SET l = list_append(a, :n)", "{ :n: [] }", "{ a: 7 }",
		  "An operand in the update expression has an incorrect data type" },
		{ "SET e = a + :a", "{ :a: 1 }", "{ a: \"s\" }",
		  "An operand in the update expression has an incorrect data type" },
		{ "SET b = :a + :a", "{ :a: 9e125 }", "{ }",
		  "Number overflow. Attempting to store a number with magnitude larger than supported range" },
		{ "SET b = :a - :b", "{ :a: 1e50, :b: 1 }", "{ }",
		  "Number overflow. Attempting to store a number with magnitude larger than supported range" },
		{ NULL, NULL, NULL, NULL }
	};

	changes(cases);
}

/* A document of the given depth below the top level. */
static const char *nested(int depth)
{
	struct buf b;
	struct slice s;

	buf_init(&b);
	for (int i = 0; i < depth; i++)
		buf_put(&b, "[", 1);
	for (int i = 0; i < depth; i++)
		buf_put(&b, "]", 1);
	s = arena_copy(&w.arena, buf_slice(&b));
	buf_release(&b);
	return (const char *)s.p;
}

Test(expr_update, nesting)
{
	const char *values = arena_printf(&w.arena, "{ :v: %s }", nested(30));

	/* Whether a top-level value has depth 0 or 1 is value.c's rule: what matters is that going on must end. */
	cr_assert(strstr(update("SET a.b.c.d.e = :v", values, "{ a: { b: { c: { d: { } } } } }"),
	                 "Nesting Levels have exceeded") != NULL);
	cr_assert(strstr(update("SET a.b = :v", arena_printf(&w.arena, "{ :v: %s }", nested(20)), "{ a: { } }"),
	                 "Nesting") == NULL);
}

Test(expr_update, refused)
{
	static const struct { const char *text, *values, *words; } t[] = {
		{ "SET a.b = :v, a.b.c = :v", "{ :v: 1 }",
		  "Two document paths overlap with each other; must remove or rewrite one of "
		  "these paths; path one: [a, b], path two: [a, b, c]" },
		{ "SET a = :v REMOVE a", "{ :v: 1 }",
		  "Two document paths overlap with each other; must remove or rewrite one of these "
		  "paths; path one: [a], path two: [a]" },
		{ "SET a[1][1] = :v, a[1] = :v", "{ :v: 1 }",
		  "Two document paths overlap with each other; must remove or rewrite one of "
		  "these paths; path one: [a, [1], [1]], path two: [a, [1]]" },
		{ "SET a.b = :v, a[1] = :v", "{ :v: 1 }",
		  "Two document paths conflict with each other; must remove or rewrite one of these "
		  "paths; path one: [a, b], path two: [a, [1]]" },
		{ "set d[1] = a, d.b = a, c[1].a = a, c = if_not_exists(a)", NULL,
		  "Two document paths overlap with each other; must "
		  "remove or rewrite one of these paths; path one: [c, [1], a], path two: [c]" },
		{ "SET a.b = x, a.c = x, a = x, a.b = x", NULL,
		  "Two document paths overlap with each other; must remove or rewrite one "
		  "of these paths; path one: [a, b], path two: [a]" },
		{ "SET #c = if_not_exists(:c)", NULL,
		  "An expression attribute name used in the document path is not defined; attribute "
		  "name: #c" },
		{ "SET a = if_not_exists(:c)", NULL,
		  "An expression attribute value used in expression is not defined; attribute value: :c" },
		{ "set b = list_append(:a, a), c = if_not_exists(a) add a.b :a", "{ :a: \"a\" }",
		  "Incorrect operand type for operator or "
		  "function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND" },
		{ "delete a.b :a", "{ :a: 1 }",
		  "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: "
		  "ALLOWED_FOR_DELETE_OPERAND" },
		{ "add a :a", "{ :a: [1] }",
		  "Incorrect operand type for operator or function; operator: ADD, operand type: LIST, typeSet: "
		  "ALLOWED_FOR_ADD_OPERAND" },
		{ "set c = if_not_exists(a.b[1], a.b[1])", NULL,
		  "The first operand must be distinct from the remaining operands for this operator or function; "
		  "operator: if_not_exists, first operand: [a, b, [1]]" },
		{ "set a = if_not_exists(c)", NULL,
		  "Incorrect number of operands for operator or function; operator or function: "
		  "if_not_exists, number of operands: 1" },
		{ "set a = if_not_exists(if_not_exists(a, b), c)", NULL,
		  "Operator or function requires a document path; operator or "
		  "function: if_not_exists" },
		{ "SET l = list_append(l, :n)", "{ :n: {} }",
		  "Incorrect operand type for operator or function; operator or function: "
		  "list_append, operand type: M" },
		{ "set a = :a + :b", "{ :a: \"1\", :b: 1 }",
		  "Incorrect operand type for operator or function; operator or function: +, "
		  "operand type: S" },
		{ "set a = a - :a", "{ :a: ss(\"1\") }",
		  "Incorrect operand type for operator or function; operator or function: -, "
		  "operand type: SS" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert_text(update(t[i].text, t[i].values, "{ }"),
		               arena_printf(&w.arena, "Invalid UpdateExpression: %s", t[i].words));
}

Test(expr_update, what_it_does)
{
	struct update *u;
	struct buf b;

	cr_assert(bind_update(&w, "REMOVE a, b.c DELETE d :s", NULL, "{ :s: ss(\"x\") }", &u) == NULL);
	cr_assert(!update_creates(u) && update_touches(u, SLICE_LIT("b")) && !update_touches(u, SLICE_LIT("c")));
	cr_assert_text(applied(&w, u, NULL, "{ pk: 1 }"), "{pk: 1}");
	cr_assert(bind_update(&w, "REMOVE a ADD n :s", NULL, "{ :s: 1 }", &u) == NULL);
	cr_assert(update_creates(u));
	cr_assert(bind_update(&w, "SET a.c[1] = :v, a.b = :v REMOVE a.c[3], q", NULL, "{ :v: 7 }", &u) == NULL);
	buf_init(&b);
	cr_assert(update_returned(u, val(&w, "{ p: 1, a: { b: 1, c: [1, 2, 3], d: 4 } }"), &b));
	cr_assert_text(show(&w, buf_slice(&b)), "{a: {b: 1, c: [2]}}");
	buf_clear(&b);
	cr_assert(!update_returned(u, val(&w, "{ p: 1, a: { c: [1] } }"), &b) && b.n == 0);
	cr_assert(!update_returned(u, SLICE_NONE, &b) && b.n == 0);
	buf_release(&b);
}

static const char *project(const char *text, const char *names_text, const char *of)
{
	struct projection *p;
	const char *words = bind_projection(&w, text, names_text, &p);
	struct buf b;

	if (words != NULL)
		return words;
	buf_init(&b);
	projection_apply(p, val(&w, of), &b);
	cr_assert(item_check(buf_slice(&b)));
	words = show(&w, buf_slice(&b));
	buf_release(&b);
	return words;
}

Test(expr_projection, selects)
{
	static const char item[] = "{ a: { b: [0, 1, 2, 3], c: 5 }, x: \"hi\", y: [ { p: 1, q: 2 }, { q: 3 } ] }";
	struct slice name[] = { SLICE_LIT("x"), SLICE_LIT("a"), SLICE_LIT("x") };
	struct projection *p = projection_of_names(name, 3, &w.arena);
	struct buf b;

	cr_assert_text(project("x, a.c", NULL, item), "{a: {c: 5}, x: \"hi\"}");
	cr_assert_text(project("a.b[0], a.b[2]", NULL, item), "{a: {b: [0, 2]}}");
	cr_assert_text(project("a.b[2],a.b[9],a.b[1]", NULL, item), "{a: {b: [1, 2]}}");
	cr_assert_text(project("y[1].q, y[0].p, y[1].z", NULL, item), "{y: [{p: 1}, {q: 3}]}");
	cr_assert_text(project("a.b.c, x[0], q.y, y[7]", NULL, item), "{}");
	cr_assert_text(project(" #1 ,  #2.b ", "{ #1: \"z\", #2: \"a\" }", "{ a: { b: 1, c: 2 }, z: \"q\" }"),
	               "{a: {b: 1}, z: \"q\"}");
	cr_assert_text(project("#p", "{ #p: \"a.b\" }", item), "{}");
	buf_init(&b);
	projection_apply(p, val(&w, item), &b);
	cr_assert_text(show(&w, buf_slice(&b)), "{a: {b: [0, 1, 2, 3], c: 5}, x: \"hi\"}");
	buf_release(&b);
	cr_assert(slice_eq(projection_name(p, 0), SLICE_LIT("a")) && !projection_nests(p, SLICE_LIT("a")));
	cr_assert(slice_eq(projection_name(p, 1), SLICE_LIT("x")) && !slice_present(projection_name(p, 2)));
}

Test(expr_projection, refused)
{
	cr_assert_text(project("b[1], b.a, #a.b, a", "{ #a: \"a\" }", "{}"),
	               "Invalid ProjectionExpression: Two document paths overlap "
	               "with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]");
	cr_assert_text(project("a[3].b, #a.#b.b", "{ #a: \"a\", #b: \"[3]\" }", "{}"),
	               "Invalid ProjectionExpression: Two document paths "
	               "conflict with each other; must remove or rewrite one of these paths; path one: [a, [3], b], "
	               "path two: [a, [3], b]");
	cr_assert_text(project("a,b,a,#a", NULL, "{}"),
	               "Invalid ProjectionExpression: An expression attribute name used in the document "
	               "path is not defined; attribute name: #a");
}
