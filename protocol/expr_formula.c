/* expr_formula - conditions, and the right sides of assignments, by operator precedence with stacks of our own.
 *
 *    text       a = :x AND ( NOT b . c < :y          value stack     [a = :x] [b.c] [:y]
 *                            read up to here ^        pending stack   AND  (  NOT  <
 *
 * Reading alternates between two states: `before_value` takes what may precede an operand, and the operand;
 * `after_value` takes what may follow one. What stands in parentheses may be an operand or a condition; which of
 * them shows only afterwards, so a parenthesis takes both, and the class of a value on the stack says what it is.
 *
 * F1. Nothing recurses: two thousand parentheses cost two thousand entries.
 * F2. Comparisons do not associate: there is one at a time until AND, OR or a parenthesis.
 * Threads: pure. */
#include "protocol/expr_parse.h"

enum { PRECEDENCE_OR = 1, PRECEDENCE_AND, PRECEDENCE_NOT };

static bool is_update(const struct parser *p)
{
	return p->kind == EXPR_UPDATE;
}

static struct parse_value *top_value(struct parser *p)
{
	return &p->value[p->values - 1];
}

static struct pending *top_pending(struct parser *p)
{
	return p->pendings > 0 ? &p->pending[p->pendings - 1] : NULL;
}

static void push_value(struct parser *p, uint16_t node, enum value_class class)
{
	p->value[p->values++] = (struct parse_value){ node, (uint8_t)class, false };
}

static uint16_t op_node(struct parser *p, enum op_code op, struct token t)
{
	return parser_node(p, (struct node){ .kind = NODE_OP, .op = (uint8_t)op, .first = NODE_NONE, .next = NODE_NONE,
		.at = t.at, .len = t.n });
}

static void count_operator(struct parser *p, struct token t)
{
	if (++p->operators > EXPR_OPERATORS_MAX)
		parser_note(p, COMPLAINT_OPERATORS, t, p->operators);
}

static void push_pending(struct parser *p, enum pending_kind kind, uint16_t node, uint16_t base)
{
	p->pending[p->pendings++] = (struct pending){ (uint8_t)kind, false, node, base };
}

static int precedence(const struct parser *p, const struct pending *o)
{
	if (o == NULL || o->kind != PENDING_OP)
		return 0;
	switch (p->node[o->node].op) {
	case EXPR_NOT:
		return PRECEDENCE_NOT;
	case EXPR_AND:
		return PRECEDENCE_AND;
	case EXPR_OR:
		return PRECEDENCE_OR;
	default:
		return 0;
	}
}

/* May a condition (of an update: a sum) begin or end here? */
static bool at_open_place(struct parser *p)
{
	const struct pending *o = top_pending(p);

	return o == NULL || (o->kind == PENDING_GROUP && o->open) || precedence(p, o) > 0;
}

static struct token node_token(const struct parser *p, uint16_t node)
{
	return (struct token){ TOKEN_NAME, p->node[node].at, p->node[node].len };
}

/* A function's value as an operand of something else: few may be used so. */
static void check_use(struct parser *p, const struct parse_value *v)
{
	enum op_code op;

	if (v->class != CLASS_FUNCTION)
		return;
	op = p->node[v->node].op;
	if (is_update(p) ? op == EXPR_LIST_APPEND : op != EXPR_SIZE)
		parser_note(p, COMPLAINT_MISUSED, node_token(p, v->node), 0);
}

/* Make all values above `base` operands of the node, and put it in their place. */
static void reduce(struct parser *p, uint16_t node, uint16_t base, enum value_class class)
{
	struct node *n = &p->node[node];

	n->n = (uint16_t)(p->values - base);
	for (uint16_t i = p->values; i > base; i--) {
		p->node[p->value[i - 1].node].next = n->first;
		n->first = p->value[i - 1].node;
	}
	p->values = base;
	push_value(p, node, class);
}

/* The right side of a comparison or a sum is complete. */
static void reduce_comparison(struct parser *p)
{
	const struct pending *o = top_pending(p);

	if (o == NULL || precedence(p, o) > 0)
		return;
	if (o->kind != PENDING_OP && o->kind != PENDING_BETWEEN_AND)
		return;
	for (uint16_t i = o->base; i < p->values; i++)
		check_use(p, &p->value[i]);
	p->pendings--;
	reduce(p, o->node, o->base, is_update(p) ? CLASS_SUM : CLASS_CONDITION);
}

/* A condition ends before the current token. */
static bool complete_condition(struct parser *p)
{
	struct parse_value *v;

	reduce_comparison(p);
	v = top_value(p);
	if (v->class == CLASS_FUNCTION && p->node[v->node].op == EXPR_SIZE)
		parser_note(p, COMPLAINT_MISUSED, node_token(p, v->node), 0);
	if (v->class == CLASS_FUNCTION)
		v->class = CLASS_CONDITION;
	return v->class == CLASS_CONDITION || parser_syntax(p);
}

