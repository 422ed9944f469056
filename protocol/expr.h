/* expr - DynamoDB's expressions: parse once, bind to a request's names and values, evaluate on encoded items.
 *
 *    text --expr_parse--> expr (immutable, counted, cached by text) --bind with env--> condition | projection |
 *    update | key condition (live in the request's arena) --eval--> bytes in, bytes out
 *
 * Parsing and binding make every complaint that needs no item; they come in the service's order. The legacy
 * parameters (Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter, AttributesToGet) bind to the
 * same structures (expr_legacy.h).
 *
 * X1. No recursion without a bound: an expression has at most 4096 bytes and 300 operators.
 * X2. An expr is shared between threads; what is bound belongs to one request: it borrows from the request's bytes and
 *     lives in its arena, and does not need the expr any more.
 *
 * Source: "Expressions in DynamoDB" in the developer guide, and its list of reserved words. */
#ifndef DYNAX_PROTOCOL_EXPR_H
#define DYNAX_PROTOCOL_EXPR_H

#include "protocol/buf.h"
#include "protocol/err.h"
#include "protocol/value.h"

enum expr_kind { EXPR_CONDITION, EXPR_FILTER, EXPR_KEY_CONDITION, EXPR_PROJECTION, EXPR_UPDATE };

struct expr;

/* Parse; *out has one reference. Syntax errors, reserved words, sizes and operator counts: ERR_VALIDATION. */
enum err expr_parse(enum expr_kind kind, struct slice text, struct expr **out, struct fault *f)
	__attribute__((warn_unused_result));
struct expr *expr_ref(struct expr *e);
void expr_unref(struct expr **e);

/* Recently parsed expressions, by kind and text, up to so many and some 4 KB for each. One thread at a time. */
struct expr_cache;
struct expr_cache *expr_cache_new(size_t entries);
void expr_cache_free(struct expr_cache **c);
/* As expr_parse; *out has a reference of its own. Failures are not kept. c may be NULL. */
enum err expr_cache_parse(struct expr_cache *c, enum expr_kind kind, struct slice text, struct expr **out,
	struct fault *f) __attribute__((warn_unused_result));

/* A request's ExpressionAttributeNames and ExpressionAttributeValues, and which of them were used. Visible so that it
 * can live on the stack; the fields are expr_env.c's own. */
struct env_entry;
struct expr_env {
	struct arena *arena;
	struct env_entry *name, *value;      /* sorted by placeholder */
	uint32_t names, values;
};
/* Checks the placeholders' own form ("ExpressionAttributeValues contains invalid key: ..."). any_expression: whether
 * the request has an expression at all ("... can only be specified when using expressions"). */
enum err expr_env_init(struct expr_env *env, struct slice names, struct slice values, bool any_expression,
	struct arena *a, struct fault *f) __attribute__((warn_unused_result));
/* After all expressions are bound: complain of what nobody used. */
enum err expr_env_unused(const struct expr_env *env, struct fault *f) __attribute__((warn_unused_result));

/* A document path with its names resolved. */
struct path_step { struct slice name; uint32_t index; bool is_index; };
struct path { struct path_step *step; uint32_t n; };
/* The value at a path in an item; absent if it is not there. */
struct slice path_get(const struct path *p, struct slice item);

/* ---- conditions and filters ---- */
struct condition;
enum err condition_bind(const struct expr *e, struct expr_env *env, struct condition **out, struct fault *f)
	__attribute__((warn_unused_result));
/* item absent (p == NULL) = there is no item: every attribute is missing. Pure; cannot fail. */
bool condition_eval(const struct condition *c, struct slice item);
/* Does it mention this top-level attribute? (Query filters may not touch key attributes.) */
bool condition_uses(const struct condition *c, struct slice name);
/* Does it reach into this top-level attribute ("name.x", "name[0]")? Key attributes have no inside. */
bool condition_nests(const struct condition *c, struct slice name);

/* The top-level attributes of its paths, one after the other, in the order of the text; absent behind the last. *at begins as
 * zero. */
struct condition_at { uint32_t step; uint16_t operand; };
struct slice condition_next_name(const struct condition *c, struct condition_at *at);

