/* keycode - see keycode.h. */
#include <assert.h>
#include <xxhash.h>

#include "store/big_endian.h"
#include "store/keycode.h"
#include "store/store.h"

enum { ESCAPE = 0x00, ESCAPED_ZERO = 0xff, TERMINATOR = 0x01, ID_BYTES = 4 };

uint64_t store_hash(const struct slice *value, unsigned n)
{
	uint64_t h = 0;

	/* Encoded values delimit themselves, so no two lists of them run together. */
	for (unsigned i = 0; i < n; i++)
		h = XXH3_64bits_withSeed(value[i].p, value[i].n, h);
	return h;
}

/* ---- components ---- */

static void put_escaped(struct buf *b, struct slice s)
{
	while (s.n > 0) {
		const uint8_t *zero = memchr(s.p, 0, s.n);
		size_t run = zero != NULL ? (size_t)(zero - s.p) : s.n;

		buf_put(b, s.p, run);
		if (zero == NULL)
			return;
		buf_put_u8(b, ESCAPE);
		buf_put_u8(b, ESCAPED_ZERO);
		s = slice_of(zero + 1, s.n - run - 1);
	}
}

static void put_component(struct buf *b, struct slice value)
{
	struct slice bytes = value_bytes(value);

	if (value_type(value) != VALUE_N) {
		put_escaped(b, bytes);
		buf_put_u8(b, ESCAPE);
		buf_put_u8(b, TERMINATOR);
		return;
	}
	buf_put_slice(b, bytes);
	if (bytes.p[0] >= 0x80)
		buf_put_u8(b, 0);
}

static void put_be(struct buf *b, uint64_t v, unsigned bytes)
{
	uint8_t p[sizeof v];

	be_put(p, v, bytes);
	buf_put(b, p, bytes);
}

static void put_head(struct buf *b, uint32_t id, uint64_t hash)
{
	put_be(b, id, 4);
	put_be(b, hash, 8);
}

/* ---- keys of items and entries ---- */

/* The values of some key attributes; false if one is missing or has another type. */
static bool find_values(const struct key_attr *attr, unsigned n, struct slice map, struct slice *value)
{
	for (unsigned i = 0; i < n; i++) {
		value[i] = map_get(map, attr[i].name);
		if (!slice_present(value[i]) || value_type(value[i]) != attr[i].type)
			return false;
	}
	return true;
}

bool keycode_hash(const struct key_schema *ks, struct slice map, uint64_t *hash)
{
	struct slice value[KEY_ATTRS_MAX];

	if (!find_values(ks->hash, ks->hashes, map, value))
		return false;
	*hash = store_hash(value, ks->hashes);
	return true;
}

struct key_values {
	struct slice hash[KEY_ATTRS_MAX], range[KEY_ATTRS_MAX];
};

static bool find_key(const struct key_schema *ks, struct slice map, struct key_values *v)
{
	return find_values(ks->hash, ks->hashes, map, v->hash) && find_values(ks->range, ks->ranges, map, v->range);
}

static void put_values(struct buf *b, const struct slice *value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put_component(b, value[i]);
}

static void put_key(struct buf *b, uint32_t id, const struct key_schema *ks, const struct key_values *v, uint64_t hash)
{
	put_head(b, id, hash);
	put_values(b, v->hash, ks->hashes);
	put_values(b, v->range, ks->ranges);
}

bool keycode_hashed(struct buf *b, uint32_t table, const struct key_schema *ks, struct slice map, uint64_t hash)
{
	struct key_values v;

	if (!find_key(ks, map, &v))
		return false;
	put_key(b, table, ks, &v, hash);
	return true;
}

bool keycode_item(struct buf *b, uint32_t table, const struct key_schema *ks, struct slice map, uint64_t *hash)
{
	struct key_values v;
	uint64_t h;

	if (!find_key(ks, map, &v))
		return false;
	h = store_hash(v.hash, ks->hashes);
	put_key(b, table, ks, &v, h);
	if (hash != NULL)
		*hash = h;
	return true;
}

/* What tells entries with equal index keys apart. */
static void put_rest(struct buf *b, const struct key_attr *attr, unsigned n, const struct slice *value,
		     const struct key_schema *already)
{
	for (unsigned i = 0; i < n; i++)
		if (!key_schema_has(already, attr[i].name))
			put_component(b, value[i]);
}

