/* value_read - reading attribute values: by path, by name, one after the other, as JSON.
 *
 * Values are checked bytes (result.c, item.c). Texts that must end with a NUL are copied to the memory of the result or
 * item that the value borrows from. */
#include "protocol/client/client_int.h"
#include "protocol/json.h"

#include <stdlib.h>

_Static_assert((int)DYNAX_TYPE_S == (int)VALUE_S && (int)DYNAX_TYPE_N == (int)VALUE_N && (int)DYNAX_TYPE_B == (int)VALUE_B
	&& (int)DYNAX_TYPE_SS == (int)VALUE_SS && (int)DYNAX_TYPE_NS == (int)VALUE_NS && (int)DYNAX_TYPE_BS == (int)VALUE_BS
	&& (int)DYNAX_TYPE_BOOL == (int)VALUE_BOOL && (int)DYNAX_TYPE_NULL == (int)VALUE_NULL
	&& (int)DYNAX_TYPE_L == (int)VALUE_L && (int)DYNAX_TYPE_M == (int)VALUE_M
	&& (int)DYNAX_TYPE_ABSENT == (int)VALUE_BAD, "dynax.h and value.h agree");

enum dynax_type dynax_type(struct dynax_value v)
{
	return v.p == NULL ? DYNAX_TYPE_ABSENT : (enum dynax_type)value_type(value_slice(v));
}

static struct dynax_value absent(void)
{
	return (struct dynax_value){ NULL, 0, NULL };
}

static struct dynax_value member(struct dynax_value v, struct slice name)
{
	if (dynax_type(v) != DYNAX_TYPE_M)
		return absent();
	return value_from(map_get(value_slice(v), name), v.mem);
}

struct dynax_value dynax_member(struct dynax_value map, const char *name)
{
	return member(map, slice_str(name));
}

/* One step of a path, "[3]" or "name"; *path moves behind it and a dot. */
static struct dynax_value step(struct dynax_value v, const char **path)
{
	const char *p = *path;
	struct dynax_value next;

	if (*p == '[') {
		char *end;
		unsigned long i = strtoul(p + 1, &end, 10);

		if (end == p + 1 || *end != ']' || i > UINT32_MAX || dynax_type(v) != DYNAX_TYPE_L)
			return absent();
		next = value_from(list_get(value_slice(v), (uint32_t)i), v.mem);
		p = end + 1;
	} else {
		size_t n = strcspn(p, ".[");

		next = member(v, slice_of(p, n));
		p += n;
	}
	*path = *p == '.' ? p + 1 : p;
	return next;
}

struct dynax_value dynax_at(struct dynax_value v, const char *path)
{
	if (path == NULL)
		return v;
	do
		v = step(v, &path);
	while (*path != '\0' && v.p != NULL);
	return v;
}

static const char *text_of(struct slice s, struct dynax_memory *mem)
{
	return (const char *)arena_copy(&mem->arena, s).p;
}

const char *dynax_str(struct dynax_value v, const char *path, const char *otherwise)
{
	const char *text;

	v = dynax_at(v, path);
	if (dynax_type(v) != DYNAX_TYPE_S)
		return otherwise;
	text = text_of(value_bytes(value_slice(v)), v.mem);
	return text != NULL ? text : otherwise;
}

int64_t dynax_int(struct dynax_value v, const char *path, int64_t otherwise)
{
	int64_t got;

	v = dynax_at(v, path);
	if (dynax_type(v) != DYNAX_TYPE_N || !number_to_int(value_bytes(value_slice(v)), &got))
		return otherwise;
	return got;
}

double dynax_double(struct dynax_value v, const char *path, double otherwise)
{
	char text[NUMBER_TEXT];

	v = dynax_at(v, path);
	if (dynax_type(v) != DYNAX_TYPE_N)
		return otherwise;
	number_format(value_bytes(value_slice(v)), text);
	return strtod(text, NULL);
}

bool dynax_bool(struct dynax_value v, const char *path, bool otherwise)
{
	v = dynax_at(v, path);
	return dynax_type(v) == DYNAX_TYPE_BOOL ? value_bool(value_slice(v)) : otherwise;
}

const char *dynax_number(struct dynax_value v, const char *path, const char *otherwise)
{
	char digits[NUMBER_TEXT];
	const char *text;

	v = dynax_at(v, path);
	if (dynax_type(v) != DYNAX_TYPE_N)
		return otherwise;
	text = text_of(slice_of(digits, number_format(value_bytes(value_slice(v)), digits)), v.mem);
	return text != NULL ? text : otherwise;
}

