/* json_value - attribute values on their way in: {"S":"a"} becomes what value.h describes.
 *
 * What the service would refuse as a value, not as JSON, is a value fault: the first is remembered with its place, a
 * null stands in for the value, and reading goes on; request_check reports it when its turn comes. */
#include "protocol/json_int.h"
#include "protocol/messages.h"

/* What L and M hold. */
static const struct shape list_shape = {
	.name = "AttributeValue",
	.kind = SHAPE_KIND_LIST,
	.element = &shape_AttributeValue,
};
static const struct shape map_shape = {
	.name = "AttributeValue",
	.kind = SHAPE_KIND_ITEM,
	.element = &shape_AttributeValue,
};

/* ---- value faults ---- */

/* The parameter that we are in: the outermost that has a place of its own. */
static enum value_place place_here(const struct json_reader *r)
{
	static const struct { const char *name; enum value_place place; } all[] = {
		{ "AttributeUpdates", VALUES_UPDATES }, { "Expected", VALUES_EXPECTED },
		{ "QueryFilter", VALUES_FILTER }, { "ScanFilter", VALUES_FILTER },
		{ "ExclusiveStartKey", VALUES_START_KEY }, { "ExpressionAttributeValues", VALUES_EXPRESSION },
		{ "KeyConditions", VALUES_KEY_CONDITIONS },
	};

	for (unsigned i = 0; i < r->frames; i++) {
		const struct frame *f = &r->frame[i];

		for (size_t k = 0; f->kind == FRAME_STRUCT && k < sizeof all / sizeof *all; k++)
			if (strcmp(f->shape->member[f->member].name, all[k].name) == 0)
				return all[k].place;
	}
	return VALUES_ITEM;
}

/* The map that is the innermost structure's member; or NULL. */
static const struct frame *map_here(const struct json_reader *r)
{
	unsigned i = r->frames;

	while (i > 0 && r->frame[i - 1].kind != FRAME_STRUCT)
		i--;
	return i > 0 && i < r->frames && r->frame[i].kind == FRAME_MAP ? &r->frame[i] : NULL;
}

/* Where to write the fault's words, or NULL if there was one before it. */
static struct fault *fault_here(struct json_reader *r)
{
	const struct frame *map = map_here(r);
	enum value_place place = place_here(r);
	struct mp m;

	if (r->value_fault.code != ERR_OK && r->value_place <= place)
		return NULL;
	r->value_place = place;
	r->value_key = SLICE_NONE;
	if (map != NULL && !r->out.failed) {
		m = mp_open(slice_of(r->out.p + map->key_at, r->out.n - map->key_at));
		r->value_key = arena_copy(r->arena, mp_str(&m));
	}
	return &r->value_fault;
}

static void number_fault(struct json_reader *r, enum number_status s, struct slice text)
{
	struct fault *f = fault_here(r);

	if (s == NUMBER_OVERFLOW)
		fault_set(f, MSG_NUMBER_OVERFLOW);
	else if (s == NUMBER_UNDERFLOW)
		fault_set(f, MSG_NUMBER_UNDERFLOW);
	else if (s == NUMBER_PRECISION)
		fault_set(f, MSG_NUMBER_PRECISION);
	else if (text.n == 0)
		fault_set(f, MSG_NUMBER_EMPTY);
	else
		fault_set(f, MSG_NUMBER_SYNTAX, (int)(text.n < 1024 ? text.n : 1024), (const char *)text.p);
}

/* ---- one value ---- */

bool json_value_begin(struct json_reader *r)
{
	if (r->value_depth == VALUE_DEPTH_MAX) {
		fault_set(fault_here(r), MSG_VALUE_NESTING);
		value_put_null(&r->out);
		r->skip = 1;
		return true;
	}
	if (!json_push(r, FRAME_VALUE, &shape_AttributeValue))
		return false;
	r->value_depth++;
	return true;
}

bool json_value_end(struct json_reader *r)
{
	struct frame *f = json_top(r);

	if (f->types == 0)
		fault_set(fault_here(r), MSG_VALUE_EMPTY);
	else if ((f->types & (f->types - 1)) != 0)
		fault_set(fault_here(r), MSG_VALUE_MULTIPLE);
	if ((f->types & (f->types - 1)) != 0 || f->types == 0) {
		r->out.n = f->at;
		value_put_null(&r->out);
	}
	r->value_depth--;
	r->frames--;
	return true;
}