static void reduce_logic(struct parser *p, int down_to)
{
	struct pending *o;

	while ((o = top_pending(p)) != NULL && precedence(p, o) >= down_to) {
		p->pendings--;
		reduce(p, o->node, o->base, CLASS_CONDITION);
	}
}

/* ---- before a value ---- */

static enum op_code function_code(struct slice name)
{
	for (int op = EXPR_EXISTS; op <= EXPR_LIST_APPEND; op++)
		if (slice_eq(name, slice_str(expr_op_word((enum op_code)op))))
			return (enum op_code)op;
	return EXPR_UNKNOWN;
}

/* Name and parenthesis of a call. */
static void open_call(struct parser *p)
{
	struct token t = p->cur;
	enum op_code op = function_code(slice_of(p->text.p + t.at, t.n));
	bool for_update = op == EXPR_IF_NOT_EXISTS || op == EXPR_LIST_APPEND;

	if (op == EXPR_UNKNOWN)
		parser_note(p, COMPLAINT_FUNCTION, t, 0);
	else if (for_update != is_update(p))
		parser_note(p, is_update(p) ? COMPLAINT_UPDATE_FUNCTION : COMPLAINT_CONDITION_FUNCTION, t, 0);
	count_operator(p, t);
	push_pending(p, PENDING_CALL, op_node(p, op, t), p->values);
	parser_next(p);
	parser_next(p);
}

static void open_group(struct parser *p)
{
	bool open = at_open_place(p);

	push_pending(p, PENDING_GROUP, NODE_NONE, p->values);
	top_pending(p)->open = open;
	parser_next(p);
}

static bool take_path(struct parser *p)
{
	uint16_t node;

	if (!parse_path(p, &node))
		return false;
	push_value(p, node, CLASS_OPERAND);
	return true;
}

/* Everything up to and with one operand: "NOT (size(a" */
static bool before_value(struct parser *p)
{
	for (;;) {
		struct token t = p->cur;

		if (t.kind == TOKEN_OPEN) {
			open_group(p);
		} else if (!is_update(p) && parser_word(p, t, "NOT") && at_open_place(p)) {
			count_operator(p, t);
			push_pending(p, PENDING_OP, op_node(p, EXPR_NOT, t), p->values);
			parser_next(p);
		} else if (t.kind == TOKEN_NAME && !parser_keyword(p, t) && parser_peek(p).kind == TOKEN_OPEN) {
			open_call(p);
		} else if (t.kind == TOKEN_VALUE_REF) {
			push_value(p, parser_node(p, (struct node){ .kind = NODE_VALUE, .first = NODE_NONE,
				.next = NODE_NONE, .at = t.at, .len = t.n }), CLASS_OPERAND);
			parser_next(p);
			return true;
		} else {
			return take_path(p);
		}
	}
}

/* ---- after a value ---- */

enum after { AFTER_SYNTAX, AFTER_AGAIN, AFTER_VALUE, AFTER_END };

static enum after syntax(struct parser *p)
{
	parser_syntax(p);
	return AFTER_SYNTAX;
}

/* Of an operator that takes the value on top as its left side. */
static bool takes_left_side(struct parser *p)
{
	return at_open_place(p) && top_value(p)->class <= CLASS_FUNCTION;
}

static enum after binary(struct parser *p, enum op_code op)
{
	bool sum = op == EXPR_PLUS || op == EXPR_MINUS;

	if (sum != is_update(p) || !takes_left_side(p))
		return syntax(p);
	count_operator(p, p->cur);
	push_pending(p, PENDING_OP, op_node(p, op, p->cur), (uint16_t)(p->values - 1));
	parser_next(p);
	return AFTER_VALUE;
}

static enum after between(struct parser *p)
{
	if (!takes_left_side(p))
		return syntax(p);
	count_operator(p, p->cur);
	push_pending(p, PENDING_BETWEEN, op_node(p, EXPR_BETWEEN, p->cur), (uint16_t)(p->values - 1));
	parser_next(p);
	return AFTER_VALUE;
}

static enum after in_list(struct parser *p)
{
	if (!takes_left_side(p))
		return syntax(p);
	count_operator(p, p->cur);
	push_pending(p, PENDING_IN, op_node(p, EXPR_IN, p->cur), (uint16_t)(p->values - 1));
	parser_next(p);
	if (p->cur.kind != TOKEN_OPEN)
		return syntax(p);
	parser_next(p);
	return AFTER_VALUE;
}

static enum after logic(struct parser *p, enum op_code op)
{
	struct pending *o = top_pending(p);

