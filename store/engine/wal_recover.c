/* wal_recover - what is found in log/ when the engine opens.
 *
 *    0000..7.log   before the checkpoint: only its header is read
 *    0000..8.log   replayed from the checkpoint on
 *    0000..9.log   replayed; its tail may be torn: what a crash interrupted, or let the disk reorder
 *    0000..a.log   made beforehand, not begun: removed
 *
 * R1. Whether a bad place is a torn tail or damage is told by what was written later: every batch and segment says
 *     which LSN was on disk before it (L3). If that is missing, ERR_CORRUPT with file and offset.
 * R2. After a cut a new segment is begun, so that nothing written later can meet what lies behind the cut.
 * R3. What is replayed is on disk before wal_open returns.
 *
 * Damage that hits nothing but the last batch looks like a torn write, unless LMDB has a later LSN. */
#include "store/engine/wal.h"

#include "protocol/messages.h"
#include "store/engine/file.h"
#include "store/engine/log_scan.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_SEGMENT_BYTES = 4 << 20 };
/* What DURABILITY_ASYNC or _NONE lost may have been seen by followers: its LSNs are passed over. */
static const uint64_t LSN_SKIP = 1 << 20;

struct recovery {
	struct wal *w;
	const struct wal_replay *replay;
	uint64_t *seq;               /* numbers of the files, in order */
	size_t files;
	uint64_t last, highest;      /* LSNs: the last without a gap, the highest seen at all */
	bool torn;                   /* the last segment read has a cut */
	struct segment *dropped;     /* to be removed once all is well */
	bool any, weak;              /* a segment was found; one was not synced batch by batch */
};

static enum err corrupt(const struct segment *s, size_t at, const char *why, struct fault *f)
{
	char name[SEGMENT_NAME];

	segment_name(name, s->seq);
	return fault_set(f, MSG_ENGINE_LOG_CORRUPT, name, (unsigned long long)at, why);
}

