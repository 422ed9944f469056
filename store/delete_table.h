/* delete_table - the end of a table: at once, or when its time of DELETING is over (table_state.h).
 *
 * Threads: the writer only. */
#ifndef DYNAX_STORE_DELETE_TABLE_H
#define DYNAX_STORE_DELETE_TABLE_H

#include "store/write_txn.h"

/* Forget a table and all that is stored of it, in a transaction of its own. */
enum err table_drop(struct write_batch *b, const struct catalog_table *t, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));

#endif
