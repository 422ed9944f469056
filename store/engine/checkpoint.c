/* checkpoint - the thread that moves frozen memtables into LMDB.
 *
 *    frozen tables --merged, newest version of each key--> [txn][txn][txn + checkpoint LSN] --sync--> tables leave
 *                            in key order                   a slice each                              log is trimmed
 *
 * C1. All tables that are frozen when a checkpoint begins are moved together: what is in several is written once.
 * C2. Only the last transaction advances the LSN. A crash before it replays the log over what the earlier ones
 *     wrote, which gives the same; and views do not mind (E3).
 * C3. The log is on disk as far as the tables go before the first transaction.
 * C4. Failing is no end: it is tried again, the writer is told why as soon as it would have to wait. If map or disk are full,
 *     deletions go first and transactions are small, so that what they free is used.
 *
 * C5. The last quarter of the overlay is handed out in step with the checkpoint, slice by slice: a writer that C6 does not hold
 *     back enough waits often and shortly, not once and long.
 * C6. While the log is written to, a transaction is as large as what can be committed in a turn, judged by those before it: the
 *     log's next sync waits for it (turn.h). A turn grows with the sixth power of how far LMDB is behind, which is what the
 *     overlay holds less what of it has been moved: a burst hardly feels it, and where writes go on the two soon come to the
 *     same speed, batch by slice, and stay there, for a table that leaves the overlay changes nothing about that.
 *     While nobody writes a transaction is as large as can be, which says nothing of those to come.
 * C7. It begins when three eighths of the overlay are frozen, when nothing has been written for a while, or when room is wanted,
 *     or something was frozen before it was large: a short burst has the disk to itself, and with what is written until it ends
 *     the overlay is not yet full.
 *
 * Dropped prefixes are recorded with the checkpoint that reaches them, then deleted slice by slice between checkpoints.
 *
 * Threads: one of its own; it shares the engine through engine.lock. */
#include "store/engine/engine_int.h"

#include "protocol/messages.h"
#include "protocol/thread.h"
#include "store/engine/failpoint.h"
#include "store/engine/file.h"
#include "store/engine/index_meta.h"
#include "store/engine/keyspace.h"

#include <stdlib.h>
#include <time.h>

enum {
	SLICE_BYTES = 4 << 20,         /* of keys and values, in one transaction, at most */
	SLICE_BYTES_LEAST = 64 << 10,
	SLICE_SMOOTH = 8,
	TURN_SYNCS = 8,
	SLICE_BYTES_TIGHT = 256 << 10, /* when the map is full: pages that a transaction frees are of use to later ones only, */
	CHANGE_BYTES_TIGHT = 4096,     /* and each change may need a new one first */
	DROP_KEYS = 512,               /* deleted in one transaction */
	RETRY_MS = 200,
	POLL_MS = 500
};
static const uint64_t MAP_KEPT = 64 << 20;
static const uint64_t IDLE_NS = 3ull * 1000000000u;
static const uint64_t TURN_NS = 16000000;  /* three quarters of the overlay behind; or TURN_SYNCS of the log, if they take longer */
static const uint64_t REST_NS = 200000000; /* the log has not been synced for so long: nobody waits for it */

struct checkpoint {
	struct engine *e;
	unsigned n;                            /* tables, newest first */
	struct memtable *table[STATE_TABLES_MAX];
	const struct memnode *at[STATE_TABLES_MAX];
	size_t bytes, keys, passed;            /* in all tables; keys by this pass */
	uint64_t lsn;                          /* reached when it is done */
	size_t change_bytes;                   /* what a change costs beside its key and value */
	bool tight, deletions_only;            /* tight: of map or disk is little left */
};

/* ---- the merge ---- */

static void rewind_tables(struct checkpoint *c)
{
	for (unsigned i = 0; i < c->n; i++)
		c->at[i] = memtable_first(c->table[i]);
	c->passed = 0;
}

