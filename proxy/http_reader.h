/* http_reader - one HTTP request after another out of a connection's input, with Debian's http_parser.
 *
 *    input:  | head ............ | body .......... | dead | not parsed |
 *            0                 body_at         +body_n   parsed        n
 *
 * The parser runs once over each byte as it comes. What it finds is kept as offsets from the message's first byte, so the
 * buffer may move between two reads. A chunked body is pushed together in place: its pieces overwrite the chunk headers
 * before them ("dead"), so that both framings leave one contiguous body and no second buffer is needed.
 *
 * Why not evhttp: it allocates and copies for each header and costs 2.5 times the CPU of a parser over the connection's own
 * buffer; it has no pipelining, and no say over when a body is refused.
 *
 * H1. Of a header that comes twice the first value counts.
 * H2. The caller looks at the head before the body is read: lengths and expectations are judged at once.
 *
 * Threads: belongs to a connection. */
#ifndef DYNAX_PROXY_HTTP_READER_H
#define DYNAX_PROXY_HTTP_READER_H

#include <http_parser.h>

#include "protocol/slice.h"

enum { HTTP_HEAD_MAX = 16 * 1024, HTTP_BODY_MAX = 16 * 1024 * 1024 };

/* The headers that we look at. X(symbol, name in lower case) */
#define HTTP_HEADERS(X) \
	X(TARGET, "x-amz-target") X(TYPE, "content-type") X(ENCODING, "content-encoding") X(ACCEPT, "accept-encoding") \
	X(EXPECT, "expect") X(HOST, "host") X(ORIGIN, "origin") X(CORS_METHOD, "access-control-request-method") \
	X(CORS_HEADERS, "access-control-request-headers")

enum http_header {
#define X(sym, name) HEADER_##sym,
	HTTP_HEADERS(X)
#undef X
	HEADER_COUNT
};

struct http_span {
	uint32_t at, n;
	bool present;
};

struct http_reader {
	struct http_parser parser;
	uint8_t *base;                 /* while the parser runs */
	size_t parsed, body_at, body_n;
	bool begun, head_done, message_done, announced;
	bool keep_alive, chunked;
	int current;                   /* header whose value is being read; HEADER_COUNT = none of ours */
	bool in_value;
	struct http_span name, url, header[HEADER_COUNT];
};

enum http_step {
	HTTP_STEP_MORE,
	HTTP_STEP_HEAD,          /* once: the head is complete, the body is not looked at yet */
	HTTP_STEP_MESSAGE,       /* the whole message is there; http_reader_next starts the next one */
	HTTP_STEP_TOO_LONG,      /* the head passes HTTP_HEAD_MAX */
	HTTP_STEP_BAD
};

/* Once in a process, before the first reader. */
void http_reader_setup(void);
void http_reader_init(struct http_reader *r);
/* p[0..n): all bytes from the message's first on. */
enum http_step http_reader_step(struct http_reader *r, uint8_t *p, size_t n);
/* Forget the message; the caller has taken its r->parsed bytes. */
void http_reader_next(struct http_reader *r);
/* Bytes that are dead (see the picture) and where; moving what follows down over them is the caller's. */
static inline size_t http_reader_dead(const struct http_reader *r)
{
	return r->body_n > 0 ? r->parsed - (r->body_at + r->body_n) : 0;
}

static inline struct slice http_slice(const uint8_t *p, struct http_span s)
{
	return s.present ? slice_of(p + s.at, s.n) : SLICE_NONE;
}
/* Announced by Content-Length; 0 if there is none. */
uint64_t http_reader_length(const struct http_reader *r);
static inline enum http_method http_reader_method(const struct http_reader *r)
{
	return (enum http_method)r->parser.method;
}

#endif
