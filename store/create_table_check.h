/* create_table_check - what the service demands of a table's description.
 *
 * Only what the request alone can tell: that the name is free is the writer's to say. Threads: pure functions. */
#ifndef DYNAX_STORE_CREATE_TABLE_CHECK_H
#define DYNAX_STORE_CREATE_TABLE_CHECK_H

#include "store/catalog.h"

/* A CreateTableInput, after its constraints were checked: in the service's order and words. Texts are made in `a`. */
enum err create_table_check(const struct record *in, struct arena *a, struct fault *f) __attribute__((warn_unused_result));
/* One more check that UpdateTable shares: a GlobalSecondaryIndex (or the action that creates one, whose members have
 * the same places) against the attribute definitions. */
enum err global_index_check(const struct record *in, unsigned definitions, struct slice index, bool on_demand,
	struct arena *a, struct fault *f) __attribute__((warn_unused_result));

#endif
