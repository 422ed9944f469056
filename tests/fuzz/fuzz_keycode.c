/* Two Keys of one table, each a canonical item: the order of their engine keys is the order of their values. */
#include <stdlib.h>

#include "store/keycode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum value_type types[] = { VALUE_S, VALUE_N, VALUE_B };

/* One partition: only the range value counts. */
static bool encode(struct buf *key, const struct key_schema *ks, struct slice value)
{
	struct buf map;
	bool ok;

	if (!value_check(value) || value_type(value) != ks->range[0].type)
		return false;
	buf_init(&map);
	mp_put_map(&map, 2);
	mp_put_str(&map, SLICE_LIT("p"));
	value_put_bool(&map, true); /* of another type: no key */
	mp_put_str(&map, SLICE_LIT("s"));
	buf_put_slice(&map, value);
	if (keycode_item(key, 1, ks, buf_slice(&map), NULL) || key->n != 0)
		abort();
	buf_clear(&map);
	mp_put_map(&map, 2);
	mp_put_str(&map, SLICE_LIT("p"));
	value_put_string(&map, SLICE_LIT("x"));
	mp_put_str(&map, SLICE_LIT("s"));
	buf_put_slice(&map, value);
	ok = keycode_item(key, 1, ks, buf_slice(&map), NULL);
	buf_release(&map);
	return ok;
}

static int sign(int c)
{
	return (c > 0) - (c < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp m;
	struct slice a, b;
	struct buf x, y;
	struct key_schema ks = { .hash = { { SLICE_LIT("p"), VALUE_S } }, .range = { { SLICE_LIT("s"), VALUE_S } }, .hashes = 1,
				 .ranges = 1 };

	if (size < 1)
		return 0;
	ks.range[0].type = types[data[0] % 3];
	m = mp_open(slice_of(data + 1, size - 1));
	a = mp_skip(&m);
	b = mp_skip(&m);
	buf_init(&x);
	buf_init(&y);
	if (!m.bad && encode(&x, &ks, a) && encode(&y, &ks, b)) {
		if (sign(slice_cmp(buf_slice(&x), buf_slice(&y))) != sign(value_cmp(a, b)))
			abort();
		if (x.n != y.n && slice_starts_with(buf_slice(&y), buf_slice(&x)))
			abort();
	}
	buf_release(&x);
	buf_release(&y);
	return 0;
}
