/* test_expr_support - values in a short notation, to encoded bytes and back, and a request's surroundings.
 *
 *    { a: 1.5, b: "x", c: [true, null, 'bytes'], d: ss("x","y"), e: ns(1,2), f: bs('a') } */
#ifndef DYNAX_TESTS_EXPR_SUPPORT_H
#define DYNAX_TESTS_EXPR_SUPPORT_H

#include "protocol/expr.h"

/* One per test: an arena and a fault that lives in it. */
struct world {
	struct arena arena;
	struct fault f;
	struct expr_env env;
};

void world_open(struct world *w);
void world_close(struct world *w);

/* Encode; aborts the test on a mistake in the notation. NULL gives an absent slice. */
struct slice val(struct world *w, const char *text);
/* Names of a request: { #a: "name" }. */
struct slice names(struct world *w, const char *text);
/* Bytes to notation, with blanks after ":" and ",". */
const char *show(struct world *w, struct slice v);

/* Parse and bind; NULL if that went well, else the words of the fault. */
const char *bind_condition(struct world *w, enum expr_kind kind, const char *text, const char *names_text,
	const char *values, struct condition **out);
const char *bind_update(struct world *w, const char *text, const char *names_text, const char *values,
	struct update **out);
const char *bind_projection(struct world *w, const char *text, const char *names_text, struct projection **out);
/* Apply an update: the new item in the notation, or the words of the fault. */
const char *applied(struct world *w, const struct update *u, const char *old, const char *key);

#define cr_assert_text(got, want) \
	do { \
		const char *got_ = (got), *want_ = (want); \
		cr_assert(got_ != NULL && strcmp(got_, want_) == 0, "got:  %s\nwant: %s", \
		          got_ != NULL ? got_ : "(nothing)", want_); \
	} while (0)

#endif
