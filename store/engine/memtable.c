/* memtable - the skip list of memtable.h.
 *
 * A node and its key are one allocation, each version another. Heights are geometric with p = 1/4: a third of a
 * pointer a node beyond the first, and the search for one of 100,000 keys compares some 25. */
#include "store/engine/memtable.h"

#include <stdlib.h>
#include <xxhash.h>

enum { BLOCK_BYTES = 1 << 20, FILTER_WORDS_MIN = 64, BYTES_PER_FILTER_WORD = 2048 };

static struct memnode *node_new(struct memtable *t, struct slice key, unsigned height)
{
	size_t links = sizeof(struct memnode) + height * sizeof(struct memnode *);
	struct memnode *n = arena_alloc(&t->arena, links + key.n);

	if (n == NULL)
		return NULL;
	uint8_t *bytes = (uint8_t *)n + links;

	if (key.n != 0)
		memcpy(bytes, key.p, key.n);
	n->key = bytes;
	n->key_n = (uint16_t)key.n;
	n->height = (uint8_t)height;
	atomic_init(&n->newest, NULL);
	for (unsigned i = 0; i < height; i++)
		atomic_init(&n->next[i], NULL);
	atomic_fetch_add_explicit(&t->bytes, links + key.n, memory_order_relaxed);
	return n;
}

static bool filter_init(struct memtable *t, size_t bytes_hint)
{
	uint64_t words = FILTER_WORDS_MIN;

	while (words < bytes_hint / BYTES_PER_FILTER_WORD)
		words *= 2;
	t->filter = calloc(words, sizeof *t->filter);
	t->filter_mask = words - 1;
	return t->filter != NULL;
}

struct memtable *memtable_new(size_t bytes_hint)
{
	struct memtable *t = calloc(1, sizeof *t);

	if (t == NULL)
		return NULL;
	arena_init(&t->arena, bytes_hint < 8 * BLOCK_BYTES ? bytes_hint / 8 : BLOCK_BYTES);
	t->random = 0x9e3779b97f4a7c15u;
	atomic_init(&t->height, 1);
	t->head = node_new(t, slice_of("", 0), MEMTABLE_HEIGHT_MAX);
	if (t->head == NULL || !filter_init(t, bytes_hint))
		memtable_free(&t);
	else
		atomic_store_explicit(&t->bytes, 0, memory_order_relaxed);
	return t;
}

void memtable_free(struct memtable **t)
{
	if (*t == NULL)
		return;
	arena_release(&(*t)->arena);
	free((*t)->filter);
	free(*t);
	*t = NULL;
}

/* ---- filter ---- */

uint64_t memtable_hash(struct slice key)
{
	return XXH3_64bits(key.p, key.n);
}

/* Three bits of one word: a miss costs one cache line. */
static uint64_t filter_bits(uint64_t hash)
{
	return (1ull << (hash & 63)) | (1ull << (hash >> 6 & 63)) | (1ull << (hash >> 12 & 63));
}

static void filter_add(struct memtable *t, uint64_t hash)
{
	_Atomic uint64_t *word = &t->filter[(hash >> 18) & t->filter_mask];

	/* one writer: load and store need not be one step */
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) | filter_bits(hash),
		memory_order_relaxed);
}

static bool filter_may_have(const struct memtable *t, uint64_t hash)
{
	uint64_t bits = filter_bits(hash);

	return (atomic_load_explicit(&t->filter[(hash >> 18) & t->filter_mask], memory_order_relaxed) & bits) == bits;
}

/* ---- the list ---- */

static struct memnode *next_at(const struct memnode *n, unsigned level)
{
	return atomic_load_explicit(&n->next[level], memory_order_acquire);
}

/* The last node before `key` at each level, and the node that follows the one of level 0. */
static struct memnode *find(const struct memtable *t, struct slice key, struct memnode **before)
{
	struct memnode *n = t->head, *next = NULL, *not_before = NULL;

	for (unsigned level = atomic_load_explicit(&t->height, memory_order_relaxed); level-- > 0;) {
		/* a node that stopped the level above stops this one as well: do not compare it again */
		while ((next = next_at(n, level)) != NULL && next != not_before && slice_cmp(memnode_key(next), key) < 0)
			n = next;
		not_before = next;
		if (before != NULL)
			before[level] = n;
	}
	return next;
}

