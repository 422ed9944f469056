/* http_answer - what is known of an answer before there is one, and how it is written.
 *
 * Threads: on the worker. Ownership: lives in its call's arena, if there is a call. */
#ifndef DYNAX_PROXY_HTTP_ANSWER_H
#define DYNAX_PROXY_HTTP_ANSWER_H

#include "proxy/call.h"
#include "proxy/coding.h"
#include "proxy/offload.h"

struct http_answer {
	/* of the request */
	bool close;                    /* the connection ends with this answer */
	bool old_keep_alive;           /* an HTTP/1.0 client asked to keep it */
	bool head_only;                /* HEAD */
	bool cors, preflight;
	bool plain_json;               /* asked with Content-Type: application/json, answered with it */
	enum coding coding;            /* of a long body */
	struct slice allow_method, allow_headers;
	/* of the answer, if it comes from no handler: status != 0 */
	int status;
	const char *type;
	struct slice text;
	/* the body of a long one, made beforehand on another thread */
	struct offload_job job;
	struct call *call;
	struct buf body;
	enum coding body_coding;
	uint32_t crc;
	bool made;
	size_t held;                   /* bytes of the record, while it waits (conn.h) */
	/* its place in the connection's order */
	bool ready;
	struct call *next;
};

/* Answers from here on are encoded: what the service does. */
enum { HTTP_CODING_MIN = 4096 };

/* From here on an answer's text is made on another thread: this takes a millisecond. Bytes of the record. */
enum { HTTP_OFFLOAD_MIN = 512 * 1024 };
/* On any thread: make the body of c's answer, so that http_answer_write has only to hand it over. c->out is released. */
void http_answer_make(struct call *c, struct http_answer *a);
/* Let go of what it holds beside its arena. */
void http_answer_release(struct http_answer *a);
/* Append the whole answer of c, head and body, to its connection's output. */
void http_answer_write(struct call *c, struct http_answer *a);
/* The same for a record of op's that came from the cache without a call. */
void http_answer_hit(struct worker *w, const struct http_answer *a, enum op op, struct slice record, struct buf *out);

#endif
