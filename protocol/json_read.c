/* json_read - DynamoDB's JSON into records; json_int.h has the picture. */
#include <stdlib.h>

#include "protocol/json_int.h"
#include "protocol/messages.h"

/* ---- frames ---- */

bool json_no_memory(struct json_reader *r)
{
	fault_set(r->fault, MSG_NO_MEMORY);
	return false;
}

bool json_broken(struct json_reader *r)
{
	fault_set(r->fault, MSG_JSON_BROKEN);
	return false;
}

static size_t open_head(struct buf *b, enum frame_kind kind)
{
	switch (kind) {
	case FRAME_STRUCT:
		return record_begin(b);
	case FRAME_LIST:
		return list_begin(b);
	case FRAME_MAP:
		return map_begin(b);
	default:
		return b->n;
	}
}

bool json_push(struct json_reader *r, enum frame_kind kind, const struct shape *shape)
{
	if (r->frames == FRAMES_MAX)
		return json_broken(r);
	r->frame[r->frames++] = (struct frame){
		.kind = kind, .ordered = true, .shape = shape, .at = open_head(&r->out, kind), .member = -1
	};
	return true;
}

bool json_replace(struct json_reader *r, size_t at)
{
	if (r->scratch.failed || r->out.failed)
		return json_no_memory(r);
	r->out.n = at;
	buf_put_slice(&r->out, buf_slice(&r->scratch));
	return true;
}

static struct mp contents(const struct json_reader *r, const struct frame *f)
{
	return mp_open(slice_of(r->out.p + f->at, r->out.n - f->at));
}

/* Members came in any order, some perhaps twice: the last counts. */
static bool struct_sort(struct json_reader *r, const struct frame *f)
{
	struct slice value[RECORD_MEMBERS_MAX] = { SLICE_NONE };
	struct mp m = contents(r, f);
	unsigned n = 0;
	size_t at;

	for (uint32_t i = 0; i < f->n; i++) {
		unsigned id = *m.p++;

		value[id] = mp_skip(&m);
	}
	buf_clear(&r->scratch);
	at = record_begin(&r->scratch);
	for (unsigned id = 0; id < f->shape->members; id++) {
		if (!slice_present(value[id]))
			continue;
		record_key(&r->scratch, &n, id);
		buf_put_slice(&r->scratch, value[id]);
	}
	record_end(&r->scratch, at, n);
	return json_replace(r, f->at - 1);
}

static bool map_sort(struct json_reader *r, const struct frame *f)
{
	struct arena_mark mark = arena_save(r->arena);
	struct mp m = contents(r, f);
	struct map_builder b;
	bool put;

	map_builder_init(&b, r->arena);
	for (uint32_t i = 0; i < f->n; i++) {
		struct slice name = mp_str(&m);

		map_builder_add(&b, name, mp_skip(&m));
	}
	buf_clear(&r->scratch);
	put = map_put(&b, &r->scratch);
	arena_rollback(r->arena, mark);
	return put ? json_replace(r, f->at - 1) : json_no_memory(r);
}

static bool container_end(struct json_reader *r)
{
	struct frame f = *json_top(r);

	r->frames--;
	if (r->out.failed)
		return json_no_memory(r);
	if (f.kind == FRAME_LIST) {
		list_end(&r->out, f.at, f.n);
		return true;
	}
	if (!f.ordered)
		return f.kind == FRAME_STRUCT ? struct_sort(r, &f) : map_sort(r, &f);
	map_end(&r->out, f.at, f.n);
	return true;
}

/* ---- children of a structure, list or map ---- */

/* What the top frame (none: the root) expects next; NULL if the name is unknown. */
static const struct shape *expected(const struct json_reader *r, const struct frame *f)
{
	if (f == NULL)
		return r->root;
	if (f->kind != FRAME_STRUCT)
		return f->shape->element;
	return f->member < 0 ? NULL : f->shape->member[f->member].shape;
}

/* A child's value follows: count it, and write a structure's key. A map wrote the name when it came. */
static void child_begin(struct json_reader *r, struct frame *f)
{
	if (f == NULL)
		return;
	if (f->kind == FRAME_STRUCT) {
		if (f->n > 0 && f->member <= f->last)
			f->ordered = false;
		f->last = f->member;
		buf_put_u8(&r->out, (uint8_t)f->member);
	}
	f->n++;
}

static bool scalar_mismatch(struct json_reader *r, const struct frame *f, const struct shape *s)
{
	bool element = f->kind != FRAME_STRUCT;
	bool structure = s->kind == SHAPE_KIND_STRUCT || s->kind == SHAPE_KIND_VALUE;

	if (!element)
		fault_set(r->fault, MSG_JSON_FIELD);
	else if (structure)
		fault_set(r->fault, MSG_JSON_PAYLOAD);
	else
		fault_set(r->fault, MSG_JSON_PARAMETERIZED);
	return false;
}

