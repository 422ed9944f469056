/* test_number - parsing, order and arithmetic, against GMP's integers as an independent implementation. */
#include <criterion/criterion.h>
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/number.h"

static enum number_status parse(struct number *x, const char *s)
{
	return number_parse(x, slice_str(s));
}

static const char *text(const struct number *x)
{
	static char out[NUMBER_TEXT];
	size_t n = number_format(number_slice(x), out);

	cr_assert_eq(n, strlen(out));
	return out;
}

static struct number num(const char *s)
{
	struct number x;

	cr_assert_eq(parse(&x, s), NUMBER_OK, "%s", s);
	cr_assert(number_valid(number_slice(&x)), "%s", s);
	return x;
}

Test(number, canonical_text)
{
	static const char *const t[][2] = {
		{ "00042", "42" }, { "1.0", "1" }, { "3.1400", "3.14" }, { "-0", "0" }, { "1.5E2", "150" },
		{ "+5", "5" }, { ".5", "0.5" }, { "5.", "5" }, { "1e-3", "0.001" }, { "0e125", "0" },
		{ "0e-130", "0" }, { "-.00125e+2", "-0.125" }, { "100", "100" }, { "1000", "1000" },
		{ "0.10", "0.1" }, { "0.01", "0.01" }, { "-123.456", "-123.456" }, { "1e000000000000000000000000002", "100" },
		{ "9876543210123456000000000000000000000000", "9876543210123456000000000000000000000000" },
		{ "12345678901234567890123456789012345678", "12345678901234567890123456789012345678" },
		{ "1234567890123456789012345678901234567.8", "1234567890123456789012345678901234567.8" },
		{ "0.0000000000000000000000000000000000000000001", "0.0000000000000000000000000000000000000000001" },
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct number x = num(t[i][0]);

		cr_assert_str_eq(text(&x), t[i][1]);
	}
}

Test(number, statuses)
{
	static const struct {
		const char *text;
		enum number_status status;
	} t[] = {
		{ "123456789012345678901234567890123456789", NUMBER_PRECISION },
		{ "1.00000000000000000000000000000000000001", NUMBER_PRECISION },
		{ "1.00000000000000000000000000000000000000", NUMBER_OK },
		{ "3.14159265358979323846264338327950288419", NUMBER_PRECISION },
		{ "1e125", NUMBER_OK }, { "9.9999999999999999999999999999999999999e125", NUMBER_OK },
		{ "1e126", NUMBER_OVERFLOW }, { "11e125", NUMBER_OVERFLOW }, { "-1e126", NUMBER_OVERFLOW },
		{ "0e126", NUMBER_OVERFLOW }, { "1e100000000", NUMBER_OVERFLOW }, { "1e99999999999", NUMBER_OVERFLOW },
		{ "0.1e126", NUMBER_OK }, { "1e9223372036854775807", NUMBER_OVERFLOW },
		{ "10e9223372036854775807", NUMBER_OVERFLOW }, { "0.001e-9223372036854775807", NUMBER_UNDERFLOW },
		{ "1e-130", NUMBER_OK }, { "1.2345e-130", NUMBER_OK }, { "1e-131", NUMBER_UNDERFLOW },
		{ "0.9e-130", NUMBER_UNDERFLOW }, { "0e-131", NUMBER_UNDERFLOW }, { "1e-99999999999", NUMBER_UNDERFLOW },
		{ "1e9223372036854775808", NUMBER_SYNTAX }, { "1e-99999999999999999999", NUMBER_SYNTAX },
		{ "", NUMBER_SYNTAX }, { " 1", NUMBER_SYNTAX }, { "1 ", NUMBER_SYNTAX }, { "NaN", NUMBER_SYNTAX },
		{ "Infinity", NUMBER_SYNTAX }, { "-Infinity", NUMBER_SYNTAX }, { "0x10", NUMBER_SYNTAX },
		{ "1e", NUMBER_SYNTAX }, { "1e+", NUMBER_SYNTAX }, { ".", NUMBER_SYNTAX }, { "-", NUMBER_SYNTAX },
		{ "+-1", NUMBER_SYNTAX }, { "1.2.3", NUMBER_SYNTAX }, { "e5", NUMBER_SYNTAX }, { "1_000", NUMBER_SYNTAX },
		{ "1,5", NUMBER_SYNTAX }, { "--1", NUMBER_SYNTAX },
	};
	struct number x;

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		cr_assert_eq(parse(&x, t[i].text), t[i].status, "%s", t[i].text);
	cr_assert_eq(number_parse(&x, slice_of("1\0", 2)), NUMBER_SYNTAX);
	cr_assert_eq(number_parse(&x, SLICE_NONE), NUMBER_SYNTAX);
}

