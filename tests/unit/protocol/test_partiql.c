/* PartiQL: what is well formed, what a WHERE reads, what conditions, updates and rows come of a statement.
 * The daemon's tests (tests/integration/test_partiql.py) have the complaints that need a table. */
#include <criterion/criterion.h>

#include "protocol/partiql.h"
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

TestSuite(partiql, .init = open_world, .fini = close_world);

static const struct key_schema pair = { .hash = { { { (const uint8_t *)"pk", 2 }, VALUE_S } },
	.range = { { { (const uint8_t *)"sk", 2 }, VALUE_N } }, .hashes = 1, .ranges = 1 };

static struct statement *parsed(const char *text, const char *parameters)
{
	struct statement *s = NULL;
	enum err rc = statement_parse(slice_str(text), val(&w, parameters), &w.arena, &s, &w.f);

	cr_assert(rc == ERR_OK, "%s: %s", text, w.f.text);
	return s;
}

static const char *complaint(const char *text)
{
	struct statement *s;

	return statement_parse(slice_str(text), SLICE_NONE, &w.arena, &s, &w.f) == ERR_OK ? "none" : w.f.text;
}

Test(partiql, words_and_comments)
{
	static const char *const well_formed[] = {
		"select * from tab", "SELECT*FROM tab;", "SELECT a$b, _c FROM tab", "SELECT \"a\"\"b\" FROM tab",
		"SELECT/* c */a FROM tab --",
		"-- first\nSELECT a FROM tab -- last\n", "SELECT a['b'] FROM tab", "SELECT a FROM tab WHERE a = 'x''y' AND b = .5 OR c = 5.",
		"SELECT a FROM tab WHERE a IN (1, 2) AND b NOT IN [3] AND NOT c NOT BETWEEN 1 AND 2",
	};

	for (size_t i = 0; i < sizeof well_formed / sizeof *well_formed; i++)
		(void)parsed(well_formed[i], NULL);
	cr_assert_text(complaint("SELECT size FROM tab"), "Statement wasn't well formed, can't be processed: Unexpected keyword");
	cr_assert_text(complaint("SELECT a FROM tab WHERE a ! 1"), "Statement wasn't well formed, can't be processed: ");
	cr_assert_text(complaint("SELECT a FROM tab WHERE a = 1x"),
		"Statement wasn't well formed, can't be processed: Unexpected token after expression");
}

/* Each read as "hash op lo hi", or as its Key. */
static const char *reads(const char *where)
{
	static const char *const ops[] = { "", "=", "<", "<=", ">", ">=", "between", "begins" };
	struct statement *s = parsed(arena_printf(&w.arena, "SELECT * FROM tab WHERE %s", where), NULL);
	struct statement_reads r;
	const char *out = "";

	if (statement_reads(s, &pair, true, &r, &w.f) != ERR_OK)
		return w.f.text;
	if (r.scan)
		return "scan";
	for (unsigned i = 0; i < r.n; i++) {
		const struct key_condition *k = &r.read[i].key;

		if (slice_present(r.read[i].point))
			out = arena_printf(&w.arena, "%s%s; ", out, show(&w, r.read[i].point));
		else
			out = arena_printf(&w.arena, "%s%s%s%s%s%s%s; ", out, show(&w, k->hash[0]), k->op != KEY_OP_NONE ? " " : "",
				ops[k->op], slice_present(k->lo) ? show(&w, k->lo) : "", slice_present(k->hi) ? " " : "",
				slice_present(k->hi) ? show(&w, k->hi) : "");
	}
	return out;
}

