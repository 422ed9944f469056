/* validate - DynamoDB's constraint list.
 *
 *    walk the record beside its shape, the path kept as a chain of frames on the stack
 *        |  every violated constraint adds a sentence        "Value 'x' at 'a.1.member.b' failed to satisfy ..."
 *        v
 *    "2 validation errors detected: ...; ..."                at most ten of them
 *
 * A right request costs one pass and no allocation; texts are made for wrong ones only. Recursion follows shapes,
 * which nest a few levels; attribute values are not entered, their faults are the codecs' business (request.h).
 *
 * Two generations of the service's checks show through: most sentences echo the value and spell members with a small
 * first letter; those of the newer one (Limit of Query, Keys of BatchGetItem) do neither, and come only when the older
 * ones found nothing. Source: messages recorded from the service by nubo-db/dynamodb-conformance, and dynalite. */
#include "protocol/java_print.h"
#include "protocol/messages.h"
#include "protocol/utf8.h"

enum { ERRORS_MAX = 10 };
#define NAME_PATTERN "[a-zA-Z0-9_.-]+"

/* Where the walk is: a structure's member, a list's element, or a map's element. */
struct place {
	const struct place *up;
	const struct shape *of; /* the structure; NULL: an element */
	unsigned id;            /* the member, or the element's number from 1 */
	struct slice key;       /* a map's */
};

struct errors {
	struct buf list, late; /* sentences of the older and of the newer checks */
	unsigned n;            /* sentences in list */
};

/* ---- sentences ---- */

static void print_place(struct buf *out, const struct place *p, bool newer)
{
	if (p->up != NULL) {
		print_place(out, p->up, newer);
		buf_put_u8(out, '.');
	}
	if (p->of != NULL && newer)
		buf_printf(out, "%s", p->of->member[p->id].name);
	else if (p->of != NULL)
		java_print_name(out, p->of->member[p->id].name);
	else if (slice_present(p->key))
		buf_printf(out, "%.*s.member", SLICE_FMT(p->key));
	else
		buf_printf(out, "%u.member", p->id);
}

static bool is_newer(const struct place *p)
{
	return (p->of == &shape_QueryInput && p->id == QueryInput_Limit) ||
	       (p->of == &shape_KeysAndAttributes && p->id == KeysAndAttributes_Keys);
}

/* Begin a sentence; the caller appends the constraint. NULL: there are enough. */
static struct buf *violated_late(struct errors *e, const struct place *p)
{
	if (e->late.n > 0)
		return NULL;
	buf_printf(&e->late, "Value at '");
	print_place(&e->late, p, true);
	buf_printf(&e->late, "' failed to satisfy constraint: ");
	return &e->late;
}

static struct buf *violated(struct errors *e, const struct place *p, const struct shape *s, struct slice value)
{
	if (slice_present(value) && is_newer(p))
		return violated_late(e, p);
	if (e->n == ERRORS_MAX)
		return NULL;
	buf_printf(&e->list, "%sValue ", e->n++ > 0 ? "; " : "");
	if (slice_present(value)) {
		buf_put_u8(&e->list, '\'');
		java_print(&e->list, s, value);
		buf_put_u8(&e->list, '\'');
	} else {
		buf_printf(&e->list, "null");
	}
	buf_printf(&e->list, " at '");
	print_place(&e->list, p, false);
	buf_printf(&e->list, "' failed to satisfy constraint: ");
	return &e->list;
}

/* What all of them end in: a limit of a length or value. */
static void violated_limit(struct errors *e, const struct place *p, const struct shape *s, struct slice value,
                           const char *what, const char *relation, int64_t limit)
{
	struct buf *b = violated(e, p, s, value);

	if (b != NULL)
		buf_printf(b, "Member must have %s %s than or equal to %lld", what, relation, (long long)limit);
}

static void check_limits(struct errors *e, const struct place *p, const struct shape *s, struct slice value, int64_t n,
                         const char *what, int64_t min, int64_t max)
{
	if (n < min)
		violated_limit(e, p, s, value, what, "greater", min);
	if (n > max)
		violated_limit(e, p, s, value, what, "less", max);
}

