/* json_int - what the files of the JSON reader share. Not for others.
 *
 *    body --yajl--> json_parse.c --one token at a time--> json_read.c: the top frame takes it
 *                       |  STRUCT LIST MAP    by shape: this file's frames
 *                       |  VALUE SET          attribute values: json_value.c
 *                       +-> json_scalar.c     a token as the kind that is expected there
 *
 * All frames write to one buffer, `out`: children behind their parent's head, which is patched when the parent ends.
 * What came in another order than the canonical one is then put in order, by way of `scratch`.
 *
 * J1. frame[i].at + what its children wrote = frame[i+1]'s place: only the top frame's region grows.
 * J2. Frames are bounded, FRAMES_MAX: shapes nest a few levels, values VALUE_DEPTH_MAX. What lies deeper, or has no
 *     name in its shape, is skipped by counting its brackets. Nothing recurses. */
#ifndef DYNAX_PROTOCOL_JSON_INT_H
#define DYNAX_PROTOCOL_JSON_INT_H

#include <stddef.h>

#include "protocol/json.h"
#include "protocol/value.h"

enum { FRAMES_MAX = 16 + 2 * VALUE_DEPTH_MAX };

enum frame_kind { FRAME_STRUCT, FRAME_LIST, FRAME_MAP, FRAME_VALUE, FRAME_SET };

struct frame {
	enum frame_kind kind;
	bool ordered;              /* STRUCT, MAP: keys came ascending and without doubles */
	bool broken;               /* SET: holds a member that is a value fault */
	const struct shape *shape; /* STRUCT, LIST, MAP */
	size_t at;                 /* where its contents begin in out */
	size_t key_at;             /* MAP: the last name, in out */
	uint32_t n;                /* children so far */
	int member;                /* STRUCT: identifier, VALUE and SET: enum value_type; -1 = unknown name */
	int last;                  /* STRUCT: the last member written */
	unsigned types;            /* VALUE: bit set of the types that were given */
};

enum token_kind { TOKEN_NULL, TOKEN_TRUE, TOKEN_FALSE, TOKEN_NUMBER, TOKEN_DECIMAL, TOKEN_STRING };
struct token {
	enum token_kind kind;
	struct slice text; /* of numbers and strings */
};

enum { JSON_POOL = 4096 }; /* yajl takes 2 KB for a token at once */

struct json_reader {
	struct buf out, scratch;
	struct frame frame[FRAMES_MAX];
	unsigned frames;
	unsigned value_depth; /* VALUE frames among them */
	size_t skip;          /* open brackets of what is being skipped */
	const struct shape *root;
	struct json_block *blocks; /* what yajl has allocated beyond the pool; empty between requests */
	size_t pool_used;
	max_align_t pool[JSON_POOL / sizeof(max_align_t)]; /* yajl's first blocks, all it needs for an ordinary body */
	struct arena own;          /* for json_read_record */
	struct arena *arena;       /* the request's */
	struct fault *fault;       /* why reading stopped */
	struct fault value_fault;
	enum value_place value_place;
	struct slice value_key;
};

static inline struct frame *json_top(struct json_reader *r)
{
	return r->frames > 0 ? &r->frame[r->frames - 1] : NULL;
}

/* False and the fault set if there is no room. */
bool json_push(struct json_reader *r, enum frame_kind kind, const struct shape *shape);
/* Replace what was written from `at` on by what is in scratch. */
bool json_replace(struct json_reader *r, size_t at);
/* Always false: `return json_no_memory(r)`. */
bool json_no_memory(struct json_reader *r);
bool json_broken(struct json_reader *r);

/* Events; false ends the parse, with r->fault set. */
bool json_on_token(struct json_reader *r, struct token t);
bool json_on_key(struct json_reader *r, struct slice name);
bool json_on_map_begin(struct json_reader *r);
bool json_on_array_begin(struct json_reader *r);
bool json_on_end(struct json_reader *r);

/* ---- json_parse.c ---- */

/* Parse a whole body into events; false and r->fault if it is not JSON, not UTF-8, or an event said no. */
bool json_parse(struct json_reader *r, struct slice body);
/* The same without events: is it JSON? */
bool json_parse_only(struct json_reader *r, struct slice text);

/* ---- json_scalar.c ---- */

/* Write a token as a scalar of this kind; false and r->fault if it cannot be one. */
bool json_put_string(struct json_reader *r, struct token t);
bool json_put_integer(struct json_reader *r, struct token t, enum shape_kind kind);
bool json_put_double(struct json_reader *r, struct token t);
bool json_put_blob(struct json_reader *r, struct token t);
bool json_boolean(struct json_reader *r, struct token t, bool *v);
/* The service's name for a kind that is no collection: "java.lang.String". */
const char *json_java_class(enum shape_kind kind);

/* ---- json_value.c ---- */

/* An attribute value opens: a frame, or a fault and nothing if it is too deep. */
bool json_value_begin(struct json_reader *r);
bool json_value_end(struct json_reader *r);
void json_value_key(struct frame *f, struct slice name);
bool json_value_scalar(struct json_reader *r, struct frame *f, struct token t);
bool json_value_map(struct json_reader *r, struct frame *f);
bool json_value_array(struct json_reader *r, struct frame *f);
bool json_set_scalar(struct json_reader *r, struct frame *f, struct token t);
bool json_set_end(struct json_reader *r);
/* The name of an attribute: too long or too short is a value fault. */
void json_attribute_name(struct json_reader *r, const struct shape *map, struct slice name);
/* An attribute value that is null where one must be: a value fault. */
void json_value_null(struct json_reader *r);

#endif
