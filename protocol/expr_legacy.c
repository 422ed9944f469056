/* expr_legacy - Expected, QueryFilter, ScanFilter, KeyConditions, AttributeUpdates and AttributesToGet.
 *
 * A condition on an attribute is one line of the table of operators: how many arguments, of which types, and what
 * it is as an expression. Several are joined by AND or OR, with the builder of expr_int.h.
 * Threads and ownership: expr_legacy.h. */
#include "protocol/expr_legacy.h"

#include "protocol/expr_int.h"
#include "protocol/messages.h"
#include "protocol/shape.h"

#define BIT(t) (1u << VALUE_##t)
enum {
	TYPES_ORDERED = BIT(S) | BIT(N) | BIT(B),
	TYPES_MEMBER = TYPES_ORDERED | BIT(BOOL) | BIT(NULL),
	TYPES_TEXT = BIT(S) | BIT(B),
	TYPES_ALL = (1u << VALUE_BAD) - 1
};
/* The service is known to take as many; its limit is not. */
enum { ARGUMENTS_SOME = 255, ARGUMENTS_MAX = 27500 };

static const struct operation {
	const char *name;
	enum op_code op;
	bool negated;
	uint8_t arguments;
	uint16_t types;
	enum key_op key;        /* what it is on a key attribute; KEY_OP_NONE = not to be asked */
} operations[] = {
	{ "EQ", EXPR_EQ, false, 1, TYPES_ALL, KEY_OP_EQ },
	{ "NE", EXPR_NE, false, 1, TYPES_ALL, KEY_OP_NONE },
	{ "IN", EXPR_IN, false, ARGUMENTS_SOME, TYPES_ORDERED, KEY_OP_NONE },
	{ "LE", EXPR_LE, false, 1, TYPES_ORDERED, KEY_OP_LE },
	{ "LT", EXPR_LT, false, 1, TYPES_ORDERED, KEY_OP_LT },
	{ "GE", EXPR_GE, false, 1, TYPES_ORDERED, KEY_OP_GE },
	{ "GT", EXPR_GT, false, 1, TYPES_ORDERED, KEY_OP_GT },
	{ "BETWEEN", EXPR_BETWEEN, false, 2, TYPES_ORDERED, KEY_OP_BETWEEN },
	{ "NOT_NULL", EXPR_EXISTS, false, 0, TYPES_ALL, KEY_OP_NONE },
	{ "NULL", EXPR_NOT_EXISTS, false, 0, TYPES_ALL, KEY_OP_NONE },
	{ "CONTAINS", EXPR_CONTAINS, false, 1, TYPES_MEMBER, KEY_OP_NONE },
	{ "NOT_CONTAINS", EXPR_CONTAINS, true, 1, TYPES_MEMBER, KEY_OP_NONE },
	{ "BEGINS_WITH", EXPR_BEGINS_WITH, false, 1, TYPES_TEXT, KEY_OP_BEGINS_WITH },
};

/* One condition on an attribute, taken apart. */
struct asked {
	struct slice name;
	const struct operation *op;
	struct operand *operand;        /* the attribute, then the arguments */
	uint32_t arguments;
};

static enum err check_name(struct slice name, struct fault *f)
{
	if (name.n == 0)
		return fault_set(f, MSG_VALUE_NAME_EMPTY);
	return name.n > VALUE_NAME_MAX ? fault_set(f, MSG_VALUE_NAME_LONG) : ERR_OK;
}

static const struct operation *operation_of(struct slice name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (slice_eq(name, slice_str(operations[i].name)))
			return &operations[i];
	return NULL;
}

/* The attribute and room for n arguments. */
static bool open_operands(struct asked *x, uint32_t n, struct arena *a)
{
	struct path_step *step = arena_alloc(a, sizeof(*step));

	x->operand = arena_zalloc(a, ((size_t)n + 1) * sizeof(*x->operand));
	if (step == NULL || x->operand == NULL)
		return false;
	*step = (struct path_step){ .name = x->name };
	x->operand[0].kind = OPERAND_PATH;
	x->operand[0].path = (struct path){ step, 1 };
	return true;
}

