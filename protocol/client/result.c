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
	} else if (record_check(s, r->body, &r->fault) != ERR_OK || !record_open(&r->rec, s, r->body)) {
		r->body = SLICE_NONE;
		fault_set(&r->fault, ERR_FRAME, "the answer is not one of %s", op_info[r->op].name);
	}
}

struct dynax_result *result_of_frame(enum op op, const struct frame *fr)
{
	struct dynax_result *r = result_new(op, fr->body.n);

	if (r == NULL)
		return NULL;
	if (fr->kind == FRAME_ERROR && !frame_read_error(fr, &r->fault))
		fault_set(&r->fault, ERR_FRAME, "an error that cannot be read");
	else if (fr->kind == FRAME_ANSWER && op != OP_COUNT)
		take_answer(r, fr);
	else if (fr->kind != FRAME_ERROR && !(fr->kind == FRAME_PONG && op == OP_COUNT))
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

/* ---- members ---- */

/* A member of the answer by name; absent if there is none. */
static struct slice find(const struct dynax_result *r, const char *name, const struct shape **shape)
{
	const struct shape *s;

	if (r == NULL || !slice_present(r->body))
		return SLICE_NONE;
	s = op_info[r->op].out;
	for (unsigned i = 0; i < s->members; i++) {
		if (strcmp(s->member[i].name, name) == 0) {
			*shape = s->member[i].shape;
			return r->rec.m[i];
		}
	}
	return SLICE_NONE;
}

static struct dynax_value item_member(struct dynax_result *r, const char *name)
{
	const struct shape *s = NULL;
	struct slice v = find(r, name, &s);

	if (!slice_present(v) || s->kind != SHAPE_KIND_ITEM)
		return (struct dynax_value){ NULL, 0, NULL };
	return value_from(v, &r->mem);
}

/* The item of a ConditionalCheckFailedException. */
static struct dynax_value failed_item(struct dynax_result *r)
{
	const struct shape *s = &shape_ConditionalCheckFailedException;
	struct record rec;
	struct fault f;

	fault_init(&f, NULL);
	if (r->fault.code != ERR_CONDITION_FAILED || !slice_present(r->fault.detail)
		|| record_check(s, r->fault.detail, &f) != ERR_OK || !record_open(&rec, s, r->fault.detail))
		return (struct dynax_value){ NULL, 0, NULL };
	return value_from(rec.m[ConditionalCheckFailedException_Item], &r->mem);
}

struct dynax_value dynax_result_item(struct dynax_result *r)
{
	struct dynax_value v = item_member(r, "Item");

	if (v.p == NULL)
		v = item_member(r, "Attributes");
	return v.p == NULL && r != NULL ? failed_item(r) : v;
}

struct dynax_value dynax_result_last_key(struct dynax_result *r)
{
	return item_member(r, "LastEvaluatedKey");
}

struct dynax_value dynax_result_items(struct dynax_result *r, const char *table)
{
	const struct shape *s = NULL;
	struct slice v = find(r, "Items", &s), tables;

	if (slice_present(v))
		return value_from(v, &r->mem);
	tables = find(r, "Responses", &s);
	if (slice_present(tables) && s->kind == SHAPE_KIND_MAP) {
		struct mp m = mp_open(tables);

		for (uint32_t n = mp_map(&m); n > 0; n--) {
			struct slice name = mp_str(&m), items = mp_skip(&m);

			if (table == NULL || slice_eq(name, slice_str(table)))
				return value_from(items, &r->mem);
		}
	}
	return (struct dynax_value){ NULL, 0, NULL };
}

/* A list of strings or items has the bytes of an L. */
struct dynax_value dynax_result_list(struct dynax_result *r, const char *member)
{
	const struct shape *s = NULL;
	struct slice v = find(r, member, &s);

	if (!slice_present(v) || s->kind != SHAPE_KIND_LIST
		|| (s->element->kind != SHAPE_KIND_STRING && s->element->kind != SHAPE_KIND_ENUM
			&& s->element->kind != SHAPE_KIND_ITEM))
		return (struct dynax_value){ NULL, 0, NULL };
	return value_from(v, &r->mem);
}

int64_t dynax_result_int(struct dynax_result *r, const char *member, int64_t otherwise)
{
	const struct shape *s = NULL;
	struct slice v = find(r, member, &s);
	struct mp m = mp_open(v);

	if (!slice_present(v) || (s->kind != SHAPE_KIND_INT && s->kind != SHAPE_KIND_LONG))
		return otherwise;
	return mp_int(&m);
}

const char *dynax_result_str(struct dynax_result *r, const char *member, const char *otherwise)
{
	const struct shape *s = NULL;
	struct slice v = find(r, member, &s), text;
	struct mp m = mp_open(v);

	if (!slice_present(v) || (s->kind != SHAPE_KIND_STRING && s->kind != SHAPE_KIND_ENUM))
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
	const struct shape *s = NULL;
	struct slice left = find(r, get ? "UnprocessedKeys" : "UnprocessedItems", &s), copy;
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
