/* arena - see arena.h. Blocks form a stack, the newest in front:
 *
 *    head -> [next|size| used ....... free ] -> [ full ] -> [ full ] -> NULL
 *
 * A block is at least as large as the allocation that made it, and each is twice as large as the one before, up to a
 * bound, so that a large request costs few mallocs. Under the address sanitizer a block is one allocation. */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifndef ARENA_ASAN
#define ARENA_ASAN 0
#endif

enum {
	ARENA_ALIGN = 16,
	ARENA_FIRST = 4096,
	ARENA_GROWTH_MAX = 256 * 1024, /* blocks stop doubling here */
	ARENA_KEEP_MAX = 64 * 1024     /* a larger block does not survive a reset: one big request is not a habit */
};

struct arena_block {
	struct arena_block *next;
	size_t size;
	alignas(ARENA_ALIGN) uint8_t data[];
};

void arena_init(struct arena *a, size_t block_bytes)
{
	*a = (struct arena){ .block_bytes = block_bytes != 0 ? block_bytes : ARENA_FIRST };
}

static size_t pop_block(struct arena *a)
{
	struct arena_block *b = a->head;
	size_t size = b->size;

	a->head = b->next;
	free(b);
	return size;
}

/* Free the blocks in front of `stop`. */
static void pop_blocks(struct arena *a, const struct arena_block *stop)
{
	while (a->head != stop)
		(void)pop_block(a);
}

void arena_release(struct arena *a)
{
	pop_blocks(a, NULL);
	a->used = 0;
}

size_t arena_release_some(struct arena *a, size_t bytes)
{
	size_t freed = 0;

	while (a->head != NULL && freed < bytes)
		freed += pop_block(a);
	a->used = a->head != NULL ? a->head->size : 0;   /* what it had left is left */
	return freed;
}

static bool push_block(struct arena *a, size_t size)
{
	struct arena_block *b;

	if (size > PTRDIFF_MAX - sizeof *b)
		return false;
	b = malloc(sizeof *b + size);
	if (b == NULL)
		return false;
	b->next = a->head;
	b->size = size;
	a->head = b;
	a->used = 0;
	return true;
}

#if ARENA_ASAN

void arena_reset(struct arena *a)
{
	arena_release(a);
}

void *arena_alloc(struct arena *a, size_t n)
{
	return push_block(a, n) ? a->head->data : NULL;
}

#else

void arena_reset(struct arena *a)
{
	if (a->head != NULL) {
		struct arena_block *keep = a->head->size <= ARENA_KEEP_MAX ? a->head : NULL;

		if (keep != NULL) {
			a->head = keep->next;
			keep->next = NULL;
		}
		pop_blocks(a, NULL);
		a->head = keep;
	}
	a->used = 0;
}

void *arena_alloc(struct arena *a, size_t n)
{
	void *p;

	if (n > PTRDIFF_MAX)
		return NULL;
	n = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (a->head == NULL || a->head->size - a->used < n) {
		if (!push_block(a, n > a->block_bytes ? n : a->block_bytes))
			return NULL;
		if (a->block_bytes < ARENA_GROWTH_MAX)
			a->block_bytes *= 2;
	}
	p = a->head->data + a->used;
	a->used += n;
	return p;
}

#endif

void *arena_zalloc(struct arena *a, size_t n)
{
	void *p = arena_alloc(a, n);

	if (p != NULL)
		memset(p, 0, n);
	return p;
}

struct slice arena_copy(struct arena *a, struct slice s)
{
	uint8_t *p = s.n < SIZE_MAX ? arena_alloc(a, s.n + 1) : NULL;

	if (p == NULL)
		return SLICE_NONE;
	if (s.n != 0)
		memcpy(p, s.p, s.n);
	p[s.n] = 0;
	return slice_of(p, s.n);
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
	va_list again;
	char *p = NULL;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	if (n >= 0)
		p = arena_alloc(a, (size_t)n + 1);
	if (p != NULL)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args;
	char *p;

	va_start(args, fmt);
	p = arena_vprintf(a, fmt, args);
	va_end(args);
	return p;
}

struct arena_mark arena_save(const struct arena *a)
{
	return (struct arena_mark){ a->head, a->used };
}

void arena_rollback(struct arena *a, struct arena_mark m)
{
	pop_blocks(a, m.head);
	a->used = m.used;
}
