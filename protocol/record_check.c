/* record_check - are bytes from a msgpack peer a record of this shape, in the one canonical form (S1)?
 *
 * Kinds, order and shortest forms are checked here, attribute values by value_check, which keeps a bounded stack of its
 * own; recursion here follows shapes, which nest a few levels. What JSON can say and DynamoDB refuses as a value, an
 * empty set for one, has no canonical form and is refused here as malformed. */
#include <math.h>

#include "protocol/messages.h"
#include "protocol/shape.h"
#include "protocol/value.h"

static bool check_any(struct mp *m, const struct shape *s);

static size_t container_head(uint32_t n)
{
	return n <= 15 ? 1 : n <= UINT16_MAX ? 3 : 5;
}

/* The head of a map or array in its shortest form. */
static bool open_container(struct mp *m, bool map, uint32_t *n)
{
	const uint8_t *at = m->p;

	*n = map ? mp_map(m) : mp_array(m);
	return !m->bad && (size_t)(m->p - at) == container_head(*n);
}

static bool check_struct(struct mp *m, const struct shape *s)
{
	unsigned next = 0;
	uint32_t n;

	if (!open_container(m, true, &n) || n > s->members)
		return false;
	for (; n > 0; n--) {
		if (mp_at_end(m) || *m->p < next || *m->p >= s->members)
			return false;
		next = *m->p++ + 1u;
		if (!check_any(m, s->member[next - 1].shape))
			return false;
	}
	return true;
}

static bool check_list(struct mp *m, const struct shape *s)
{
	uint32_t n;

	if (!open_container(m, false, &n))
		return false;
	while (n > 0 && check_any(m, s->element))
		n--;
	return n == 0;
}

/* One value of a scalar type, canonical and, if a string, of valid UTF-8. */
static bool check_scalar(struct mp *m, enum value_type type)
{
	struct slice v = mp_skip(m);

	return !m->bad && value_type(v) == type && value_check(v);
}

static bool check_map(struct mp *m, const struct shape *s)
{
	struct slice last = SLICE_NONE;
	uint32_t n;

	if (!open_container(m, true, &n))
		return false;
	for (; n > 0; n--) {
		struct mp at = *m;
		struct slice name;

		if (!check_scalar(m, VALUE_S))
			return false;
		name = mp_str(&at);
		if ((slice_present(last) && slice_cmp(last, name) >= 0) || !check_any(m, s->element))
			return false;
		last = name;
	}
	return true;
}

static size_t integer_length(int64_t v)
{
	if (v >= 0)
		return v < 128 ? 1 : v <= UINT8_MAX ? 2 : v <= UINT16_MAX ? 3 : v <= UINT32_MAX ? 5 : 9;
	return v >= -32 ? 1 : v >= INT8_MIN ? 2 : v >= INT16_MIN ? 3 : v >= INT32_MIN ? 5 : 9;
}

static bool check_integer(struct mp *m, enum shape_kind kind)
{
	const uint8_t *at = m->p;
	enum mp_type type = mp_peek(m);
	int64_t v = mp_int(m);

	/* A small positive integer in a signed form is as long as in the unsigned one. */
	if (m->bad || (size_t)(m->p - at) != integer_length(v) || (*at >= 0xd0 && *at <= 0xd3 && type == MP_UINT))
		return false;
	return kind == SHAPE_KIND_LONG || (v >= INT32_MIN && v <= INT32_MAX);
}

static bool check_double(struct mp *m)
{
	const uint8_t *at = m->p;
	enum mp_type type = mp_peek(m);
	double v = mp_double(m);

	return !m->bad && type == MP_FLOAT && m->p - at == 9 && isfinite(v) && !(v == 0 && signbit(v));
}

static bool check_item(struct mp *m)
{
	struct slice v = mp_skip(m);

	return !m->bad && item_check(v);
}

static bool check_attribute(struct mp *m)
{
	struct slice v = mp_skip(m);

	return !m->bad && value_check(v);
}

static bool check_any(struct mp *m, const struct shape *s)
{
	switch (s->kind) {
	case SHAPE_KIND_STRUCT:
		return check_struct(m, s);
	case SHAPE_KIND_LIST:
		return check_list(m, s);
	case SHAPE_KIND_MAP:
		return check_map(m, s);
	case SHAPE_KIND_STRING:
	case SHAPE_KIND_ENUM:
		return check_scalar(m, VALUE_S);
	case SHAPE_KIND_INT:
	case SHAPE_KIND_LONG:
		return check_integer(m, s->kind);
	case SHAPE_KIND_DOUBLE:
	case SHAPE_KIND_TIMESTAMP:
		return check_double(m);
	case SHAPE_KIND_BOOL:
		return check_scalar(m, VALUE_BOOL);
	case SHAPE_KIND_BLOB:
		return check_scalar(m, VALUE_B);
	case SHAPE_KIND_VALUE:
		return check_attribute(m);
	case SHAPE_KIND_ITEM:
		return check_item(m);
	}
	return false;
}

enum err record_check(const struct shape *shape, struct slice bytes, struct fault *f)
{
	struct mp m = mp_open(bytes);

	if (!check_any(&m, shape) || !mp_at_end(&m))
		return fault_set(f, MSG_RECORD_BAD, shape->name);
	return ERR_OK;
}
