/* log_reader - following the log: batch by batch out of the segment files, record by record to the caller.
 *
 *    segment 7 ........end | segment 8 ....at......end
 *                                        ^ next batch
 *
 * A reader holds a reference to the segment it stands in; segments leave the row from its oldest end only, so what
 * lies ahead of it stays as well. It reads no further than `end`: published batches. Of a segment that was there
 * at open `end` may not be known; it ends where no batch begins, if its last LSN is the one before the next segment's.
 *
 * Threads: one at a time. */
#include "store/engine/engine_int.h"
#include "store/engine/file.h"
#include "store/engine/wal.h"

#include "protocol/messages.h"

#include <stdlib.h>

struct log_reader {
	struct wal *wal;
	struct segment *segment;
	size_t at;
	uint64_t seen;               /* the last LSN read in this segment */
	uint64_t after;              /* the last one delivered */
	struct buf bytes;            /* the batch */
	struct slice records;        /* of the batch, not yet delivered */
	struct log_change *change;
	size_t change_cap;
	struct arena joined;         /* values of the record that the log has in two parts */
};

enum err log_reader_open(struct engine *e, uint64_t after_lsn, struct log_reader **out, struct fault *f)
{
	struct log_reader *r = calloc(1, sizeof *r);
	struct wal *w = e->wal;

	*out = NULL;
	if (r == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	buf_init(&r->bytes);
	arena_init(&r->joined, 0);
	r->wal = w;
	r->after = after_lsn;
	r->at = LOG_SEGMENT_HEADER;
	pthread_mutex_lock(&w->lock);
	uint64_t oldest = w->live->prev_lsn;

	if (after_lsn >= oldest) {
		r->segment = w->live;
		while (r->segment->next != NULL && r->segment->next->prev_lsn <= after_lsn)
			r->segment = r->segment->next;
		r->segment->refs++;
		r->seen = r->segment->prev_lsn;
	}
	pthread_mutex_unlock(&w->lock);
	if (r->segment == NULL) {
		log_reader_close(&r);
		return fault_set(f, MSG_ENGINE_TRIMMED, (unsigned long long)after_lsn, (unsigned long long)oldest);
	}
	*out = r;
	return ERR_OK;
}

void log_reader_close(struct log_reader **rp)
{
	struct log_reader *r = *rp;

	if (r == NULL)
		return;
	if (r->segment != NULL) {
		pthread_mutex_lock(&r->wal->lock);
		r->segment->refs--;
		pthread_mutex_unlock(&r->wal->lock);
	}
	buf_release(&r->bytes);
	arena_release(&r->joined);
	free(r->change);
	free(r);
	*rp = NULL;
}

static enum err corrupt(const struct log_reader *r, struct fault *f)
{
	char name[SEGMENT_NAME];

	segment_name(name, r->segment->seq);
	return fault_set(f, MSG_ENGINE_LOG_CORRUPT, name, (unsigned long long)r->at, "a batch cannot be read");
}

/* ---- batches ---- */

/* Read n bytes more of the batch at r->at. */
static enum err read_more(struct log_reader *r, size_t n, struct fault *f)
{
	uint8_t *p = buf_reserve(&r->bytes, n);
	size_t got;

	if (p == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	int error = file_read_at(r->segment->fd, p, n, (off_t)(r->at + r->bytes.n), &got);

	if (error != 0)
		return file_error(error, "log", f);
	r->bytes.n += got;
	return ERR_OK;
}

/* Read the batch at r->at if there is one; *got = false where none begins, or none that is whole. */
static enum err read_batch(struct log_reader *r, bool *got, struct fault *f)
{
	struct segment *s = r->segment;
	struct log_batch b;

	*got = false;
	buf_clear(&r->bytes);
	enum err rc = read_more(r, LOG_BATCH_HEADER, f);
	size_t size = rc == ERR_OK ? log_batch_size(buf_slice(&r->bytes), s->salt) : 0;

