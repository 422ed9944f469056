/* driver_redis - GET and SET in RESP. */
#include "bench/load/load_int.h"

#include <stdlib.h>

static void make_form(struct form *f, const char *head, const char *tail, size_t fill)
{
	buf_put(&f->bytes, head, strlen(head));
	f->key_at = f->bytes.n;
	f->id_at = FORM_NONE;
	buf_put(&f->bytes, "################", KEY_BYTES);
	buf_put(&f->bytes, tail, strlen(tail));
	if (fill > 0) {
		buf_printf(&f->bytes, "$%zu\r\n", fill);
		value_put_filler(&f->bytes, fill);
		buf_put(&f->bytes, "\r\n", 2);
	}
}

static void redis_prepare(struct driver_state *s, const struct load_opts *o)
{
	make_form(&s->read, "*2\r\n$3\r\nGET\r\n$16\r\n", "\r\n", 0);
	make_form(&s->write, "*3\r\n$3\r\nSET\r\n$16\r\n", "\r\n", o->item_bytes);
}

static enum reply_status redis_reply(struct driver_conn *c, struct slice *in, uint32_t *slot, struct slice *text)
{
	const uint8_t *eol = memchr(in->p, '\n', in->n);
	size_t line = eol != NULL ? (size_t)(eol - in->p) + 1 : 0, whole = line;
	enum reply_status st = REPLY_HIT;

	(void)c;
	(void)slot;
	if (eol == NULL)
		return REPLY_MORE;
	switch (in->p[0]) {
	case '$':
		if (in->p[1] == '-')
			st = REPLY_MISS;
		else
			whole = line + strtoul((const char *)in->p + 1, NULL, 10) + 2;
		break;
	case '-':
		st = REPLY_ERROR;
		*text = slice_of(in->p + 1, line - 3);
		break;
	case '+':
	case ':':
		break;
	default:
		return REPLY_BAD;
	}
	if (in->n < whole)
		return REPLY_MORE;
	*in = slice_of(in->p + whole, in->n - whole);
	return st;
}

const struct driver driver_redis = {
	.name = "redis", .port = 6379,
	.prepare = redis_prepare, .encode = forms_encode, .reply = redis_reply,
};
