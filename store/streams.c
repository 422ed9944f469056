/* streams - the writer's half: streams begin and end, shards are split, changes are recorded. See streams.h. */
#include "store/streams.h"

#include <time.h>

#include "protocol/messages.h"
#include "store/control.h"

enum { CHANGE_FIELDS = 4, BY_SERVICE = 4, LABEL_SECONDS = 40 };

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

static enum err write_stream(struct write_txn *t, const struct stream *s, struct fault *f)
{
	struct buf *row = &t->batch->row, key;
	enum err rc = ERR_OK;

	buf_init(&key);
	stream_row_key(&key, s->label, s->table);
	buf_clear(row);
	stream_row_put(row, s);
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

/* The stream that the table has now. */
static enum err read_stream(struct write_txn *t, const struct catalog_table *ct, struct stream *s, struct fault *f)
{
	struct slice row;
	enum err rc = read_row(t, ct->facts.stream_label, ct->table.name, &row, f);

	if (rc != ERR_OK)
		return rc;
	return slice_present(row) && stream_decode(row, s) ? ERR_OK : fault_set(f, MSG_CATALOG_DAMAGED);
}

static enum err write_shard(struct write_txn *t, uint32_t stream, const struct shard *s, struct fault *f)
{
	struct buf *row = &t->batch->row;
	uint8_t key[SHARD_ROW_KEY];

	buf_clear(row);
	shard_row_put(row, s);
	if (row->failed)
		return fault_set(f, MSG_NO_MEMORY);
	engine_put(t->batch->store->engine, shard_row_key(stream, s->id, key), buf_slice(row));
	return ERR_OK;
}

/* Nothing is written to the shard any more; *s is what it is now. */
static enum err end_shard(struct write_txn *t, uint32_t stream, uint32_t id, struct shard *s, struct fault *f)
{
	struct store *store = t->batch->store;
	uint8_t bytes[SHARD_ROW_KEY];
	struct slice key = shard_row_key(stream, id, bytes), row;
	enum err rc = engine_read(store->engine, key, &row, f);

	if (rc == ERR_OK && !(slice_present(row) && shard_decode(key, row, s)))
		rc = fault_set(f, MSG_CATALOG_DAMAGED);
	if (rc != ERR_OK)
		return rc;
	s->end = next_position(store);
	return write_shard(t, stream, s, f);
}

/* ---- beginning and end ---- */

/* The time that a label tells; NULL if memory is out. */
static const char *label_of(struct arena *a, uint64_t ms)
{
	char seconds[LABEL_SECONDS];
	time_t s = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
	return arena_printf(a, "%s.%03u", seconds, (unsigned)(ms % 1000));
}

/* A label that no stream of this table, or of one that had its name, bears: the time, or a little later. */
static enum err new_label(struct write_txn *t, struct stream *s, struct fault *f)
{
	struct slice taken;
	uint64_t ms = s->created_ms;
	enum err rc;

	do {
		s->label = slice_str(label_of(t->arena, ms++));
		if (!slice_present(s->label))
			return fault_set(f, MSG_NO_MEMORY);
		rc = read_row(t, s->label, s->table, &taken, f);
	} while (rc == ERR_OK && slice_present(taken));
	return rc;
}

/* One for each partition of the table, not numbered yet; NULL if memory is out. */
static struct stream_shard *shards_of(struct arena *a, uint32_t table, const struct catalog_facts *facts, unsigned *n)
{
	struct stream_shard *open = arena_zalloc(a, (facts->rows + 1) * sizeof *open);

	*n = 0;
	for (unsigned i = 0; i < facts->rows && open != NULL; i++)
		if (facts->row[i].owner == table)
			open[(*n)++].from = facts->row[i].part.from;
	if (*n == 0)
		*n = 1;
	return open;
}

static enum err begin_shards(struct write_txn *t, uint32_t stream, const struct stream_shard *open, unsigned n, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < n && rc == ERR_OK; i++)
		rc = write_shard(t, stream, &(struct shard){ .id = open[i].id, .start = next_position(t->batch->store),
			.from = open[i].from, .to = i + 1 < n ? open[i + 1].from - 1 : UINT64_MAX }, f);
	return rc;
}

enum err stream_open(struct write_txn *t, const struct record *spec, uint32_t table, struct catalog_facts *facts,
	struct fault *f)
{
	struct stream s = { .table = control_table_name(record_str(spec, CreateTableInput_TableName)),
		.schema = spec->m[CreateTableInput_KeySchema], .view = stream_view_of(spec),
		.created_ms = store_now_ms(t->batch->store) };
	unsigned n;
	struct stream_shard *open = shards_of(t->arena, table, facts, &n);
	enum err rc = open != NULL ? new_label(t, &s, f) : fault_set(f, MSG_NO_MEMORY);

	if (rc == ERR_OK)
		rc = control_take_ids(t, 1 + n, &s.id, f);
	if (rc != ERR_OK)
		return rc;
	for (unsigned i = 0; i < n; i++)
		open[i].id = s.id + 1 + i;
	facts->stream_label = s.label;
	facts->shard = open;
	facts->shards = n;
	rc = write_stream(t, &s, f);
	return rc == ERR_OK ? begin_shards(t, s.id, open, n, f) : rc;
}

