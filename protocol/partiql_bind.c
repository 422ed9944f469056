/* partiql_bind - conditions and updates of a statement, bound to those of the expression language.
 *
 * What an operator takes is checked by the binder of expressions; only the words around a complaint differ. A condition
 * is also a value, true or false, and may be compared with one:
 *
 *    (a < 1) = false     NOT (a < 1)
 *    (a < 1) = b         (a < 1) AND b = true   OR   NOT (a < 1) AND b = false
 *
 * Recursion is bounded by the parser's depth; the steps of what is written out twice, by CONDITION_STEPS_MAX. */
#include "protocol/partiql_int.h"

enum { CONDITION_STEPS_MAX = 8192 };

struct binding {
	struct pq_binder *b;
	struct binder checks;           /* the expression binder's: operand types and counts */
	struct cond_builder c;
};

static enum err bind_condition(struct binding *x, const struct pq_node *n);

/* ---- operands ---- */

static const struct function { const char *name; enum op_code op; bool condition, value; } functions[] = {
	{ "attribute_exists", EXPR_EXISTS, true, false }, { "attribute_not_exists", EXPR_NOT_EXISTS, true, false },
	{ "attribute_type", EXPR_TYPE, true, false }, { "begins_with", EXPR_BEGINS_WITH, true, false },
	{ "contains", EXPR_CONTAINS, true, false }, { "size", EXPR_SIZE, false, false },
	{ "list_append", EXPR_LIST_APPEND, false, true }, { "if_not_exists", EXPR_IF_NOT_EXISTS, false, true },
};

static const struct function *function_of(const struct pq_node *n)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (slice_eq(n->text, slice_str(functions[i].name)))
			return &functions[i];
	return NULL;
}

static enum err unknown_function(struct pq_binder *b, const struct pq_node *n)
{
	return fault_set(b->f, MSG_PQ_FUNCTION, SLICE_FMT(n->text), pq_position(b->text, n->at, n->n, b->arena));
}

/* Does this node give true or false? */
static bool is_condition(const struct pq_node *n)
{
	const struct function *f;

	switch (n->kind) {
	case PQ_AND:
	case PQ_OR:
	case PQ_NOT:
	case PQ_IS:
	case PQ_IN:
	case PQ_BETWEEN:
		return true;
	case PQ_INFIX:
		return n->text.n > 0 && strchr("=<>!", n->text.p[0]) != NULL;
	case PQ_CALL:
		f = function_of(n);
		return f != NULL && f->condition;
	default:
		return false;
	}
}

static enum err token_fault(struct pq_binder *b, const struct pq_node *n)
{
	return fault_set(b->f, MSG_PQ_TOKEN, "UNKNOWN", pq_position(b->text, n->at, n->n, b->arena));
}

static enum err operand_of(struct binding *x, const struct pq_node *n, struct operand *out);

static enum err operands_of(struct binding *x, const struct pq_node *n, struct operand **out)
{
	struct operand *arg = arena_alloc(x->b->arena, (n->operands + 1) * sizeof *arg);
	unsigned i = 0;
	enum err rc = arg != NULL ? ERR_OK : fault_set(x->b->f, MSG_NO_MEMORY);

	for (const struct pq_node *o = n->first; o != NULL && rc == ERR_OK; o = o->next)
		rc = operand_of(x, o, &arg[i++]);
	*out = arg;
	return rc;
}

static enum err count_fault(struct binding *x, enum op_code op, unsigned n)
{
	return fault_set(x->b->f, MSG_PQ_COUNT, expr_op_word(op), n);
}

/* size(path) and what an update may compute. */
static enum err function_operand(struct binding *x, const struct pq_node *n, enum op_code op, struct operand *out)
{
	struct operand *arg;
	enum err rc = operands_of(x, n, &arg);

	if (rc != ERR_OK)
		return rc;
	if (n->operands != expr_op_operands(op))
		return count_fault(x, op, n->operands);
	bind_finish(&x->checks, op, arg, out);
	return bind_report(&x->checks);
}

static enum err operand_of(struct binding *x, const struct pq_node *n, struct operand *out)
{
	const struct function *f;

