/* table_state - CREATING, UPDATING and DELETING, for as long as the store was told that they last (opts.table_delay_ms).
 *
 *    CreateTable --> CREATING --\             a state has a beginning and an end, which the table's description keeps;
 *    UpdateTable --> UPDATING ---> ACTIVE     what it is now, the clock tells: nothing has to happen at its end
 *    DeleteTable --> DELETING ---> gone       but that the keeper clears away what has gone (delete_table.c)
 *
 * S1. What has to be done is done at the beginning, but for a deletion: states only hold up those who ask.
 * S2. A table serves items while it is ACTIVE or UPDATING; else ResourceNotFoundException, though the service "might" go on
 *     serving a table that it deletes. An index that UpdateTable adds is CREATING as long as its table is UPDATING.
 * S3. States end with the process: after a restart a table is ACTIVE, or gone if it was DELETING.
 *
 * Without a delay there are no states, and a table that is not in one costs no look at the clock.
 * Threads: pure functions. */
#ifndef DYNAX_STORE_TABLE_STATE_H
#define DYNAX_STORE_TABLE_STATE_H

#include "store/store_int.h"

/* A state that begins now; of all indexes, or of one (0 = none). */
struct table_state table_state_begin(const struct store *s, enum table_status status, uint32_t index);
enum table_status table_state_now(const struct store *s, const struct catalog_table *t);
/* As DescribeTable writes it. */
const char *table_status_name(enum table_status status);
/* Is the index that UpdateTable has added still CREATING? */
bool table_state_creates_index(const struct store *s, const struct catalog_table *t, uint32_t index);

static inline bool table_gone(const struct store *s, const struct catalog_table *t)
{
	return t->facts.state.status == TABLE_DELETING && table_state_now(s, t) == TABLE_GONE;
}

static inline bool table_serves(const struct store *s, const struct catalog_table *t)
{
	if (t->facts.state.status == TABLE_ACTIVE)
		return true;
	enum table_status now = table_state_now(s, t);

	return now == TABLE_ACTIVE || now == TABLE_UPDATING;
}

/* By name; NULL if there is none, or it has gone. */
const struct catalog_table *table_state_find(const struct store *s, const struct catalog *c, struct slice name);
/* S3: while the store is opened, before there are other threads. */
void table_states_end(struct catalog *c);
/* ResourceInUseException unless the table is ACTIVE. */
enum err table_state_check(const struct store *s, const struct catalog_table *t, struct fault *f)
	__attribute__((warn_unused_result));

#endif
