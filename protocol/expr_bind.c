/* expr_bind - operands of conditions and updates: from nodes to values and paths, and what can be checked there.
 *
 * Placeholders that are not defined are reported at once. Other complaints wait until the whole primitive
 * condition (of an update: the whole text) has been seen, and come in the order of enum late.
 * Recursion is bounded by E2. Threads and ownership: expr.h. */
#include <stdarg.h>
#include <stdio.h>

#include "protocol/expr_int.h"
#include "protocol/messages.h"

void bind_complain(struct binder *b, enum late kind, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	int n;

	if (b->late[kind] != NULL)
		return;
	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	b->late[kind] = (const char *)arena_copy(b->env->arena, slice_of(text, n > 0 ? (size_t)n : 0)).p;
	if (b->late[kind] == NULL)
		b->late[kind] = "";
}

enum err bind_report(struct binder *b)
{
	for (int i = 0; i < LATE_KINDS; i++)
		if (b->late[i] != NULL && b->e == NULL)
			return fault_set(b->f, MSG_PQ_PLAIN, b->late[i]);
		else if (b->late[i] != NULL)
			return fault_set(b->f, MSG_EXPR_INVALID, expr_kind_name(b->e->kind), b->late[i]);
	return ERR_OK;
}

enum value_type operand_type(const struct operand *o)
{
	switch (o->kind) {
	case OPERAND_VALUE:
		return value_type(o->value);
	case OPERAND_SIZE:
	case OPERAND_PLUS:
	case OPERAND_MINUS:
		return VALUE_N;
	case OPERAND_LIST_APPEND:
		return VALUE_L;
	default:
		return VALUE_BAD;
	}
}

static void check_size(struct binder *b, const struct operand *o)
{
	enum value_type t = operand_type(o);

	if (t == VALUE_N || t == VALUE_BOOL || t == VALUE_NULL)
		bind_complain(b, LATE_TYPE, TEXT_EXPR_TYPE, "size", value_type_name(t));
}

/* Literals of an operation that takes one type only; an expression's own result is not looked at. */
static void check_literals(struct binder *b, const char *word, const struct operand *arg, enum value_type want)
{
	for (int i = 0; i < 2; i++)
		if (arg[i].kind == OPERAND_VALUE && value_type(arg[i].value) != want)
			bind_complain(b, LATE_TYPE, TEXT_EXPR_TYPE, word, value_type_name(value_type(arg[i].value)));
}

static void finish_size(struct binder *b, struct operand *arg, struct operand *out)
{
	check_size(b, arg);
	*out = (struct operand){ .kind = OPERAND_SIZE, .value = arg->value };
	if (arg->kind == OPERAND_PATH)
		out->path = arg->path;
}

/* A function or sum whose operands are bound; their number is right. */
void bind_finish(struct binder *b, enum op_code op, struct operand *arg, struct operand *out)
{
	switch (op) {
	case EXPR_SIZE:
		finish_size(b, arg, out);
		break;
	case EXPR_IF_NOT_EXISTS:
		if (arg[0].kind != OPERAND_PATH)
			bind_complain(b, LATE_TYPE, TEXT_EXPR_PATH, expr_op_word(op));
		*out = (struct operand){ .kind = OPERAND_IF_NOT_EXISTS, .path = arg[0].path, .arg = &arg[1] };
		break;
	case EXPR_LIST_APPEND:
		check_literals(b, expr_op_word(op), arg, VALUE_L);
		*out = (struct operand){ .kind = OPERAND_LIST_APPEND, .arg = arg };
		break;
	default:
		check_literals(b, expr_op_word(op), arg, VALUE_N);
		*out = (struct operand){ .kind = op == EXPR_PLUS ? OPERAND_PLUS : OPERAND_MINUS, .arg = arg };
	}
}

static enum err bind_operation(struct binder *b, const struct node *n, struct operand *out)
{
	struct operand *arg;
	enum err rc = bind_operands(b, n, &arg);

	if (rc != ERR_OK)
		return rc;
	*out = (struct operand){ .kind = OPERAND_SIZE };
	if (n->n == expr_op_operands((enum op_code)n->op))
		bind_finish(b, (enum op_code)n->op, arg, out);
	return ERR_OK;
}

enum err bind_operand(struct binder *b, const struct node *n, struct operand *out)
{
	struct slice word = expr_text(b->e, n->at, n->len);

	if (n->kind == NODE_OP)
		return bind_operation(b, n, out);
	if (n->kind == NODE_PATH) {
		*out = (struct operand){ .kind = OPERAND_PATH };
		return path_bind(b->e, n, b->env, &out->path, b->f);
	}
	*out = (struct operand){ .kind = OPERAND_VALUE, .value = env_value(b->env, word) };
	if (!slice_present(out->value))
		return fault_set(b->f, MSG_EXPR_NO_VALUE, expr_kind_name(b->e->kind), SLICE_FMT(word));
	return ERR_OK;
}

/* The first operand may not come again. */
void bind_check_distinct(struct binder *b, enum op_code op, const struct operand *arg, uint16_t n)
{
	if (op == EXPR_LIST_APPEND || op == EXPR_PLUS || op == EXPR_MINUS)
		return;
	for (uint16_t i = 1; i < n && arg[0].kind == OPERAND_PATH; i++)
		if (arg[i].kind == OPERAND_PATH && path_same(&arg[0].path, &arg[i].path)) {
			const char *text = path_text(&arg[0].path, b->env->arena);

			bind_complain(b, LATE_SAME, TEXT_EXPR_SAME, expr_op_word(op), text != NULL ? text : "");
			return;
		}
}

enum err bind_operands(struct binder *b, const struct node *n, struct operand **out)
{
	struct operand *arg = arena_alloc(b->env->arena, n->n * sizeof(*arg));
	unsigned want = expr_op_operands((enum op_code)n->op);
	uint16_t at = n->first;
	enum err rc = arg != NULL ? ERR_OK : fault_set(b->f, MSG_NO_MEMORY);

	for (uint16_t i = 0; i < n->n && rc == ERR_OK; i++) {
		rc = bind_operand(b, &b->e->node[at], &arg[i]);
		at = b->e->node[at].next;
	}
	if (rc != ERR_OK)
		return rc;
	if (want != 0 && n->n != want)
		bind_complain(b, LATE_COUNT, TEXT_EXPR_COUNT, expr_op_word((enum op_code)n->op), (unsigned)n->n);
	else
		bind_check_distinct(b, (enum op_code)n->op, arg, n->n);
	*out = arg;
	return ERR_OK;
}
