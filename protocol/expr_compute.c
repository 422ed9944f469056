/* expr_compute - see expr_compute.h. Pairs for SET (sum, list_append), then sets and numbers for ADD and DELETE. */
#include "protocol/expr_compute.h"

#include "protocol/messages.h"

enum { HEADER_MAX = 5 + 6 }; /* an array's header in an extension's */

/* A buf over arena memory that has room for all that will be put: it never grows. */
static bool open_buf(const struct compute *c, size_t room, struct buf *b)
{
	*b = (struct buf){ .p = arena_alloc(c->arena, room), .cap = room, .max = room };
	return b->p != NULL;
}

static enum err close_buf(const struct compute *c, const struct buf *b, struct slice *out)
{
	*out = buf_slice(b);
	return b->failed ? fault_set(c->f, MSG_NO_MEMORY) : ERR_OK;
}

static enum err mismatch(const struct compute *c)
{
	return c->legacy ? fault_set(c->f, MSG_UPDATE_MISMATCH) : fault_set(c->f, MSG_UPDATE_TYPE);
}

static enum err sum(const struct compute *c, struct slice a, struct slice b, bool minus, struct slice *out)
{
	struct number x;
	enum number_status st;
	struct buf to;

	if (value_type(a) != VALUE_N || value_type(b) != VALUE_N)
		return mismatch(c);
	st = minus ? number_sub(&x, value_bytes(a), value_bytes(b)) : number_add(&x, value_bytes(a), value_bytes(b));
	if (st == NUMBER_UNDERFLOW)
		return fault_set(c->f, MSG_NUMBER_UNDERFLOW);
	if (st != NUMBER_OK)
		return fault_set(c->f, MSG_NUMBER_OVERFLOW);
	if (!open_buf(c, NUMBER_BYTES + HEADER_MAX, &to))
		return fault_set(c->f, MSG_NO_MEMORY);
	value_put_number(&to, number_slice(&x));
	return close_buf(c, &to, out);
}

static enum err concatenate(const struct compute *c, struct slice a, struct slice b, struct slice *out)
{
	uint32_t na, nb;
	struct mp ma, mb;
	struct buf to;

	if (value_type(a) != VALUE_L || value_type(b) != VALUE_L)
		return mismatch(c);
	ma = value_elements(a, &na);
	mb = value_elements(b, &nb);
	if (!open_buf(c, HEADER_MAX + a.n + b.n, &to))
		return fault_set(c->f, MSG_NO_MEMORY);
	mp_put_array(&to, na + nb);
	buf_put(&to, ma.p, (size_t)(a.p + a.n - ma.p));
	buf_put(&to, mb.p, (size_t)(b.p + b.n - mb.p));
	return close_buf(c, &to, out);
}

static enum err compute_pair(const struct compute *c, const struct operand *o, struct slice *out)
{
	struct slice a, b;
	enum err rc = compute_value(c, &o->arg[0], &a);

	if (rc == ERR_OK)
		rc = compute_value(c, &o->arg[1], &b);
	if (rc != ERR_OK)
		return rc;
	return o->kind == OPERAND_LIST_APPEND ? concatenate(c, a, b, out) :
		sum(c, a, b, o->kind == OPERAND_MINUS, out);
}

enum err compute_value(const struct compute *c, const struct operand *o, struct slice *out)
{
	switch (o->kind) {
	case OPERAND_VALUE:
		*out = o->value;
		return ERR_OK;
	case OPERAND_PATH:
		*out = path_get(&o->path, c->item);
		return slice_present(*out) ? ERR_OK : fault_set(c->f, MSG_UPDATE_MISSING);
	case OPERAND_IF_NOT_EXISTS:
		*out = path_get(&o->path, c->item);
		return slice_present(*out) ? ERR_OK : compute_value(c, o->arg, out);
	default:
		return compute_pair(c, o, out);
	}
}

/* ---- sets ---- */

static int8_t set_ext(enum value_type t)
{
	return t == VALUE_SS ? VALUE_EXT_SS : t == VALUE_NS ? VALUE_EXT_NS : VALUE_EXT_BS;
}

static enum err put_members(const struct compute *c, enum value_type t, struct slice *member, uint32_t n, size_t room,
	struct slice *out)
{
	struct buf to;

	if (!open_buf(c, HEADER_MAX + room, &to) || !set_put(&to, set_ext(t), member, n))
		return fault_set(c->f, MSG_NO_MEMORY);
	return close_buf(c, &to, out);
}

/* Members of a that b has not, and with `join` all of b. */
static enum err combine(const struct compute *c, struct slice a, struct slice b, bool join, struct slice *out)
{
	uint32_t na, nb, n = 0;
	struct mp ma = value_elements(a, &na), mb = value_elements(b, &nb);
	struct slice *member = arena_alloc(c->arena, ((size_t)na + nb) * sizeof(*member));
	struct slice x = SLICE_NONE, y = SLICE_NONE;

	if (member == NULL)
		return fault_set(c->f, MSG_NO_MEMORY);
	while (na > 0 || nb > 0 || slice_present(x) || slice_present(y)) {
		int order;

		if (!slice_present(x) && na > 0) {
			x = mp_skip(&ma);
			na--;
		}
		if (!slice_present(y) && nb > 0) {
			y = mp_skip(&mb);
			nb--;
		}
		order = !slice_present(x) ? 1 : !slice_present(y) ? -1 : value_cmp(x, y);
		if (order < 0)
			member[n++] = x;
		else if (join)
			member[n++] = y;
		x = order <= 0 ? SLICE_NONE : x;
		y = order >= 0 ? SLICE_NONE : y;
	}
	*out = SLICE_NONE;
	return n > 0 ? put_members(c, value_type(a), member, n, a.n + b.n, out) : ERR_OK;
}

enum err compute_add(const struct compute *c, struct slice old, struct slice x, struct slice *out)
{
	enum value_type t = value_type(x);

	*out = x;
	if (!slice_present(old))
		return ERR_OK;
	if (t != value_type(old))
		return mismatch(c);
	if (t == VALUE_N)
		return sum(c, old, x, false, out);
	return t == VALUE_L ? concatenate(c, old, x, out) : combine(c, old, x, true, out);
}

enum err compute_delete(const struct compute *c, struct slice old, struct slice x, struct slice *out)
{
	*out = SLICE_NONE;
	if (!slice_present(old))
		return ERR_OK;
	return value_type(x) == value_type(old) ? combine(c, old, x, false, out) : mismatch(c);
}
