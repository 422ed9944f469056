/* forms - requests with holes, filled by copying. */
#include "bench/load/load_int.h"

#include <string.h>

#define STAMP_HOLE "@@@@@@@@"

/* Letters, which stand for themselves in every protocol. */
static void put_stamp(uint8_t *p, uint64_t serial)
{
	for (unsigned i = 0; i < STAMP_BYTES; i++)
		p[i] = (uint8_t)('a' + (serial >> 4 * i & 15));
}

void form_put(const struct form *f, struct buf *out, const struct load_op *op)
{
	uint8_t *p = buf_reserve(out, f->bytes.n);
	char key[KEY_BYTES];

	if (p == NULL)
		return;
	memcpy(p, f->bytes.p, f->bytes.n);
	keys_name(op->key, key);
	memcpy(p + f->key_at, key, KEY_BYTES);
	if (f->id_at != FORM_NONE) {
		p[f->id_at] = (uint8_t)(op->slot >> 24);
		p[f->id_at + 1] = (uint8_t)(op->slot >> 16);
		p[f->id_at + 2] = (uint8_t)(op->slot >> 8);
		p[f->id_at + 3] = (uint8_t)op->slot;
	}
	if (f->stamp_at != FORM_NONE)
		put_stamp(p + f->stamp_at, op->serial);
	out->n += f->bytes.n;
}

void form_find_stamp(struct form *f)
{
	const uint8_t *at = f->bytes.n == 0 ? NULL : memmem(f->bytes.p, f->bytes.n, STAMP_HOLE, STAMP_BYTES);

	f->stamp_at = at != NULL ? (size_t)(at - f->bytes.p) : FORM_NONE;
}

void forms_encode(const struct driver_state *s, struct driver_conn *c, struct buf *out, const struct load_op *op, unsigned n)
{
	(void)c;
	for (unsigned i = 0; i < n; i++)
		form_put(op[i].write ? &s->write : &s->read, out, &op[i]);
}

void value_put_filler(struct buf *b, size_t n)
{
	size_t stamp = n >= STAMP_BYTES ? STAMP_BYTES : 0;

	buf_put(b, STAMP_HOLE, stamp);
	for (size_t i = stamp; i < n; i++)
		buf_put_u8(b, (uint8_t)('a' + i * 7 % 26));
}
