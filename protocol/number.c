/* number - see number.h. Between bytes and text stands a struct decimal: digits to the base 100, aligned to the
 * decimal point, so that two numbers align by whole digits.
 *
 *    12345.6   =   0.01 23 45 60 * 100^3        d = { 1, 23, 45, 60 }, e = 3
 *
 * Between text and decimal stands the scan of the mantissa: it keeps 38 digits, whatever the length of the text. */
#include <assert.h>

#include "protocol/number.h"

enum {
	DIGITS_MAX = 38,
	MAGNITUDE_MAX = 125,                /* exponent of the first digit, scientific */
	MAGNITUDE_MIN = -130,
	PAIRS_MAX = DIGITS_MAX / 2 + 1,     /* 38 digits that do not begin at a pair's beginning */
	EXPONENT_BIAS = 64,
	/* Two numbers of PAIRS_MAX that lie further apart than this have no digits in common, and what cancels at the
	 * top is one pair at most: their sum has far more than 38 digits. */
	SUM_PAIRS = 3 * PAIRS_MAX
};

struct decimal {
	bool negative;
	int e;
	unsigned n;                         /* 0 = zero */
	uint8_t d[SUM_PAIRS + 1];
};

/* ---- decimal to and from canonical bytes ---- */

static void pack(const struct decimal *x, struct number *out)
{
	uint8_t *p = out->b;

	assert(x->n <= PAIRS_MAX);
	if (x->n == 0)
		*p++ = 0x80;
	else if (!x->negative)
		*p++ = (uint8_t)(0x80 + x->e + EXPONENT_BIAS);
	else
		*p++ = (uint8_t)(0x7f - x->e - EXPONENT_BIAS);
	for (unsigned i = 0; i < x->n; i++)
		*p++ = (uint8_t)(x->negative ? 100 - x->d[i] : x->d[i] + 1);
	if (x->n != 0 && x->negative)
		*p++ = 0xff;
	out->n = (uint8_t)(p - out->b);
}

static void unpack(struct slice b, struct decimal *x)
{
	x->negative = b.p[0] < 0x80;
	x->n = (unsigned)(b.n - 1 - (x->negative ? 1 : 0));
	assert(x->n <= PAIRS_MAX);
	x->e = (x->negative ? 0x7f - b.p[0] : b.p[0] - 0x80) - EXPONENT_BIAS;
	for (unsigned i = 0; i < x->n; i++)
		x->d[i] = (uint8_t)(x->negative ? 100 - b.p[i + 1] : b.p[i + 1] - 1);
	if (x->n == 0)
		x->e = 0;
}

static unsigned digits(const struct decimal *x)
{
	return x->n == 0 ? 0 : 2 * x->n - (x->d[0] < 10) - (x->d[x->n - 1] % 10 == 0);
}

/* Exponent of the first digit. */
static int magnitude(const struct decimal *x)
{
	return 2 * (x->e - 1) + (x->d[0] >= 10);
}

/* ---- text to number ---- */

struct scan {
	bool negative, any;
	uint8_t digit[DIGITS_MAX];
	unsigned n;              /* significant digits kept */
	bool more;               /* a digit other than 0 came after them */
	int64_t first;           /* exponent of the first significant digit, before `exponent` is added */
	int64_t last;            /* exponent of the last digit written */
	int64_t exponent;
};

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Digits of the mantissa from p; `place` is the exponent of the next digit minus 1 (unknown before the point). */
static const uint8_t *scan_digits(struct scan *s, const uint8_t *p, const uint8_t *end, int64_t *place)
{
	for (; p < end && is_digit(*p); p++, --*place) {
		s->any = true;
		if (*p == '0' && s->n == 0)
			continue;
		if (s->n == 0)
			s->first = *place;
		if (s->n < DIGITS_MAX)
			s->digit[s->n++] = (uint8_t)(*p - '0');
		else if (*p != '0')
			s->more = true;
	}
	return p;
}

/* Sign and digits of an exponent; false if there are no digits or 64 bits do not hold it. */
static bool scan_exponent(struct scan *s, const uint8_t **p, const uint8_t *end)
{
	bool negative = false;
	const uint8_t *start;

	if (*p < end && (**p == '+' || **p == '-'))
		negative = *(*p)++ == '-';
	for (start = *p; *p < end && is_digit(**p); ++*p) {
		if (__builtin_mul_overflow(s->exponent, 10, &s->exponent) ||
		    __builtin_add_overflow(s->exponent, **p - '0', &s->exponent))
			return false;
	}
	if (negative)
		s->exponent = -s->exponent;
	return *p > start;
}

