/* expr_condition - from a parsed condition to a line of steps (expr_int.h), primitive by primitive.
 *
 * A primitive condition is a comparison, BETWEEN, IN or a function; each is checked by itself, in the order of the
 * text, so that the first bad one is reported. Recursion is bounded by E2.
 * Threads and ownership: expr.h. Not here: evaluation (expr_eval.c). */
#include "protocol/expr_int.h"
#include "protocol/messages.h"

/* ---- builder ---- */

void cond_init(struct cond_builder *c, struct arena *a)
{
	*c = (struct cond_builder){ .arena = a };
}

static struct cond_step *add(struct cond_builder *c)
{
	if (c->n == c->cap) {
		uint32_t cap = c->cap > 0 ? c->cap * 2 : 8;
		struct cond_step *step = arena_alloc(c->arena, cap * sizeof(*step));

		if (step == NULL) {
			c->failed = true;
			return NULL;
		}
		if (c->n > 0)
			memcpy(step, c->step, c->n * sizeof(*step));
		c->step = step;
		c->cap = cap;
	}
	return &c->step[c->n++];
}

void cond_test(struct cond_builder *c, enum op_code op, const struct operand *operand, uint16_t operands)
{
	struct cond_step *s = add(c);

	if (s != NULL)
		*s = (struct cond_step){ .kind = COND_TEST, .op = (uint8_t)op, .operands = operands,
			.operand = operand };
}

uint32_t cond_jump(struct cond_builder *c, enum cond_kind kind)
{
	struct cond_step *s = add(c);

	if (s != NULL)
		*s = (struct cond_step){ .kind = (uint8_t)kind };
	return c->n - 1;
}

void cond_land(struct cond_builder *c, uint32_t jump)
{
	if (!c->failed)
		c->step[jump].target = c->n;
}

void cond_not(struct cond_builder *c)
{
	struct cond_step *s = add(c);

	if (s != NULL)
		*s = (struct cond_step){ .kind = COND_NOT };
}

struct condition *cond_finish(struct cond_builder *c)
{
	struct condition *out = c->failed ? NULL : arena_alloc(c->arena, sizeof(*out));

	if (out != NULL)
		*out = (struct condition){ c->step, c->n };
	return out;
}

/* ---- checks of primitives ---- */

/* "{N:1}", and of a binary what Java prints of its buffer. */
static const char *value_text(struct slice v, struct arena *a)
{
	enum value_type t = value_type(v);
	char number[NUMBER_TEXT];
	const char *out;

	if (t == VALUE_N) {
		number_format(value_bytes(v), number);
		out = arena_printf(a, "{N:%s}", number);
	} else if (t == VALUE_B) {
		out = arena_printf(a, "{B:java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]}", value_bytes(v).n, value_bytes(v).n);
	} else {
		out = arena_printf(a, "{%s:%.*s}", value_type_name(t), SLICE_FMT(value_bytes(v)));
	}
	return out != NULL ? out : "{}";
}

static bool is_scalar(enum value_type t)
{
	return t == VALUE_S || t == VALUE_N || t == VALUE_B;
}

static void check_between(struct binder *b, const struct operand *lo, const struct operand *hi)
{
	struct arena *a = b->env->arena;
	const char *fmt;

	if (lo->kind != OPERAND_VALUE || hi->kind != OPERAND_VALUE)
		return;
	if (value_type(lo->value) != value_type(hi->value))
		fmt = TEXT_EXPR_BETWEEN_TYPES;
	else if (is_scalar(value_type(lo->value)) && value_cmp(lo->value, hi->value) > 0)
		fmt = TEXT_EXPR_BETWEEN_ORDER;
	else
		return;
	bind_complain(b, LATE_TYPE, fmt, value_text(lo->value, a), value_text(hi->value, a));
}

static void check_type_name(struct binder *b, const struct operand *o)
{
	enum value_type t = operand_type(o);
	struct slice name;

	if (t != VALUE_S) {
		bind_complain(b, LATE_TYPE, TEXT_EXPR_TYPE, expr_op_word(EXPR_TYPE),
			t == VALUE_BAD ? "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}" : value_type_name(t));
		return;
	}
	name = value_bytes(o->value);
	for (int i = 0; i < VALUE_BAD; i++)
		if (slice_eq(name, slice_str(value_type_name((enum value_type)i))))
			return;
	bind_complain(b, LATE_TYPE, TEXT_EXPR_TYPE_NAME, SLICE_FMT(name));
}