Test(number, longest_texts)
{
	struct number x = num("-1.2345678901234567890123456789012345678e-130");

	cr_assert_eq(strlen(text(&x)), NUMBER_TEXT - 1);
	x = num("-12.345678901234567890123456789012345678e-130");
	cr_assert_leq(x.n, NUMBER_BYTES);
	x = num("1e125");
	cr_assert_eq(strlen(text(&x)), 126);
}

Test(number, arithmetic_of_the_service)
{
	struct number r, a = num("9007199254740993"), one = num("1"), big = num("1e22"), x;

	cr_assert_eq(number_add(&r, number_slice(&a), number_slice(&one)), NUMBER_OK);
	cr_assert_str_eq(text(&r), "9007199254740994");
	cr_assert_eq(number_sub(&r, number_slice(&big), number_slice(&one)), NUMBER_OK);
	cr_assert_str_eq(text(&r), "9999999999999999999999");
	x = num("9e125");
	cr_assert_eq(number_add(&r, number_slice(&x), number_slice(&x)), NUMBER_OVERFLOW);
	x = num("1e50");
	cr_assert_eq(number_add(&r, number_slice(&x), number_slice(&one)), NUMBER_OVERFLOW);
	x = num("1e125");
	big = num("1e-130");
	cr_assert_eq(number_add(&r, number_slice(&x), number_slice(&big)), NUMBER_OVERFLOW);
	x = num("1.1e-130");
	cr_assert_eq(number_sub(&r, number_slice(&x), number_slice(&big)), NUMBER_UNDERFLOW);
	cr_assert_eq(number_sub(&r, number_slice(&x), number_slice(&x)), NUMBER_OK);
	cr_assert_str_eq(text(&r), "0");
	x = num("1e38");
	cr_assert_eq(number_sub(&r, number_slice(&x), number_slice(&one)), NUMBER_OK);
	cr_assert_str_eq(text(&r), "99999999999999999999999999999999999999");
}

/* ---- against GMP: a number is z * 10^-300 ---- */

enum { SCALE = 300 };

struct sample {
	char text[200];
	struct number x;
	mpz_t z;
};

/* Digits, exponent and sign at random, often near the bounds; z is computed from those, not from the text. */
static bool random_sample(struct sample *s, unsigned *seed)
{
	char digits[48];
	int n = 1 + rand_r(seed) % 38, point = rand_r(seed) % (n + 1);
	int e = rand_r(seed) % 4 == 0 ? rand_r(seed) % 260 - 134 : rand_r(seed) % 30 - 15;
	bool negative = rand_r(seed) % 2;
	mpz_t scale;

	for (int i = 0; i < n; i++)
		digits[i] = (char)('0' + (rand_r(seed) % 3 == 0 ? 0 : rand_r(seed) % 3 == 0 ? 9 : rand_r(seed) % 10));
	digits[n] = 0;
	snprintf(s->text, sizeof s->text, "%s%.*s.%se%d", negative ? "-" : "", point, digits, digits + point, e);
	if (parse(&s->x, s->text) != NUMBER_OK)
		return false;
	mpz_init_set_str(s->z, digits, 10);
	mpz_init(scale);
	mpz_ui_pow_ui(scale, 10, (unsigned long)(SCALE + e - (n - point)));
	mpz_mul(s->z, s->z, scale);
	if (negative)
		mpz_neg(s->z, s->z);
	mpz_clear(scale);
	return true;
}

/* The value of canonical bytes, through their text and GMP's own reader of digits. */
static void value_of(const struct number *x, mpz_t z)
{
	const char *t = text(x), *dot = strchr(t, '.');
	int fraction = dot != NULL ? (int)strlen(dot + 1) : 0;
	char plain[NUMBER_TEXT + SCALE];

	snprintf(plain, sizeof plain, "%.*s%s%0*d", dot != NULL ? (int)(dot - t) : (int)strlen(t), t,
		 dot != NULL ? dot + 1 : "", SCALE - fraction, 0);
	mpz_set_str(z, plain, 10);
}

/* What should the service say of this exact result? */
static enum number_status judge(const mpz_t z)
{
	size_t size, zeros = 0;
	char *s;
	enum number_status st = NUMBER_OK;

	if (mpz_sgn(z) == 0)
		return NUMBER_OK;
	s = mpz_get_str(NULL, 10, z);
	size = strlen(s + (*s == '-'));
	while (s[strlen(s) - 1 - zeros] == '0')
		zeros++;
	if (size > SCALE + 126)
		st = NUMBER_OVERFLOW;
	else if (size < SCALE - 129)
		st = NUMBER_UNDERFLOW;
	else if (size - zeros > 38)
		st = NUMBER_OVERFLOW;
	free(s);
	return st;
}