/* ---- projections ---- */
struct projection;
enum err projection_bind(const struct expr *e, struct expr_env *env, struct projection **out, struct fault *f)
	__attribute__((warn_unused_result));
/* Append the projected item, a canonical map, perhaps empty. */
void projection_apply(const struct projection *p, struct slice item, struct buf *out);
/* A projection of whole top-level attributes (index projections, key maps). */
struct projection *projection_of_names(const struct slice *name, uint32_t n, struct arena *a);
/* Does it reach into this top-level attribute? */
bool projection_nests(const struct projection *p, struct slice top_level_name);
/* The top-level attribute of path i; absent beyond the last. */
struct slice projection_name(const struct projection *p, uint32_t i);

/* ---- updates ---- */
struct update;
enum err update_bind(const struct expr *e, struct expr_env *env, struct update **out, struct fault *f)
	__attribute__((warn_unused_result));
/* Does it assign to or remove this top-level attribute? (Keys may not be updated.) */
bool update_touches(const struct update *u, struct slice name);
/* Does it, on either side of an assignment, reach into this top-level attribute? */
bool update_nests(const struct update *u, struct slice name);
/* The value that the request itself gives for this top-level attribute (SET a = :v, ADD a :v, DELETE a :v); else absent. */
struct slice update_given(const struct update *u, struct slice name);
/* Would it create an item where there is none? (An update of REMOVE and DELETE alone does not.) */
bool update_creates(const struct update *u);
/* Append the new item. old absent = none: it starts as `key`. Right-hand sides see the old item. ERR_VALIDATION for a
 * path or operand that does not fit the item. */
enum err update_apply(const struct update *u, struct slice old, struct slice key, struct arena *a, struct buf *out,
	struct fault *f) __attribute__((warn_unused_result));
/* What ReturnValues UPDATED_OLD and UPDATED_NEW show of an image: the touched paths. False if nothing is there. */
bool update_returned(const struct update *u, struct slice image, struct buf *out);

/* ---- key conditions ---- */
enum key_op { KEY_OP_NONE, KEY_OP_EQ, KEY_OP_LT, KEY_OP_LE, KEY_OP_GT, KEY_OP_GE, KEY_OP_BETWEEN, KEY_OP_BEGINS_WITH };
enum { KEY_ATTRS_MAX = 4 };
struct key_attr { struct slice name; enum value_type type; };
struct key_schema {
	struct key_attr hash[KEY_ATTRS_MAX], range[KEY_ATTRS_MAX];
	unsigned hashes, ranges;    /* 1 and 0..1 for tables; up to four each for a global secondary index */
};
/* Is it the name of a key attribute? */
static inline bool key_schema_has(const struct key_schema *ks, struct slice name)
{
	for (unsigned i = 0; i < ks->hashes; i++)
		if (slice_eq(ks->hash[i].name, name))
			return true;
	for (unsigned i = 0; i < ks->ranges; i++)
		if (slice_eq(ks->range[i].name, name))
			return true;
	return false;
}

struct key_condition {
	struct slice hash[KEY_ATTRS_MAX];       /* values of the partition key's attributes, all of them */
	struct slice range_eq[KEY_ATTRS_MAX];   /* leading range attributes that are given by = */
	unsigned range_eqs;
	enum key_op op;                         /* on range attribute number range_eqs; KEY_OP_NONE = no more */
	struct slice lo, hi;                    /* operands; hi for BETWEEN only */
};
/* What a request asks for, bound by other means than the expressions of its record (partiql.h). The record's texts then
 * only tell it from others: caches and tokens go by its bytes. */
struct bound {
	struct condition *condition;            /* or filter; NULL = none */
	struct update *update;                  /* of an update */
	struct projection *projection;          /* of a query or scan; NULL = all attributes */
	struct key_condition key;               /* of a query */
	bool insert;                            /* a put that fails on its condition is a duplicate */
};

/* What a key condition, bound as a condition, asks of a key. All its errors are ERR_VALIDATION: "Query condition missed key
 * schema element: pk" and so on. ks may be NULL before the table is known: then only what needs no schema is checked, and *out
 * is left alone. */
enum err key_condition_fit(const struct expr *e, const struct condition *bound, const struct key_schema *ks,
	struct key_condition *out, struct fault *f) __attribute__((warn_unused_result));

#endif
