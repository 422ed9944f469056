/* Bytes that claim to be an item: what passes the check is safe to walk, weigh and build again, to the same bytes. */
#include <stdlib.h>

#include "protocol/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rebuild_set(struct slice v, struct buf *out)
{
	static const int8_t ext[] = { [VALUE_SS] = VALUE_EXT_SS, [VALUE_NS] = VALUE_EXT_NS, [VALUE_BS] = VALUE_EXT_BS };
	struct slice member[64];
	uint32_t n, total = value_count(v);
	struct mp m = value_elements(v, &n);

	if (total > 64) {
		buf_put_slice(out, v);
		return;
	}
	while (n > 0)
		member[total - n] = mp_skip(&m), n--;
	if (!set_put(out, ext[value_type(v)], member, total))
		abort();
}

static void rebuild(struct slice v, struct buf *out)
{
	char text[NUMBER_TEXT];
	struct number x;

	switch (value_type(v)) {
	case VALUE_S:
		value_put_string(out, value_bytes(v));
		break;
	case VALUE_B:
		value_put_binary(out, value_bytes(v));
		break;
	case VALUE_N:
		if (number_parse(&x, slice_of(text, number_format(value_bytes(v), text))) != NUMBER_OK)
			abort();
		value_put_number(out, number_slice(&x));
		break;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
		rebuild_set(v, out);
		break;
	case VALUE_BAD:
		abort();
	default:
		buf_put_slice(out, v);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice item = slice_of(data, size);
	struct map_builder builder;
	struct arena a;
	struct buf out, values;
	uint32_t n;

	value_check(item);
	if (!item_check(item))
		return 0;
	arena_init(&a, 0);
	buf_init(&out);
	buf_init(&values);
	map_builder_init(&builder, &a);
	for (struct mp m = value_pairs(item, &n); n > 0; n--) {
		struct slice name = mp_str(&m), v = mp_skip(&m);

		if (!value_eq(map_get(item, name), v) || value_size(v) > 4 * v.n)
			abort();
		buf_clear(&values);
		rebuild(v, &values);
		if (!value_eq(buf_slice(&values), v))
			abort();
		map_builder_add(&builder, name, v);
	}
	item_size(item);
	if (!map_put(&builder, &out) || !slice_eq(buf_slice(&out), item))
		abort();
	buf_release(&values);
	buf_release(&out);
	arena_release(&a);
	return 0;
}
