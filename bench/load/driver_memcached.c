/* driver_memcached - the text protocol. Reads that go out together are one multi-key get, which is how memcached is meant
 * to be asked for many: its answers to single pipelined gets take a packet each.
 *
 * The reply to a get of n keys is a VALUE for each key that is there, then END. `group` holds how many keys of each get are
 * still to come, 0 standing for a set. */
#include "bench/load/load_int.h"

#include <stdlib.h>

static void memcached_prepare(struct driver_state *s, const struct load_opts *o)
{
	buf_put(&s->read.bytes, " ################", 1 + KEY_BYTES);
	s->read.key_at = 1;
	buf_printf(&s->write.bytes, "set ################ 0 0 %zu\r\n", o->item_bytes);
	value_put_filler(&s->write.bytes, o->item_bytes);
	buf_put(&s->write.bytes, "\r\n", 2);
	s->write.key_at = 4;
	s->read.id_at = s->write.id_at = FORM_NONE;
}

static void group_add(struct driver_conn *c, unsigned n)
{
	c->group[(c->first + c->groups++) % DEPTH_MAX] = (uint16_t)n;
}

static void memcached_encode(const struct driver_state *s, struct driver_conn *c, struct buf *out, const struct load_op *op,
	unsigned n)
{
	for (unsigned i = 0; i < n;) {
		unsigned first = i;

		if (op[i].write) {
			form_put(&s->write, out, &op[i++]);
			group_add(c, 0);
			continue;
		}
		buf_put(out, "get", 3);
		while (i < n && !op[i].write)
			form_put(&s->read, out, &op[i++]);
		buf_put(out, "\r\n", 2);
		group_add(c, i - first);
	}
}

static void group_done(struct driver_conn *c)
{
	c->first = (c->first + 1) % DEPTH_MAX;
	c->groups--;
}

/* A line that is not VALUE: of a set, or END. Keys that got no VALUE are misses, one a call. */
static enum reply_status other_line(struct driver_conn *c, struct slice *in, size_t line, struct slice *text)
{
	bool end = line >= 3 && memcmp(in->p, "END", 3) == 0, stored = line >= 6 && memcmp(in->p, "STORED", 6) == 0;
	uint16_t *left = &c->group[c->first];
	enum reply_status st = end ? REPLY_SKIP : stored ? REPLY_HIT : REPLY_ERROR;

	*text = slice_of(in->p, line);
	if (end && *left > 0) {
		--*left;
		return REPLY_MISS;      /* END stays in front until all are told */
	}
	*in = slice_of(in->p + line, in->n - line);
	group_done(c);
	return st;
}

static enum reply_status memcached_reply(struct driver_conn *c, struct slice *in, uint32_t *slot, struct slice *text)
{
	const uint8_t *eol = memchr(in->p, '\n', in->n);
	size_t line = eol != NULL ? (size_t)(eol - in->p) + 1 : 0, bytes;

	(void)slot;
	if (eol == NULL)
		return REPLY_MORE;
	if (c->groups == 0)
		return REPLY_BAD;
	if (in->p[0] != 'V')
		return other_line(c, in, line, text);
	/* "VALUE <key> <flags> <bytes>"; the flags are the 0 of our sets. */
	if (line < 6 + KEY_BYTES + 6)
		return REPLY_BAD;
	bytes = strtoul((const char *)in->p + 6 + KEY_BYTES + 3, NULL, 10);
	if (in->n < line + bytes + 2)
		return REPLY_MORE;
	*in = slice_of(in->p + line + bytes + 2, in->n - line - bytes - 2);
	c->group[c->first]--;
	return REPLY_HIT;
}

const struct driver driver_memcached = {
	.name = "memcached", .port = 11211,
	.prepare = memcached_prepare, .encode = memcached_encode, .reply = memcached_reply,
};