Test(number, agrees_with_gmp)
{
	unsigned seed = (unsigned)time(NULL), tried = 0, ok = 0;
	struct sample a, b;
	mpz_t z, got;

	cr_log_info("SEED %u", seed);
	mpz_inits(z, got, NULL);
	while (tried < 20000) {
		struct number r;
		enum number_status st;
		bool subtract = rand_r(&seed) % 2;
		int byte_order, order;

		if (!random_sample(&a, &seed))
			continue;
		if (!random_sample(&b, &seed)) {
			mpz_clear(a.z);
			continue;
		}
		tried++;
		value_of(&a.x, got);
		cr_assert_eq(mpz_cmp(got, a.z), 0, "seed %u: %s reads as %s", seed, a.text, text(&a.x));
		order = mpz_cmp(a.z, b.z);
		byte_order = slice_cmp(number_slice(&a.x), number_slice(&b.x));
		cr_assert_eq((order > 0) - (order < 0), (byte_order > 0) - (byte_order < 0), "%s %s", a.text, b.text);
		if (subtract)
			mpz_sub(z, a.z, b.z);
		else
			mpz_add(z, a.z, b.z);
		st = (subtract ? number_sub : number_add)(&r, number_slice(&a.x), number_slice(&b.x));
		cr_assert_eq(st, judge(z), "%s %c %s: %d", a.text, subtract ? '-' : '+', b.text, st);
		if (st == NUMBER_OK) {
			ok++;
			cr_assert(number_valid(number_slice(&r)));
			value_of(&r, got);
			cr_assert_eq(mpz_cmp(got, z), 0, "%s %c %s = %s", a.text, subtract ? '-' : '+', b.text, text(&r));
		}
		mpz_clears(a.z, b.z, NULL);
	}
	cr_assert_gt(ok, 1000);
	mpz_clears(z, got, NULL);
}

Test(number, order_holds_when_delimited)
{
	unsigned seed = (unsigned)time(NULL);
	struct sample a, b;

	cr_log_info("SEED %u", seed);
	for (int i = 0; i < 20000; i++) {
		uint8_t x[NUMBER_BYTES + 2], y[NUMBER_BYTES + 2];
		size_t n, m;
		int order;

		if (!random_sample(&a, &seed))
			continue;
		mpz_clear(a.z);
		if (!random_sample(&b, &seed))
			continue;
		mpz_clear(b.z);
		order = slice_cmp(number_slice(&a.x), number_slice(&b.x));
		if (order == 0)
			continue;
		memcpy(x, a.x.b, n = a.x.n);
		memcpy(y, b.x.b, m = b.x.n);
		if (x[0] >= 0x80)
			x[n++] = 0;
		if (y[0] >= 0x80)
			y[m++] = 0;
		x[n++] = 0xff; /* what follows must not matter */
		y[m++] = 0x00;
		cr_assert_eq(slice_cmp(slice_of(x, n), slice_of(y, m)) < 0, order < 0, "%s %s", a.text, b.text);
	}
}

Test(number, integers)
{
	static const int64_t v[] = { 0, 1, -1, 9, 10, 99, 100, -100, 101, 12345, 1000000, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
	struct number x;
	int64_t back;

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		char s[32];

		snprintf(s, sizeof s, "%lld", (long long)v[i]);
		number_from_int(&x, v[i]);
		cr_assert_str_eq(text(&x), s);
		cr_assert(number_valid(number_slice(&x)));
		cr_assert(number_to_int(number_slice(&x), &back));
		cr_assert_eq(back, v[i]);
	}
	x = num("9223372036854775808");
	cr_assert(!number_to_int(number_slice(&x), &back));
	x = num("-9223372036854775809");
	cr_assert(!number_to_int(number_slice(&x), &back));
	x = num("1.5");
	cr_assert(!number_to_int(number_slice(&x), &back));
	x = num("1e100");
	cr_assert(!number_to_int(number_slice(&x), &back));
	x = num("0.001");
	cr_assert(!number_to_int(number_slice(&x), &back));
}

Test(number, refuses_what_is_not_canonical)
{
	static const char *const bad[] = { "", "\x81", "\x80\x01\x02", "\xc1\x02\x01", "\xc1\x66", "\x3e\x60", "\x3e\xff",
					   "\x3e\x64\xff", "\xc1\x02\xff" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_assert(!number_valid(slice_str(bad[i])), "%zu", i);
	cr_assert(number_valid(SLICE_LIT("\x80")));
	cr_assert(number_valid(SLICE_LIT("\xc1\x02")));
	cr_assert(number_valid(SLICE_LIT("\x3e\x63\xff")));
}

Test(number, item_size)
{
	static const struct {
		const char *text;
		size_t size;
	} t[] = { { "0", 1 }, { "1", 2 }, { "12", 2 }, { "123", 3 }, { "1200", 2 }, { "120", 3 }, { "-1", 3 }, { "0.5", 2 },
		  { "0.05", 2 }, { "12345678901234567890123456789012345678", 20 } };

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct number x = num(t[i].text);

		cr_assert_eq(number_item_size(number_slice(&x)), t[i].size, "%s", t[i].text);
	}
}
