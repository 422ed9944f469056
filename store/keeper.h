/* keeper - the thread that lets things age: expired items (ttl.h), old records of streams (streams.h), partitions that have
 * to be counted or cut (partition.h), and throughput that no longer fits (minutely.h).
 *
 * It looks every few seconds, and every second for partitions that are too hot or too few; only reads by itself, and has the
 * writer do what is to be done, in small pages between the requests' own writes.
 *
 * Threads: its own. */
#ifndef DYNAX_STORE_KEEPER_H
#define DYNAX_STORE_KEEPER_H

#include "store/background.h"

struct keeper {
	struct store *store;
	pthread_t thread;
	unsigned interval_ms;
	struct rounds rounds;
	/* The thread's own. */
	struct own_write write;
	struct arena arena;          /* of one page */
	struct catalog_reader reader;
	uint64_t trimmed;            /* position up to which all streams have been trimmed in this life */
};

/* interval_ms: 0 = 5000 */
enum err keeper_start(struct store *s, unsigned interval_ms, struct keeper **k, struct fault *f)
	__attribute__((warn_unused_result));
/* Stops between two pages; the writer must still be running. */
void keeper_stop(struct keeper **k);
/* The same without waiting for it; keeper_stop must follow. */
void keeper_wind_down(struct keeper *k);
bool keeper_stopping(struct keeper *k);
/* Begin the next round now, and wait until it has ended. Not from the keeper or the writer. */
void keeper_settle(struct keeper *k);

/* One round of each; on an error the rest waits for the next round. */
void ttl_fill(struct keeper *k);     /* ttl_sweep.c: enter items that were there before time to live was enabled */
void ttl_sweep(struct keeper *k);    /* ttl_sweep.c: delete what has expired */
void streams_trim(struct keeper *k); /* streams_trim.c */
void tables_clear(struct keeper *k); /* delete_table.c: of tables that have gone */
/* And those of other headers: partitions_tend and partitions_watch (partition.h), minutely_tend (minutely.h). */

#endif