/* ---- the files ---- */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static enum err add_file(struct recovery *r, uint64_t seq, struct fault *f)
{
	uint64_t *grown = realloc(r->seq, (r->files + 1) * sizeof *grown);

	if (grown == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	r->seq = grown;
	r->seq[r->files++] = seq;
	return ERR_OK;
}

static enum err list_files(struct recovery *r, struct fault *f)
{
	int fd = dup(r->w->o.dirfd);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	enum err rc = ERR_OK;
	uint64_t seq;

	if (d == NULL)
		return file_error(errno, "log", f);
	for (struct dirent *entry; rc == ERR_OK && (entry = readdir(d)) != NULL;)
		if (segment_number(entry->d_name, &seq))
			rc = add_file(r, seq, f);
	closedir(d);
	if (r->files > 1)
		qsort(r->seq, r->files, sizeof *r->seq, by_number);
	return rc;
}

static enum err read_all(struct segment *s, uint8_t **bytes, size_t *n, struct fault *f)
{
	*bytes = malloc(s->capacity + 1);
	if (*bytes == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	int error = file_read_at(s->fd, *bytes, s->capacity, 0, n);

	return error == 0 ? ERR_OK : file_error(error, "log", f);
}

static enum err read_header(struct recovery *r, struct segment *s, bool *begun, struct log_header *h, struct fault *f)
{
	uint8_t bytes[LOG_SEGMENT_HEADER];
	size_t n;
	int error = file_read_at(s->fd, bytes, sizeof bytes, 0, &n);

	if (error != 0)
		return file_error(error, "log", f);
	*begun = log_header_decode(slice_of(bytes, n), h) && h->seq == s->seq;
	if (*begun && memcmp(h->uuid, r->w->o.uuid, LOG_UUID) != 0)
		return corrupt(s, 0, "it belongs to another store", f);
	return ERR_OK;
}

/* Only a recovery that succeeds removes files: otherwise they are evidence. */
static void end_dropped(struct recovery *r, bool unlink)
{
	while (r->dropped != NULL) {
		struct segment *s = r->dropped;

		r->dropped = s->next;
		if (unlink)
			segment_unlink(r->w->o.dirfd, s);
		segment_close(&s);
	}
}

/* ---- one segment ---- */

/* Not begun, or behind a cut: it may go unless it knows of something that is missing. */
static enum err drop_segment(struct recovery *r, struct segment *s, struct fault *f)
{
	struct log_scan scan = { .end = LOG_SEGMENT_HEADER };
	uint8_t *bytes;
	size_t n;
	enum err rc = read_all(s, &bytes, &n, f);

	if (rc == ERR_OK) {
		log_scan_rest(slice_of(bytes, n), log_salt(r->w->o.uuid, s->seq), &scan);
		if (scan.highest_lsn > r->highest)
			r->highest = scan.highest_lsn;
		if (scan.durable_lsn > r->last)
			rc = corrupt(s, 0, "its header is damaged", f);
	}
	free(bytes);
	s->next = r->dropped;
	r->dropped = s;
	return rc;
}

static enum err replay_record(void *arg, const struct log_record *record, struct fault *f)
{
	struct recovery *r = arg;

	if (record->lsn <= r->w->checkpoint_lsn)
		return ERR_OK;
	return r->replay->record(r->replay->arg, record, f);
}

static enum err replay_bytes(struct recovery *r, struct segment *s, struct slice bytes, struct fault *f)
{
	struct log_scan scan = { .last_lsn = r->last, .record = replay_record, .arg = r };
	enum err rc = log_scan(bytes, s->salt, &scan, f);

	if (rc == ERR_CORRUPT)
		return corrupt(s, scan.end, "a batch makes no sense", f);
	if (rc != ERR_OK)
		return rc;
	if (scan.durable_lsn > scan.last_lsn)
		return corrupt(s, scan.end, "what was on disk cannot be read", f);
	r->last = scan.last_lsn;
	if (scan.highest_lsn > r->highest)
		r->highest = scan.highest_lsn;
	r->torn = scan.torn;
	s->tail = scan.end;
	atomic_store(&s->end, scan.end);
	return ERR_OK;
}

static enum err replay_segment(struct recovery *r, struct segment *s, struct fault *f)
{
	uint8_t *bytes;
	size_t n;
	enum err rc = read_all(s, &bytes, &n, f);

	if (rc == ERR_OK)
		rc = replay_bytes(r, s, slice_of(bytes, n), f);
	free(bytes);
	if (rc == ERR_OK && fdatasync(s->fd) != 0)
		rc = file_error(errno, "log", f);
	atomic_store(&s->last_lsn, r->last);
	return rc;
}

static enum err add_segment(struct recovery *r, struct segment *s, const struct log_header *h, struct fault *f)
{
	struct segment *before = r->w->active;

	if (!r->any && h->prev_lsn > r->w->checkpoint_lsn)
		return corrupt(s, 0, "the segments before it are missing", f);
	if (!r->any)
		r->last = h->prev_lsn;
	if (h->durable_lsn > r->last)
		return before != NULL ? corrupt(before, before->tail, "what was on disk cannot be read", f)
				      : corrupt(s, 0, "the segments before it are missing", f);
	r->any = true;
	r->weak = r->weak || h->durability != DURABILITY_SYNC;
	s->prev_lsn = h->prev_lsn;
	s->salt = log_salt(h->uuid, s->seq);
	atomic_store(&s->last_ms, unix_ms());
	wal_push_locked(r->w, s);
	return ERR_OK;
}

/* LMDB has all of segment number i, by the header of the one after it: then it need not be read. *last: its last LSN. */
static bool before_checkpoint(struct recovery *r, size_t i, uint64_t *last)
{
	struct segment *next;
	struct log_header h;
	bool begun = false;

	if (i + 1 == r->files || segment_open(r->w->o.dirfd, r->seq[i + 1], &next, NULL) != ERR_OK)
		return false;
	begun = read_header(r, next, &begun, &h, NULL) == ERR_OK && begun;
	segment_close(&next);
	*last = begun ? h.prev_lsn : 0;
	return begun && h.prev_lsn <= r->w->checkpoint_lsn && h.durable_lsn == h.prev_lsn;
}

/* Unsynced batches before it are lost, so it is lost too. (If they had been synced, that is damage: add_segment.) */
static bool behind_gap(const struct recovery *r, const struct log_header *h)
{
	return r->any && h->prev_lsn > r->last && h->durable_lsn <= r->last;
}

static enum err recover_file(struct recovery *r, size_t i, struct fault *f)
{
	struct segment *s;
	struct log_header h;
	uint64_t last;
	bool begun;
	enum err rc = segment_open(r->w->o.dirfd, r->seq[i], &s, f);

	if (rc != ERR_OK)
		return rc;
	rc = read_header(r, s, &begun, &h, f);
	if (rc == ERR_OK && (!begun || behind_gap(r, &h)))
		return drop_segment(r, s, f);
	if (rc == ERR_OK)
		rc = add_segment(r, s, &h, f);
	if (rc != ERR_OK) {
		segment_close(&s);
		return rc;
	}
	r->torn = false;
	if (!before_checkpoint(r, i, &last))
		return replay_segment(r, s, f);
	r->last = last;
	atomic_store(&s->last_lsn, last);
	atomic_store(&s->end, s->capacity);   /* not known: a log reader finds it */
	return ERR_OK;
}

/* ---- all ---- */

static enum err check_complete(const struct recovery *r, struct fault *f)
{
	const struct segment *s = r->w->active;

	if (r->last >= r->w->checkpoint_lsn)
		return ERR_OK;
	if (s != NULL)
		return corrupt(s, s->tail, "it ends before what the index has", f);
	return fault_set(f, MSG_ENGINE_LOG_CORRUPT, "", 0ull, "there is no log, but an index");
}

static enum err begin_segment(struct recovery *r, struct fault *f)
{
	struct wal *w = r->w;
	struct segment *s;
	size_t bytes = w->o.segment_bytes < FIRST_SEGMENT_BYTES ? w->o.segment_bytes : FIRST_SEGMENT_BYTES;

	/* what an ephemeral segment holds costs nothing before it is there */
	if (w->o.dirfd < 0)
		bytes = w->o.segment_bytes;
	enum err rc = segment_create(w->o.dirfd, w->next_seq, bytes, w->o.turn, &s, f);

	if (rc == ERR_OK)
		rc = wal_begin_segment(w, s, f);
	if (rc != ERR_OK) {
		segment_close(&s);
		return rc;
	}
	w->next_seq++;
	wal_push_locked(w, s);
	return ERR_OK;
}

enum err wal_recover(struct wal *w, const struct wal_replay *replay, uint64_t *next_lsn, struct fault *f)
{
	struct recovery r = { .w = w, .replay = replay };
	enum err rc = w->o.dirfd >= 0 ? list_files(&r, f) : ERR_OK;

	for (size_t i = 0; rc == ERR_OK && i < r.files; i++)
		rc = recover_file(&r, i, f);
	w->next_seq = r.files > 0 ? r.seq[r.files - 1] + 1 : 1;
	free(r.seq);
	if (rc == ERR_OK)
		rc = check_complete(&r, f);
	end_dropped(&r, rc == ERR_OK);
	if (rc != ERR_OK)
		return rc;
	atomic_store(&w->appended_lsn, r.last);
	atomic_store(&w->durable_lsn, r.last);
	*next_lsn = (r.highest > r.last ? r.highest : r.last) + 1 + (r.weak ? LSN_SKIP : 0);
	return w->active == NULL || r.torn ? begin_segment(&r, f) : ERR_OK;
}
