/* What the parser takes and refuses, and in which words. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

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

TestSuite(expr_parse, .init = open_world, .fini = close_world);

/* NULL if it parses. */
static const char *parse(enum expr_kind kind, const char *text)
{
	struct expr *e = NULL;
	enum err rc = expr_parse(kind, slice_str(text), &e, &w.f);

	expr_unref(&e);
	return rc == ERR_OK ? NULL : w.f.text;
}

static void accept(enum expr_kind kind, const char *const *text)
{
	for (; *text != NULL; text++) {
		const char *words = parse(kind, *text);

		cr_expect(words == NULL, "%s: %s", *text, words);
	}
}

static void refuse(enum expr_kind kind, const char *const *text, const char *with)
{
	for (; *text != NULL; text++) {
		const char *words = parse(kind, *text);

		cr_expect(words != NULL && strstr(words, with) != NULL, "%s: %s, not %s", *text,
			words != NULL ? words : "accepted", with);
	}
}

Test(expr_parse, conditions)
{
	static const char *const good[] = { "a = :b", "(a=:b)", "(a) = (:b)", "NOT a<b", "not not NOT nOt a < b",
		"a < b OR b<c aNd NOT (c <= :d)", "a between :b and c", "a BETWEEN b AND c AND d = :e", "a IN (b)",
		"a in (:a,:b , c)", "attribute_exists (a)", "(attribute_exists(a)) AND (b = :c)", "size(a)=:b",
		"(size(a))=size ( :b )", "a.b[1].#c[0][2] > #d . e", "(a.b).c = :d", "((a = :b) AND c = :d)",
		"((a < b) or (b < c and (c<d)))", "begins_with(a,:b)", "contains((a), (b))", " a\t=\r\n:b ",
		"a=:b and(c between:d AND :e)", "attribute_type(a, :t)", "size(a)BETWEEN:b AND:c", ":a = :a", NULL };

	accept(EXPR_CONDITION, good);
	accept(EXPR_FILTER, good);
	accept(EXPR_KEY_CONDITION, good);
}

Test(expr_parse, condition_syntax)
{
	static const char *const bad[] = { "things are not gonna be ok",
		                           "a > 4",
		                           "attribute_exists(Pictures-RearView)",
		                           "attribute_exists(\"Pictures.RearView\")",
		                           "attribute_exists(Pictures..RearView)",
		                           "attribute_exists(Pi#ctures.RearView)",
		                           "attribute_exists(asdf[a])",
		                           "a in b, c",
		                           "a > between",
		                           "a in b",
		                           "a in (b,c,)",
		                           "(a)between(b.(c.d))and(c)",
		                           "(a)between(b.c.d)and((c)",
		                           "#$.b > a",
		                           "a > :things.stuff",
		                           "b[:a] > a",
		                           "b[#_] > a",
		                           "ü > a",
		                           "(a)between(b.c[4.5].#d)and(:a)",
		                           "size(a).b > a",
		                           "(size(a)).b > a",
		                           "size(a)[0] > a",
		                           "(size(a))[0] > a",
		                           "a",
		                           ":a",
		                           "(a)",
		                           "a and b = c",
		                           "a = b = c",
		                           "(a = b) = c",
		                           "a = (b = c)",
		                           "a = b)",
		                           "(a = b",
		                           "f()",
		                           "f(a",
		                           "f(a,",
		                           "a IN ()",
		                           "a IN (b",
		                           "a BETWEEN b",
		                           "a BETWEEN b OR c",
		                           "a == b",
		                           "a != b",
		                           "NOT",
		                           "NOT a",
		                           "a = NOT b",
		                           "f(NOT a)",
		                           "f(a = b)",
		                           "a = b AND",
		                           "AND a = b",
		                           "a = :b :c",
		                           "and = :a",
		                           "a.and = :a",
		                           "a + b = c",
		                           "a[] = :b",
		                           "a[-1] = :b",
		                           "_a = :b",
		                           "1a = :b",
		                           "(a,b) = c",
		                           "a BETWEEN (b AND c)",
		                           ")",
		                           "f(a b)",
		                           "a. = :b",
		                           "a = #",
		                           "a = :",
		                           "[1] = :a",
		                           NULL };

	refuse(EXPR_CONDITION, bad, "Invalid ConditionExpression: Syntax error; token: ");
	refuse(EXPR_FILTER, bad, "Invalid FilterExpression: Syntax error; token: ");
}

