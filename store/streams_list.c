/* streams_list - ListStreams and DescribeStream.
 *
 * Streams are listed newest first: one that begins while a client pages through the list lies behind it. */
#include "protocol/messages.h"
#include "store/control.h"
#include "store/streams.h"

enum { LIST_MAX = 100 };

static enum err check_limit(const struct record *in, unsigned member, unsigned *limit, struct fault *f)
{
	int64_t n = record_int(in, member, LIST_MAX);

	if (n > LIST_MAX)
		return fault_set(f, MSG_STREAM_LIMIT, (long long)n, LIST_MAX);
	*limit = (unsigned)n;
	return ERR_OK;
}

static void put_arn(struct buf *b, unsigned *n, unsigned id, const struct store *s, const struct stream *st)
{
	table_arn_put(b, n, id, s, st->table, "stream", st->label);
}

/* ---- finding one ---- */

enum err stream_find(struct store_reader *r, struct slice arn, struct stream *s, struct view **v, struct fault *f)
{
	struct slice table, label, row = SLICE_NONE;

	if (!stream_arn_parse(arn, &table, &label))
		return fault_set(f, MSG_STREAM_ARN);
	enum err rc = reader_view(r, v, f);

	buf_clear(&r->key);
	stream_row_key(&r->key, label, table);
	if (rc == ERR_OK && r->key.failed)
		rc = fault_set(f, MSG_NO_MEMORY);
	if (rc == ERR_OK)
		rc = view_get(*v, buf_slice(&r->key), &row, f);
	if (rc != ERR_OK)
		return rc;
	if (slice_present(row) && !stream_decode(row, s))
		return fault_set(f, MSG_CATALOG_DAMAGED);
	if (!slice_present(row) || stream_gone(r->store, s))
		return fault_set(f, MSG_STREAM_NOT_FOUND, SLICE_FMT(arn));
	return ERR_OK;
}

/* ---- ListStreams ---- */

static void put_stream(struct buf *b, const struct store *store, const struct stream *s)
{
	unsigned n = 0;
	size_t at = record_begin(b);

	put_arn(b, &n, Stream_StreamArn, store, s);
	record_put_str(b, &n, Stream_StreamLabel, s->label);
	record_put_str(b, &n, Stream_TableName, s->table);
	record_end(b, at, n);
}

struct listing {
	struct store_reader *r;
	struct arena *arena;
	struct slice table;          /* only this one's; absent = all */
	unsigned limit, n;
	struct buf streams;          /* an array's elements */
	struct stream last;
	bool more;
};

static enum err list_rows(struct listing *l, struct cursor *c, struct fault *f)
{
	for (;;) {
		struct slice key, row;
		struct stream s;
		enum err rc = cursor_next(c, &key, &row, f);

		if (rc != ERR_OK || !slice_present(key))
			return rc;
		if (!stream_decode(row, &s))
			return fault_set(f, MSG_CATALOG_DAMAGED);
		if (stream_gone(l->r->store, &s) || (slice_present(l->table) && !slice_eq(l->table, s.table)))
			continue;
		l->more = l->n == l->limit;
		if (l->more)
			return ERR_OK;
		put_stream(&l->streams, l->r->store, &s);
		l->n++;
		/* The row is the cursor's: of the last one we keep what its ARN needs. */
		s.table = arena_copy(l->arena, s.table);
		s.label = arena_copy(l->arena, s.label);
		if (!slice_present(s.table) || !slice_present(s.label))
			return fault_set(f, MSG_NO_MEMORY);
		l->last = s;
	}
}

/* Rows before the one with this ARN, which may be gone by now; all, if it is absent. */
static enum err list_after(struct listing *l, struct slice after, struct fault *f)
{
	struct slice table, label;
	struct cursor *c = NULL;
	struct view *v;
	struct buf lo, hi;

