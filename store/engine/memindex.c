/* memindex - the blocks of memindex.h.
 *
 *    | n skip level | low | head 0 .. 19 | entry 0 .. 19 |      256 bytes, as many as four cache lines have
 *
 * An entry is a node of the list or, above the leaves, a block; its head is of the node's or of the block's lowest key. */
#include "store/engine/memindex.h"

#include "store/engine/memtable.h"

enum { ENTRIES = 20, CACHE_LINE = 64, AHEAD = 3 };

struct memblock {
	_Atomic uint16_t n;
	_Atomic uint16_t skip;            /* bytes that all keys here share */
	uint16_t level;                   /* 0: a leaf */
	struct memnode *low;
	_Atomic uint32_t head[ENTRIES];
	_Atomic(void *) entry[ENTRIES];   /* in order */
};

/* ---- reading a block ---- */

static unsigned count(const struct memblock *b)
{
	return atomic_load_explicit(&b->n, memory_order_acquire);
}

static void *entry(const struct memblock *b, unsigned i)
{
	return atomic_load_explicit(&b->entry[i], memory_order_acquire);
}

/* The lowest node of an entry. */
static struct memnode *node(const struct memblock *b, unsigned i)
{
	return b->level == 0 ? entry(b, i) : ((struct memblock *)entry(b, i))->low;
}

static uint32_t head(const struct memblock *b, unsigned i)
{
	return atomic_load_explicit(&b->head[i], memory_order_relaxed);
}

static uint32_t head_of(struct slice key, size_t skip)
{
	uint32_t h = 0;

	if (key.n >= skip + sizeof h) {
		memcpy(&h, key.p + skip, sizeof h);
		return __builtin_bswap32(h);
	}
	for (size_t i = skip; i < key.n; i++)
		h |= (uint32_t)key.p[i] << (8 * (skip + 3 - i));
	return h;
}

static bool is_before(const struct memnode *n, struct slice key)
{
	return !slice_present(key) || slice_cmp(memnode_key(n), key) < 0;
}

