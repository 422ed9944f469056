/* streams_trim - records older than a day leave the engine, by whole buckets; so do shards that ended, and streams that were
 * closed, a day ago.
 *
 * All keys of a bucket share their first bytes, so dropping it is one small entry of the log, whatever it holds; the
 * engine frees the space between its checkpoints. Writers wait for nothing. */
#include "protocol/messages.h"
#include "store/keeper.h"
#include "store/streams.h"

enum { SHARD_KEY = 4, PAGE = 64 };

/* What is to go: keys, each a msgpack bin. */
struct trim {
	struct buf prefixes, rows;
};

/* The writer takes away a page of them. */
struct trim_page {
	struct mp keys;
	void (*forget)(struct engine *e, struct slice key);
};

static enum err trim_apply(struct write_batch *b, struct store_write *w)
{
	struct trim_page *p = w->plan->control;
	struct write_txn t;

	write_txn_begin(&t, b, w->req->arena);
	for (unsigned i = 0; i < PAGE && !mp_at_end(&p->keys); i++)
		p->forget(b->store->engine, mp_bin(&p->keys));
	return write_txn_commit(&t, &w->fault);
}

static enum err trim_all(struct keeper *k, const struct buf *keys, void (*forget)(struct engine *e, struct slice key))
{
	struct trim_page p = { mp_open(buf_slice(keys)), forget };
	enum err rc = keys->failed ? ERR_NO_MEMORY : ERR_OK;

	while (rc == ERR_OK && !mp_at_end(&p.keys)) {
		rc = keeper_stopping(k) ? ERR_UNAVAILABLE : own_write_run(&k->write, &k->arena, trim_apply, &p);
		arena_reset(&k->arena);
	}
	return rc;
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

/* Nothing of the shard is read any more. */
static void drop_shard(struct survey *s, uint32_t stream, uint32_t shard)
{
	uint8_t key[SHARD_ROW_KEY];

	drop(s, shard, 0, SHARD_KEY);
	mp_put_bin(&s->trim->rows, shard_row_key(stream, shard, key));
}

static enum err survey_stream(struct survey *s, struct slice key, struct slice row, struct fault *f)
{
	struct stream stream;
	struct shard shard;
	struct cursor *c = NULL;
	bool got = true;

	if (!stream_decode(row, &stream))
		return fault_set(f, MSG_CATALOG_DAMAGED);
	bool gone = stream_gone(s->keeper->store, &stream);
	enum err rc = shards_open(s->view, stream.id, 0, &c, f);

	while (rc == ERR_OK && (rc = shards_next(c, &shard, &got, f)) == ERR_OK && got) {
		if (gone || !shard_lives(&shard, s->until))
			drop_shard(s, stream.id, shard.id);
		else
			rc = survey_shard(s, shard.id, f);
	}
	cursor_close(&c);
	/* Last: without it the shards could not be found again. */
	if (rc == ERR_OK && gone)
		mp_put_bin(&s->trim->rows, key);
	return rc;
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
		rc = keeper_stopping(s->keeper) ? ERR_UNAVAILABLE : survey_stream(s, key, row, f);
	}
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
	if (rc == ERR_OK)
		rc = trim_all(k, &trim.prefixes, engine_drop_prefix);
	if (rc == ERR_OK)
		rc = trim_all(k, &trim.rows, engine_del);
	/* Dropped keys may be seen until the engine has freed them: not to be dropped again. */
	if (rc == ERR_OK)
		k->trimmed = until;
	buf_release(&trim.prefixes);
	buf_release(&trim.rows);
}
