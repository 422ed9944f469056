/* test_value - canonical form, access, sizes, and the check of foreign bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/value.h"

static struct buf b; /* every test is a process of its own */

static struct slice str(const char *s)
{
	static struct buf ring[16];
	static unsigned at;
	struct buf *r = &ring[at++ % 16];

	buf_clear(r);
	value_put_string(r, slice_str(s));
	return buf_slice(r);
}

static struct slice num(const char *s)
{
	static struct buf ring[16];
	static unsigned at;
	struct buf *r = &ring[at++ % 16];
	struct number x;

	cr_assert_eq(number_parse(&x, slice_str(s)), NUMBER_OK);
	buf_clear(r);
	value_put_number(r, number_slice(&x));
	return buf_slice(r);
}

Test(value, types_and_words)
{
	cr_assert_str_eq(value_type_name(VALUE_SS), "SS");
	cr_assert_str_eq(value_type_word(VALUE_BOOL), "BOOLEAN");
	cr_assert_eq(value_type(str("x")), VALUE_S);
	cr_assert_eq(value_type(num("7")), VALUE_N);
	cr_assert_eq(value_type(SLICE_LIT("\xc0")), VALUE_NULL);
	cr_assert_eq(value_type(SLICE_LIT("\xc3")), VALUE_BOOL);
	cr_assert(value_bool(SLICE_LIT("\xc3")));
	cr_assert_eq(value_type(SLICE_LIT("\x05")), VALUE_BAD);
	cr_assert_eq(value_type(SLICE_NONE), VALUE_BAD);
	cr_assert(slice_eq(value_bytes(str("abc")), SLICE_LIT("abc")));
}

Test(value, map_builder_sorts_and_last_wins)
{
	struct map_builder m;
	struct arena a;

	arena_init(&a, 0);
	map_builder_init(&m, &a);
	map_builder_add(&m, SLICE_LIT("b"), str("1"));
	map_builder_add(&m, SLICE_LIT("ab"), str("2"));
	map_builder_add(&m, SLICE_LIT("b"), str("3"));
	map_builder_add(&m, SLICE_LIT("A"), str("4"));
	map_builder_add(&m, SLICE_LIT("a"), str("5"));
	cr_assert(map_put(&m, &b));
	cr_assert(item_check(buf_slice(&b)));
	cr_assert_eq(value_count(buf_slice(&b)), 4);
	cr_assert(slice_eq(map_get(buf_slice(&b), SLICE_LIT("b")), str("3")));
	cr_assert(slice_eq(map_get(buf_slice(&b), SLICE_LIT("A")), str("4")));
	cr_assert(!slice_present(map_get(buf_slice(&b), SLICE_LIT("aa"))));
	cr_assert(!slice_present(map_get(buf_slice(&b), SLICE_LIT("c"))));
	arena_release(&a);
	buf_release(&b);
}

Test(value, sets_sort_and_refuse_doubles)
{
	struct slice ns[] = { num("10"), num("-1"), num("2.5") };
	struct slice same[] = { num("7"), num("1"), num("7.0") };
	struct slice ss[] = { str("b"), str("aa"), str("") };
	struct slice first;
	uint32_t n;

	cr_assert(set_put(&b, VALUE_EXT_NS, ns, 3));
	cr_assert(value_check(buf_slice(&b)));
	cr_assert(set_has(buf_slice(&b), num("2.50")));
	cr_assert(!set_has(buf_slice(&b), num("2")));
	cr_assert_eq(value_type(buf_slice(&b)), VALUE_NS);
	struct mp m = value_elements(buf_slice(&b), &n);
	cr_assert_eq(n, 3);
	first = mp_skip(&m);
	cr_assert(value_eq(first, num("-1")));
	buf_clear(&b);
	cr_assert(!set_put(&b, VALUE_EXT_NS, same, 3));
	cr_assert_eq(b.n, 0);
	cr_assert(set_put(&b, VALUE_EXT_SS, ss, 3));
	cr_assert(value_check(buf_slice(&b)));
	cr_assert_eq(value_count(buf_slice(&b)), 3);
	buf_release(&b);
}

Test(value, list_get)
{
	mp_put_array(&b, 3);
	value_put_int(&b, 1);
	mp_put_array(&b, 0);
	value_put_null(&b);
	cr_assert(value_eq(list_get(buf_slice(&b), 0), num("1")));
	cr_assert_eq(value_type(list_get(buf_slice(&b), 1)), VALUE_L);
	cr_assert_eq(value_type(list_get(buf_slice(&b), 2)), VALUE_NULL);
	cr_assert(!slice_present(list_get(buf_slice(&b), 3)));
	cr_assert(!slice_present(list_get(buf_slice(&b), UINT32_MAX)));
	buf_release(&b);
}

