/* driver_msgpack - dynaxd's binary protocol; driver_echo - the same frames to bench/echo, which answers with as many bytes
 * as the deadline field of a request says: what the same conversation costs without any work. */
#include "bench/load/load_int.h"
#include "protocol/frame.h"
#include "protocol/op.h"
#include "protocol/value.h"

enum { AT_ID = 4 };

/* Where the key's name lies in what was built: it is the only run of KEY_BYTES '#'. */
static size_t hole_of(const struct buf *b)
{
	for (size_t i = 0; i + KEY_BYTES <= b->n; i++)
		if (memcmp(b->p + i, "################", KEY_BYTES) == 0)
			return i;
	return FORM_NONE;
}

/* {"k": key} */
static void put_key(struct buf *b)
{
	mp_put_map(b, 1);
	mp_put_str(b, SLICE_LIT("k"));
	mp_put_str(b, SLICE_LIT("################"));
}

/* {"k": key, "v": filler}, of item_bytes by DynamoDB's rule; and "t", if it expires. */
static void put_item(struct buf *b, const struct load_opts *o)
{
	size_t overhead = 1 + KEY_BYTES + 1, fill = o->item_bytes > overhead ? o->item_bytes - overhead : 0;
	struct buf v;

	mp_put_map(b, o->expire != 0 ? 3 : 2);
	mp_put_str(b, SLICE_LIT("k"));
	mp_put_str(b, SLICE_LIT("################"));
	if (o->expire != 0) {
		mp_put_str(b, SLICE_LIT("t"));
		value_put_int(b, o->expire);
	}
	buf_init(&v);
	value_put_filler(&v, fill);
	mp_put_str(b, SLICE_LIT("v"));
	mp_put_str(b, buf_slice(&v));
	buf_release(&v);
}

static void make_request(struct form *f, enum op op, unsigned item_member, unsigned table_member, struct slice item,
	const char *table)
{
	size_t at = frame_begin(&f->bytes, FRAME_REQUEST, (uint8_t)op, 0), rec;
	unsigned n = 0;

	rec = record_begin(&f->bytes);
	record_key(&f->bytes, &n, item_member);
	buf_put_slice(&f->bytes, item);
	record_put_str(&f->bytes, &n, table_member, slice_str(table));
	record_end(&f->bytes, rec, n);
	frame_end(&f->bytes, at);
	f->id_at = AT_ID;
	f->key_at = hole_of(&f->bytes);
}

static void make_setup(struct buf *b, const char *table)
{
	size_t at = frame_begin(b, FRAME_REQUEST, OP_CreateTable, 1), rec = record_begin(b), in;
	unsigned n = 0, m = 0;

	record_key(b, &n, CreateTableInput_AttributeDefinitions);
	mp_put_array(b, 1);
	in = record_begin(b);
	record_put_str(b, &m, AttributeDefinition_AttributeName, SLICE_LIT("k"));
	record_put_str(b, &m, AttributeDefinition_AttributeType, SLICE_LIT("S"));
	record_end(b, in, m);
	record_put_str(b, &n, CreateTableInput_BillingMode, SLICE_LIT("PAY_PER_REQUEST"));
	record_key(b, &n, CreateTableInput_KeySchema);
	mp_put_array(b, 1);
	m = 0;
	in = record_begin(b);
	record_put_str(b, &m, KeySchemaElement_AttributeName, SLICE_LIT("k"));
	record_put_str(b, &m, KeySchemaElement_KeyType, SLICE_LIT("HASH"));
	record_end(b, in, m);
	record_put_str(b, &n, CreateTableInput_TableName, slice_str(table));
	record_end(b, rec, n);
	frame_end(b, at);
}

/* Gives the length of an item. */
static size_t make_forms(struct driver_state *s, const struct load_opts *o)
{
	struct buf b;
	size_t n;

	buf_init(&b);
	put_key(&b);
	make_request(&s->read, OP_GetItem, GetItemInput_Key, GetItemInput_TableName, buf_slice(&b), o->table);
	buf_clear(&b);
	put_item(&b, o);
	make_request(&s->write, OP_PutItem, PutItemInput_Item, PutItemInput_TableName, buf_slice(&b), o->table);
	n = b.n;
	buf_release(&b);
	return n;
}

static void msgpack_prepare(struct driver_state *s, const struct load_opts *o)
{
	struct hello h = { FRAME_VERSION, 0, FRAME_MAX, SLICE_LIT("dynax-bench/" DYNAX_VERSION) };

	make_forms(s, o);
	frame_put_hello(&s->greeting, &h);
	make_setup(&s->setup, o->table);
}

static void echo_prepare(struct driver_state *s, const struct load_opts *o)
{
	/* A record of one member around the item, behind the header; an answer to a put has an empty record. */
	size_t answer = FRAME_HEADER + 2 + make_forms(s, o);

	frame_set_deadline(&s->read.bytes, 0, (uint32_t)answer);
	frame_set_deadline(&s->write.bytes, 0, FRAME_HEADER + 1);
}

static struct slice error_text(const struct frame *fr)
{
	struct mp m = mp_open(fr->body);
	struct slice text = SLICE_LIT("an error");

	for (uint32_t n = mp_map(&m); n > 0 && !m.bad; n--) {
		if (mp_uint(&m) == 1)
			return mp_str(&m);
		mp_skip(&m);
	}
	return text;
}

static enum reply_status msgpack_reply(struct driver_conn *c, struct slice *in, uint32_t *slot, struct slice *text)
{
	struct frame fr;
	enum frame_status st = frame_next(in, FRAME_MAX, &fr, NULL);

	(void)c;
	if (st != FRAME_READY)
		return st == FRAME_NEED_MORE ? REPLY_MORE : REPLY_BAD;
	*slot = fr.id;
	if (fr.kind == FRAME_ERROR) {
		*text = error_text(&fr);
		return REPLY_ERROR;
	}
	if (fr.kind != FRAME_ANSWER)
		return REPLY_SKIP;
	return fr.body.n <= 1 ? REPLY_MISS : REPLY_HIT;
}

const struct driver driver_msgpack = {
	.name = "msgpack", .port = 8111, .tagged = true,
	.prepare = msgpack_prepare, .encode = forms_encode, .reply = msgpack_reply,
};
const struct driver driver_echo = {
	.name = "echo", .port = 8199, .tagged = true,
	.prepare = echo_prepare, .encode = forms_encode, .reply = msgpack_reply,
};
