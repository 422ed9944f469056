/* expr_int - what the files of the expression language share: the parsed form, and the bound form.
 *
 *    text --lex--> tokens --parse--> nodes, steps, actions   (struct expr: one allocation, immutable)
 *         --bind--> operands, paths, a condition's steps, an update's changes   (in the request's arena)
 *
 * A bound condition is a straight line of steps over one truth value, with forward jumps, so that
 * evaluation needs no stack:      a = :x AND (b = :y OR NOT c = :z)
 *
 *    0 test a = :x     1 if false go to 6     2 test b = :y     3 if true go to 6     4 test c = :z     5 not     6
 *
 * Whoever builds conditions or updates by other means (expr_legacy.h) uses the builders below.
 *
 * E1. Children of a node, steps of a path and actions refer to each other by index; the text holds their names.
 * E2. Nodes nest as deep as there are operators and functions, at most EXPR_OPERATORS_MAX.
 * E3. Bound paths are sorted by path_order, in which a prefix comes first, names are ordered as in a canonical
 *     map and indexes by number: projections and updates walk items and paths side by side.
 * Threads and ownership: expr.h. */
#ifndef DYNAX_PROTOCOL_EXPR_INT_H
#define DYNAX_PROTOCOL_EXPR_INT_H

#include <stdatomic.h>

#include "protocol/expr.h"

enum { EXPR_BYTES_MAX = 4096, EXPR_OPERATORS_MAX = 300, EXPR_IN_MAX = 100, PATH_STEPS_MAX = 32 };

/* X(symbol, word in texts, number of operands; 0 = any) */
#define EXPR_OPS(X) \
	X(EQ, "=", 2) X(NE, "<>", 2) X(LT, "<", 2) X(LE, "<=", 2) X(GT, ">", 2) X(GE, ">=", 2) \
	X(BETWEEN, "BETWEEN", 3) X(IN, "IN", 0) \
	X(AND, "AND", 2) X(OR, "OR", 2) X(NOT, "NOT", 1) \
	X(EXISTS, "attribute_exists", 1) X(NOT_EXISTS, "attribute_not_exists", 1) X(TYPE, "attribute_type", 2) \
	X(BEGINS_WITH, "begins_with", 2) X(CONTAINS, "contains", 2) X(SIZE, "size", 1) \
	X(IF_NOT_EXISTS, "if_not_exists", 2) X(LIST_APPEND, "list_append", 2) \
	X(PLUS, "+", 2) X(MINUS, "-", 2)

enum op_code {
#define X(sym, word, n) EXPR_##sym,
	EXPR_OPS(X)
#undef X
	EXPR_UNKNOWN /* a function of no such name */
};

const char *expr_op_word(enum op_code op);
unsigned expr_op_operands(enum op_code op);
/* "UpdateExpression" */
const char *expr_kind_name(enum expr_kind kind);
/* Is it one of the 573 words that are no attribute names, in any case of letters? */
bool expr_reserved(struct slice name);

/* ---- tokens ---- */

enum token_kind {
	TOKEN_END, TOKEN_NAME, TOKEN_NAME_REF, TOKEN_VALUE_REF, TOKEN_NUMBER,
	TOKEN_EQ, TOKEN_NE, TOKEN_LT, TOKEN_LE, TOKEN_GT, TOKEN_GE,
	TOKEN_OPEN, TOKEN_CLOSE, TOKEN_INDEX_OPEN, TOKEN_INDEX_CLOSE, TOKEN_COMMA, TOKEN_DOT, TOKEN_PLUS, TOKEN_MINUS,
	TOKEN_BAD
};

struct token { uint8_t kind; uint16_t at, n; };

/* The token that begins at or after `at`. */
struct token expr_lex(struct slice text, size_t at);

/* ---- parsed ---- */

enum { NODE_NONE = UINT16_MAX };
enum node_kind { NODE_VALUE, NODE_PATH, NODE_OP };

struct node {
	uint8_t kind;
	uint8_t op;             /* NODE_OP */
	uint16_t n;             /* operands of an operation, steps of a path */
	uint16_t first, next;   /* first operand or step; next operand of the same operation */
	uint16_t at, len;       /* where its word stands in the text */
};

enum step_kind { STEP_NAME, STEP_REF, STEP_INDEX };

struct step {
	uint32_t index;
	uint16_t at, len;
	uint8_t kind;
};

enum section { SECTION_SET, SECTION_REMOVE, SECTION_ADD, SECTION_DELETE, SECTION_NONE };

/* One assignment and the like of an update; one path of a projection. */
struct action {
	uint8_t section;
	uint16_t path, value;   /* nodes; value may be NODE_NONE */
};

struct expr {
	atomic_uint refs;
	enum expr_kind kind;
	uint32_t bytes;         /* of the allocation */
	uint16_t root;          /* of a condition */
	uint16_t nodes, steps, actions;
	struct slice text;
	const struct node *node;
	const struct step *step;
	const struct action *action;
};

static inline struct slice expr_text(const struct expr *e, uint16_t at, uint16_t n)
{
	return slice_of(e->text.p + at, n);
}

/* ---- environment ---- */

struct env_entry { struct slice name, value; bool used; };

/* The value of a placeholder, and mark it used; absent if there is none. */
struct slice env_name(struct expr_env *env, struct slice ref);
struct slice env_value(struct expr_env *env, struct slice ref);

/* ---- paths ---- */

