/* buf - see buf.h. Grows by doubling, so that n puts cost O(n) copying. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/buf.h"

enum { BUF_FIRST = 256 };

void buf_init(struct buf *b)
{
	*b = (struct buf){ 0 };
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ .max = b->max };
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
}

static bool grow(struct buf *b, size_t need)
{
	size_t cap = b->cap < BUF_FIRST ? BUF_FIRST : b->cap;
	uint8_t *p;

	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	if (b->max != 0 && cap > b->max)
		cap = b->max;
	p = realloc(b->p, cap);
	if (p == NULL)
		return false;
	b->p = p;
	b->cap = cap;
	return true;
}

uint8_t *buf_extend(struct buf *b, size_t n)
{
	size_t limit = b->max != 0 ? b->max : PTRDIFF_MAX;

	if (b->failed)
		return NULL;
	if (b->n > limit || n > limit - b->n || !grow(b, b->n + n)) {
		b->failed = true;
		return NULL;
	}
	return b->p + b->n;
}

void buf_insert(struct buf *b, size_t at, struct slice s)
{
	if (s.n == 0 || buf_reserve(b, s.n) == NULL)
		return;
	memmove(b->p + at + s.n, b->p + at, b->n - at);
	memcpy(b->p + at, s.p, s.n);
	b->n += s.n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args, again;
	uint8_t *to;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	if (n < 0) {
		b->failed = true;
	} else {
		to = buf_reserve(b, (size_t)n + 1); /* vsnprintf writes a NUL, which is not kept */
		if (to != NULL) {
			vsnprintf((char *)to, (size_t)n + 1, fmt, again);
			b->n += (size_t)n;
		}
	}
	va_end(again);
	va_end(args);
}
