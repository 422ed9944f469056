/* memtable - the skip list of memtable.h.
 *
 * A node and its key are one allocation, each version another. Heights are geometric with p = 1/4: a third of a
 * pointer a node beyond the first, and the search for one of 100,000 keys compares some 25. */
#include "store/engine/memtable.h"

#include <stdlib.h>
#include <xxhash.h>

enum { BLOCK_BYTES = 1 << 20, BUCKETS_MIN = 64, BYTES_PER_BUCKET = 512 };

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
	n->hash = 0;
	atomic_init(&n->newest, NULL);
	atomic_init(&n->bucket_next, NULL);
	for (unsigned i = 0; i < height; i++)
		atomic_init(&n->next[i], NULL);
	atomic_fetch_add_explicit(&t->bytes, links + key.n, memory_order_relaxed);
	return n;
}

static bool buckets_init(struct memtable *t, size_t bytes_hint)
{
	uint64_t n = BUCKETS_MIN;

	while (n < bytes_hint / BYTES_PER_BUCKET)
		n *= 2;
	t->bucket = calloc(n, sizeof *t->bucket);
	t->bucket_mask = n - 1;
	return t->bucket != NULL;
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
	if (t->head == NULL || !buckets_init(t, bytes_hint))
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
	free((*t)->bucket);
	free(*t);
	*t = NULL;
}

/* ---- buckets ---- */

uint64_t memtable_hash(struct slice key)
{
	return XXH3_64bits(key.p, key.n);
}

static void bucket_add(struct memtable *t, struct memnode *n, uint64_t hash)
{
	_Atomic(struct memnode *) *head = &t->bucket[hash & t->bucket_mask];

	n->hash = (uint32_t)(hash >> 32);
	atomic_store_explicit(&n->bucket_next, atomic_load_explicit(head, memory_order_relaxed), memory_order_relaxed);
	atomic_store_explicit(head, n, memory_order_release);
}

static struct memnode *bucket_find(const struct memtable *t, struct slice key, uint64_t hash)
{
	struct memnode *n = atomic_load_explicit(&t->bucket[hash & t->bucket_mask], memory_order_acquire);

	while (n != NULL && (n->hash != hash >> 32 || !slice_eq(memnode_key(n), key)))
		n = atomic_load_explicit(&n->bucket_next, memory_order_relaxed);   /* set before the head was */
	return n;
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

static struct memnode *insert_node(struct memtable *t, struct slice key, uint64_t hash)
{
	struct memnode *before[MEMTABLE_HEIGHT_MAX];
	unsigned height = random_height(t), in_use = atomic_load_explicit(&t->height, memory_order_relaxed);
	struct memnode *n = node_new(t, key, height);

	if (n == NULL)
		return NULL;
	(void)find(t, key, before);
	for (unsigned i = in_use; i < height; i++)
		before[i] = t->head;
	if (height > in_use)
		atomic_store_explicit(&t->height, height, memory_order_relaxed);   /* too high or too low, readers arrive */
	for (unsigned i = 0; i < height; i++) {
		atomic_store_explicit(&n->next[i], next_at(before[i], i), memory_order_relaxed);
		atomic_store_explicit(&before[i]->next[i], n, memory_order_release);
	}
	bucket_add(t, n, hash);
	t->keys++;
	return n;
}

struct memnode *memtable_set(struct memtable *t, uint64_t lsn, struct slice key, struct slice value, struct slice tail)
{
	size_t bytes = value.n + tail.n;
	struct memversion *v = arena_alloc(&t->arena, sizeof *v + bytes);
	uint64_t hash = memtable_hash(key);

	if (v == NULL)
		return NULL;
	struct memnode *n = bucket_find(t, key, hash);

	if (n == NULL)
		n = insert_node(t, key, hash);
	if (n == NULL)
		return NULL;
	*v = (struct memversion){ .lsn = lsn, .n = (uint32_t)bytes, .deleted = !slice_present(value) };
	if (value.n != 0)
		memcpy(v->bytes, value.p, value.n);
	if (tail.n != 0)
		memcpy(v->bytes + value.n, tail.p, tail.n);
	v->older = atomic_load_explicit(&n->newest, memory_order_relaxed);
	atomic_store_explicit(&n->newest, v, memory_order_release);
	atomic_fetch_add_explicit(&t->bytes, sizeof *v + bytes, memory_order_relaxed);
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
	const struct memnode *n = bucket_find(t, key, hash);

	return n != NULL ? memnode_at(n, lsn) : NULL;
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
