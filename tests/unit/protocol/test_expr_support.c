/* test_expr_support - see test_expr_support.h. */
#include "test_expr_support.h"

#include <ctype.h>
#include <criterion/criterion.h>

void world_open(struct world *w)
{
	arena_init(&w->arena, 0);
	fault_init(&w->f, &w->arena);
}

void world_close(struct world *w)
{
	arena_release(&w->arena);
}

/* ---- notation to bytes ---- */

struct reader { const char *p; struct world *w; bool strings; };

static void blanks(struct reader *r)
{
	while (isspace((unsigned char)*r->p))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	blanks(r);
	if (*r->p != c)
		return false;
	r->p++;
	return true;
}

static void need(struct reader *r, char c)
{
	cr_assert(take(r, c), "notation: no '%c' at: %s", c, r->p);
}

static struct slice keep(struct reader *r, struct buf *b)
{
	struct slice s = arena_copy(&r->w->arena, buf_slice(b));

	buf_release(b);
	return s;
}

static struct slice word(struct reader *r)
{
	const char *from;

	blanks(r);
	from = r->p;
	while (isalnum((unsigned char)*r->p) || strchr("_#:.+-", *r->p) != NULL) {
		if (*r->p == '\0' || (*r->p == ':' && r->p != from))
			break;
		r->p++;
	}
	return slice_of(from, (size_t)(r->p - from));
}

static struct slice quoted(struct reader *r, char q)
{
	const char *from, *end;

	need(r, q);
	from = r->p;
	end = strchr(from, q);
	cr_assert(end != NULL, "notation: open quote");
	r->p = end + 1;
	return slice_of(from, (size_t)(end - from));
}

static struct slice read_value(struct reader *r);

static void read_map(struct reader *r, struct buf *b)
{
	struct map_builder m;

	map_builder_init(&m, &r->w->arena);
	while (!take(r, '}')) {
		struct slice name = (blanks(r), *r->p == '"') ? quoted(r, '"') : word(r);

		need(r, ':');
		map_builder_add(&m, name, read_value(r));
		take(r, ',');
	}
	cr_assert(map_put(&m, b));
}

static uint32_t read_list(struct reader *r, char end, struct slice *x, uint32_t max)
{
	uint32_t n = 0;

	while (!take(r, end)) {
		cr_assert(n < max);
		x[n++] = read_value(r);
		take(r, ',');
	}
	return n;
}

static void read_word(struct reader *r, struct buf *b)
{
	struct slice w = word(r), member[64];
	struct number x;

	if (slice_eq(w, SLICE_LIT("true")) || slice_eq(w, SLICE_LIT("false"))) {
		value_put_bool(b, w.n == 4);
	} else if (slice_eq(w, SLICE_LIT("null"))) {
		value_put_null(b);
	} else if (w.n == 2 && w.p[1] == 's') {
		need(r, '(');
		cr_assert(set_put(b, w.p[0] == 's' ? VALUE_EXT_SS : w.p[0] == 'n' ? VALUE_EXT_NS : VALUE_EXT_BS, member,
			read_list(r, ')', member, 64)));
	} else {
		cr_assert(number_parse(&x, w) == NUMBER_OK, "notation: not a number: %s", r->p);
		value_put_number(b, number_slice(&x));
	}
}

static struct slice read_value(struct reader *r)
{
	struct slice element[64];
	struct buf b;
	uint32_t n;

	buf_init(&b);
	blanks(r);
	if (*r->p == '"') {
		value_put_string(&b, quoted(r, '"'));
	} else if (*r->p == '\'') {
		value_put_binary(&b, quoted(r, '\''));
	} else if (take(r, '{')) {
		read_map(r, &b);
	} else if (take(r, '[')) {
		n = read_list(r, ']', element, 64);
		mp_put_array(&b, n);
		for (uint32_t i = 0; i < n; i++)
			buf_put_slice(&b, element[i]);
	} else {
		read_word(r, &b);
	}
	return keep(r, &b);
}

struct slice val(struct world *w, const char *text)
{
	struct reader r = { .p = text, .w = w };