enum err stream_close(struct write_txn *t, const struct catalog_table *ct, struct fault *f)
{
	struct stream s;
	struct shard shard;
	enum err rc = read_stream(t, ct, &s, f);

	if (rc != ERR_OK)
		return rc;
	s.closed_ms = store_now_ms(t->batch->store);
	rc = write_stream(t, &s, f);
	for (unsigned i = 0; i < ct->facts.shards && rc == ERR_OK; i++)
		rc = end_shard(t, s.id, ct->facts.shard[i].id, &shard, f);
	return rc;
}

/* ---- shards follow partitions ---- */

/* The open shard that takes the hash. */
static unsigned shard_at(const struct catalog_facts *facts, uint64_t hash)
{
	unsigned lo = 0, hi = facts->shards;

	while (hi - lo > 1) {
		unsigned mid = lo + (hi - lo) / 2;

		if (facts->shard[mid].from <= hash)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Two children of a shard that has ended, their ids from `id` on. */
static enum err write_children(struct write_txn *t, uint32_t stream, const struct shard *parent, uint32_t id, uint64_t at,
	struct fault *f)
{
	struct shard child = { .id = id, .start = next_position(t->batch->store), .from = parent->from, .to = at - 1,
		.parent = parent->id, .parent_start = parent->start };
	enum err rc = write_shard(t, stream, &child, f);

	child.id++;
	child.start = next_position(t->batch->store);
	child.from = at;
	child.to = parent->to;
	return rc == ERR_OK ? write_shard(t, stream, &child, f) : rc;
}

/* In the place of open shard i, two: with ids from `id` on, the second from the hash `at` on. */
static enum err replace_open(struct arena *a, struct catalog_facts *facts, unsigned i, uint32_t id, uint64_t at,
	struct fault *f)
{
	struct stream_shard *open = arena_alloc(a, (facts->shards + 1) * sizeof *open);

	if (open == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	memcpy(open, facts->shard, (i + 1) * sizeof *open);
	memcpy(open + i + 1, facts->shard + i, (facts->shards - i) * sizeof *open);
	open[i].id = id;
	open[i + 1] = (struct stream_shard){ .id = id + 1, .from = at };
	facts->shard = open;
	facts->shards++;
	return ERR_OK;
}

enum err stream_split(struct write_txn *t, const struct catalog_table *ct, struct catalog_facts *facts, uint64_t at,
	struct fault *f)
{
	unsigned i = shard_at(facts, at);
	struct stream s;
	struct shard parent;
	uint32_t id;

	if (facts->shards == 0 || facts->shard[i].from == at)
		return ERR_OK;
	enum err rc = read_stream(t, ct, &s, f);

	if (rc == ERR_OK)
		rc = end_shard(t, s.id, facts->shard[i].id, &parent, f);
	if (rc == ERR_OK)
		rc = control_take_ids(t, 2, &id, f);
	if (rc == ERR_OK)
		rc = write_children(t, s.id, &parent, id, at, f);
	return rc == ERR_OK ? replace_open(t->arena, facts, i, id, at, f) : rc;
}

/* ---- records ---- */

static void put_image(struct buf *b, struct slice image)
{
	if (slice_present(image))
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
	struct slice new = ct->view & STREAM_NEW_IMAGE ? op->new : SLICE_NONE;
	uint32_t shard = ct->facts.shard[shard_at(&ct->facts, op->hash)].id;

	buf_clear(b);
	mp_put_array(b, CHANGE_FIELDS);
	mp_put_int(b, (int64_t)event | (op->expired ? BY_SERVICE : 0));
	buf_put_slice(b, op->key);
	put_image(b, ct->view & STREAM_OLD_IMAGE ? op->old : SLICE_NONE);
	if (!slice_present(new))
		mp_put_nil(b);
	if (b->failed) {
		t->failed = true;
		return;
	}
	/* Last, as a tail: the log has the new image already, the item having just been put. */
	engine_put_tail(s->engine, stream_record_key(shard, next_position(s), key), buf_slice(b), new);
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

static enum err recover_shard(struct store *s, struct view *v, const struct shard *shard, struct fault *f)
{
	uint64_t last, known = shard->end > shard->start ? shard->end : shard->start;
	enum err rc = stream_last(v, shard->id, &last, f);

	last = last > known ? last : known;
	s->stream_position = last > s->stream_position ? last : s->stream_position;
	return rc;
}

enum err streams_recover(struct store *s, struct fault *f)
{
	uint8_t lo[SHARD_ROW_KEY], hi[SHARD_ROW_KEY];
	struct view *v = NULL;
	struct cursor *c = NULL;
	struct shard shard;
	bool got = true;
	enum err rc = view_open(s->engine, &v, f);

	if (rc == ERR_OK)
		rc = cursor_open(v, shard_row_key(0, 0, lo), shard_row_key(UINT32_MAX, 0, hi), false, &c, f);
	while (rc == ERR_OK && got) {
		rc = shards_next(c, &shard, &got, f);
		if (got)
			rc = recover_shard(s, v, &shard, f);
	}
	cursor_close(&c);
	view_close(&v);
	return rc;
}
