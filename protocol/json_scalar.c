/* json_scalar - one JSON token as a string, a number, a boolean or bytes, or the service's words for why not. */
#include <math.h>
#include <stdlib.h>

#include <mbedtls/base64.h>

#include "protocol/json_int.h"
#include "protocol/messages.h"

static const char *token_name(enum token_kind k)
{
	static const char *const name[] = {
		[TOKEN_NULL] = "NULL_VALUE",     [TOKEN_TRUE] = "TRUE_VALUE",       [TOKEN_FALSE] = "FALSE_VALUE",
		[TOKEN_NUMBER] = "NUMBER_VALUE", [TOKEN_DECIMAL] = "DECIMAL_VALUE", [TOKEN_STRING] = "STRING_VALUE",
	};

	return name[k];
}

const char *json_java_class(enum shape_kind kind)
{
	switch (kind) {
	case SHAPE_KIND_INT:
		return "java.lang.Integer";
	case SHAPE_KIND_LONG:
		return "java.lang.Long";
	case SHAPE_KIND_DOUBLE:
		return "java.lang.Double";
	case SHAPE_KIND_TIMESTAMP:
		return "java.util.Date";
	case SHAPE_KIND_BOOL:
		return "java.lang.Boolean";
	case SHAPE_KIND_BLOB:
		return "java.nio.ByteBuffer";
	default:
		return "java.lang.String";
	}
}

static bool cannot_convert(struct json_reader *r, struct token t, enum shape_kind kind)
{
	fault_set(r->fault, MSG_JSON_CONVERT, token_name(t.kind), strrchr(json_java_class(kind), '.') + 1);
	return false;
}

bool json_put_string(struct json_reader *r, struct token t)
{
	if (t.kind != TOKEN_STRING)
		return cannot_convert(r, t, SHAPE_KIND_STRING);
	mp_put_str(&r->out, t.text);
	return true;
}

/* strtod wants a NUL behind the text. NAN if there is no memory for a long one. */
static double token_double(struct json_reader *r, struct token t)
{
	char text[64];
	struct slice copy;

	if (t.text.n >= sizeof text) {
		copy = arena_copy(r->arena, t.text);
		return slice_present(copy) ? strtod((const char *)copy.p, NULL) : NAN;
	}
	memcpy(text, t.text.p, t.text.n);
	text[t.text.n] = '\0';
	return strtod(text, NULL);
}

/* Decimals are rounded down, as the service does: 1.9 is 1, 1e3 is 1000. */
static bool token_integer(struct json_reader *r, struct token t, int64_t *v)
{
	bool negative = t.text.p[0] == '-';
	double d;

	*v = 0;
	if (t.kind == TOKEN_DECIMAL) {
		d = floor(token_double(r, t));
		if (!(d >= -0x1p63 && d < 0x1p63))
			return false;
		*v = (int64_t)d;
		return true;
	}
	for (size_t i = negative; i < t.text.n; i++) {
		int digit = t.text.p[i] - '0';

		if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, negative ? -digit : digit, v))
			return false;
	}
	return true;
}

bool json_put_integer(struct json_reader *r, struct token t, enum shape_kind kind)
{
	int64_t v;

	if ((t.kind != TOKEN_NUMBER && t.kind != TOKEN_DECIMAL) || !token_integer(r, t, &v) ||
	    (kind == SHAPE_KIND_INT && (v < INT32_MIN || v > INT32_MAX)))
		return cannot_convert(r, t, kind);
	mp_put_int(&r->out, v);
	return true;
}

bool json_put_double(struct json_reader *r, struct token t)
{
	double d;

	if (t.kind != TOKEN_NUMBER && t.kind != TOKEN_DECIMAL)
		return cannot_convert(r, t, SHAPE_KIND_DOUBLE);
	d = token_double(r, t);
	if (!isfinite(d))
		return cannot_convert(r, t, SHAPE_KIND_DOUBLE);
	mp_put_double(&r->out, d == 0 ? 0 : d); /* one zero: equal requests are equal bytes */
	return true;
}

/* The service takes some strings too. */
bool json_boolean(struct json_reader *r, struct token t, bool *v)
{
	struct slice s = t.text;

	if (t.kind == TOKEN_NUMBER || t.kind == TOKEN_DECIMAL)
		return cannot_convert(r, t, SHAPE_KIND_BOOL);
	*v = t.kind == TOKEN_TRUE;
	if (t.kind == TOKEN_STRING) {
		*v = slice_is_word(s, "true") || slice_is_word(s, "yes") || slice_is_word(s, "1");
		if (!*v && !slice_is_word(s, "false") && !slice_is_word(s, "no") && !slice_is_word(s, "0")) {
			fault_set(r->fault, MSG_JSON_TOKEN);
			return false;
		}
	}
	return true;
}

/* ---- base64 ---- */

static int sextet(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* mbedtls forgives blanks, line ends and stray bits behind the last byte; the service does not, and looks at the last first. */
static bool base64_strict(struct json_reader *r, struct slice s)
{
	size_t pad = 0;
	int last;

	if (s.n % 4 != 0) {
		fault_set(r->fault, MSG_BASE64_LENGTH, s.n);
		return false;
	}
	while (pad < 2 && pad < s.n && s.p[s.n - 1 - pad] == '=')
		pad++;
	last = pad > 0 ? sextet(s.p[s.n - pad - 1]) : 0;
	if (last > 0 && (last & (pad == 1 ? 3 : 15)) != 0) {
		fault_set(r->fault, MSG_BASE64_LAST);
		return false;
	}
	for (size_t i = 0; i < s.n - pad; i++) {
		if (sextet(s.p[i]) < 0) {
			fault_set(r->fault, MSG_BASE64_CHAR);
			return false;
		}
	}
	return true;
}

bool json_put_blob(struct json_reader *r, struct token t)
{
	size_t n = 0;
	uint8_t *p;

	if (t.kind != TOKEN_STRING) {
		fault_set(r->fault, MSG_BASE64_KIND);
		return false;
	}
	if (!base64_strict(r, t.text))
		return false;
	buf_clear(&r->scratch);
	p = buf_reserve(&r->scratch, t.text.n / 4 * 3 + 1);
	if (p == NULL)
		return json_no_memory(r);
	if (mbedtls_base64_decode(p, t.text.n / 4 * 3 + 1, &n, t.text.p, t.text.n) != 0) {
		fault_set(r->fault, MSG_BASE64_CHAR);
		return false;
	}
	mp_put_bin(&r->out, slice_of(p, n));
	return true;
}