/* From an AttributeValueList, or from a single value. */
static enum err take_arguments(struct asked *x, struct mp list, uint32_t n, struct slice value, struct arena *a,
	struct fault *f)
{
	x->arguments = slice_present(value) ? 1 : n;
	if (x->arguments > ARGUMENTS_MAX)
		return fault_set(f, MSG_LEGACY_ARGUMENTS, x->op->name);
	if (!open_operands(x, x->arguments, a))
		return fault_set(f, MSG_NO_MEMORY);
	for (uint32_t i = 1; i <= x->arguments; i++) {
		x->operand[i].kind = OPERAND_VALUE;
		x->operand[i].value = slice_present(value) ? value : mp_skip(&list);
	}
	return ERR_OK;
}

static enum err check_arguments(const struct asked *x, struct fault *f)
{
	const struct operand *arg = x->operand + 1;

	if (x->op->arguments == ARGUMENTS_SOME ? x->arguments == 0 : x->arguments != x->op->arguments)
		return fault_set(f, MSG_LEGACY_ARGUMENTS, x->op->name);
	for (uint32_t i = 1; i < x->arguments; i++)
		if (value_type(arg[i].value) != value_type(arg[0].value))
			return fault_set(f, MSG_LEGACY_SAME_TYPE);
	if (x->arguments > 0 && (x->op->types & 1u << value_type(arg[0].value)) == 0)
		return fault_set(f, MSG_LEGACY_TYPE, x->op->name, value_type_name(value_type(arg[0].value)));
	if (x->op->op == EXPR_BETWEEN && value_cmp(arg[0].value, arg[1].value) > 0)
		return fault_set(f, MSG_LEGACY_BETWEEN);
	return ERR_OK;
}

/* ---- reading the two shapes ---- */

static enum err read_condition(struct slice bytes, struct asked *x, struct arena *a, struct fault *f)
{
	struct record r;
	struct mp list;
	uint32_t n;
	enum err rc;

	if (!record_open(&r, &shape_Condition, bytes))
		return fault_set(f, MSG_LEGACY_MALFORMED);
	x->op = operation_of(record_str(&r, Condition_ComparisonOperator));
	if (x->op == NULL)
		return fault_set(f, MSG_LEGACY_MALFORMED);
	list = record_list(&r, Condition_AttributeValueList, &n);
	rc = take_arguments(x, list, n, SLICE_NONE, a, f);
	return rc == ERR_OK ? check_arguments(x, f) : rc;
}

static enum err read_with_operator(const struct record *r, struct asked *x, struct arena *a, struct fault *f)
{
	struct slice name = record_str(r, ExpectedAttributeValue_ComparisonOperator);
	bool given = record_has(r, ExpectedAttributeValue_AttributeValueList) ||
		record_has(r, ExpectedAttributeValue_Value);
	struct mp list;
	uint32_t n;
	enum err rc;

	x->op = operation_of(name);
	if (x->op == NULL)
		return fault_set(f, MSG_LEGACY_MALFORMED);
	if (record_has(r, ExpectedAttributeValue_Exists))
		return fault_set(f, MSG_LEGACY_EXISTS_AND_OPERATOR, SLICE_FMT(x->name));
	if (x->op->arguments > 0 && !given)
		return fault_set(f, MSG_LEGACY_NO_VALUE, SLICE_FMT(name), SLICE_FMT(x->name));
	list = record_list(r, ExpectedAttributeValue_AttributeValueList, &n);
	rc = take_arguments(x, list, n, r->m[ExpectedAttributeValue_Value], a, f);
	return rc == ERR_OK ? check_arguments(x, f) : rc;
}

/* Exists false asks that there be no such attribute; otherwise there is a Value to be equal to. */
static enum err read_existence(const struct record *r, struct asked *x, struct arena *a, struct fault *f)
{
	bool said = record_has(r, ExpectedAttributeValue_Exists);
	bool exists = !said || record_bool(r, ExpectedAttributeValue_Exists);
	bool value = record_has(r, ExpectedAttributeValue_Value);
	struct mp none = { NULL, NULL, false };

	if (exists && !value)
		return fault_set(f, MSG_LEGACY_VALUE_MISSING, said ? "true" : "null", SLICE_FMT(x->name));
	if (!exists && value)
		return fault_set(f, MSG_LEGACY_VALUE_GIVEN, SLICE_FMT(x->name));
	x->op = operation_of(exists ? SLICE_LIT("EQ") : SLICE_LIT("NULL"));
	return take_arguments(x, none, 0, r->m[ExpectedAttributeValue_Value], a, f);
}