Test(expr_parse, words_around_a_syntax_error)
{
	cr_assert_text(parse(EXPR_UPDATE, "SET _123 = :v"),
		"Invalid UpdateExpression: Syntax error; token: \"_\", near: \"SET _123\"");
	cr_assert_text(parse(EXPR_UPDATE, "INVALID SYNTAX HERE"),
		"Invalid UpdateExpression: Syntax error; token: \"INVALID\", near: \"INVALID SYNTAX\"");
	cr_assert_text(parse(EXPR_PROJECTION, "!!"),
	               "Invalid ProjectionExpression: Syntax error; token: \"!\", near: \"!!\"");
	cr_assert_text(parse(EXPR_UPDATE, "ADD hits : incr"),
		"Invalid UpdateExpression: Syntax error; token: \":\", near: \"hits : incr\"");
	cr_assert_text(parse(EXPR_UPDATE, "SET path = VALUE 1"),
		"Invalid UpdateExpression: Syntax error; token: \"1\", near: \"VALUE 1\"");
	cr_assert_text(parse(EXPR_UPDATE, "set  0 = :a"),
		"Invalid UpdateExpression: Syntax error; token: \"0\", near: \"set  0 =\"");
	cr_assert_text(parse(EXPR_PROJECTION, "a[0], b[01]"),
		"Invalid ProjectionExpression: Syntax error; token: \"1\", near: \"01]\"");
	cr_assert_text(parse(EXPR_CONDITION, "foo"),
		"Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"foo\"");
	cr_assert_text(parse(EXPR_CONDITION, "attribute_not_exists("),
		"Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"");
	cr_assert_text(parse(EXPR_UPDATE, "SET a = :b,  "),
		"Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \",\"");
	cr_assert_text(parse(EXPR_FILTER, "contains (themes, :theme"),
		"Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \":theme\"");
	cr_assert_text(parse(EXPR_UPDATE, "ADD a :v, #b = :c"),
		"Invalid UpdateExpression: Syntax error; token: \"=\", near: \"#b = :c\"");
}

Test(expr_parse, parentheses)
{
	static const char *const redundant[] = { "((a < b))", "a=b and a > ((views))", "(a)between(((b.c)).d)and(c)",
		"a > whatever((:things), ((a)))", "a=b AND ((a=b AND a=b)) AND a=b", "a=b OR ((a=b OR a=b)) OR a=b",
		"a=b AND ((a=b AND (a=b AND a=b)))", "((pk = :p)) AND sk = :s", NULL };
	static const char *const fine[] = { "((a = :p) AND b = :s)", "(a = :p)", "((c=:c) AND (p=:p))", NULL };
	static const char *const update[] = { "SET a = ((b))", "SET a = ((b + c))", NULL };
	char deep[4096] = "";

	refuse(EXPR_FILTER, redundant, "Invalid FilterExpression: The expression has redundant parentheses;");
	refuse(EXPR_UPDATE, update, "Invalid UpdateExpression: The expression has redundant parentheses;");
	accept(EXPR_KEY_CONDITION, fine);
	memset(deep, '(', 2000);
	strcat(deep, "a<b");
	memset(deep + strlen(deep), ')', 2000);
	cr_assert_text(parse(EXPR_CONDITION, deep),
		"Invalid ConditionExpression: The expression has redundant parentheses;");
	memset(deep, '(', 4095);
	cr_assert(strstr(parse(EXPR_CONDITION, deep), "Syntax error") != NULL);
}

Test(expr_parse, functions)
{
	static const char *const misused[] = { "a=b and attribute_exists((c), (#a)) > b",
		                               "attribute_not_exists(things) > b",
		                               "begins_with(things, a) > b",
		                               "size(contains(a, b)) > a",
		                               "size(things)",
		                               "a between b and attribute_exists(things)",
		                               "a in (b, attribute_exists(things))",
		                               "NOT size(a)",
		                               "size(a) AND b = c",
		                               "(size(a))",
		                               NULL };

	refuse(EXPR_FILTER, misused, "The function is not allowed to be used this way in an expression; function: ");
	cr_assert_text(parse(EXPR_FILTER, "a=b and whatever((:things)) > a"),
		"Invalid FilterExpression: Invalid function name; function: whatever");
	cr_assert_text(parse(EXPR_FILTER, "attRIbute_exIsts((views), #a)"),
		"Invalid FilterExpression: Invalid function name; function: attRIbute_exIsts");
	cr_assert_text(parse(EXPR_CONDITION, "if_not_exists(a, b)=:arg"),
	               "Invalid ConditionExpression: The function is not allowed in a condition expression; function: "
	               "if_not_exists");
	cr_assert_text(parse(EXPR_UPDATE, "SET a = size(b)"),
		"Invalid UpdateExpression: The function is not allowed in an update expression; function: size");
	cr_assert_text(parse(EXPR_UPDATE, "SET a = f(b)"),
	               "Invalid UpdateExpression: Invalid function name; function: f");
	cr_assert_text(parse(EXPR_UPDATE, "SET l = list_append(list_append(l, :n), :n)"),
	               "Invalid UpdateExpression: The "
	               "function is not allowed to be used this way in an expression; function: list_append");
	cr_assert_text(parse(EXPR_KEY_CONDITION, "pk = :0 AND BEGINS_WITH(sk, :1)"),
		"Invalid KeyConditionExpression: Invalid function name; function: BEGINS_WITH");
}

Test(expr_parse, reserved_words)
{
	cr_assert_text(parse(EXPR_UPDATE, "SET Status = :v"),
		"Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: Status");
	cr_assert_text(parse(EXPR_FILTER, "a.name = :v"),
		"Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: name");
	cr_assert_text(parse(EXPR_PROJECTION, "size"),
		"Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: size");
	cr_assert_text(parse(EXPR_UPDATE, " set #c = :c set abOrt = true "),
		"Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: abOrt");
	cr_assert(parse(EXPR_UPDATE, "SET #status = :v, stat = :v, status_ = :v") == NULL);
}

Test(expr_parse, updates)
{
	static const char *const good[] = { "SET a = :b",
		                            "  set   b=:val1  ",
		                            "sEt #_1=:0_v rEmOvE a9_",
		                            "set a = (b + c)",
		                            "set a = ((b.c.d)+(e))",
		                            "SET c = (if_not_exists(c, :d) - :a)",
		                            "SET c = if_not_exists(c, :d)+:a",
		                            "SET a = (b)",
		                            "SET l = list_append(if_not_exists(l, :e), :n)",
		                            "SET a = if_not_exists(b, if_not_exists(c, :d))",
		                            "REMOVE b DELETE c :c ADD d :d, e :e SET f = :f",
		                            "set b.c=((c[1])+(b.a)),b.a = a,c[1] = a, c[4] = b.a - b.b",
		                            "REMOVE a, b[1], c.#d",
		                            "add a.b :a",
		                            NULL };
	static const char *const bad[] = { "whatever",
		                           "set a",
		                           "add a",
		                           "delete a",
		                           "set a=set",
		                           "remove a = b",
		                           "add a = b",
		                           "delete a = b",
		                           "delete a b",
		                           "delete a if_not_exist(b)",
		                           "add abort b",
		                           "add a if_not_exist(b)",
		                           "remove a b",
		                           "set a b",
		                           "set :a = b",
		                           "add :a b",
		                           "delete :a b",
		                           "remove :a",
		                           "set a = b / c",
		                           "set a = b * c",
		                           "set a[1] = \"eight\"",
		                           "set a[1] = 1",
		                           "SET a = if_not_exist(a, 100)",
		                           "SET if_not_exist(a, b) = a",
		                           "set (a = (b + c))",
		                           "set a = (b.c).d + e",
		                           "set a = (b.c)[0] + e",
		                           "set a = b + c + d",
		                           "set a = (b + c) + d",
		                           "SET c = if_not_exists(c, :d + :a)",
		                           "SET a = b,",
		                           "SET",
		                           "SET a = b SET",
		                           "SET a[#x] = :v",
		                           "SET a[:x] = :v",
		                           "SET set = :a",
		                           "SET a.remove = :a",
		                           "SET a = :b < :c",
		                           "SET a = (b",
		                           "SET a = b)",
		                           "SET a = -b",
		                           "SET 123 = :a",
		                           "SET hi-there = :a",
		                           "SET \"a\" = :b",
		                           "SET a = b and c",
		                           "SET a = (b, c)",
		                           NULL };

	accept(EXPR_UPDATE, good);
	refuse(EXPR_UPDATE, bad, "Invalid UpdateExpression: Syntax error; token: ");
	cr_assert_text(parse(EXPR_UPDATE, "set a = #c Set c = :d"),
		"Invalid UpdateExpression: The \"SET\" section can only be used once in an update expression;");
	cr_assert_text(parse(EXPR_UPDATE, "REMOVE a SET b = :v REMOVE c"),
		"Invalid UpdateExpression: The \"REMOVE\" section can only be used once in an update expression;");
}

Test(expr_parse, projections)
{
	static const char *const good[] = { "a", " #1 ,  #2.b ", "a.b[0].c, d", "and_, or1", NULL };
	static const char *const bad[] = {
		"whatever(stuff)", ":a",    "abort,", "a,,b",  "a..b", "a[b]", "(a.b).c", "(a)",
		"(a),(b)",         "(a,b)", "a-b",    "a[-1]", "a[]",  "a b",  ",a",      NULL
	};

	accept(EXPR_PROJECTION, good);
	refuse(EXPR_PROJECTION, bad, "Invalid ProjectionExpression: Syntax error; token: ");
	cr_assert_text(parse(EXPR_PROJECTION, "l[99999999999999]"),
	               "Invalid ProjectionExpression: List index is not within the "
	               "allowable range; index: [99999999999999]");
	cr_assert(parse(EXPR_PROJECTION, "l[2147483647]") == NULL);
}

Test(expr_parse, sizes)
{
	static const enum expr_kind kinds[] = { EXPR_CONDITION, EXPR_FILTER, EXPR_KEY_CONDITION, EXPR_PROJECTION,
		                                EXPR_UPDATE };
	static const char *const heads[] = { "a=:v", "a=:v", "a=:v", "a", "SET a=:v" };
	char text[4098];

	for (int i = 0; i < 5; i++) {
		memset(text, ' ', sizeof(text));
		memcpy(text, heads[i], strlen(heads[i]));
		text[4096] = '\0';
		cr_assert(parse(kinds[i], text) == NULL);
		text[4096] = ' ';
		text[4097] = '\0';
		cr_assert(strstr(parse(kinds[i], text),
		                 "Expression: Expression size has exceeded the maximum allowed size; "
		                 "expression size: 4097") != NULL);
		cr_assert(strstr(parse(kinds[i], ""), "Expression: The expression can not be empty;") != NULL);
		cr_assert(strstr(parse(kinds[i], "  "), "Expression: The expression can not be empty;") != NULL);
	}
}

/* "before" once, then `text` so many times, then "behind". */
static const char *repeated(const char *before, const char *text, int times, const char *behind, const char *then)
{
	struct buf b;
	struct slice s;

	buf_init(&b);
	buf_printf(&b, "%s", before);
	for (int i = 0; i < times; i++)
		buf_printf(&b, "%s", text);
	buf_printf(&b, "%s", behind);
	for (int i = 0; i < times && then != NULL; i++)
		buf_printf(&b, "%s", then);
	s = arena_copy(&w.arena, buf_slice(&b));
	buf_release(&b);
	return (const char *)s.p;
}

Test(expr_parse, limits)
{
	static const char too_many[] = "Invalid ConditionExpression: The expression contains too many operators; "
		"operator count: 301";

	cr_assert(parse(EXPR_CONDITION, repeated("a<b ", "or (a<b ", 149, "", ")")) == NULL);
	cr_assert_text(parse(EXPR_CONDITION, repeated("a<b ", "or (a<b ", 150, "", ")")), too_many);
	cr_assert_text(parse(EXPR_CONDITION, repeated("a<b ", "or a<b ", 580, "", NULL)), too_many);
	cr_assert_text(parse(EXPR_CONDITION, repeated("", "not ", 1000, "a<b", NULL)), too_many);
	cr_assert_text(parse(EXPR_CONDITION, repeated("a < ", "f(", 1350, "b", ")")),
		"Invalid ConditionExpression: Invalid function name; function: f");
	cr_assert_text(parse(EXPR_CONDITION, repeated("a < ", "size(", 680, "b", ")")), too_many);
	cr_assert(parse(EXPR_CONDITION, repeated("a IN (b", ",:c", 99, ")", NULL)) == NULL);
	cr_assert_text(parse(EXPR_CONDITION, repeated("a IN (b", ",:c", 100, ")", NULL)),
	               "Invalid ConditionExpression: The IN operator is provided with too many operands; number of "
	               "operands: 101");
	cr_assert(parse(EXPR_PROJECTION, repeated("a", ".b", 31, "", NULL)) == NULL);
	cr_assert_text(parse(EXPR_PROJECTION, repeated("a", ".b", 32, "", NULL)),
		"Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33");
	cr_assert_text(parse(EXPR_PROJECTION, repeated("a", "[1]", 40, "", NULL)),
		"Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 41");
}

Test(expr_parse, cache)
{
	struct expr_cache *c = expr_cache_new(2);
	struct expr *first, *again, *other, *e;

	cr_assert(expr_cache_parse(c, EXPR_CONDITION, SLICE_LIT("a = :b"), &first, &w.f) == ERR_OK);
	cr_assert(expr_cache_parse(c, EXPR_CONDITION, SLICE_LIT("a = :b"), &again, &w.f) == ERR_OK);
	cr_assert(expr_cache_parse(c, EXPR_FILTER, SLICE_LIT("a = :b"), &other, &w.f) == ERR_OK);
	cr_assert(first == again && first != other);
	expr_unref(&again);
	expr_unref(&other);
	cr_assert(expr_cache_parse(c, EXPR_CONDITION, SLICE_LIT("a = "), &e, &w.f) == ERR_VALIDATION);
	/* Fill it over and over; what is in use stays alive. */
	for (int i = 0; i < 100; i++) {
		cr_assert(expr_cache_parse(c, EXPR_CONDITION, slice_str(arena_printf(&w.arena, "a%d = :b", i % 7)), &e,
		                           &w.f) == ERR_OK);
		expr_unref(&e);
	}
	cr_assert(expr_cache_parse(c, EXPR_CONDITION, SLICE_LIT("a = :b"), &again, &w.f) == ERR_OK);
	cr_assert(again != first);
	expr_unref(&again);
	expr_unref(&first);
	cr_assert(first == NULL);
	/* The longest texts push others out: memory is bounded, not only their number. */
	cr_assert(expr_cache_parse(c, EXPR_PROJECTION, slice_str(repeated("b", ",a", 1000, "", NULL)), &e, &w.f) ==
	          ERR_OK);
	expr_unref(&e);
	cr_assert(expr_cache_parse(c, EXPR_PROJECTION, slice_str(repeated("c", ",a", 1000, "", NULL)), &e, &w.f) ==
	          ERR_OK);
	expr_unref(&e);
	expr_cache_free(&c);
	cr_assert(expr_cache_parse(NULL, EXPR_CONDITION, SLICE_LIT("a = :b"), &e, &w.f) == ERR_OK);
	expr_unref(&e);
}

/* One expression, many threads: each takes a reference, binds for itself, and lets go. */
static void *use(void *shared)
{
	struct expr *e = shared, *mine;
	struct world own;
	struct condition *c;

	for (int i = 0; i < 500; i++) {
		mine = expr_ref(e);
		world_open(&own);
		if (expr_env_init(&own.env, SLICE_NONE, val(&own, "{ :b: 1 }"), true, &own.arena, &own.f) != ERR_OK ||
		    condition_bind(mine, &own.env, &c, &own.f) != ERR_OK || !condition_eval(c, val(&own, "{ a: 1 }")))
			abort();
		world_close(&own);
		expr_unref(&mine);
	}
	expr_unref(&e);
	return NULL;
}

Test(expr_parse, shared_by_threads)
{
	struct expr *e;
	pthread_t t[4];

	cr_assert(expr_parse(EXPR_CONDITION, SLICE_LIT("a = :b AND attribute_exists(a)"), &e, &w.f) == ERR_OK);
	for (int i = 0; i < 4; i++)
		cr_assert(pthread_create(&t[i], NULL, use, expr_ref(e)) == 0);
	expr_unref(&e);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}
