/* mp - see mp.h. All reading goes through head_read, which takes apart the first bytes of a value:
 *
 *    p          body
 *    +----------+-- - - --+
 *    | 1..5     |   n     |     n = bytes of content; of an array or map: number of elements or pairs
 *    +----------+-- - - --+
 */
#include <msgpack/pack.h>

#include "protocol/mp.h"

/* First bytes c0..df: type, number of length bytes that follow, and bytes of content beside that length. */
struct form {
	uint8_t type, length_bytes, fixed;
};
static const struct form forms[0x20] = {
	{ MP_NIL, 0, 0 },   { MP_BAD, 0, 0 },   { MP_BOOL, 0, 0 },  { MP_BOOL, 0, 0 },
	{ MP_BIN, 1, 0 },   { MP_BIN, 2, 0 },   { MP_BIN, 4, 0 },   { MP_EXT, 1, 1 },
	{ MP_EXT, 2, 1 },   { MP_EXT, 4, 1 },   { MP_FLOAT, 0, 4 }, { MP_FLOAT, 0, 8 },
	{ MP_UINT, 0, 1 },  { MP_UINT, 0, 2 },  { MP_UINT, 0, 4 },  { MP_UINT, 0, 8 },
	{ MP_INT, 0, 1 },   { MP_INT, 0, 2 },   { MP_INT, 0, 4 },   { MP_INT, 0, 8 },
	{ MP_EXT, 0, 2 },   { MP_EXT, 0, 3 },   { MP_EXT, 0, 5 },   { MP_EXT, 0, 9 },
	{ MP_EXT, 0, 17 },  { MP_STR, 1, 0 },   { MP_STR, 2, 0 },   { MP_STR, 4, 0 },
	{ MP_ARRAY, 2, 0 }, { MP_ARRAY, 4, 0 }, { MP_MAP, 2, 0 },   { MP_MAP, 4, 0 },
};

enum { STR8 = 0xd9 };

struct head {
	enum mp_type type;
	const uint8_t *body;
	size_t n;
};

static inline uint64_t big_endian(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | *p++;
	return v;
}

static inline bool is_container(enum mp_type t)
{
	return t == MP_ARRAY || t == MP_MAP;
}

/* The forms whose length is in the first byte. */
static inline struct head head_short(const uint8_t *p)
{
	uint8_t c = *p;

	if (c < 0x80)
		return (struct head){ MP_UINT, p, 1 }; /* a fixint is its own content */
	if (c >= 0xe0)
		return (struct head){ MP_INT, p, 1 };
	if (c < 0x90)
		return (struct head){ MP_MAP, p + 1, c & 0xf };
	if (c < 0xa0)
		return (struct head){ MP_ARRAY, p + 1, c & 0xf };
	return (struct head){ MP_STR, p + 1, c & 0x1f };
}

/* False at the end or if the value is damaged or cut off (of containers: cut off within their first bytes). */
static inline bool head_read(const uint8_t *p, const uint8_t *end, struct head *h)
{
	const struct form *f;

	if (p == end)
		return false;
	if (*p < 0xc0 || *p >= 0xe0) {
		*h = head_short(p);
	} else if (*p == STR8 && end - p >= 2) {
		/* So common that the processor should guess it rather than wait for the table. */
		*h = (struct head){ MP_STR, p + 2, p[1] };
	} else {
		f = &forms[*p - 0xc0];
		if (f->type == MP_BAD || (size_t)(end - p) < 1u + f->length_bytes)
			return false;
		h->type = (enum mp_type)f->type;
		h->body = p + 1 + f->length_bytes;
		h->n = (size_t)big_endian(p + 1, f->length_bytes) + f->fixed;
	}
	return is_container(h->type) || (size_t)(end - h->body) >= h->n;
}

enum mp_type mp_peek(const struct mp *m)
{
	struct head h;

	if (m->bad || !head_read(m->p, m->end, &h))
		return MP_BAD;
	/* The signed forms may hold what is not negative. */
	if (h.type == MP_INT && (*h.body & 0x80) == 0)
		return MP_UINT;
	return h.type;
}

static void fail(struct mp *m)
{
	m->bad = true;
}

/* Step past a value without children (or past the head of a container) of the given type. */
static inline bool take(struct mp *m, enum mp_type type, struct head *h)
{
	if (m->bad || !head_read(m->p, m->end, h) || h->type != type) {
		fail(m);
		return false;
	}
	m->p = is_container(type) ? h->body : h->body + h->n;
	return true;
}

bool mp_bool(struct mp *m)
{
	struct head h;

	return take(m, MP_BOOL, &h) && h.body[-1] == 0xc3;
}

void mp_nil(struct mp *m)
{
	struct head h;

	take(m, MP_NIL, &h);
}

