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

/* {"k": key} or {"k": key, "v": filler}, of item_bytes by DynamoDB's rule. */
static void put_item(struct buf *b, size_t item_bytes)
{
	size_t overhead = 1 + KEY_BYTES + 1, fill = item_bytes > overhead ? item_bytes - overhead : 0;
	struct buf v;

	mp_put_map(b, item_bytes > 0 ? 2 : 1);
	mp_put_str(b, SLICE_LIT("k"));
	mp_put_str(b, SLICE_LIT("################"));
	if (item_bytes == 0)
		return;
	buf_init(&v);
	value_put_filler(&v, fill);
	mp_put_str(b, SLICE_LIT("v"));
	mp_put_str(b, buf_slice(&v));
	buf_release(&v);
}

static void make_request(struct form *f, enum op op, unsigned item_member, unsigned table_member, size_t item_bytes)
{
	size_t at = frame_begin(&f->bytes, FRAME_REQUEST, (uint8_t)op, 0), rec;
	unsigned n = 0;

	rec = record_begin(&f->bytes);
	record_key(&f->bytes, &n, item_member);
	put_item(&f->bytes, item_bytes);
	record_put_str(&f->bytes, &n, table_member, SLICE_LIT(LOAD_TABLE));
	record_end(&f->bytes, rec, n);
	frame_end(&f->bytes, at);
	f->id_at = AT_ID;
	f->key_at = hole_of(&f->bytes);
}

static void make_setup(struct buf *b)
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
	record_put_str(b, &n, CreateTableInput_TableName, SLICE_LIT(LOAD_TABLE));
	record_end(b, rec, n);
	frame_end(b, at);
}

static void make_forms(struct driver_state *s, size_t item_bytes)
{
	make_request(&s->read, OP_GetItem, GetItemInput_Key, GetItemInput_TableName, 0);
	make_request(&s->write, OP_PutItem, PutItemInput_Item, PutItemInput_TableName, item_bytes);
}

static void msgpack_prepare(struct driver_state *s, const char *host, size_t item_bytes)
{
	struct hello h = { FRAME_VERSION, 0, FRAME_MAX, SLICE_LIT("dynax-bench/" DYNAX_VERSION) };

	(void)host;
	make_forms(s, item_bytes);
	frame_put_hello(&s->greeting, &h);
	make_setup(&s->setup);
}

static void echo_prepare(struct driver_state *s, const char *host, size_t item_bytes)
{
	struct buf item;
	size_t answer;

	(void)host;
	make_forms(s, item_bytes);
	buf_init(&item);
	put_item(&item, item_bytes);
	/* A record of one member around the item, behind the header; an answer to a put has an empty record. */
	answer = FRAME_HEADER + 2 + item.n;
	frame_set_deadline(&s->read.bytes, 0, (uint32_t)answer);
	frame_set_deadline(&s->write.bytes, 0, FRAME_HEADER + 1);
	buf_release(&item);
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