Test(partiql, reads_of_a_where)
{
	static const struct { const char *where, *reads; } table[] = {
		{ "pk = 'a'", "\"a\"; " },
		{ "'a' = pk AND x = 1", "\"a\"; " },
		{ "pk = 'a' AND sk = 1", "{pk: \"a\", sk: 1}; " },
		{ "pk = 'a' AND sk > 1", "\"a\" >1; " },
		{ "pk = 'a' AND 1 > sk", "\"a\" <1; " },
		{ "pk = 'a' AND sk >= 1 AND sk < 5", "\"a\" between1 5; " },
		{ "pk = 'a' AND sk > 5 AND sk < 1", "" },
		{ "pk = 'a' AND sk <> 1", "\"a\"; " },
		{ "pk = 'a' AND NOT sk = 1", "\"a\"; " },
		{ "pk = 'a' AND (sk = 2 OR sk = 1)", "{pk: \"a\", sk: 1}; {pk: \"a\", sk: 2}; " },
		{ "pk IN ['b', 'a'] AND sk IN [1, 2]",
			"{pk: \"a\", sk: 1}; {pk: \"a\", sk: 2}; {pk: \"b\", sk: 1}; {pk: \"b\", sk: 2}; " },
		{ "pk = 'a' OR pk = 'b' AND sk <= 3", "\"a\"; \"b\" <=3; " },
		{ "pk = 'a' AND pk = 'b'", "" },
		{ "pk = 'a' OR x = 1", "scan" },
		{ "NOT pk = 'a'", "scan" },
		{ "pk > 'a'", "scan" },
		{ "sk = 1", "scan" },
		{ "pk = 'a' ORDER BY sk DESC", "\"a\"; " },
		{ "pk IN ['a', 'b'] ORDER BY pk DESC", "\"b\"; \"a\"; " },
		{ "pk IN ['a', 'b'] ORDER BY sk", "Must have hash key in ORDER BY clause when more than one hash key condition "
			"specified in WHERE clause." },
		{ "pk = 'a' AND sk > 1 OR pk = 'a' AND sk < 3",
			"Overlapping conditions with range keys are not supported in where clause" },
		{ "pk = 'a' AND sk < 1 OR pk = 'a' AND sk >= 1", "\"a\" <1; \"a\" >=1; " },
		{ "pk = 'a' AND sk = 'x'", "Key attribute's data type should match its data type in table's schema: Key sk" },
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		cr_assert_text(reads(table[i].where), table[i].reads);
}

static bool truth(const char *where, const char *parameters, const char *item)
{
	return condition_eval(parsed(arena_printf(&w.arena, "SELECT * FROM tab WHERE %s", where), parameters)->where, val(&w, item));
}

Test(partiql, conditions)
{
	static const char item[] = "{ n: 5, s: \"hello\", t: true, z: null, l: [1, \"x\"], ss: ss(\"a\",\"b\"), m: { x: { y: 1 } } }";
	static const char *const yes[] = {
		"n = 5 AND s <> 'x'", "n = 1 OR NOT s = 'x'", "n BETWEEN 5 AND 6", "n IN [1, 5]", "z IS NULL", "nope IS MISSING",
		"n IS NOT NULL",
		"t IS BOOL AND s IS STRING AND n IS NUMERIC AND l IS LIST AND m IS STRUCT", "m.x.y = 1 AND l[1] = 'x'", "m['x'].y = 1",
		"begins_with(s, 'he') AND contains(ss, 'a') AND SIZE(s) = 5", "ss = <<'b', 'a'>>", "l = [1, 'x'] AND m = {'x': {'y': 1}}",
		"(n = 5) = true", "(n = 6) = false", "(n = 5) = t", "(n = 6) <> t", "(n = 5) <> 1", "(n = 5) = (s = 'hello')",
		"(n = 6) = (s = 'x')", "attribute_exists(nope) IN [true, false]", "n = 4 OR n = 5 AND s = 'hello'",
		"NOT (n = 4 AND t = true)",
		"t = true AND n = ? AND s = ?",
	};
	static const char *const no[] = {
		"n = 6", "z IS NOT NULL", "(n = 5) = 1", "(n = 5) = s", "(n = 5) = (s = 'x')", "NOT attribute_exists(n) = true", "n > 's'",
		"(n = 4 OR n = 5) AND s = 'x'", "nope = 1", "n = null",
	};

	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		cr_assert(truth(yes[i], strchr(yes[i], '?') != NULL ? "[5, \"hello\"]" : NULL, item), "%s", yes[i]);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		cr_assert(!truth(no[i], NULL, item), "%s", no[i]);
}

Test(partiql, updates)
{
	static const struct { const char *changes, *item; } table[] = {
		{ "SET n = n + 2, s = 'x'", "{l: [1], n: 7, s: \"x\", ss: ss(\"a\", \"b\")}" },
		{ "SET n = n - - 2", "{l: [1], n: 7, s: \"hi\", ss: ss(\"a\", \"b\")}" },
		{ "SET l = list_append(l, [2]) REMOVE s", "{l: [1, 2], n: 5, ss: ss(\"a\", \"b\")}" },
		{ "SET l[0] = {'a': []}, q = if_not_exists(q, n)", "{l: [{a: []}], n: 5, q: 5, s: \"hi\", ss: ss(\"a\", \"b\")}" },
		{ "SET ss = set_add(ss, <<'c'>>)", "{l: [1], n: 5, s: \"hi\", ss: ss(\"a\", \"b\", \"c\")}" },
		{ "SET ss = set_delete(ss, <<'a', 'b'>>)", "{l: [1], n: 5, s: \"hi\"}" },
		{ "SET s = nope", "The provided expression refers to an attribute that does not exist in the item" },
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct statement *s = parsed(arena_printf(&w.arena, "UPDATE tab %s WHERE pk = 'a'", table[i].changes), NULL);

		cr_assert_text(applied(&w, s->update, "{ n: 5, s: \"hi\", l: [1], ss: ss(\"a\",\"b\") }", "{pk: \"a\" }"), table[i].item);
	}
}

Test(partiql, condition_of_a_write)
{
	static const struct { const char *text, *item; bool holds; } table[] = {
		{ "UPDATE tab SET a = 1 WHERE pk = 'x' AND sk = 1", NULL, false },
		{ "UPDATE tab SET a = 1 WHERE pk = 'x' AND sk = 1", "{ pk: \"x\", sk: 1 }", true },
		{ "UPDATE tab SET a = 1 WHERE pk = 'x' AND sk = 1 AND (b = 2 OR b = 3)", "{ pk: \"x\", sk: 1, b: 3 }", true },
		{ "UPDATE tab SET a = 1 WHERE pk = 'x' AND sk = 1 AND (b = 2 OR b = 3)", "{ pk: \"x\", sk: 1, b: 4 }", false },
		{ "DELETE FROM tab WHERE pk = 'x' AND sk = 1 AND b = 2", NULL, true },
		{ "DELETE FROM tab WHERE pk = 'x' AND sk = 1 AND b = 2", "{ pk: \"x\", sk: 1 }", false },
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct statement *s = parsed(table[i].text, NULL);
		struct condition *c = NULL;
		struct slice key;
		bool more;

		cr_assert_eq(statement_key(s, &pair, PICK_WRITE, &key, &more, &w.f), ERR_OK);
		cr_assert_text(show(&w, key), "{pk: \"x\", sk: 1}");
		cr_assert_eq(statement_condition(s, SLICE_LIT("pk"), more, &c, &w.f), ERR_OK);
		cr_assert_eq(condition_eval(c, val(&w, table[i].item)), table[i].holds, "%s", table[i].text);
	}
}

Test(partiql, rows)
{
	struct statement *s = parsed("SELECT m.x, l[1], nope, \"a b\" FROM \"t-t\".\"index\"", NULL);
	struct buf b;

	buf_init(&b);
	statement_row(s, val(&w, "{ m: { x: 1 }, l: [5, 6], n: 2 }"), &b);
	cr_assert_text(show(&w, buf_slice(&b)), "{l[1]: 6, x: 1}");
	buf_release(&b);
	cr_assert(slice_eq(s->table, SLICE_LIT("t-t")) && slice_eq(s->index, SLICE_LIT("index")));
}

Test(partiql, token)
{
	struct statement *s = parsed("SELECT * FROM tab", NULL), *other = parsed("SELECT * FROM tub", NULL);
	struct statement_place at = { 7, val(&w, "{ pk: \"x\" }") }, back;
	struct slice token = statement_token_make(s, &at, &w.arena);

	cr_assert_eq(statement_token_read(s, token, &back, &w.f), ERR_OK);
	cr_assert(back.read == 7 && slice_eq(back.key, at.key));
	cr_assert_eq(statement_token_read(other, token, &back, &w.f), ERR_VALIDATION);
	cr_assert_text(w.f.text, "NextToken does not match request");
	for (size_t n = 0; n < token.n; n++) /* cut short, it is refused or leads to a whole key, never elsewhere */
		if (statement_token_read(s, slice_of(token.p, n), &back, &w.f) == ERR_OK)
			cr_assert(!slice_present(back.key) || item_check(back.key));
}

/* Nothing nests deeper than it may, whatever nests. */
Test(partiql, depth_is_bounded)
{
	static const char *const nests[] = { "(", "[", "NOT ", "- ", "{'a':", "size(", "a[", "<<", "a IN [" };

	for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
		char text[8192] = "SELECT * FROM tab WHERE b = ";
		size_t n = strlen(text);

		while (n + strlen(nests[i]) < sizeof text - 1) {
			memcpy(text + n, nests[i], strlen(nests[i]) + 1);
			n += strlen(nests[i]);
		}
		cr_assert_str_neq(complaint(text), "none");
	}
}
