/* turn - whose sync the disk does: the log's, which clients wait for, or that of background work: the checkpointer's, and that
 * of the log's next file while it is made.
 *
 *    writer        | take  sync a batch  give |                    | take ...
 *    checkpointer                             | take  commit  give |
 *
 * Two syncs at once each wait for the pages of both, and the background has many more. In turn, the log waits for one of its
 * syncs, which is kept short (room.h).
 *
 * D1. One has the disk at a time.
 * D2. The background gives way to a log that waits: the log never waits for two of its syncs.
 * D3. A log that is held waits until it is let go, and the background goes on. It has the next turn then, even if it is a while
 *     before its thread runs.
 *
 * Threads: the writer for the log, the checkpointer and the log's keeper for the background. No lock is held outside of the calls. */
#ifndef DYNAX_STORE_ENGINE_TURN_H
#define DYNAX_STORE_ENGINE_TURN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct turn {
	pthread_mutex_t lock;
	pthread_cond_t given;
	bool taken, log_waits, log_held;
	_Atomic uint64_t held_ns;    /* how long the log was held, in all */
};

void turn_init(struct turn *t);
void turn_destroy(struct turn *t);

/* Hold the log, or let it go. It may be waiting or not. */
void turn_hold_log(struct turn *t, bool held);
void turn_take_log(struct turn *t);
void turn_take_background(struct turn *t);
void turn_give(struct turn *t);

#endif
