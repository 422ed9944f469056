/* request_build - building a request member by member, by the names of the API.
 *
 * A member is encoded when it is set, under the shape that the operation's table gives it; request_put strings the members
 * together. Nothing here knows a particular operation. */
#include "protocol/client/client_int.h"
#include "protocol/json.h"

#include <stdlib.h>

static void mistake(struct dynax_request *req, const char *what, const char *member)
{
	if (req->mistake != NULL)
		return;
	req->mistake = member != NULL ? arena_printf(&req->mem.arena, "%s: %s", member, what) : what;
	if (req->mistake == NULL)
		req->mistake = MSG_CLIENT_NO_MEMORY;
}

struct dynax_request *dynax_request_new(const char *operation, const char *table)
{
	struct dynax_request *req = calloc(1, sizeof(*req));

	if (req == NULL)
		return NULL;
	arena_init(&req->mem.arena, 1024);
	map_builder_init(&req->names, &req->mem.arena);
	req->op = op_by_name(slice_str(operation));
	if (req->op == OP_COUNT)
		mistake(req, "no such operation", operation != NULL ? operation : "NULL");
	else if (table != NULL)
		dynax_request_set_str(req, "TableName", table);
	return req;
}

void dynax_request_free(struct dynax_request **req)
{
	if (*req == NULL)
		return;
	dynax_item_free(&(*req)->values);
	arena_release(&(*req)->mem.arena);
	free(*req);
	*req = NULL;
}

const char *dynax_request_error(const struct dynax_request *req)
{
	if (req == NULL || req->names.failed)
		return MSG_CLIENT_NO_MEMORY;
	if (req->mistake == NULL && req->values != NULL)
		return dynax_item_error(req->values);
	return req->mistake;
}

/* ---- members ---- */

