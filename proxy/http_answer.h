/* http_answer - what is known of an answer before there is one, and how it is written.
 *
 * Threads: on the worker. Ownership: lives in its call's arena. */
#ifndef DYNAX_PROXY_HTTP_ANSWER_H
#define DYNAX_PROXY_HTTP_ANSWER_H

#include "proxy/call.h"
#include "proxy/coding.h"

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
	/* its place in the connection's order */
	bool ready;
	struct call *next;
};

/* Answers from here on are encoded: what the service does. */
enum { HTTP_CODING_MIN = 4096 };

/* Append the whole answer of c, head and body. */
void http_answer_write(struct call *c, const struct http_answer *a, struct buf *out);

#endif