/* Bounds of a length: 0 = none. */
static void check_length(struct errors *e, const struct place *p, const struct shape *s, struct slice value, size_t n,
                         int64_t min, int64_t max)
{
	check_limits(e, p, s, value, (int64_t)n, "length", min, max == 0 ? INT64_MAX : max);
}

/* ---- scalars ---- */

static bool is_name_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
	       c == '-';
}

/* The one pattern that requests have; others are of answers only. */
static bool matches(const char *pattern, struct slice s)
{
	if (pattern == NULL || strcmp(pattern, NAME_PATTERN) != 0)
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (!is_name_char(s.p[i]))
			return false;
	return s.n > 0;
}

static bool fits(const struct shape *s, struct slice text)
{
	size_t n = utf8_utf16_length(text);

	return matches(s->pattern, text) && n >= (size_t)s->min && (s->max == 0 || n <= (size_t)s->max);
}

/* A table is named by its name or its ARN: a name obeys the rules of names, though the shape is that of ARNs. */
static const struct shape *rules_of(const struct shape *s, struct slice text)
{
	bool name = s == &shape_TableArn && text.n > 0 && !slice_starts_with(text, SLICE_LIT("arn:"));

	return name ? &shape_TableName : s;
}

static void check_string(struct errors *e, const struct place *p, const struct shape *s, struct slice value)
{
	struct mp m = mp_open(value);
	struct slice text = mp_str(&m);
	struct buf *b;

	s = rules_of(s, text);
	if (fits(s, text))
		return;
	if (!matches(s->pattern, text) && (b = violated(e, p, s, value)) != NULL)
		buf_printf(b, "Member must satisfy regular expression pattern: %s", s->pattern);
	check_length(e, p, s, value, utf8_utf16_length(text), s->min, s->max);
}

static void check_enum(struct errors *e, const struct place *p, const struct shape *s, struct slice value)
{
	struct mp m = mp_open(value);
	struct slice text = mp_str(&m);
	struct buf *b;

	for (const char *const *v = s->values; *v != NULL; v++)
		if (slice_eq(text, slice_str(*v)))
			return;
	b = violated(e, p, s, value);
	if (b == NULL)
		return;
	buf_printf(b, "Member must satisfy enum value set: [");
	for (const char *const *v = s->values; *v != NULL; v++)
		buf_printf(b, "%s%s", v == s->values ? "" : ", ", *v);
	buf_put_u8(b, ']');
}

static void check_integer(struct errors *e, const struct place *p, const struct shape *s, struct slice value)
{
	struct mp m = mp_open(value);

	check_limits(e, p, s, value, mp_int(&m), "value", s->min, s->max);
}

/* ---- containers ---- */

static void check_any(struct errors *e, const struct place *p, const struct shape *s, struct slice value);

/* Members that the shape calls optional, for a case we do not have, but that the service demands in ours. */
static bool is_required(const struct shape *s, unsigned id, const struct record *r)
{
	if (s == &shape_CreateTableInput &&
	    (id == CreateTableInput_KeySchema || id == CreateTableInput_AttributeDefinitions))
		return !record_has(r, CreateTableInput_GlobalTableSourceArn);
	return s->member[id].required;
}

static void check_struct(struct errors *e, const struct place *up, const struct shape *s, struct slice value)
{
	struct record r;

	if (!record_open(&r, s, value))
		return;
	for (unsigned id = 0; id < s->members; id++) {
		struct place p = { .up = up, .of = s, .id = id };
		struct buf *b;

		if (record_has(&r, id))
			check_any(e, &p, s->member[id].shape, r.m[id]);
		else if (is_required(s, id, &r) && (b = violated(e, &p, s, SLICE_NONE)) != NULL)
			buf_printf(b, "Member must not be null");
	}
}

/* A table's key has at most two elements; only an index's may have more. */
static int64_t list_max(const struct place *p, const struct shape *s)
{
	return p->of == &shape_CreateTableInput && s == &shape_KeySchema ? 2 : s->max;
}