	*out = (struct operand){ .kind = OPERAND_VALUE };
	if (pq_is_literal(n))
		return pq_value(x->b, n, &out->value);
	if (n->kind == PQ_PATH) {
		out->kind = OPERAND_PATH;
		out->path = n->path;
		return ERR_OK;
	}
	if (n->kind == PQ_MISSING)
		return fault_set(x->b->f, MSG_PQ_MISSING_COMPARED);
	if (n->kind == PQ_INFIX || n->kind == PQ_PREFIX)
		return fault_set(x->b->f, MSG_PQ_CONDITION_OPERATOR, SLICE_FMT(n->text));
	if (n->kind != PQ_CALL)
		return token_fault(x->b, n);
	f = function_of(n);
	if (f == NULL)
		return unknown_function(x->b, n);
	if (f->op != EXPR_SIZE)
		return fault_set(x->b->f, MSG_PQ_NOT_IN_CONDITION, f->name);
	return function_operand(x, n, EXPR_SIZE, out);
}

/* ---- tests ---- */

static enum err test(struct binding *x, enum op_code op, struct operand *arg, uint16_t n)
{
	unsigned want = expr_op_operands(op);

	if (want != 0 && n != want)
		return count_fault(x, op, n);
	if (op == EXPR_IN && n - 1 > EXPR_IN_MAX)
		return fault_set(x->b->f, MSG_PQ_IN_MANY, n - 1u);
	bind_check_distinct(&x->checks, op, arg, n);
	bind_check_types(&x->checks, op, arg, n);
	cond_test(&x->c, op, arg, n);
	return bind_report(&x->checks);
}

static enum err test_of(struct binding *x, enum op_code op, const struct pq_node *n)
{
	struct operand *arg;
	enum err rc = operands_of(x, n, &arg);

	return rc == ERR_OK ? test(x, op, arg, (uint16_t)n->operands) : rc;
}

static enum err is_type(struct binding *x, const struct pq_node *n)
{
	static const struct { const char *word, *type; } types[] = {
		{ "BOOL", "BOOL" }, { "BOOLEAN", "BOOL" }, { "STRING", "S" }, { "NUMERIC", "N" }, { "BLOB", "B" }, { "STRUCT", "M" },
		{ "TUPLE", "M" }, { "LIST", "L" },
	};
	struct operand *arg = arena_zalloc(x->b->arena, 2 * sizeof *arg);
	struct pq_node type = { .kind = PQ_STRING, .text = SLICE_NONE };
	enum err rc;

	if (n->first->kind != PQ_PATH && !pq_is_literal(n->first))
		return fault_set(x->b->f, MSG_PQ_IS_OPERAND);
	if (arg == NULL)
		return fault_set(x->b->f, MSG_NO_MEMORY);
	rc = operand_of(x, n->first, &arg[0]);
	if (rc != ERR_OK)
		return rc;
	if (slice_eq(n->text, SLICE_LIT("MISSING")))
		return test(x, EXPR_NOT_EXISTS, arg, 1);
	if (slice_eq(n->text, SLICE_LIT("NULL"))) {
		type.kind = PQ_NULL;
		rc = pq_value(x->b, &type, &arg[1].value);
		return rc == ERR_OK ? test(x, EXPR_EQ, arg, 2) : rc;
	}
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (slice_eq(n->text, slice_str(types[i].word)))
			type.text = slice_str(types[i].type);
	if (!slice_present(type.text))
		return fault_set(x->b->f, MSG_PQ_IS_TYPE, SLICE_FMT(n->text), pq_position(x->b->text, n->at, n->n, x->b->arena));
	rc = pq_value(x->b, &type, &arg[1].value);
	return rc == ERR_OK ? test(x, EXPR_TYPE, arg, 2) : rc;
}

/* "a IN [b, c]": the elements are operands of the test themselves. */
static bool in_elements(const struct pq_node *n, struct pq_node *flat)
{
	const struct pq_node *list = n->first->next;

	if ((list->kind != PQ_LIST && list->kind != PQ_BAG) || list->operands == 0)
		return false;
	*flat = *n->first;
	flat->next = list->first;
	return true;
}

/* ---- conditions as values ---- */

static enum err truth_of_all(struct binding *x, const struct pq_node *n, enum cond_kind leave)
{
	enum err rc = bind_condition(x, n->first);
	uint32_t jump;

	if (rc != ERR_OK)
		return rc;
	jump = cond_jump(&x->c, leave);
	rc = bind_condition(x, n->first->next);
	cond_land(&x->c, jump);
	return rc;
}

