/* Expressions from an untrusted client, of all five kinds, against a few items. The first byte chooses the kind.
 *
 * What binds must evaluate: a condition to the same truth twice, a projection and an update to canonical items
 * that say the same when done again. Complaints must have words. */
#include "protocol/expr.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ITEMS = 3 };

/* What every input runs in, made anew each time. */
struct bench {
	struct arena arena;
	struct fault f;
	struct expr_env env;
	struct slice item[ITEMS];
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

static struct slice keep(struct bench *w, struct buf *b)
{
	struct slice s = arena_copy(&w->arena, buf_slice(b));

	require(!b->failed && slice_present(s));
	buf_release(b);
	return s;
}

static struct slice string(struct bench *w, const char *s)
{
	struct buf b;

	buf_init(&b);
	value_put_string(&b, slice_str(s));
	return keep(w, &b);
}

static struct slice integer(struct bench *w, int64_t v)
{
	struct buf b;

	buf_init(&b);
	value_put_int(&b, v);
	return keep(w, &b);
}

static struct slice list(struct bench *w, const struct slice *x, uint32_t n)
{
	struct buf b;

	buf_init(&b);
	mp_put_array(&b, n);
	for (uint32_t i = 0; i < n; i++)
		buf_put_slice(&b, x[i]);
	return keep(w, &b);
}

static struct slice number_set(struct bench *w)
{
	struct slice x[] = { integer(w, 3), integer(w, -1), integer(w, 20) };
	struct buf b;

	buf_init(&b);
	require(set_put(&b, VALUE_EXT_NS, x, 3));
	return keep(w, &b);
}

/* Alternately a name and a value, ended by an absent name. */
static struct slice map(struct bench *w, const char *const *name, const struct slice *value)
{
	struct map_builder m;
	struct buf b;

	map_builder_init(&m, &w->arena);
	for (; *name != NULL; name++, value++)
		map_builder_add(&m, slice_str(*name), *value);
	buf_init(&b);
	require(map_put(&m, &b));
	return keep(w, &b);
}

static void open_bench(struct bench *w)
{
	static const char *const inner[] = { "a", "b", "c", NULL }, *const outer[] = { "a", "b", "c", "d", "e", "f", NULL };
	static const char *const refs[] = { "#a", "#b", NULL }, *const marks[] = { ":a", ":b", ":c", ":d", NULL };
	struct slice one, l, m;

	arena_init(&w->arena, 0);
	fault_init(&w->f, &w->arena);
	one = integer(w, 1);
	l = list(w, (struct slice[]){ one, string(w, "x"), integer(w, 7) }, 3);
	m = map(w, inner, (struct slice[]){ one, l, string(w, "hello") });
	w->item[0] = SLICE_NONE;
	w->item[1] = map(w, outer + 5, (struct slice[]){ one });
	w->item[2] = map(w, outer, (struct slice[]){ one, l, m, number_set(w), string(w, "hell"), list(w, &m, 1) });
	require(expr_env_init(&w->env, map(w, refs, (struct slice[]){ string(w, "a"), string(w, "b") }),
		map(w, marks, (struct slice[]){ one, string(w, "hell"), l, number_set(w) }), true, &w->arena, &w->f) == ERR_OK);
}

static void try_condition(struct bench *w, const struct expr *e)
{
	struct condition *c;

	if (condition_bind(e, &w->env, &c, &w->f) != ERR_OK)
		return;
	for (int i = 0; i < ITEMS; i++)
		require(condition_eval(c, w->item[i]) == condition_eval(c, w->item[i]));
}

static void try_key_condition(struct bench *w, const struct expr *e)
{
	const struct key_schema ks = { .hash = { { SLICE_LIT("a"), VALUE_N } }, .range = { { SLICE_LIT("b"), VALUE_S } },
		.hashes = 1, .ranges = 1 };
	struct condition *c;
	struct key_condition out;

	if (condition_bind(e, &w->env, &c, &w->f) == ERR_OK && key_condition_fit(e, c, &ks, &out, &w->f) == ERR_OK)
		require(value_check(out.hash[0]) && out.range_eqs <= 1);
}

static void try_projection(struct bench *w, const struct expr *e)
{
	struct projection *p;
	struct buf once, twice;

	if (projection_bind(e, &w->env, &p, &w->f) != ERR_OK)
		return;
	buf_init(&once);
	buf_init(&twice);
	for (int i = 1; i < ITEMS; i++) {
		buf_clear(&once);
		buf_clear(&twice);
		projection_apply(p, w->item[i], &once);
		projection_apply(p, w->item[i], &twice);
		require(!once.failed && item_check(buf_slice(&once)) && slice_eq(buf_slice(&once), buf_slice(&twice)));
	}
	buf_release(&once);
	buf_release(&twice);
}

static void try_update(struct bench *w, const struct expr *e)
{
	struct update *u;
	struct buf out, seen;

	if (update_bind(e, &w->env, &u, &w->f) != ERR_OK)
		return;
	buf_init(&out);
	buf_init(&seen);
	for (int i = 0; i < ITEMS; i++) {
		buf_clear(&out);
		buf_clear(&seen);
		if (update_apply(u, w->item[i], w->item[1], &w->arena, &out, &w->f) != ERR_OK)
			continue;
		require(item_check(buf_slice(&out)));
		if (update_returned(u, buf_slice(&out), &seen))
			require(item_check(buf_slice(&seen)));
		else
			require(seen.n == 0);
	}
	buf_release(&out);
	buf_release(&seen);
}

static void try_expression(struct bench *w, enum expr_kind kind, struct slice text)
{
	struct expr *e = NULL;

	if (expr_parse(kind, text, &e, &w->f) != ERR_OK) {
		require(w->f.text != NULL && e == NULL);
		return;
	}
	switch (kind) {
	case EXPR_UPDATE:
		try_update(w, e);
		break;
	case EXPR_PROJECTION:
		try_projection(w, e);
		break;
	case EXPR_KEY_CONDITION:
		try_key_condition(w, e);
		break;
	default:
		try_condition(w, e);
	}
	expr_unref(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench w;

	if (size == 0)
		return 0;
	open_bench(&w);
	try_expression(&w, (enum expr_kind)(data[0] % (EXPR_UPDATE + 1)), slice_of(data + 1, size - 1));
	arena_release(&w.arena);
	return 0;
}
