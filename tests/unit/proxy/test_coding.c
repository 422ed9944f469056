/* test_coding - Accept-Encoding and Content-Encoding: what is accepted, round trips, damaged bodies, bodies that blow up. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "proxy/coding.h"

/* What the service does with each of these is recorded in Alternator's test of compressed answers. */
Test(coding, accepted)
{
	static const struct { const char *header; enum coding coding; } t[] = {
		{ "", CODING_NONE }, { "identity", CODING_NONE }, { "br", CODING_NONE }, { "x-gzip", CODING_NONE },
		{ "gzip, deflate", CODING_GZIP }, { "br, identity, deflate, gzip", CODING_DEFLATE }, { "GZIP, identity", CODING_GZIP },
		{ "dog, gzip ,, cat", CODING_GZIP }, { "gzip;q=0.8, deflate;q=0.5", CODING_GZIP },
		{ "br, gzip;q=0, deflate; q = 0.5 , identity;q=0", CODING_DEFLATE }, { "*", CODING_GZIP },
		{ "*, deflate;q=0.5", CODING_GZIP }, { "*, deflate", CODING_DEFLATE }, { "*, identity", CODING_GZIP },
		{ "*, gzip;q=0.5", CODING_DEFLATE }, { "gzip ;q=0", CODING_NONE }, { "identity;q=0", CODING_NONE },
		{ "*;q=0", CODING_NONE }, { "*;q=0.5,identity", CODING_GZIP }, { "gzip;q=0.5,identity;q=0.8", CODING_GZIP },
		{ "br;q=0.8,identity;q=0.5,*;q=0", CODING_NONE }, { "\"gzip\"", CODING_NONE }, { "gzip br", CODING_NONE },
		{ "gzip:q=1", CODING_NONE }, { "deflate;q=0.5, gzip;q=31", CODING_GZIP }, { "gzip;q=31,deflate;q=51", CODING_GZIP },
		{ "deflate;q=0.5, gzip;q=0.2", CODING_DEFLATE }, { "deflate;q=0.5, gzip;q=1;q=0.2", CODING_GZIP },
		{ "deflate;q=0.5,gzip;q=0.", CODING_DEFLATE }, { "deflate;q=0.5,gzip;q=0.x", CODING_GZIP },
		{ "deflate;q=0.5,gzip;q=0. x", CODING_GZIP }, { "deflate;q=-0.5,gzip;q=0.2", CODING_GZIP },
		{ "gzip;q= 0;q=1", CODING_NONE }, { "gzip;q =0;q=1", CODING_GZIP }, { "gzip; q=0;q=1", CODING_NONE },
		{ "gzip;nq=0;q=1", CODING_NONE }, { "gzip;q=0, gzip;q=1, gzip;q=0", CODING_GZIP },
		{ "br,identity;q=0.5,gzip;q=0.0001", CODING_GZIP },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_assert_eq(coding_accepted(slice_str(t[i].header)), t[i].coding, "%s", t[i].header);
}

Test(coding, names)
{
	cr_assert_eq(coding_of(SLICE_NONE), CODING_NONE);
	cr_assert_eq(coding_of(SLICE_LIT(" identity ")), CODING_NONE);
	cr_assert_eq(coding_of(SLICE_LIT("GZip")), CODING_GZIP);
	cr_assert_eq(coding_of(SLICE_LIT("deflate")), CODING_DEFLATE);
	cr_assert_eq(coding_of(SLICE_LIT("gzip, gzip")), CODING_UNKNOWN);
}

Test(coding, round_trips)
{
	struct buf plain, coded, back;

	buf_init(&plain);
	buf_init(&coded);
	buf_init(&back);
	srand(7);
	for (size_t n = 0; n < 300000; n = n * 3 + 1) {
		while (plain.n < n)
			buf_put_u8(&plain, (uint8_t)(rand() % 20));
		for (enum coding c = CODING_GZIP; c <= CODING_DEFLATE; c++) {
			buf_clear(&coded);
			buf_clear(&back);
			cr_assert(coding_encode(c, buf_slice(&plain), &coded));
			cr_assert_eq(coding_decode(c, buf_slice(&coded), n, &back), CODING_OK);
			cr_assert(slice_eq(buf_slice(&plain), buf_slice(&back)));
			if (n > 0)
				cr_assert_eq(coding_decode(c, buf_slice(&coded), n - 1, &back), CODING_TOO_LONG);
			for (size_t cut = 0; cut < coded.n; cut += 1 + coded.n / 50) {
				buf_clear(&back);
				cr_assert_eq(coding_decode(c, slice_of(coded.p, cut), n, &back), CODING_BROKEN, "%zu of %zu", cut, coded.n);
			}
		}
	}
	buf_release(&plain);
	buf_release(&coded);
	buf_release(&back);
}

Test(coding, members_and_junk)
{
	struct buf coded, back;

	buf_init(&coded);
	buf_init(&back);
	cr_assert(coding_encode(CODING_GZIP, SLICE_LIT("one "), &coded));
	cr_assert(coding_encode(CODING_GZIP, SLICE_LIT("two"), &coded));
	cr_assert_eq(coding_decode(CODING_GZIP, buf_slice(&coded), 100, &back), CODING_OK);
	cr_assert(slice_eq(buf_slice(&back), SLICE_LIT("one two")));
	buf_put_u8(&coded, 'x');
	cr_assert_eq(coding_decode(CODING_GZIP, buf_slice(&coded), 100, &back), CODING_BROKEN);
	buf_clear(&coded);
	cr_assert(coding_encode(CODING_DEFLATE, SLICE_LIT("one"), &coded));
	buf_put_u8(&coded, 'x');
	cr_assert_eq(coding_decode(CODING_DEFLATE, buf_slice(&coded), 100, &back), CODING_BROKEN);
	buf_release(&coded);
	buf_release(&back);
}

/* A bomb of 64 MB is given up soon after the limit. */
Test(coding, bomb)
{
	struct buf plain, coded, back;
	uint8_t *p;

	buf_init(&plain);
	buf_init(&coded);
	buf_init(&back);
	p = buf_reserve(&plain, 64 << 20);
	cr_assert_not_null(p);
	memset(p, ' ', 64 << 20);
	plain.n = 64 << 20;
	cr_assert(coding_encode(CODING_GZIP, buf_slice(&plain), &coded));
	cr_assert_eq(coding_decode(CODING_GZIP, buf_slice(&coded), 1 << 20, &back), CODING_TOO_LONG);
	cr_assert_leq(back.n, (1 << 20) + (64 << 10));
	buf_release(&plain);
	buf_release(&coded);
	buf_release(&back);
}