static int member_id(const struct dynax_request *req, const char *name)
{
	const struct shape *s = op_info[req->op].in;

	for (unsigned i = 0; i < s->members; i++)
		if (strcmp(s->member[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The shape of a member, with its id; NULL, with the mistake noted, if there is none such. */
static const struct shape *shape_of(struct dynax_request *req, const char *member, int *id)
{
	if (req->mistake != NULL)
		return NULL;
	*id = member_id(req, member);
	if (*id < 0) {
		mistake(req, "the operation has no such member", member);
		return NULL;
	}
	return op_info[req->op].in->member[*id].shape;
}

static void keep(struct dynax_request *req, int id, struct buf *b)
{
	struct slice copy = b->failed ? SLICE_NONE : arena_copy(&req->mem.arena, buf_slice(b));

	buf_release(b);
	if (slice_present(copy))
		req->member[id] = copy;
	else
		mistake(req, MSG_CLIENT_NO_MEMORY, NULL);
}

void dynax_request_set_str(struct dynax_request *req, const char *member, const char *text)
{
	int id;
	const struct shape *s = shape_of(req, member, &id);
	struct buf b;

	if (s == NULL)
		return;
	if ((s->kind != SHAPE_KIND_STRING && s->kind != SHAPE_KIND_ENUM) || text == NULL) {
		mistake(req, text == NULL ? "a string that is NULL" : "not a string", member);
		return;
	}
	buf_init(&b);
	mp_put_str(&b, slice_str(text));
	keep(req, id, &b);
}

void dynax_request_set_int(struct dynax_request *req, const char *member, int64_t v)
{
	int id;
	const struct shape *s = shape_of(req, member, &id);
	struct buf b;

	if (s == NULL)
		return;
	buf_init(&b);
	if (s->kind == SHAPE_KIND_LONG || (s->kind == SHAPE_KIND_INT && v >= INT32_MIN && v <= INT32_MAX))
		mp_put_int(&b, v);
	else if (s->kind == SHAPE_KIND_DOUBLE || s->kind == SHAPE_KIND_TIMESTAMP)
		mp_put_double(&b, (double)v);
	else {
		mistake(req, s->kind == SHAPE_KIND_INT ? "more than 32 bits" : "not an integer", member);
		return;
	}
	keep(req, id, &b);
}

void dynax_request_set_bool(struct dynax_request *req, const char *member, bool v)
{
	int id;
	const struct shape *s = shape_of(req, member, &id);
	struct buf b;

	if (s == NULL)
		return;
	if (s->kind != SHAPE_KIND_BOOL) {
		mistake(req, "not a boolean", member);
		return;
	}
	buf_init(&b);
	mp_put_bool(&b, v);
	keep(req, id, &b);
}

void dynax_request_set_value(struct dynax_request *req, const char *member, struct dynax_value item)
{
	int id;
	const struct shape *s = shape_of(req, member, &id);
	struct buf b;

	if (s == NULL)
		return;
	if (s->kind != SHAPE_KIND_ITEM || dynax_type(item) != DYNAX_TYPE_M) {
		mistake(req, "not an item", member);
		return;
	}
	buf_init(&b);
	buf_put_slice(&b, value_slice(item));
	keep(req, id, &b);
}

void dynax_request_set_item(struct dynax_request *req, const char *member, const struct dynax_item *item)
{
	int id;
	const struct shape *s = shape_of(req, member, &id);
	const char *wrong = dynax_item_error(item);
	struct buf b;

	if (s == NULL)
		return;
	if (wrong != NULL || s->kind != SHAPE_KIND_ITEM || item->list) {
		mistake(req, wrong != NULL ? wrong : "not an item", member);
		return;
	}
	buf_init(&b);
	if (!item_put(item, &b))
		b.failed = true;
	keep(req, id, &b);
}

/* The member alone makes a request, as far as JSON goes: so every kind of member can be read. It must be one value, lest what
 * stands behind a comma be taken for other members. */
static enum err read_member(struct json_reader *r, const struct shape *shape, const char *member, const char *json, struct arena *a,
	struct buf *out, struct fault *f)
{
	enum err e = json_check(r, slice_str(json), a, f);
	struct buf text;

	if (e != ERR_OK)
		return e;
	buf_init(&text);
	buf_printf(&text, "{\"%s\":%s}", member, json);
	e = text.failed ? ERR_NO_MEMORY : json_read(r, shape, buf_slice(&text), a, out, f);
	buf_release(&text);
	return e;
}

/* Read JSON as a request, or as one member of it, and append its record to b; a fault becomes the request's mistake. */
static bool read_json(struct dynax_request *req, const char *json, const char *member, struct buf *b)
{
	const struct shape *shape = op_info[req->op].in;
	struct json_reader *r = json_reader_new();
	struct arena *a = &req->mem.arena;
	struct fault f;
	enum err e;

	fault_init(&f, a);
	if (r == NULL)
		e = ERR_NO_MEMORY;
	else if (member != NULL)
		e = read_member(r, shape, member, json, a, b, &f);
	else
		e = json_read(r, shape, slice_str(json), a, b, &f);
	json_reader_free(&r);
	if (e != ERR_OK)
		mistake(req, json_mistake(&f), member);
	return e == ERR_OK;
}

/* Take the members that a record has, which is copied. */
static void take_members(struct dynax_request *req, const struct buf *b)
{
	struct slice copy = b->failed ? SLICE_NONE : arena_copy(&req->mem.arena, buf_slice(b));
	struct record rec;

	if (!slice_present(copy))
		mistake(req, MSG_CLIENT_NO_MEMORY, NULL);
	else if (!record_open(&rec, op_info[req->op].in, copy))
		mistake(req, "not a request", NULL);
	else
		for (unsigned i = 0; i < rec.shape->members; i++)
			if (record_has(&rec, i))
				req->member[i] = rec.m[i];
}

void dynax_request_set_json(struct dynax_request *req, const char *member, const char *json)
{
	struct buf record;
	int id;

	if (shape_of(req, member, &id) == NULL)
		return;
	buf_init(&record);
	if (read_json(req, json, member, &record))
		take_members(req, &record);
	buf_release(&record);
}

struct dynax_request *dynax_request_from_json(const char *operation, const char *json)
{
	struct dynax_request *req = dynax_request_new(operation, NULL);
	struct buf b;

	if (req == NULL || req->mistake != NULL)
		return req;
	buf_init(&b);
	if (read_json(req, json, NULL, &b))
		take_members(req, &b);
	buf_release(&b);
	return req;
}

struct dynax_request *request_copy(const struct dynax_request *from)
{
	struct dynax_request *req = from != NULL && from->op != OP_COUNT ? dynax_request_new(op_info[from->op].name, NULL) : NULL;
	struct fault f;
	struct buf b;

	if (req == NULL)
		return NULL;
	buf_init(&b);
	fault_init(&f, &req->mem.arena);
	if (request_put(from, &b, &f) == ERR_OK)
		take_members(req, &b);
	else
		mistake(req, f.text, NULL);
	req->timeout_ms = from->timeout_ms;
	req->resend = from->resend;
	buf_release(&b);
	return req;
}

void dynax_request_name(struct dynax_request *req, const char *placeholder, const char *attribute)
{
	struct slice name = arena_copy(&req->mem.arena, slice_str(placeholder)), value = SLICE_NONE;
	struct buf b;

	buf_init(&b);
	mp_put_str(&b, slice_str(attribute));
	if (!b.failed)
		value = arena_copy(&req->mem.arena, buf_slice(&b));
	buf_release(&b);
	if (slice_present(name) && slice_present(value))
		map_builder_add(&req->names, name, value);
	else
		mistake(req, MSG_CLIENT_NO_MEMORY, NULL);
}

struct dynax_item *dynax_request_values(struct dynax_request *req)
{
	if (req->values == NULL)
		req->values = dynax_item_new();
	if (req->values == NULL)
		mistake(req, MSG_CLIENT_NO_MEMORY, NULL);
	return req->values;
}

void dynax_request_set_timeout(struct dynax_request *req, unsigned ms)
{
	req->timeout_ms = ms;
}

void dynax_request_allow_resend(struct dynax_request *req, bool allow)
{
	req->resend = allow;
}

/* ---- the record ---- */

/* Names and values that were collected take the place of the members of those names. */
static enum err put_names(const struct dynax_request *req, struct buf *out)
{
	struct map_builder copy;
	struct arena scratch;
	bool ok;

	arena_init(&scratch, 1024);
	map_builder_init(&copy, &scratch);
	for (uint32_t i = 0; i < req->names.n; i++)
		map_builder_add(&copy, req->names.pair[i].name, req->names.pair[i].value);
	ok = map_put(&copy, out);
	arena_release(&scratch);
	return ok ? ERR_OK : ERR_NO_MEMORY;
}

static enum err put_member(const struct dynax_request *req, int id, int names, int values, struct buf *out, unsigned *n)
{
	if (id == names) {
		record_key(out, n, (unsigned)id);
		return put_names(req, out);
	}
	if (id == values) {
		record_key(out, n, (unsigned)id);
		return item_put(req->values, out) ? ERR_OK : ERR_NO_MEMORY;
	}
	if (slice_present(req->member[id])) {
		record_key(out, n, (unsigned)id);
		buf_put_slice(out, req->member[id]);
	}
	return ERR_OK;
}

enum err request_put(const struct dynax_request *req, struct buf *out, struct fault *f)
{
	const char *wrong = dynax_request_error(req);
	int names = -1, values = -1;
	enum err e = ERR_OK;
	unsigned n = 0;
	size_t at;

	if (req == NULL || req->names.failed)
		return fault_set(f, ERR_NO_MEMORY, MSG_CLIENT_NO_MEMORY);
	if (wrong != NULL)
		return fault_set(f, ERR_USAGE, "%s", wrong);
	if (req->names.n > 0 && (names = member_id(req, "ExpressionAttributeNames")) < 0)
		return fault_set(f, ERR_USAGE, "%s takes no ExpressionAttributeNames", op_info[req->op].name);
	if (req->values != NULL && (values = member_id(req, "ExpressionAttributeValues")) < 0)
		return fault_set(f, ERR_USAGE, "%s takes no ExpressionAttributeValues", op_info[req->op].name);
	at = record_begin(out);
	for (unsigned id = 0; id < op_info[req->op].in->members && e == ERR_OK; id++)
		e = put_member(req, (int)id, names, values, out, &n);
	record_end(out, at, n);
	return e == ERR_OK && !out->failed ? ERR_OK : fault_set(f, ERR_NO_MEMORY, MSG_CLIENT_NO_MEMORY);
}
