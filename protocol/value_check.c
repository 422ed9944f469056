/* value_check - are bytes from a peer or a file a value in the one canonical form? See V1 and V2 of value.h.
 *
 * The walk keeps its own stack of open lists and maps, one entry a level, so hostile nesting costs nothing:
 *
 *    level 1: the attribute's value     level 2: an element of it     ...     level 32: the deepest there may be */
#include "protocol/value.h"

struct level {
	uint32_t left;          /* elements or pairs to come */
	bool map;
	struct slice name;      /* the last one seen; absent before the first */
};

struct walk {
	struct mp m;
	struct level level[VALUE_DEPTH_MAX + 1]; /* [0] is the item itself, or empty */
	unsigned depth;         /* open lists and maps */
};

/* ---- shortest forms: how long must the head of a value with n bytes or elements be? ---- */

static size_t head_of_bin(size_t n)
{
	return n < 256 ? 2 : n < 65536 ? 3 : 5;
}

static size_t head_of_str(size_t n)
{
	return n < 32 ? 1 : head_of_bin(n);
}

static size_t head_of_ext(size_t n)
{
	bool fixed = n == 1 || n == 2 || n == 4 || n == 8 || n == 16;

	return fixed ? 2 : 1 + head_of_bin(n);
}

static size_t head_of_container(size_t n)
{
	return n < 16 ? 1 : n < 65536 ? 3 : 5;
}

static bool check_str(struct mp *m, struct slice *s)
{
	const uint8_t *at = m->p;

	*s = mp_str(m);
	return !m->bad && (size_t)(s->p - at) == head_of_str(s->n) && utf8_valid(*s);
}

static bool check_bin(struct mp *m)
{
	const uint8_t *at = m->p;
	struct slice s = mp_bin(m);

	return !m->bad && (size_t)(s.p - at) == head_of_bin(s.n);
}

static bool check_ext(struct mp *m, int8_t *ext, struct slice *payload)
{
	const uint8_t *at = m->p;

	*payload = mp_ext(m, ext);
	return !m->bad && (size_t)(payload->p - at) == head_of_ext(payload->n);
}

static bool check_number(struct mp *m)
{
	struct slice payload;
	int8_t ext;

	return check_ext(m, &ext, &payload) && ext == VALUE_EXT_N && number_valid(payload);
}

static bool check_member(struct mp *m, int8_t set)
{
	struct slice s;

	switch (set) {
	case VALUE_EXT_SS:
		return check_str(m, &s);
	case VALUE_EXT_NS:
		return check_number(m);
	case VALUE_EXT_BS:
		return check_bin(m);
	default:
		return false;
	}
}

static bool check_set(struct slice payload, int8_t ext)
{
	struct mp m = mp_open(payload);
	uint32_t n = mp_array(&m);
	struct slice last = SLICE_NONE;

	if (n == 0 || (size_t)(m.p - payload.p) != head_of_container(n))
		return false;
	for (; n > 0; n--) {
		const uint8_t *at = m.p;
		struct slice member;

		if (!check_member(&m, ext))
			return false;
		member = value_bytes(slice_of(at, (size_t)(m.p - at)));
		if (slice_present(last) && slice_cmp(last, member) >= 0)
			return false;
		last = member;
	}
	return mp_at_end(&m);
}

static bool check_number_or_set(struct mp *m)
{
	struct slice payload;
	int8_t ext;

	if (!check_ext(m, &ext, &payload))
		return false;
	return ext == VALUE_EXT_N ? number_valid(payload) : check_set(payload, ext);
}

/* ---- the walk ---- */

static bool open_container(struct walk *w, bool map)
{
	const uint8_t *at = w->m.p;
	uint32_t n = map ? mp_map(&w->m) : mp_array(&w->m);

	if (w->m.bad || (size_t)(w->m.p - at) != head_of_container(n))
		return false;
	if (n == 0)
		return true;
	if (w->depth == VALUE_DEPTH_MAX) /* its elements would be at level 33 */
		return false;
	w->level[w->depth++] = (struct level){ .left = n, .map = map };
	return true;
}

static bool check_one(struct walk *w)
{
	struct slice s;

	switch (mp_peek(&w->m)) {
	case MP_STR:
		return check_str(&w->m, &s);
	case MP_BIN:
		return check_bin(&w->m);
	case MP_EXT:
		return check_number_or_set(&w->m);
	case MP_BOOL:
	case MP_NIL:
		mp_skip(&w->m);
		return true;
	case MP_ARRAY:
		return open_container(w, false);
	case MP_MAP:
		return open_container(w, true);
	default:
		return false;
	}
}

static bool check_name(struct walk *w, struct level *l)
{
	struct slice name;

	if (!check_str(&w->m, &name) || name.n == 0 || name.n > VALUE_NAME_MAX)
		return false;
	if (slice_present(l->name) && slice_cmp(l->name, name) >= 0)
		return false;
	l->name = name;
	return true;
}

static bool run(struct walk *w)
{
	if (!check_one(w))
		return false;
	while (w->depth > 0) {
		struct level *l = &w->level[w->depth - 1];

		if (l->left == 0) {
			w->depth--;
			continue;
		}
		l->left--;
		if (l->map && !check_name(w, l))
			return false;
		if (!check_one(w))
			return false;
	}
	return mp_at_end(&w->m);
}

bool value_check(struct slice v)
{
	struct walk w = { .m = mp_open(v), .depth = 1 }; /* level[0] stands for an item with nothing more to come */

	return run(&w);
}

bool item_check(struct slice item)
{
	struct walk w = { .m = mp_open(item) };

	return mp_peek(&w.m) == MP_MAP && run(&w);
}
