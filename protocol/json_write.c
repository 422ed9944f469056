/* json_write - a record, beside its shape, as DynamoDB's JSON.
 *
 * Recursion follows shapes and values, both of bounded depth (a value nests VALUE_DEPTH_MAX levels), over records
 * that were checked when they came in or made here. Should one be damaged all the same, what is read is empty: the
 * text may then be wrong, but no byte beyond the record is touched. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mbedtls/base64.h>

#include "protocol/json.h"
#include "protocol/utf8.h"
#include "protocol/value.h"

static void put_char(struct buf *out, char c)
{
	buf_put_u8(out, (uint8_t)c);
}

#define put_lit(out, s) buf_put((out), (s), sizeof(s) - 1)

/* ---- strings ---- */

static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void put_escape(struct buf *out, uint8_t c)
{
	static const char hex[] = "0123456789abcdef";
	static const char letter[0x20] = { ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't' };
	char s[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	if (c >= 0x20)
		s[1] = (char)c; /* a quote or a backslash */
	else if (letter[c] != 0)
		s[1] = letter[c];
	buf_put(out, s, s[1] == 'u' ? 6 : 2);
}

/* Is none of these eight bytes a quote, a backslash, a control character or beyond ASCII? A subtraction borrows into
 * a byte's high bit exactly when the byte is below what is taken off it (the lowest such byte, at least). */
static bool plain_word(const uint8_t *p)
{
	const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
	uint64_t w, quote, backslash;

	memcpy(&w, p, 8);
	quote = w ^ (ones * '"');
	backslash = w ^ (ones * '\\');
	return ((w | (w - ones * 0x20) | (quote - ones) | (backslash - ones)) & high) == 0;
}

static const uint8_t *skip_plain(const uint8_t *p, const uint8_t *end)
{
	while (end - p >= 8 && plain_word(p))
		p += 8;
	while (p < end && is_plain(*p))
		p++;
	return p;
}

void json_write_string(struct buf *out, struct slice s)
{
	const uint8_t *p = s.p, *end = s.p + s.n, *run = p;

	put_char(out, '"');
	while ((p = skip_plain(p, end)) < end) {
		unsigned n = *p < 0x80 ? 0 : utf8_char(p, end);

		if (n > 0) {
			p += n;
			continue;
		}
		buf_put(out, run, (size_t)(p - run));
		if (*p < 0x80)
			put_escape(out, *p);
		else
			put_lit(out, "\\ufffd"); /* only texts cut in mid-character have such bytes */
		run = ++p;
	}
	buf_put(out, run, (size_t)(p - run));
	put_char(out, '"');
}

static void write_base64(struct buf *out, struct slice s)
{
	size_t room = (s.n + 2) / 3 * 4 + 1, n = 0; /* one for the NUL that mbedtls adds */
	uint8_t *p;

	put_char(out, '"');
	p = buf_reserve(out, room);
	if (p != NULL && mbedtls_base64_encode(p, room, &n, s.p, s.n) == 0)
		out->n += n;
	put_char(out, '"');
}

/* ---- numbers ---- */

/* Fewest of 15 to 17 digits that read back as v: "d.ddddde-7". Trailing zeros are cut off. */
static unsigned shortest_digits(double v, char digit[20], int *exp10)
{
	char text[40];
	unsigned n = 0;

	for (int precision = 14; precision <= 16; precision++) {
		snprintf(text, sizeof text, "%.*e", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	for (const char *p = text; *p != 'e'; p++)
		if (*p != '.')
			digit[n++] = *p;
	*exp10 = atoi(strchr(text, 'e') + 1);
	while (n > 1 && digit[n - 1] == '0')
		n--;
	return n;
}

/* As the service does, and Java: 0.5, 5.0, 1.700000000123E9. */
static void write_double(struct buf *out, double v)
{
	char digit[20];
	unsigned n;
	int e;

	if (!isfinite(v)) {
		put_lit(out, "null");
		return;
	}
	if (v < 0) {
		put_char(out, '-');
		v = -v;
	}
	/* Capacity units, nearly always. */
	if (v < 1e7 && v * 2 == (double)(long)(v * 2)) {
		buf_printf(out, "%ld.%c", (long)v, v == (double)(long)v ? '0' : '5');
		return;
	}
	n = shortest_digits(v, digit, &e);
	if (e < -3 || e >= 7) {
		buf_printf(out, "%c.%.*sE%d", digit[0], n > 1 ? (int)n - 1 : 1, n > 1 ? digit + 1 : "0", e);
		return;
	}
	if (e < 0)
		buf_printf(out, "0.%.*s%.*s", -e - 1, "00", (int)n, digit);
	else if ((unsigned)e + 1 >= n)
		buf_printf(out, "%.*s%.*s.0", (int)n, digit, e + 1 - (int)n, "000000");
	else
		buf_printf(out, "%.*s.%.*s", e + 1, digit, (int)n - e - 1, digit + e + 1);
}

/* ---- values ---- */

static void write_number(struct buf *out, struct slice canonical)
{
	char text[NUMBER_TEXT];
	size_t n = number_format(canonical, text);

	put_char(out, '"');
	buf_put(out, text, n);
	put_char(out, '"');
}

static void write_attribute(struct buf *out, struct mp *m);

static void write_attribute_map(struct buf *out, struct mp *m)
{
	uint32_t n = mp_map(m);

	put_char(out, '{');
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		if (i > 0)
			put_char(out, ',');
		json_write_string(out, mp_str(m));
		put_char(out, ':');
		write_attribute(out, m);
	}
	put_char(out, '}');
}

static void write_list(struct buf *out, struct mp *m)
{
	uint32_t n = mp_array(m);

	put_lit(out, "{\"L\":[");
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		if (i > 0)
			put_char(out, ',');
		write_attribute(out, m);
	}
	put_lit(out, "]}");
}

/* An N, or a set: its members stand in an array inside. */
static void write_extension(struct buf *out, struct mp *m)
{
	int8_t type, inner;
	struct slice payload = mp_ext(m, &type);
	struct mp in;
	uint32_t n;

	if (type == VALUE_EXT_N) {
		put_lit(out, "{\"N\":");
		write_number(out, payload);
		put_char(out, '}');
		return;
	}
	in = mp_open(payload);
	n = mp_array(&in);
	buf_printf(out, "{\"%cS\":[", type == VALUE_EXT_SS ? 'S' : type == VALUE_EXT_NS ? 'N' : 'B');
	for (uint32_t i = 0; i < n && !in.bad; i++) {
		if (i > 0)
			put_char(out, ',');
		if (type == VALUE_EXT_SS)
			json_write_string(out, mp_str(&in));
		else if (type == VALUE_EXT_NS)
			write_number(out, mp_ext(&in, &inner));
		else
			write_base64(out, mp_bin(&in));
	}
	put_lit(out, "]}");
}

static void write_attribute(struct buf *out, struct mp *m)
{
	switch (mp_peek(m)) {
	case MP_STR:
		put_lit(out, "{\"S\":");
		json_write_string(out, mp_str(m));
		put_char(out, '}');
		break;
	case MP_EXT:
		write_extension(out, m);
		break;
	case MP_BIN:
		put_lit(out, "{\"B\":");
		write_base64(out, mp_bin(m));
		put_char(out, '}');
		break;
	case MP_BOOL:
		buf_printf(out, "{\"BOOL\":%s}", mp_bool(m) ? "true" : "false");
		break;
	case MP_MAP:
		put_lit(out, "{\"M\":");
		write_attribute_map(out, m);
		put_char(out, '}');
		break;
	case MP_ARRAY:
		write_list(out, m);
		break;
	default:
		mp_nil(m);
		put_lit(out, "{\"NULL\":true}");
		break;
	}
}

void json_write_value(struct buf *out, struct slice value)
{
	struct mp m = mp_open(value);

	write_attribute(out, &m);
}

/* ---- records ---- */

static void write_any(struct buf *out, struct mp *m, const struct shape *shape);

static void write_name(struct buf *out, const struct shape_member *member)
{
	put_char(out, '"');
	buf_put(out, member->name, member->name_len);
	put_lit(out, "\":");
}

static void write_struct(struct buf *out, struct mp *m, const struct shape *shape)
{
	uint32_t n = mp_map(m);

	put_char(out, '{');
	for (uint32_t i = 0; i < n; i++) {
		uint64_t id = mp_uint(m);

		if (m->bad || id >= shape->members)
			break;
		if (i > 0)
			put_char(out, ',');
		write_name(out, &shape->member[id]);
		write_any(out, m, shape->member[id].shape);
	}
	put_char(out, '}');
}

/* A list, or a map, whose elements have names. */
static void write_elements(struct buf *out, struct mp *m, const struct shape *element, bool named)
{
	uint32_t n = named ? mp_map(m) : mp_array(m);

	put_char(out, named ? '{' : '[');
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		if (i > 0)
			put_char(out, ',');
		if (named) {
			json_write_string(out, mp_str(m));
			put_char(out, ':');
		}
		write_any(out, m, element);
	}
	put_char(out, named ? '}' : ']');
}

