/* room - see room.h. */
#include "store/engine/room.h"

#include "protocol/messages.h"
#include "store/engine/engine_int.h"
#include "store/engine/file.h"

enum { SIXTEENTHS = 16, SLICE_LEAST = 64 << 10 };
static const uint64_t MAP_KEPT = 64 << 20;

void room_init(struct engine *e)
{
	pthread_cond_init(&e->room.made, NULL);
	atomic_store(&e->room.allowed, room_part(e, ROOM_BEHIND_MOST));
}

void room_destroy(struct engine *e)
{
	pthread_cond_destroy(&e->room.made);
}

size_t room_part(const struct engine *e, enum room_part sixteenths)
{
	return e->opts.overlay_bytes / SIXTEENTHS * sixteenths;
}

/* ---- pace ---- */

static size_t overlay_locked(const struct engine *e)
{
	return atomic_load(&e->frozen_bytes) + atomic_load(&e->state->table[0]->bytes);
}

/* Not in vain: there is something to move, and it can be moved. */
static bool log_held_locked(const struct engine *e)
{
	return overlay_locked(e) > atomic_load(&e->room.allowed) && e->state->n > 1 && e->c.error == ERR_OK;
}

void room_pace(struct engine *e)
{
	size_t batch = atomic_load_explicit(&e->w.active->bytes, memory_order_relaxed) - e->w.active_at;

	pthread_mutex_lock(&e->lock);
	e->room.batch = batch + batch / SIXTEENTHS;
	e->room.unanswered += e->room.batch;
	bool held = log_held_locked(e);

	turn_hold_log(&e->turn, held);
	if (held || e->room.slice_waits)
		pthread_cond_signal(&e->c.wake);
	pthread_mutex_unlock(&e->lock);
}

void room_batch_end_locked(struct engine *e)
{
	e->batch_open = false;
	if (e->room.slice_waits)
		pthread_cond_signal(&e->c.wake);
}

bool room_wanted_locked(struct engine *e)
{
	return e->room.writer_waits || log_held_locked(e);
}

void room_made_locked(struct engine *e, size_t moved, double left)
{
	size_t by_behind = room_part(e, ROOM_BEHIND_MOST) + moved, by_room = (size_t)((double)room_part(e, ROOM_MOST) / (1 + left));

	atomic_store(&e->room.allowed, by_behind < by_room ? by_behind : by_room);   /* R1, R5 */
	if (!log_held_locked(e))
		turn_hold_log(&e->turn, false);
	pthread_cond_broadcast(&e->room.made);
}

/* R2: 0 to 1 of what was written. */
static double share(const struct engine *e, size_t behind)
{
	double from = (double)room_part(e, ROOM_BEGIN), to = (double)room_part(e, ROOM_BEHIND_MOST);
	double x = ((double)behind - from) / (to - from), square = x * x;

	return x < 0 ? 0 : x < 1 ? square * square : 1;
}

bool room_slice_locked(struct engine *e, size_t moved, size_t *n)
{
	size_t behind = overlay_locked(e) - moved;
	size_t most = e->room.batch > SLICE_LEAST ? e->room.batch : SLICE_LEAST;
	size_t answer = (size_t)((double)e->room.unanswered * share(e, behind));

	*n = answer < SLICE_LEAST ? SLICE_LEAST : answer < most ? answer : most;
	if (monotonic_ns() - e->published_ns > ROOM_REST_MS * UINT64_C(1000000))
		*n = e->opts.overlay_bytes;
	else if (answer < SLICE_LEAST && e->batch_open && behind >= room_part(e, ROOM_BEGIN) && !room_wanted_locked(e))
		return false;
	e->room.unanswered = 0;
	return true;
}

/* ---- waiting for it ---- */

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

static size_t most(const struct engine *e, bool deletions)
{
	if (deletions)
		return room_part(e, ROOM_DELETIONS);
	return atomic_load_explicit(&e->room.allowed, memory_order_relaxed) + room_part(e, ROOM_BATCH);
}

/* Until the overlay, with n bytes in its active table, is no more than it may be. The checkpointer's error, if it has one. */
static enum err wait_for_room(struct engine *e, size_t n, bool deletions)
{
	uint64_t start = monotonic_ns();
	enum err rc = ERR_OK;

	pthread_mutex_lock(&e->lock);
	e->room.writer_waits = true;
	pthread_cond_signal(&e->c.wake);
	while (rc == ERR_OK && e->state->n > 1 && atomic_load(&e->frozen_bytes) + n > most(e, deletions)) {
		rc = e->c.error;
		if (rc == ERR_OK)
			pthread_cond_wait(&e->room.made, &e->lock);
	}
	e->room.writer_waits = false;
	pthread_mutex_unlock(&e->lock);
	atomic_fetch_add_explicit(&e->room.stall_ns, monotonic_ns() - start, memory_order_relaxed);
	return rc;
}

/* Is there room once the tables that are frozen have been moved, and the log behind them trimmed? */
static enum err wait_for_disk(struct engine *e, size_t n)
{
	uint64_t start = monotonic_ns();
	size_t frozen;

	checkpointer_hurry(e);
	pthread_mutex_lock(&e->lock);
	while (e->state->n > 1 && e->c.error == ERR_OK)
		pthread_cond_wait(&e->room.made, &e->lock);
	frozen = atomic_load(&e->frozen_bytes);
	pthread_mutex_unlock(&e->lock);
	atomic_fetch_add_explicit(&e->room.stall_ns, monotonic_ns() - start, memory_order_relaxed);
	e->w.disk_left = file_disk_room(e->lock_fd).left;
	size_t all = n + frozen + atomic_load_explicit(&e->w.active->bytes, memory_order_relaxed);

	return disk_is_tight(e, all) ? ERR_DISK_FULL : ERR_OK;
}

enum err room_for(struct engine *e, size_t n, bool puts, struct fault *f)
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
	bool beyond = !puts && atomic_load_explicit(&e->c.full, memory_order_relaxed) != ERR_OK;

	if (all <= most(e, beyond))
		return ERR_OK;
	enum err rc = wait_for_room(e, active, beyond);

	return rc == ERR_OK ? rc : told_why(rc, f);
}
