/* expr_cache - recently parsed expressions, by kind and text.
 *
 *    bucket[hash] -> entry -> entry        chains, newest first
 *    newest <-> ... <-> oldest             order of use; the oldest makes room
 *
 * Applications send few different texts again and again, so that nearly every request finds its own.
 * Entries are allocated once, and what they hold is bounded in bytes too: the longest texts need some hundred KB.
 * Hash: XXH3, with a seed per cache against chosen collisions.
 * Threads: one; the expressions themselves may be anywhere. */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <time.h>
#include <xxhash.h>

#include "protocol/expr_int.h"

enum { BYTES_PER_ENTRY = 4096 };

struct entry {
	struct expr *e;
	struct entry *chain;            /* of its bucket, or of free entries */
	struct entry *newer, *older;
	uint64_t hash;
};

struct expr_cache {
	size_t mask, entries;
	size_t bytes, max_bytes;        /* of the expressions */
	uint64_t seed;
	struct entry *newest, *oldest, *free;
	struct entry **bucket;
	struct entry *entry;
};

struct expr_cache *expr_cache_new(size_t entries)
{
	struct expr_cache *c = calloc(1, sizeof(*c));
	size_t buckets = 1;
	struct timespec now;

	if (c == NULL)
		return NULL;
	if (entries == 0)
		entries = 1;
	while (buckets < entries)
		buckets *= 2;
	c->bucket = calloc(buckets, sizeof(*c->bucket));
	c->entry = calloc(entries, sizeof(*c->entry));
	if (c->bucket == NULL || c->entry == NULL) {
		expr_cache_free(&c);
		return NULL;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	c->seed = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)(uintptr_t)c;
	c->mask = buckets - 1;
	c->entries = entries;
	c->max_bytes = entries * BYTES_PER_ENTRY;
	for (size_t i = 0; i < entries; i++) {
		c->entry[i].chain = c->free;
		c->free = &c->entry[i];
	}
	return c;
}

void expr_cache_free(struct expr_cache **c)
{
	if (*c == NULL)
		return;
	for (size_t i = 0; (*c)->entry != NULL && i < (*c)->entries; i++)
		expr_unref(&(*c)->entry[i].e);
	free((*c)->bucket);
	free((*c)->entry);
	free(*c);
	*c = NULL;
}

static void unlink_use(struct expr_cache *c, struct entry *n)
{
	*(n->newer != NULL ? &n->newer->older : &c->newest) = n->older;
	*(n->older != NULL ? &n->older->newer : &c->oldest) = n->newer;
}

static void link_newest(struct expr_cache *c, struct entry *n)
{
	n->newer = NULL;
	n->older = c->newest;
	*(c->newest != NULL ? &c->newest->newer : &c->oldest) = n;
	c->newest = n;
}

static struct entry *find(struct expr_cache *c, uint64_t hash, enum expr_kind kind, struct slice text)
{
	struct entry *n;

	for (n = c->bucket[hash & c->mask]; n != NULL; n = n->chain)
		if (n->hash == hash && n->e->kind == kind && slice_eq(n->e->text, text))
			return n;
	return NULL;
}

static void drop_oldest(struct expr_cache *c)
{
	struct entry *n = c->oldest, **link = &c->bucket[n->hash & c->mask];

	while (*link != n)
		link = &(*link)->chain;
	*link = n->chain;
	unlink_use(c, n);
	c->bytes -= n->e->bytes;
	expr_unref(&n->e);
	n->chain = c->free;
	c->free = n;
}

/* Keep e, whose reference goes to the cache. */
static struct entry *keep(struct expr_cache *c, struct expr *e, uint64_t hash)
{
	struct entry *n;

	while (c->free == NULL || (c->oldest != NULL && c->bytes + e->bytes > c->max_bytes))
		drop_oldest(c);
	n = c->free;
	c->free = n->chain;
	n->e = e;
	n->hash = hash;
	n->chain = c->bucket[hash & c->mask];
	c->bucket[hash & c->mask] = n;
	c->bytes += e->bytes;
	return n;
}

enum err expr_cache_parse(struct expr_cache *c, enum expr_kind kind, struct slice text, struct expr **out,
	struct fault *f)
{
	uint64_t hash;
	struct entry *n;
	enum err rc;

	if (c == NULL || text.n > EXPR_BYTES_MAX)
		return expr_parse(kind, text, out, f);
	hash = XXH3_64bits_withSeed(text.p, text.n, c->seed + (uint64_t)kind);
	n = find(c, hash, kind, text);
	if (n != NULL) {
		unlink_use(c, n);
	} else {
		rc = expr_parse(kind, text, out, f);
		if (rc != ERR_OK)
			return rc;
		n = keep(c, *out, hash);
	}
	link_newest(c, n);
	*out = expr_ref(n->e);
	return ERR_OK;
}
