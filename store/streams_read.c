/* streams_read - GetShardIterator and GetRecords: a position in a shard, and what follows it. */
#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#include "protocol/messages.h"
#include "store/streams.h"

enum { RECORDS_MAX = 1000, PAGE_BYTES = 1 << 20, EVENT_ID_TEXT = 33 };

/* ---- GetShardIterator ---- */

static enum err find_shard(struct store_reader *r, struct view *v, const struct stream *s, struct slice text,
	struct shard *shard, struct fault *f)
{
	char id[SHARD_ID_TEXT];
	uint32_t number;
	bool found = false;
	enum err rc = shard_id_parse(text, &number) ? shard_find(v, s->id, number, shard, &found, f) : ERR_OK;

	if (found) {
		shard_id_format(shard->id, shard->start, id);
		found = slice_eq(slice_str(id), text) && shard_lives(shard, stream_horizon(r->store));
	}
	return rc == ERR_OK && !found ? fault_set(f, MSG_SHARD_NOT_FOUND, SLICE_FMT(text)) : rc;
}

static enum err position_by_number(struct store_reader *r, const struct shard *shard, struct slice number, bool after,
	uint64_t *position, struct fault *f)
{
	uint64_t at;

	if (!sequence_parse(number, &at) || at < shard->start || (shard->end != 0 && at > shard->end))
		return fault_set(f, MSG_SEQUENCE_INVALID, SLICE_FMT(number));
	/* Where a shard begins may be asked for as long as it lives: it means the oldest record. */
	if (at == shard->start)
		*position = 0;
	else if (at < stream_horizon(r->store))
		return fault_set(f, MSG_RECORDS_TRIMMED);
	else
		*position = after && at != UINT64_MAX ? at + 1 : at;
	return ERR_OK;
}

/* Two types go by a number, the others have none. */
static enum err check_number(const struct record *in, struct fault *f)
{
	struct slice type = record_str(in, GetShardIteratorInput_ShardIteratorType);
	bool numbered = slice_eq(type, SLICE_LIT("AFTER_SEQUENCE_NUMBER")) || slice_eq(type, SLICE_LIT("AT_SEQUENCE_NUMBER"));

	if (numbered == record_has(in, GetShardIteratorInput_SequenceNumber))
		return ERR_OK;
	return numbered ? fault_set(f, MSG_SEQUENCE_MISSING, SLICE_FMT(type)) : fault_set(f, MSG_SEQUENCE_GIVEN, SLICE_FMT(type));
}

static enum err first_position(struct store_reader *r, const struct record *in, const struct shard *shard, struct view *v,
	uint64_t *position, struct fault *f)
{
	struct slice type = record_str(in, GetShardIteratorInput_ShardIteratorType);
	struct slice number = record_str(in, GetShardIteratorInput_SequenceNumber);
	bool after = slice_eq(type, SLICE_LIT("AFTER_SEQUENCE_NUMBER"));
	uint64_t last;

	*position = 0;
	if (slice_present(number))
		return position_by_number(r, shard, number, after, position, f);
	if (slice_eq(type, SLICE_LIT("TRIM_HORIZON")))
		return ERR_OK;
	enum err rc = stream_last(v, shard->id, &last, f);

	*position = last != 0 ? last + 1 : shard->start;
	return rc;
}

