/* room - how full the overlay may be, and how fast it is filled and emptied.
 *
 *    sixteenths of the overlay   0          4        6                      15  16
 *    what LMDB is behind by      |  burst   |  less  |  the log waits            |
 *    what the overlay holds      |  behind           |  moved, not left  |  batch|
 *
 * LMDB is behind by what the overlay holds, less what has been moved of it (sweep.h): by what would be left if tables could leave
 * key by key. It changes slice by slice and batch by batch, and not when a table leaves, so nothing that is steered by it comes
 * in fits and starts. A sweep in its stride has moved half of what it goes through, so the overlay holds twice as much as LMDB is
 * behind, and the table that is being filled.
 *
 * R1. A batch that is applied goes to the log when LMDB is at most ROOM_BEHIND_MOST behind; until then the log is held (turn.h).
 * R2. A slice, which is a transaction of the checkpointer, answers what was written since the one before: in full if LMDB is
 *     ROOM_BEHIND_MOST behind, and less by the fourth power of the way from ROOM_BEGIN to there, for a burst should hardly
 *     feel it. A little more than in full, so that LMDB catches up. A small one may go whenever no batch is under way.
 * R3. A slice is not larger than the last batch. Where one writes without end, batch and slice then take turns: each batch waits
 *     for one slice of its own size, and all batches wait for the same time.
 * R4. While nobody writes a slice is as large as can be. If hardly anything is behind, it is as small as is worth a transaction.
 * R5. Until the oldest table leaves, the sweep goes through that share of the overlay which the table has left of its round, and as
 *     much may be written: the log is held as well if there is no room for that. So the overlay is not full before room is made.
 * R6. A transaction that would fill the overlay waits, and is refused if waiting does not help.
 *
 * Threads: the writer for room_for, room_pace and room_batch_end_locked; the checkpointer for the rest. engine.lock is held for what
 * ends in _locked. */
#ifndef DYNAX_STORE_ENGINE_ROOM_H
#define DYNAX_STORE_ENGINE_ROOM_H

#include "protocol/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* Sixteenths of the overlay. */
enum room_part {
	ROOM_BEGIN = 4,          /* frozen and not moved: tables join the sweep */
	ROOM_BEHIND_MOST = 6,
	ROOM_MOST = 15,          /* in the overlay, moved or not */
	ROOM_BATCH = 1,          /* on top of that, for the batch that is open */
	ROOM_DELETIONS = 20      /* in the overlay, while map or disk are full: deletions make room */
};
enum { ROOM_REST_MS = 200 };     /* nothing has been written for so long: nobody writes */

/* Under engine.lock, but for what is atomic. */
struct room {
	pthread_cond_t made;         /* of the writer that waits for room */
	bool writer_waits, slice_waits;  /* slice_waits: the checkpointer, for a batch to be ready or to end */
	atomic_size_t allowed;       /* bytes that the overlay may hold for now; stored under the lock */
	size_t batch, unanswered;    /* bytes, and a sixteenth: what the last batch brought; what all since the last slice brought */
	_Atomic uint64_t stall_ns;   /* how long the writer has waited */
};

void room_init(struct engine *e);
void room_destroy(struct engine *e);
size_t room_part(const struct engine *e, enum room_part sixteenths);

/* R6: wait until there is room for a transaction of n bytes. puts: not only deletions, which a full map or disk must not
 * refuse. */
enum err room_for(struct engine *e, size_t n, bool puts, struct fault *f) __attribute__((warn_unused_result));
/* R1: the batch is ready for the log. */
void room_pace(struct engine *e);
/* The batch is done with. */
void room_batch_end_locked(struct engine *e);

/* The writer waits for room, or the log is held for want of it. */
bool room_wanted_locked(struct engine *e);
/* A slice has been moved, or tables have left. moved: bytes of tables that are still in the overlay. left: what the oldest of them
 * has left of its round, 0 to 1. */
void room_made_locked(struct engine *e, size_t moved, double left);
/* R2 to R4: bytes of the overlay that the next slice should move; false if it is not yet time for one. */
bool room_slice_locked(struct engine *e, size_t moved, size_t *n);

#endif
