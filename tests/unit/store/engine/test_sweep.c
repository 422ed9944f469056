/* test_sweep - tables join and leave at random places, beside a plain array of what each has. */
#include <criterion/criterion.h>

#include "store/engine/sweep.h"
#include "tests/support/sanitized.h"
#include "tests/unit/store/engine/model.h"

enum { KEYS = 40, TABLES = 6, TABLE_BYTES = 4096 };

struct model_table {
	struct memtable *t;
	uint64_t lsn[KEYS];      /* of the newest version; 0: the table does not have the key */
};

struct run {
	struct sweep s;
	struct model_table table[TABLES];   /* those that have joined, oldest first */
	unsigned n;
	uint64_t moved[KEYS];    /* LSN of what LMDB would have */
	uint64_t lsn, random;
	unsigned last, ends;     /* the key passed last; how often the sweep began again */
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
		if (below(r, 8) == 0)
			memnode_undo(n);
		else
			m.lsn[key] = r->lsn;
	}
	return m;
}

static void join(struct run *r, unsigned n)
{
	struct memtable *newest_first[TABLES];

	for (unsigned i = 0; i < n; i++) {
		r->table[r->n++] = make_table(r);
		newest_first[n - 1 - i] = r->table[r->n - 1].t;
	}
	sweep_join(&r->s, newest_first, n);
}

/* S1, S3: keys ascend until all begin again; a key's version is the newest that the tables have, and never older than before. */
static bool step(struct run *r)
{
	struct slice key;
	const struct memversion *v = sweep_next(&r->s, &key);
	uint64_t newest = 0;

	cr_assert_eq(v != NULL, slice_present(key));
	if (v == NULL)
		return false;
	unsigned k = number(key);

	for (unsigned i = 0; i < r->n; i++)
		newest = r->table[i].lsn[k] != 0 ? r->table[i].lsn[k] : newest;
	r->ends += k <= r->last;
	r->last = k;
	cr_assert_eq(v->lsn, newest);
	cr_assert_geq(v->lsn, r->moved[k]);
	r->moved[k] = v->lsn;
	return true;
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

/* S2: a table is done with when the sweep has come round to where it joined, and no later. */
Test(sweep, a_round_is_enough)
{
	struct run r = { .random = test_seed() };

	for (unsigned i = 0; i < 200; i++) {
		join(&r, 1);
		for (uint64_t n = below(&r, KEYS); n > 0; n--)
			(void)step(&r);
		join(&r, 1);
		r.ends = 0;
		move_all(&r);
		cr_assert_leq(r.ends, 2);
		r.last = KEYS;
	}
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

	join(&r, 3);
	for (unsigned i = 0; i < KEYS / 2; i++)
		(void)step(&r);
	struct sweep before = r.s;

	sweep_rewind(&r.s);
	cr_assert_eq(sweep_moved(&r.s), 0);
	r.last = KEYS;
	r.ends = 0;
	while (step(&r))
		continue;
	cr_assert_leq(r.ends, 1);
	r.s = before;
	move_all(&r);
}
