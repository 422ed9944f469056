/* http_get - GetItem hits of the HTTP door, answered without a call.
 *
 *    look:   body --JSON--> record --fast_get_read--> table, hash; the cache's index is on its way
 *            (at the next look, or before the first answer: the entry, too)
 *    answer: record of the item from the cache --> JSON --> output
 *
 * What is simple, and why a hit needs no further check, stands in fast_get.h. The record is kept for the ordinary way as well,
 * so that a body is read once whichever way it goes.
 *
 * Threads: on the worker. Ownership: lives in its connection's state. */
#ifndef DYNAX_PROXY_HTTP_GET_H
#define DYNAX_PROXY_HTTP_GET_H

#include "proxy/fast_get.h"
#include "proxy/http_answer.h"

/* Longer ones take the ordinary way: the room is there in every connection, and keys are short. */
enum { HTTP_GET_RECORD = 256, HTTP_GET_BODY = 1024 };

struct http_get {
	struct fast_get get;         /* points into record */
	uint64_t event_number;       /* in which it was looked up: it holds no longer */
	uint32_t n;                  /* bytes of record; 0 = none */
	uint8_t record[HTTP_GET_RECORD];
};

/* What the door needs of its worker. False if out of memory. */
bool http_get_setup(struct worker *w);
/* Read a GetItem's body, and begin to fetch what its answer needs. */
void http_get_read(struct worker *w, struct http_get *g, struct slice body);
/* Forget it: the message is done. */
static inline void http_get_forget(struct http_get *g)
{
	g->n = 0;
}
/* Fetch the entry whose index was fetched before. */
void http_get_fetch(struct worker *w);
/* Append the answer to what was read (n > 0). False, with nothing written, if it is none of the simple ones, or a miss. */
bool http_get_answer(struct worker *w, struct http_get *g, const struct http_answer *a, struct buf *out);

#endif
