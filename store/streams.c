/* streams - the writer's half: streams begin and end, changes are recorded. See streams.h. */
#include "store/streams.h"

#include "protocol/messages.h"
#include "store/control.h"

enum { ROW_FORMAT = 1, ROW_FIELDS = 8, SHARD_FIELDS = 7, CHANGE_FIELDS = 4, BY_SERVICE = 4 };

static void put_be(uint8_t *p, uint64_t v, unsigned bytes)
{
	while (bytes-- > 0) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get_be(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

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

struct slice stream_record_key(uint32_t shard, uint64_t position, uint8_t out[STREAM_RECORD_KEY])
{
	put_be(out, shard, 4);
	put_be(out + 4, position, 8);
	return slice_of(out, STREAM_RECORD_KEY);
}

uint64_t stream_record_position(struct slice key)
{
	return key.n == STREAM_RECORD_KEY ? get_be(key.p + 4, 8) : 0;
}

/* ---- time ---- */

static uint64_t position_of(uint64_t ms)
{
	return ms << STREAM_COUNTER_BITS;
}

uint64_t stream_horizon(const struct store *s)
{
	return position_of(store_now_ms(s) - STREAM_RETENTION_MS);
}

bool stream_gone(const struct store *s, const struct stream *stream)
{
	return stream->closed_ms != 0 && stream->closed_ms + STREAM_RETENTION_MS <= store_now_ms(s);
}

/* T1: a clock that stands still or goes back only makes the counter run on. */
static uint64_t next_position(struct store *s)
{
	uint64_t now = position_of(store_now_ms(s));

	s->stream_position = now > s->stream_position ? now : s->stream_position + 1;
	return s->stream_position;
}

/* ---- rows ---- */

static void put_row(struct buf *b, const struct stream *s, uint32_t shards)
{
	mp_put_array(b, ROW_FIELDS);
	mp_put_int(b, ROW_FORMAT);
	mp_put_str(b, s->table);
	mp_put_str(b, s->label);
	mp_put_int(b, s->view);
	mp_put_int(b, (int64_t)s->created_ms);
	mp_put_int(b, (int64_t)s->closed_ms);
	buf_put_slice(b, s->schema);
	mp_put_array(b, shards);
}

static void put_shard(struct buf *b, const struct shard *s)
{
	mp_put_array(b, SHARD_FIELDS);
	mp_put_int(b, s->id);
	mp_put_int(b, (int64_t)s->start);
	mp_put_int(b, (int64_t)s->end);
	mp_put_int(b, (int64_t)s->from);
	mp_put_int(b, (int64_t)s->to);
	mp_put_int(b, s->parent);
	mp_put_int(b, (int64_t)s->parent_start);
}

bool stream_decode(struct slice row, struct stream *s)
{
	struct mp m = mp_open(row);

	if (mp_array(&m) != ROW_FIELDS || mp_uint(&m) != ROW_FORMAT)
		return false;
	s->table = mp_str(&m);
	s->label = mp_str(&m);
	s->view = (enum stream_view)(mp_uint(&m) & STREAM_NEW_AND_OLD_IMAGES);
	s->created_ms = mp_uint(&m);
	s->closed_ms = mp_uint(&m);
	s->schema = mp_skip(&m);
	s->shards = mp_array(&m);
	s->next_shard = m;
	return !m.bad;
}

bool stream_shard_next(struct stream *s, struct shard *shard)
{
	struct mp *m = &s->next_shard;

	if (s->shards == 0 || mp_array(m) != SHARD_FIELDS)
		return false;
	s->shards--;
	shard->id = (uint32_t)mp_uint(m);
	shard->start = mp_uint(m);
	shard->end = mp_uint(m);
	shard->from = (uint64_t)mp_int(m);
	shard->to = (uint64_t)mp_int(m);
	shard->parent = (uint32_t)mp_uint(m);
	shard->parent_start = mp_uint(m);
	return !m->bad;
}

static enum err write_row(struct write_txn *t, const struct stream *s, const struct buf *row, struct fault *f)
{
	struct buf key;
	enum err rc = ERR_OK;

	buf_init(&key);
	stream_row_key(&key, s->label, s->table);
	if (key.failed || row->failed)
		rc = fault_set(f, MSG_NO_MEMORY);
	else
		engine_put(t->batch->store->engine, buf_slice(&key), buf_slice(row));
	buf_release(&key);
	return rc;
}

static enum err read_row(struct write_txn *t, struct slice label, struct slice table, struct slice *row, struct fault *f)
{
	struct buf key;

	buf_init(&key);
	stream_row_key(&key, label, table);
	enum err rc = key.failed ? fault_set(f, MSG_NO_MEMORY)
		: engine_read(t->batch->store->engine, buf_slice(&key), row, f);

	buf_release(&key);
	return rc;
}

/* ---- beginning and end ---- */

/* A label that no stream of this table, or of one that had its name, bears: the time, or a little later. */
static enum err new_label(struct write_txn *t, struct stream *s, struct fault *f)
{
	struct slice taken;
	uint64_t ms = s->created_ms;
	enum err rc;

	do {
		s->label = slice_str(control_stream_label(t->arena, ms++));
		if (!slice_present(s->label))
			return fault_set(f, MSG_NO_MEMORY);
		rc = read_row(t, s->label, s->table, &taken, f);
	} while (rc == ERR_OK && slice_present(taken));
	return rc;
}

enum err stream_open(struct write_txn *t, const struct record *spec, struct catalog_facts *facts, struct fault *f)
{
	struct store *store = t->batch->store;
	struct stream s = { .table = control_table_name(record_str(spec, CreateTableInput_TableName)),
		.schema = spec->m[CreateTableInput_KeySchema], .view = stream_view_of(spec), .created_ms = store_now_ms(store) };
	struct shard shard = { .start = next_position(store), .to = UINT64_MAX };
	struct stream_shard *open = arena_zalloc(t->arena, sizeof *open);
	struct buf *row = &t->batch->row;
	enum err rc = open != NULL ? new_label(t, &s, f) : fault_set(f, MSG_NO_MEMORY);

	if (rc == ERR_OK)
		rc = control_take_ids(t, 1, &shard.id, f);
	if (rc != ERR_OK)
		return rc;
	buf_clear(row);
	put_row(row, &s, 1);
	put_shard(row, &shard);
	open->id = shard.id;
	facts->stream_label = s.label;
	facts->shard = open;
	facts->shards = 1;
	return write_row(t, &s, row, f);
}

enum err stream_close(struct write_txn *t, const struct catalog_table *ct, struct fault *f)
{
	struct store *store = t->batch->store;
	struct buf *row = &t->batch->row;
	struct stream s;
	struct shard shard;
	struct slice bytes;
	enum err rc = read_row(t, ct->facts.stream_label, ct->table.name, &bytes, f);

	if (rc != ERR_OK)
		return rc;
	if (!slice_present(bytes) || !stream_decode(bytes, &s))
		return fault_set(f, MSG_CATALOG_DAMAGED);
	s.closed_ms = store_now_ms(store);
	buf_clear(row);
	put_row(row, &s, s.shards);
	while (stream_shard_next(&s, &shard)) {
		if (shard.end == 0)
			shard.end = next_position(store);
		put_shard(row, &shard);
	}
	return s.shards == 0 ? write_row(t, &s, row, f) : fault_set(f, MSG_CATALOG_DAMAGED);
}

/* ---- records ---- */

static uint32_t shard_of(const struct catalog_facts *facts, uint64_t hash)
{
	unsigned i = facts->shards - 1;

	while (i > 0 && facts->shard[i].from > hash)
		i--;
	return facts->shard[i].id;
}

static void put_image(struct buf *b, struct slice image, bool wanted)
{
	if (wanted && slice_present(image))
		buf_put_slice(b, image);
	else
		mp_put_nil(b);
}

void stream_record(struct write_txn *t, const struct catalog_table *ct, const struct item_op *op)
{
	struct store *s = t->batch->store;
	struct buf *b = &t->batch->row;
	uint8_t key[STREAM_RECORD_KEY];
	enum stream_event event = !slice_present(op->old) ? STREAM_INSERT : slice_present(op->new) ? STREAM_MODIFY : STREAM_REMOVE;

	buf_clear(b);
	mp_put_array(b, CHANGE_FIELDS);
	mp_put_int(b, (int64_t)event | (op->expired ? BY_SERVICE : 0));
	buf_put_slice(b, op->key);
	put_image(b, op->old, ct->view & STREAM_OLD_IMAGE);
	put_image(b, op->new, ct->view & STREAM_NEW_IMAGE);
	if (b->failed) {
		t->failed = true;
		return;
	}
	engine_put(s->engine, stream_record_key(shard_of(&ct->facts, op->hash), next_position(s), key), buf_slice(b));
}

static struct slice get_image(struct mp *m)
{
	if (mp_peek(m) != MP_NIL)
		return mp_skip(m);
	mp_nil(m);
	return SLICE_NONE;
}

bool stream_change_decode(struct slice value, struct stream_change *c)
{
	struct mp m = mp_open(value);

	if (mp_array(&m) != CHANGE_FIELDS)
		return false;
	uint64_t what = mp_uint(&m);

	c->event = (enum stream_event)(what & (BY_SERVICE - 1));
	c->by_service = (what & BY_SERVICE) != 0;
	c->key = mp_skip(&m);
	c->old = get_image(&m);
	c->new = get_image(&m);
	return !m.bad && c->event <= STREAM_REMOVE;
}

/* ---- after a restart ---- */

enum err stream_last(struct view *v, uint32_t shard, uint64_t *position, struct fault *f)
{
	uint8_t lo[STREAM_RECORD_KEY], hi[STREAM_RECORD_KEY];
	struct slice key = SLICE_NONE, value;
	struct cursor *c;
	enum err rc = cursor_open(v, stream_record_key(shard, 0, lo), stream_record_key(shard, UINT64_MAX, hi), true, &c, f);

	*position = 0;
	if (rc != ERR_OK)
		return rc;
	rc = cursor_next(c, &key, &value, f);
	if (rc == ERR_OK && slice_present(key))
		*position = stream_record_position(key);
	cursor_close(&c);
	return rc;
}

static enum err recover_stream(struct store *s, struct view *v, struct slice row, struct fault *f)
{
	struct stream stream;
	struct shard shard;
	enum err rc = stream_decode(row, &stream) ? ERR_OK : fault_set(f, MSG_CATALOG_DAMAGED);

	while (rc == ERR_OK && stream_shard_next(&stream, &shard)) {
		uint64_t last = shard.end > shard.start ? shard.end : shard.start, recorded;

		rc = stream_last(v, shard.id, &recorded, f);
		last = recorded > last ? recorded : last;
		s->stream_position = last > s->stream_position ? last : s->stream_position;
	}
	return rc;
}

enum err streams_recover(struct store *s, struct fault *f)
{
	struct buf lo, hi;
	struct view *v = NULL;
	struct cursor *c = NULL;
	struct slice key = SLICE_NONE, row;

	buf_init(&lo);
	buf_init(&hi);
	stream_row_bounds(&lo, &hi);
	enum err rc = lo.failed || hi.failed ? fault_set(f, MSG_NO_MEMORY) : view_open(s->engine, &v, f);

	if (rc == ERR_OK)
		rc = cursor_open(v, buf_slice(&lo), buf_slice(&hi), false, &c, f);
	while (rc == ERR_OK) {
		rc = cursor_next(c, &key, &row, f);
		if (rc != ERR_OK || !slice_present(key))
			break;
		rc = recover_stream(s, v, row, f);
	}
	if (c != NULL)
		cursor_close(&c);
	if (v != NULL)
		view_close(&v);
	buf_release(&lo);
	buf_release(&hi);
	return rc;
}
