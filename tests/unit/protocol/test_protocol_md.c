/* PROTOCOL.md says what the code does: every ```hex block is decoded, and made again from the ```json block that
 * follows it; every table of numbers is compared with the code's. */
#include "protocol/frame.h"
#include "protocol/json.h"
#include "protocol/value.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 4096 };

static FILE *page;
static struct arena a;
static char line[LINE_MAX_BYTES];
static bool pushed_back;

static void setup(void)
{
	page = fopen("protocol/PROTOCOL.md", "r");
	cr_assert_not_null(page, "protocol/PROTOCOL.md: run from the top of the tree");
	arena_init(&a, 0);
}

static void teardown(void)
{
	fclose(page);
	arena_release(&a);
}

TestSuite(protocol_md, .init = setup, .fini = teardown);

static bool next_line(void)
{
	if (pushed_back) {
		pushed_back = false;
		return true;
	}
	return fgets(line, sizeof(line), page) != NULL;
}

static bool starts(const char *prefix)
{
	return strncmp(line, prefix, strlen(prefix)) == 0;
}

/* ---- examples ---- */

struct example {
	char name[64];
	struct buf hex, json;       /* json is empty where none follows */
};

static void put_hex_line(struct buf *b)
{
	for (const char *p = line; *p != '\0' && *p != '#' && *p != '\n';) {
		char *end;

		if (isspace((unsigned char)*p)) {
			p++;
			continue;
		}
		buf_put_u8(b, (uint8_t)strtoul(p, &end, 16));
		cr_assert_eq(end - p, 2, "not two hex digits: %s", line);
		p = end;
	}
}

/* The next ```hex block; false after the last. */
static bool next_example(struct example *x)
{
	while (next_line() && !starts("```hex "))
		cr_assert_not(starts("```json"), "JSON without its bytes");
	if (feof(page))
		return false;
	cr_assert_eq(sscanf(line, "```hex %63[^\n]", x->name), 1);
	buf_clear(&x->hex);
	buf_clear(&x->json);
	while (next_line() && !starts("```"))
		put_hex_line(&x->hex);
	if (!next_line() || !next_line())
		return true;
	if (!starts("```json")) {
		pushed_back = true;
		return true;
	}
	while (next_line() && !starts("```"))
		buf_put(&x->json, line, strlen(line));
	return true;
}

static struct frame frame_of(const struct example *x)
{
	struct slice in = buf_slice(&x->hex);
	struct frame fr;

	cr_assert_eq(frame_next(&in, FRAME_MAX, &fr, NULL), FRAME_READY, "%s", x->name);
	cr_assert_eq(in.n, 0u, "%s: %zu bytes too many", x->name, in.n);
	return fr;
}

static void same_record(const struct example *x, const struct shape *shape, struct slice record)
{
	struct json_reader *r = json_reader_new();
	struct buf made;
	struct fault f;

	buf_init(&made);
	fault_init(&f, &a);
	cr_assert_eq(record_check(shape, record, &f), ERR_OK, "%s: %s", shape->name, f.text);
	cr_assert_gt(x->json.n, 0u, "%s without JSON", shape->name);
	cr_assert_eq(json_read(r, shape, buf_slice(&x->json), &a, &made, &f), ERR_OK, "%s: %s", shape->name, f.text);
	cr_assert(slice_eq(buf_slice(&made), record), "%s: the JSON makes other bytes", shape->name);
	buf_release(&made);
	json_reader_free(&r);
}

static void check_request(const struct example *x)
{
	struct frame fr = frame_of(x);

	cr_assert_eq(fr.kind, FRAME_REQUEST);
	cr_assert_lt(fr.code, OP_COUNT);
	same_record(x, op_info[fr.code].in, fr.body);
}

static void check_answer(const struct example *x)
{
	struct frame fr = frame_of(x);
	unsigned op = OP_COUNT;

	cr_assert_eq(sscanf(x->name, "answer %u", &op), 1);
	cr_assert_lt(op, OP_COUNT);
	cr_assert_eq(fr.kind, FRAME_ANSWER);
	cr_assert_leq(fr.code, FRAME_CACHE_BYPASS);
	same_record(x, op_info[op].out, fr.body);
}

static void check_error(const struct example *x)
{
	struct frame fr = frame_of(x);
	struct buf again;
	struct fault f;

	buf_init(&again);
	fault_init(&f, &a);
	cr_assert_eq(fr.kind, FRAME_ERROR);
	cr_assert(frame_read_error(&fr, &f));
	frame_put_error(&again, fr.id, &f);
	cr_assert(slice_eq(buf_slice(&again), buf_slice(&x->hex)), "%s", f.text);
	buf_release(&again);
}

