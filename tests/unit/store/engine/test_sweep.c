/* test_sweep - tables join and leave at random places, beside a plain array of what each has. */
#include <criterion/criterion.h>

#include "store/engine/sweep.h"
#include "tests/support/sanitized.h"
#include "tests/unit/store/engine/model.h"

enum { KEYS = 40, TABLES = 6, TABLE_BYTES = 4096 };

struct model_table {
	struct memtable *t;
	uint64_t lsn[KEYS];      /* of the newest version; 0: it has none, be the key there or not */
	bool waits[KEYS];        /* the key is there, and has not been passed */
};

struct run {
	struct sweep s;
	struct model_table table[TABLES];   /* those that have joined, oldest first */
	unsigned n;
	unsigned place;          /* nothing that waits is passed before the first key from here on, round and round */
	uint64_t moved[KEYS];    /* LSN of what LMDB would have */
	uint64_t lsn, random;
};

static uint64_t below(struct run *r, uint64_t n)
{
	return test_random(&r->random) % n;
}

static unsigned number(struct slice key)
{
	cr_assert_eq(key.n, 1);
	return key.p[0];
}

static struct model_table make_table(struct run *r)
{
	struct model_table m = { .t = memtable_new(TABLE_BYTES) };

	cr_assert_not_null(m.t);
	for (uint64_t i = below(r, 2 * KEYS); i > 0; i--) {
		uint8_t key = (uint8_t)below(r, KEYS);
		struct slice value = below(r, 4) == 0 ? SLICE_NONE : SLICE_LIT("value");
		struct memnode *n = memtable_set(m.t, ++r->lsn, slice_of(&key, 1), value, SLICE_NONE);

		cr_assert_not_null(n);
		m.waits[key] = true;
		if (below(r, 8) == 0)
			memnode_undo(n);
		else
			m.lsn[key] = r->lsn;
	}
	return m;
}

static bool waits(const struct run *r, unsigned key)
{
	bool any = false;

	for (unsigned i = 0; i < r->n; i++)
		any = any || r->table[i].waits[key];
	return any;
}

/* The key at which the sweep stands; KEYS if none waits. */
static unsigned here(const struct run *r)
{
	for (unsigned i = 0; i < KEYS; i++)
		if (waits(r, (r->place + i) % KEYS))
			return (r->place + i) % KEYS;
	return KEYS;
}

/* All tables pass it. Its newest version's LSN, 0 if it has none. */
static uint64_t pass(struct run *r, unsigned key)
{
	uint64_t newest = 0;

	for (unsigned i = 0; i < r->n; i++) {
		if (r->table[i].waits[key] && r->table[i].lsn[key] != 0)
			newest = r->table[i].lsn[key];
		r->table[i].waits[key] = false;
	}
	r->place = key + 1;
	return newest;
}

/* S1, S2 */
static void join(struct run *r, unsigned n)
{
	struct memtable *newest_first[TABLES];

	r->place = here(r) % KEYS;
	for (unsigned i = 0; i < n; i++) {
		r->table[r->n++] = make_table(r);
		newest_first[n - 1 - i] = r->table[r->n - 1].t;
	}
	sweep_join(&r->s, newest_first, n);
}

/* S1, S3 */
static bool step(struct run *r)
{
	struct slice key;
	const struct memversion *v = sweep_next(&r->s, &key);
	uint64_t newest = 0;
	unsigned k;

	while ((k = here(r)) != KEYS && newest == 0)
		newest = pass(r, k);
	cr_assert_eq(v != NULL, newest != 0);
	cr_assert_eq(v != NULL, slice_present(key));
	if (v == NULL)
		return false;
	k = number(key);
	cr_assert_eq(k + 1, r->place);
	cr_assert_eq(v->lsn, newest);
	cr_assert_geq(v->lsn, r->moved[k]);
	r->moved[k] = v->lsn;
	return true;
}

static bool done(const struct model_table *m)
{
	bool any = false;

	for (unsigned k = 0; k < KEYS; k++)
		any = any || m->waits[k];
	return !any;
}

/* S2, S4: what leaves has been moved, all of it. */
static void leave(struct run *r)
{
	unsigned n = sweep_done(&r->s);
	size_t before = sweep_moved(&r->s), bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < KEYS; k++)
			cr_assert_geq(r->moved[k], r->table[i].lsn[k], "table %u key %u", i, k);
		bytes += r->table[i].t->keys != 0 ? atomic_load(&r->table[i].t->bytes) : 0;
		memtable_free(&r->table[i].t);
	}
	sweep_leave(&r->s, n);
	cr_assert(n == r->n || !done(&r->table[n]));
	r->n -= n;
	memmove(r->table, r->table + n, r->n * sizeof *r->table);
	cr_assert_eq(r->s.n, r->n);
	cr_assert_leq(before - sweep_moved(&r->s), bytes + 1);
	cr_assert_geq(before - sweep_moved(&r->s) + 1, bytes);
}

static void move_all(struct run *r)
{
	while (step(r))
		continue;
	leave(r);
	cr_assert_eq(r->n, 0);
	cr_assert_eq(sweep_moved(&r->s), 0);
	cr_assert_eq(sweep_left(&r->s), 0);
}

Test(sweep, tables_join_and_leave_anywhere)
{
	struct run r = { .random = test_seed() };

	for (unsigned i = 0, steps = test_rounds(20000); i < steps; i++) {
		if (below(&r, 12) == 0 && r.n < TABLES)
			join(&r, 1 + (unsigned)below(&r, TABLES - r.n));
		(void)step(&r);
		if (below(&r, 3) == 0)
			leave(&r);
	}
	move_all(&r);
}

Test(sweep, what_is_left_of_the_oldest_goes_down_to_nothing)
{
	struct run r = { .random = test_seed() };

	join(&r, 1);
	double left = 1, bytes = (double)atomic_load(&r.table[0].t->bytes);

	cr_assert_eq(sweep_left(&r.s), r.table[0].t->keys != 0 ? 1 : 0);
	while (step(&r)) {
		cr_assert_lt(sweep_left(&r.s), left);
		left = sweep_left(&r.s);
		cr_assert_float_eq((double)sweep_moved(&r.s), bytes * (1 - left), 1.0);
	}
	move_all(&r);
}

Test(sweep, begins_anew_after_a_rewind)
{
	struct run r = { .random = test_seed() };
	struct slice key, last = SLICE_NONE;

	join(&r, 3);
	for (unsigned i = 0; i < KEYS / 2; i++)
		(void)step(&r);
	struct sweep before = r.s;

	sweep_rewind(&r.s);
	cr_assert_eq(sweep_moved(&r.s), 0);
	while (sweep_next(&r.s, &key) != NULL) {
		cr_assert(!slice_present(last) || slice_cmp(last, key) < 0);
		last = key;
	}
	cr_assert_eq(sweep_done(&r.s), r.n);
	r.s = before;
	move_all(&r);
}
