/* wal - appending, syncing, and what others ask of the log; see wal.h. */
#include "store/engine/wal.h"

#include "protocol/messages.h"
#include "store/engine/failpoint.h"
#include "store/engine/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t unix_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- segments in the row ---- */

void wal_push_locked(struct wal *w, struct segment *s)
{
	if (w->active != NULL)
		w->active->next = s;
	else
		w->oldest = w->live = s;
	w->active = s;
}

/* Write the header; it reaches the disk with the first batch. */
enum err wal_begin_segment(struct wal *w, struct segment *s, struct fault *f)
{
	uint8_t bytes[LOG_SEGMENT_HEADER];
	struct log_header h = { .durability = w->o.durability, .seq = s->seq,
		.prev_lsn = atomic_load(&w->appended_lsn), .durable_lsn = atomic_load(&w->durable_lsn) };

	memcpy(h.uuid, w->o.uuid, LOG_UUID);
	log_header_encode(bytes, &h);
	int error = failpoint(FAILPOINT_SEGMENT_HEADER);

	if (error == 0)
		error = file_write_at(s->fd, bytes, sizeof bytes, 0);
	if (error != 0)
		return file_error(error, "log", f);
	s->prev_lsn = h.prev_lsn;
	s->salt = log_salt(w->o.uuid, s->seq);
	atomic_store(&s->last_lsn, h.prev_lsn);
	atomic_store(&s->last_ms, unix_ms());
	return ERR_OK;
}

/* Wait for the keeper's spare; it is still there if beginning it fails. */
static enum err take_spare(struct wal *w, struct segment **s, struct fault *f)
{
	pthread_mutex_lock(&w->lock);
	if (w->spare == NULL) {
		w->spare_wanted = true;
		pthread_cond_signal(&w->wake);
	}
	while (w->spare == NULL && w->spare_wanted)
		pthread_cond_wait(&w->ready, &w->lock);
	enum err rc = w->spare != NULL ? ERR_OK : w->spare_error;

	*s = w->spare;
	pthread_mutex_unlock(&w->lock);
	if (rc == ERR_DISK_FULL)
		return fault_set(f, MSG_ENGINE_DISK_FULL, "log");
	return rc == ERR_OK ? rc : fault_set(f, MSG_ENGINE_IO, "log", "no new segment could be made");
}

/* A batch larger than a segment: make the segment larger. */
static enum err enlarge(struct wal *w, struct segment *s, size_t capacity, struct fault *f)
{
	if (s->capacity >= capacity)
		return ERR_OK;
	int error = w->o.dirfd >= 0 ? posix_fallocate(s->fd, 0, (off_t)capacity) : 0;

	if (error != 0)
		return file_error(error, "log", f);
	s->capacity = capacity;
	return ERR_OK;
}

/* A batch that failed may be there as a whole. If the log goes on elsewhere, nothing will take its place; recovery must not find
 * it, for what follows was decided without it. */
static enum err blot_out(struct segment *s, struct fault *f)
{
	static const uint8_t zeros[LOG_BATCH_HEADER];

	if (!s->spoiled)
		return ERR_OK;
	int error = file_write_at(s->fd, zeros, sizeof zeros, (off_t)s->tail);

	if (error == 0 && fdatasync(s->fd) != 0)
		error = errno;
	s->spoiled = error != 0;
	return error == 0 ? ERR_OK : file_error(error, "log", f);
}

/* Go on in the next segment, with room for n bytes. */
static enum err roll(struct wal *w, size_t n, struct fault *f)
{
	struct segment *s;
	enum err rc = w->o.durability == DURABILITY_ASYNC ? wal_sync(w, f) : ERR_OK;

	if (rc == ERR_OK)
		rc = blot_out(w->active, f);
	if (rc == ERR_OK)
		rc = take_spare(w, &s, f);
	if (rc == ERR_OK)
		rc = enlarge(w, s, LOG_SEGMENT_HEADER + n, f);
	if (rc == ERR_OK)
		rc = wal_begin_segment(w, s, f);
	if (rc != ERR_OK)
		return rc;
	pthread_mutex_lock(&w->lock);
	w->spare = NULL;
	w->spare_asked = false;
	w->rolled = true;
	wal_push_locked(w, s);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	return ERR_OK;
}

