/* backfill - fills an index that was added to a table which has items already.
 *
 *    catalog: index "being built" --> every write keeps it in step from then on
 *    thread:  scans the table in pages --> a write that puts the entries still missing --> ... --> a write that
 *             declares the index readable
 *
 * F1. The writer reads each item anew: what has changed since the page was scanned is entered as it is now, or not.
 * F2. An entry that is there already is left alone, so a backfill may begin again, after a restart, from the start.
 *
 * Threads: one of its own, which only scans and submits; the writer does the writing. */
#ifndef DYNAX_STORE_BACKFILL_H
#define DYNAX_STORE_BACKFILL_H

#include "store/store_int.h"

struct backfill;

/* Starts the thread, which looks at once for indexes that a former run left unfinished. */
enum err backfill_start(struct store *s, struct backfill **b, struct fault *f) __attribute__((warn_unused_result));
/* Stops between two pages; the writer must still be running, and may go on to call backfill_wake. */
void backfill_stop(struct backfill *b);
void backfill_free(struct backfill **b);
/* A table has a new index. From the writer. */
void backfill_wake(struct backfill *b);

#endif
