/* checkpoint - the thread that moves frozen memtables into LMDB.
 *
 *    frozen tables --sweep, in key order--> [txn][txn][txn + checkpoint LSN] --sync--> the oldest table leaves
 *    new ones join                           a slice each                              log is trimmed
 *
 * C1. All frozen tables are moved together, round and round through the keys (sweep.h): what is in several is written once, and
 *     what is near together goes at once.
 * C2. The LSN advances with the transaction by which the oldest table has been moved. A crash before it replays the log over what
 *     has been written of that and of newer ones, which gives the same; and views do not mind (E3).
 * C3. The log is on disk as far as a table goes before anything of it is moved.
 * C4. Failing is no end: it is tried again, the writer is told why as soon as it would have to wait. If map or disk are full,
 *     deletions go first and transactions are small, so that what they free is used.
 *
 * C5. Tables join when a quarter of the overlay is frozen and not moved, when nothing has been written for a while, when room is
 *     wanted, or when something was frozen before it was large: a short burst has the disk to itself, and a round is worth its
 *     while.
 * C6. How much a transaction moves, and when it is time for it, is said by room.h: the log's next sync waits for it (turn.h).
 *
 * Dropped prefixes are recorded with the table that has them, then deleted slice by slice while nothing else is to be moved, or
 * whenever a table has left.
 *
 * Threads: one of its own; it shares the engine through engine.lock. */
#include "store/engine/engine_int.h"

#include "protocol/messages.h"
#include "protocol/thread.h"
#include "store/engine/failpoint.h"
#include "store/engine/file.h"
#include "store/engine/index_meta.h"
#include "store/engine/keyspace.h"
#include "store/engine/sweep.h"

#include <stdlib.h>
#include <time.h>

enum {
	SLICE_BYTES = 4 << 20,         /* of keys and values, in one transaction, at most */
	SLICE_BYTES_TIGHT = 256 << 10, /* when the map is full: pages that a transaction frees are of use to later ones only, */
	CHANGE_BYTES_TIGHT = 4096,     /* and each change may need a new one first */
	DROP_KEYS = 512,               /* deleted in one transaction */
	RETRY_MS = 200,
	POLL_MS = 500
};
static const uint64_t IDLE_NS = 3ull * 1000000000u;

struct mover {
	struct engine *e;
	struct sweep sweep;
	bool unsynced;         /* a table has joined that the log may not be on disk for */
	bool deletions_due;    /* map or disk are full, and not all deletions have been moved */
	size_t slice;          /* bytes of the overlay that the last transaction was to move */
	uint64_t since_ns;     /* a table left last, or the first one joined */
};

/* ---- transactions ---- */

static bool map_or_disk_full(const struct mover *m)
{
	return atomic_load(&m->e->c.full) != ERR_OK;
}

static enum err move_change(struct lmdb_txn *t, struct slice key, const struct memversion *v, struct fault *f)
{
	if (v->deleted)
		return keyspace_del(t, key, f);
	int error = failpoint(FAILPOINT_CHECKPOINT_PUT);

	return error != 0 ? file_error(error, "index", f) : keyspace_put(t, key, slice_of(v->bytes, v->n), f);
}

/* Until `most` bytes of the overlay have been passed, or as much has been moved as a transaction should hold. */
static enum err move_slice(struct mover *m, struct lmdb_txn *t, size_t most, bool deletions_only, struct fault *f)
{
	bool full = map_or_disk_full(m);
	size_t until = sweep_moved(&m->sweep) + most, bytes = 0;
	size_t bytes_most = full ? SLICE_BYTES_TIGHT : SLICE_BYTES, change_bytes = full ? CHANGE_BYTES_TIGHT : 0;
	const struct memversion *v;
	struct slice key;
	enum err rc = ERR_OK;

	while (rc == ERR_OK && sweep_moved(&m->sweep) < until && bytes < bytes_most && (v = sweep_next(&m->sweep, &key)) != NULL) {
		if (deletions_only && !v->deleted)
			continue;
		rc = move_change(t, key, v, f);
		bytes += key.n + v->n + change_bytes;
	}
	return rc;
}

/* The oldest tables of the sweep, as many as have been moved, will leave: the LSN that LMDB then has. */
static uint64_t reached(const struct sweep *s)
{
	return s->in[s->n - sweep_done(s)].table->last_lsn;
}

