/* arena - memory for one request: allocate often, free once.
 *
 * A reset keeps one block, so that a connection's second request rarely needs another. Allocations are
 * aligned to 16 bytes and uninitialised. Under the address sanitizer every allocation is a malloc of its
 * own, so that overruns and use after reset are seen.
 *
 * Threads: one at a time; an arena may be handed from thread to thread together with what lives in it.
 * Out of memory: arena_alloc returns NULL; nothing else changes. */
#ifndef DYNAX_PROTOCOL_ARENA_H
#define DYNAX_PROTOCOL_ARENA_H

#include <stdarg.h>

#include "protocol/slice.h"

struct arena_block;

struct arena {
	struct arena_block *head;    /* block being filled; older blocks behind it */
	size_t used;                 /* bytes used in head */
	size_t block_bytes;          /* size of the next block, at least */
};

/* A place to come back to; valid until the arena is reset or rolled back beyond it. */
struct arena_mark {
	struct arena_block *head;
	size_t used;
};

/* Prepare an empty arena; it allocates its first block (block_bytes, 0 = 4 KiB) when first used. */
void arena_init(struct arena *a, size_t block_bytes);
/* Free everything; the arena may be used again. */
void arena_release(struct arena *a);
/* Free the newest allocations, in blocks, at least `bytes` of them if there are as many; 0 if there were none. Of many megabytes
 * freeing all at once takes tens of milliseconds. */
size_t arena_release_some(struct arena *a, size_t bytes);
/* Forget all allocations, keeping at most one block for the next use. */
void arena_reset(struct arena *a);

void *arena_alloc(struct arena *a, size_t n) __attribute__((malloc, warn_unused_result));
void *arena_zalloc(struct arena *a, size_t n) __attribute__((malloc, warn_unused_result));
/* A copy of s that lives as long as the arena; a NUL byte follows its last byte. SLICE_NONE if out of memory. */
struct slice arena_copy(struct arena *a, struct slice s);
/* printf into the arena; NULL if out of memory. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

struct arena_mark arena_save(const struct arena *a);
void arena_rollback(struct arena *a, struct arena_mark m);

#endif