static enum err read_expected(struct slice bytes, struct asked *x, struct arena *a, struct fault *f)
{
	struct record r;
	bool list;

	if (!record_open(&r, &shape_ExpectedAttributeValue, bytes))
		return fault_set(f, MSG_LEGACY_MALFORMED);
	list = record_has(&r, ExpectedAttributeValue_AttributeValueList);
	if (list && record_has(&r, ExpectedAttributeValue_Value))
		return fault_set(f, MSG_LEGACY_VALUE_AND_LIST, SLICE_FMT(x->name));
	if (record_has(&r, ExpectedAttributeValue_ComparisonOperator))
		return read_with_operator(&r, x, a, f);
	if (list)
		return fault_set(f, MSG_LEGACY_LIST_ALONE, SLICE_FMT(x->name));
	return read_existence(&r, x, a, f);
}

/* ---- conditions ---- */

static void add_test(struct cond_builder *c, const struct asked *x)
{
	uint32_t jump;

	if (!x->op->negated) {
		cond_test(c, x->op->op, x->operand, (uint16_t)(x->arguments + 1));
		return;
	}
	/* Not of an attribute that is not there. */
	cond_test(c, EXPR_EXISTS, x->operand, 1);
	jump = cond_jump(c, COND_IF_FALSE);
	cond_test(c, x->op->op, x->operand, (uint16_t)(x->arguments + 1));
	cond_not(c);
	cond_land(c, jump);
}

typedef enum err reader(struct slice bytes, struct asked *x, struct arena *a, struct fault *f);

/* One pair of a map of conditions. */
static enum err read_pair(struct mp *m, reader *read, struct asked *x, struct arena *a, struct fault *f)
{
	enum err rc;

	*x = (struct asked){ .name = mp_str(m) };
	rc = read(mp_skip(m), x, a, f);
	return rc == ERR_OK ? check_name(x->name, f) : rc;
}

static enum err join(struct mp m, uint32_t n, bool any, reader *read, struct arena *a, struct condition **out,
	struct fault *f)
{
	uint32_t *jump = arena_alloc(a, n * sizeof(*jump));
	struct cond_builder c;

