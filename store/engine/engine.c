/* engine - opening, recovery, closing, looking inside. The other parts: writer.c, view.c, cursor.c, state.c,
 * checkpoint.c over keyspace.c and lmdb_env.c, log_reader.c over wal.c.
 *
 *    data directory    lock           held with flock while a process has it open
 *                      index.lmdb     LMDB: everything up to its checkpoint LSN
 *                      log/           everything after it, and what is kept for log readers
 *
 * Opening: lock, index, then the log is replayed from the checkpoint into the overlay; nothing is written to LMDB
 * meanwhile, so a replay that is interrupted begins again from the same place. */
#include "store/engine/engine_int.h"

#include "protocol/messages.h"
#include "store/engine/file.h"
#include "store/engine/index_meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READERS_MAX = 4096, DISK_KEPT_MAX = 64 << 20, SEGMENT_LEAST = 256 << 10 };
static const size_t OVERLAY_DEFAULT = (size_t)1 << 30, SEGMENT_DEFAULT = (size_t)64 << 20,
	MAP_DEFAULT = (size_t)1 << 40;

static void set_defaults(struct engine_opts *o)
{
	if (o->overlay_bytes == 0)
		o->overlay_bytes = OVERLAY_DEFAULT;
	if (o->segment_bytes == 0)
		o->segment_bytes = SEGMENT_DEFAULT;
	if (o->map_max_bytes == 0)
		o->map_max_bytes = MAP_DEFAULT;
	if (o->dir == NULL)
		o->durability = DURABILITY_NONE;
}

/* ---- the directory ---- */