bool keycode_entry(struct buf *b, const struct table_index *ix, const struct key_schema *base, struct slice map,
		   uint64_t *hash)
{
	struct key_values v, base_v;
	uint64_t h;

	if (!find_key(&ix->key, map, &v) || !find_key(base, map, &base_v))
		return false;
	h = store_hash(v.hash, ix->key.hashes);
	put_key(b, ix->id, &ix->key, &v, h);
	put_rest(b, base->hash, base->hashes, base_v.hash, &ix->key);
	put_rest(b, base->range, base->ranges, base_v.range, &ix->key);
	if (hash != NULL)
		*hash = h;
	return true;
}

/* ---- bounds ---- */

uint64_t keycode_hash_in(struct slice key)
{
	uint64_t hash = 0;

	for (unsigned i = ID_BYTES; i < ID_BYTES + sizeof hash; i++)
		hash = hash << 8 | (i < key.n ? key.p[i] : 0);
	return hash;
}

void keycode_after_prefix(struct buf *b)
{
	while (b->n > 0 && b->p[b->n - 1] == 0xff)
		b->n--;
	if (b->n > 0)
		b->p[b->n - 1]++;
}

void keycode_after(struct buf *b)
{
	buf_put_u8(b, 0);
}

/* [prefix + from, end of prefix + to): absent operands leave the prefix alone. */
static void put_bounds(struct buf *lo, struct buf *hi, struct slice from, struct slice to)
{
	if (slice_present(from))
		put_component(lo, from);
	if (slice_present(to))
		put_component(hi, to);
	keycode_after_prefix(hi);
}

static void put_range(struct buf *lo, struct buf *hi, const struct key_condition *kc)
{
	switch (kc->op) {
	case KEY_OP_NONE:
		put_bounds(lo, hi, SLICE_NONE, SLICE_NONE);
		break;
	case KEY_OP_EQ:
		put_bounds(lo, hi, kc->lo, kc->lo);
		break;
	case KEY_OP_LT:
		put_component(hi, kc->lo);
		break;
	case KEY_OP_LE:
		put_bounds(lo, hi, SLICE_NONE, kc->lo);
		break;
	case KEY_OP_GT:
		put_bounds(lo, hi, kc->lo, SLICE_NONE);
		keycode_after_prefix(lo);
		break;
	case KEY_OP_GE:
		put_bounds(lo, hi, kc->lo, SLICE_NONE);
		break;
	case KEY_OP_BETWEEN:
		put_bounds(lo, hi, kc->lo, kc->hi);
		break;
	case KEY_OP_BEGINS_WITH: /* no terminator: the component may go on */
		put_escaped(lo, value_bytes(kc->lo));
		put_escaped(hi, value_bytes(kc->lo));
		keycode_after_prefix(hi);
		break;
	}
}

bool keycode_condition(struct buf *lo, struct buf *hi, uint32_t id, const struct key_schema *ks,
		       const struct key_condition *kc, uint64_t *hash)
{
	uint64_t h = store_hash(kc->hash, ks->hashes);

	buf_clear(lo);
	buf_clear(hi);
	put_head(lo, id, h);
	put_values(lo, kc->hash, ks->hashes);
	put_values(lo, kc->range_eq, kc->range_eqs);
	buf_put_slice(hi, buf_slice(lo));
	put_range(lo, hi, kc);
	if (hash != NULL)
		*hash = h;
	return slice_cmp(buf_slice(lo), buf_slice(hi)) < 0;
}

void keycode_segment(struct buf *lo, struct buf *hi, uint32_t id, uint32_t segment, uint32_t total)
{
	uint64_t step = UINT64_MAX / total;

	assert(segment < total);
	buf_clear(lo);
	buf_clear(hi);
	put_head(lo, id, segment * step);
	if (segment + 1 < total) {
		put_head(hi, id, (segment + 1) * step);
	} else { /* the last one takes what the division left over */
		put_be(hi, id, 4);
		keycode_after_prefix(hi);
	}
}

void keycode_range(struct buf *lo, struct buf *hi, uint32_t id, uint64_t from, uint64_t to)
{
	buf_clear(lo);
	buf_clear(hi);
	put_head(lo, id, from);
	if (to != 0) {
		put_head(hi, id, to);
	} else {
		put_be(hi, id, 4);
		keycode_after_prefix(hi);
	}
}

uint32_t keycode_segment_of(uint64_t hash, uint32_t total)
{
	uint64_t segment = hash / (UINT64_MAX / total);

	return segment < total ? (uint32_t)segment : total - 1;
}