	if (slice_present(after) && !stream_arn_parse(after, &table, &label))
		return fault_set(f, MSG_STREAM_ARN);
	buf_init(&lo);
	buf_init(&hi);
	stream_row_bounds(&lo, &hi);
	if (slice_present(after)) {
		buf_clear(&hi);
		stream_row_key(&hi, label, table);
	}
	enum err rc = lo.failed || hi.failed ? fault_set(f, MSG_NO_MEMORY) : reader_view(l->r, &v, f);

	if (rc == ERR_OK)
		rc = cursor_open(v, buf_slice(&lo), buf_slice(&hi), true, &c, f);
	if (rc == ERR_OK)
		rc = list_rows(l, c, f);
	cursor_close(&c);
	buf_release(&lo);
	buf_release(&hi);
	return rc;
}

enum err list_streams(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct slice table = record_str(&req->in, ListStreamsInput_TableName);
	struct listing l = { .r = r, .arena = req->arena, .table = slice_present(table) ? control_table_name(table) : table };
	unsigned n = 0;
	enum err rc = check_limit(&req->in, ListStreamsInput_Limit, &l.limit, f);

	if (rc != ERR_OK)
		return rc;
	buf_init(&l.streams);
	rc = list_after(&l, record_str(&req->in, ListStreamsInput_ExclusiveStartStreamArn), f);
	if (rc == ERR_OK) {
		size_t at = record_begin(out);

		if (l.more)
			put_arn(out, &n, ListStreamsOutput_LastEvaluatedStreamArn, r->store, &l.last);
		record_key(out, &n, ListStreamsOutput_Streams);
		mp_put_array(out, l.n);
		buf_put_slice(out, buf_slice(&l.streams));
		record_end(out, at, n);
		out->failed |= l.streams.failed;
	}
	buf_release(&l.streams);
	return rc;
}

/* ---- DescribeStream ---- */

static void put_shard(struct buf *b, const struct shard *s)
{
	char text[SHARD_ID_TEXT], sequence[SEQUENCE_TEXT];
	unsigned n = 0, k = 0;
	size_t at = record_begin(b);

	if (s->parent != 0) {
		shard_id_format(s->parent, s->parent_start, text);
		record_put_str(b, &n, Shard_ParentShardId, slice_str(text));
	}
	record_key(b, &n, Shard_SequenceNumberRange);
	size_t range = record_begin(b);

	if (s->end != 0) {
		sequence_format(s->end, sequence);
		record_put_str(b, &k, SequenceNumberRange_EndingSequenceNumber, slice_str(sequence));
	}
	sequence_format(s->start, sequence);
	record_put_str(b, &k, SequenceNumberRange_StartingSequenceNumber, slice_str(sequence));
	record_end(b, range, k);
	shard_id_format(s->id, s->start, text);
	record_put_str(b, &n, Shard_ShardId, slice_str(text));
	record_end(b, at, n);
}

/* What a client asks to see of a stream's shards. */
struct shard_choice {
	uint32_t after;              /* shards after this one; 0 = all */
	struct slice parent;         /* children of this one; absent = all */
	uint64_t horizon;            /* shards that ended before it are gone */
	unsigned limit;
};

static bool chosen(const struct shard_choice *c, const struct shard *s)
{
	char id[SHARD_ID_TEXT];

	if (!shard_lives(s, c->horizon))
		return false;
	if (!slice_present(c->parent))
		return true;
	shard_id_format(s->parent, s->parent_start, id);
	return s->parent != 0 && slice_eq(slice_str(id), c->parent);
}

/* A page of shards. */
struct shard_page {
	struct buf shards;           /* an array's elements */
	unsigned n;
	struct shard last;
	bool more;
};