static void check_hello(const struct example *x)
{
	struct frame fr = frame_of(x);
	struct buf again;
	struct hello h;

	buf_init(&again);
	cr_assert_eq(fr.kind, FRAME_HELLO);
	cr_assert(frame_read_hello(&fr, &h));
	cr_assert_eq(h.version, (uint32_t)FRAME_VERSION);
	cr_assert_eq(h.max_frame, (uint32_t)FRAME_MAX);
	frame_put_hello(&again, &h);
	cr_assert(slice_eq(buf_slice(&again), buf_slice(&x->hex)));
	buf_release(&again);
}

static void check_ping(const struct example *x)
{
	cr_assert_eq(frame_of(x).kind, FRAME_PING);
}

static void check_pong(const struct example *x)
{
	cr_assert_eq(frame_of(x).kind, FRAME_PONG);
}

static void check_value(const struct example *x)
{
	cr_assert(value_check(buf_slice(&x->hex)), "%.*s", SLICE_FMT(buf_slice(&x->json)));
	same_record(x, &shape_AttributeValue, buf_slice(&x->hex));
}

static const struct {
	const char *name;
	void (*check)(const struct example *x);
} checks[] = {
	{ "request", check_request }, { "answer", check_answer }, { "error", check_error }, { "hello", check_hello },
	{ "ping", check_ping }, { "pong", check_pong }, { "value", check_value },
};
enum { CHECKS = sizeof(checks) / sizeof(checks[0]) };

Test(protocol_md, examples)
{
	unsigned seen[CHECKS] = { 0 };
	struct example x;

	buf_init(&x.hex);
	buf_init(&x.json);
	while (next_example(&x)) {
		unsigned i = 0;

		while (i < CHECKS && strncmp(x.name, checks[i].name, strlen(checks[i].name)) != 0)
			i++;
		cr_assert_lt(i, CHECKS, "no check for \"%s\"", x.name);
		checks[i].check(&x);
		seen[i]++;
	}
	for (unsigned i = 0; i < CHECKS; i++)
		cr_assert_gt(seen[i], 0u, "no example of \"%s\"", checks[i].name);
	buf_release(&x.hex);
	buf_release(&x.json);
}

/* ---- tables ---- */

/* Go to the first row of the table whose head begins so. */
static void find_table(const char *head)
{
	while (next_line() && !starts(head))
		;
	cr_assert_not(feof(page), "no table %s", head);
	next_line();
}

Test(protocol_md, operations)
{
	unsigned code, n = 0;
	char name[64], in[64], out[64];

	find_table("| code | operation |");
	while (next_line() && sscanf(line, "| %u | %63s | %63s | %63s |", &code, name, in, out) == 4) {
		cr_assert_eq(code, n++);
		cr_assert(code < OP_COUNT, "%u %s", code, name);
		cr_assert_str_eq(name, op_info[code].name);
		cr_assert_str_eq(in, op_info[code].in->name);
		cr_assert_str_eq(out, op_info[code].out->name);
	}
	cr_assert_eq(n, OP_COUNT, "PROTOCOL.md lists %u operations of %d", n, OP_COUNT);
}

Test(protocol_md, errors)
{
	static const char *const symbol[] = { "OK",
#define X(sym, type, ns, http, retry) #sym,
		ERR_TABLE(X)
#undef X
	};
	char name[64], type[64], retry[8];
	unsigned code, n = 1;

	find_table("| code | name |");
	while (next_line() && sscanf(line, "| %u | %63s | %63s | %7s |", &code, name, type, retry) == 4) {
		cr_assert_eq(code, n++);
		cr_assert_lt(code, ERR_COUNT);
		cr_assert_str_eq(name, symbol[code]);
		cr_assert_str_eq(type, err_type((enum err)code));
		cr_assert_str_eq(retry, err_retryable((enum err)code) ? "yes" : "no");
	}
	cr_assert_eq(n, ERR_COUNT, "PROTOCOL.md lists %u errors of %d", n - 1, ERR_COUNT - 1);
}

static const struct shape *const structures[] = {
#define SHAPE_STRUCT(name, ...) &shape_##name,
#include "protocol/shapes.def"
};

static const struct shape *structure(const char *name)
{
	for (size_t i = 0; i < sizeof(structures) / sizeof(structures[0]); i++)
		if (strcmp(structures[i]->name, name) == 0)
			return structures[i];
	cr_assert_fail("no structure %s", name);
	return NULL;
}

Test(protocol_md, members)
{
	char name[64];
	unsigned rows = 0;
	int at;

	find_table("| record | members |");
	while (next_line() && sscanf(line, "| %63s | %n", name, &at) == 1) {
		const struct shape *s = structure(name);
		const char *p = line + at;

		for (unsigned i = 0; i < s->members; i++) {
			char want[96];

			snprintf(want, sizeof(want), "%u %s%s", i, s->member[i].name, i + 1 < s->members ? ", " : " |");
			cr_assert(strncmp(p, want, strlen(want)) == 0, "%s: \"%s\" expected at %s", name, want, p);
			p += strlen(want);
		}
		cr_assert_str_eq(p, "\n", "%s has more members on the page", name);
		rows++;
	}
	cr_assert_gt(rows, 20u);
}
