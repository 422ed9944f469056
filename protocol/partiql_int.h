/* partiql_int - what the files of PartiQL share: tokens, the parsed form, and the state of a parse.
 *
 *    text --partiql_lex--> tokens --_parse, _formula, _path--> nodes --_value, _bind--> bound
 *
 * Positions ("at 1:8:4": line, column, length, in characters) are made from byte offsets when a complaint needs them. */
#ifndef DYNAX_PROTOCOL_PARTIQL_INT_H
#define DYNAX_PROTOCOL_PARTIQL_INT_H

#include "protocol/expr_int.h"
#include "protocol/messages.h"
#include "protocol/partiql.h"

/* ---- tokens ---- */

enum pq_token_kind {
	PQ_TOKEN_END, PQ_TOKEN_NAME, PQ_TOKEN_QUOTED, PQ_TOKEN_STRING, PQ_TOKEN_NUMBER, PQ_TOKEN_PARAMETER,
	PQ_TOKEN_KEYWORD, PQ_TOKEN_OPERATOR, PQ_TOKEN_PUNCTUATION, PQ_TOKEN_BAD
};
struct pq_token { uint8_t kind; uint32_t at, n; };

/* The token at or behind `at`. */
struct pq_token pq_lex(struct slice text, size_t at);

/* ---- nodes ---- */

enum pq_kind {
	PQ_STRING, PQ_NUMBER, PQ_TRUE, PQ_FALSE, PQ_NULL, PQ_MISSING, PQ_PARAMETER,    /* leaves */
	PQ_PATH,
	PQ_LIST, PQ_BAG, PQ_TUPLE,      /* operands: elements; of a tuple name, value, name, value ... */
	PQ_CALL,                        /* a function; text: its name in lower case */
	PQ_IS,                          /* operand IS type; text: the type in upper case */
	PQ_INFIX, PQ_PREFIX, PQ_BETWEEN, PQ_IN, PQ_AND, PQ_OR, PQ_NOT,
	PQ_OTHER                        /* what the grammar has and the service has not: text names it */
};

struct pq_node {
	enum pq_kind kind;
	uint32_t at, n;                 /* its token */
	struct slice text;              /* STRING, NUMBER, CALL, IS, INFIX, PREFIX, OTHER */
	struct slice value;             /* PARAMETER, encoded; absent: there are not so many */
	struct path path;
	struct pq_node *first, *next;   /* operands */
	unsigned operands;
};

struct pq_assignment {
	struct pq_node *target;         /* a path */
	struct pq_node *value;          /* NULL: REMOVE */
	struct pq_assignment *next;
};

/* ---- parsing ---- */

struct pq_parser {
	struct slice text;
	struct pq_token cur, prev;
	struct mp parameters;           /* those not yet used */
	uint32_t parameters_left;
	bool parameters_short;          /* more ? than parameters */
	bool in_columns;                /* of a SELECT */
	unsigned depth, operators;
	struct arena *arena;
	struct fault *f;
};

void pq_next(struct pq_parser *p);
struct pq_token pq_peek(const struct pq_parser *p);
struct slice pq_text(const struct pq_parser *p, struct pq_token t);
/* Is the token this keyword, operator or punctuation? */
bool pq_is_word(const struct pq_parser *p, struct pq_token t, const char *word);
bool pq_is(const struct pq_parser *p, const char *punctuation);
/* Take it if it is there. */
bool pq_take_word(struct pq_parser *p, const char *word);
bool pq_take(struct pq_parser *p, const char *punctuation);
/* "Statement wasn't well formed, can't be processed: ..." */
enum err pq_malformed(struct pq_parser *p, const char *detail);
/* NULL, and the fault is set, if memory is out. */
struct pq_node *pq_node_new(struct pq_parser *p, enum pq_kind kind, struct pq_token t);
void pq_node_append(struct pq_node *parent, struct pq_node *child);
/* The current token as a node of this kind, and on to the next. */
enum err pq_take_node(struct pq_parser *p, enum pq_kind kind, struct pq_node **out) __attribute__((warn_unused_result));
/* A name in the arena without its quotes; of a string too. */
struct slice pq_unquote(struct pq_parser *p, struct pq_token t);
/* Append ".name", "[1]" as long as they follow. */
enum err pq_path_rest(struct pq_parser *p, struct pq_node *path, bool simple) __attribute__((warn_unused_result));
/* A path whose first name is the current token. */
enum err pq_path_term(struct pq_parser *p, struct pq_node **out) __attribute__((warn_unused_result));
/* A path of names and indexes only, as SET and FROM take it. */
enum err pq_simple_path(struct pq_parser *p, struct pq_node **out) __attribute__((warn_unused_result));
enum err pq_expression(struct pq_parser *p, struct pq_node **out) __attribute__((warn_unused_result));

/* A statement while it is read. */
struct pq_draft {
	struct statement *s;
	struct pq_node *from, *where, *value, *columns;   /* columns: NULL = "*" */
	struct pq_assignment *changes, **last;
	struct pq_node *order;                            /* a list of them */
	bool descending[2 * KEY_ATTRS_MAX];
	unsigned returnings;                              /* elements of RETURNING */
	bool returns_names;                               /* one of them is not "*" */
	const char *refused;                              /* a clause that the service has not */
	struct pq_node *refused_at;
	bool alias, several, column_alias, distinct, value_select, many_values;
};

/* A whole statement, to its end. */
enum err pq_statement(struct pq_parser *p, struct pq_draft *d) __attribute__((warn_unused_result));

/* " at 1:8:4" for a node; "" if memory is out. */
const char *pq_position(struct slice text, uint32_t at, uint32_t n, struct arena *a);

/* ---- binding ---- */

struct pq_binder {
	struct slice text;
	struct arena *arena;
	struct fault *f;
	struct expr_env env;            /* for its arena */
};

bool pq_is_literal(const struct pq_node *n);
/* A literal or parameter as an encoded value. */
enum err pq_value(struct pq_binder *b, const struct pq_node *n, struct slice *out) __attribute__((warn_unused_result));
/* The item of an INSERT. */
enum err pq_item(struct pq_binder *b, const struct pq_node *n, struct slice *out) __attribute__((warn_unused_result));
enum err pq_condition(struct pq_binder *b, const struct pq_node *n, struct condition **out)
	__attribute__((warn_unused_result));
enum err pq_update(struct pq_binder *b, const struct pq_assignment *a, struct update **out)
	__attribute__((warn_unused_result));
/* Paths that may not stand together (paths_check); sorts them. */
enum err pq_check_paths(struct path_at *path, uint32_t n, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));

/* ---- keys (partiql_key.c) ---- */

/* "attribute = value" and the like, either way round. */
struct pq_term { struct slice name; enum key_op op; const struct pq_node *lo, *hi; };
bool pq_term_of(const struct pq_node *n, struct pq_term *t);
/* "a IN [..]" of values only: its first element, or NULL. */
const struct pq_node *pq_in_values(const struct pq_node *n);
/* The key attribute of this name, or NULL. */
const struct key_attr *pq_key_attr(const struct key_schema *ks, struct slice name, bool *hash);
/* A Key of the values that are present; absent if memory is out. */
struct slice pq_make_key(const struct key_schema *ks, struct slice hash, struct slice range, struct arena *a);

#endif
