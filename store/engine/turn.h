/* turn - whose sync the disk does: the log's, which clients wait for, or the checkpointer's.
 *
 *    writer        | take  sync a batch  give |                    | take ...
 *    checkpointer                             | take  commit  give |
 *
 * Two syncs at once each wait for the pages of both, and the checkpointer has many more. In turn, the log waits for one of its
 * transactions, which is kept as short as that (C6 in checkpoint.c).
 *
 * D1. One of the two has the disk at a time.
 * D2. The checkpointer gives way to a log that waits: the log never waits for two commits.
 *
 * Threads: turn_take_log the writer, turn_take_checkpoint the checkpointer. No lock is held outside of the calls. */
#ifndef DYNAX_STORE_ENGINE_TURN_H
#define DYNAX_STORE_ENGINE_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct turn {
	pthread_mutex_t lock;
	pthread_cond_t given;
	bool taken, log_waits;
	uint64_t log_ns;             /* when the log last took its turn */
};

void turn_init(struct turn *t);
void turn_destroy(struct turn *t);

/* now_ns: the time, monotonic. */
void turn_take_log(struct turn *t, uint64_t now_ns);
/* When the log last had its turn. */
uint64_t turn_take_checkpoint(struct turn *t);
void turn_give(struct turn *t);

#endif