void json_value_null(struct json_reader *r)
{
	fault_set(fault_here(r), MSG_VALUE_EMPTY);
	value_put_null(&r->out);
}

/* No item has such a name, so neither has a record (V2). */
void json_attribute_name(struct json_reader *r, const struct shape *map, struct slice name)
{
	if (name.n == 0 && map == &shape_ExpressionAttributeValueMap)
		fault_set(fault_here(r), MSG_EXPR_MAP_KEY_EMPTY, "ExpressionAttributeValues");
	else if (name.n == 0)
		fault_set(fault_here(r), MSG_VALUE_NAME_EMPTY);
	else if (name.n > VALUE_NAME_MAX)
		fault_set(fault_here(r), MSG_VALUE_NAME_LONG);
}

static int type_of_letter(uint8_t c)
{
	switch (c) {
	case 'S':
		return VALUE_S;
	case 'N':
		return VALUE_N;
	case 'B':
		return VALUE_B;
	case 'L':
		return VALUE_L;
	case 'M':
		return VALUE_M;
	default:
		return -1;
	}
}

/* Called for every value that comes in, so without a search. */
static int type_of_name(struct slice name)
{
	const uint8_t *p = name.p;

	if (name.n == 1)
		return type_of_letter(*p);
	if (name.n == 2 && p[1] == 'S')
		return *p == 'S' ? VALUE_SS : *p == 'N' ? VALUE_NS : *p == 'B' ? VALUE_BS : -1;
	if (name.n == 4)
		return memcmp(p, "BOOL", 4) == 0 ? VALUE_BOOL : memcmp(p, "NULL", 4) == 0 ? VALUE_NULL : -1;
	return -1;
}

void json_value_key(struct frame *f, struct slice name)
{
	f->member = type_of_name(name);
}

/* A type's payload begins; what an earlier one wrote is dropped. */
static void payload_begin(struct json_reader *r, struct frame *f)
{
	f->types |= 1u << f->member;
	r->out.n = f->at;
}

/* Write an N; false if JSON's kind was wrong. *ok: it was a number too. */
static bool put_number(struct json_reader *r, struct token t, bool *ok)
{
	struct number x;
	enum number_status s;
	size_t at = r->out.n;

	*ok = true;
	if (t.kind != TOKEN_STRING)
		return json_put_string(r, t); /* says why not */
	s = number_parse(&x, t.text);
	if (s == NUMBER_OK) {
		value_put_number(&r->out, number_slice(&x));
		return true;
	}
	r->out.n = at;
	number_fault(r, s, t.text);
	*ok = false;
	return true;
}

static bool put_bool(struct json_reader *r, struct frame *f, struct token t)
{
	bool v;

	if (!json_boolean(r, t, &v))
		return false;
	if (f->member == VALUE_BOOL) {
		value_put_bool(&r->out, v);
		return true;
	}
	if (!v)
		fault_set(fault_here(r), MSG_VALUE_NULL_FALSE);
	value_put_null(&r->out);
	return true;
}

bool json_value_scalar(struct json_reader *r, struct frame *f, struct token t)
{
	bool ok;

	if (f->member < 0 || t.kind == TOKEN_NULL)
		return true;
	payload_begin(r, f);
	switch ((enum value_type)f->member) {
	case VALUE_S:
		return json_put_string(r, t);
	case VALUE_N:
		if (!put_number(r, t, &ok))
			return false;
		if (!ok)
			value_put_null(&r->out);
		return true;
	case VALUE_B:
		return json_put_blob(r, t);
	case VALUE_BOOL:
	case VALUE_NULL:
		return put_bool(r, f, t);
	default:
		fault_set(r->fault, MSG_JSON_FIELD);
		return false;
	}
}

bool json_value_map(struct json_reader *r, struct frame *f)
{
	if (f->member < 0) {
		r->skip = 1;
		return true;
	}
	if (f->member != VALUE_M) {
		fault_set(r->fault, MSG_JSON_STRUCT);
		return false;
	}
	payload_begin(r, f);
	return json_push(r, FRAME_MAP, &map_shape);
}