/* The next key and its newest version; *key absent at the end. */
static const struct memversion *next_change(struct checkpoint *c, struct slice *key)
{
	for (;;) {
		const struct memversion *v = NULL;

		*key = SLICE_NONE;
		for (unsigned i = 0; i < c->n; i++)
			if (c->at[i] != NULL && (!slice_present(*key) || slice_cmp(memnode_key(c->at[i]), *key) < 0))
				*key = memnode_key(c->at[i]);
		if (!slice_present(*key))
			return NULL;
		for (unsigned i = 0; i < c->n; i++) {
			if (c->at[i] == NULL || !slice_eq(memnode_key(c->at[i]), *key))
				continue;
			if (v == NULL)
				v = memnode_at(c->at[i], UINT64_MAX);
			c->at[i] = memnode_next(c->at[i]);
			c->passed++;
		}
		if (v != NULL && (v->deleted || !c->deletions_only))
			return v;
	}
}

/* ---- transactions ---- */

static enum err move_change(struct lmdb_txn *t, struct slice key, const struct memversion *v, struct fault *f)
{
	int error = failpoint(FAILPOINT_CHECKPOINT_PUT);

	if (error != 0)
		return file_error(error, "index", f);
	return v->deleted ? keyspace_del(t, key, f) : keyspace_put(t, key, slice_of(v->bytes, v->n), f);
}

/* Up to `most` bytes of changes, or the first beyond; *end when there are no more. */
static enum err move_slice(struct checkpoint *c, struct lmdb_txn *t, size_t most, size_t *bytes, bool *end, struct fault *f)
{
	enum err rc = ERR_OK;

	*end = false;
	*bytes = 0;
	while (rc == ERR_OK && *bytes < most && !*end) {
		struct slice key;
		const struct memversion *v = next_change(c, &key);

		*end = v == NULL;
		if (v == NULL)
			continue;
		rc = move_change(t, key, v, f);
		*bytes += key.n + v->n + c->change_bytes;
	}
	return rc;
}

static enum err record_end(struct checkpoint *c, struct lmdb_txn *t, struct fault *f)
{
	enum err rc = index_meta_set_checkpoint(t, c->lsn, f);
	uint32_t number = 0;

	for (unsigned i = 0; i < c->n; i++)
		for (const struct memdrop *d = c->table[i]->drops; d != NULL && rc == ERR_OK; d = d->older)
			rc = index_meta_add_drop(t, d->lsn, number++, d->prefix, f);
	return rc;
}

/* How much of what the tables hold this pass has moved, 0 to 1. */
static double moved(const struct checkpoint *c)
{
	return (double)c->passed / (double)(c->keys + 1);
}

/* How far LMDB is behind: bytes in the overlay that have not been moved. */
static size_t behind(const struct checkpoint *c)
{
	struct engine *e = c->e;

	pthread_mutex_lock(&e->lock);
	size_t all = atomic_load(&e->frozen_bytes) + atomic_load(&e->state->table[0]->bytes);

	pthread_mutex_unlock(&e->lock);
	return all - (size_t)((double)c->bytes * moved(c));
}

/* C6: how long a turn may take. log_ns: what the log's take. */
static double turn_ns(const struct checkpoint *c, uint64_t log_ns)
{
	uint64_t most = log_ns * TURN_SYNCS > TURN_NS ? log_ns * TURN_SYNCS : TURN_NS;
	double x = (double)behind(c) / (0.75 * (double)c->e->opts.overlay_bytes), square = x * x;

	return square * square * square * (double)most;
}

/* So much as the last commits would have taken the turn for. bytes, ns: of the last one. */
static void size_slices(struct checkpointer *c, size_t bytes, uint64_t ns, double turn)
{
	double now = (double)c->slice_bytes, fits = (double)bytes * turn / (double)(ns + 1);

	c->slice_bytes = (size_t)(now + ((fits < 2 * now ? fits : 2 * now) - now) / SLICE_SMOOTH);
	if (c->slice_bytes < SLICE_BYTES_LEAST)
		c->slice_bytes = SLICE_BYTES_LEAST;
	if (c->slice_bytes > SLICE_BYTES)
		c->slice_bytes = SLICE_BYTES;
}

/* How long a commit took, and how long the log's turns take of late. */
struct commit_time {
	uint64_t ns, log_ns;
};

