/* writer - transactions, batches, publication: what the writer thread does.
 *
 *    begin put.. commit   begin put.. commit     flush            publish
 *      |                     |                     |                 |
 *    batch buffer [record][record]          one write, one sync    views see it
 *    memtable     versions with their LSNs, invisible until then
 *
 * W1. A transaction is encoded once, into the batch buffer; commit reads it back from there into the memtable.
 * W2. What fails is undone: a transaction alone (abort, or out of memory at commit), or the batch (flush). Its versions are
 *     taken back, its bytes leave the buffer. LSNs of a batch that failed to flush are not given out again.
 *
 * Threads: the writer only. */
#include "store/engine/engine_int.h"

#include "protocol/messages.h"
#include "store/engine/file.h"
#include "store/engine/log_format.h"

#include <assert.h>
#include <stdlib.h>

/* On a disk nearly full, what the overlay has been promised there is moved soon, for the log behind it takes room as well. */
static const uint64_t FREEZE_LEAST = 1 << 20;
static const uint64_t FREEZE_AGE_NS = 60ull * 1000000000u;

/* ---- building a transaction ---- */

void engine_begin(struct engine *e)
{
	struct writer_state *w = &e->w;

	if (w->batch.n == 0) {
		log_batch_begin(&w->batch);
		w->records = 0;
		w->disk_left = file_disk_room(e->lock_fd).left;
		pthread_mutex_lock(&e->lock);
		e->batch_open = true;
		w->active = e->state->table[0];
		pthread_mutex_unlock(&e->lock);
		w->active_at = atomic_load_explicit(&w->active->bytes, memory_order_relaxed);
	}
	w->txn_at = w->batch.n;
	w->txn_ops = 0;
	w->txn_bytes = 0;
	w->put_n = 0;
	w->txn_puts = w->txn_makes_room = false;
	log_record_begin(&w->batch);
}

static void add_op(struct engine *e, const struct log_op *op)
{
	struct writer_state *w = &e->w;
	size_t value_n = op->value.n + op->tail.n;

	assert(op->key.n <= ENGINE_KEY_MAX && (op->key.n > 0 || op->kind == LOG_OP_NOTE) && value_n <= ENGINE_VALUE_MAX);
	log_op_put(&w->batch, op);
	w->txn_ops++;
	w->txn_bytes += op->key.n + value_n;
	w->txn_puts = w->txn_puts || op->kind == LOG_OP_PUT;
	if (op->kind != LOG_OP_PUT || w->batch.failed)
		return;
	w->put_n = value_n;
	w->put_at = w->batch.n - value_n;
}

void engine_put(struct engine *e, struct slice key, struct slice value)
{
	add_op(e, &(struct log_op){ .kind = LOG_OP_PUT, .key = key, .value = value });
}

void engine_put_tail(struct engine *e, struct slice key, struct slice head, struct slice tail)
{
	struct writer_state *w = &e->w;
	bool again = tail.n != 0 && tail.n == w->put_n && memcmp(w->batch.p + w->put_at, tail.p, tail.n) == 0;

	add_op(e, &(struct log_op){ .kind = again ? LOG_OP_PUT_MORE : LOG_OP_PUT, .key = key, .value = head, .tail = tail });
}

void engine_del(struct engine *e, struct slice key)
{
	add_op(e, &(struct log_op){ .kind = LOG_OP_DEL, .key = key });
}

void engine_note(struct engine *e, struct slice note)
{
	add_op(e, &(struct log_op){ .kind = LOG_OP_NOTE, .value = note });
}

void engine_makes_room(struct engine *e)
{
	e->w.txn_makes_room = true;
}

void engine_drop_prefix(struct engine *e, struct slice prefix)
{
	add_op(e, &(struct log_op){ .kind = LOG_OP_DROP, .key = prefix });
}

void engine_abort(struct engine *e)
{
	e->w.batch.n = e->w.txn_at;
	e->w.batch.failed = false;
}

/* ---- commit ---- */

static bool remember(struct writer_state *w, struct memnode *n)
{
	if (w->undo_n == w->undo_cap) {
		size_t cap = w->undo_cap != 0 ? 2 * w->undo_cap : 1024;
		struct memnode **grown = realloc(w->undo, cap * sizeof(struct memnode *));

		if (grown == NULL)
			return false;
		w->undo = grown;
		w->undo_cap = cap;
	}
	w->undo[w->undo_n++] = n;
	return true;
}

/* Take back what was applied after the first `keep` versions and above `lsn`. */
static void undo(struct engine *e, size_t keep, uint64_t lsn)
{
	struct writer_state *w = &e->w;

	while (w->undo_n > keep)
		memnode_undo(w->undo[--w->undo_n]);
	memtable_undo_drops(w->active, lsn);
}

static bool apply_op(struct engine *e, const struct log_op *op, uint64_t lsn)
{
	struct memtable *t = e->w.active;

	if (op->kind == LOG_OP_NOTE)
		return true;
	if (op->kind == LOG_OP_DROP)
		return memtable_drop(t, lsn, op->key);
	struct memnode *n = memtable_set(t, lsn, op->key, op->value, op->tail);

	if (n != NULL && remember(&e->w, n))
		return true;
	if (n != NULL)
		memnode_undo(n);
	return false;
}

