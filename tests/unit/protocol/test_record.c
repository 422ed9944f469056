/* test_record - taking records apart and writing them. */
#include <criterion/criterion.h>

#include "protocol/shape.h"

static struct buf b; /* every test is a process of its own */

Test(record, write_and_open)
{
	struct record r;
	unsigned n = 0;
	size_t at = record_begin(&b);

	record_put_bool(&b, &n, QueryInput_ConsistentRead, true);
	record_put_int(&b, &n, QueryInput_Limit, 70000);
	record_put_str(&b, &n, QueryInput_Select, SLICE_LIT("COUNT"));
	record_put_str(&b, &n, QueryInput_TableName, SLICE_LIT("books"));
	record_end(&b, at, n);
	cr_assert(record_open(&r, &shape_QueryInput, buf_slice(&b)));
	cr_assert(record_bool(&r, QueryInput_ConsistentRead));
	cr_assert_eq(record_int(&r, QueryInput_Limit, 1), 70000);
	cr_assert(record_is(&r, QueryInput_Select, "COUNT"));
	cr_assert_not(record_is(&r, QueryInput_Select, "COUN"));
	cr_assert(slice_eq(record_str(&r, QueryInput_TableName), SLICE_LIT("books")));
	cr_assert_not(record_has(&r, QueryInput_IndexName));
	cr_assert_not(slice_present(record_str(&r, QueryInput_IndexName)));
	cr_assert_not(record_is(&r, QueryInput_ReturnConsumedCapacity, ""));
	cr_assert_not(record_bool(&r, QueryInput_ScanIndexForward));
	cr_assert_eq(record_double(&r, QueryInput_IndexName, 0.5), 0.5);
}

Test(record, lists_and_maps)
{
	struct record r;
	struct mp m;
	unsigned n = 0;
	uint32_t count;
	size_t at = record_begin(&b), inner;

	record_key(&b, &n, GetItemInput_AttributesToGet);
	inner = list_begin(&b);
	mp_put_str(&b, SLICE_LIT("a"));
	mp_put_str(&b, SLICE_LIT("b"));
	list_end(&b, inner, 2);
	record_key(&b, &n, GetItemInput_ExpressionAttributeNames);
	inner = map_begin(&b);
	mp_put_str(&b, SLICE_LIT("#a"));
	mp_put_str(&b, SLICE_LIT("x"));
	map_end(&b, inner, 1);
	record_end(&b, at, n);
	cr_assert(record_open(&r, &shape_GetItemInput, buf_slice(&b)));
	m = record_list(&r, GetItemInput_AttributesToGet, &count);
	cr_assert_eq(count, 2);
	cr_assert(slice_eq(mp_str(&m), SLICE_LIT("a")));
	m = record_list(&r, GetItemInput_ExpressionAttributeNames, &count);
	cr_assert_eq(count, 1);
	cr_assert(slice_eq(mp_str(&m), SLICE_LIT("#a")));
	record_list(&r, GetItemInput_Key, &count);
	cr_assert_eq(count, 0);
}

/* A head that was left one byte grows to what msgpack's writer would have put there at once. */
Test(record, heads_are_shortest)
{
	static const uint32_t size[] = { 0, 1, 15, 16, 31, 65535, 65536 };

	for (unsigned i = 0; i < sizeof size / sizeof size[0]; i++) {
		struct buf want;
		size_t at;

		buf_init(&want);
		mp_put_array(&want, size[i]);
		for (uint32_t k = 0; k < size[i]; k++)
			mp_put_int(&want, k);
		mp_put_map(&want, size[i]);
		buf_clear(&b);
		at = list_begin(&b);
		for (uint32_t k = 0; k < size[i]; k++)
			mp_put_int(&b, k);
		list_end(&b, at, size[i]);
		at = map_begin(&b);
		map_end(&b, at, size[i]);
		cr_assert(slice_eq(buf_slice(&b), buf_slice(&want)), "%u", size[i]);
		buf_release(&want);
	}
}

Test(record, a_full_buffer_fails_quietly)
{
	unsigned n = 0;
	size_t at;

	b.max = 4;
	at = record_begin(&b);
	record_put_str(&b, &n, GetItemInput_TableName, SLICE_LIT("too long for it"));
	record_end(&b, at, n);
	cr_assert(b.failed);
}

#define BAD(shape, bytes) cr_assert_not(record_open(&r, &shape_##shape, SLICE_LIT(bytes)), "%s", #bytes)

Test(record, what_is_no_record)
{
	struct record r;

	BAD(GetItemInput, "");
	BAD(GetItemInput, "\x90"); /* not a map */
	BAD(GetItemInput, "\x81"); /* cut off */
	BAD(GetItemInput, "\x81\x01");
	BAD(GetItemInput, "\x81\x01\xa3xy");
	BAD(GetItemInput, "\x81\x07\xc3");         /* no such member */
	BAD(GetItemInput, "\x81\xa1x\xc3");        /* key of another kind */
	BAD(GetItemInput, "\x82\x01\xc3\x01\xc3"); /* twice */
	BAD(GetItemInput, "\x82\x06\xa3"
	                  "abc\x01\xc3"); /* out of order */
	BAD(GetItemInput, "\x80\x00");    /* bytes behind it */
	BAD(GetItemInput, "\xde\xff\xff");
	BAD(DescribeLimitsInput, "\x81\x00\xc0");
	cr_assert(record_open(&r, &shape_GetItemInput, SLICE_LIT("\x80")));
	cr_assert(record_open(&r, &shape_DescribeLimitsInput, SLICE_LIT("\x80")));
}
