/* client_int - what the files of libdynax share; dynax.h is its face.
 *
 *    item.c           building items, lists, sets      value_read.c  reading values
 *    request_build.c  building requests                result.c      answers and errors
 *    endpoint.c       HOST:PORT to addresses           wire.c        one connection: frames, ids, bytes
 *    client.c         pool and blocking calls (poll)   async.c       the same wire on libevent
 *    retry.c          what may be tried again, when    calls.c       the usual requests in one call; paging
 */
#ifndef DYNAX_CLIENT_INT_H
#define DYNAX_CLIENT_INT_H

#include "protocol/client/dynax.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/value.h"

#define MSG_CLIENT_NO_MEMORY "out of memory in the client"

/* What values borrow from. */
struct dynax_memory {
	struct arena arena;
};

struct dynax_item {
	struct dynax_memory mem;
	struct map_builder pairs;      /* of a list: names are absent */
	bool list;
	const char *mistake;           /* the first; static or in mem */
	struct slice encoded;          /* what dynax_item_value gave out; absent after a change */
};

struct dynax_request {
	struct dynax_memory mem;
	enum op op;                            /* OP_COUNT: not known */
	struct slice member[RECORD_MEMBERS_MAX];   /* encoded; in mem */
	struct map_builder names;
	struct dynax_item *values;             /* NULL until asked for */
	const char *mistake;
	unsigned timeout_ms;
	bool resend;
};

struct dynax_result {
	struct dynax_memory mem;
	enum op op;                    /* OP_COUNT: a ping */
	struct fault fault;
	enum frame_cache source;
	struct slice body;             /* the answer record, checked; absent on errors */
};

static inline struct dynax_value value_from(struct slice s, struct dynax_memory *mem)
{
	return (struct dynax_value){ s.p, s.n, mem };
}

static inline struct slice value_slice(struct dynax_value v)
{
	return slice_of(v.p, v.n);
}

/* Append the item, canonical. False if it has a mistake or memory is short. */
bool item_put(const struct dynax_item *item, struct buf *out) __attribute__((warn_unused_result));

/* Append the request record; the fault says what is wrong with the request. */
enum err request_put(const struct dynax_request *req, struct buf *out, struct fault *f) __attribute__((warn_unused_result));

/* What is wrong with JSON that could not be read. The service has no words for what is no JSON at all. */
static inline const char *json_mistake(const struct fault *f)
{
	if (f->text == NULL)
		return MSG_CLIENT_NO_MEMORY;
	return *f->text != '\0' ? f->text : "this is not JSON";
}

/* A copy that lives on its own; NULL if out of memory (or without an operation). */
struct dynax_request *request_copy(const struct dynax_request *from);

/* A result of an ANSWER, ERROR or PONG frame; NULL if out of memory. */
struct dynax_result *result_of_frame(enum op op, const struct frame *fr);
struct dynax_result *result_of_fault(enum op op, enum err code, const char *text);

#endif