bool engine_apply(struct engine *e, struct slice bytes, uint64_t lsn)
{
	struct log_ops ops = log_ops_of(bytes);
	size_t keep = e->w.undo_n;
	struct log_op op;

	while (log_op_next(&ops, &op))
		if (!apply_op(e, &op, lsn)) {
			undo(e, keep, lsn - 1);
			return false;
		}
	return true;
}

enum err engine_commit(struct engine *e, uint64_t *lsn, struct fault *f)
{
	struct writer_state *w = &e->w;

	*lsn = 0;
	if (w->batch.failed) {
		engine_abort(e);
		return fault_set(f, MSG_NO_MEMORY);
	}
	if (w->txn_ops == 0) {
		engine_abort(e);
		return ERR_OK;
	}
	enum err rc = room_for(e, w->txn_bytes, w->txn_puts && !w->txn_makes_room, f);

	if (rc != ERR_OK) {
		engine_abort(e);
		return rc;
	}
	log_record_end(&w->batch, w->txn_at, w->next_lsn, unix_ms(), w->txn_ops);
	size_t ops_at = w->txn_at + LOG_RECORD_HEADER;

	if (!engine_apply(e, slice_of(w->batch.p + ops_at, w->batch.n - ops_at), w->next_lsn)) {
		engine_abort(e);
		return fault_set(f, MSG_NO_MEMORY);
	}
	*lsn = w->batch_lsn = w->next_lsn++;
	w->records++;
	return ERR_OK;
}

enum err engine_read(struct engine *e, struct slice key, struct slice *value, struct fault *f)
{
	if (e->w.view == NULL) {
		enum err rc = view_of_writer(e, &e->w.view, f);

		if (rc != ERR_OK)
			return rc;
	}
	return view_get(e->w.view, key, value, f);
}

size_t engine_batch_bytes(const struct engine *e)
{
	return e->w.batch.n;
}

/* ---- flush and publish ---- */

static void batch_end(struct engine *e)
{
	struct writer_state *w = &e->w;

	buf_clear(&w->batch);
	w->batch_lsn = 0;
	w->undo_n = 0;
	w->flushed = false;
	view_close(&w->view);
	pthread_mutex_lock(&e->lock);
	room_batch_end_locked(e);
	pthread_mutex_unlock(&e->lock);
}

enum err engine_flush(struct engine *e, struct fault *f)
{
	struct writer_state *w = &e->w;
	if (w->batch_lsn == 0)
		return ERR_OK;
	room_pace(e);
	uint64_t start = monotonic_ns();
	enum err rc = wal_append(e->wal, &w->batch, w->records, w->batch_lsn, f);

	if (rc != ERR_OK) {
		if (rc == ERR_DISK_FULL)
			checkpointer_hurry(e);
		undo(e, 0, engine_published(e));
		batch_end(e);
		return rc;
	}
	w->flushed = true;
	atomic_fetch_add_explicit(&e->batches, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&e->transactions, w->records, memory_order_relaxed);
	atomic_fetch_add_explicit(&e->flush_ns, monotonic_ns() - start, memory_order_relaxed);
	return ERR_OK;
}

/* A table is frozen when it has its share of the overlay, or is so old that the log behind it grows for nothing. */
static bool should_freeze(const struct engine *e, uint64_t now)
{
	const struct memtable *t = e->state->table[0];

	uint64_t bytes = atomic_load_explicit(&t->bytes, memory_order_relaxed);

	return bytes >= e->opts.overlay_bytes / OVERLAY_PARTS || (bytes >= FREEZE_LEAST && bytes > e->w.disk_left / 16) ||
		(now - t->born_ns > FREEZE_AGE_NS && !memtable_empty(t));
}

void engine_publish_lsn(struct engine *e, uint64_t lsn)
{
	uint64_t now = monotonic_ns();

	pthread_mutex_lock(&e->lock);
	e->batch_open = false;
	e->published_ns = now;
	atomic_store_explicit(&e->published, lsn, memory_order_release);
	if (should_freeze(e, now)) {
		/* For want of disk, or for its age: either wants it moved soon. */
		bool early = atomic_load(&e->state->table[0]->bytes) < e->opts.overlay_bytes / OVERLAY_PARTS;

		(void)state_freeze_locked(e);   /* if not now, then with the next batch */
		if (early)
			checkpointer_hurry(e);
	}
	pthread_mutex_unlock(&e->lock);
}

uint64_t engine_publish(struct engine *e)
{
	struct writer_state *w = &e->w;
	bool flushed = w->flushed;
	uint64_t lsn = w->batch_lsn;

	if (flushed) {
		view_close(&w->view);
		engine_publish_lsn(e, lsn);
		wal_publish(e->wal);
	}
	batch_end(e);
	lsn = engine_published(e);
	if (flushed && w->on_publish != NULL)
		w->on_publish(w->on_publish_arg, lsn);
	return lsn;
}

void engine_on_publish(struct engine *e, void (*fn)(void *arg, uint64_t lsn), void *arg)
{
	e->w.on_publish = fn;
	e->w.on_publish_arg = arg;
}
