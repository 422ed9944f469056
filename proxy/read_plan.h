/* read_plan - what GetItem, a table of BatchGetItem and a Get of TransactGetItems have in common: which attributes are
 * wanted, and the complaints about how that was said.
 *
 * Threads: on the worker. Ownership: a plan holds a reference to its parsed expression until read_plan_release; the rest
 * lives in the request's arena. */
#ifndef DYNAX_PROXY_READ_PLAN_H
#define DYNAX_PROXY_READ_PLAN_H

#include "protocol/capacity.h"
#include "protocol/expr.h"
#include "protocol/request.h"
#include "store/table.h"

struct worker;

struct read_plan {
	struct expr *expr;
	struct projection *projection;     /* NULL = the whole item */
};

/* Identifiers of the members in their record; attributes: READ_NO_MEMBER where the old parameter does not exist. */
#define READ_NO_MEMBER UINT32_MAX
struct read_members {
	uint32_t attributes, names, expression;
};

/* In the service's order: old and new parameters mixed, names without an expression, the request's values, syntax,
 * placeholders. in: the request's record, or one within it. On failure there is nothing to release. */
enum err read_plan_bind(struct read_plan *p, struct worker *w, const struct request *req, const struct record *in,
	const struct read_members *ids, struct fault *f) __attribute__((warn_unused_result));
void read_plan_release(struct read_plan *p);
/* Append what is wanted of an item. */
void read_plan_put(const struct read_plan *p, struct slice item, struct buf *out);

/* The table of this name, or ResourceNotFoundException. */
enum err read_table(struct worker *w, struct slice name, const struct table **t, struct fault *f)
	__attribute__((warn_unused_result));

/* What a hit of the item cache (its units are item_cache.h's) saves: halves. */
static inline uint64_t read_saved(unsigned units, enum read_consistency c)
{
	return (uint64_t)units * (c == READ_STRONG ? CAPACITY_HALVES : 1);
}

/* Read units of one item, or of none: halves. */
static inline uint64_t read_cost(struct slice item, enum read_consistency c)
{
	return capacity_read_halves(slice_present(item) ? item_size(item) : 0, c);
}

#endif
