/* coding.c - see coding.h. ZLIB_CONST: zlib then takes its input as const. */
#define ZLIB_CONST
#include "proxy/coding.h"

#include <stdlib.h>
#include <zlib.h>

enum { STEP = 64 * 1024, LEVEL = 1 };        /* speed: an answer is waited for */
enum { WINDOW_GZIP = 15 + 16, WINDOW_ZLIB = 15, MEM_LEVEL = 8 };

const char *coding_name(enum coding c)
{
	static const char *const name[] = { "identity", "gzip", "deflate", "unknown" };

	return name[c];
}

static struct slice trim(struct slice s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = slice_of(s.p + 1, s.n - 1);
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

enum coding coding_of(struct slice s)
{
	s = trim(s);
	if (s.n == 0 || slice_is_word(s, "identity"))
		return CODING_NONE;
	return slice_is_word(s, "gzip") ? CODING_GZIP : slice_is_word(s, "deflate") ? CODING_DEFLATE : CODING_UNKNOWN;
}

/* ---- Accept-Encoding ---- */

/* Cut the part before the separator off the front of s. */
static struct slice cut(struct slice *s, char at)
{
	const uint8_t *end = s->n > 0 ? memchr(s->p, at, s->n) : NULL;
	struct slice part = end != NULL ? slice_of(s->p, (size_t)(end - s->p)) : *s;

	*s = end != NULL ? slice_of(end + 1, s->n - part.n - 1) : slice_of(s->p + s->n, 0);
	return part;
}

static double weight(struct slice text)
{
	char s[16], *end;
	double q;

	text = trim(text);
	if (text.n == 0 || text.n >= sizeof(s))
		return 1;
	memcpy(s, text.p, text.n);
	s[text.n] = '\0';
	q = strtod(s, &end);
	return *end != '\0' ? 1 : q < 0 ? 0 : q > 1 ? 1 : q;
}

/* Of "gzip;q=0.5": the first "q=" counts, wherever it stands, also at the end of a longer name: the service's way. */
static double weight_of(struct slice params)
{
	for (size_t i = 0; i + 1 < params.n; i++) {
		struct slice rest = slice_of(params.p + i + 2, params.n - i - 2);

		if ((params.p[i] == 'q' || params.p[i] == 'Q') && params.p[i + 1] == '=')
			return weight(cut(&rest, ';'));
	}
	return 1;
}

struct wish { double q; unsigned place; bool listed; };

enum coding coding_accepted(struct slice header)
{
	struct wish gzip = { 0, 0, false }, deflate = gzip, any = gzip, *w;
	unsigned place = 0;

	while (header.n > 0) {
		struct slice params = cut(&header, ','), name = trim(cut(&params, ';'));
		double q = weight_of(params);

		w = slice_is_word(name, "gzip") ? &gzip : slice_is_word(name, "deflate") ? &deflate : slice_is_word(name, "*") ? &any : NULL;
		place++;
		if (w != NULL && (!w->listed || q > w->q))
			*w = (struct wish){ q, w->listed ? w->place : place, true };
	}
	/* The asterisk stands for what is not listed, behind all that is. */
	if (!gzip.listed)
		gzip = (struct wish){ any.q, place + 1, false };
	if (!deflate.listed)
		deflate = (struct wish){ any.q, place + 2, false };
	if (gzip.q <= 0 && deflate.q <= 0)
		return CODING_NONE;
	if (gzip.q > deflate.q || (gzip.q >= deflate.q && gzip.place < deflate.place))
		return CODING_GZIP;
	return CODING_DEFLATE;
}

/* ---- bodies ---- */

/* Inflate until the input or a member ends; true while there is more to do. */
static bool inflate_step(z_stream *z, size_t max, size_t from, struct buf *out, int *rc, enum coding_result *result)
{
	uint8_t *room = buf_reserve(out, STEP);

	if (room == NULL) {
		*result = CODING_TOO_LONG;
		return false;
	}
	z->next_out = room;
	z->avail_out = STEP;
	*rc = inflate(z, Z_NO_FLUSH);
	out->n += STEP - z->avail_out;
	if (out->n - from > max)
		*result = CODING_TOO_LONG;
	else if (*rc != Z_OK && *rc != Z_STREAM_END && *rc != Z_BUF_ERROR)
		*result = CODING_BROKEN;
	else
		return *rc == Z_OK || (*rc == Z_BUF_ERROR && z->avail_in > 0) || (*rc == Z_STREAM_END && z->avail_in > 0);
	return false;
}

enum coding_result coding_decode(enum coding c, struct slice in, size_t max, struct buf *out)
{
	z_stream z = { 0 };
	enum coding_result result = CODING_OK;
	size_t from = out->n;
	int rc = Z_OK;

	if (inflateInit2(&z, c == CODING_GZIP ? WINDOW_GZIP : WINDOW_ZLIB) != Z_OK)
		return CODING_BROKEN;
	z.next_in = in.p;
	z.avail_in = (uInt)in.n;
	while (inflate_step(&z, max, from, out, &rc, &result)) {
		if (rc != Z_STREAM_END)
			continue;
		if (c != CODING_GZIP) { /* what follows the end belongs to nothing */
			rc = Z_DATA_ERROR;
			break;
		}
		inflateReset(&z);
	}
	inflateEnd(&z);
	return result == CODING_OK && rc != Z_STREAM_END ? CODING_BROKEN : result;
}

bool coding_encode(enum coding c, struct slice in, struct buf *out)
{
	z_stream z = { 0 };
	uint8_t *room;
	uLong bound;
	int rc;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, c == CODING_GZIP ? WINDOW_GZIP : WINDOW_ZLIB, MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	bound = deflateBound(&z, (uLong)in.n);
	room = buf_reserve(out, bound);
	rc = Z_MEM_ERROR;
	if (room != NULL) {
		z.next_in = in.p;
		z.avail_in = (uInt)in.n;
		z.next_out = room;
		z.avail_out = (uInt)bound;
		rc = deflate(&z, Z_FINISH);
		if (rc == Z_STREAM_END)
			out->n += z.total_out;
	}
	deflateEnd(&z);
	return rc == Z_STREAM_END;
}
