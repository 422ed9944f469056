/* query_int - a Query or Scan once it is understood: what its files share.
 *
 *    request --query_plan.c--> struct query --query.c--> one page
 *                 \--query_keys.c: key condition, start key, bounds
 *
 * Ownership: a query lives in its request's arena, but for its references to the parsed expressions that its bound
 * parts rest on; store_query_end gives them back. */
#ifndef DYNAX_STORE_QUERY_INT_H
#define DYNAX_STORE_QUERY_INT_H

#include "protocol/capacity.h"
#include "store/store_int.h"

enum { QUERY_EXPRS = 3 };                    /* key condition, filter, projection */

struct query {
	const struct table *table;
	const struct table_index *index;     /* NULL: the table itself */
	const struct key_schema *key;        /* of what is read */
	bool scan, descending, count_only;
	bool fetch;                          /* a local index does not hold what is asked for: read the items too */
	enum read_consistency consistency;
	enum report report;
	uint32_t limit;                      /* items to evaluate; UINT32_MAX = no limit */
	uint32_t segment, segments;          /* of a scan; 0 of 1 = all */
	struct slice start;                  /* ExclusiveStartKey, checked; or absent */
	struct key_condition condition;      /* of a query */
	struct condition *filter;            /* or NULL */
	struct projection *projection;       /* or NULL: all attributes */
	struct projection *token;            /* the attributes of LastEvaluatedKey */
	struct expr *held[QUERY_EXPRS];
	unsigned helds;
};

/* ---- query_keys.c ---- */

/* Names of the attributes that tell an entry's place: those of the table's key and of the index's. */
enum { PLACE_ATTRS_MAX = 4 * KEY_ATTRS_MAX };
unsigned query_place(const struct query *q, struct slice name[PLACE_ATTRS_MAX]);

/* A start key is checked in three steps, between which the service makes other complaints. */
enum err query_start_count(const struct query *q, struct fault *f) __attribute__((warn_unused_result));
enum err query_start_attrs(const struct query *q, const struct key_attr *attr, unsigned n, bool hash, struct fault *f)
	__attribute__((warn_unused_result));
enum err query_start_place(const struct query *q, struct fault *f) __attribute__((warn_unused_result));

/* May these values be keys at all: not empty, not too long? */
enum err query_check_condition(const struct query *q, struct fault *f) __attribute__((warn_unused_result));

/* The range that is left to read, [lo, hi); false if it is empty. */
bool query_bounds(const struct query *q, struct buf *lo, struct buf *hi) __attribute__((warn_unused_result));

#endif