static bool put_scalar(struct json_reader *r, const struct frame *f, const struct shape *s, struct token t)
{
	bool v;

	switch (s->kind) {
	case SHAPE_KIND_STRING:
	case SHAPE_KIND_ENUM:
		return json_put_string(r, t);
	case SHAPE_KIND_INT:
	case SHAPE_KIND_LONG:
		return json_put_integer(r, t, s->kind);
	case SHAPE_KIND_DOUBLE:
	case SHAPE_KIND_TIMESTAMP:
		return json_put_double(r, t);
	case SHAPE_KIND_BLOB:
		return json_put_blob(r, t);
	case SHAPE_KIND_BOOL:
		if (!json_boolean(r, t, &v))
			return false;
		mp_put_bool(&r->out, v);
		return true;
	default:
		return scalar_mismatch(r, f, s);
	}
}

/* A null in a list or map. Of a structure all members are then absent, and validation says so. */
static bool put_null_element(struct json_reader *r, const struct shape *s)
{
	switch (s->kind) {
	case SHAPE_KIND_VALUE:
		json_value_null(r);
		return true;
	case SHAPE_KIND_STRUCT:
	case SHAPE_KIND_MAP:
	case SHAPE_KIND_ITEM:
		mp_put_map(&r->out, 0);
		return true;
	case SHAPE_KIND_LIST:
		mp_put_array(&r->out, 0);
		return true;
	default:
		fault_set(r->fault, MSG_JSON_PAYLOAD);
		return false;
	}
}

/* "class java.lang.String", "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>" */
static const char *java_type(struct json_reader *r, const struct shape *s)
{
	static const char package[] = "com.amazonaws.dynamodb.v20120810";
	const struct shape *e = s->element;

	switch (s->kind) {
	case SHAPE_KIND_STRUCT:
	case SHAPE_KIND_VALUE:
		return arena_printf(r->arena, "class %s.%s", package, s->name);
	case SHAPE_KIND_MAP:
	case SHAPE_KIND_ITEM:
		if (e->kind == SHAPE_KIND_LIST)
			return arena_printf(r->arena, "java.util.Map<java.lang.String, java.util.List<%s.%s>>", package,
			                    e->element->name);
		if (e->kind == SHAPE_KIND_STRUCT || e->kind == SHAPE_KIND_VALUE)
			return arena_printf(r->arena, "java.util.Map<java.lang.String, %s.%s>", package, e->name);
		return "java.util.Map<java.lang.String, java.lang.String>";
	default:
		return arena_printf(r->arena, "class %s", json_java_class(s->kind));
	}
}

static bool collection_mismatch(struct json_reader *r, const struct shape *s)
{
	const char *type = java_type(r, s);

	if (type == NULL)
		return json_no_memory(r);
	fault_set(r->fault, MSG_JSON_COLLECTION, type);
	return false;
}

/* ---- tokens ---- */

bool json_on_token(struct json_reader *r, struct token t)
{
	struct frame *f = json_top(r);
	const struct shape *s;

	if (r->skip > 0)
		return true;
	if (f == NULL)
		return json_broken(r);
	if (f->kind == FRAME_VALUE)
		return json_value_scalar(r, f, t);
	if (f->kind == FRAME_SET)
		return json_set_scalar(r, f, t);
	s = expected(r, f);
	if (s == NULL)
		return true;
	if (t.kind == TOKEN_NULL && f->kind == FRAME_STRUCT)
		return true;
	child_begin(r, f);
	return t.kind == TOKEN_NULL ? put_null_element(r, s) : put_scalar(r, f, s, t);
}

bool json_on_map_begin(struct json_reader *r)
{
	struct frame *f = json_top(r);
	const struct shape *s;

	if (r->skip > 0) {
		r->skip++;
		return true;
	}
	if (f != NULL && f->kind == FRAME_VALUE)
		return json_value_map(r, f);
	if (f != NULL && f->kind == FRAME_SET) {
		fault_set(r->fault, MSG_JSON_STRUCT);
		return false;
	}
	s = expected(r, f);
	if (s == NULL) {
		r->skip = 1;
		return true;
	}
	child_begin(r, f);
	switch (s->kind) {
	case SHAPE_KIND_STRUCT:
		return json_push(r, FRAME_STRUCT, s);
	case SHAPE_KIND_MAP:
	case SHAPE_KIND_ITEM:
		return json_push(r, FRAME_MAP, s);
	case SHAPE_KIND_VALUE:
		return json_value_begin(r);
	default:
		fault_set(r->fault, MSG_JSON_STRUCT);
		return false;
	}
}

bool json_on_array_begin(struct json_reader *r)
{
	struct frame *f = json_top(r);
	const struct shape *s;

	if (r->skip > 0) {
		r->skip++;
		return true;
	}
	if (f == NULL)
		return json_broken(r);
	if (f->kind == FRAME_VALUE)
		return json_value_array(r, f);
	if (f->kind == FRAME_SET) {
		fault_set(r->fault, MSG_JSON_COLLECTION,
		          f->member == VALUE_BS ? "class java.nio.ByteBuffer" : "class java.lang.String");
		return false;
	}
	s = expected(r, f);
	if (s == NULL) {
		r->skip = 1;
		return true;
	}
	child_begin(r, f);
	return s->kind == SHAPE_KIND_LIST ? json_push(r, FRAME_LIST, s) : collection_mismatch(r, s);
}