bool json_value_array(struct json_reader *r, struct frame *f)
{
	const char *class = NULL;
	int type = f->member;

	switch (type) {
	case -1:
		r->skip = 1;
		return true;
	case VALUE_L:
		payload_begin(r, f);
		return json_push(r, FRAME_LIST, &list_shape);
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
		payload_begin(r, f);
		if (!json_push(r, FRAME_SET, NULL))
			return false;
		json_top(r)->member = type;
		return true;
	case VALUE_M:
		class = "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>";
		break;
	case VALUE_B:
		class = "class java.nio.ByteBuffer";
		break;
	case VALUE_BOOL:
	case VALUE_NULL:
		class = "class java.lang.Boolean";
		break;
	default:
		class = "class java.lang.String";
		break;
	}
	fault_set(r->fault, MSG_JSON_COLLECTION, class);
	return false;
}

/* ---- sets ---- */

bool json_set_scalar(struct json_reader *r, struct frame *f, struct token t)
{
	bool ok = true, read;

	f->n++;
	if (f->member == VALUE_NS)
		read = put_number(r, t, &ok);
	else if (f->member == VALUE_BS)
		read = json_put_blob(r, t);
	else
		read = json_put_string(r, t);
	f->broken |= !ok;
	return read;
}

static void empty_set_fault(struct json_reader *r, const struct frame *f)
{
	struct fault *fault = fault_here(r);

	if (f->member == VALUE_SS)
		fault_set(fault, MSG_VALUE_EMPTY_SS);
	else if (f->member == VALUE_NS)
		fault_set(fault, MSG_VALUE_EMPTY_NS);
	else
		fault_set(fault, MSG_VALUE_EMPTY_BS);
}

/* The members as they came, for the words of the fault: "a, a", or base64 without its quotes. */
static void print_members(struct json_reader *r, const struct frame *f, struct buf *text)
{
	struct mp m = mp_open(slice_of(r->out.p + f->at, r->out.n - f->at));
	struct buf one;

	buf_init(&one);
	for (uint32_t i = 0; i < f->n && text->n < 4096; i++) {
		if (i > 0)
			buf_put(text, ", ", 2);
		if (f->member == VALUE_SS) {
			buf_put_slice(text, mp_str(&m));
			continue;
		}
		buf_clear(&one);
		json_write(&one, &(const struct shape){ .kind = SHAPE_KIND_BLOB }, mp_skip(&m));
		if (one.n >= 2)
			buf_put(text, one.p + 1, one.n - 2);
	}
	buf_release(&one);
}

static void duplicate_fault(struct json_reader *r, const struct frame *f)
{
	struct fault *fault = fault_here(r);
	struct buf text;

	if (fault == NULL)
		return;
	if (f->member == VALUE_NS) {
		fault_set(fault, MSG_VALUE_DUPLICATE_NS);
		return;
	}
	buf_init(&text);
	print_members(r, f, &text);
	if (f->member == VALUE_SS)
		fault_set(fault, MSG_VALUE_DUPLICATE_SS, SLICE_FMT(buf_slice(&text)));
	else
		fault_set(fault, MSG_VALUE_DUPLICATE_BS, SLICE_FMT(buf_slice(&text)));
	buf_release(&text);
}

/* Sort the members into scratch. *unique: no two were equal. */
static bool set_sort(struct json_reader *r, const struct frame *f, bool *unique)
{
	static const int8_t ext[] = { [VALUE_SS] = VALUE_EXT_SS, [VALUE_NS] = VALUE_EXT_NS, [VALUE_BS] = VALUE_EXT_BS };
	struct arena_mark mark = arena_save(r->arena);
	struct slice *member = arena_alloc(r->arena, f->n * sizeof *member);
	struct mp m = mp_open(slice_of(r->out.p + f->at, r->out.n - f->at));

	if (member == NULL)
		return json_no_memory(r);
	for (uint32_t i = 0; i < f->n; i++)
		member[i] = mp_skip(&m);
	buf_clear(&r->scratch);
	*unique = set_put(&r->scratch, ext[f->member], member, f->n) || r->scratch.failed;
	arena_rollback(r->arena, mark);
	return true;
}

bool json_set_end(struct json_reader *r)
{
	struct frame f = *json_top(r);
	bool unique = false;

	r->frames--;
	if (r->out.failed)
		return json_no_memory(r);
	if (f.n == 0)
		empty_set_fault(r, &f);
	if (f.n > 0 && !f.broken) {
		if (!set_sort(r, &f, &unique))
			return false;
		if (unique)
			return json_replace(r, f.at);
		duplicate_fault(r, &f);
	}
	r->out.n = f.at;
	value_put_null(&r->out);
	return true;
}
