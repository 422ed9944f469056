/* test_http_reader - requests in pieces of every length give the same heads and bodies; what is refused, and when. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/http_reader.h"

/* A connection in small: bytes arrive in pieces, the buffer moves, dead bytes are squeezed out. */
struct feed {
	struct http_reader r;
	uint8_t *p;
	size_t n;
};

static void feed_init(struct feed *f)
{
	http_reader_setup();
	http_reader_init(&f->r);
	f->p = NULL;
	f->n = 0;
}

static void feed_add(struct feed *f, const char *s, size_t n)
{
	uint8_t *moved = malloc(f->n + n);

	memcpy(moved, f->p != NULL ? f->p : moved, f->n);
	memcpy(moved + f->n, s, n);
	free(f->p);
	f->p = moved;
	f->n += n;
}

/* Steps over heads up to something else. */
static enum http_step feed_step(struct feed *f)
{
	enum http_step s;
	size_t dead;

	do
		s = http_reader_step(&f->r, f->p, f->n);
	while (s == HTTP_STEP_HEAD);
	dead = http_reader_dead(&f->r);
	if (s == HTTP_STEP_MORE && dead > 0) {
		memmove(f->p + f->r.parsed - dead, f->p + f->r.parsed, f->n - f->r.parsed);
		f->n -= dead;
		f->r.parsed -= dead;
	}
	return s;
}

static void feed_next(struct feed *f)
{
	memmove(f->p, f->p + f->r.parsed, f->n - f->r.parsed);
	f->n -= f->r.parsed;
	http_reader_next(&f->r);
}

static const char two[] = "POST /a HTTP/1.1\r\nHost: x\r\nX-AMZ-Target:  T.One \r\nx-amz-target: second\r\nContent-Length: 5\r\n\r\nhello"
			  "\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nOrigin: o\r\n\r\n"
			  "3;e=1\r\nabc\r\n1\r\nd\r\nA\r\n0123456789\r\n0\r\nExpect: trailer\r\n\r\n"
			  "GET / HTTP/1.0\r\n\r\n";

static void check_first(struct feed *f)
{
	cr_assert(slice_eq(slice_of(f->p + f->r.body_at, f->r.body_n), SLICE_LIT("hello")));
	cr_assert(slice_eq(http_slice(f->p, f->r.url), SLICE_LIT("/a")));
	cr_assert(slice_starts_with(http_slice(f->p, f->r.header[HEADER_TARGET]), SLICE_LIT("T.One")));
	cr_assert(f->r.keep_alive && !f->r.chunked);
}

static void check_second(struct feed *f)
{
	cr_assert(slice_eq(slice_of(f->p + f->r.body_at, f->r.body_n), SLICE_LIT("abcd0123456789")));
	cr_assert(slice_eq(http_slice(f->p, f->r.header[HEADER_ORIGIN]), SLICE_LIT("o")));
	cr_assert(!f->r.header[HEADER_TARGET].present && !f->r.header[HEADER_EXPECT].present);
	cr_assert(f->r.chunked);
}

/* The same messages, cut into pieces of every size. */
Test(http_reader, pieces)
{
	for (size_t piece = 1; piece <= sizeof(two) - 1; piece++) {
		struct feed f;
		size_t at = 0;
		unsigned got = 0;

		feed_init(&f);
		while (at < sizeof(two) - 1) {
			size_t n = piece < sizeof(two) - 1 - at ? piece : sizeof(two) - 1 - at;
			enum http_step s;

			feed_add(&f, two + at, n);
			at += n;
			while ((s = feed_step(&f)) == HTTP_STEP_MESSAGE) {
				got++;
				if (got == 1)
					check_first(&f);
				else if (got == 2)
					check_second(&f);
				else
					cr_assert(!f.r.keep_alive && f.r.body_n == 0);
				feed_next(&f);
			}
			cr_assert_eq(s, HTTP_STEP_MORE);
		}
		cr_assert_eq(got, 3, "pieces of %zu", piece);
		cr_assert_eq(f.n, 0);
		free(f.p);
	}
}

Test(http_reader, head_comes_before_the_body)
{
	static const char head[] = "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\nabc";
	struct feed f;

	feed_init(&f);
	feed_add(&f, head, sizeof(head) - 1);
	cr_assert_eq(http_reader_step(&f.r, f.p, f.n), HTTP_STEP_HEAD);
	cr_assert_eq(http_reader_length(&f.r), 99999999);
	cr_assert_eq(f.r.body_n, 0);
	cr_assert_eq(http_reader_step(&f.r, f.p, f.n), HTTP_STEP_MORE);
	cr_assert_eq(f.r.body_n, 3);
	free(f.p);
}

Test(http_reader, refusals)
{
	static const struct { const char *text; enum http_step step; } t[] = {
		{ "hello\r\n\r\n", HTTP_STEP_BAD }, { "\x16\x03\x01", HTTP_STEP_BAD }, { "POST / HTTP/9.9.9\r\n\r\n", HTTP_STEP_BAD },
		{ "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", HTTP_STEP_BAD },
		{ "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", HTTP_STEP_BAD },
		{ "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", HTTP_STEP_BAD },
		{ "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", HTTP_STEP_BAD },
		{ "POST / HTTP/1.1\r\nbad header\r\n\r\n", HTTP_STEP_BAD },
	};
	char line[HTTP_HEAD_MAX + 100];
	struct feed f;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		feed_init(&f);
		feed_add(&f, t[i].text, strlen(t[i].text));
		cr_assert_eq(feed_step(&f), t[i].step, "%s", t[i].text);
		free(f.p);
	}
	feed_init(&f);
	memset(line, 'x', sizeof(line));
	feed_add(&f, "GET /", 5);
	feed_add(&f, line, sizeof(line));
	cr_assert_eq(feed_step(&f), HTTP_STEP_TOO_LONG);
	free(f.p);
}