bool json_on_end(struct json_reader *r)
{
	struct frame *f = json_top(r);

	if (r->skip > 0) {
		r->skip--;
		return true;
	}
	if (f->kind == FRAME_VALUE)
		return json_value_end(r);
	if (f->kind == FRAME_SET)
		return json_set_end(r);
	return container_end(r);
}

/* A map's name is written at once; the buffer's last name tells whether they ascend. */
static void map_name(struct json_reader *r, struct frame *f, struct slice name)
{
	size_t at = r->out.n;
	struct mp m;

	if (f->n > 0 && f->ordered && !r->out.failed) {
		m = mp_open(slice_of(r->out.p + f->key_at, r->out.n - f->key_at));
		f->ordered = slice_cmp(mp_str(&m), name) < 0;
	}
	f->key_at = at;
	mp_put_str(&r->out, name);
	if (f->shape->kind == SHAPE_KIND_ITEM)
		json_attribute_name(r, f->shape, name);
}

bool json_on_key(struct json_reader *r, struct slice name)
{
	struct frame *f = json_top(r);

	if (r->skip > 0)
		return true;
	if (f->kind == FRAME_STRUCT)
		f->member = shape_member_id(f->shape, name);
	else if (f->kind == FRAME_MAP)
		map_name(r, f, name);
	else
		json_value_key(f, name);
	return true;
}

/* ---- public ---- */

enum { KEEP_BYTES = 1 << 20 }; /* a buffer larger than this is not kept for the next request */

struct json_reader *json_reader_new(void)
{
	struct json_reader *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	buf_init(&r->out);
	buf_init(&r->scratch);
	arena_init(&r->own, 0);
	return r;
}

void json_reader_free(struct json_reader **r)
{
	if (*r == NULL)
		return;
	buf_release(&(*r)->out);
	buf_release(&(*r)->scratch);
	arena_release(&(*r)->own);
	free(*r);
	*r = NULL;
}

static void reader_start(struct json_reader *r, const struct shape *root, struct arena *a, struct fault *f)
{
	buf_clear(&r->out);
	buf_clear(&r->scratch);
	r->frames = r->value_depth = 0;
	r->skip = 0;
	r->root = root;
	r->arena = a;
	r->fault = f;
	fault_init(&r->value_fault, a);
	r->value_place = VALUES_ITEM;
	r->value_key = SLICE_NONE;
}

static void reader_trim(struct json_reader *r)
{
	if (r->out.cap > KEEP_BYTES)
		buf_release(&r->out);
	if (r->scratch.cap > KEEP_BYTES)
		buf_release(&r->scratch);
}

/* The record is then in r->out. */
static bool reader_run(struct json_reader *r, struct slice body)
{
	if (!json_parse(r, body))
		return false;
	return r->out.failed ? json_no_memory(r) : true;
}

enum err json_read_request(struct json_reader *r, enum op op, struct slice body, struct arena *a, struct request *req,
                           struct fault *f)
{
	struct slice bytes = SLICE_NONE;
	struct fault own;
	enum err rc;

	if (f == NULL)
		fault_init(f = &own, a);
	reader_start(r, op_info[op].in, a, f);
	if (!reader_run(r, body)) {
		rc = f->code;
	} else {
		bytes = arena_copy(a, buf_slice(&r->out));
		rc = slice_present(bytes) ? request_open(req, op, bytes, a, f) : fault_set(f, MSG_NO_MEMORY);
	}
	reader_trim(r);
	if (rc != ERR_OK)
		return rc;
	req->value_fault = r->value_fault;
	req->value_place = r->value_place;
	req->value_key = r->value_key;
	return ERR_OK;
}

bool json_read_record(struct json_reader *r, enum op op, struct slice body, struct slice *record)
{
	struct fault f;
	bool good;

	fault_init(&f, &r->own);
	reader_start(r, op_info[op].in, &r->own, &f);
	good = reader_run(r, body) && r->value_fault.code == ERR_OK && r->out.cap <= KEEP_BYTES;
	reader_trim(r);
	*record = buf_slice(&r->out);
	arena_reset(&r->own);
	return good;
}

enum err json_read(struct json_reader *r, const struct shape *shape, struct slice body, struct arena *a,
                   struct buf *out, struct fault *f)
{
	struct fault own;
	enum err rc = ERR_OK;

	if (f == NULL)
		fault_init(f = &own, a);
	reader_start(r, shape, a, f);
	if (!reader_run(r, body))
		rc = f->code;
	else if (r->value_fault.code != ERR_OK)
		rc = fault_set(f, r->value_fault.code, "%s", r->value_fault.text);
	else
		buf_put_slice(out, buf_slice(&r->out));
	reader_trim(r);
	return rc;
}

enum err json_check(struct json_reader *r, struct slice text, struct arena *a, struct fault *f)
{
	reader_start(r, NULL, a, f);
	return json_parse_only(r, text) ? ERR_OK : f->code;
}