Test(value, sizes_follow_the_service)
{
	struct slice ns[] = { num("10"), num("-1") };

	mp_put_map(&b, 2); /* SIZ-01, step 4 */
	mp_put_str(&b, SLICE_LIT("l"));
	mp_put_array(&b, 500);
	for (int i = 0; i < 500; i++)
		value_put_string(&b, SLICE_LIT("aa"));
	mp_put_str(&b, SLICE_LIT("pk"));
	value_put_string(&b, SLICE_LIT("k"));
	cr_assert(item_check(buf_slice(&b)));
	cr_assert_eq(item_size(buf_slice(&b)), 3 + 500 * 3 + 4);
	cr_assert_eq(value_size(SLICE_LIT("\x90")), 3);
	cr_assert_eq(value_size(SLICE_LIT("\x80")), 3);
	cr_assert_eq(item_size(SLICE_LIT("\x80")), 0);
	cr_assert_eq(value_size(SLICE_LIT("\xc0")), 1);
	cr_assert_eq(value_size(SLICE_LIT("\xc2")), 1);
	cr_assert_eq(value_size(num("1234")), 3);
	cr_assert_eq(value_size(SLICE_LIT("\x81\xa2xy\xa1z")), 3 + 1 + 2 + 1);
	buf_clear(&b);
	cr_assert(set_put(&b, VALUE_EXT_NS, ns, 2));
	cr_assert_eq(value_size(buf_slice(&b)), 2 + 3);
	buf_release(&b);
}

static bool nested_maps(unsigned depth)
{
	buf_clear(&b);
	for (unsigned i = 0; i < depth; i++) {
		mp_put_map(&b, 1);
		mp_put_str(&b, SLICE_LIT("m"));
	}
	value_put_string(&b, SLICE_LIT("deep"));
	return value_check(buf_slice(&b));
}

Test(value, nests_to_32_levels)
{
	cr_assert(nested_maps(31));
	cr_assert(!nested_maps(32));
	cr_assert(!nested_maps(100000));
	nested_maps(32); /* an item whose attribute has 31 maps */
	cr_assert(item_check(buf_slice(&b)));
	nested_maps(33);
	cr_assert(!item_check(buf_slice(&b)));
	buf_release(&b);
}

Test(value, check_refuses_other_forms)
{
	const struct slice bad[] = {
		SLICE_LIT("\x05"),                           /* an integer */
		SLICE_LIT("\xcb\0\0\0\0\0\0\0\0"),           /* a float */
		SLICE_LIT("\xd9\x01x"),                      /* longer than need be */
		SLICE_LIT("\xda\x00\x01x"), SLICE_LIT("\xc5\x00\x01x"), SLICE_LIT("\xdc\x00\x01\xc0"),
		SLICE_LIT("\xde\x00\x01\xa1x\xc0"), SLICE_LIT("\xc7\x01\x01\x80"),
		SLICE_LIT("\xa1\xff"),                       /* not UTF-8 */
		SLICE_LIT("\xa2\xc0\x80"), SLICE_LIT("\xa3\xed\xa0\x80"), SLICE_LIT("\xa1\xc3"),
		SLICE_LIT("\x82\xa1" "b\xc0\xa1" "a\xc0"),   /* out of order */
		SLICE_LIT("\x82\xa1" "a\xc0\xa1" "a\xc0"),   /* doubled */
		SLICE_LIT("\x81\x01\xc0"),                   /* name is not a string */
		SLICE_LIT("\xd4\x01\x81"),                   /* a number, not canonical */
		SLICE_LIT("\xd4\x09\x80"),                   /* unknown extension */
		SLICE_LIT("\xd4\x02\x90"),                   /* empty set */
		SLICE_LIT("\xc7\x05\x02\x92\xa1" "b\xa1" "a"), SLICE_LIT("\xc7\x05\x02\x92\xa1" "a\xa1" "a"),
		SLICE_LIT("\xd5\x02\x91\xc0"),               /* member of another type */
		SLICE_LIT("\xc7\x03\x02\x91\xa0\xc0"),       /* surplus inside a set */
		SLICE_LIT("\xc0\xc0"), SLICE_LIT("\x91"), SLICE_LIT(""), SLICE_LIT("\xc1"),
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_assert(!value_check(bad[i]), "%zu", i);
	cr_assert(!item_check(SLICE_LIT("\xc0")));
	cr_assert(value_check(SLICE_LIT("\xd5\x02\x91\xa0")));
	cr_assert(value_check(SLICE_LIT("\xa4\xf0\x9f\x98\x80")));
	cr_assert(value_check(SLICE_LIT("\xd4\x01\x80")));
}

/* Random bytes that pass the check are safe and stay inside their bounds; one bit changed never crashes. */
Test(value, random_damage)
{
	unsigned seed = (unsigned)time(NULL), passed = 0;
	uint8_t copy[64];

	cr_log_info("SEED %u", seed);
	mp_put_map(&b, 3);
	mp_put_str(&b, SLICE_LIT("a"));
	value_put_int(&b, 1234);
	mp_put_str(&b, SLICE_LIT("b"));
	mp_put_array(&b, 2);
	value_put_bool(&b, true);
	value_put_binary(&b, SLICE_LIT("\0\1"));
	mp_put_str(&b, SLICE_LIT("s"));
	struct slice ss[] = { str("x"), str("y") };
	cr_assert(set_put(&b, VALUE_EXT_SS, ss, 2));
	for (int i = 0; i < 100000; i++) {
		struct slice s = slice_of(copy, b.n);

		memcpy(copy, b.p, b.n);
		copy[(size_t)rand_r(&seed) % b.n] ^= (uint8_t)(1 << rand_r(&seed) % 8);
		if (item_check(s)) {
			passed++;
			cr_assert_leq(item_size(s), 3 * s.n);
			map_get(s, SLICE_LIT("b"));
		}
	}
	cr_assert_gt(passed, 100);
	buf_release(&b);
}