/* Commit, or undo, when it is our turn. */
static enum err end_in_turn(struct engine *e, struct lmdb_txn **t, enum err rc, struct commit_time *took, struct fault *f)
{
	took->log_ns = turn_take_background(&e->turn);
	uint64_t start = monotonic_ns();

	rc = lmdb_write_end(t, rc, f);
	turn_give_background(&e->turn);
	took->ns = monotonic_ns() - start;
	return rc;
}

static enum err one_transaction(struct checkpoint *c, bool *end, struct fault *f)
{
	struct commit_time took;
	struct lmdb_txn *t;
	bool rests = monotonic_ns() - turn_log_last(&c->e->turn) > REST_NS;
	size_t most = c->tight ? SLICE_BYTES_TIGHT : rests ? SLICE_BYTES : c->e->c.slice_bytes, bytes;
	enum err rc = lmdb_write_begin(c->e->index, &t, f);

	if (rc != ERR_OK)
		return rc;
	rc = move_slice(c, t, most, &bytes, end, f);
	if (rc == ERR_OK && *end && !c->deletions_only)
		rc = record_end(c, t, f);
	int error = rc == ERR_OK ? failpoint(FAILPOINT_CHECKPOINT_COMMIT) : 0;

	if (error != 0)
		rc = file_error(error, "index", f);
	rc = end_in_turn(c->e, &t, rc, &took, f);
	if (!rests && !c->tight)
		size_slices(&c->e->c, bytes, took.ns, turn_ns(c, took.log_ns));
	(void)failpoint(FAILPOINT_CHECKPOINT_COMMITTED);
	return rc;
}

/* C5 */
static void pace(struct checkpoint *c)
{
	struct engine *e = c->e;
	size_t quarter = e->opts.overlay_bytes / 4;

	if (c->deletions_only)
		return;
	pthread_mutex_lock(&e->lock);
	atomic_store_explicit(&e->c.allowed, 3 * quarter + (size_t)((double)quarter * moved(c)), memory_order_relaxed);
	pthread_cond_broadcast(&e->c.room);
	pthread_mutex_unlock(&e->lock);
}

static enum err pass(struct checkpoint *c, bool deletions_only, struct fault *f)
{
	bool end = false;
	enum err rc = ERR_OK;

	c->deletions_only = deletions_only;
	rewind_tables(c);
	while (rc == ERR_OK && !end) {
		pace(c);
		rc = one_transaction(c, &end, f);
	}
	return rc;
}

static enum err move_tables(struct checkpoint *c, struct fault *f)
{
	enum err rc = wal_sync(c->e->wal, f);

	c->tight = atomic_load(&c->e->c.full) != ERR_OK;
	c->change_bytes = c->tight ? CHANGE_BYTES_TIGHT : 0;
	(void)failpoint(FAILPOINT_CHECKPOINT_BEGIN);
	if (rc == ERR_OK && c->tight)
		rc = pass(c, true, f);
	if (rc == ERR_OK)
		rc = pass(c, false, f);
	if (rc == ERR_OK)
		rc = lmdb_sync(c->e->index, f);
	(void)failpoint(FAILPOINT_CHECKPOINT_END);
	return rc;
}

/* ---- one checkpoint ---- */

