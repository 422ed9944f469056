/* http_reader - see http_reader.h. The parser's callbacks note offsets; http_reader_step is what its caller sees. */
#include "proxy/http_reader.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	size_t n;
} header_name[] = {
#define X(sym, name) { name, sizeof(name) - 1 },
	HTTP_HEADERS(X)
#undef X
};

/* Bit n: one of them has n characters. Most of a request's headers are none of ours, and fall at this. */
static const uint32_t header_lengths = 0
#define X(sym, name) | UINT32_C(1) << (sizeof(name) - 1)
	HTTP_HEADERS(X)
#undef X
	;

/* ---- what the parser calls ---- */

static struct http_reader *of(http_parser *p)
{
	return p->data;
}

/* A piece at `at`; pieces of one token follow each other, but for folded lines, whose fold then is inside. */
static void extend(const struct http_reader *r, struct http_span *s, const char *at, size_t n)
{
	uint32_t off = (uint32_t)((const uint8_t *)at - r->base);

	if (!s->present)
		*s = (struct http_span){ off, 0, true };
	s->n = off + (uint32_t)n - s->at;
}

static int on_begin(http_parser *p)
{
	of(p)->begun = true;
	return 0;
}

static int on_url(http_parser *p, const char *at, size_t n)
{
	extend(of(p), &of(p)->url, at, n);
	return 0;
}

static int on_field(http_parser *p, const char *at, size_t n)
{
	struct http_reader *r = of(p);

	if (r->in_value) {
		r->in_value = false;
		r->name.present = false;
	}
	extend(r, &r->name, at, n);
	return 0;
}

static int find_header(const struct http_reader *r)
{
	const char *name = (const char *)r->base + r->name.at;

	if (r->head_done || r->name.n > 31 || (header_lengths >> r->name.n & 1) == 0) /* a trailer has no say */
		return HEADER_COUNT;
	for (int i = 0; i < HEADER_COUNT; i++)
		if (header_name[i].n == r->name.n && strncasecmp(header_name[i].name, name, r->name.n) == 0)
			return r->header[i].present ? HEADER_COUNT : i; /* H1 */
	return HEADER_COUNT;
}

static int on_value(http_parser *p, const char *at, size_t n)
{
	struct http_reader *r = of(p);

	if (!r->in_value) {
		r->in_value = true;
		r->current = find_header(r);
	}
	if (r->current < HEADER_COUNT)
		extend(r, &r->header[r->current], at, n);
	return 0;
}

static int on_head(http_parser *p)
{
	struct http_reader *r = of(p);

	r->head_done = true;
	r->keep_alive = http_should_keep_alive(p) != 0;
	r->chunked = (p->flags & F_CHUNKED) != 0;
	p->upgrade = 0; /* we switch to nothing: the offer is ignored, as it may be */
	http_parser_pause(p, 1);
	return 0;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
	struct http_reader *r = of(p);
	size_t off = (size_t)((const uint8_t *)at - r->base);

	if (r->body_n == 0)
		r->body_at = off;
	else if (off != r->body_at + r->body_n)
		memmove(r->base + r->body_at + r->body_n, at, n);
	r->body_n += n;
	return 0;
}

static int on_complete(http_parser *p)
{
	of(p)->message_done = true;
	http_parser_pause(p, 1);
	return 0;
}

static const http_parser_settings settings = {
	.on_message_begin = on_begin,
	.on_url = on_url,
	.on_header_field = on_field,
	.on_header_value = on_value,
	.on_headers_complete = on_head,
	.on_body = on_body,
	.on_message_complete = on_complete,
};

/* ---- steps ---- */

void http_reader_setup(void)
{
	http_parser_set_max_header_size(HTTP_HEAD_MAX);
}

void http_reader_init(struct http_reader *r)
{
	memset(r, 0, sizeof(*r));
	http_parser_init(&r->parser, HTTP_REQUEST);
	r->parser.data = r;
}

void http_reader_next(struct http_reader *r)
{
	http_reader_init(r);
}

enum http_step http_reader_step(struct http_reader *r, uint8_t *p, size_t n)
{
	enum http_errno e;

	if (r->parsed == n && !r->message_done)
		return HTTP_STEP_MORE;
	r->base = p;
	http_parser_pause(&r->parser, 0);
	r->parsed += http_parser_execute(&r->parser, &settings, (const char *)p + r->parsed, n - r->parsed);
	r->base = NULL;
	e = HTTP_PARSER_ERRNO(&r->parser);
	if (e == HPE_HEADER_OVERFLOW)
		return HTTP_STEP_TOO_LONG;
	if (e != HPE_OK && e != HPE_PAUSED)
		return HTTP_STEP_BAD;
	if (r->head_done && !r->announced) {
		r->announced = true;
		return HTTP_STEP_HEAD;
	}
	return r->message_done ? HTTP_STEP_MESSAGE : HTTP_STEP_MORE;
}

uint64_t http_reader_length(const struct http_reader *r)
{
	return r->chunked || r->parser.content_length == ULLONG_MAX ? 0 : r->parser.content_length;
}