/* How many entries come before `key`. */
static unsigned rank(const struct memblock *b, struct slice key)
{
	uint32_t h = head_of(key, atomic_load_explicit(&b->skip, memory_order_relaxed));
	unsigned n = count(b), lo = slice_present(key) ? 0 : n;

	while (lo < n && head(b, lo) < h)
		lo++;
	unsigned hi = lo;

	while (hi < n && head(b, hi) == h)
		hi++;
	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (is_before(node(b, mid), key))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The last entry before `key`: the one that it follows or is in. By X2 the first one is before it. */
static unsigned entry_for(const struct memblock *b, struct slice key)
{
	unsigned i = rank(b, key);

	return i > 0 ? i - 1 : 0;
}

/* Have it fetched as a whole, while its first line is waited for. */
static struct memblock *child(const struct memblock *b, unsigned i)
{
	struct memblock *c = entry(b, i);

	for (unsigned at = 0; at < sizeof *c; at += CACHE_LINE)
		__builtin_prefetch((const char *)c + at);
	return c;
}

/* Who came here will go on to the neighbours, in one direction or the other. */
static void fetch_neighbours(const struct memblock *leaf, unsigned i)
{
	unsigned n = count(leaf);

	for (unsigned at = i > AHEAD ? i - AHEAD : 0; at < n && at <= i + AHEAD; at++)
		__builtin_prefetch(entry(leaf, at));
}

struct memnode *memindex_before(const struct memindex *x, struct slice key)
{
	for (;;) {
		const struct memblock *b = atomic_load_explicit(&x->root, memory_order_acquire);
		const struct memnode *first = b->low;

		while (b->level > 0)
			b = child(b, entry_for(b, key));
		unsigned i = entry_for(b, key);
		struct memnode *n = entry(b, i);

		fetch_neighbours(b, i);
		if (n == first || is_before(n, key))
			return n;
	}
}

/* ---- changing one ---- */

static void set(struct memblock *b, unsigned i, void *e, const struct memnode *n)
{
	uint32_t h = head_of(memnode_key(n), atomic_load_explicit(&b->skip, memory_order_relaxed));

	atomic_store_explicit(&b->head[i], h, memory_order_relaxed);
	atomic_store_explicit(&b->entry[i], e, memory_order_release);
}

static void shift(struct memblock *b, unsigned i)
{
	atomic_store_explicit(&b->head[i + 1], head(b, i), memory_order_relaxed);
	atomic_store_explicit(&b->entry[i + 1], entry(b, i), memory_order_release);
}

/* n: the entry itself or, of a block, its lowest node. */
static void insert(struct memblock *b, unsigned i, void *e, const struct memnode *n)
{
	unsigned end = count(b);

	for (unsigned j = end; j > i; j--)
		shift(b, j - 1);
	set(b, i, e, n);
	atomic_store_explicit(&b->n, (uint16_t)(end + 1), memory_order_release);
}

/* The length of what both keys begin with; 0 if high is NULL, for nothing is known of the keys above low. */
static uint16_t common(const struct memnode *low, const struct memnode *high)
{
	uint16_t i = 0;

	while (high != NULL && i < low->key_n && i < high->key_n && low->key[i] == high->key[i])
		i++;
	return i;
}

static void set_skip(struct memblock *b, uint16_t skip)
{
	if (skip == atomic_load_explicit(&b->skip, memory_order_relaxed))
		return;
	atomic_store_explicit(&b->skip, skip, memory_order_relaxed);
	for (unsigned i = 0; i < count(b); i++)
		set(b, i, entry(b, i), node(b, i));
}

/* high: the lowest node of the next block; NULL if there is none. */
static struct memblock *block_new(struct memindex *x, unsigned level, struct memnode *low, const struct memnode *high)
{
	struct memblock *b = arena_alloc(&x->arena, sizeof *b);

	if (b == NULL)
		return NULL;
	atomic_init(&b->n, 0);
	atomic_init(&b->skip, common(low, high));
	b->level = (uint16_t)level;
	b->low = low;
	x->bytes += sizeof *b;
	return b;
}

/* ---- the tree ---- */

bool memindex_init(struct memindex *x, struct memnode *first, size_t block_bytes)
{
	arena_init(&x->arena, block_bytes);
	struct memblock *b = block_new(x, 0, first, NULL);

	if (b == NULL)
		return false;
	insert(b, 0, first, first);
	atomic_init(&x->root, b);
	x->bytes = 0;
	return true;
}

void memindex_release(struct memindex *x)
{
	arena_release(&x->arena);
}

static struct memblock *root(const struct memindex *x)
{
	return atomic_load_explicit(&x->root, memory_order_relaxed);
}

static bool full(const struct memblock *b)
{
	return count(b) == ENTRIES;
}

/* Split the full child `i`, which `next` follows (NULL: none does), to make room for `key`. What grows at its end keeps its
 * blocks full. */
static bool split(struct memindex *x, struct memblock *parent, unsigned i, const struct memblock *next, struct slice key)
{
	struct memblock *b = entry(parent, i);
	unsigned at = rank(b, key) == ENTRIES ? ENTRIES - 1 : ENTRIES / 2;
	struct memblock *right = block_new(x, b->level, node(b, at), next != NULL ? next->low : NULL);

	if (right == NULL)
		return false;
	for (unsigned j = at; j < ENTRIES; j++)
		insert(right, j - at, entry(b, j), node(b, j));
	insert(parent, i + 1, right, right->low);
	atomic_store_explicit(&b->n, (uint16_t)at, memory_order_release);
	set_skip(b, common(b->low, right->low));
	return true;
}

/* A root above the full one, which can be split then. */
static bool grow(struct memindex *x)
{
	struct memblock *old = root(x), *b = block_new(x, old->level + 1u, old->low, NULL);

	if (b == NULL)
		return false;
	insert(b, 0, old, old->low);
	atomic_store_explicit(&x->root, b, memory_order_release);
	return true;
}

bool memindex_place(struct memindex *x, struct slice key, struct memplace *out)
{
	const struct memblock *next = NULL;

	if (full(root(x)) && !grow(x))
		return false;
	struct memblock *b = root(x);

	while (b->level > 0) {
		unsigned i = entry_for(b, key);

		if (i + 1 < count(b))
			next = entry(b, i + 1);
		struct memblock *c = child(b, i);

		if (!full(c))
			b = c;
		else if (!split(x, b, i, next, key))
			return false;
	}
	unsigned i = entry_for(b, key) + 1;

	*out = (struct memplace){ .leaf = b, .i = i, .before = entry(b, i - 1) };
	__builtin_prefetch(out->before, 1);
	return true;
}

void memindex_put(struct memplace place, struct memnode *n)
{
	insert(place.leaf, place.i, n, n);
}

/* ---- for tests ---- */

static const char *entry_fault(const struct memblock *b, unsigned i)
{
	const struct memnode *n = node(b, i);

	if (head(b, i) != head_of(memnode_key(n), atomic_load(&b->skip)))
		return "a head is not of its key";
	if (i > 0 && !is_before(node(b, i - 1), memnode_key(n)))
		return "a block is not in order";
	if (b->level > 0 && ((struct memblock *)entry(b, i))->level + 1 != b->level)
		return "a level is missing";
	return NULL;
}

static const char *leaf_fault(const struct memblock *b, const struct memnode **at)
{
	for (unsigned i = 0; i < count(b); i++) {
		if (entry(b, i) != *at)
			return "a leaf has not what the list has";
		*at = memnode_next(*at);
	}
	return NULL;
}

/* high: the lowest node of what follows. The leaves go along the list: *at. */
static const char *block_fault(const struct memblock *b, const struct memnode *high, const struct memnode **at)
{
	const char *why = NULL;

	if (count(b) == 0 || node(b, 0) != b->low)
		return "a block does not begin with its lowest node";
	if (atomic_load(&b->skip) != common(b->low, high))
		return "a block skips what its keys do not share, or less";
	for (unsigned i = 0; i < count(b) && why == NULL; i++) {
		why = entry_fault(b, i);
		if (why == NULL && b->level > 0)
			why = block_fault(entry(b, i), i + 1 < count(b) ? node(b, i + 1) : high, at);
	}
	return why == NULL && b->level == 0 ? leaf_fault(b, at) : why;
}

bool memindex_sane(const struct memindex *x, const struct memnode *first, const char **why)
{
	*why = block_fault(root(x), NULL, &first);
	if (*why == NULL && first != NULL)
		*why = "the list has more than the leaves";
	return *why == NULL;
}
