/* checkpoint - the thread that moves frozen memtables into LMDB.
 *
 *    frozen tables --merged, newest version of each key--> [txn][txn][txn + checkpoint LSN] --sync--> tables leave
 *                            in key order                   a slice each                              log is trimmed
 *
 * C1. The oldest frozen tables are moved together, three eighths of the overlay or so: what is in several is written once.
 * C2. Only the last transaction advances the LSN. A crash before it replays the log over what the earlier ones
 *     wrote, which gives the same; and views do not mind (E3).
 * C3. The log is on disk as far as the tables go before the first transaction.
 * C4. Failing is no end: it is tried again, the writer is told why as soon as it would have to wait. If map or disk are full,
 *     deletions go first and transactions are small, so that what they free is used.
 *
 * C5. It begins when a quarter of the overlay is frozen, when nothing has been written for a while, when room is wanted, or when
 *     something was frozen before it was large: a short burst has the disk to itself.
 * C6. How much a transaction moves, and when it is time for it, is said by room.h: the log's next sync waits for it (turn.h).
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
	SLICE_BYTES_TIGHT = 256 << 10, /* when the map is full: pages that a transaction frees are of use to later ones only, */
	CHANGE_BYTES_TIGHT = 4096,     /* and each change may need a new one first */
	DROP_KEYS = 512,               /* deleted in one transaction */
	RETRY_MS = 200,
	POLL_MS = 500
};
static const uint64_t IDLE_NS = 3ull * 1000000000u;

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

/* How much of the tables' bytes this pass has moved. */
static size_t moved(const struct checkpoint *c)
{
	return (size_t)((double)c->bytes * (double)c->passed / (double)(c->keys + 1));
}

static enum err move_change(struct lmdb_txn *t, struct slice key, const struct memversion *v, struct fault *f)
{
	int error = failpoint(FAILPOINT_CHECKPOINT_PUT);

	if (error != 0)
		return file_error(error, "index", f);
	return v->deleted ? keyspace_del(t, key, f) : keyspace_put(t, key, slice_of(v->bytes, v->n), f);
}

/* Until `most` bytes of the overlay have been moved, or as much as a transaction should hold; *end when there are no more. */
static enum err move_slice(struct checkpoint *c, struct lmdb_txn *t, size_t most, bool *end, struct fault *f)
{
	size_t until = moved(c) + most, bytes = 0, bytes_most = c->tight ? SLICE_BYTES_TIGHT : SLICE_BYTES;
	enum err rc = ERR_OK;

	*end = false;
	while (rc == ERR_OK && moved(c) < until && bytes < bytes_most && !*end) {
		struct slice key;
		const struct memversion *v = next_change(c, &key);

		*end = v == NULL;
		if (v == NULL)
			continue;
		rc = move_change(t, key, v, f);
		bytes += key.n + v->n + c->change_bytes;
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

/* C6: bytes of the overlay that the next transaction is to move. Waits until it is time for it. */
static size_t next_slice(const struct checkpoint *c)
{
	struct engine *e = c->e;
	size_t n = SLICE_BYTES;

	if (c->tight)
		return n;
	pthread_mutex_lock(&e->lock);
	e->room.slice_waits = true;
	while (!room_slice_locked(e, moved(c), &n) && !e->c.stop && !atomic_load(&e->c.tight))
		wait_locked(e, ROOM_REST_MS);
	e->room.slice_waits = false;
	pthread_mutex_unlock(&e->lock);
	return n;
}

static enum err one_transaction(struct checkpoint *c, bool *end, struct fault *f)
{
	size_t most = next_slice(c);
	struct lmdb_txn *t;
	enum err rc = lmdb_write_begin(c->e->index, &t, f);

	if (rc != ERR_OK)
		return rc;
	rc = move_slice(c, t, most, end, f);
	if (rc == ERR_OK && *end && !c->deletions_only)
		rc = record_end(c, t, f);
	int error = rc == ERR_OK ? failpoint(FAILPOINT_CHECKPOINT_COMMIT) : 0;

	if (error != 0)
		rc = file_error(error, "index", f);
	rc = end_in_turn(c->e, &t, rc, f);
	(void)failpoint(FAILPOINT_CHECKPOINT_COMMITTED);
	return rc;
}

static void make_room(struct checkpoint *c)
{
	struct engine *e = c->e;

	if (c->deletions_only)
		return;
	pthread_mutex_lock(&e->lock);
	room_made_locked(e, moved(c));
	pthread_mutex_unlock(&e->lock);
}

static enum err pass(struct checkpoint *c, bool deletions_only, struct fault *f)
{
	bool end = false;
	enum err rc = ERR_OK;

	c->deletions_only = deletions_only;
	rewind_tables(c);
	while (rc == ERR_OK && !end) {
		make_room(c);
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
	unsigned from = s->n;

	while (from > 1 && c->bytes < room_part(c->e, ROOM_MOVED_LEAST)) {
		c->bytes += atomic_load_explicit(&s->table[--from]->bytes, memory_order_relaxed);
		c->keys += s->table[from]->keys;
	}
	c->n = s->n - from;
	memcpy(c->table, s->table + from, c->n * sizeof *c->table);
	c->lsn = c->n > 0 ? c->table[0]->last_lsn : 0;
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
	room_made_locked(e, 0);
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
static bool due_locked(struct engine *e)
{
	return e->state->n > 1 && (atomic_load(&e->frozen_bytes) >= room_part(e, ROOM_BEGIN) || e->c.stop || e->c.error != ERR_OK ||
		room_wanted_locked(e) || atomic_load(&e->c.tight) || monotonic_ns() - e->published_ns > IDLE_NS);
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
