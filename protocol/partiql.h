/* partiql - statements of PartiQL, as far as DynamoDB takes them: parsed once, bound to the structures of expr.h.
 *
 *    text, parameters --statement_parse--> struct statement          all that needs no table is checked
 *         with the table's keys  --statement_key--> one item's Key, condition    (INSERT, UPDATE, DELETE, EXISTS)
 *                                --statement_reads--> reads, in order            (SELECT)
 *
 * A statement becomes ordinary requests (the proxy's statement.c): what it asks for stands in their records, and its
 * conditions and updates go along bound (struct bound), so that they mean the same as those of an expression.
 *
 * P1. No recursion without a bound: PARTIQL_DEPTH_MAX levels of parentheses, literals and NOT, and EXPR_OPERATORS_MAX
 *     operators; a statement has at most 8192 characters (its shape says so).
 * P2. The reads of one statement are disjoint, and sorted by partition key and range; so their results, one after
 *     the other, are in order and without doubles, and each may take the whole WHERE for its filter.
 *
 * Ownership: everything lives in the arena and borrows from statement and parameters. Threads: pure.
 * Sources: "PartiQL - a SQL-compatible query language for Amazon DynamoDB" in the developer guide; the PartiQL grammar. */
#ifndef DYNAX_PROTOCOL_PARTIQL_H
#define DYNAX_PROTOCOL_PARTIQL_H

#include "protocol/expr.h"

enum { PARTIQL_DEPTH_MAX = 128, PARTIQL_READS_MAX = 50 };

enum statement_kind { STATEMENT_SELECT, STATEMENT_INSERT, STATEMENT_UPDATE, STATEMENT_DELETE, STATEMENT_EXISTS };
enum statement_returning { STATEMENT_NONE, STATEMENT_ALL_OLD, STATEMENT_MODIFIED_OLD, STATEMENT_ALL_NEW, STATEMENT_MODIFIED_NEW };

/* A column of a SELECT: the value at a path, under the name that the last name of the path and what follows it give. */
struct column { struct slice name; struct path path; };
struct ordering { struct slice name; bool descending; };

struct pq_node;
struct statement {
	enum statement_kind kind;
	struct slice text;               /* the statement itself */
	struct slice parameters;         /* a list of values, or absent */
	struct slice table, index;       /* index: absent = the table itself */
	const struct column *column;     /* SELECT: sorted by name; 0 = all attributes */
	unsigned columns;
	const struct ordering *order;    /* ORDER BY */
	unsigned orders;
	struct slice item;               /* INSERT */
	struct update *update;           /* UPDATE */
	enum statement_returning returning;
	const struct pq_node *where_node;
	struct condition *where;         /* all of it; NULL = there is none */
	struct arena *arena;
};

/* parameters: an encoded list of attribute values, or absent. Syntax, literals, functions, operand types: ERR_VALIDATION. */
enum err statement_parse(struct slice text, struct slice parameters, struct arena *a, struct statement **out, struct fault *f)
	__attribute__((warn_unused_result));

/* The Key (a canonical map) that a WHERE pins by = on all key attributes. *more: there are further conditions.
 * PICK_WRITE complains of what is missing, or two values of one key; PICK_EXISTS takes the first of several values;
 * PICK_READ, for statements that read one item, also takes IN with one value, and key conditions only: *key is absent
 * if the WHERE is anything else. */
enum statement_pick { PICK_WRITE, PICK_EXISTS, PICK_READ };
enum err statement_key(const struct statement *s, const struct key_schema *ks, enum statement_pick pick, struct slice *key,
	bool *more, struct fault *f) __attribute__((warn_unused_result));
/* Are the values of a picked key of the schema's types? */
bool statement_key_fits(const struct key_schema *ks, struct slice key);

/* WHERE as the condition of a write: of an UPDATE, the item must be there; of a DELETE, it may be missing. */
enum err statement_condition(const struct statement *s, struct slice hash_name, bool more, struct condition **out,
	struct fault *f) __attribute__((warn_unused_result));

/* How to read a SELECT: everything (scan), or partitions and ranges of them. */
struct statement_read {
	struct key_condition key;
	struct slice point;              /* the Key, if it is one item of the table at most; or absent */
};
struct statement_reads {
	const struct statement_read *read;
	unsigned n;
	bool scan, descending;
	bool keyed;                      /* the WHERE names its partitions outside of any OR */
};
/* ks: of what is read; table: whether that is a table (not an index). */
enum err statement_reads(const struct statement *s, const struct key_schema *ks, bool table, struct statement_reads *out,
	struct fault *f) __attribute__((warn_unused_result));

/* Append the row that a SELECT makes of an item. */
void statement_row(const struct statement *s, struct slice item, struct buf *out);
/* The whole attributes that its columns and conditions need; NULL if all are, or memory is out (told by f). */
enum err statement_projection(const struct statement *s, struct projection **out, struct fault *f)
	__attribute__((warn_unused_result));

/* NextToken: where a SELECT goes on. `key` absent: at the beginning of read number `read`. */
struct statement_place { uint32_t read; struct slice key; };
struct slice statement_token_make(const struct statement *s, const struct statement_place *p, struct arena *a);
enum err statement_token_read(const struct statement *s, struct slice token, struct statement_place *out, struct fault *f)
	__attribute__((warn_unused_result));

#endif
