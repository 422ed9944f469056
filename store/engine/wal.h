/* wal - the log as a row of segments: appended to by the writer, followed by readers, trimmed behind both.
 *
 *    oldest ... | live ......... active | spare
 *    to be used   what recovery, log      made beforehand, so that the writer
 *    again        readers and retention   need not wait for a file
 *                 still need
 *
 * Four parts: wal.c (append, roll, sync), wal_keeper.c (a thread: spares, trimming, DURABILITY_ASYNC), wal_recover.c
 * (what is found at open), log_reader.c (following).
 *
 * W1. Segments are numbered without holes, oldest first; only the first ones are removed or used again.
 * W2. The keeper alone makes segments once the log is open, so numbers are given in order.
 * W3. A batch that failed leaves `tail` where it was: the next one overwrites it, or its header is cleared before the log goes on
 *     in another segment. Log readers never look beyond `end`, which moves when a batch is published.
 *
 * Threads: wal_append, wal_publish the writer; the rest any. wal.lock is never held during input or output. */
#ifndef DYNAX_STORE_ENGINE_WAL_H
#define DYNAX_STORE_ENGINE_WAL_H

#include "protocol/monotonic.h"
#include "store/engine/engine.h"
#include "store/engine/segment.h"
#include "store/engine/turn.h"

#include <pthread.h>

enum { WAL_RETAIN_SLOTS = 16 };

struct wal_opts {
	int dirfd;                      /* of log/; the wal closes it. -1 = ephemeral */
	enum durability durability;
	size_t segment_bytes;
	size_t recycle_bytes;           /* segments kept to be used again, at most */
	uint64_t keep_ms;
	unsigned consumers;             /* slots that retain everything until they say otherwise */
	uint8_t uuid[LOG_UUID];
	uint64_t checkpoint_lsn;        /* what LMDB has: replay begins after it */
	struct turn *turn;              /* of those who sync; the engine's */
};

struct wal {
	struct wal_opts o;
	pthread_mutex_t sync_lock;      /* held during wal_sync; before `lock` */

	pthread_mutex_t lock;
	pthread_cond_t wake, ready;     /* of the keeper; of the writer that waits for a spare */
	struct segment *oldest, *live, *active, *spare;
	uint64_t next_seq;
	uint64_t checkpoint_lsn;
	uint64_t retained[WAL_RETAIN_SLOTS];
	bool spare_wanted, stop, keeper_runs;
	bool rolled, spare_asked;       /* spare_asked: since the last roll. Both the writer's own */
	enum err spare_error;           /* why the last one could not be made */
	pthread_t keeper;

	_Atomic uint64_t appended_lsn, durable_lsn;
	atomic_int sync_errno;          /* of the keeper's last sync; 0 = fine */
};

/* Called for each record after the checkpoint, in order. */
struct wal_replay {
	enum err (*record)(void *arg, const struct log_record *r, struct fault *f);
	void *arg;
};

/* Find what is there, replay it, cut a torn tail. *next_lsn: the first LSN that was never given out. */
enum err wal_open(const struct wal_opts *o, const struct wal_replay *replay, struct wal **w, uint64_t *next_lsn,
	struct fault *f) __attribute__((warn_unused_result));
void wal_close(struct wal **w);

/* ---- writer ---- */

/* Finish the batch in `b` (its header) and log it, as durably as the log is. On an error the log is as before. */
enum err wal_append(struct wal *w, struct buf *b, uint32_t records, uint64_t last_lsn, struct fault *f)
	__attribute__((warn_unused_result));
/* Show log readers what was appended. */
void wal_publish(struct wal *w);

/* ---- any thread ---- */

/* All that was appended is on disk when this returns ERR_OK. */
enum err wal_sync(struct wal *w, struct fault *f) __attribute__((warn_unused_result));
/* The same where nobody waits for it: the writer's next batch fails if this did. */
void wal_sync_later(struct wal *w);
/* LMDB has everything up to lsn, durably. */
void wal_checkpointed(struct wal *w, uint64_t lsn);
void wal_retain(struct wal *w, unsigned slot, uint64_t lsn);
uint64_t wal_oldest(struct wal *w);
void wal_usage(struct wal *w, uint64_t *bytes, uint64_t *segments);

/* ---- between the parts ---- */

enum err wal_begin_segment(struct wal *w, struct segment *s, struct fault *f) __attribute__((warn_unused_result));
void wal_push_locked(struct wal *w, struct segment *s);
enum err wal_recover(struct wal *w, const struct wal_replay *replay, uint64_t *next_lsn, struct fault *f)
	__attribute__((warn_unused_result));
bool wal_keeper_start(struct wal *w);
void wal_keeper_stop(struct wal *w);
uint64_t unix_ms(void);

#endif
