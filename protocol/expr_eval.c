/* expr_eval - is a condition true of an item? On the encoded bytes, without a tree and without allocating.
 *
 * What the item has not, or has of another type than asked for, makes a test false, never an error; only "<>" is
 * true of it. Threads: pure. */
#include "protocol/expr_int.h"
#include "protocol/utf8.h"

/* An encoded N with room for any size(): header and number. */
enum { SIZE_BYTES = NUMBER_BYTES + 4 };

/* size() is undefined for N, BOOL and NULL; a string's is in UTF-16 units. */
static struct slice size_of_value(struct slice v, uint8_t room[SIZE_BYTES])
{
	struct buf b = { .p = room, .cap = SIZE_BYTES, .max = SIZE_BYTES }; /* on the caller's frame: never grows */
	size_t n;

	if (!slice_present(v))
		return SLICE_NONE;
	switch (value_type(v)) {
	case VALUE_S:
		n = utf8_utf16_length(value_bytes(v));
		break;
	case VALUE_B:
		n = value_bytes(v).n;
		break;
	case VALUE_N:
	case VALUE_BOOL:
	case VALUE_NULL:
	case VALUE_BAD:
		return SLICE_NONE;
	default:
		n = value_count(v);
	}
	value_put_int(&b, (int64_t)n);
	return buf_slice(&b);
}

static struct slice give(const struct operand *o, struct slice item, uint8_t room[SIZE_BYTES])
{
	struct slice v = o->value;

	if (o->path.n > 0)
		v = slice_present(item) ? path_get(&o->path, item) : SLICE_NONE;
	return o->kind == OPERAND_SIZE ? size_of_value(v, room) : v;
}

static bool equal(struct slice a, struct slice b)
{
	return slice_present(a) && slice_present(b) && value_eq(a, b);
}

static bool ordered(struct slice a, struct slice b, int *order)
{
	enum value_type t;

	if (!slice_present(a) || !slice_present(b))
		return false;
	t = value_type(a);
	if (t != value_type(b) || (t != VALUE_S && t != VALUE_N && t != VALUE_B))
		return false;
	*order = value_cmp(a, b);
	return true;
}

static bool compare(enum op_code op, struct slice a, struct slice b)
{
	int order = 0;

	if (op == EXPR_EQ || op == EXPR_NE)
		return equal(a, b) == (op == EXPR_EQ);
	if (!ordered(a, b, &order))
		return false;
	switch (op) {
	case EXPR_LT:
		return order < 0;
	case EXPR_LE:
		return order <= 0;
	case EXPR_GT:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool between(const struct operand *o, struct slice item, struct slice a)
{
	uint8_t room[SIZE_BYTES];

	return compare(EXPR_GE, a, give(&o[1], item, room)) && compare(EXPR_LE, a, give(&o[2], item, room));
}

static bool in(const struct operand *o, uint16_t n, struct slice item, struct slice a)
{
	uint8_t room[SIZE_BYTES];

	for (uint16_t i = 1; i < n && slice_present(a); i++)
		if (equal(a, give(&o[i], item, room)))
			return true;
	return false;
}

static bool begins_with(struct slice a, struct slice b)
{
	enum value_type t;

	if (!slice_present(a) || !slice_present(b))
		return false;
	t = value_type(a);
	return t == value_type(b) && (t == VALUE_S || t == VALUE_B) &&
		slice_starts_with(value_bytes(a), value_bytes(b));
}

static bool holds(struct slice text, struct slice part)
{
	return part.n == 0 || (text.n >= part.n && memmem(text.p, text.n, part.p, part.n) != NULL);
}

static bool list_has(struct slice list, struct slice x)
{
	uint32_t n;

	for (struct mp m = value_elements(list, &n); n > 0; n--)
		if (value_eq(mp_skip(&m), x))
			return true;
	return false;
}

/* A part of a string or binary, or a member of a set or list. */
static bool contains(struct slice a, struct slice b)
{
	enum value_type t, of;

	if (!slice_present(a) || !slice_present(b))
		return false;
	t = value_type(a);
	of = value_type(b);
	switch (t) {
	case VALUE_S:
	case VALUE_B:
		return of == t && holds(value_bytes(a), value_bytes(b));
	case VALUE_SS:
		return of == VALUE_S && set_has(a, b);
	case VALUE_NS:
		return of == VALUE_N && set_has(a, b);
	case VALUE_BS:
		return of == VALUE_B && set_has(a, b);
	case VALUE_L:
		return list_has(a, b);
	default:
		return false;
	}
}

static bool has_type(struct slice a, struct slice name)
{
	return slice_present(a) && slice_eq(slice_str(value_type_name(value_type(a))), value_bytes(name));
}

static bool test(const struct cond_step *s, struct slice item)
{
	uint8_t room_a[SIZE_BYTES], room_b[SIZE_BYTES];
	struct slice a = give(&s->operand[0], item, room_a);

	switch (s->op) {
	case EXPR_BETWEEN:
		return between(s->operand, item, a);
	case EXPR_IN:
		return in(s->operand, s->operands, item, a);
	case EXPR_EXISTS:
		return slice_present(a);
	case EXPR_NOT_EXISTS:
		return !slice_present(a);
	case EXPR_TYPE:
		return has_type(a, s->operand[1].value);
	case EXPR_BEGINS_WITH:
		return begins_with(a, give(&s->operand[1], item, room_b));
	case EXPR_CONTAINS:
		return contains(a, give(&s->operand[1], item, room_b));
	default:
		return compare((enum op_code)s->op, a, give(&s->operand[1], item, room_b));
	}
}

bool condition_eval(const struct condition *c, struct slice item)
{
	bool truth = true;
	uint32_t i = 0;

	while (i < c->n) {
		const struct cond_step *s = &c->step[i++];

		switch (s->kind) {
		case COND_TEST:
			truth = test(s, item);
			break;
		case COND_NOT:
			truth = !truth;
			break;
		case COND_IF_FALSE:
			i = truth ? i : s->target;
			break;
		default:
			i = truth ? s->target : i;
		}
	}
	return truth;
}