/* Of the types that may be given literally, orders take S, N and B, begins_with S and B. */
static void check_ordered(struct binder *b, enum op_code op, const struct operand *arg, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		enum value_type t = operand_type(&arg[i]);

		if (t != VALUE_BAD && (!is_scalar(t) || (op == EXPR_BEGINS_WITH && t == VALUE_N)))
			bind_complain(b, LATE_TYPE, TEXT_EXPR_TYPE, expr_op_word(op), value_type_name(t));
	}
}

void bind_check_types(struct binder *b, enum op_code op, const struct operand *arg, uint16_t n)
{
	switch (op) {
	case EXPR_LT:
	case EXPR_LE:
	case EXPR_GT:
	case EXPR_GE:
	case EXPR_BEGINS_WITH:
		check_ordered(b, op, arg, n);
		break;
	case EXPR_BETWEEN:
		check_ordered(b, op, arg, n);
		check_between(b, &arg[1], &arg[2]);
		break;
	case EXPR_TYPE:
		check_type_name(b, &arg[1]);
		break;
	case EXPR_EXISTS:
	case EXPR_NOT_EXISTS:
		if (arg[0].kind != OPERAND_PATH)
			bind_complain(b, LATE_TYPE, TEXT_EXPR_PATH, expr_op_word(op));
		break;
	default:
		break;
	}
}

/* ---- binding ---- */

static enum err bind_primitive(struct binder *b, const struct node *n, struct cond_builder *c)
{
	unsigned want = expr_op_operands((enum op_code)n->op);
	struct operand *arg;
	enum err rc = bind_operands(b, n, &arg);

	if (rc != ERR_OK)
		return rc;
	if (want == 0 || want == n->n)
		bind_check_types(b, (enum op_code)n->op, arg, n->n);
	cond_test(c, (enum op_code)n->op, arg, n->n);
	return bind_report(b);
}

static enum err bind_condition(struct binder *b, const struct node *n, struct cond_builder *c)
{
	const struct node *first = &b->e->node[n->first];
	uint32_t jump;
	enum err rc;

	if (n->op != EXPR_AND && n->op != EXPR_OR && n->op != EXPR_NOT)
		return bind_primitive(b, n, c);
	rc = bind_condition(b, first, c);
	if (rc != ERR_OK)
		return rc;
	if (n->op == EXPR_NOT) {
		cond_not(c);
		return ERR_OK;
	}
	jump = cond_jump(c, n->op == EXPR_AND ? COND_IF_FALSE : COND_IF_TRUE);
	rc = bind_condition(b, &b->e->node[first->next], c);
	cond_land(c, jump);
	return rc;
}

enum err condition_bind(const struct expr *e, struct expr_env *env, struct condition **out, struct fault *f)
{
	struct binder b = { .e = e, .env = env, .f = f };
	struct cond_builder c;
	enum err rc;

	cond_init(&c, env->arena);
	rc = bind_condition(&b, &e->node[e->root], &c);
	if (rc != ERR_OK)
		return rc;
	*out = cond_finish(&c);
	return *out != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

/* ---- questions about a condition ---- */

static bool mentions(const struct condition *c, struct slice name, uint32_t longer_than)
{
	for (uint32_t i = 0; i < c->n; i++)
		for (uint16_t k = 0; c->step[i].kind == COND_TEST && k < c->step[i].operands; k++) {
			const struct path *p = &c->step[i].operand[k].path;

			if (p->n > longer_than && slice_eq(p->step[0].name, name))
				return true;
		}
	return false;
}

struct slice condition_next_name(const struct condition *c, struct condition_at *at)
{
	for (; at->step < c->n; at->step++, at->operand = 0)
		for (const struct cond_step *s = &c->step[at->step]; s->kind == COND_TEST && at->operand < s->operands;) {
			const struct path *p = &s->operand[at->operand++].path;

			if (p->n > 0)
				return p->step[0].name;
		}
	return SLICE_NONE;
}

bool condition_uses(const struct condition *c, struct slice name)
{
	return mentions(c, name, 0);
}

bool condition_nests(const struct condition *c, struct slice name)
{
	return mentions(c, name, 1);
}