/* ---- appending ---- */

static int write_batch(struct segment *s, const struct buf *b)
{
	int error = failpoint(FAILPOINT_LOG_WRITE);
	size_t half = b->n / 2;

	if (error != 0)
		return error;
	if (atomic_load_explicit(&failpoint_armed, memory_order_relaxed) >> FAILPOINT_LOG_WRITE_HALF & 1) {
		error = file_write_at(s->fd, b->p, half, (off_t)s->tail);
		if (error == 0)
			error = failpoint(FAILPOINT_LOG_WRITE_HALF);
		if (error != 0)
			return error;
	}
	return file_write_at(s->fd, b->p, b->n, (off_t)s->tail);
}

static int sync_batch(struct wal *w, struct segment *s)
{
	int error = failpoint(FAILPOINT_LOG_SYNC);

	if (error != 0)
		return error;
	if (w->o.dirfd < 0)
		return 0;
	if (w->o.durability != DURABILITY_SYNC) {
		atomic_store(&s->dirty, true);
		return atomic_load(&w->sync_errno);
	}
	turn_take_log(w->o.turn);
	error = fdatasync(s->fd) == 0 ? 0 : errno;
	turn_give(w->o.turn);
	return error != 0 ? error : failpoint(FAILPOINT_LOG_SYNCED);
}