static void collect_locked(struct checkpoint *c)
{
	const struct state *s = c->e->state;

	c->n = s->n - 1;
	memcpy(c->table, s->table + 1, c->n * sizeof *c->table);
	c->lsn = c->n > 0 ? c->table[0]->last_lsn : 0;
	for (unsigned i = 0; i < c->n; i++) {
		c->keys += c->table[i]->keys;
		c->bytes += atomic_load_explicit(&c->table[i]->bytes, memory_order_relaxed);
	}
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

static void finish(struct checkpoint *c, enum err rc)
{
	struct engine *e = c->e;

	pthread_mutex_lock(&e->lock);
	for (unsigned i = 0; i < c->n && rc == ERR_OK; i++)
		e->c.drops = e->c.drops || c->table[i]->drops != NULL;
	if (rc == ERR_OK && !state_shrink_locked(e, c->n))
		rc = ERR_NO_MEMORY;
	e->c.error = rc;
	atomic_store(&e->c.full, rc == ERR_MAP_FULL || rc == ERR_DISK_FULL ? (int)rc : ERR_OK);
	atomic_store(&e->c.allowed, e->opts.overlay_bytes);
	pthread_cond_broadcast(&e->c.room);
	pthread_mutex_unlock(&e->lock);
}

static enum err checkpoint(struct checkpoint *c)
{
	struct engine *e = c->e;
	uint64_t start = monotonic_ns();
	enum err rc = move_tables(c, NULL);

	note_usage(e);
	finish(c, rc);
	if (rc == ERR_OK) {
		wal_checkpointed(e->wal, c->lsn);
		atomic_store(&e->c.tight, false);
		atomic_fetch_add_explicit(&e->c.count, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&e->c.ns, monotonic_ns() - start, memory_order_relaxed);
		atomic_store(&e->c.lsn, c->lsn);
	}
	state_free_dead(e);
	if (rc == ERR_OK)
		atomic_store(&e->c.lsn, c->lsn);   /* last: who sees it finds the room made */
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
	struct commit_time took;
	struct lmdb_txn *t;
	enum err rc = lmdb_write_begin(e->index, &t, NULL);

	*more = false;
	if (rc != ERR_OK)
		return rc;
	buf_init(&name);
	buf_init(&prefix);
	rc = drop_in(t, &name, &prefix, more, NULL);
	rc = end_in_turn(e, &t, rc, &took, NULL);
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

static void wait_locked(struct engine *e, unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += (long)ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&e->c.wake, &e->lock, &t);
}

/* C7 */
static bool due_locked(struct engine *e)
{
	return e->state->n > 1 && (atomic_load(&e->frozen_bytes) >= e->opts.overlay_bytes / 8 * 3 || e->c.stop || e->c.error != ERR_OK ||
		atomic_load(&e->c.tight) || monotonic_ns() - e->published_ns > IDLE_NS);
}

/* Do what there is to do, the lock held in between; false if it is time to end. */
static bool work_locked(struct engine *e)
{
	struct checkpoint c = { .e = e };
	bool more = false;
	enum err rc = ERR_OK;

	freeze_if_idle_locked(e);
	if (due_locked(e))
		collect_locked(&c);
	bool drops = e->c.drops && !e->c.stop, dead = e->dead != NULL;

	pthread_mutex_unlock(&e->lock);
	if (c.n > 0)
		rc = checkpoint(&c);
	else if (drops)
		rc = drop_slice(e, &more);
	if ((drops && !more) || (c.n == 0 && atomic_load(&e->c.tight)))
		note_usage(e);   /* what was dropped is room; and so is what an old view has let go */
	if (dead)
		state_free_dead(e);
	pthread_mutex_lock(&e->lock);
	if (c.n == 0 && drops && rc == ERR_OK)
		e->c.drops = more;
	bool idle = c.n == 0 && !drops;

	if (e->c.stop)
		return !idle && rc == ERR_OK;
	if (rc != ERR_OK)
		wait_locked(e, RETRY_MS);
	else if (idle && !due_locked(e))
		wait_locked(e, POLL_MS);
	return true;
}

static void *run(void *arg)
{
	struct engine *e = arg;

	pthread_mutex_lock(&e->lock);
	while (work_locked(e))
		continue;
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

enum err checkpointer_start(struct engine *e, struct fault *f)
{
	note_usage(e);
	atomic_store(&e->c.allowed, e->opts.overlay_bytes);
	e->c.drops = true;   /* those of an earlier life */
	e->c.slice_bytes = SLICE_BYTES_LEAST;
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

/* ---- room for the writer ---- */

/* What is in the overlay has been promised a place in the map, with pages half full; and some pages are kept for the
 * transactions that make room. */
static bool map_is_tight(struct engine *e, size_t overlay)
{
	uint64_t map = lmdb_limit(e->index), kept = map / 16 < MAP_KEPT ? map / 16 : MAP_KEPT;

	return atomic_load_explicit(&e->c.map_used, memory_order_relaxed) + 2 * overlay + kept > map;
}

/* The same of the disk, which the log grows on too: what it needs at once comes out of what is kept. */
static bool disk_is_tight(struct engine *e, size_t overlay)
{
	uint64_t left = e->w.disk_left, pages = atomic_load_explicit(&e->c.map_free, memory_order_relaxed);

	return left < UINT64_MAX && (left < e->disk_kept / 2 || left + pages < 2 * overlay + e->disk_kept);
}

static enum err told_why(enum err error, struct fault *f)
{
	if (error == ERR_MAP_FULL)
		return fault_set(f, MSG_ENGINE_MAP_FULL);
	if (error == ERR_DISK_FULL)
		return fault_set(f, MSG_ENGINE_DISK_FULL, "index");
	return error == ERR_NO_MEMORY ? fault_set(f, MSG_NO_MEMORY)
				      : fault_set(f, MSG_ENGINE_IO, "index", "the checkpoint fails");
}

/* Bytes that the overlay may have. Deletions are what makes room where there is none: they may go beyond the bound. */
static size_t bound(struct engine *e, bool puts)
{
	if (!puts && atomic_load_explicit(&e->c.full, memory_order_relaxed) != ERR_OK)
		return e->opts.overlay_bytes + e->opts.overlay_bytes / 4;
	return atomic_load_explicit(&e->c.allowed, memory_order_relaxed);
}

void checkpointer_hurry(struct engine *e)
{
	if (!atomic_exchange(&e->c.tight, true))
		pthread_cond_signal(&e->c.wake);
}

/* n: what the active table has and is to have. */
static enum err wait_for_room(struct engine *e, size_t n, bool puts, struct fault *f)
{
	uint64_t start = monotonic_ns();
	enum err rc = ERR_OK;

	checkpointer_hurry(e);
	pthread_mutex_lock(&e->lock);
	while (rc == ERR_OK && e->state->n > 1 && atomic_load(&e->frozen_bytes) + n > bound(e, puts)) {
		rc = e->c.error;
		if (rc == ERR_OK)
			pthread_cond_wait(&e->c.room, &e->lock);
	}
	pthread_mutex_unlock(&e->lock);
	atomic_fetch_add_explicit(&e->stall_ns, monotonic_ns() - start, memory_order_relaxed);
	return rc == ERR_OK ? rc : told_why(rc, f);
}

/* Is there room once the tables that are frozen have been moved, and the log behind them trimmed? */
static enum err wait_for_disk(struct engine *e, size_t n)
{
	uint64_t start = monotonic_ns();
	size_t frozen;

	checkpointer_hurry(e);
	pthread_mutex_lock(&e->lock);
	while (e->state->n > 1 && e->c.error == ERR_OK)
		pthread_cond_wait(&e->c.room, &e->lock);
	frozen = atomic_load(&e->frozen_bytes);
	pthread_mutex_unlock(&e->lock);
	atomic_fetch_add_explicit(&e->stall_ns, monotonic_ns() - start, memory_order_relaxed);
	e->w.disk_left = file_disk_room(e->lock_fd).left;
	size_t all = n + frozen + atomic_load_explicit(&e->w.active->bytes, memory_order_relaxed);

	return disk_is_tight(e, all) ? ERR_DISK_FULL : ERR_OK;
}

enum err checkpointer_room(struct engine *e, size_t n, bool puts, struct fault *f)
{
	size_t active = n + atomic_load_explicit(&e->w.active->bytes, memory_order_relaxed);
	size_t all = active + atomic_load_explicit(&e->frozen_bytes, memory_order_relaxed);

	enum err full = puts ? (enum err)atomic_load_explicit(&e->c.full, memory_order_relaxed) : ERR_OK;

	if (full == ERR_OK && puts && map_is_tight(e, all))
		full = ERR_MAP_FULL;
	if (full == ERR_OK && puts && disk_is_tight(e, all))
		full = wait_for_disk(e, n);
	if (full != ERR_OK) {
		checkpointer_hurry(e);
		return told_why(full, f);
	}
	return all <= bound(e, puts) ? ERR_OK : wait_for_room(e, active, puts, f);
}
