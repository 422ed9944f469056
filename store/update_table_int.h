/* update_table_int - an UpdateTable while it is carried out: what its files share.
 *
 *    update_table.c      all of it; streams and settings
 *    update_indexes.c    global indexes come, go and change; attribute definitions follow them
 *    update_throughput.c billing mode and throughput, of the table and its indexes
 *
 * Each part replaces members of a copy of the CreateTableInput that the catalog keeps.
 * Not here: what the request alone can tell (update_check.h). Threads: the writer. */
#ifndef DYNAX_STORE_UPDATE_TABLE_INT_H
#define DYNAX_STORE_UPDATE_TABLE_INT_H

#include "store/control.h"

/* The table being changed. */
struct table_update {
	const struct record *in;          /* UpdateTableInput */
	const struct catalog_table *old;
	struct record spec;               /* the CreateTableInput as it will be */
	struct catalog_draft draft;
	struct write_txn *txn;
	struct arena *arena;
	bool on_demand;                   /* afterwards */
	uint32_t dropped;                 /* id of an index that goes; 0 = none */
	uint32_t created;                 /* id of an index that comes; 0 = none */
};

/* ---- update_throughput.c ---- */

enum err table_update_billing(struct table_update *c, struct fault *f) __attribute__((warn_unused_result));
/* OnDemandThroughput and WarmThroughput of the table or an index: by its place (spec.h), and its name for the fault. */
enum err table_update_maximum(struct table_update *c, int place, struct slice index, struct slice asked, struct fault *f)
	__attribute__((warn_unused_result));
enum err table_update_warm(struct table_update *c, int place, struct slice index, struct slice asked, struct fault *f)
	__attribute__((warn_unused_result));
/* ProvisionedThroughput of an index. */
enum err table_update_index_units(struct table_update *c, int place, struct slice asked, struct fault *f)
	__attribute__((warn_unused_result));
/* Last: what follows for the throughput of table and indexes from all that was changed. */
enum err table_update_settle(struct table_update *c, struct fault *f) __attribute__((warn_unused_result));

/* ---- update_indexes.c ---- */

enum err table_update_indexes(struct table_update *c, struct fault *f) __attribute__((warn_unused_result));
/* The place of a global index in the list as it was; SPEC_NOWHERE if there is none of that name. */
int table_update_index_place(const struct catalog_table *t, struct slice name);
/* What was defined, and what the request adds; only what a key of `used` needs, if it is given. Absent if memory is out. */
struct slice table_update_definitions(struct table_update *c, const struct record *used);

#endif