static void write_any(struct buf *out, struct mp *m, const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_KIND_STRUCT:
		write_struct(out, m, shape);
		break;
	case SHAPE_KIND_LIST:
	case SHAPE_KIND_MAP:
		write_elements(out, m, shape->element, shape->kind == SHAPE_KIND_MAP);
		break;
	case SHAPE_KIND_STRING:
	case SHAPE_KIND_ENUM:
		json_write_string(out, mp_str(m));
		break;
	case SHAPE_KIND_INT:
	case SHAPE_KIND_LONG:
		buf_printf(out, "%lld", (long long)mp_int(m));
		break;
	case SHAPE_KIND_DOUBLE:
	case SHAPE_KIND_TIMESTAMP:
		write_double(out, mp_double(m));
		break;
	case SHAPE_KIND_BOOL:
		buf_printf(out, "%s", mp_bool(m) ? "true" : "false");
		break;
	case SHAPE_KIND_BLOB:
		write_base64(out, mp_bin(m));
		break;
	case SHAPE_KIND_VALUE:
		write_attribute(out, m);
		break;
	case SHAPE_KIND_ITEM:
		write_attribute_map(out, m);
		break;
	}
}

void json_write(struct buf *out, const struct shape *shape, struct slice record)
{
	struct mp m = mp_open(record);

	write_any(out, &m, shape);
}