/* Is the truth of n equal to that of `other`, a condition, a path or a value? */
static enum err same_truth(struct binding *x, const struct pq_node *n, const struct pq_node *other)
{
	struct pq_node literal = { .kind = PQ_TRUE }, both = { .kind = PQ_AND }, neither = { .kind = PQ_AND };
	struct pq_node left = *n, right = *other, no_left = { .kind = PQ_NOT }, no_right = { .kind = PQ_NOT };
	struct pq_node equals = { .kind = PQ_INFIX, .text = SLICE_LIT("=") }, a = *other, either = { .kind = PQ_OR };

	if (x->c.n > CONDITION_STEPS_MAX)
		return fault_set(x->b->f, MSG_PQ_OPERATORS, (unsigned)x->c.n);
	if (!is_condition(other)) {
		/* "other = true" */
		a.next = &literal;
		equals.first = &a;
		equals.operands = 2;
		right = equals;
	}
	left.next = &right;
	right.next = NULL;
	both.first = &left;
	both.next = &neither;
	if (!is_condition(other)) {
		struct pq_node false_literal = { .kind = PQ_FALSE }, b = *other, not_equals = equals;

		b.next = &false_literal;
		not_equals.first = &b;
		no_left.first = &left;
		no_left.next = &not_equals;
		neither.first = &no_left;
		either.first = &both;
		return truth_of_all(x, &either, COND_IF_TRUE);
	}
	no_left.first = &left;
	no_right.first = &right;
	no_left.next = &no_right;
	neither.first = &no_left;
	either.first = &both;
	return truth_of_all(x, &either, COND_IF_TRUE);
}

/* Always false, or true: a condition is never equal to what is no truth value. */
static enum err constant(struct binding *x, bool truth)
{
	struct operand *arg = arena_zalloc(x->b->arena, 2 * sizeof *arg);
	static const uint8_t yes[] = { 0xc3 }, no[] = { 0xc2 };

	if (arg == NULL)
		return fault_set(x->b->f, MSG_NO_MEMORY);
	arg[0].value = slice_of(yes, 1);
	arg[1].value = slice_of(truth ? yes : no, 1);
	cond_test(&x->c, EXPR_EQ, arg, 2);
	return ERR_OK;
}

/* n (a condition) = other */
static enum err equals_truth(struct binding *x, const struct pq_node *n, const struct pq_node *other)
{
	struct slice v;
	enum err rc;

	if (!pq_is_literal(other))
		return same_truth(x, n, other);
	rc = pq_value(x->b, other, &v);
	if (rc == ERR_OK && value_type(v) != VALUE_BOOL) {
		rc = bind_condition(x, n); /* for its complaints */
		return rc == ERR_OK ? constant(x, false) : rc;
	}
	if (rc == ERR_OK)
		rc = bind_condition(x, n);
	if (rc == ERR_OK && !value_bool(v))
		cond_not(&x->c);
	return rc;
}

static enum err compare_truth(struct binding *x, const struct pq_node *n, enum op_code op)
{
	const struct pq_node *a = n->first, *b = a->next;
	enum err rc;

	if (op != EXPR_EQ && op != EXPR_NE)
		return fault_set(x->b->f, MSG_PQ_TYPE, expr_op_word(op), "BOOL");
	rc = is_condition(a) ? equals_truth(x, a, b) : equals_truth(x, b, a);
	if (rc == ERR_OK && op == EXPR_NE)
		cond_not(&x->c);
	return rc;
}

static enum err truth_in(struct binding *x, const struct pq_node *n, const struct pq_node *element)
{
	enum err rc = equals_truth(x, n, element);
	uint32_t jump;

	if (rc != ERR_OK || element->next == NULL)
		return rc;
	if (x->c.n > CONDITION_STEPS_MAX)
		return fault_set(x->b->f, MSG_PQ_OPERATORS, (unsigned)x->c.n);
	jump = cond_jump(&x->c, COND_IF_TRUE);
	rc = truth_in(x, n, element->next);
	cond_land(&x->c, jump);
	return rc;
}

/* ---- conditions ---- */

