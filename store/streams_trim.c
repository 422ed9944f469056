/* streams_trim - records older than a day leave the engine, by whole buckets; so do streams that ended a day ago.
 *
 * All keys of a bucket share their first bytes, so dropping it is one small entry of the log, whatever it holds; the
 * engine frees the space between its checkpoints. Writers wait for nothing. */
#include "protocol/messages.h"
#include "store/keeper.h"
#include "store/streams.h"

enum { SHARD_KEY = 4 };

/* What one write takes away: keys, each a msgpack bin. Never much: a bucket of a shard in 17 minutes. */
struct trim {
	struct buf prefixes, rows;
};

static enum err trim_apply(struct write_batch *b, struct store_write *w)
{
	const struct trim *trim = w->plan->control;
	struct mp prefixes = mp_open(buf_slice(&trim->prefixes)), rows = mp_open(buf_slice(&trim->rows));
	struct write_txn t;

	write_txn_begin(&t, b, w->req->arena);
	while (!mp_at_end(&prefixes))
		engine_drop_prefix(b->store->engine, mp_bin(&prefixes));
	while (!mp_at_end(&rows))
		engine_del(b->store->engine, mp_bin(&rows));
	return write_txn_commit(&t, &w->fault);
}

/* ---- what there is to trim ---- */

struct survey {
	struct keeper *keeper;
	struct view *view;
	struct trim *trim;
	uint64_t until;              /* buckets that end at this position, or before, go */
};

/* bytes: how much of the key makes the prefix. */
static void drop(struct survey *s, uint32_t shard, uint64_t position, size_t bytes)
{
	uint8_t key[STREAM_RECORD_KEY];
	struct slice k = stream_record_key(shard, position, key);

	mp_put_bin(&s->trim->prefixes, slice_of(k.p, bytes));
}

static enum err first_at(struct survey *s, uint32_t shard, uint64_t from, uint64_t *position, bool *found, struct fault *f)
{
	uint8_t lo[STREAM_RECORD_KEY], hi[STREAM_RECORD_KEY];
	struct slice key = SLICE_NONE, value;
	struct cursor *c;
	enum err rc = cursor_open(s->view, stream_record_key(shard, from, lo), stream_record_key(shard, s->until, hi), false, &c, f);

	if (rc != ERR_OK)
		return rc;
	rc = cursor_next(c, &key, &value, f);
	*found = rc == ERR_OK && slice_present(key);
	*position = *found ? stream_record_position(key) : 0;
	cursor_close(&c);
	return rc;
}

static enum err survey_shard(struct survey *s, uint32_t shard, struct fault *f)
{
	uint64_t from = s->keeper->trimmed, position;
	bool found = true;
	enum err rc = ERR_OK;

	while (from < s->until) {
		rc = first_at(s, shard, from, &position, &found, f);
		if (rc != ERR_OK || !found)
			break;
		drop(s, shard, position, STREAM_BUCKET_KEY);
		from = ((position >> STREAM_BUCKET_BITS) + 1) << STREAM_BUCKET_BITS;
	}
	return rc;
}

static enum err survey_stream(struct survey *s, struct slice key, struct slice row, struct fault *f)
{
	struct stream stream;
	struct shard shard;
	enum err rc = ERR_OK;

	if (!stream_decode(row, &stream))
		return fault_set(f, MSG_CATALOG_DAMAGED);
	if (!stream_gone(s->keeper->store, &stream)) {
		while (rc == ERR_OK && stream_shard_next(&stream, &shard))
			rc = survey_shard(s, shard.id, f);
		return rc;
	}
	while (stream_shard_next(&stream, &shard))
		drop(s, shard.id, 0, SHARD_KEY);
	mp_put_bin(&s->trim->rows, key);
	return ERR_OK;
}

static enum err survey_all(struct survey *s, struct fault *f)
{
	struct buf lo, hi;
	struct cursor *c = NULL;
	struct slice key = SLICE_NONE, row;

	buf_init(&lo);
	buf_init(&hi);
	stream_row_bounds(&lo, &hi);
	enum err rc = lo.failed || hi.failed ? fault_set(f, MSG_NO_MEMORY)
		: cursor_open(s->view, buf_slice(&lo), buf_slice(&hi), false, &c, f);

	while (rc == ERR_OK) {
		rc = cursor_next(c, &key, &row, f);
		if (rc != ERR_OK || !slice_present(key))
			break;
		rc = survey_stream(s, key, row, f);
	}
	if (c != NULL)
		cursor_close(&c);
	buf_release(&lo);
	buf_release(&hi);
	return rc;
}

void streams_trim(struct keeper *k)
{
	struct trim trim;
	/* A bucket later than it could be (T3). */
	uint64_t until = ((stream_horizon(k->store) >> STREAM_BUCKET_BITS) - 1) << STREAM_BUCKET_BITS;
	struct survey s = { .keeper = k, .trim = &trim, .until = until };
	enum err rc = view_open(k->store->engine, &s.view, NULL);

	buf_init(&trim.prefixes);
	buf_init(&trim.rows);
	if (rc == ERR_OK) {
		rc = survey_all(&s, NULL);
		view_close(&s.view);
	}
	if (trim.prefixes.failed || trim.rows.failed)
		rc = ERR_NO_MEMORY;
	if (rc == ERR_OK && trim.prefixes.n + trim.rows.n != 0)
		rc = own_write_run(&k->write, &k->arena, trim_apply, &trim);
	/* Dropped keys may be seen until the engine has freed them: not to be dropped again. */
	if (rc == ERR_OK)
		k->trimmed = until;
	buf_release(&trim.prefixes);
	buf_release(&trim.rows);
	arena_reset(&k->arena);
}