static void check_list(struct errors *e, const struct place *up, const struct shape *s, struct slice value, bool length)
{
	struct mp m = mp_open(value);
	uint32_t n = mp_array(&m);

	if (length)
		check_length(e, up, s, value, n, s->min, list_max(up, s));
	for (uint32_t i = 1; i <= n && !m.bad; i++) {
		struct place p = { .up = up, .id = i };

		check_any(e, &p, s->element, mp_skip(&m));
	}
}

/* Of a map's names and lists only the bounds are told, once for the whole map. */
static void check_map_bounds(struct errors *e, const struct place *p, const struct shape *s, struct slice value)
{
	const struct shape *key = s->key == &shape_TableArn ? &shape_TableName : s->key, *of = s->element;
	bool bad_key = false, bad_length = false;
	struct mp m = mp_open(value);
	struct buf *b;

	for (uint32_t n = mp_map(&m); n > 0; n--) {
		struct slice name = mp_str(&m), v = mp_skip(&m);
		struct mp list = mp_open(v);
		uint32_t elements = of->kind == SHAPE_KIND_LIST ? mp_array(&list) : 0;

		bad_key |= !fits(rules_of(s->key, name), name);
		bad_length |=
		        of->kind == SHAPE_KIND_LIST && (elements < of->min || (of->max != 0 && elements > of->max));
	}
	if (bad_key && (b = violated(e, p, s, value)) != NULL)
		buf_printf(b,
		           "Map keys must satisfy constraint: [Member must have length less than or equal to %lld, "
		           "Member must have length greater than or equal to %lld%s%s]",
		           (long long)key->max, (long long)key->min,
		           key->pattern ? ", Member must satisfy regular expression pattern: " : "",
		           key->pattern ? key->pattern : "");
	if (bad_length && (b = violated(e, p, s, value)) != NULL)
		buf_printf(b,
		           "Map value must satisfy constraint: [Member must have length less than or equal to %lld, "
		           "Member must have length greater than or equal to %lld]",
		           (long long)of->max, (long long)of->min);
}

static void check_map(struct errors *e, const struct place *up, const struct shape *s, struct slice value)
{
	struct mp m = mp_open(value);
	uint32_t n = mp_map(&m);

	check_length(e, up, s, value, n, s->min, s->max);
	check_map_bounds(e, up, s, value);
	if (s == &shape_ExpressionAttributeNameMap)
		return; /* expressions have their own words for what is wrong with a name */
	while (n-- > 0 && !m.bad) {
		struct place p = { .up = up, .key = mp_str(&m) };
		struct slice v = mp_skip(&m);

		if (s->element->kind == SHAPE_KIND_LIST)
			check_list(e, &p, s->element, v, false);
		else
			check_any(e, &p, s->element, v);
	}
}

static void check_any(struct errors *e, const struct place *p, const struct shape *s, struct slice value)
{
	switch (s->kind) {
	case SHAPE_KIND_STRUCT:
		check_struct(e, p, s, value);
		break;
	case SHAPE_KIND_LIST:
		check_list(e, p, s, value, true);
		break;
	case SHAPE_KIND_MAP:
		check_map(e, p, s, value);
		break;
	case SHAPE_KIND_STRING:
		check_string(e, p, s, value);
		break;
	case SHAPE_KIND_ENUM:
		check_enum(e, p, s, value);
		break;
	case SHAPE_KIND_INT:
	case SHAPE_KIND_LONG:
		check_integer(e, p, s, value);
		break;
	default:
		break;
	}
}

enum err validate(const struct shape *shape, struct slice bytes, struct fault *f)
{
	struct errors e = { .n = 0 };
	enum err rc = ERR_OK;

	buf_init(&e.list);
	buf_init(&e.late);
	check_struct(&e, NULL, shape, bytes);
	if (e.list.failed || e.late.failed)
		rc = fault_set(f, MSG_NO_MEMORY);
	else if (e.n > 0)
		rc = fault_set(f, MSG_CONSTRAINTS, e.n, e.n > 1 ? "s" : "", SLICE_FMT(buf_slice(&e.list)));
	else if (e.late.n > 0)
		rc = fault_set(f, MSG_CONSTRAINTS, 1u, "", SLICE_FMT(buf_slice(&e.late)));
	buf_release(&e.list);
	buf_release(&e.late);
	return rc;
}