/* An integer as sign and 64 bits of two's complement. */
static bool take_integer(struct mp *m, bool *negative, uint64_t *bits)
{
	struct head h;

	if (m->bad || !head_read(m->p, m->end, &h) || (h.type != MP_UINT && h.type != MP_INT)) {
		fail(m);
		return false;
	}
	m->p = h.body + h.n;
	*bits = big_endian(h.body, (unsigned)h.n);
	*negative = h.type == MP_INT && (*h.body & 0x80) != 0;
	if (*negative && h.n < 8)
		*bits |= UINT64_MAX << (8 * h.n);
	return true;
}

int64_t mp_int(struct mp *m)
{
	bool negative;
	uint64_t bits;

	if (!take_integer(m, &negative, &bits))
		return 0;
	if (!negative && bits > INT64_MAX) {
		fail(m);
		return 0;
	}
	return (int64_t)bits;
}

uint64_t mp_uint(struct mp *m)
{
	bool negative;
	uint64_t bits;

	if (!take_integer(m, &negative, &bits))
		return 0;
	if (negative) {
		fail(m);
		return 0;
	}
	return bits;
}

double mp_double(struct mp *m)
{
	struct head h;
	uint64_t bits;
	bool negative;
	float single;
	double v;

	if (mp_peek(m) != MP_FLOAT)
		return !take_integer(m, &negative, &bits) ? 0 : negative ? (double)(int64_t)bits : (double)bits;
	if (!take(m, MP_FLOAT, &h))
		return 0;
	bits = big_endian(h.body, (unsigned)h.n);
	if (h.n == 4) {
		uint32_t low = (uint32_t)bits;

		memcpy(&single, &low, sizeof single);
		return (double)single;
	}
	memcpy(&v, &bits, sizeof v);
	return v;
}

struct slice mp_str(struct mp *m)
{
	struct head h;

	return take(m, MP_STR, &h) ? slice_of(h.body, h.n) : SLICE_NONE;
}

struct slice mp_bin(struct mp *m)
{
	struct head h;

	return take(m, MP_BIN, &h) ? slice_of(h.body, h.n) : SLICE_NONE;
}

struct slice mp_ext(struct mp *m, int8_t *type)
{
	struct head h;

	if (!take(m, MP_EXT, &h)) {
		*type = 0;
		return SLICE_NONE;
	}
	*type = (int8_t)h.body[0];
	return slice_of(h.body + 1, h.n - 1);
}

/* A container that cannot have so many elements in what is left is damaged: callers may loop on what they get. */
static uint32_t take_container(struct mp *m, enum mp_type type, unsigned per_element)
{
	struct head h;

	if (!take(m, type, &h))
		return 0;
	if (h.n > (size_t)(m->end - m->p) / per_element) {
		fail(m);
		return 0;
	}
	return (uint32_t)h.n;
}

uint32_t mp_array(struct mp *m)
{
	return take_container(m, MP_ARRAY, 1);
}

uint32_t mp_map(struct mp *m)
{
	return take_container(m, MP_MAP, 2);
}

struct slice mp_skip(struct mp *m)
{
	const uint8_t *p = m->p;
	uint64_t left = 1; /* values still to pass; each has a byte at least, which bounds it and the loop */
	struct head h;

	if (m->bad)
		return SLICE_NONE;
	while (left > 0) {
		if (left > (uint64_t)(m->end - p) || !head_read(p, m->end, &h)) {
			fail(m);
			return SLICE_NONE;
		}
		left--;
		p = h.body;
		if (h.type == MP_MAP)
			left += 2 * (uint64_t)h.n;
		else if (h.type == MP_ARRAY)
			left += h.n;
		else
			p += h.n;
	}
	h.body = m->p;
	m->p = p;
	return slice_of(h.body, (size_t)(p - h.body));
}

/* ---- writing, through msgpack-c ---- */

static int append(void *arg, const char *p, size_t n)
{
	struct buf *b = arg;

	buf_put(b, p, n);
	return b->failed ? -1 : 0;
}

static inline msgpack_packer packer(struct buf *b)
{
	return (msgpack_packer){ .data = b, .callback = append };
}

void mp_put_nil(struct buf *b)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_nil(&pk);
}

void mp_put_bool(struct buf *b, bool v)
{
	msgpack_packer pk = packer(b);

	if (v)
		msgpack_pack_true(&pk);
	else
		msgpack_pack_false(&pk);
}

void mp_put_int(struct buf *b, int64_t v)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_int64(&pk, v);
}

void mp_put_double(struct buf *b, double v)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_double(&pk, v);
}

void mp_put_str(struct buf *b, struct slice s)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_str(&pk, s.n);
	buf_put_slice(b, s);
}

void mp_put_bin(struct buf *b, struct slice s)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_bin(&pk, s.n);
	buf_put_slice(b, s);
}

void mp_put_array(struct buf *b, uint32_t n)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_array(&pk, n);
}

void mp_put_map(struct buf *b, uint32_t n)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_map(&pk, n);
}

void mp_put_ext_head(struct buf *b, int8_t type, size_t n)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_ext(&pk, n, type);
}

void mp_put_ext(struct buf *b, int8_t type, struct slice payload)
{
	mp_put_ext_head(b, type, payload.n);
	buf_put_slice(b, payload);
}