/* C2 */
static enum err record_end(const struct sweep *s, struct lmdb_txn *t, struct fault *f)
{
	unsigned done = sweep_done(s);
	uint32_t number = 0;

	if (done == 0)
		return ERR_OK;
	enum err rc = index_meta_set_checkpoint(t, reached(s), f);

	for (unsigned i = s->n - done; i < s->n; i++)
		for (const struct memdrop *d = s->in[i].table->drops; d != NULL && rc == ERR_OK; d = d->older)
			rc = index_meta_add_drop(t, d->lsn, number++, d->prefix, f);
	return rc;
}

static void wait_locked(struct engine *e, unsigned ms)
{
	struct timespec until = monotonic_in_ms(ms);

	pthread_cond_timedwait(&e->c.wake, &e->lock, &until);
}

/* Commit, or undo, when it is our turn. */
static enum err end_in_turn(struct engine *e, struct lmdb_txn **t, enum err rc, struct fault *f)
{
	turn_take_background(&e->turn);
	rc = lmdb_write_end(t, rc, f);
	turn_give(&e->turn);
	return rc;
}

static enum err one_transaction(struct mover *m, size_t most, bool deletions_only, struct fault *f)
{
	struct lmdb_txn *t;
	enum err rc = lmdb_write_begin(m->e->index, &t, f);

	if (rc != ERR_OK)
		return rc;
	rc = move_slice(m, t, most, deletions_only, f);
	if (rc == ERR_OK && !deletions_only)
		rc = record_end(&m->sweep, t, f);
	int error = rc == ERR_OK ? failpoint(FAILPOINT_CHECKPOINT_COMMIT) : 0;

	if (error != 0)
		rc = file_error(error, "index", f);
	rc = end_in_turn(m->e, &t, rc, f);
	(void)failpoint(FAILPOINT_CHECKPOINT_COMMITTED);
	return rc;
}

/* ---- slices ---- */

/* C6: bytes of the overlay that the next transaction is to move. Waits until it is time for it. */
static size_t next_slice(const struct mover *m)
{
	struct engine *e = m->e;
	size_t n = SLICE_BYTES, moved = sweep_moved(&m->sweep);

	pthread_mutex_lock(&e->lock);
	room_made_locked(e, moved, sweep_left(&m->sweep));
	e->room.slice_waits = true;
	while (!map_or_disk_full(m) && !room_slice_locked(e, moved, &n) && !e->c.stop && !atomic_load(&e->c.tight))
		wait_locked(e, ROOM_REST_MS);
	e->room.slice_waits = false;
	pthread_mutex_unlock(&e->lock);
	return n;
}

/* C4: of all tables, before anything else. They are moved once more when their turn comes, which does no harm. */
static enum err move_deletions(struct mover *m, struct fault *f)
{
	struct mover all = *m;
	enum err rc = ERR_OK;

	sweep_rewind(&all.sweep);
	while (rc == ERR_OK && sweep_done(&all.sweep) < all.sweep.n)
		rc = one_transaction(&all, SLICE_BYTES, true, f);
	m->deletions_due = rc != ERR_OK;
	return rc;
}

static enum err move_one_slice(struct mover *m, struct fault *f)
{
	struct sweep before = m->sweep;

	m->slice = next_slice(m);
	enum err rc = one_transaction(m, m->slice, false, f);

	if (rc != ERR_OK)
		m->sweep = before;
	else if (sweep_done(&m->sweep) > 0)
		rc = lmdb_sync(m->e->index, f);
	return rc;
}

static enum err sync_log(struct mover *m, struct fault *f)
{
	enum err rc = m->unsynced ? wal_sync(m->e->wal, f) : ERR_OK;

	m->unsynced = rc != ERR_OK;
	return rc;
}

/* ---- tables come and go ---- */

static void join_locked(struct mover *m)
{
	const struct state *s = m->e->state;
	unsigned n = s->n - 1 - m->sweep.n;

	if (n == 0)
		return;
	if (m->sweep.n == 0)
		m->since_ns = monotonic_ns();
	sweep_join(&m->sweep, s->table + 1, n);
	m->unsynced = true;
	m->deletions_due = map_or_disk_full(m);
}

static void note_usage(struct engine *e)
{
	struct lmdb_usage u;

	lmdb_check_readers(e->index);
	if (lmdb_usage(e->index, &u, NULL) != ERR_OK)
		return;
	atomic_store(&e->c.map_used, u.used + u.pinned);
	atomic_store(&e->c.map_free, u.free);
	pthread_mutex_lock(&e->lock);
	e->c.usage = u;
	pthread_mutex_unlock(&e->lock);
}

