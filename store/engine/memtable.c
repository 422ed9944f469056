/* memtable - the list of memtable.h, and its buckets.
 *
 * A node, its key and its first version are one allocation, each further version another. */
#include "store/engine/memtable.h"

#include <stdlib.h>
#include <xxhash.h>

enum {
	BLOCK_BYTES = 1 << 20,
	BUCKETS_MIN = 64,
	BYTES_PER_BUCKET = 512,
	BUCKETS_PER_WORD = 8,
	WALK_MAX = 64              /* a key is further from what the index answers only if the writer has changed that meanwhile */
};

/* ---- nodes and versions ---- */

static size_t node_bytes(struct slice key)
{
	size_t align = _Alignof(struct memversion);

	return (offsetof(struct memnode, key) + key.n + align - 1) / align * align;
}

static struct memnode *node_init(void *at, struct slice key, uint64_t hash)
{
	struct memnode *n = at;

	atomic_init(&n->newest, NULL);
	atomic_init(&n->next, NULL);
	atomic_init(&n->bucket_next, NULL);
	n->hash = (uint32_t)(hash >> 32);
	n->key_n = (uint16_t)key.n;
	if (key.n != 0)
		memcpy(n->key, key.p, key.n);
	return n;
}

static struct memversion *version_init(void *at, uint64_t lsn, struct slice value, struct slice tail)
{
	struct memversion *v = at;

	v->lsn = lsn;
	v->older = NULL;
	v->n = (uint32_t)(value.n + tail.n);
	v->deleted = !slice_present(value);
	if (value.n != 0)
		memcpy(v->bytes, value.p, value.n);
	if (tail.n != 0)
		memcpy(v->bytes + value.n, tail.p, tail.n);
	return v;
}

static bool buckets_init(struct memtable *t, size_t bytes_hint)
{
	uint64_t n = BUCKETS_MIN;

	while (n < bytes_hint / BYTES_PER_BUCKET)
		n *= 2;
	t->bucket = calloc(n, sizeof *t->bucket);
	t->filter = calloc(n / BUCKETS_PER_WORD, sizeof *t->filter);
	t->bucket_mask = n - 1;
	return t->bucket != NULL && t->filter != NULL;
}

struct memtable *memtable_new(size_t bytes_hint)
{
	struct memtable *t = calloc(1, sizeof *t);
	size_t block = bytes_hint < 8 * BLOCK_BYTES ? bytes_hint / 8 : BLOCK_BYTES;

	if (t == NULL)
		return NULL;
	arena_init(&t->arena, block);
	void *head = arena_alloc(&t->arena, node_bytes(SLICE_NONE));

	t->head = head != NULL ? node_init(head, SLICE_NONE, 0) : NULL;
	if (t->head == NULL || !memindex_init(&t->index, t->head, block / 8) || !buckets_init(t, bytes_hint))
		memtable_free(&t);
	return t;
}

void memtable_free(struct memtable **t)
{
	if (*t == NULL)
		return;
	memindex_release(&(*t)->index);
	arena_release(&(*t)->arena);
	free((*t)->bucket);
	free((*t)->filter);
	free(*t);
	*t = NULL;
}

void memtable_free_some(struct memtable **t, size_t bytes)
{
	if (arena_release_some(&(*t)->arena, bytes) == 0)
		memtable_free(t);
}

/* ---- buckets ---- */

uint64_t memtable_hash(struct slice key)
{
	return XXH3_64bits(key.p, key.n);
}

static _Atomic uint64_t *filter_word(const struct memtable *t, uint64_t hash)
{
	return &t->filter[(hash & t->bucket_mask) / BUCKETS_PER_WORD];
}

static uint64_t filter_bits(uint64_t hash)
{
	return UINT64_C(1) << (hash >> 58) | UINT64_C(1) << (hash >> 52 & 63);
}