	return text != NULL ? read_value(&r) : SLICE_NONE;
}

struct slice names(struct world *w, const char *text)
{
	return val(w, text); /* strings and names of attributes are both str */
}

/* ---- bytes to notation ---- */

static void show_value(struct buf *b, struct slice v)
{
	enum value_type t = value_type(v);
	char number[NUMBER_TEXT];
	uint32_t n;
	struct mp m;

	switch (t) {
	case VALUE_S:
		buf_printf(b, "\"%.*s\"", SLICE_FMT(value_bytes(v)));
		break;
	case VALUE_B:
		buf_printf(b, "'%.*s'", SLICE_FMT(value_bytes(v)));
		break;
	case VALUE_N:
		number_format(value_bytes(v), number);
		buf_printf(b, "%s", number);
		break;
	case VALUE_BOOL:
		buf_printf(b, "%s", value_bool(v) ? "true" : "false");
		break;
	case VALUE_NULL:
		buf_printf(b, "null");
		break;
	case VALUE_M:
		buf_printf(b, "{");
		m = value_pairs(v, &n);
		for (uint32_t i = 0; i < n; i++) {
			struct slice name = mp_str(&m);

			buf_printf(b, "%s%.*s: ", i > 0 ? ", " : "", SLICE_FMT(name));
			show_value(b, mp_skip(&m));
		}
		buf_printf(b, "}");
		break;
	case VALUE_BAD:
		buf_printf(b, "bad");
		break;
	default:
		buf_printf(b, "%s", t == VALUE_L ? "[" : t == VALUE_SS ? "ss(" : t == VALUE_NS ? "ns(" : "bs(");
		m = value_elements(v, &n);
		for (uint32_t i = 0; i < n; i++) {
			buf_printf(b, "%s", i > 0 ? ", " : "");
			show_value(b, mp_skip(&m));
		}
		buf_printf(b, "%s", t == VALUE_L ? "]" : ")");
	}
}

const char *show(struct world *w, struct slice v)
{
	struct buf b;
	struct slice s;

	buf_init(&b);
	show_value(&b, v);
	s = arena_copy(&w->arena, buf_slice(&b));
	buf_release(&b);
	return (const char *)s.p;
}

/* ---- expressions ---- */

static enum err open_env(struct world *w, const char *names_text, const char *values)
{
	return expr_env_init(&w->env, names(w, names_text), val(w, values), true, &w->arena, &w->f);
}

#define BIND(kind, text, bind) \
	do { \
		struct expr *e_ = NULL; \
		enum err rc_ = open_env(w, names_text, values); \
		if (rc_ == ERR_OK) \
			rc_ = expr_parse(kind, slice_str(text), &e_, &w->f); \
		if (rc_ == ERR_OK) \
			rc_ = bind(e_, &w->env, out, &w->f); \
		expr_unref(&e_); /* what is bound does not need it */ \
		return rc_ == ERR_OK ? NULL : w->f.text; \
	} while (0)

const char *bind_condition(struct world *w, enum expr_kind kind, const char *text, const char *names_text,
	const char *values, struct condition **out)
{
	BIND(kind, text, condition_bind);
}

const char *bind_update(struct world *w, const char *text, const char *names_text, const char *values,
	struct update **out)
{
	BIND(EXPR_UPDATE, text, update_bind);
}

const char *bind_projection(struct world *w, const char *text, const char *names_text, struct projection **out)
{
	const char *values = NULL;

	BIND(EXPR_PROJECTION, text, projection_bind);
}

const char *applied(struct world *w, const struct update *u, const char *old, const char *key)
{
	struct buf b;
	const char *text;
	enum err rc;

	buf_init(&b);
	rc = update_apply(u, val(w, old), val(w, key), &w->arena, &b, &w->f);
	if (rc == ERR_OK) {
		cr_assert(item_check(buf_slice(&b)), "not canonical: %s", show(w, buf_slice(&b)));
		text = show(w, buf_slice(&b));
	} else {
		text = w->f.text;
	}
	buf_release(&b);
	return text;
}