int path_order(const struct path *a, const struct path *b);
static inline bool path_same(const struct path *a, const struct path *b)
{
	return path_order(a, b) == 0;
}
/* "[a, [1], b]"; NULL if out of memory. */
const char *path_text(const struct path *p, struct arena *a);
/* Resolve the path of a node. */
enum err path_bind(const struct expr *e, const struct node *n, struct expr_env *env, struct path *out, struct fault *f)
	__attribute__((warn_unused_result));
/* `sorted` are paths in path_order with the places they were written at. Overlaps and conflicts are ERR_VALIDATION. */
struct path_at { struct path path; uint32_t at; };
void paths_sort(struct path_at *p, uint32_t n);
enum err paths_check(const struct path_at *sorted, uint32_t n, enum expr_kind kind, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));
/* End of the run of paths that agree with p[from] in the step `depth`. */
uint32_t paths_run(const struct path_at *p, uint32_t from, uint32_t to, uint32_t depth);

/* ---- operands ---- */

enum operand_kind {
	OPERAND_VALUE, OPERAND_PATH, OPERAND_SIZE,
	OPERAND_IF_NOT_EXISTS, OPERAND_LIST_APPEND, OPERAND_PLUS, OPERAND_MINUS
};

struct operand {
	enum operand_kind kind;
	struct slice value;             /* VALUE, and SIZE of a value */
	struct path path;               /* PATH, SIZE, IF_NOT_EXISTS */
	const struct operand *arg;      /* IF_NOT_EXISTS: what else; LIST_APPEND, PLUS, MINUS: two */
};

/* Complaints about operands are reported in this order, whatever their order in the text. */
enum late { LATE_COUNT, LATE_SAME, LATE_TYPE, LATE_KINDS };

struct binder {
	const struct expr *e;
	struct expr_env *env;
	struct fault *f;
	const char *late[LATE_KINDS];   /* the first of each kind */
};

/* Note a complaint; the first of its kind stays. */
void bind_complain(struct binder *b, enum late kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Report what was noted, if anything. */
enum err bind_report(struct binder *b) __attribute__((warn_unused_result));
/* A node and all below it. Only placeholders that are not defined, and lack of memory, fail at once. */
enum err bind_operand(struct binder *b, const struct node *n, struct operand *out) __attribute__((warn_unused_result));
/* The operands of an operation, in the arena. */
enum err bind_operands(struct binder *b, const struct node *n, struct operand **out)
	__attribute__((warn_unused_result));
/* For whoever makes operands by other means (partiql_bind.c), with a binder whose e is NULL: then complaints are reported
 * without saying which expression they are about. The operands' number is right. */
void bind_finish(struct binder *b, enum op_code op, struct operand *arg, struct operand *out);
void bind_check_distinct(struct binder *b, enum op_code op, const struct operand *arg, uint16_t n);
void bind_check_types(struct binder *b, enum op_code op, const struct operand *arg, uint16_t n);
/* Type of what it gives if that can be told without an item; VALUE_BAD if not. */
enum value_type operand_type(const struct operand *o);

/* ---- conditions ---- */

enum cond_kind { COND_TEST, COND_IF_FALSE, COND_IF_TRUE, COND_NOT };

struct cond_step {
	uint8_t kind;
	uint8_t op;                     /* COND_TEST: enum op_code */
	uint16_t operands;
	uint32_t target;                /* jumps: the step to go on with */
	const struct operand *operand;
};

struct condition {
	const struct cond_step *step;
	uint32_t n;
};

/* Collects steps; failure to allocate is sticky, and told by cond_finish. */
struct cond_builder {
	struct arena *arena;
	struct cond_step *step;
	uint32_t n, cap;
	bool failed;
};

void cond_init(struct cond_builder *c, struct arena *a);
/* operand: borrowed, must live as long as the condition. */
void cond_test(struct cond_builder *c, enum op_code op, const struct operand *operand, uint16_t operands);
/* A jump whose target is where cond_land is called for it. */
uint32_t cond_jump(struct cond_builder *c, enum cond_kind kind);
void cond_land(struct cond_builder *c, uint32_t jump);
void cond_not(struct cond_builder *c);
struct condition *cond_finish(struct cond_builder *c);

/* ---- updates ---- */

struct change {
	enum section section;
	struct operand operand;         /* SET: what; ADD and DELETE: a value */
};

struct update {
	struct path_at *path;           /* sorted; `at` is the place in change */
	const struct change *change;    /* in the order written */
	uint32_t n;
	bool legacy;                    /* AttributeUpdates: ADD takes lists, other words for a mismatch */
};

/* From changes and their paths in written order (the paths are sorted in place). */
struct update *update_new(struct path_at *path, const struct change *change, uint32_t n, bool legacy, struct arena *a);

/* ---- projections ---- */

struct projection {
	struct path_at *path;           /* sorted; `at` is the place in the text */
	uint32_t n;
};

/* Append what the paths select of a map; false, with nothing appended, if they select nothing. */
bool paths_project(const struct path_at *p, uint32_t n, struct slice item, struct buf *out);

/* ---- keys ---- */

/* One condition on a key attribute, as both forms give it. op is KEY_OP_NONE for what no key may be asked. */
struct key_term {
	struct slice name;
	enum key_op op;
	struct slice lo, hi;            /* operands; hi of BETWEEN only */
};

enum { KEY_TERMS_MAX = 2 * KEY_ATTRS_MAX };

/* Fit terms to a schema. */
enum err key_terms_fit(const struct key_term *t, unsigned n, const struct key_schema *ks, struct key_condition *out,
	struct fault *f) __attribute__((warn_unused_result));

#endif