enum err get_shard_iterator(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct slice id = record_str(&req->in, GetShardIteratorInput_ShardId);
	struct shard_iterator it = { .arn = record_str(&req->in, GetShardIteratorInput_StreamArn),
		.issued_ms = store_now_ms(r->store) };
	struct stream s;
	struct shard shard;
	struct view *v;
	unsigned n = 0;
	enum err rc = check_number(&req->in, f);

	if (rc == ERR_OK)
		rc = stream_find(r, it.arn, &s, &v, f);
	if (rc == ERR_OK)
		rc = find_shard(r, v, &s, id, &shard, f);
	if (rc == ERR_OK)
		rc = first_position(r, &req->in, &shard, v, &it.position, f);
	if (rc != ERR_OK)
		return rc;
	it.shard = shard.id;
	char *text = shard_iterator_format(&it, req->arena);

	if (text == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	size_t at = record_begin(out);

	record_put_str(out, &n, GetShardIteratorOutput_ShardIterator, slice_str(text));
	record_end(out, at, n);
	return ERR_OK;
}

/* ---- one record ---- */

static size_t image_size(struct slice image)
{
	return slice_present(image) ? item_size(image) : 0;
}

static size_t change_size(const struct stream_change *c)
{
	return item_size(c->key) + image_size(c->old) + image_size(c->new);
}

static void put_image(struct buf *b, unsigned *n, unsigned id, struct slice image)
{
	if (!slice_present(image))
		return;
	record_key(b, n, id);
	buf_put_slice(b, image);
}

static void put_change(struct buf *b, const struct stream_change *c, uint64_t position, enum stream_view view)
{
	char sequence[SEQUENCE_TEXT];
	unsigned n = 0;
	size_t at = record_begin(b);

	sequence_format(position, sequence);
	/* Whole seconds, as the service gives them. */
	record_put_double(b, &n, StreamRecord_ApproximateCreationDateTime, (double)((position >> STREAM_COUNTER_BITS) / 1000));
	put_image(b, &n, StreamRecord_Keys, c->key);
	put_image(b, &n, StreamRecord_NewImage, c->new);
	put_image(b, &n, StreamRecord_OldImage, c->old);
	record_put_str(b, &n, StreamRecord_SequenceNumber, slice_str(sequence));
	record_put_int(b, &n, StreamRecord_SizeBytes, (int64_t)change_size(c));
	record_put_str(b, &n, StreamRecord_StreamViewType, slice_str(stream_view_name(view)));
	record_end(b, at, n);
}

static void put_identity(struct buf *b)
{
	unsigned n = 0;
	size_t at = record_begin(b);

	record_put_str(b, &n, Identity_PrincipalId, SLICE_LIT("dynamodb.amazonaws.com"));
	record_put_str(b, &n, Identity_Type, SLICE_LIT("Service"));
	record_end(b, at, n);
}

/* The same each time the record is read: a hash of its key. */
static void event_id(struct slice key, char out[EVENT_ID_TEXT])
{
	XXH128_hash_t h = XXH3_128bits(key.p, key.n);

	snprintf(out, EVENT_ID_TEXT, "%016" PRIx64 "%016" PRIx64, (uint64_t)h.high64, (uint64_t)h.low64);
}

static void put_record(struct buf *b, const struct store *s, struct slice key, const struct stream_change *c,
	enum stream_view view)
{
	static const char *const event[] = { "INSERT", "MODIFY", "REMOVE" };
	char id[EVENT_ID_TEXT];
	unsigned n = 0;
	size_t at = record_begin(b);

	event_id(key, id);
	record_put_str(b, &n, Record_awsRegion, slice_str(s->region));
	record_key(b, &n, Record_dynamodb);
	put_change(b, c, stream_record_position(key), view);
	record_put_str(b, &n, Record_eventID, slice_str(id));
	record_put_str(b, &n, Record_eventName, slice_str(event[c->event]));
	record_put_str(b, &n, Record_eventSource, SLICE_LIT("aws:dynamodb"));
	record_put_str(b, &n, Record_eventVersion, SLICE_LIT("1.1"));
	if (c->by_service) {
		record_key(b, &n, Record_userIdentity);
		put_identity(b);
	}
	record_end(b, at, n);
}

/* ---- GetRecords ---- */

struct page {
	struct store_reader *r;
	const struct stream *stream;
	struct view *view;
	uint32_t shard;
	uint64_t position;           /* of the next record to look at, at least */
	unsigned limit, n;
	size_t bytes;
	struct buf records;          /* an array's elements */
	bool end;                    /* there is no further record now */
};

static enum err open_range(const struct page *p, uint64_t from, uint64_t to, struct cursor **c, struct fault *f)
{
	uint8_t lo[STREAM_RECORD_KEY], hi[STREAM_RECORD_KEY];

	return cursor_open(p->view, stream_record_key(p->shard, from, lo), stream_record_key(p->shard, to, hi), false, c, f);
}

/* T3: a position from before the horizon goes on from there, if no record between the two has been lost to it. */
static enum err settle_position(struct page *p, struct fault *f)
{
	uint64_t horizon = stream_horizon(p->r->store);
	struct slice key = SLICE_NONE, value;
	struct cursor *c;

	if (p->position >= horizon)
		return ERR_OK;
	if (p->position != 0) {
		enum err rc = open_range(p, p->position, horizon, &c, f);

		if (rc != ERR_OK)
			return rc;
		rc = cursor_next(c, &key, &value, f);
		cursor_close(&c);
		if (rc != ERR_OK)
			return rc;
		if (slice_present(key))
			return fault_set(f, MSG_RECORDS_TRIMMED);
	}
	p->position = horizon;
	return ERR_OK;
}

static enum err read_records(struct page *p, struct cursor *c, struct fault *f)
{
	for (;;) {
		struct slice key, value;
		struct stream_change change;
		enum err rc = cursor_next(c, &key, &value, f);

		if (rc != ERR_OK)
			return rc;
		p->end = !slice_present(key);
		if (p->end)
			return ERR_OK;
		if (!stream_change_decode(value, &change))
			return fault_set(f, MSG_RECORD_DAMAGED);
		size_t size = change_size(&change);

		if (p->n == p->limit || (p->n != 0 && p->bytes + size > PAGE_BYTES))
			return ERR_OK;
		put_record(&p->records, p->r->store, key, &change, p->stream->view);
		p->position = stream_record_position(key) + 1;
		p->bytes += size;
		p->n++;
	}
}

static enum err read_page(struct page *p, struct fault *f)
{
	struct cursor *c;
	enum err rc = settle_position(p, f);

	if (rc == ERR_OK)
		rc = open_range(p, p->position, UINT64_MAX, &c, f);
	if (rc != ERR_OK)
		return rc;
	rc = read_records(p, c, f);
	cursor_close(&c);
	return rc == ERR_OK && p->records.failed ? fault_set(f, MSG_NO_MEMORY) : rc;
}

static enum err read_request(struct store_reader *r, const struct request *req, struct shard_iterator *it, unsigned *limit,
	struct fault *f)
{
	int64_t n = record_int(&req->in, GetRecordsInput_Limit, RECORDS_MAX);

	if (n > RECORDS_MAX)
		return fault_set(f, MSG_STREAM_LIMIT, (long long)n, RECORDS_MAX);
	if (!shard_iterator_parse(record_str(&req->in, GetRecordsInput_ShardIterator), req->arena, it))
		return fault_set(f, MSG_ITERATOR_INVALID);
	if (it->issued_ms + STREAM_ITERATOR_MS < store_now_ms(r->store))
		return fault_set(f, MSG_ITERATOR_EXPIRED);
	*limit = (unsigned)n;
	return ERR_OK;
}

static enum err put_page(struct page *p, struct shard_iterator it, bool closed, struct arena *a, struct buf *out,
	struct fault *f)
{
	unsigned n = 0;
	size_t at = record_begin(out);

	if (!p->end || !closed) {
		/* At the oldest records an iterator stays as long as there are none. */
		it.position = p->n == 0 && it.position == 0 ? 0 : p->position;
		it.issued_ms = store_now_ms(p->r->store);
		char *next = shard_iterator_format(&it, a);

		if (next == NULL)
			return fault_set(f, MSG_NO_MEMORY);
		record_put_str(out, &n, GetRecordsOutput_NextShardIterator, slice_str(next));
	}
	record_key(out, &n, GetRecordsOutput_Records);
	mp_put_array(out, p->n);
	buf_put_slice(out, buf_slice(&p->records));
	record_end(out, at, n);
	return ERR_OK;
}

enum err get_records(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct shard_iterator it;
	struct stream s;
	struct shard shard;
	struct page p = { .r = r, .stream = &s };
	bool found = false;
	enum err rc = read_request(r, req, &it, &p.limit, f);

	if (rc == ERR_OK)
		rc = stream_find(r, it.arn, &s, &p.view, f);
	if (rc == ERR_OK)
		rc = shard_find(p.view, s.id, it.shard, &shard, &found, f);
	if (rc == ERR_OK && !found)
		rc = fault_set(f, MSG_ITERATOR_SHARD);
	if (rc != ERR_OK)
		return rc;
	p.shard = it.shard;
	p.position = it.position;
	buf_init(&p.records);
	rc = read_page(&p, f);
	if (rc == ERR_OK)
		rc = put_page(&p, it, shard.end != 0, req->arena, out, f);
	buf_release(&p.records);
	return rc;
}