	if (op == EXPR_AND && o != NULL && o->kind == PENDING_BETWEEN) {
		o->kind = PENDING_BETWEEN_AND;
		parser_next(p);
		return AFTER_VALUE;
	}
	if (!complete_condition(p))
		return AFTER_SYNTAX;
	reduce_logic(p, op == EXPR_AND ? PRECEDENCE_AND : PRECEDENCE_OR);
	if (!at_open_place(p))
		return syntax(p);
	count_operator(p, p->cur);
	push_pending(p, PENDING_OP, op_node(p, op, p->cur), (uint16_t)(p->values - 1));
	parser_next(p);
	return AFTER_VALUE;
}

static enum after close_list(struct parser *p, const struct pending *o)
{
	bool in = o->kind == PENDING_IN;
	uint32_t listed = (uint32_t)(p->values - o->base) - 1;

	for (uint16_t i = o->base; i < p->values; i++)
		check_use(p, &p->value[i]);
	if (in && listed > EXPR_IN_MAX)
		parser_note(p, COMPLAINT_IN, node_token(p, o->node), listed);
	p->pendings--;
	reduce(p, o->node, o->base, in ? CLASS_CONDITION : CLASS_FUNCTION);
	parser_next(p);
	return AFTER_AGAIN;
}

/* A closing parenthesis: of a call, of a list, or of a group with an operand, a sum or a condition in it. */
static enum after close(struct parser *p)
{
	struct pending *o = top_pending(p);

	if (o != NULL && (o->kind == PENDING_CALL || o->kind == PENDING_IN))
		return close_list(p, o);
	if (o == NULL || o->kind == PENDING_BETWEEN)
		return syntax(p);
	if (o->kind != PENDING_GROUP) {
		if (is_update(p))
			reduce_comparison(p);
		else if (!complete_condition(p))
			return AFTER_SYNTAX;
		reduce_logic(p, PRECEDENCE_OR);
		o = top_pending(p);
		if (o == NULL || o->kind != PENDING_GROUP)
			return syntax(p);
	}
	p->pendings--;
	if (top_value(p)->parenthesised)
		parser_note(p, COMPLAINT_PARENTHESES, p->cur, 0);
	top_value(p)->parenthesised = true;
	parser_next(p);
	return AFTER_AGAIN;
}

static enum after comma(struct parser *p)
{
	const struct pending *o = top_pending(p);

	if (o != NULL && (o->kind == PENDING_CALL || o->kind == PENDING_IN)) {
		parser_next(p);
		return AFTER_VALUE;
	}
	return is_update(p) ? AFTER_END : syntax(p);
}

static enum after word(struct parser *p)
{
	if (is_update(p))
		return parser_section(p, p->cur) != SECTION_NONE ? AFTER_END : syntax(p);
	if (parser_word(p, p->cur, "AND"))
		return logic(p, EXPR_AND);
	if (parser_word(p, p->cur, "OR"))
		return logic(p, EXPR_OR);
	if (parser_word(p, p->cur, "BETWEEN"))
		return between(p);
	if (parser_word(p, p->cur, "IN"))
		return in_list(p);
	return syntax(p);
}

/* In a condition a path may go on behind parentheses: (a.b)[1]. */
static enum after path_element(struct parser *p)
{
	struct parse_value *v = top_value(p);

	if (p->node[v->node].kind != NODE_PATH || (is_update(p) && v->parenthesised))
		return syntax(p);
	v->parenthesised = false;
	return parse_path_element(p, v->node) ? AFTER_AGAIN : AFTER_SYNTAX;
}

static enum after after_value(struct parser *p)
{
	switch (p->cur.kind) {
	case TOKEN_DOT:
	case TOKEN_INDEX_OPEN:
		return path_element(p);
	case TOKEN_EQ:
	case TOKEN_NE:
	case TOKEN_LT:
	case TOKEN_LE:
	case TOKEN_GT:
	case TOKEN_GE:
		return binary(p, (enum op_code)(EXPR_EQ + (p->cur.kind - TOKEN_EQ)));
	case TOKEN_PLUS:
		return binary(p, EXPR_PLUS);
	case TOKEN_MINUS:
		return binary(p, EXPR_MINUS);
	case TOKEN_CLOSE:
		return close(p);
	case TOKEN_COMMA:
		return comma(p);
	case TOKEN_NAME:
		return word(p);
	case TOKEN_END:
		return AFTER_END;
	default:
		return syntax(p);
	}
}

bool parse_formula(struct parser *p, uint16_t *node)
{
	enum after a;

	p->values = p->pendings = 0;
	do {
		if (!before_value(p))
			return false;
		do
			a = after_value(p);
		while (a == AFTER_AGAIN);
	} while (a == AFTER_VALUE);
	if (a == AFTER_SYNTAX)
		return false;
	if (is_update(p))
		reduce_comparison(p);
	else if (!complete_condition(p))
		return false;
	reduce_logic(p, PRECEDENCE_OR);
	if (p->pendings > 0)
		return parser_syntax(p);
	*node = p->value[0].node;
	return true;
}