/* ---- errors ---- */

/* Most errors spell it "message"; these few do not. */
static const char *message_name(enum err code)
{
	switch (code) {
	case ERR_SERIALIZATION:
	case ERR_TRANSACTION_CANCELED:
	case ERR_TRANSACTION_IN_PROGRESS:
	case ERR_IDEMPOTENT_MISMATCH:
		return "Message";
	default:
		return "message";
	}
}

static void write_detail(struct buf *out, const struct shape *shape, struct slice detail)
{
	struct mp m = mp_open(detail);

	for (uint32_t n = mp_map(&m); n > 0; n--) {
		uint64_t id = mp_uint(&m);

		if (m.bad || id >= shape->members)
			return;
		put_char(out, ',');
		write_name(out, &shape->member[id]);
		write_any(out, &m, shape->member[id].shape);
	}
}

void json_write_fault(struct buf *out, const struct fault *f)
{
	const struct shape *shape = shape_of_error(f->code);

	buf_printf(out, "{\"__type\":\"%s\"", err_full_type(f->code));
	if (f->text != NULL && *f->text != '\0') {
		buf_printf(out, ",\"%s\":", message_name(f->code));
		json_write_string(out, slice_str(f->text));
	}
	if (shape != NULL && slice_present(f->detail))
		write_detail(out, shape, f->detail);
	put_char(out, '}');
}
