/* buf - a growing output buffer whose failure is sticky.
 *
 * Forty puts may go unchecked and one look at `failed` at the end is enough: after an allocation failed,
 * or `max` would have been passed, puts do nothing. The bytes are b->p[0 .. b->n).
 *
 * Threads: one at a time. Ownership: the buf owns its memory until buf_release. */
#ifndef DYNAX_PROTOCOL_BUF_H
#define DYNAX_PROTOCOL_BUF_H

#include "protocol/slice.h"

struct buf {
	uint8_t *p;
	size_t n;       /* bytes filled */
	size_t cap;     /* bytes allocated */
	size_t max;     /* never grow beyond this; 0 = no limit */
	bool failed;
};

void buf_init(struct buf *b);
void buf_release(struct buf *b);
/* Empty it and clear the failure, keeping the memory. */
void buf_clear(struct buf *b);
/* Room for n more bytes at b->p + b->n, to be filled by the caller, who then adds to b->n.
 * NULL, and failed, if there is none. */
static inline uint8_t *buf_reserve(struct buf *b, size_t n) __attribute__((warn_unused_result));
static inline void buf_put(struct buf *b, const void *p, size_t n);
/* Put bytes in the middle: what stands from `at` on moves back. */
void buf_insert(struct buf *b, size_t at, struct slice s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* buf_reserve for when there is no room, or no memory at all. */
uint8_t *buf_extend(struct buf *b, size_t n) __attribute__((warn_unused_result));

/* Inline: an HTTP answer is some 40 puts of a few bytes, of known length mostly. */
static inline uint8_t *buf_reserve(struct buf *b, size_t n)
{
	/* An empty reservation still gives a place to point at. */
	if (b->failed || b->cap - b->n < n || b->p == NULL)
		return buf_extend(b, n);
	return b->p + b->n;
}

static inline void buf_put(struct buf *b, const void *p, size_t n)
{
	uint8_t *to;

	if (n == 0)
		return;
	to = buf_reserve(b, n);
	if (to == NULL)
		return;
	memcpy(to, p, n);
	b->n += n;
}

static inline void buf_put_slice(struct buf *b, struct slice s)
{
	buf_put(b, s.p, s.n);
}

static inline void buf_put_u8(struct buf *b, uint8_t c)
{
	buf_put(b, &c, 1);
}

static inline struct slice buf_slice(const struct buf *b)
{
	return slice_of(b->p, b->n);
}

#endif
