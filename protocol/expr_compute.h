/* expr_compute - the values that an update makes: copies, sums, lists put together, sets joined and reduced.
 *
 * All are computed from one item; results borrow from it, from the request or from the arena.
 * Threads: pure but for the arena. */
#ifndef DYNAX_PROTOCOL_EXPR_COMPUTE_H
#define DYNAX_PROTOCOL_EXPR_COMPUTE_H

#include "protocol/expr_int.h"

struct compute {
	struct slice item;      /* the old item, or the key where there is none */
	struct arena *arena;
	struct fault *f;
	bool legacy;            /* AttributeUpdates: ADD takes lists too, and a mismatch has other words */
};

/* The right side of an assignment. */
enum err compute_value(const struct compute *c, const struct operand *o, struct slice *out)
	__attribute__((warn_unused_result));
/* ADD and DELETE of x; old may be absent, and so may the result of a DELETE. */
enum err compute_add(const struct compute *c, struct slice old, struct slice x, struct slice *out)
	__attribute__((warn_unused_result));
enum err compute_delete(const struct compute *c, struct slice old, struct slice x, struct slice *out)
	__attribute__((warn_unused_result));

#endif