static enum err list_shards(struct shard_page *p, struct cursor *c, const struct shard_choice *choice, struct fault *f)
{
	for (;;) {
		struct shard s;
		bool got;
		enum err rc = shards_next(c, &s, &got, f);

		if (rc != ERR_OK || !got)
			return rc;
		if (!chosen(choice, &s))
			continue;
		p->more = p->n == choice->limit;
		if (p->more)
			return ERR_OK;
		put_shard(&p->shards, &s);
		p->last = s;
		p->n++;
	}
}

/* What is no shard's id comes after all of them: the service lists nothing then. */
static uint32_t after_shard(const struct record *in)
{
	struct slice text = record_str(in, DescribeStreamInput_ExclusiveStartShardId);
	uint32_t id = 0;

	if (slice_present(text) && (!shard_id_parse(text, &id) || id == UINT32_MAX))
		return UINT32_MAX - 1;
	return id;
}

static enum err read_choice(const struct record *in, struct shard_choice *c, struct fault *f)
{
	struct slice filter = in->m[DescribeStreamInput_ShardFilter];
	struct record r;

	if (slice_present(filter)) {
		if (!record_open(&r, &shape_ShardFilter, filter) || !record_has(&r, ShardFilter_Type)
		    || !record_has(&r, ShardFilter_ShardId))
			return fault_set(f, MSG_SHARD_FILTER);
		c->parent = record_str(&r, ShardFilter_ShardId);
	}
	c->after = after_shard(in);
	return check_limit(in, DescribeStreamInput_Limit, &c->limit, f);
}

static void put_description(struct buf *out, const struct store *store, const struct stream *s, const struct shard_page *p)
{
	char last[SHARD_ID_TEXT];
	unsigned n = 0;
	size_t at = record_begin(out);

	record_put_double(out, &n, StreamDescription_CreationRequestDateTime, (double)s->created_ms / 1000);
	record_key(out, &n, StreamDescription_KeySchema);
	buf_put_slice(out, s->schema);
	if (p->more) {
		shard_id_format(p->last.id, p->last.start, last);
		record_put_str(out, &n, StreamDescription_LastEvaluatedShardId, slice_str(last));
	}
	record_key(out, &n, StreamDescription_Shards);
	mp_put_array(out, p->n);
	buf_put_slice(out, buf_slice(&p->shards));
	put_arn(out, &n, StreamDescription_StreamArn, store, s);
	record_put_str(out, &n, StreamDescription_StreamLabel, s->label);
	record_put_str(out, &n, StreamDescription_StreamStatus, slice_str(s->closed_ms != 0 ? "DISABLED" : "ENABLED"));
	record_put_str(out, &n, StreamDescription_StreamViewType, slice_str(stream_view_name(s->view)));
	record_put_str(out, &n, StreamDescription_TableName, s->table);
	record_end(out, at, n);
	out->failed |= p->shards.failed;
}

static enum err read_shards(struct view *v, const struct stream *s, const struct shard_choice *choice, struct shard_page *p,
	struct fault *f)
{
	struct cursor *c;
	enum err rc = shards_open(v, s->id, choice->after, &c, f);

	if (rc != ERR_OK)
		return rc;
	rc = list_shards(p, c, choice, f);
	cursor_close(&c);
	return rc;
}

enum err describe_stream(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct shard_choice c = { .horizon = stream_horizon(r->store) };
	struct shard_page p = { .n = 0 };
	struct stream s;
	struct view *v;
	unsigned n = 0;
	enum err rc = read_choice(&req->in, &c, f);

	if (rc == ERR_OK)
		rc = stream_find(r, record_str(&req->in, DescribeStreamInput_StreamArn), &s, &v, f);
	if (rc != ERR_OK)
		return rc;
	buf_init(&p.shards);
	rc = read_shards(v, &s, &c, &p, f);
	if (rc == ERR_OK) {
		size_t at = record_begin(out);

		record_key(out, &n, DescribeStreamOutput_StreamDescription);
		put_description(out, r->store, &s, &p);
		record_end(out, at, n);
	}
	buf_release(&p.shards);
	return rc;
}