static bool scan_text(struct scan *s, struct slice text)
{
	const uint8_t *p = text.p, *end, *integer;
	int64_t place = 0, shift;

	*s = (struct scan){ 0 };
	if (text.n == 0)
		return false;
	end = text.p + text.n;
	if (p < end && (*p == '+' || *p == '-'))
		s->negative = *p++ == '-';
	integer = p;
	p = scan_digits(s, p, end, &place);
	/* Digits were counted down from 0; the last before the point has exponent 0. */
	shift = (p - integer) - 1;
	s->first += shift;
	s->last = 0;
	if (p < end && *p == '.') {
		bool found = s->n > 0;

		integer = ++p;
		place = -1;
		p = scan_digits(s, p, end, &place);
		if (!found && s->n == 0)
			s->first = 0;
		s->last = place + 1;
	}
	if (!s->any)
		return false;
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (!scan_exponent(s, &p, end))
			return false;
	}
	return p == end;
}

/* The digits as pairs. m is the exponent of the first, in range. */
static void pair_up(const struct scan *s, int m, struct decimal *x)
{
	unsigned i = 0, odd = (unsigned)m & 1; /* even: the first pair holds one digit */

	x->negative = s->negative;
	x->e = (m - (int)odd) / 2 + 1;
	x->n = 0;
	if (!odd)
		x->d[x->n++] = s->digit[i++];
	for (; i < s->n; i += 2)
		x->d[x->n++] = (uint8_t)(s->digit[i] * 10 + (i + 1 < s->n ? s->digit[i + 1] : 0));
}

enum number_status number_parse(struct number *out, struct slice text)
{
	struct scan s;
	struct decimal x = { 0 };
	int64_t m;

	if (!scan_text(&s, text))
		return NUMBER_SYNTAX;
	/* The service judges a zero by the place of its last digit: 0e126 overflows. */
	if (__builtin_add_overflow(s.n != 0 ? s.first : s.last, s.exponent, &m))
		m = s.exponent;
	if (m > MAGNITUDE_MAX)
		return NUMBER_OVERFLOW;
	if (m < MAGNITUDE_MIN)
		return NUMBER_UNDERFLOW;
	if (s.more)
		return NUMBER_PRECISION;
	while (s.n > 0 && s.digit[s.n - 1] == 0)
		s.n--;
	if (s.n != 0)
		pair_up(&s, (int)m, &x);
	pack(&x, out);
	return NUMBER_OK;
}

/* ---- number to text ---- */

static char *put_pair(char *p, uint8_t pair)
{
	*p++ = (char)('0' + pair / 10);
	*p++ = (char)('0' + pair % 10);
	return p;
}

size_t number_format(struct slice b, char out[NUMBER_TEXT])
{
	struct decimal x;
	char *p = out;
	int i, n;

	unpack(b, &x);
	n = (int)x.n;
	if (n != 0 && x.negative)
		*p++ = '-';
	if (x.e <= 0)
		*p++ = '0';
	for (i = 0; i < x.e; i++) {
		uint8_t pair = i < n ? x.d[i] : 0;

		p = put_pair(p, pair);
		if (i == 0 && pair < 10) { /* no leading zero */
			p[-2] = p[-1];
			p--;
		}
	}
	if (n > x.e) {
		*p++ = '.';
		for (i = x.e; i < 0; i++)
			p = put_pair(p, 0);
		for (i = x.e > 0 ? x.e : 0; i < n; i++)
			p = put_pair(p, x.d[i]);
		if (p[-1] == '0')
			p--;
	}
	*p = 0;
	return (size_t)(p - out);
}

bool number_valid(struct slice b)
{
	struct decimal x;
	size_t tail;

	if (b.n == 0 || b.n > NUMBER_BYTES)
		return false;
	if (b.n == 1)
		return b.p[0] == 0x80;
	tail = b.p[0] < 0x80 ? 1 : 0;
	if (b.n - 1 - tail < 1 || b.n - 1 - tail > PAIRS_MAX || (tail != 0 && b.p[b.n - 1] != 0xff))
		return false;
	for (size_t i = 1; i < b.n - tail; i++)
		if (b.p[i] < 1 || b.p[i] > 100)
			return false;
	unpack(b, &x);
	return x.d[0] != 0 && x.d[x.n - 1] != 0 && digits(&x) <= DIGITS_MAX;
}

