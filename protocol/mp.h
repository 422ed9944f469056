/* mp - msgpack, byte by byte: skip, peek and read without building a tree, and write.
 *
 * The reader is a cursor over borrowed bytes. Every reader checks bounds, so untrusted bytes are safe;
 * once `bad` is set, everything that follows fails. A skip is iterative: nesting costs no stack.
 * The writer puts shortest forms onto a buf, through msgpack-c's packer.
 *
 * Format: https://github.com/msgpack/msgpack/blob/master/spec.md */
#ifndef DYNAX_PROTOCOL_MP_H
#define DYNAX_PROTOCOL_MP_H

#include "protocol/buf.h"
#include "protocol/slice.h"

enum mp_type { MP_NIL, MP_BOOL, MP_UINT, MP_INT, MP_FLOAT, MP_STR, MP_BIN, MP_ARRAY, MP_MAP, MP_EXT, MP_BAD };

struct mp {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct mp mp_open(struct slice s)
{
	return (struct mp){ s.p, s.n != 0 ? s.p + s.n : s.p, false };
}

/* Type of the next value, without moving; MP_INT is a negative integer. MP_BAD at the end or on damage. */
enum mp_type mp_peek(const struct mp *m);
static inline bool mp_at_end(const struct mp *m)
{
	return m->p == m->end;
}

/* Each moves past one value and returns it; on a wrong type or damage sets bad and returns zero or an empty slice. */
bool mp_bool(struct mp *m);
void mp_nil(struct mp *m);
int64_t mp_int(struct mp *m);            /* any integer that fits int64 */
uint64_t mp_uint(struct mp *m);
double mp_double(struct mp *m);          /* float or integer */
struct slice mp_str(struct mp *m);
struct slice mp_bin(struct mp *m);
struct slice mp_ext(struct mp *m, int8_t *type);
uint32_t mp_array(struct mp *m);         /* number of elements that follow */
uint32_t mp_map(struct mp *m);           /* number of pairs that follow */
/* Move past one whole value; its bytes. */
struct slice mp_skip(struct mp *m);

void mp_put_nil(struct buf *b);
void mp_put_bool(struct buf *b, bool v);
void mp_put_int(struct buf *b, int64_t v);
void mp_put_double(struct buf *b, double v);
void mp_put_str(struct buf *b, struct slice s);
void mp_put_bin(struct buf *b, struct slice s);
void mp_put_array(struct buf *b, uint32_t n);
void mp_put_map(struct buf *b, uint32_t n);
void mp_put_ext(struct buf *b, int8_t type, struct slice payload);
/* Only the head of an extension; the caller puts its n bytes. */
void mp_put_ext_head(struct buf *b, int8_t type, size_t n);

#endif
