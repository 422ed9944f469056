/* record - taking a record apart, one level deep, and writing one.
 *
 * Containers are written before their length is known: begin leaves one byte, which is the whole header of up to
 * 15 members; end moves the contents when the header must grow, so that headers are always the shortest. */
#include "protocol/shape.h"

bool record_open(struct record *r, const struct shape *shape, struct slice bytes)
{
	struct mp m = mp_open(bytes);
	uint32_t n = mp_map(&m);
	unsigned next = 0;

	if (n > shape->members)
		return false;
	r->shape = shape;
	memset(r->m, 0, shape->members * sizeof r->m[0]);
	for (; n > 0; n--) {
		/* Identifiers are below 32: one byte each, the value itself. */
		if (m.p >= m.end || *m.p < next || *m.p >= shape->members)
			return false;
		next = *m.p++;
		r->m[next++] = mp_skip(&m);
		if (m.bad)
			return false;
	}
	return !m.bad && mp_at_end(&m);
}

/* False if the member is absent. */
static bool open_member(const struct record *r, unsigned id, struct mp *m)
{
	*m = mp_open(r->m[id]);
	return record_has(r, id);
}

struct slice record_str(const struct record *r, unsigned id)
{
	struct mp m;

	return open_member(r, id, &m) ? mp_str(&m) : SLICE_NONE;
}

int64_t record_int(const struct record *r, unsigned id, int64_t otherwise)
{
	struct mp m;

	return open_member(r, id, &m) ? mp_int(&m) : otherwise;
}

bool record_bool(const struct record *r, unsigned id)
{
	struct mp m;

	return open_member(r, id, &m) && mp_bool(&m);
}

double record_double(const struct record *r, unsigned id, double otherwise)
{
	struct mp m;

	return open_member(r, id, &m) ? mp_double(&m) : otherwise;
}

bool record_is(const struct record *r, unsigned id, const char *enum_value)
{
	return record_has(r, id) && slice_eq(record_str(r, id), slice_str(enum_value));
}

struct mp record_list(const struct record *r, unsigned id, uint32_t *n)
{
	struct mp m;

	*n = 0;
	if (open_member(r, id, &m))
		*n = mp_peek(&m) == MP_MAP ? mp_map(&m) : mp_array(&m);
	return m;
}

/* ---- writing ---- */

enum { FIX_MAP = 0x80, FIX_ARRAY = 0x90, MAP16 = 0xde, MAP32 = 0xdf, ARRAY16 = 0xdc, ARRAY32 = 0xdd };

static size_t container_begin(struct buf *b)
{
	buf_put_u8(b, 0);
	return b->n;
}

/* `at` is where the contents begin, one byte behind the header's place. */
static void container_end(struct buf *b, size_t at, uint32_t n, uint8_t fix, uint8_t head16, uint8_t head32)
{
	unsigned grow = n <= 15 ? 0 : n <= UINT16_MAX ? 2 : 4;
	uint8_t *p;

	if (b->failed)
		return;
	if (grow == 0) {
		b->p[at - 1] = (uint8_t)(fix | n);
		return;
	}
	if (buf_reserve(b, grow) == NULL)
		return;
	memmove(b->p + at + grow, b->p + at, b->n - at);
	b->n += grow;
	b->p[at - 1] = grow == 2 ? head16 : head32;
	for (p = b->p + at + grow; grow > 0; grow--, n >>= 8)
		*--p = (uint8_t)n;
}

size_t record_begin(struct buf *b)
{
	return container_begin(b);
}

void record_end(struct buf *b, size_t at, unsigned n)
{
	map_end(b, at, n);
}

size_t list_begin(struct buf *b)
{
	return container_begin(b);
}

void list_end(struct buf *b, size_t at, uint32_t n)
{
	container_end(b, at, n, FIX_ARRAY, ARRAY16, ARRAY32);
}

size_t map_begin(struct buf *b)
{
	return container_begin(b);
}

void map_end(struct buf *b, size_t at, uint32_t n)
{
	container_end(b, at, n, FIX_MAP, MAP16, MAP32);
}

void record_key(struct buf *b, unsigned *n, unsigned id)
{
	buf_put_u8(b, (uint8_t)id);
	(*n)++;
}

void record_put_str(struct buf *b, unsigned *n, unsigned id, struct slice s)
{
	record_key(b, n, id);
	mp_put_str(b, s);
}

void record_put_int(struct buf *b, unsigned *n, unsigned id, int64_t v)
{
	record_key(b, n, id);
	mp_put_int(b, v);
}

void record_put_bool(struct buf *b, unsigned *n, unsigned id, bool v)
{
	record_key(b, n, id);
	mp_put_bool(b, v);
}

void record_put_double(struct buf *b, unsigned *n, unsigned id, double v)
{
	record_key(b, n, id);
	mp_put_double(b, v);
}
