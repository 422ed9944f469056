/* engine_int - what the engine's own files share: the engine, its states, views.
 *
 *    engine.lock guards:   state --lists--> tables[0] the active one, which the writer fills
 *                                           tables[1..] frozen, newest first, waiting for the checkpointer
 *                          published (the LSN that a new view gets)
 *
 * E1. A state is immutable. Freezing and the end of a checkpoint put another one in its place; views keep theirs.
 * E2. Frozen tables hold durable, published transactions only, since freezing happens between batches.
 * E3. LMDB holds nothing above the last LSN of the tables frozen before its current transaction began: never more than
 *     what is published. The tables of engine.state hold everything that LMDB's newest snapshot lacks.
 *     So a view that takes snapshot, state and LSN under the lock sees one consistent moment: where LMDB is ahead of
 *     its recorded LSN, in the midst of a round, the frozen tables of the state have the same or newer.
 *
 * Lock order: engine.lock comes last; no other lock of ours is taken under it. */
#ifndef DYNAX_STORE_ENGINE_ENGINE_INT_H
#define DYNAX_STORE_ENGINE_ENGINE_INT_H

#include "protocol/buf.h"
#include "store/engine/engine.h"
#include "store/engine/lmdb_env.h"
#include "store/engine/log_format.h"
#include "store/engine/memtable.h"
#include "store/engine/room.h"
#include "store/engine/sweep.h"
#include "store/engine/wal.h"

#include <pthread.h>
#include <stdatomic.h>

enum { OVERLAY_PARTS = 8 };   /* a table is frozen when it has its part of the overlay */
enum { STATE_TABLES_MAX = SWEEP_TABLES_MAX, ENGINE_KEY_MAX = 65535, ENGINE_VALUE_MAX = 16 << 20 };

struct state {
	unsigned refs;               /* engine.state, views; under engine.lock */
	unsigned n;
	struct memtable *table[STATE_TABLES_MAX];
};

struct view {
	struct engine *engine;
	struct state *state;
	struct lmdb_txn *txn;        /* reset while the view is in the pool */
	uint64_t lsn;
	struct view *next_free;      /* in the engine's pool */
};

/* What the writer thread alone uses. */
struct writer_state {
	struct memtable *active;     /* while a batch is open: the table it goes to */
	size_t active_at;            /* bytes it had before */
	struct buf batch;            /* the batch being built: log_format.h */
	size_t txn_at;               /* where the open transaction's record begins */
	uint32_t txn_ops, records;
	size_t txn_bytes;            /* keys and values of the open transaction */
	size_t put_at, put_n;        /* in the batch: the value that the open transaction put last */
	bool txn_puts;               /* it has more than deletions */
	bool txn_makes_room;         /* and yet less than they free */
	uint64_t next_lsn, batch_lsn;/* batch_lsn: the last of the batch, 0 if it is empty */
	bool flushed;                /* the batch is in the log, not yet published */
	struct memnode **undo;       /* nodes that the batch has given a version */
	size_t undo_n, undo_cap;
	uint64_t disk_left;          /* when the batch began, or the engine was opened */
	struct view *view;           /* of the state before the batch, for engine_read; or NULL */
	void (*on_publish)(void *arg, uint64_t lsn);
	void *on_publish_arg;
};

/* The checkpointer's thread and what it tells the writer; checkpoint.c. */
struct checkpointer {
	pthread_t thread;
	bool runs;
	pthread_cond_t wake;         /* of the checkpointer; with engine.lock */
	bool stop, drops;            /* drops: META may have some to do; both under engine.lock */
	enum err error;              /* why the last one failed, ERR_OK if it did not; under engine.lock */
	atomic_int full;             /* ERR_MAP_FULL, ERR_DISK_FULL if the last one failed for that: puts are refused; else ERR_OK */
	atomic_bool tight;           /* a put has been refused: let what is deleted reach LMDB soon */
	_Atomic uint64_t map_used;   /* bytes, what old views pin included, after the last checkpoint */
	_Atomic uint64_t map_free;   /* pages that can be used again, likewise */
	_Atomic uint64_t lsn;        /* reached, durably */
	_Atomic uint64_t count, ns;
	struct lmdb_usage usage;     /* under engine.lock */
};

struct engine {
	struct engine_opts opts;
	int lock_fd;                 /* of the data directory; -1 if ephemeral */
	uint64_t disk_kept;          /* bytes of the disk that puts leave to what makes room */
	struct wal *wal;
	struct lmdb_env *index;
	struct writer_state w;
	struct checkpointer c;
	struct room room;
	struct turn turn;            /* of the log's syncs and the checkpointer's commits */

	pthread_mutex_t lock;
	struct state *state;         /* under lock */
	struct view *view_pool;      /* under lock */
	struct memtable *dead;       /* tables that nobody lists any more; under lock */
	struct memtable *freeing;    /* one that was dead; the checkpointer's */
	bool batch_open;             /* the active table has transactions of an unpublished batch; under lock */
	uint64_t published_ns;       /* when; under lock */
	_Atomic uint64_t published;  /* stored under lock */
	atomic_size_t frozen_bytes;  /* of the tables that wait for the checkpointer; stored under lock */

	_Atomic uint64_t batches, transactions, flush_ns;
};

/* ---- state.c: states and their tables ---- */

struct state *state_new(struct memtable *const *tables, unsigned n);
void state_unref_locked(struct engine *e, struct state *s);
/* Put `s` in the place of the current state. */
void state_install_locked(struct engine *e, struct state *s);
/* Begin a new active table. Between batches only. False if out of memory or if there are too many: nothing changes. */
bool state_freeze_locked(struct engine *e);
/* Take out the tables that a checkpoint has moved: the `n` oldest. */
bool state_shrink_locked(struct engine *e, unsigned n);
/* Free some `bytes` of the tables that nobody lists any more; false if there are none. The checkpointer, or when it has ended. */
bool state_free_some(struct engine *e, size_t bytes);

/* ---- writer.c ---- */

/* Apply the ops of a record to the active memtable; on false (out of memory) nothing has changed. */
bool engine_apply(struct engine *e, struct slice ops, uint64_t lsn) __attribute__((warn_unused_result));
/* Make everything up to lsn visible, and freeze the active table if it is large or old enough. */
void engine_publish_lsn(struct engine *e, uint64_t lsn);

/* ---- view.c ---- */

/* The writer's view: everything committed, the open batch included. */
enum err view_of_writer(struct engine *e, struct view **v, struct fault *f) __attribute__((warn_unused_result));
void view_free_pool(struct engine *e);

/* ---- checkpoint.c ---- */

enum err checkpointer_start(struct engine *e, struct fault *f) __attribute__((warn_unused_result));
/* Move what is left, if it can be, and end the thread. */
void checkpointer_stop(struct engine *e);
/* Room is wanted: move what there is, and trim the log. */
void checkpointer_hurry(struct engine *e);

#endif