static enum err lock_dir(struct engine *e, int dirfd, struct fault *f)
{
	e->lock_fd = openat(dirfd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (e->lock_fd < 0)
		return file_error(errno, e->opts.dir, f);
	if (flock(e->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return ERR_OK;
	return errno == EWOULDBLOCK ? fault_set(f, MSG_ENGINE_BUSY, e->opts.dir) : file_error(errno, e->opts.dir, f);
}

/* A new directory's own name has to be on disk, too. A parent that we may not read is left to the file system. */
static int sync_parent(int dirfd)
{
	int parent = openat(dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = parent < 0 || fsync(parent) != 0 ? errno : 0;

	if (parent >= 0)
		close(parent);
	return error == EACCES ? 0 : error;
}

/* Opens and locks the directory; *logfd is that of log/. */
static enum err open_dir(struct engine *e, int *logfd, struct fault *f)
{
	*logfd = -1;
	if (e->opts.dir == NULL)
		return ERR_OK;
	bool made = mkdir(e->opts.dir, 0700) == 0;

	if (!made && errno != EEXIST)
		return file_error(errno, e->opts.dir, f);
	int dirfd = open(e->opts.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dirfd < 0)
		return file_error(errno, e->opts.dir, f);
	enum err rc = lock_dir(e, dirfd, f);

	if (rc == ERR_OK && mkdirat(dirfd, "log", 0700) != 0 && errno != EEXIST)
		rc = file_error(errno, "log", f);
	if (rc == ERR_OK) {
		*logfd = openat(dirfd, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*logfd < 0 || fsync(dirfd) != 0)
			rc = file_error(errno, "log", f);
	}
	if (rc == ERR_OK && made) {
		int error = sync_parent(dirfd);

		rc = error != 0 ? file_error(error, e->opts.dir, f) : ERR_OK;
	}
	close(dirfd);
	return rc;
}

/* ---- recovery ---- */

static enum err replay(void *arg, const struct log_record *r, struct fault *f)
{
	struct engine *e = arg;

	pthread_mutex_lock(&e->lock);
	e->w.active = e->state->table[0];
	pthread_mutex_unlock(&e->lock);
	e->w.undo_n = 0;
	if (!engine_apply(e, r->ops, r->lsn))
		return fault_set(f, MSG_NO_MEMORY);
	e->w.undo_n = 0;
	engine_publish_lsn(e, r->lsn);
	return ERR_OK;
}

static enum err open_log(struct engine *e, const struct wal_opts *o, struct fault *f)
{
	struct wal_replay r = { .record = replay, .arg = e };

	atomic_store(&e->published, o->checkpoint_lsn);
	atomic_store(&e->c.lsn, o->checkpoint_lsn);
	return wal_open(o, &r, &e->wal, &e->w.next_lsn, f);
}

/* A small disk gets a log of small files, and few that wait to be used again. */
static void suit_disk(struct engine *e, struct wal_opts *o)
{
	struct disk_room room = file_disk_room(e->lock_fd);
	uint64_t total = room.total;

	e->w.disk_left = room.left;
	e->disk_kept = total / 16 < DISK_KEPT_MAX ? total / 16 : DISK_KEPT_MAX;
	if (o->segment_bytes > total / 32)
		o->segment_bytes = total / 32 > SEGMENT_LEAST ? (size_t)(total / 32) & ~(size_t)4095 : SEGMENT_LEAST;
	if (o->recycle_bytes > total / 16)
		o->recycle_bytes = (size_t)(total / 16);
}

static enum err open_files(struct engine *e, struct fault *f)
{
	struct wal_opts o = { .durability = e->opts.durability, .segment_bytes = e->opts.segment_bytes,
		.recycle_bytes = e->opts.overlay_bytes, .keep_ms = e->opts.log_keep_seconds * 1000,
		.consumers = e->opts.consumers, .turn = &e->turn };
	struct lmdb_opts index = { .dir = e->opts.dir, .map_max_bytes = e->opts.map_max_bytes,
		.readers_max = READERS_MAX };
	enum err rc = open_dir(e, &o.dirfd, f);

	suit_disk(e, &o);
	if (rc == ERR_OK)
		rc = lmdb_open(&index, &e->index, f);
	if (rc == ERR_OK) {
		lmdb_check_readers(e->index);
		rc = index_meta_open(e->index, o.uuid, &o.checkpoint_lsn, f);
	}
	if (rc == ERR_OK)
		return open_log(e, &o, f);
	if (o.dirfd >= 0)
		close(o.dirfd);
	return rc;
}

/* ---- opening and closing ---- */

static enum err open_overlay(struct engine *e, struct fault *f)
{
	struct memtable *t = memtable_new(e->opts.overlay_bytes / OVERLAY_PARTS);
	struct state *s = t != NULL ? state_new(&t, 1) : NULL;

	if (s == NULL) {
		memtable_free(&t);
		return fault_set(f, MSG_NO_MEMORY);
	}
	t->born_ns = monotonic_ns();
	state_install_locked(e, s);
	return ERR_OK;
}

static struct engine *engine_new(const struct engine_opts *o)
{
	struct engine *e = calloc(1, sizeof *e);

	if (e == NULL)
		return NULL;
	e->opts = *o;
	set_defaults(&e->opts);
	e->lock_fd = -1;
	pthread_mutex_init(&e->lock, NULL);
	turn_init(&e->turn);
	monotonic_cond_init(&e->c.wake);
	room_init(e);
	buf_init(&e->w.batch);
	e->w.batch.max = LOG_BATCH_MAX;
	return e;
}

enum err engine_open(const struct engine_opts *o, struct engine **out, struct fault *f)
{
	struct engine *e = engine_new(o);

	*out = NULL;
	if (e == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	enum err rc = open_overlay(e, f);

	if (rc == ERR_OK)
		rc = open_files(e, f);
	if (rc == ERR_OK)
		rc = checkpointer_start(e, f);
	e->opts.dir = NULL;   /* the caller's string */
	if (rc != ERR_OK)
		engine_close(&e);
	*out = e;
	return rc;
}

void engine_close(struct engine **ep)
{
	struct engine *e = *ep;

	if (e == NULL)
		return;
	view_close(&e->w.view);
	checkpointer_stop(e);
	view_free_pool(e);
	wal_close(&e->wal);
	lmdb_close(&e->index);
	if (e->state != NULL)
		state_unref_locked(e, e->state);
	while (state_free_some(e, SIZE_MAX))
		continue;
	buf_release(&e->w.batch);
	free(e->w.undo);
	if (e->lock_fd >= 0)
		close(e->lock_fd);
	room_destroy(e);
	pthread_cond_destroy(&e->c.wake);
	turn_destroy(&e->turn);
	pthread_mutex_destroy(&e->lock);
	free(e);
	*ep = NULL;
}

/* ---- looking inside ---- */

uint64_t engine_published(const struct engine *e)
{
	return atomic_load_explicit(&e->published, memory_order_acquire);
}

uint64_t engine_set_map_max(struct engine *e, uint64_t bytes)
{
	return lmdb_set_limit(e->index, bytes != 0 ? bytes : MAP_DEFAULT);
}

void engine_stats(struct engine *e, struct engine_stats *out)
{
	*out = (struct engine_stats){
		.lsn_published = engine_published(e),
		.lsn_checkpointed = atomic_load(&e->c.lsn),
		.batches = atomic_load_explicit(&e->batches, memory_order_relaxed),
		.transactions = atomic_load_explicit(&e->transactions, memory_order_relaxed),
		.flush_ns_total = atomic_load_explicit(&e->flush_ns, memory_order_relaxed),
		.checkpoint_count = atomic_load_explicit(&e->c.count, memory_order_relaxed),
		.checkpoint_ns_total = atomic_load_explicit(&e->c.ns, memory_order_relaxed),
		.writer_stall_ns_total = atomic_load(&e->room.stall_ns) + atomic_load(&e->turn.held_ns),
	};
	wal_usage(e->wal, &out->log_bytes, &out->log_segments);
	pthread_mutex_lock(&e->lock);
	for (unsigned i = 0; i < e->state->n; i++)
		out->overlay_bytes += atomic_load_explicit(&e->state->table[i]->bytes, memory_order_relaxed);
	out->map_bytes = lmdb_limit(e->index);
	out->map_used_bytes = e->c.usage.used;
	out->map_free_bytes = e->c.usage.free;
	out->readers = e->c.usage.readers;
	out->readers_max = e->c.usage.readers_max;
	out->dropping = e->c.drops;
	pthread_mutex_unlock(&e->lock);
}