const void *dynax_bytes(struct dynax_value v, const char *path, size_t *n)
{
	enum dynax_type t;
	struct slice s;

	v = dynax_at(v, path);
	t = dynax_type(v);
	*n = 0;
	if (t != DYNAX_TYPE_S && t != DYNAX_TYPE_B)
		return NULL;
	s = value_bytes(value_slice(v));
	*n = s.n;
	return s.p;
}

static bool is_set_or_list(enum dynax_type t)
{
	return t == DYNAX_TYPE_L || t == DYNAX_TYPE_SS || t == DYNAX_TYPE_NS || t == DYNAX_TYPE_BS;
}

size_t dynax_count(struct dynax_value v)
{
	enum dynax_type t = dynax_type(v);

	return t == DYNAX_TYPE_M || is_set_or_list(t) ? value_count(value_slice(v)) : 0;
}

struct dynax_cursor dynax_each(struct dynax_value v)
{
	struct dynax_cursor c = { .mem = v.mem };
	enum dynax_type t = dynax_type(v);
	struct mp m = { NULL, NULL, false };

	if (t == DYNAX_TYPE_M)
		m = value_pairs(value_slice(v), &c.left);
	else if (is_set_or_list(t))
		m = value_elements(value_slice(v), &c.left);
	c.p = m.p;
	c.end = m.end;
	c.pairs = t == DYNAX_TYPE_M;
	return c;
}

bool dynax_next(struct dynax_cursor *c)
{
	struct mp m = { c->p, c->end, false };

	if (c->left == 0)
		return false;
	c->left--;
	if (c->pairs)
		c->name = text_of(mp_str(&m), c->mem);
	c->value = value_from(mp_skip(&m), c->mem);
	c->p = m.p;
	return !m.bad && (!c->pairs || c->name != NULL);
}

/* ---- JSON ---- */

/* What is in b as a text that lives in mem; b is released. */
static const char *text_of_buf(struct buf *b, struct dynax_memory *mem)
{
	const char *text = b->failed ? NULL : text_of(buf_slice(b), mem);

	buf_release(b);
	return text;
}

const char *dynax_json(struct dynax_value v)
{
	struct buf b;

	if (v.p == NULL)
		return NULL;
	buf_init(&b);
	if (dynax_type(v) == DYNAX_TYPE_M)
		json_write(&b, &shape_AttributeMap, value_slice(v));
	else
		json_write_value(&b, value_slice(v));
	return text_of_buf(&b, v.mem);
}

static void put_plain(struct buf *b, struct slice v);

static void put_plain_members(struct buf *b, struct slice v, bool map)
{
	uint32_t n;
	struct mp m = map ? value_pairs(v, &n) : value_elements(v, &n);

	buf_put_u8(b, map ? '{' : '[');
	for (bool first = true; n > 0 && !m.bad; n--, first = false) {
		if (!first)
			buf_put_u8(b, ',');
		if (map) {
			json_write_string(b, mp_str(&m));
			buf_put_u8(b, ':');
		}
		put_plain(b, mp_skip(&m));
	}
	buf_put_u8(b, map ? '}' : ']');
}

/* Recursive: a value nests 32 levels at most. */
static void put_plain(struct buf *b, struct slice v)
{
	char digits[NUMBER_TEXT];

	switch (value_type(v)) {
	case VALUE_S:
		json_write_string(b, value_bytes(v));
		break;
	case VALUE_N:
		buf_put(b, digits, number_format(value_bytes(v), digits));
		break;
	case VALUE_B:
		json_write(b, &(const struct shape){ .kind = SHAPE_KIND_BLOB }, v);
		break;
	case VALUE_BOOL:
		buf_put_slice(b, value_bool(v) ? SLICE_LIT("true") : SLICE_LIT("false"));
		break;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
	case VALUE_L:
		put_plain_members(b, v, false);
		break;
	case VALUE_M:
		put_plain_members(b, v, true);
		break;
	case VALUE_NULL:
	case VALUE_BAD:
		buf_put_slice(b, SLICE_LIT("null"));
		break;
	}
}

const char *dynax_plain_json(struct dynax_value v)
{
	struct buf b;

	if (v.p == NULL)
		return NULL;
	buf_init(&b);
	put_plain(&b, value_slice(v));
	return text_of_buf(&b, v.mem);
}