/* ---- arithmetic ---- */

/* Add x, times sign, to pairs that begin at exponent `top`. */
static void accumulate(int *pair, int top, const struct decimal *x)
{
	int sign = x->negative ? -1 : 1;

	for (unsigned i = 0; i < x->n; i++)
		pair[top - x->e + (int)i] += sign * x->d[i];
}

/* Bring every pair to 0..99; returns what is carried out of the first. */
static int carry(int *pair, int n)
{
	int over = 0;

	for (int i = n - 1; i >= 0; i--) {
		int v = pair[i] + over;

		over = v < 0 ? -((99 - v) / 100) : v / 100;
		pair[i] = v - over * 100;
	}
	return over;
}

static enum number_status finish(int *pair, int n, int top, struct number *out)
{
	struct decimal x = { .e = top };
	int i = 0;

	if (carry(pair, n) < 0) { /* negative: pairs are a complement now */
		x.negative = true;
		for (int k = 0; k < n; k++)
			pair[k] = -pair[k];
		carry(pair, n);
	}
	while (n > 0 && pair[n - 1] == 0)
		n--;
	for (; i < n && pair[i] == 0; i++)
		x.e--;
	for (; i < n; i++)
		x.d[x.n++] = (uint8_t)pair[i];
	if (x.n == 0)
		x = (struct decimal){ 0 };
	else if (magnitude(&x) < MAGNITUDE_MIN)
		return NUMBER_UNDERFLOW;
	else if (magnitude(&x) > MAGNITUDE_MAX || digits(&x) > DIGITS_MAX)
		return NUMBER_OVERFLOW;
	pack(&x, out);
	return NUMBER_OK;
}

static enum number_status sum(struct number *out, const struct decimal *a, const struct decimal *b)
{
	int pair[SUM_PAIRS + 1] = { 0 };
	int a_low = a->e - (int)a->n, b_low = b->e - (int)b->n;
	int top, low;

	if (a->n == 0 || b->n == 0) {
		pack(a->n == 0 ? b : a, out);
		return NUMBER_OK;
	}
	top = (a->e > b->e ? a->e : b->e) + 1; /* room for a carry */
	low = a_low < b_low ? a_low : b_low;
	if (top - low > SUM_PAIRS + 1)
		return NUMBER_OVERFLOW;
	accumulate(pair, top, a);
	accumulate(pair, top, b);
	return finish(pair, top - low, top, out);
}

enum number_status number_add(struct number *out, struct slice a, struct slice b)
{
	struct decimal x, y;

	unpack(a, &x);
	unpack(b, &y);
	return sum(out, &x, &y);
}

enum number_status number_sub(struct number *out, struct slice a, struct slice b)
{
	struct decimal x, y;

	unpack(a, &x);
	unpack(b, &y);
	y.negative = !y.negative;
	return sum(out, &x, &y);
}

/* ---- integers ---- */

void number_from_int(struct number *out, int64_t v)
{
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
	uint8_t low_first[10];
	struct decimal x = { .negative = v < 0 };
	int n = 0, from = 0;

	for (; u != 0; u /= 100)
		low_first[n++] = (uint8_t)(u % 100);
	x.e = n;
	while (from < n && low_first[from] == 0)
		from++;
	while (n > from)
		x.d[x.n++] = low_first[--n];
	pack(&x, out);
}

bool number_to_int(struct slice b, int64_t *out)
{
	struct decimal x;
	int64_t v = 0;

	unpack(b, &x);
	if (x.n != 0 && ((int)x.n > x.e || x.e > 10))
		return false;
	for (int i = 0; i < x.e; i++) {
		int pair = i < (int)x.n ? x.d[i] : 0;

		if (__builtin_mul_overflow(v, 100, &v) || __builtin_add_overflow(v, x.negative ? -pair : pair, &v))
			return false;
	}
	*out = v;
	return true;
}

size_t number_item_size(struct slice x)
{
	return x.n;
}