static unsigned random_height(struct memtable *t)
{
	unsigned height = 1;

	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	for (uint64_t r = t->random >> 8; height < MEMTABLE_HEIGHT_MAX && (r & 3) == 0; r >>= 2)
		height++;
	return height;
}

static struct memnode *insert_node(struct memtable *t, struct slice key, struct memnode **before)
{
	unsigned height = random_height(t), in_use = atomic_load_explicit(&t->height, memory_order_relaxed);
	struct memnode *n = node_new(t, key, height);

	if (n == NULL)
		return NULL;
	for (unsigned i = in_use; i < height; i++)
		before[i] = t->head;
	if (height > in_use)
		atomic_store_explicit(&t->height, height, memory_order_relaxed);   /* too high or too low, readers arrive */
	for (unsigned i = 0; i < height; i++) {
		atomic_store_explicit(&n->next[i], next_at(before[i], i), memory_order_relaxed);
		atomic_store_explicit(&before[i]->next[i], n, memory_order_release);
	}
	filter_add(t, memtable_hash(key));
	return n;
}

struct memnode *memtable_set(struct memtable *t, uint64_t lsn, struct slice key, struct slice value)
{
	struct memnode *before[MEMTABLE_HEIGHT_MAX];
	struct memversion *v = arena_alloc(&t->arena, sizeof *v + value.n);

	if (v == NULL)
		return NULL;
	struct memnode *n = find(t, key, before);

	if (n == NULL || !slice_eq(memnode_key(n), key))
		n = insert_node(t, key, before);
	if (n == NULL)
		return NULL;
	*v = (struct memversion){ .lsn = lsn, .n = (uint32_t)value.n, .deleted = !slice_present(value) };
	if (value.n != 0)
		memcpy(v->bytes, value.p, value.n);
	v->older = atomic_load_explicit(&n->newest, memory_order_relaxed);
	atomic_store_explicit(&n->newest, v, memory_order_release);
	atomic_fetch_add_explicit(&t->bytes, sizeof *v + value.n, memory_order_relaxed);
	return n;
}

void memnode_undo(struct memnode *n)
{
	struct memversion *v = atomic_load_explicit(&n->newest, memory_order_relaxed);

	atomic_store_explicit(&n->newest, v->older, memory_order_release);
}

bool memtable_drop(struct memtable *t, uint64_t lsn, struct slice prefix)
{
	struct memdrop *d = arena_alloc(&t->arena, sizeof *d);
	struct slice copy = arena_copy(&t->arena, prefix);

	if (d == NULL || !slice_present(copy))
		return false;
	*d = (struct memdrop){ .older = t->drops, .lsn = lsn, .prefix = copy };
	t->drops = d;
	return true;
}

void memtable_undo_drops(struct memtable *t, uint64_t lsn)
{
	while (t->drops != NULL && t->drops->lsn > lsn)
		t->drops = t->drops->older;
}

bool memtable_empty(const struct memtable *t)
{
	return memtable_first(t) == NULL && t->drops == NULL;
}

/* ---- readers ---- */

const struct memversion *memnode_at(const struct memnode *n, uint64_t lsn)
{
	const struct memversion *v = atomic_load_explicit(&n->newest, memory_order_acquire);

	while (v != NULL && v->lsn > lsn)
		v = v->older;
	return v;
}

const struct memversion *memtable_get(const struct memtable *t, struct slice key, uint64_t hash, uint64_t lsn)
{
	if (!filter_may_have(t, hash))
		return NULL;
	const struct memnode *n = find(t, key, NULL);

	return n != NULL && slice_eq(memnode_key(n), key) ? memnode_at(n, lsn) : NULL;
}

const struct memnode *memnode_next(const struct memnode *n)
{
	return next_at(n, 0);
}

const struct memnode *memtable_first(const struct memtable *t)
{
	return next_at(t->head, 0);
}

const struct memnode *memtable_ge(const struct memtable *t, struct slice key)
{
	return find(t, key, NULL);
}

const struct memnode *memtable_lt(const struct memtable *t, struct slice key)
{
	struct memnode *before[MEMTABLE_HEIGHT_MAX];

	(void)find(t, key, before);
	return before[0] != t->head ? before[0] : NULL;
}

const struct memnode *memtable_last(const struct memtable *t)
{
	const struct memnode *n = t->head, *next;

	for (unsigned level = atomic_load_explicit(&t->height, memory_order_relaxed); level-- > 0;)
		while ((next = next_at(n, level)) != NULL)
			n = next;
	return n != t->head ? n : NULL;
}