static void set_error_locked(struct mover *m, enum err rc)
{
	struct checkpointer *c = &m->e->c;

	c->error = rc;
	atomic_store(&c->full, rc == ERR_MAP_FULL || rc == ERR_DISK_FULL ? (int)rc : ERR_OK);
	m->deletions_due = map_or_disk_full(m);
	room_made_locked(m->e, sweep_moved(&m->sweep), sweep_left(&m->sweep));
}

static void failed(struct mover *m, enum err rc)
{
	note_usage(m->e);
	pthread_mutex_lock(&m->e->lock);
	set_error_locked(m, rc);
	pthread_mutex_unlock(&m->e->lock);
}

/* What has been moved leaves. */
static enum err leave(struct mover *m)
{
	struct engine *e = m->e;
	unsigned n = sweep_done(&m->sweep);
	uint64_t lsn = reached(&m->sweep), now = monotonic_ns();

	note_usage(e);
	pthread_mutex_lock(&e->lock);
	if (!state_shrink_locked(e, n)) {
		pthread_mutex_unlock(&e->lock);
		return ERR_NO_MEMORY;
	}
	for (unsigned i = m->sweep.n - n; i < m->sweep.n; i++)
		e->c.drops = e->c.drops || m->sweep.in[i].table->drops != NULL;
	sweep_leave(&m->sweep, n);
	if (e->state->n == 1)
		atomic_store(&e->c.tight, false);
	set_error_locked(m, ERR_OK);
	pthread_mutex_unlock(&e->lock);
	wal_checkpointed(e->wal, lsn);
	atomic_fetch_add_explicit(&e->c.count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&e->c.ns, now - m->since_ns, memory_order_relaxed);
	m->since_ns = now;
	atomic_store(&e->c.lsn, lsn);   /* last: who sees it finds the room made */
	return ERR_OK;
}

/* One slice of what has joined. */
static enum err move(struct mover *m)
{
	enum err rc = sync_log(m, NULL);

	(void)failpoint(FAILPOINT_CHECKPOINT_BEGIN);
	if (rc == ERR_OK && m->deletions_due)
		rc = move_deletions(m, NULL);
	if (rc == ERR_OK)
		rc = move_one_slice(m, NULL);
	if (rc == ERR_OK && sweep_done(&m->sweep) > 0) {
		(void)failpoint(FAILPOINT_CHECKPOINT_END);
		rc = leave(m);
	}
	if (rc != ERR_OK)
		failed(m, rc);
	return rc;
}

/* ---- dropped prefixes ---- */

/* Copies of up to DROP_KEYS keys with the prefix: [length 2][bytes]... */
static enum err list_keys(struct lmdb_txn *t, struct slice prefix, struct buf *keys, struct fault *f)
{
	struct keyspace_cursor *c;
	enum err rc = keyspace_cursor_open(t, &c, f);

	if (rc != ERR_OK)
		return rc;
	rc = keyspace_seek(c, prefix, f);
	for (unsigned i = 0; rc == ERR_OK && i < DROP_KEYS; i++) {
		struct slice key = keyspace_key(c);
		uint16_t n = (uint16_t)key.n;

		if (!slice_present(key) || !slice_starts_with(key, prefix))
			break;
		buf_put(keys, &n, sizeof n);
		buf_put_slice(keys, key);
		rc = keyspace_next(c, f);
	}
	keyspace_cursor_close(&c);
	return rc == ERR_OK && keys->failed ? fault_set(f, MSG_NO_MEMORY) : rc;
}

static enum err delete_keys(struct lmdb_txn *t, struct slice keys, struct fault *f)
{
	enum err rc = ERR_OK;

	while (rc == ERR_OK && keys.n > 0) {
		uint16_t n;

		memcpy(&n, keys.p, sizeof n);
		rc = keyspace_del(t, slice_of(keys.p + sizeof n, n), f);
		keys = slice_of(keys.p + sizeof n + n, keys.n - sizeof n - n);
	}
	return rc;
}

static enum err drop_in(struct lmdb_txn *t, struct buf *name, struct buf *prefix, bool *more, struct fault *f)
{
	struct buf keys;
	enum err rc = index_meta_first_drop(t, name, prefix, f);

