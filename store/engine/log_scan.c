/* log_scan - see log_scan.h. */
#include "store/engine/log_scan.h"

static struct slice from(struct slice s, size_t at)
{
	return slice_of(s.p + at, s.n - at);
}

static enum err records(struct log_scan *s, const struct log_batch *b, struct fault *f)
{
	struct slice left = b->records;
	struct log_record r;
	enum err rc = ERR_OK;
	uint32_t n = 0;

	for (; rc == ERR_OK && log_record_next(&left, &r); n++) {
		if (r.lsn <= s->last_lsn)
			return ERR_CORRUPT;
		s->last_lsn = r.lsn;
		rc = s->record(s->arg, &r, f);
	}
	if (rc == ERR_OK && (left.n != 0 || n != b->count || s->last_lsn != b->last_lsn))
		return ERR_CORRUPT;
	return rc;
}

void log_scan_rest(struct slice segment, uint64_t salt, struct log_scan *s)
{
	struct log_batch b;

	if (s->end > segment.n)
		return;
	s->torn = log_batch_size(from(segment, s->end), salt) != 0;   /* a batch begins here, but is not whole */
	for (size_t at = s->end; at + LOG_BATCH_HEADER <= segment.n; at += LOG_ALIGN) {
		if (!log_batch_decode(from(segment, at), salt, &b))
			continue;
		s->torn = true;
		if (b.last_lsn > s->highest_lsn)
			s->highest_lsn = b.last_lsn;
		if (b.durable_lsn > s->durable_lsn)
			s->durable_lsn = b.durable_lsn;
	}
}

enum err log_scan(struct slice segment, uint64_t salt, struct log_scan *s, struct fault *f)
{
	struct log_batch b;

	for (s->end = LOG_SEGMENT_HEADER; s->end < segment.n; s->end += b.size) {
		if (!log_batch_decode(from(segment, s->end), salt, &b))
			break;
		enum err rc = records(s, &b, f);

		if (rc != ERR_OK)
			return rc;
	}
	if (s->last_lsn > s->highest_lsn)
		s->highest_lsn = s->last_lsn;
	log_scan_rest(segment, salt, s);
	return ERR_OK;
}