static void bucket_add(struct memtable *t, struct memnode *n, uint64_t hash)
{
	_Atomic(struct memnode *) *head = &t->bucket[hash & t->bucket_mask];
	_Atomic uint64_t *word = filter_word(t, hash);

	atomic_store_explicit(&n->bucket_next, atomic_load_explicit(head, memory_order_relaxed), memory_order_relaxed);
	atomic_store_explicit(head, n, memory_order_release);
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) | filter_bits(hash), memory_order_relaxed);
}

static struct memnode *bucket_find(const struct memtable *t, struct slice key, uint64_t hash)
{
	uint64_t bits = filter_bits(hash);

	if ((atomic_load_explicit(filter_word(t, hash), memory_order_relaxed) & bits) != bits)
		return NULL;
	struct memnode *n = atomic_load_explicit(&t->bucket[hash & t->bucket_mask], memory_order_acquire);

	while (n != NULL && (n->hash != hash >> 32 || !slice_eq(memnode_key(n), key)))
		n = atomic_load_explicit(&n->bucket_next, memory_order_relaxed);   /* set before the head was */
	return n;
}

/* ---- writing ---- */

static struct memnode *next_of(const struct memnode *n)
{
	return atomic_load_explicit(&n->next, memory_order_acquire);
}

static void link_node(struct memtable *t, struct memnode *n, struct memplace place, uint64_t hash)
{
	atomic_store_explicit(&n->next, next_of(place.before), memory_order_relaxed);
	atomic_store_explicit(&place.before->next, n, memory_order_release);
	memindex_put(place, n);
	bucket_add(t, n, hash);
	t->keys++;
}

static void *allocate(struct memtable *t, size_t bytes)
{
	void *p = arena_alloc(&t->arena, bytes);

	if (p != NULL)
		t->used += bytes;
	atomic_store_explicit(&t->bytes, t->used + t->index.bytes, memory_order_relaxed);
	return p;
}

struct memnode *memtable_set(struct memtable *t, uint64_t lsn, struct slice key, struct slice value, struct slice tail)
{
	uint64_t hash = memtable_hash(key);
	struct memnode *n = bucket_find(t, key, hash);
	bool is_new = n == NULL;
	size_t v_at = is_new ? node_bytes(key) : 0;
	struct memplace place;

	if (is_new && !memindex_place(&t->index, key, &place))
		return NULL;
	uint8_t *p = allocate(t, v_at + offsetof(struct memversion, bytes) + value.n + tail.n);

	if (p == NULL)
		return NULL;
	if (is_new)
		n = node_init(p, key, hash);
	struct memversion *v = version_init(p + v_at, lsn, value, tail);

	v->older = atomic_load_explicit(&n->newest, memory_order_relaxed);
	atomic_store_explicit(&n->newest, v, memory_order_release);
	if (is_new)
		link_node(t, n, place, hash);
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
	return next_of(n);
}

const struct memnode *memtable_first(const struct memtable *t)
{
	return next_of(t->head);
}

/* The last node before `key` (absent: beyond all), perhaps the head, and the one that follows it. */
static const struct memnode *before(const struct memtable *t, struct slice key, const struct memnode **next)
{
	for (;;) {
		const struct memnode *n = memindex_before(&t->index, key);

		for (unsigned i = 0; i < WALK_MAX; i++) {
			*next = next_of(n);
			if (*next == NULL || (slice_present(key) && slice_cmp(memnode_key(*next), key) >= 0))
				return n;
			n = *next;
		}
	}
}

const struct memnode *memtable_ge(const struct memtable *t, struct slice key)
{
	const struct memnode *next;

	(void)before(t, key, &next);
	return next;
}

const struct memnode *memtable_lt(const struct memtable *t, struct slice key)
{
	const struct memnode *next, *n = before(t, key, &next);

	return n != t->head ? n : NULL;
}

const struct memnode *memtable_last(const struct memtable *t)
{
	return memtable_lt(t, SLICE_NONE);
}