/* Ask for the next segment when a quarter of the first one is full, for a short-lived log needs none; then one ahead. */
static void ask_for_spare(struct wal *w, const struct segment *s)
{
	if (w->spare_asked || (!w->rolled && s->tail < s->capacity / 4))
		return;
	w->spare_asked = true;
	pthread_mutex_lock(&w->lock);
	w->spare_wanted = w->spare == NULL;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

enum err wal_append(struct wal *w, struct buf *b, uint32_t records, uint64_t last_lsn, struct fault *f)
{
	if (log_align(b->n) > w->active->capacity - w->active->tail) {
		enum err rc = roll(w, log_align(b->n), f);

		if (rc != ERR_OK)
			return rc;
	}
	struct segment *s = w->active;

	log_batch_end(b, s->salt, records, last_lsn, atomic_load(&w->durable_lsn));
	if (b->failed)
		return fault_set(f, MSG_NO_MEMORY);
	int error = write_batch(s, b);

	if (error == 0)
		error = sync_batch(w, s);
	s->spoiled = error != 0;
	if (error != 0)
		return file_error(error, "log", f);
	s->tail += b->n;
	atomic_store(&s->last_lsn, last_lsn);
	atomic_store(&s->last_ms, unix_ms());
	atomic_store(&w->appended_lsn, last_lsn);
	if (w->o.durability == DURABILITY_SYNC)
		atomic_store(&w->durable_lsn, last_lsn);
	ask_for_spare(w, s);
	return ERR_OK;
}

void wal_publish(struct wal *w)
{
	atomic_store_explicit(&w->active->end, w->active->tail, memory_order_release);
}

/* ---- syncing, for the durabilities that do not sync each batch ---- */

static struct segment *first_dirty(struct wal *w)
{
	pthread_mutex_lock(&w->lock);
	struct segment *s = w->live;

	while (s != NULL && !atomic_exchange(&s->dirty, false))
		s = s->next;
	if (s != NULL)
		s->refs++;
	pthread_mutex_unlock(&w->lock);
	return s;
}

static int sync_segment(struct wal *w, struct segment *s)
{
	int error = fdatasync(s->fd) == 0 ? 0 : errno;

	if (error != 0)
		atomic_store(&s->dirty, true);
	pthread_mutex_lock(&w->lock);
	s->refs--;
	pthread_mutex_unlock(&w->lock);
	return error;
}

enum err wal_sync(struct wal *w, struct fault *f)
{
	int error = 0;

	if (w->o.durability == DURABILITY_SYNC || w->o.dirfd < 0)
		return ERR_OK;
	pthread_mutex_lock(&w->sync_lock);
	uint64_t lsn = atomic_load(&w->appended_lsn);

	for (struct segment *s; error == 0 && (s = first_dirty(w)) != NULL;)
		error = sync_segment(w, s);
	if (error == 0)
		atomic_store(&w->durable_lsn, lsn);
	atomic_store(&w->sync_errno, error);
	pthread_mutex_unlock(&w->sync_lock);
	return error == 0 ? ERR_OK : file_error(error, "log", f);
}

void wal_sync_later(struct wal *w)
{
	enum err rc = wal_sync(w, NULL);

	(void)rc;   /* remembered in sync_errno */
}

/* ---- what others need of the log ---- */

void wal_checkpointed(struct wal *w, uint64_t lsn)
{
	pthread_mutex_lock(&w->lock);
	w->checkpoint_lsn = lsn;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

void wal_retain(struct wal *w, unsigned slot, uint64_t lsn)
{
	pthread_mutex_lock(&w->lock);
	w->retained[slot % WAL_RETAIN_SLOTS] = lsn;
	pthread_mutex_unlock(&w->lock);
}

uint64_t wal_oldest(struct wal *w)
{
	pthread_mutex_lock(&w->lock);
	uint64_t lsn = w->live->prev_lsn;

	pthread_mutex_unlock(&w->lock);
	return lsn;
}

void wal_usage(struct wal *w, uint64_t *bytes, uint64_t *segments)
{
	*bytes = *segments = 0;
	pthread_mutex_lock(&w->lock);
	for (const struct segment *s = w->oldest; s != NULL; s = s->next) {
		*bytes += s->capacity;
		*segments += 1;
	}
	pthread_mutex_unlock(&w->lock);
}

/* ---- opening and closing ---- */

enum err wal_open(const struct wal_opts *o, const struct wal_replay *replay, struct wal **out, uint64_t *next_lsn,
	struct fault *f)
{
	struct wal *w = calloc(1, sizeof *w);

	*out = NULL;
	if (w == NULL) {
		if (o->dirfd >= 0)
			close(o->dirfd);
		return fault_set(f, MSG_NO_MEMORY);
	}
	w->o = *o;
	w->checkpoint_lsn = o->checkpoint_lsn;
	for (unsigned i = 0; i < WAL_RETAIN_SLOTS; i++)
		w->retained[i] = i < o->consumers ? 0 : UINT64_MAX;
	pthread_mutex_init(&w->lock, NULL);
	pthread_mutex_init(&w->sync_lock, NULL);
	monotonic_cond_init(&w->wake);
	pthread_cond_init(&w->ready, NULL);
	enum err rc = wal_recover(w, replay, next_lsn, f);

	if (rc == ERR_OK && !wal_keeper_start(w))
		rc = fault_set(f, MSG_NO_MEMORY);
	if (rc != ERR_OK)
		wal_close(&w);
	*out = w;
	return rc;
}

/* Files that wait to be used again are not worth their place while nobody is here. */
static void remove_unneeded(struct wal *w)
{
	for (struct segment *s = w->oldest; s != NULL && s != w->live; s = s->next)
		segment_unlink(w->o.dirfd, s);
	if (w->spare != NULL)
		segment_unlink(w->o.dirfd, w->spare);
}

void wal_close(struct wal **wp)
{
	struct wal *w = *wp;

	if (w == NULL)
		return;
	if (w->keeper_runs) {
		wal_keeper_stop(w);
		wal_sync_later(w);
		remove_unneeded(w);
	}
	segment_close(&w->spare);
	while (w->oldest != NULL) {
		struct segment *s = w->oldest;

		w->oldest = s->next;
		segment_close(&s);
	}
	if (w->o.dirfd >= 0)
		close(w->o.dirfd);
	pthread_cond_destroy(&w->ready);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->sync_lock);
	pthread_mutex_destroy(&w->lock);
	free(w);
	*wp = NULL;
}
