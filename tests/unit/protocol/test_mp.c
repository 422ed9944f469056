/* test_mp - what is written is read back, msgpack-c agrees, and damaged bytes are refused. */
#include <criterion/criterion.h>
#include <msgpack.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/mp.h"

static struct mp open_buf(const struct buf *b)
{
	return mp_open(buf_slice(b));
}

Test(mp, integers_round_trip)
{
	static const int64_t v[] = { 0,	 1,    127,   128,   255,   256,	  65535,	65536,	   UINT32_MAX,
				     -1, -32,  -33,   -128,  -129,  -32768,	  -32769,	INT32_MIN, INT64_MIN,
				     INT64_MAX, (int64_t)UINT32_MAX + 1, (int64_t)INT32_MIN - 1 };
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		mp_put_int(&b, v[i]);
	struct mp m = open_buf(&b);
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		cr_assert_eq(mp_peek(&m), v[i] < 0 ? MP_INT : MP_UINT);
		cr_assert_eq(mp_int(&m), v[i], "%zu", i);
	}
	cr_assert(mp_at_end(&m) && !m.bad);
	mp_int(&m);
	cr_assert(m.bad);
	buf_release(&b);
}

Test(mp, signed_forms_of_positive_integers)
{
	struct mp m = mp_open(SLICE_LIT("\xd0\x05\xd1\x00\xff\xd3\x00\x00\x00\x00\x00\x00\x00\x07\xcf\xff\xff\xff\xff\xff\xff\xff\xff"));

	cr_assert_eq(mp_peek(&m), MP_UINT);
	cr_assert_eq(mp_uint(&m), 5);
	cr_assert_eq(mp_int(&m), 255);
	cr_assert_eq(mp_uint(&m), 7);
	struct mp again = m;
	cr_assert_eq(mp_uint(&m), UINT64_MAX);
	mp_int(&again);
	cr_assert(again.bad);
}

Test(mp, lengths_round_trip_in_shortest_form)
{
	static const size_t n[] = { 0, 1, 31, 32, 255, 256, 65535, 65536 };
	uint8_t *bytes = calloc(1, 65536);
	struct buf b;
	int8_t type;

	buf_init(&b);
	for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
		struct slice s = slice_of(bytes, n[i]);

		buf_clear(&b);
		mp_put_str(&b, s);
		mp_put_bin(&b, s);
		mp_put_ext(&b, -7, s);
		struct mp m = open_buf(&b), whole = m;
		cr_assert(slice_eq(mp_str(&m), s));
		cr_assert(slice_eq(mp_bin(&m), s));
		cr_assert(slice_eq(mp_ext(&m, &type), s));
		cr_assert_eq(type, -7);
		cr_assert(mp_at_end(&m) && !m.bad);
		mp_skip(&whole), mp_skip(&whole), mp_skip(&whole);
		cr_assert(mp_at_end(&whole) && !whole.bad);
	}
	buf_release(&b);
	free(bytes);
}

Test(mp, scalars)
{
	struct buf b;

	buf_init(&b);
	mp_put_nil(&b);
	mp_put_bool(&b, true);
	mp_put_bool(&b, false);
	mp_put_double(&b, -2.5);
	mp_put_int(&b, -3);
	buf_put(&b, "\xca\x40\x20\x00\x00", 5);
	struct mp m = open_buf(&b);
	mp_nil(&m);
	cr_assert(mp_bool(&m));
	cr_assert(!mp_bool(&m));
	cr_assert_eq(mp_double(&m), -2.5);
	cr_assert_eq(mp_double(&m), -3.0);
	cr_assert_eq(mp_double(&m), 2.5);
	cr_assert(mp_at_end(&m) && !m.bad);
	buf_release(&b);
}

Test(mp, wrong_type_is_sticky)
{
	struct mp m = mp_open(SLICE_LIT("\xa1x\x05"));

	cr_assert_eq(mp_int(&m), 0);
	cr_assert(m.bad);
	cr_assert(!slice_present(mp_str(&m)));
	cr_assert_eq(mp_peek(&m), MP_BAD);
	cr_assert_eq(mp_skip(&m).n, 0);
}

Test(mp, deep_nesting_costs_no_stack)
{
	enum { DEPTH = 1000000 };
	uint8_t *p = malloc(DEPTH + 1);

	memset(p, 0x91, DEPTH);
	p[DEPTH] = 0xc0;
	struct mp m = mp_open(slice_of(p, DEPTH + 1));
	cr_assert_eq(mp_skip(&m).n, DEPTH + 1);
	m = mp_open(slice_of(p, DEPTH));
	mp_skip(&m);
	cr_assert(m.bad);
	free(p);
}

Test(mp, impossible_counts_fail_at_once)
{
	struct mp m = mp_open(SLICE_LIT("\xdd\xff\xff\xff\xff\xc0"));

	mp_skip(&m);
	cr_assert(m.bad);
	m = mp_open(SLICE_LIT("\xdf\x00\x00\x00\x01\xc0"));
	cr_assert_eq(mp_map(&m), 0);
	cr_assert(m.bad);
}

/* Every prefix of a value is refused, the value itself is one step, and msgpack-c agrees about damaged bytes. */
Test(mp, agrees_with_msgpack_c)
{
	unsigned seed = (unsigned)time(NULL);
	unsigned accepted = 0;

	cr_log_info("SEED %u", seed);
	for (int round = 0; round < 50000; round++) {
		uint8_t bytes[24];
		size_t n = 1 + (size_t)rand_r(&seed) % sizeof bytes, off = 0;
		msgpack_unpacked result;
		struct mp m;

		for (size_t i = 0; i < n; i++) {
			bytes[i] = (uint8_t)(rand_r(&seed) >> 7);
			if (bytes[i] == 0xdd || bytes[i] == 0xdf) /* msgpack-c would allocate gigabytes */
				bytes[i] = 0xc0;
		}
		msgpack_unpacked_init(&result);
		msgpack_unpack_return rc = msgpack_unpack_next(&result, (const char *)bytes, n, &off);
		m = mp_open(slice_of(bytes, n));
		size_t len = mp_skip(&m).n;
		bool whole = rc == MSGPACK_UNPACK_SUCCESS || rc == MSGPACK_UNPACK_EXTRA_BYTES;
		cr_assert_eq(!m.bad, whole, "round %d", round);
		if (whole)
			cr_assert_eq(len, off);
		accepted += whole;
		msgpack_unpacked_destroy(&result);
	}
	cr_assert_gt(accepted, 1000);
}