static bool comparison_of(const struct pq_node *n, enum op_code *op)
{
	static const struct { const char *word; enum op_code op; } all[] = {
		{ "=", EXPR_EQ }, { "<>", EXPR_NE }, { "!=", EXPR_NE }, { "<", EXPR_LT }, { "<=", EXPR_LE }, { ">", EXPR_GT },
		{ ">=", EXPR_GE },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (slice_eq(n->text, slice_str(all[i].word))) {
			*op = all[i].op;
			return true;
		}
	return false;
}

static enum err bind_infix(struct binding *x, const struct pq_node *n)
{
	enum op_code op;

	if (!comparison_of(n, &op))
		return fault_set(x->b->f, MSG_PQ_CONDITION_OPERATOR, SLICE_FMT(n->text));
	if (is_condition(n->first) || is_condition(n->first->next))
		return compare_truth(x, n, op);
	return test_of(x, op, n);
}

static enum err bind_in(struct binding *x, const struct pq_node *n)
{
	struct pq_node first, flat = *n;

	if (!in_elements(n, &first))
		return fault_set(x->b->f, MSG_PQ_IN);
	flat.first = &first;
	flat.operands = n->first->next->operands + 1;
	return is_condition(n->first) ? truth_in(x, n->first, first.next) : test_of(x, EXPR_IN, &flat);
}

static enum err bind_call(struct binding *x, const struct pq_node *n)
{
	const struct function *f = function_of(n);

	if (f == NULL)
		return unknown_function(x->b, n);
	if (f->value)
		return fault_set(x->b->f, MSG_PQ_NOT_IN_CONDITION, f->name);
	return f->condition ? test_of(x, f->op, n) : fault_set(x->b->f, MSG_PQ_WHERE);
}

static enum err bind_condition(struct binding *x, const struct pq_node *n)
{
	enum err rc;

	switch (n->kind) {
	case PQ_AND:
	case PQ_OR:
		if ((!is_condition(n->first) && n->first->kind != PQ_CALL && n->first->kind != PQ_INFIX) ||
			(!is_condition(n->first->next) && n->first->next->kind != PQ_CALL && n->first->next->kind != PQ_INFIX))
			return fault_set(x->b->f, MSG_PQ_AND_OR);
		return truth_of_all(x, n, n->kind == PQ_AND ? COND_IF_FALSE : COND_IF_TRUE);
	case PQ_NOT:
		if (!is_condition(n->first) && n->first->kind != PQ_CALL && n->first->kind != PQ_INFIX)
			return fault_set(x->b->f, MSG_PQ_NOT);
		rc = bind_condition(x, n->first);
		cond_not(&x->c);
		return rc;
	case PQ_INFIX:
		return bind_infix(x, n);
	case PQ_BETWEEN:
		return test_of(x, EXPR_BETWEEN, n);
	case PQ_IN:
		return bind_in(x, n);
	case PQ_IS:
		return is_type(x, n);
	case PQ_CALL:
		return bind_call(x, n);
	default:
		return fault_set(x->b->f, MSG_PQ_WHERE);
	}
}

static void start(struct binding *x, struct pq_binder *b)
{
	*x = (struct binding){ .b = b, .checks = { .e = NULL, .env = &b->env, .f = b->f } };
	cond_init(&x->c, b->arena);
}

enum err pq_condition(struct pq_binder *b, const struct pq_node *n, struct condition **out)
{
	struct binding x;
	enum err rc;

	start(&x, b);
	rc = bind_condition(&x, n);
	if (rc != ERR_OK)
		return rc;
	*out = cond_finish(&x.c);
	return *out != NULL ? ERR_OK : fault_set(b->f, MSG_NO_MEMORY);
}

/* ---- updates ---- */

static enum err update_operand(struct binding *x, const struct pq_node *n, struct operand *out);

static enum err update_operation(struct binding *x, const struct pq_node *n, enum op_code op, struct operand *out)
{
	struct operand *arg = arena_alloc(x->b->arena, (n->operands + 1) * sizeof *arg);
	unsigned i = 0;
	enum err rc = arg != NULL ? ERR_OK : fault_set(x->b->f, MSG_NO_MEMORY);

	for (const struct pq_node *o = n->first; o != NULL && rc == ERR_OK; o = o->next)
		rc = update_operand(x, o, &arg[i++]);
	if (rc != ERR_OK)
		return rc;
	if (n->operands != expr_op_operands(op))
		return count_fault(x, op, n->operands);
	bind_finish(&x->checks, op, arg, out);
	return bind_report(&x->checks);
}

static enum err update_operand(struct binding *x, const struct pq_node *n, struct operand *out)
{
	const struct function *f;

	if (n->kind == PQ_INFIX || n->kind == PQ_PREFIX) {
		if (!slice_eq(n->text, SLICE_LIT("+")) && !slice_eq(n->text, SLICE_LIT("-")))
			return fault_set(x->b->f, MSG_PQ_UPDATE_OPERATOR, SLICE_FMT(n->text));
		return update_operation(x, n, n->text.p[0] == '+' ? EXPR_PLUS : EXPR_MINUS, out);
	}
	if (n->kind == PQ_IS)
		return fault_set(x->b->f, MSG_PQ_IS_IN_UPDATE);
	if (n->kind == PQ_AND || n->kind == PQ_OR || n->kind == PQ_NOT || n->kind == PQ_IN || n->kind == PQ_BETWEEN)
		return fault_set(x->b->f, MSG_PQ_UPDATE_OPERATOR, SLICE_FMT(n->text));
	if (n->kind != PQ_CALL)
		return operand_of(x, n, out);
	f = function_of(n);
	if (f == NULL)
		return unknown_function(x->b, n);
	return f->value ? update_operation(x, n, f->op, out) : fault_set(x->b->f, MSG_PQ_NOT_IN_UPDATE, f->name);
}

static bool is_set(struct slice v)
{
	enum value_type t = value_type(v);

	return t == VALUE_SS || t == VALUE_NS || t == VALUE_BS;
}

/* SET a = set_add(a, <<..>>) is ADD, and set_delete DELETE. */
static enum err set_function(struct binding *x, const struct pq_assignment *a, bool add, struct change *c)
{
	const char *word = add ? "ADD" : "DELETE";
	const struct pq_node *n = a->value, *first = n->first;
	const char *position = pq_position(x->b->text, n->at, n->n, x->b->arena);
	enum err rc = ERR_OK;

	if (n->operands != 2)
		return fault_set(x->b->f, MSG_PQ_SET_COUNT, word, position);
	if (first->kind != PQ_PATH || !path_same(&first->path, &a->target->path))
		return fault_set(x->b->f, MSG_PQ_SET_FIRST, word, position);
	*c = (struct change){ .section = add ? SECTION_ADD : SECTION_DELETE, .operand = { .kind = OPERAND_VALUE } };
	if (pq_is_literal(first->next))
		rc = pq_value(x->b, first->next, &c->operand.value);
	if (rc == ERR_OK && (!slice_present(c->operand.value) || !is_set(c->operand.value)))
		rc = fault_set(x->b->f, MSG_PQ_SET_SECOND, word, pq_position(x->b->text, first->at, first->n, x->b->arena));
	return rc;
}

static enum err bind_change(struct binding *x, const struct pq_assignment *a, struct change *c)
{
	*c = (struct change){ .section = a->value != NULL ? SECTION_SET : SECTION_REMOVE };
	if (a->value == NULL)
		return ERR_OK;
	if (a->value->kind == PQ_CALL && slice_eq(a->value->text, SLICE_LIT("set_add")))
		return set_function(x, a, true, c);
	if (a->value->kind == PQ_CALL && slice_eq(a->value->text, SLICE_LIT("set_delete")))
		return set_function(x, a, false, c);
	return update_operand(x, a->value, &c->operand);
}

/* Complaints about an update expression, without saying that it is one. */
static enum err plain_words(struct fault *f)
{
	const char *words = strstr(f->text, "Expression: ");

	if (f->code == ERR_VALIDATION && words != NULL)
		f->text = words + strlen("Expression: ");
	return f->code;
}

enum err pq_check_paths(struct path_at *path, uint32_t n, struct arena *a, struct fault *f)
{
	paths_sort(path, n);
	return paths_check(path, n, EXPR_UPDATE, a, f) == ERR_OK ? ERR_OK : plain_words(f);
}

enum err pq_update(struct pq_binder *b, const struct pq_assignment *first, struct update **out)
{
	struct path_at *path;
	struct change *change;
	struct binding x;
	uint32_t n = 0;

	start(&x, b);
	for (const struct pq_assignment *a = first; a != NULL; a = a->next)
		n++;
	path = arena_alloc(b->arena, n * sizeof *path);
	change = arena_alloc(b->arena, n * sizeof *change);
	if (path == NULL || change == NULL)
		return fault_set(b->f, MSG_NO_MEMORY);
	n = 0;
	for (const struct pq_assignment *a = first; a != NULL; a = a->next, n++) {
		enum err rc = bind_change(&x, a, &change[n]);

		if (rc != ERR_OK)
			return rc;
		path[n] = (struct path_at){ a->target->path, n };
	}
	*out = update_new(path, change, n, false, b->arena);
	if (*out == NULL)
		return fault_set(b->f, MSG_NO_MEMORY);
	return pq_check_paths(path, n, b->arena, b->f);
}
