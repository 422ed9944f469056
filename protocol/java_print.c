/* java_print - see java_print.h. Recursion follows shapes, which nest a few levels. */
#include <ctype.h>

#include "protocol/java_print.h"
#include "protocol/value.h"

enum { PRINT_MAX = 64 * 1024 }; /* a request of 16 MB must not come back as a message of 16 MB */

static void put_text(struct buf *out, const char *s)
{
	buf_put(out, s, strlen(s));
}

void java_print_name(struct buf *out, const char *name)
{
	buf_put_u8(out, (uint8_t)tolower((unsigned char)name[0]));
	put_text(out, name + 1);
}

static void print_any(struct buf *out, const struct shape *shape, struct mp *m);

/* Java names an object of a class without toString() by its class and a number. */
static void print_value(struct buf *out, struct slice v)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < v.n; i++)
		h = (h ^ v.p[i]) * 16777619u;
	buf_printf(out, "com.amazonaws.dynamodb.v20120810.AttributeValue@%x", h);
}

static void print_struct(struct buf *out, const struct shape *shape, struct mp *m)
{
	struct record r;

	if (!record_open(&r, shape, mp_skip(m)))
		return;
	buf_printf(out, "%s(", shape->name);
	for (unsigned id = 0; id < shape->members; id++) {
		struct mp member = mp_open(r.m[id]);

		if (id > 0)
			put_text(out, ", ");
		java_print_name(out, shape->member[id].name);
		buf_put_u8(out, '=');
		if (record_has(&r, id))
			print_any(out, shape->member[id].shape, &member);
		else
			put_text(out, "null");
	}
	buf_put_u8(out, ')');
}

static void print_elements(struct buf *out, const struct shape *shape, struct mp *m, bool map)
{
	uint32_t n = map ? mp_map(m) : mp_array(m);

	buf_put_u8(out, map ? '{' : '[');
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		if (i > 0 && out->n < PRINT_MAX)
			put_text(out, ", ");
		if (map) {
			struct slice name = mp_str(m);

			if (out->n < PRINT_MAX) {
				buf_put_slice(out, name);
				buf_put_u8(out, '=');
			}
		}
		if (out->n < PRINT_MAX)
			print_any(out, shape->element, m);
		else
			mp_skip(m);
	}
	buf_put_u8(out, map ? '}' : ']');
}

static void print_any(struct buf *out, const struct shape *shape, struct mp *m)
{
	switch (shape->kind) {
	case SHAPE_KIND_STRUCT:
		print_struct(out, shape, m);
		break;
	case SHAPE_KIND_LIST:
		print_elements(out, shape, m, false);
		break;
	case SHAPE_KIND_MAP:
	case SHAPE_KIND_ITEM:
		print_elements(out, shape, m, true);
		break;
	case SHAPE_KIND_STRING:
	case SHAPE_KIND_ENUM:
		buf_put_slice(out, mp_str(m));
		break;
	case SHAPE_KIND_INT:
	case SHAPE_KIND_LONG:
		buf_printf(out, "%lld", (long long)mp_int(m));
		break;
	case SHAPE_KIND_DOUBLE:
	case SHAPE_KIND_TIMESTAMP:
		buf_printf(out, "%.17g", mp_double(m));
		break;
	case SHAPE_KIND_BOOL:
		put_text(out, mp_bool(m) ? "true" : "false");
		break;
	case SHAPE_KIND_BLOB:
		mp_skip(m);
		put_text(out, "java.nio.HeapByteBuffer");
		break;
	case SHAPE_KIND_VALUE:
		print_value(out, mp_skip(m));
		break;
	}
}

void java_print(struct buf *out, const struct shape *shape, struct slice value)
{
	struct mp m = mp_open(value);

	print_any(out, shape, &m);
}