	if (jump == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	cond_init(&c, a);
	for (uint32_t i = 0; i < n; i++) {
		struct asked x;
		enum err rc = read_pair(&m, read, &x, a, f);

		if (rc != ERR_OK)
			return rc;
		add_test(&c, &x);
		jump[i] = cond_jump(&c, any ? COND_IF_TRUE : COND_IF_FALSE);
	}
	for (uint32_t i = 0; i < n; i++)
		cond_land(&c, jump[i]);
	*out = cond_finish(&c);
	return *out != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

static enum err bind(struct slice map, struct slice op, reader *read, struct arena *a, struct condition **out,
	struct fault *f)
{
	struct mp m = mp_open(map);
	uint32_t n = slice_present(map) ? mp_map(&m) : 0;

	*out = NULL;
	if (slice_present(op) && n == 0)
		return fault_set(f, MSG_OPERATOR_WITHOUT_EXPECTED);
	enum err rc = n > 0 ? join(m, n, slice_eq(op, SLICE_LIT("OR")), read, a, out, f) : ERR_OK;

	return rc == ERR_OK && slice_present(op) && n == 1 ? fault_set(f, MSG_LEGACY_OPERATOR_ONE) : rc;
}

enum err legacy_expected(struct slice expected, struct slice op, struct arena *a, struct condition **out,
	struct fault *f)
{
	return bind(expected, op, read_expected, a, out, f);
}

enum err legacy_filter(struct slice filter, struct slice op, struct arena *a, struct condition **out, struct fault *f)
{
	return bind(filter, op, read_condition, a, out, f);
}

enum err legacy_key_conditions(struct slice conditions, const struct key_schema *ks, struct arena *a,
	struct key_condition *out, struct fault *f)
{
	struct key_term term[KEY_TERMS_MAX];
	struct mp m = mp_open(conditions);
	uint32_t n = mp_map(&m);

	for (uint32_t i = 0; i < n; i++) {
		struct asked x;
		enum err rc = read_pair(&m, read_condition, &x, a, f);

		if (rc != ERR_OK)
			return rc;
		if (i < KEY_TERMS_MAX)
			term[i] = (struct key_term){ x.name, x.op->key,
				x.arguments > 0 ? x.operand[1].value : SLICE_NONE,
				x.arguments > 1 ? x.operand[2].value : SLICE_NONE };
	}
	if (n == 0)
		return fault_set(f, MSG_KEYCOND_NONE);
	return ks != NULL ? key_terms_fit(term, n, ks, out, f) : ERR_OK;
}

/* ---- updates and attributes ---- */

static bool is_set(enum value_type t)
{
	return t == VALUE_SS || t == VALUE_NS || t == VALUE_BS;
}

static enum err read_update(struct slice bytes, struct change *c, struct fault *f)
{
	struct record r;
	bool add, delete;
	enum value_type t;

	if (!record_open(&r, &shape_AttributeValueUpdate, bytes))
		return fault_set(f, MSG_LEGACY_MALFORMED);
	add = record_is(&r, AttributeValueUpdate_Action, "ADD");
	delete = record_is(&r, AttributeValueUpdate_Action, "DELETE");
	*c = (struct change){ .section = delete ? SECTION_REMOVE : SECTION_SET };
	if (!record_has(&r, AttributeValueUpdate_Value))
		return delete ? ERR_OK : fault_set(f, MSG_LEGACY_ONLY_DELETE);
	c->operand = (struct operand){ .kind = OPERAND_VALUE, .value = r.m[AttributeValueUpdate_Value] };
	t = value_type(c->operand.value);
	if (delete && !is_set(t))
		return fault_set(f, MSG_LEGACY_DELETE_TYPE, value_type_name(t));
	if (add && !is_set(t) && t != VALUE_N && t != VALUE_L)
		return fault_set(f, MSG_LEGACY_ADD_TYPE, value_type_name(t));
	c->section = delete ? SECTION_DELETE : add ? SECTION_ADD : SECTION_SET;
	return ERR_OK;
}

enum err legacy_updates(struct slice updates, struct arena *a, struct update **out, struct fault *f)
{
	struct mp m = mp_open(updates);
	uint32_t n = slice_present(updates) ? mp_map(&m) : 0;
	struct path_at *path = arena_alloc(a, n * sizeof(*path));
	struct path_step *step = arena_alloc(a, n * sizeof(*step));
	struct change *change = arena_alloc(a, n * sizeof(*change));

	if (n > 0 && (path == NULL || step == NULL || change == NULL))
		return fault_set(f, MSG_NO_MEMORY);
	for (uint32_t i = 0; i < n; i++) {
		enum err rc;

		step[i] = (struct path_step){ .name = mp_str(&m) };
		path[i] = (struct path_at){ { &step[i], 1 }, i };
		rc = check_name(step[i].name, f);
		if (rc == ERR_OK)
			rc = read_update(mp_skip(&m), &change[i], f);
		if (rc != ERR_OK)
			return rc;
	}
	*out = update_new(path, change, n, true, a);
	return *out != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

enum err legacy_attributes(struct slice names, struct arena *a, struct projection **out, struct fault *f)
{
	struct mp m = mp_open(names);
	uint32_t n = mp_array(&m), twice = UINT32_MAX;
	struct path_at *path = arena_alloc(a, n * sizeof(*path));
	struct path_step *step = arena_alloc(a, n * sizeof(*step));
	struct projection *p = arena_alloc(a, sizeof(*p));

	if (p == NULL || (n > 0 && (path == NULL || step == NULL)))
		return fault_set(f, MSG_NO_MEMORY);
	for (uint32_t i = 0; i < n; i++) {
		enum err rc;

		step[i] = (struct path_step){ .name = mp_str(&m) };
		path[i] = (struct path_at){ { &step[i], 1 }, i };
		rc = check_name(step[i].name, f);
		if (rc != ERR_OK)
			return rc;
	}
	paths_sort(path, n);
	for (uint32_t i = 1; i < n; i++)
		if (path_same(&path[i - 1].path, &path[i].path) && path[i].at < twice)
			twice = path[i].at;
	if (twice != UINT32_MAX)
		return fault_set(f, MSG_LEGACY_DUPLICATE, SLICE_FMT(step[twice].name));
	*p = (struct projection){ path, n };
	*out = p;
	return ERR_OK;
}
