/* value_put - writing values in canonical form. See value.h. */
#include <stdlib.h>

#include "protocol/value.h"

void value_put_string(struct buf *b, struct slice s)
{
	mp_put_str(b, s);
}

void value_put_binary(struct buf *b, struct slice s)
{
	mp_put_bin(b, s);
}

void value_put_number(struct buf *b, struct slice canonical)
{
	mp_put_ext(b, VALUE_EXT_N, canonical);
}

void value_put_int(struct buf *b, int64_t v)
{
	struct number x;

	number_from_int(&x, v);
	value_put_number(b, number_slice(&x));
}

void value_put_bool(struct buf *b, bool v)
{
	mp_put_bool(b, v);
}

void value_put_null(struct buf *b)
{
	mp_put_nil(b);
}

/* ---- maps ---- */

void map_builder_init(struct map_builder *m, struct arena *a)
{
	*m = (struct map_builder){ .arena = a };
}

static bool builder_grow(struct map_builder *m)
{
	uint32_t cap = m->cap == 0 ? 8 : m->cap * 2;
	struct map_pair *p = arena_alloc(m->arena, cap * sizeof *p);

	if (p == NULL)
		return false;
	if (m->n != 0)
		memcpy(p, m->pair, m->n * sizeof *p);
	m->pair = p;
	m->cap = cap;
	return true;
}

void map_builder_add(struct map_builder *m, struct slice name, struct slice value)
{
	if (m->failed || (m->n == m->cap && !builder_grow(m))) {
		m->failed = true;
		return;
	}
	m->pair[m->n] = (struct map_pair){ .name = name, .value = value, .order = m->n };
	m->n++;
}

static int by_name(const void *x, const void *y)
{
	const struct map_pair *a = x, *b = y;
	int c = slice_cmp(a->name, b->name);

	return c != 0 ? c : (a->order > b->order) - (a->order < b->order);
}

/* Names mostly come in order, from other canonical maps. */
static bool builder_sorted(const struct map_builder *m)
{
	for (uint32_t i = 1; i < m->n; i++)
		if (slice_cmp(m->pair[i - 1].name, m->pair[i].name) >= 0)
			return false;
	return true;
}

bool map_put(struct map_builder *m, struct buf *b)
{
	uint32_t kept = 0;

	if (m->failed)
		return false;
	if (!builder_sorted(m)) {
		qsort(m->pair, m->n, sizeof *m->pair, by_name);
		for (uint32_t i = 0; i < m->n; i++)
			if (i + 1 == m->n || !slice_eq(m->pair[i].name, m->pair[i + 1].name))
				m->pair[kept++] = m->pair[i];
		m->n = kept;
	}
	mp_put_map(b, m->n);
	for (uint32_t i = 0; i < m->n; i++) {
		mp_put_str(b, m->pair[i].name);
		buf_put_slice(b, m->pair[i].value);
	}
	return !b->failed;
}

/* ---- sets ---- */

static int by_value(const void *x, const void *y)
{
	const struct slice *a = x, *b = y;

	return value_cmp(*a, *b);
}

bool set_put(struct buf *b, int8_t ext, struct slice *member, uint32_t n)
{
	size_t bytes = n < 16 ? 1 : n < 65536 ? 3 : 5; /* the array's head */

	qsort(member, n, sizeof *member, by_value);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && slice_eq(member[i - 1], member[i]))
			return false;
		bytes += member[i].n;
	}
	mp_put_ext_head(b, ext, bytes);
	mp_put_array(b, n);
	for (uint32_t i = 0; i < n; i++)
		buf_put_slice(b, member[i]);
	return true;
}
