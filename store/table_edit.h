/* table_edit - a change of a table's description, and what goes with it, in one transaction.
 *
 *    table_edit_begin --> change draft.facts and spec --> table_edit_end (commits and adopts, or undoes)
 *
 * Threads: the writer. The arena is the write's. */
#ifndef DYNAX_STORE_TABLE_EDIT_H
#define DYNAX_STORE_TABLE_EDIT_H

#include "store/control.h"

struct table_edit {
	struct write_txn txn;
	const struct catalog_table *old;
	struct catalog_draft draft;
	struct record spec;
	struct arena *arena;
};

/* table_edit_end must follow, with this rc or a later one. */
enum err table_edit_begin(struct table_edit *e, struct write_batch *b, struct store_write *w, const struct catalog_table *t)
	__attribute__((warn_unused_result));
enum err table_edit_end(struct table_edit *e, struct store_write *w, enum err rc) __attribute__((warn_unused_result));

#endif
