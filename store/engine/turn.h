/* turn - whose sync the disk does: the log's, which clients wait for, or that of background work: the checkpointer's, and that
 * of the log's next file while it is made.
 *
 *    writer        | take  sync a batch  give |                    | take ...
 *    checkpointer                             | take  commit  give |
 *
 * Two syncs at once each wait for the pages of both, and the background has many more. In turn, the log waits for one of its
 * syncs, which is kept as short as that (C6 in checkpoint.c).
 *
 * D1. One has the disk at a time.
 * D2. The background gives way to a log that waits: the log never waits for two of its syncs.
 *
 * Times are monotonic, in nanoseconds.
 * Threads: the writer for the log, the checkpointer and the log's keeper for the background. No lock is held outside of the calls. */
#ifndef DYNAX_STORE_ENGINE_TURN_H
#define DYNAX_STORE_ENGINE_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct turn {
	pthread_mutex_t lock;
	pthread_cond_t given;
	bool taken, log_waits;
	uint64_t last_ns, sync_ns;   /* when the log had its last turn; how long it has had them of late */
};

void turn_init(struct turn *t);
void turn_destroy(struct turn *t);

void turn_take_log(struct turn *t);
/* start, now: of the log's sync. */
void turn_give_log(struct turn *t, uint64_t start, uint64_t now);
/* When the log had its last turn; 0 = never. */
uint64_t turn_log_last(struct turn *t);
/* Returns how long the log's turns take of late. */
uint64_t turn_take_background(struct turn *t);
void turn_give_background(struct turn *t);

#endif
