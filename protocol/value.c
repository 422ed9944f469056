/* value - see value.h: looking into values, and their order and size. Writing is in value_put.c, checking in
 * value_check.c. */
#include "protocol/value.h"

static const char *const names[] = {
#define X(sym, name, word) [VALUE_##sym] = name,
	VALUE_TYPES(X)
#undef X
	[VALUE_BAD] = "?",
};
static const char *const words[] = {
#define X(sym, name, word) [VALUE_##sym] = word,
	VALUE_TYPES(X)
#undef X
	[VALUE_BAD] = "?",
};

const char *value_type_name(enum value_type t)
{
	return names[t];
}

const char *value_type_word(enum value_type t)
{
	return words[t];
}

static enum value_type ext_type(int8_t ext)
{
	switch (ext) {
	case VALUE_EXT_N:
		return VALUE_N;
	case VALUE_EXT_SS:
		return VALUE_SS;
	case VALUE_EXT_NS:
		return VALUE_NS;
	case VALUE_EXT_BS:
		return VALUE_BS;
	default:
		return VALUE_BAD;
	}
}

enum value_type value_type(struct slice v)
{
	struct mp m = mp_open(v);
	int8_t ext;

	switch (mp_peek(&m)) {
	case MP_STR:
		return VALUE_S;
	case MP_BIN:
		return VALUE_B;
	case MP_BOOL:
		return VALUE_BOOL;
	case MP_NIL:
		return VALUE_NULL;
	case MP_ARRAY:
		return VALUE_L;
	case MP_MAP:
		return VALUE_M;
	case MP_EXT:
		mp_ext(&m, &ext);
		return ext_type(ext);
	default:
		return VALUE_BAD;
	}
}

struct slice value_bytes(struct slice v)
{
	struct mp m = mp_open(v);
	int8_t ext;

	switch (mp_peek(&m)) {
	case MP_STR:
		return mp_str(&m);
	case MP_BIN:
		return mp_bin(&m);
	case MP_EXT:
		return mp_ext(&m, &ext);
	default:
		return SLICE_NONE;
	}
}

bool value_bool(struct slice v)
{
	struct mp m = mp_open(v);

	return mp_bool(&m);
}

struct mp value_elements(struct slice v, uint32_t *n)
{
	struct mp m = mp_open(v);
	int8_t ext;

	if (mp_peek(&m) == MP_EXT)
		m = mp_open(mp_ext(&m, &ext));
	*n = mp_array(&m);
	return m;
}

struct mp value_pairs(struct slice v, uint32_t *n)
{
	struct mp m = mp_open(v);

	*n = mp_map(&m);
	return m;
}

uint32_t value_count(struct slice v)
{
	uint32_t n;

	if (value_type(v) == VALUE_M)
		value_pairs(v, &n);
	else
		value_elements(v, &n);
	return n;
}

struct slice map_get(struct slice map, struct slice name)
{
	uint32_t n;

	for (struct mp m = value_pairs(map, &n); n > 0; n--) {
		struct slice at = mp_str(&m);
		struct slice value = mp_skip(&m);
		int c = slice_cmp(at, name);

		if (c == 0)
			return value;
		if (c > 0)
			break;
	}
	return SLICE_NONE;
}

struct slice list_get(struct slice list, uint32_t i)
{
	uint32_t n;
	struct mp m = value_elements(list, &n);

	if (i >= n)
		return SLICE_NONE;
	while (i-- > 0)
		mp_skip(&m);
	return mp_skip(&m);
}

bool set_has(struct slice set, struct slice x)
{
	uint32_t n;

	for (struct mp m = value_elements(set, &n); n > 0; n--)
		if (slice_eq(mp_skip(&m), x))
			return true;
	return false;
}

int value_cmp(struct slice a, struct slice b)
{
	return slice_cmp(value_bytes(a), value_bytes(b));
}

/* ---- DynamoDB's size ----
 *
 * A size is a sum over all that a value holds, so one flat walk over its parts does: names and strings are their
 * bytes, a list or map is 3 and 1 for each element, however deep it lies. */

enum { CONTAINER_SIZE = 3, SCALAR_SIZE = 1 };

static size_t set_size(struct slice payload)
{
	struct mp m = mp_open(payload);
	size_t size = 0;

	for (uint32_t n = mp_array(&m); n > 0; n--)
		size += value_bytes(mp_skip(&m)).n;
	return size;
}

static size_t ext_size(struct mp *m)
{
	int8_t ext;
	struct slice payload = mp_ext(m, &ext);

	return ext == VALUE_EXT_N ? number_item_size(payload) : set_size(payload);
}

static size_t walk_size(struct mp *m, uint64_t parts)
{
	size_t size = 0;
	uint32_t n;

	for (; parts > 0 && !m->bad; parts--) {
		switch (mp_peek(m)) {
		case MP_STR:
			size += mp_str(m).n;
			break;
		case MP_BIN:
			size += mp_bin(m).n;
			break;
		case MP_EXT:
			size += ext_size(m);
			break;
		case MP_ARRAY:
			n = mp_array(m);
			size += CONTAINER_SIZE + n;
			parts += n;
			break;
		case MP_MAP:
			n = mp_map(m);
			size += CONTAINER_SIZE + n;
			parts += 2 * (uint64_t)n;
			break;
		default:
			mp_skip(m);
			size += SCALAR_SIZE;
			break;
		}
	}
	return size;
}

size_t value_size(struct slice v)
{
	struct mp m = mp_open(v);

	return walk_size(&m, 1);
}

size_t item_size(struct slice item)
{
	uint32_t n;
	struct mp m = value_pairs(item, &n);

	return walk_size(&m, 2 * (uint64_t)n);
}
