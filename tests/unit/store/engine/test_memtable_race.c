/* test_memtable_race - readers beside the writer (T1 to T4, X1): at an LSN that is published, each finds exactly the keys that
 * were put up to then, in order, wherever it begins, in both directions and by point reads; also when it has stood at a node
 * for long, and beside versions that are taken back. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#include "store/engine/memtable.h"
#include "tests/support/sanitized.h"
#include "tests/unit/store/engine/memtable_keys.h"
#include "tests/unit/store/engine/model.h"

TestSuite(memtable_race, .timeout = 60);

enum { READERS = 2, STEPS = 30, TABLE_BYTES = 64 << 10 };

struct race_key {
	struct slice key;
	uint64_t lsn;                   /* the first that it is put with */
};

struct race {
	struct memtable *t;
	struct slice *made;             /* the one of LSN i + 1; some are made more than once */
	struct race_key *order;         /* each once, in order */
	size_t n, different;
	uint64_t seed;
	_Atomic uint64_t published;
	_Atomic uint64_t looks;
	_Atomic(const char *) wrong;    /* what a reader has found */
};

/* ---- keys ---- */

static int by_key(const void *a, const void *b)
{
	const struct race_key *x = a, *y = b;
	int order = slice_cmp(x->key, y->key);

	return order != 0 ? order : (x->lsn > y->lsn) - (x->lsn < y->lsn);
}

static void make_keys(struct race *x, make_key *make)
{
	static struct key_source s;

	s = (struct key_source){ .random = x->seed };
	x->made = calloc(x->n, sizeof *x->made);
	x->order = calloc(x->n, sizeof *x->order);
	for (size_t i = 0; i < x->n; i++) {
		struct slice key = make(&s);

		x->made[i] = slice_of(memcpy(malloc(key.n), key.p, key.n), key.n);
		x->order[i] = (struct race_key){ x->made[i], i + 1 };
	}
	qsort(x->order, x->n, sizeof *x->order, by_key);
	for (size_t i = 0; i < x->n; i++)
		if (i == 0 || !slice_eq(x->order[i].key, x->order[x->different - 1].key))
			x->order[x->different++] = x->order[i];
}

static void free_keys(struct race *x)
{
	for (size_t i = 0; i < x->n; i++)
		free((void *)(uintptr_t)x->made[i].p);
	free(x->made);
	free(x->order);
}

/* ---- a reader ---- */

static uint64_t published(struct race *x)
{
	return atomic_load_explicit(&x->published, memory_order_acquire);
}

/* From key number i on, going on to newer LSNs now and then. */
static const char *look_up(struct race *x, size_t i, uint64_t *random)
{
	const struct memnode *n = NULL;
	uint64_t lsn = published(x);

	for (unsigned step = 0; step < STEPS; step++) {
		if (test_random(random) % 8 == 0)
			lsn = published(x);
		n = n == NULL ? memtable_ge(x->t, x->order[i].key) : memnode_next(n);
		while (n != NULL && memnode_at(n, lsn) == NULL)
			n = memnode_next(n);
		while (i < x->different && x->order[i].lsn > lsn)
			i++;
		if (n == NULL || i == x->different)
			return n == NULL && i == x->different ? NULL : "ascending: the end is elsewhere";
		if (!slice_eq(memnode_key(n), x->order[i++].key))
			return "ascending: another key";
	}
	return NULL;
}

/* From the key before number i on. */
static const char *look_down(struct race *x, size_t i)
{
	uint64_t lsn = published(x);
	const struct memnode *n = memtable_lt(x->t, x->order[i].key);

	for (unsigned step = 0; step < STEPS; step++) {
		while (n != NULL && memnode_at(n, lsn) == NULL)
			n = memtable_lt(x->t, memnode_key(n));
		while (i > 0 && x->order[i - 1].lsn > lsn)
			i--;
		if (n == NULL || i == 0)
			return n == NULL && i == 0 ? NULL : "descending: the end is elsewhere";
		if (!slice_eq(memnode_key(n), x->order[--i].key))
			return "descending: another key";
		n = memtable_lt(x->t, memnode_key(n));
	}
	return NULL;
}

static const char *look_at(struct race *x, size_t i)
{
	uint64_t lsn = published(x);
	struct slice key = x->order[i].key;
	bool found = memtable_get(x->t, key, memtable_hash(key), lsn) != NULL;

	return found == (x->order[i].lsn <= lsn) ? NULL : "a point read finds what is not there, or does not find what is";
}

/* Anywhere, or where the writer is if keys ascend or descend. */
static size_t pick(struct race *x, uint64_t *random)
{
	uint64_t where = test_random(random) % 3, lsn = published(x);

	if (where == 0 || lsn >= x->different)
		return test_random(random) % x->different;
	return where == 1 ? lsn : x->different - 1 - lsn;
}

static void *reader_main(void *arg)
{
	struct race *x = arg;
	uint64_t random = x->seed + atomic_fetch_add(&x->looks, 1);

	while (atomic_load(&x->wrong) == NULL && published(x) < x->n) {
		size_t i = pick(x, &random);
		const char *wrong = look_up(x, i, &random);

		if (wrong == NULL)
			wrong = look_down(x, i);
		if (wrong == NULL)
			wrong = look_at(x, i);
		if (wrong != NULL)
			atomic_store(&x->wrong, wrong);
		atomic_fetch_add(&x->looks, 1);
	}
	return NULL;
}

/* ---- the writer ---- */

static struct memnode *set(struct race *x, uint64_t lsn, struct slice key)
{
	struct memnode *n = memtable_set(x->t, lsn, key, SLICE_LIT("value"), SLICE_NONE);

	cr_assert_not_null(n);
	return n;
}

/* All keys in batches; beside them some of any batch's, which are taken back before it is published. */
static void write_all(struct race *x)
{
	uint64_t random = x->seed, lsn = 0;

	while (lsn < x->n) {
		for (uint64_t last = lsn + 1 + test_random(&random) % 5; lsn < last && lsn < x->n; lsn++)
			set(x, lsn + 1, x->made[lsn]);
		if (test_random(&random) % 3 == 0)
			memnode_undo(set(x, lsn + 1, x->made[test_random(&random) % x->n]));
		atomic_store_explicit(&x->published, lsn, memory_order_release);
	}
}

static void race(make_key *make, uint64_t seed, size_t n)
{
	struct race x = { .n = n, .seed = seed, .t = memtable_new(TABLE_BYTES) };
	pthread_t reader[READERS];
	const char *why;

	cr_assert_not_null(x.t);
	make_keys(&x, make);
	for (unsigned i = 0; i < READERS; i++)
		cr_assert_eq(pthread_create(&reader[i], NULL, reader_main, &x), 0);
	while (atomic_load(&x.looks) < READERS)
		;
	write_all(&x);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(reader[i], NULL);
	cr_assert_null(atomic_load(&x.wrong), "%s", atomic_load(&x.wrong));
	cr_assert(memindex_sane(&x.t->index, x.t->head, &why), "%s", why);
	memtable_free(&x.t);
	free_keys(&x);
}

/* Few keys, so that all threads are in the same few blocks. */
Test(memtable_race, small_tables)
{
	uint64_t seed = test_seed();

	for (unsigned i = 0; i < 300; i++)
		race(key_makers[i % KEY_MAKERS], seed + i, 200);
}

Test(memtable_race, large_tables)
{
	uint64_t seed = test_seed();

	for (unsigned i = 0; i < KEY_MAKERS; i++)
		race(key_makers[i], seed, test_rounds(20000));
}
