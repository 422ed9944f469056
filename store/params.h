/* params - rules between a request's parameters that need neither table nor item: old against new ones.
 *
 * Parameters are named by their identifier in the request's record; their names come from its shape.
 * Source: "Legacy conditional parameters" in the developer guide. Threads: pure functions. */
#ifndef DYNAX_STORE_PARAMS_H
#define DYNAX_STORE_PARAMS_H

#include "protocol/shape.h"

#define PARAMS_END UINT32_MAX

struct params {
	const uint32_t *expression;      /* expression parameters, ended by PARAMS_END */
	const uint32_t *with_values;     /* those of them that may use ExpressionAttributeValues */
	const uint32_t *legacy;          /* the parameters from before expressions */
	uint32_t names, values;          /* ExpressionAttributeNames, -Values; PARAMS_END = the request has none */
};

/* Old and new parameters together; names or values without an expression. ERR_VALIDATION. */
enum err params_check(const struct record *in, const struct params *p, struct fault *f) __attribute__((warn_unused_result));
/* Is one of these present? */
bool params_any(const struct record *in, const uint32_t *list);

#endif
