/* wal_keeper - the thread that keeps the log's files: it makes the next segment beforehand, lets go of those that
 * nobody needs, and syncs under DURABILITY_ASYNC. See wal.h. */
#include "store/engine/wal.h"

#include "protocol/thread.h"

enum { ASYNC_MS = 50, IDLE_MS = 1000, SEGMENT_LEAST = 256 << 10 };

/* ---- trimming ---- */

static uint64_t smallest_retained(const struct wal *w)
{
	uint64_t lsn = UINT64_MAX;

	for (unsigned i = 0; i < WAL_RETAIN_SLOTS; i++)
		if (w->retained[i] < lsn)
			lsn = w->retained[i];
	return lsn;
}

/* Let `live` pass the segments that LMDB, every consumer and the time to keep have passed. */
static void advance(struct wal *w)
{
	uint64_t needed = smallest_retained(w), now = unix_ms();

	while (w->live != w->active) {
		const struct segment *s = w->live;

		if (s->next->prev_lsn > w->checkpoint_lsn || s->next->prev_lsn > needed ||
			(w->o.keep_ms != 0 && atomic_load(&s->last_ms) + w->o.keep_ms > now))
			break;
		w->live = s->next;
	}
}

/* The oldest segment if it is free; out of the row. */
static struct segment *take_free(struct wal *w)
{
	struct segment *s = w->oldest;

	if (s == w->live || s->refs != 0)
		return NULL;
	w->oldest = s->next;
	return s;
}

static size_t free_bytes(const struct wal *w)
{
	size_t n = 0;

	for (const struct segment *s = w->oldest; s != w->live; s = s->next)
		n += s->capacity;
	return n;
}

/* Remove one segment if more are free than may be; false if there is nothing to do. */
static bool remove_one(struct wal *w)
{
	size_t most = w->o.dirfd >= 0 ? w->o.recycle_bytes : 0;
	struct segment *s = w->oldest != w->live && free_bytes(w) > most ? take_free(w) : NULL;

	if (s == NULL)
		return false;
	pthread_mutex_unlock(&w->lock);
	segment_unlink(w->o.dirfd, s);
	segment_close(&s);
	pthread_mutex_lock(&w->lock);
	return true;
}

/* ---- spares ---- */

/* The file of a segment that is free, for the next one; NULL if it is too small or cannot be renamed: then it is gone. */
static struct segment *recycle(struct wal *w, struct segment *old, uint64_t seq)
{
	if (old->capacity >= w->o.segment_bytes && segment_rename(w->o.dirfd, old, seq))
		return old;
	segment_unlink(w->o.dirfd, old);
	segment_close(&old);
	return NULL;
}

/* A disk with no room for a whole one may have it for a smaller one: deletions can go on, which make room. */
static enum err create(struct wal *w, uint64_t seq, struct segment **s)
{
	size_t bytes = w->o.segment_bytes;
	enum err rc = segment_create(w->o.dirfd, seq, bytes, w->o.turn, s, NULL);

	while (rc == ERR_DISK_FULL && bytes / 2 >= SEGMENT_LEAST) {
		bytes /= 2;
		rc = segment_create(w->o.dirfd, seq, bytes, w->o.turn, s, NULL);
	}
	return rc;
}

static void make_spare(struct wal *w)
{
	struct segment *old = w->o.dirfd >= 0 ? take_free(w) : NULL, *s = NULL;
	uint64_t seq = w->next_seq;
	enum err rc = ERR_OK;

	pthread_mutex_unlock(&w->lock);
	if (old != NULL)
		s = recycle(w, old, seq);
	if (s == NULL)
		rc = create(w, seq, &s);
	pthread_mutex_lock(&w->lock);
	w->spare = s;
	w->spare_error = rc;
	w->spare_wanted = false;
	if (rc == ERR_OK)
		w->next_seq++;
	pthread_cond_broadcast(&w->ready);
}

/* ---- the thread ---- */

static void wait_for_work(struct wal *w)
{
	struct timespec until = monotonic_in_ms(w->o.durability == DURABILITY_ASYNC ? ASYNC_MS : IDLE_MS);

	if (!w->stop && !(w->spare_wanted && w->spare == NULL))
		pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void *keep(void *arg)
{
	struct wal *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		advance(w);
		if (w->spare_wanted && w->spare == NULL) {
			make_spare(w);
			continue;
		}
		w->spare_wanted = false;
		if (remove_one(w))
			continue;
		if (w->o.durability == DURABILITY_ASYNC) {
			pthread_mutex_unlock(&w->lock);
			wal_sync_later(w);
			pthread_mutex_lock(&w->lock);
		}
		wait_for_work(w);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

bool wal_keeper_start(struct wal *w)
{
	w->keeper_runs = thread_start(&w->keeper, keep, w, "log-keeper") == 0;
	return w->keeper_runs;
}

void wal_keeper_stop(struct wal *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->keeper, NULL);
	pthread_mutex_lock(&w->lock);
	advance(w);
	pthread_mutex_unlock(&w->lock);
	w->keeper_runs = false;
}