	*more = name->n != 0;
	if (rc != ERR_OK || !*more)
		return rc;
	buf_init(&keys);
	rc = list_keys(t, buf_slice(prefix), &keys, f);
	if (rc == ERR_OK && keys.n == 0)
		rc = lmdb_del(t, LMDB_META, buf_slice(name), f);
	else if (rc == ERR_OK)
		rc = delete_keys(t, buf_slice(&keys), f);
	buf_release(&keys);
	return rc;
}

/* One transaction of the first drop that is not done. *more: call again. */
static enum err drop_slice(struct engine *e, bool *more)
{
	struct buf name, prefix;
	struct lmdb_txn *t;
	enum err rc = lmdb_write_begin(e->index, &t, NULL);

	*more = false;
	if (rc != ERR_OK)
		return rc;
	buf_init(&name);
	buf_init(&prefix);
	rc = drop_in(t, &name, &prefix, more, NULL);
	rc = end_in_turn(e, &t, rc, NULL);
	buf_release(&name);
	buf_release(&prefix);
	(void)failpoint(FAILPOINT_DROP_SLICE);
	return rc;
}

/* ---- the thread ---- */

/* Nothing is being written: freeze, so that the log can be trimmed and a restart is quick. */
static void freeze_if_idle_locked(struct engine *e)
{
	bool due = e->c.stop || atomic_load(&e->c.tight) || monotonic_ns() - e->published_ns > IDLE_NS;

	if (!e->batch_open && due && e->state->n < STATE_TABLES_MAX / 2 && !memtable_empty(e->state->table[0]))
		(void)state_freeze_locked(e);
}

/* C5 */
static bool due_locked(const struct mover *m)
{
	struct engine *e = m->e;

	return e->state->n > 1 && (atomic_load(&e->frozen_bytes) >= room_part(e, ROOM_BEGIN) + sweep_moved(&m->sweep) || e->c.stop ||
		e->c.error != ERR_OK || room_wanted_locked(e) || atomic_load(&e->c.tight) || monotonic_ns() - e->published_ns > IDLE_NS);
}

/* Do one slice of what there is to do, the lock held in between; false if it is time to end. */
static bool work_locked(struct mover *m)
{
	struct engine *e = m->e;
	bool more = false;
	enum err rc = ERR_OK;

	if (m->sweep.n == 0)
		freeze_if_idle_locked(e);
	if (due_locked(m))
		join_locked(m);
	unsigned had = m->sweep.n;
	bool drops = e->c.drops && !e->c.stop;

	pthread_mutex_unlock(&e->lock);
	if (had > 0)
		rc = move(m);
	drops = drops && rc == ERR_OK && (m->sweep.n < had || had == 0);
	if (drops)
		rc = drop_slice(e, &more);
	if ((drops && !more) || (had == 0 && atomic_load(&e->c.tight)))
		note_usage(e);   /* what was dropped is room; and so is what an old view has let go */
	bool frees = state_free_some(e, m->slice);

	pthread_mutex_lock(&e->lock);
	if (drops && rc == ERR_OK)
		e->c.drops = more;
	bool idle = had == 0 && !drops && !frees;

	if (e->c.stop)
		return !idle && rc == ERR_OK;
	if (rc != ERR_OK)
		wait_locked(e, RETRY_MS);
	else if (idle && !due_locked(m))
		wait_locked(e, POLL_MS);
	return true;
}

static void *run(void *arg)
{
	struct engine *e = arg;
	struct mover m = { .e = e, .slice = SLICE_BYTES };

	pthread_mutex_lock(&e->lock);
	while (work_locked(&m))
		continue;
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

enum err checkpointer_start(struct engine *e, struct fault *f)
{
	note_usage(e);
	e->c.drops = true;   /* those of an earlier life */
	e->c.runs = thread_start(&e->c.thread, run, e, "checkpointer") == 0;
	return e->c.runs ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

void checkpointer_stop(struct engine *e)
{
	if (!e->c.runs)
		return;
	pthread_mutex_lock(&e->lock);
	e->c.stop = true;
	pthread_cond_signal(&e->c.wake);
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->c.thread, NULL);
	e->c.runs = false;
}

void checkpointer_hurry(struct engine *e)
{
	if (!atomic_exchange(&e->c.tight, true))
		pthread_cond_signal(&e->c.wake);
}
