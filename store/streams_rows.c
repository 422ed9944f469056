/* streams_rows - how streams, their shards and records lie in the engine.
 *
 *    | 0, 's' | label | 0 | table name |       -> [format, id, table name, label, view type, created ms, closed ms, KeySchema]
 *    | 0, 'h' | stream id 4 | shard id 4 |     -> [start, end, first hash, last hash, parent, parent's start]
 *    | shard id 4 | position 8 |               -> a record (streams.c)
 *
 * A row for each shard, so that a split writes three of them, and a page of records needs one, however many there are. Shards
 * of a stream are ordered by id, which is the order in which they began. */
#include "protocol/messages.h"
#include "store/big_endian.h"
#include "store/streams.h"

enum { ROW_FORMAT = 2, ROW_FIELDS = 8, SHARD_FIELDS = 6, SHARD_PREFIX = 5 };

/* ---- keys ---- */

static void put_row_prefix(struct buf *b, uint8_t kind)
{
	static const uint8_t table_zero[4];

	buf_put(b, table_zero, sizeof table_zero);
	buf_put_u8(b, kind);
}

void stream_row_key(struct buf *b, struct slice label, struct slice table)
{
	put_row_prefix(b, 's');
	buf_put_slice(b, label);
	buf_put_u8(b, 0);
	buf_put_slice(b, table);
}

void stream_row_bounds(struct buf *lo, struct buf *hi)
{
	put_row_prefix(lo, 's');
	put_row_prefix(hi, 's' + 1);
}

struct slice shard_row_key(uint32_t stream, uint32_t id, uint8_t out[SHARD_ROW_KEY])
{
	be_put(out, 'h', SHARD_PREFIX);
	be_put(out + SHARD_PREFIX, stream, 4);
	be_put(out + SHARD_PREFIX + 4, id, 4);
	return slice_of(out, SHARD_ROW_KEY);
}

struct slice stream_record_key(uint32_t shard, uint64_t position, uint8_t out[STREAM_RECORD_KEY])
{
	be_put(out, shard, 4);
	be_put(out + 4, position, 8);
	return slice_of(out, STREAM_RECORD_KEY);
}

uint64_t stream_record_position(struct slice key)
{
	return key.n == STREAM_RECORD_KEY ? be_get(key.p + 4, 8) : 0;
}

/* ---- rows ---- */

void stream_row_put(struct buf *b, const struct stream *s)
{
	mp_put_array(b, ROW_FIELDS);
	mp_put_int(b, ROW_FORMAT);
	mp_put_int(b, s->id);
	mp_put_str(b, s->table);
	mp_put_str(b, s->label);
	mp_put_int(b, s->view);
	mp_put_int(b, (int64_t)s->created_ms);
	mp_put_int(b, (int64_t)s->closed_ms);
	buf_put_slice(b, s->schema);
}

bool stream_decode(struct slice row, struct stream *s)
{
	struct mp m = mp_open(row);

	if (mp_array(&m) != ROW_FIELDS || mp_uint(&m) != ROW_FORMAT)
		return false;
	s->id = (uint32_t)mp_uint(&m);
	s->table = mp_str(&m);
	s->label = mp_str(&m);
	s->view = (enum stream_view)(mp_uint(&m) & STREAM_NEW_AND_OLD_IMAGES);
	s->created_ms = mp_uint(&m);
	s->closed_ms = mp_uint(&m);
	s->schema = mp_skip(&m);
	return !m.bad;
}

void shard_row_put(struct buf *b, const struct shard *s)
{
	mp_put_array(b, SHARD_FIELDS);
	mp_put_int(b, (int64_t)s->start);
	mp_put_int(b, (int64_t)s->end);
	mp_put_int(b, (int64_t)s->from);
	mp_put_int(b, (int64_t)s->to);
	mp_put_int(b, s->parent);
	mp_put_int(b, (int64_t)s->parent_start);
}

bool shard_decode(struct slice key, struct slice row, struct shard *s)
{
	struct mp m = mp_open(row);

	if (key.n != SHARD_ROW_KEY || mp_array(&m) != SHARD_FIELDS)
		return false;
	s->id = (uint32_t)be_get(key.p + SHARD_PREFIX + 4, 4);
	s->start = mp_uint(&m);
	s->end = mp_uint(&m);
	s->from = (uint64_t)mp_int(&m);
	s->to = (uint64_t)mp_int(&m);
	s->parent = (uint32_t)mp_uint(&m);
	s->parent_start = mp_uint(&m);
	return !m.bad;
}

/* ---- in a view ---- */

enum err shard_find(struct view *v, uint32_t stream, uint32_t id, struct shard *s, bool *found, struct fault *f)
{
	uint8_t bytes[SHARD_ROW_KEY];
	struct slice key = shard_row_key(stream, id, bytes), row;
	enum err rc = view_get(v, key, &row, f);

	*found = rc == ERR_OK && slice_present(row);
	return *found && !shard_decode(key, row, s) ? fault_set(f, MSG_CATALOG_DAMAGED) : rc;
}

enum err shards_open(struct view *v, uint32_t stream, uint32_t after, struct cursor **c, struct fault *f)
{
	uint8_t lo[SHARD_ROW_KEY], hi[SHARD_ROW_KEY];

	return cursor_open(v, shard_row_key(stream, after + 1, lo), shard_row_key(stream, UINT32_MAX, hi), false, c, f);
}

enum err shards_next(struct cursor *c, struct shard *s, bool *got, struct fault *f)
{
	struct slice key, row;
	enum err rc = cursor_next(c, &key, &row, f);

	*got = rc == ERR_OK && slice_present(key);
	return *got && !shard_decode(key, row, s) ? fault_set(f, MSG_CATALOG_DAMAGED) : rc;
}