	if (rc != ERR_OK || size == 0 || size > s->capacity - r->at)
		return rc;
	rc = read_more(r, size - r->bytes.n, f);
	if (rc != ERR_OK || !log_batch_decode(buf_slice(&r->bytes), s->salt, &b))
		return rc;
	r->records = b.records;
	r->at += b.size;
	r->seen = b.last_lsn;
	*got = true;
	return ERR_OK;
}

/* Go to the segment `next`, if nothing of this one is missing. */
static enum err step(struct log_reader *r, struct segment *next, struct fault *f)
{
	if (r->seen != next->prev_lsn)
		return corrupt(r, f);
	pthread_mutex_lock(&r->wal->lock);
	r->segment->refs--;
	next->refs++;
	pthread_mutex_unlock(&r->wal->lock);
	r->segment = next;
	r->at = LOG_SEGMENT_HEADER;
	return ERR_OK;
}

/* Have records to deliver, or *more = false: all that is published has been read. */
static enum err fill(struct log_reader *r, bool *more, struct fault *f)
{
	for (;;) {
		pthread_mutex_lock(&r->wal->lock);
		struct segment *next = r->segment->next;   /* if there is one, `end` changes no more */

		pthread_mutex_unlock(&r->wal->lock);
		/* Looked at once: a batch may be published between two looks, and then none was asked for. */
		size_t end = atomic_load_explicit(&r->segment->end, memory_order_acquire);
		enum err rc = ERR_OK;

		*more = false;
		if (r->at < end)
			rc = read_batch(r, more, f);
		if (rc != ERR_OK || *more)
			return rc;
		if (next == NULL)
			return r->at < end ? corrupt(r, f) : ERR_OK;
		rc = step(r, next, f);
		if (rc != ERR_OK)
			return rc;
	}
}

/* ---- records ---- */

/* The whole value; absent if memory is out. */
static struct slice join(struct log_reader *r, const struct log_op *op)
{
	uint8_t *p = arena_alloc(&r->joined, op->value.n + op->tail.n);

	if (p == NULL)
		return SLICE_NONE;
	memcpy(p, op->value.p, op->value.n);
	memcpy(p + op->value.n, op->tail.p, op->tail.n);
	return slice_of(p, op->value.n + op->tail.n);
}

static enum err decode(struct log_reader *r, const struct log_record *record, struct log_entry *entry, struct fault *f)
{
	struct log_ops ops = log_ops_of(record->ops);
	struct log_op op;

	*entry = (struct log_entry){ .lsn = record->lsn, .time_ms = record->time_ms, .bytes = LOG_RECORD_HEADER + record->ops.n };
	arena_reset(&r->joined);
	if (record->count > r->change_cap) {
		struct log_change *grown = realloc(r->change, record->count * sizeof *grown);

		if (grown == NULL)
			return fault_set(f, MSG_NO_MEMORY);
		r->change = grown;
		r->change_cap = record->count;
	}
	for (uint32_t i = 0; i < record->count && log_op_next(&ops, &op); i++) {
		if (op.kind == LOG_OP_PUT_MORE && !slice_present(op.value = join(r, &op)))
			return fault_set(f, MSG_NO_MEMORY);
		if (op.kind == LOG_OP_NOTE)
			entry->note = op.value;
		else if (op.kind != LOG_OP_DROP)
			r->change[entry->changes++] = (struct log_change){ .key = op.key, .value = op.value };
	}
	entry->change = r->change;
	r->after = record->lsn;
	return ERR_OK;
}

enum err log_reader_next(struct log_reader *r, struct log_entry *entry, bool *got, struct fault *f)
{
	struct log_record record;

	*got = false;
	for (;;) {
		while (log_record_next(&r->records, &record)) {
			if (record.lsn <= r->after)
				continue;
			*got = true;
			return decode(r, &record, entry, f);
		}
		bool more;
		enum err rc = fill(r, &more, f);

		if (rc != ERR_OK || !more)
			return rc;
	}
}

void engine_retain(struct engine *e, unsigned slot, uint64_t lsn)
{
	wal_retain(e->wal, slot, lsn);
}

uint64_t engine_oldest(const struct engine *e)
{
	return wal_oldest(e->wal);
}
