/* expr_legacy - the parameters from before expressions, bound to the same structures.
 *
 * Arguments are the encoded members of the request (checked records of their shapes). Each has its own errors,
 * all ERR_VALIDATION. Source: "Legacy conditional parameters" in the developer guide.
 * Threads and ownership: as expr.h; results live in the arena and borrow from the request. */
#ifndef DYNAX_PROTOCOL_EXPR_LEGACY_H
#define DYNAX_PROTOCOL_EXPR_LEGACY_H

#include "protocol/expr.h"

/* Expected, with the word of ConditionalOperator: "AND", "OR" or absent, which is AND. *out is NULL if there is nothing to
 * ask. */
enum err legacy_expected(struct slice expected, struct slice op, struct arena *a, struct condition **out,
	struct fault *f) __attribute__((warn_unused_result));
/* QueryFilter or ScanFilter; as above. */
enum err legacy_filter(struct slice filter, struct slice op, struct arena *a, struct condition **out, struct fault *f)
	__attribute__((warn_unused_result));
/* AttributeUpdates. Absent or empty: an update that changes nothing, but creates an item where there is none. */
enum err legacy_updates(struct slice updates, struct arena *a, struct update **out, struct fault *f)
	__attribute__((warn_unused_result));
/* KeyConditions. ks may be NULL, as for key_condition_fit. */
enum err legacy_key_conditions(struct slice conditions, const struct key_schema *ks, struct arena *a,
	struct key_condition *out, struct fault *f) __attribute__((warn_unused_result));
/* AttributesToGet. */
enum err legacy_attributes(struct slice names, struct arena *a, struct projection **out, struct fault *f)
	__attribute__((warn_unused_result));

#endif
