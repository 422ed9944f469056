/* test_memtable - random keys, sets, deletions and undoing against a plain model; and the index looked through. */
#include <criterion/criterion.h>

#include "store/engine/memtable.h"
#include "tests/support/sanitized.h"
#include "tests/unit/store/engine/memtable_keys.h"
#include "tests/unit/store/engine/model.h"

enum { VALUE_MAX = 40, TABLE_BYTES = 64 << 10 };

struct run {
	struct key_source s;
	make_key *make;
	struct memtable *t;
	struct model m;
	uint64_t lsn;
};

static uint64_t below(struct run *r, uint64_t n)
{
	return test_random(&r->s.random) % n;
}

static struct slice model_key_at(const struct model *m, size_t i)
{
	return slice_of(m->key[i].bytes, m->key[i].n);
}

static void check_version(const struct run *r, const struct memversion *v, struct slice key, uint64_t lsn)
{
	struct slice want = model_get(&r->m, lsn, key);

	cr_assert_eq(v != NULL && !v->deleted, slice_present(want));
	cr_assert(!slice_present(want) || slice_eq(slice_of(v->bytes, v->n), want));
}

/* The node is the model's key number i; behind the last one there is none. */
static void check_node(const struct run *r, const struct memnode *n, size_t i)
{
	if (i >= r->m.keys) {
		cr_assert_null(n);
		return;
	}
	cr_assert_not_null(n);
	cr_assert(slice_eq(memnode_key(n), model_key_at(&r->m, i)));
}

static void check_walks(struct run *r)
{
	const struct memnode *n = memtable_first(r->t);
	uint64_t lsn = below(r, r->lsn + 2);
	size_t i = 0;

	for (; n != NULL; n = memnode_next(n)) {
		check_node(r, n, i++);
		check_version(r, memnode_at(n, lsn), memnode_key(n), lsn);
	}
	cr_assert_eq(i, r->m.keys);
	for (n = memtable_last(r->t); n != NULL; n = memtable_lt(r->t, memnode_key(n)))
		check_node(r, n, --i);
	cr_assert_eq(i, 0);
}

static void check_probe(struct run *r)
{
	struct slice key = key_makers[KEY_MAKERS - 1](&r->s);
	uint64_t lsn = below(r, r->lsn + 2);
	size_t i = 0;

	if (below(r, 2) == 0 && r->m.keys > 0)
		key = model_key_at(&r->m, below(r, r->m.keys));
	if (below(r, 20) == 0)
		key = SLICE_LIT("");
	while (i < r->m.keys && slice_cmp(model_key_at(&r->m, i), key) < 0)
		i++;
	check_node(r, memtable_ge(r->t, key), i);
	check_node(r, memtable_lt(r->t, key), i > 0 ? i - 1 : SIZE_MAX);
	check_version(r, memtable_get(r->t, key, memtable_hash(key), lsn), key, lsn);
}

/* The index is sane, and counted: a key takes a head and a pointer there at least. The first block is not counted. */
static void check_index(const struct run *r)
{
	const char *why;

	cr_assert(memindex_sane(&r->t->index, r->t->head, &why), "%s", why);
	cr_assert_eq(r->t->keys, r->m.keys);
	cr_assert_geq(atomic_load(&r->t->bytes) + 256, r->t->used + 12 * r->t->keys);
}

static struct memnode *set(struct run *r)
{
	static const uint8_t value[VALUE_MAX] = "some value or other, and its tail";
	struct slice key = r->make(&r->s);
	size_t n = below(r, VALUE_MAX), head = below(r, n + 1);
	bool del = below(r, 5) == 0;
	struct memnode *node = memtable_set(r->t, ++r->lsn, key, del ? SLICE_NONE : slice_of(value, head),
		del ? SLICE_NONE : slice_of(value + head, n - head));

	model_set(&r->m, r->lsn, key, del ? SLICE_NONE : slice_of(value, n));
	cr_assert_not_null(node);
	cr_assert(slice_eq(memnode_key(node), key));
	return node;
}

/* Some sets, and perhaps all of them taken back. */
static void batch(struct run *r)
{
	struct memnode *undo[8];
	size_t n = 1 + below(r, 8);
	uint64_t before = r->lsn;

	for (size_t i = 0; i < n; i++)
		undo[i] = set(r);
	if (below(r, 6) != 0)
		return;
	while (n > 0)
		memnode_undo(undo[--n]);
	model_cut(&r->m, before);
	r->lsn = before;
}

static void run(make_key *make, uint64_t seed)
{
	struct run r = { .make = make, .s.random = seed };

	r.t = memtable_new(TABLE_BYTES);
	cr_assert_not_null(r.t);
	cr_assert(memtable_empty(r.t));
	check_walks(&r);
	for (unsigned i = 0, batches = test_rounds(1000); i < batches; i++) {
		batch(&r);
		check_probe(&r);
		if (i < 50 || i % 50 == 0)
			check_index(&r);
	}
	check_index(&r);
	check_walks(&r);
	memtable_free(&r.t);
	model_release(&r.m);
}

Test(memtable, random_keys)
{
	uint64_t seed = test_seed();

	for (unsigned i = 0; i < KEY_MAKERS; i++)
		run(key_makers[i], seed);
}
