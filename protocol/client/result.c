/* result - what came back: a checked answer record, or a fault. Both from the server or made here. */
#include "protocol/client/client_int.h"
#include "protocol/json.h"

#include <stdlib.h>

#define X(sym, type, ns, http, retry) \
	_Static_assert((int)DYNAX_E_##sym == (int)ERR_##sym, "dynax.h and err.h agree on " #sym);
ERR_TABLE(X)
#undef X
_Static_assert((int)DYNAX_SOURCE_HIT == (int)FRAME_CACHE_HIT && (int)DYNAX_SOURCE_MISS == (int)FRAME_CACHE_MISS
	&& (int)DYNAX_SOURCE_BYPASS == (int)FRAME_CACHE_BYPASS, "dynax.h and frame.h agree");

const char *dynax_version(void)
{
	return DYNAX_VERSION;
}

static struct dynax_result *result_new(enum op op, size_t room)
{
	struct dynax_result *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	arena_init(&r->mem.arena, room + 256);
	fault_init(&r->fault, &r->mem.arena);
	r->op = op;
	return r;
}

struct dynax_result *result_of_fault(enum op op, enum err code, const char *text)
{
	struct dynax_result *r = result_new(op, 0);

	if (r != NULL)
		fault_set(&r->fault, code, "%s", text);
	return r;
}

/* The server's bytes are checked once, here; all readers rely on it. */
static void take_answer(struct dynax_result *r, const struct frame *fr)
{
	const struct shape *s = op_info[r->op].out;

	r->source = (enum frame_cache)fr->code;
	r->body = arena_copy(&r->mem.arena, fr->body);
	if (!slice_present(r->body)) {
		fault_set(&r->fault, ERR_NO_MEMORY, MSG_CLIENT_NO_MEMORY);
	} else if (record_check(s, r->body, &r->fault) != ERR_OK) {
		r->body = SLICE_NONE;
		fault_set(&r->fault, ERR_FRAME, "the answer is not one of %s", op_info[r->op].name);
	}
}

/* An error whose further members cannot be read is an error still. */
static void take_error(struct dynax_result *r, const struct frame *fr)
{
	const struct shape *s;
	struct fault why;

	if (!frame_read_error(fr, &r->fault)) {
		fault_set(&r->fault, ERR_FRAME, "an error that cannot be read");
		return;
	}
	s = shape_of_error(r->fault.code);
	fault_init(&why, NULL);
	if (s == NULL || !slice_present(r->fault.detail) || record_check(s, r->fault.detail, &why) != ERR_OK)
		r->fault.detail = SLICE_NONE;
}

struct dynax_result *result_of_frame(enum op op, const struct frame *fr)
{
	struct dynax_result *r = result_new(op, fr->body.n);

	if (r == NULL)
		return NULL;
	if (fr->kind == FRAME_ERROR)
		take_error(r, fr);
	else if (fr->kind == FRAME_ANSWER && op != OP_COUNT)
		take_answer(r, fr);
	else if (fr->kind != FRAME_PONG || op != OP_COUNT)
		fault_set(&r->fault, ERR_FRAME, "an answer of the wrong kind");
	return r;
}

void dynax_result_free(struct dynax_result **r)
{
	if (*r == NULL)
		return;
	arena_release(&(*r)->mem.arena);
	free(*r);
	*r = NULL;
}

enum dynax_code dynax_result_code(const struct dynax_result *r)
{
	return r == NULL ? DYNAX_E_NO_MEMORY : (enum dynax_code)r->fault.code;
}

bool dynax_ok(const struct dynax_result *r)
{
	return dynax_result_code(r) == DYNAX_OK;
}

const char *dynax_result_type(const struct dynax_result *r)
{
	return err_type((enum err)dynax_result_code(r));
}

const char *dynax_result_message(const struct dynax_result *r)
{
	if (r == NULL)
		return MSG_CLIENT_NO_MEMORY;
	return r->fault.text != NULL ? r->fault.text : "";
}

bool dynax_result_retryable(const struct dynax_result *r)
{
	return !dynax_ok(r) && err_retryable((enum err)dynax_result_code(r));
}

enum dynax_source dynax_result_source(const struct dynax_result *r)
{
	return r == NULL ? DYNAX_SOURCE_NONE : (enum dynax_source)r->source;
}

/* ---- members, by path ---- */

/* A part of an answer, or of an error's members: encoded, with its shape. Absent: bytes are. */
struct part {
	const struct shape *shape;
	struct slice bytes;
};

static const struct part nothing = { NULL, { NULL, 0 } };

static struct part struct_member(struct part from, struct slice name)
{
	int id = shape_member_id(from.shape, name);
	struct record rec;

	if (id < 0 || !record_open(&rec, from.shape, from.bytes))
		return nothing;
	return (struct part){ from.shape->member[id].shape, rec.m[id] };
}

/* An absent name: the first. */
static struct part map_member(struct part from, struct slice name)
{
	struct mp m = mp_open(from.bytes);

	for (uint32_t n = mp_map(&m); n > 0; n--) {
		struct slice key = mp_str(&m), bytes = mp_skip(&m);

		if (!slice_present(name) || slice_eq(key, name))
			return (struct part){ from.shape->element, bytes };
	}
	return nothing;
}

static struct part list_element(struct part from, unsigned long i)
{
	struct mp m = mp_open(from.bytes);

	if (from.shape->kind != SHAPE_KIND_LIST || i >= mp_array(&m))
		return nothing;
	while (i-- > 0)
		mp_skip(&m);
	return (struct part){ from.shape->element, mp_skip(&m) };
}

/* One step of a path, "[3]" or "name"; *path moves behind it and a dot. */
static struct part step(struct part from, const char **path)
{
	const char *p = *path;
	char *end = NULL;
	struct part next = nothing;

	if (*p == '[') {
		unsigned long i = strtoul(p + 1, &end, 10);

		if (end != p + 1 && *end == ']')
			next = list_element(from, i);
		p += strcspn(p, "]");
		p += *p == ']';
	} else {
		size_t n = strcspn(p, ".[");

		if (from.shape->kind == SHAPE_KIND_STRUCT)
			next = struct_member(from, slice_of(p, n));
		else if (from.shape->kind == SHAPE_KIND_MAP)
			next = map_member(from, slice_of(p, n));
		p += n;
	}
	*path = *p == '.' ? p + 1 : p;
	return next;
}

/* The part at a path; absent if there is none. */
static struct part find(const struct dynax_result *r, const char *path)
{
	struct part at;

	if (r == NULL || path == NULL)
		return nothing;
	at.shape = r->fault.code != ERR_OK ? shape_of_error(r->fault.code) : r->op != OP_COUNT ? op_info[r->op].out : NULL;
	at.bytes = r->fault.code != ERR_OK ? r->fault.detail : r->body;
	do
		at = at.shape != NULL && slice_present(at.bytes) ? step(at, &path) : nothing;
	while (*path != '\0' && at.shape != NULL);
	return slice_present(at.bytes) ? at : nothing;
}

static bool is(struct part at, enum shape_kind kind)
{
	return at.shape != NULL && at.shape->kind == kind;
}

struct dynax_value dynax_result_value(struct dynax_result *r, const char *path)
{
	struct part at = find(r, path);

	if (!is(at, SHAPE_KIND_ITEM) && !is(at, SHAPE_KIND_VALUE))
		return (struct dynax_value){ NULL, 0, NULL };
	return value_from(at.bytes, &r->mem);
}

size_t dynax_result_count(struct dynax_result *r, const char *path)
{
	struct part at = find(r, path);
	struct mp m = mp_open(at.bytes);

	return is(at, SHAPE_KIND_LIST) ? mp_array(&m) : 0;
}

struct dynax_value dynax_result_item(struct dynax_result *r)
{
	struct dynax_value v = dynax_result_value(r, "Item");

	return v.p != NULL ? v : dynax_result_value(r, "Attributes");
}

struct dynax_value dynax_result_last_key(struct dynax_result *r)
{
	return dynax_result_value(r, "LastEvaluatedKey");
}

struct dynax_value dynax_result_items(struct dynax_result *r, const char *table)
{
	struct part at = find(r, "Items");

	if (at.shape == NULL)
		at = find(r, "Responses");
	if (is(at, SHAPE_KIND_MAP))
		at = map_member(at, slice_str(table));
	if (!is(at, SHAPE_KIND_LIST) || at.shape->element->kind != SHAPE_KIND_ITEM)
		return (struct dynax_value){ NULL, 0, NULL };
	return value_from(at.bytes, &r->mem);
}

/* A list of strings or items has the bytes of an L. */
struct dynax_value dynax_result_list(struct dynax_result *r, const char *path)
{
	struct part at = find(r, path), of;

	if (!is(at, SHAPE_KIND_LIST))
		return (struct dynax_value){ NULL, 0, NULL };
	of = (struct part){ at.shape->element, at.bytes };
	if (!is(of, SHAPE_KIND_STRING) && !is(of, SHAPE_KIND_ENUM) && !is(of, SHAPE_KIND_ITEM))
		return (struct dynax_value){ NULL, 0, NULL };
	return value_from(at.bytes, &r->mem);
}

int64_t dynax_result_int(struct dynax_result *r, const char *path, int64_t otherwise)
{
	struct part at = find(r, path);
	struct mp m = mp_open(at.bytes);

	return is(at, SHAPE_KIND_INT) || is(at, SHAPE_KIND_LONG) ? mp_int(&m) : otherwise;
}

double dynax_result_double(struct dynax_result *r, const char *path, double otherwise)
{
	struct part at = find(r, path);
	struct mp m = mp_open(at.bytes);

	return is(at, SHAPE_KIND_DOUBLE) || is(at, SHAPE_KIND_TIMESTAMP) ? mp_double(&m) : otherwise;
}

const char *dynax_result_str(struct dynax_result *r, const char *path, const char *otherwise)
{
	struct part at = find(r, path);
	struct mp m = mp_open(at.bytes);
	struct slice text;

	if (!is(at, SHAPE_KIND_STRING) && !is(at, SHAPE_KIND_ENUM))
		return otherwise;
	text = arena_copy(&r->mem.arena, mp_str(&m));
	return slice_present(text) ? (const char *)text.p : otherwise;
}

const char *dynax_result_json(struct dynax_result *r)
{
	struct slice text = SLICE_NONE;
	struct buf b;

	if (r == NULL)
		return NULL;
	buf_init(&b);
	if (r->fault.code != ERR_OK)
		json_write_fault(&b, &r->fault);
	else if (slice_present(r->body))
		json_write(&b, op_info[r->op].out, r->body);
	else
		buf_put_slice(&b, SLICE_LIT("{}"));
	if (!b.failed)
		text = arena_copy(&r->mem.arena, buf_slice(&b));
	buf_release(&b);
	return (const char *)text.p;
}

struct dynax_request *dynax_result_unprocessed(struct dynax_result *r)
{
	bool get = r != NULL && r->op == OP_BatchGetItem;
	struct slice left = find(r, get ? "UnprocessedKeys" : "UnprocessedItems").bytes, copy;
	struct dynax_request *req;
	struct mp m = mp_open(left);

	if (!slice_present(left) || mp_map(&m) == 0)
		return NULL;
	req = dynax_request_new(op_info[r->op].name, NULL);
	if (req == NULL)
		return NULL;
	copy = arena_copy(&req->mem.arena, left);
	if (slice_present(copy))
		req->member[get ? (int)BatchGetItemInput_RequestItems : (int)BatchWriteItemInput_RequestItems] = copy;
	else
		dynax_request_free(&req);
	return req;
}
