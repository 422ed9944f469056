/* test_no_memory - every allocation of the overlay and of the writer fails once: nothing changes then, and all goes on. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "store/engine/failpoint.h"
#include "store/engine/memtable.h"
#include "tests/unit/store/engine/engine_fixture.h"
#include "tests/unit/store/engine/memtable_keys.h"
#include "tests/unit/store/engine/no_memory.h"

/* ---- a memtable alone ---- */

enum { TABLE_BYTES = 64 << 10, SETS = 3000 };

Test(no_memory, no_table)
{
	unsigned failed = 0;
	bool hit = true;

	for (unsigned skip = 0; hit; skip++) {
		no_memory_after(skip);
		struct memtable *t = memtable_new(TABLE_BYTES);

		hit = no_memory_over();
		cr_assert_eq(t == NULL, hit, "allocation %u", skip);
		failed += hit;
		memtable_free(&t);
	}
	cr_assert_eq(failed, 5, "the table, its list, its index, buckets and a filter: %u", failed);
}

struct table {
	struct memtable *t;
	struct model m;
	uint64_t lsn;
	unsigned failed, grown;
};

static void check_table(const struct table *x)
{
	const char *why;
	size_t keys = 0;

	cr_assert(memindex_sane(&x->t->index, x->t->head, &why), "%s", why);
	for (const struct memnode *n = memtable_first(x->t); n != NULL; n = memnode_next(n), keys++) {
		struct slice key = memnode_key(n), want = model_get(&x->m, UINT64_MAX, key);
		const struct memversion *v = memtable_get(x->t, key, memtable_hash(key), UINT64_MAX);

		cr_assert(v != NULL && v->deleted == !slice_present(want));
		cr_assert(v->deleted || slice_eq(slice_of(v->bytes, v->n), want));
	}
	cr_assert_eq(keys, x->m.keys);
	cr_assert_eq(x->t->keys, x->m.keys);
}

/* One key and value, in spite of each allocation that they take. */
static void set(struct table *x, struct slice key, struct slice value)
{
	struct memnode *n = NULL;

	x->lsn++;
	for (unsigned skip = 0; n == NULL; skip++) {
		size_t used = x->t->used;

		no_memory_after(skip);
		n = memtable_set(x->t, x->lsn, key, value, SLICE_NONE);
		cr_assert_eq(n == NULL, no_memory_over());
		if (n != NULL)
			continue;
		x->failed++;
		cr_assert_eq(x->t->used, used);
		check_table(x);
	}
	model_set(&x->m, x->lsn, key, value);
}

Test(no_memory, put_and_delete)
{
	static const uint8_t value[300];
	struct key_source s = { .random = test_seed() };
	struct table x = { .t = memtable_new(TABLE_BYTES) };

	for (unsigned i = 0; i < SETS; i++) {
		struct slice key = key_makers[KEY_MAKERS - 1](&s);

		set(&x, key, test_random(&s.random) % 4 == 0 ? SLICE_NONE : slice_of(value, test_random(&s.random) % sizeof value));
	}
	check_table(&x);
	cr_assert_gt(x.failed, 8, "%u", x.failed);
	memtable_free(&x.t);
	model_release(&x.m);
}

Test(no_memory, drop)
{
	struct memtable *t = memtable_new(512);
	unsigned failed = 0;

	for (uint64_t lsn = 1; lsn <= 100; lsn++) {
		bool done = false;

		for (unsigned skip = 0; !done; skip++) {
			const struct memdrop *before = t->drops;

			no_memory_after(skip);
			done = memtable_drop(t, lsn, SLICE_LIT("a prefix that is some bytes long"));
			cr_assert_eq(!done, no_memory_over());
			failed += !done;
			cr_assert(done || t->drops == before);
		}
		cr_assert_eq(t->drops->lsn, lsn);
	}
	cr_assert_gt(failed, 2);
	memtable_free(&t);
}

/* ---- the engine ---- */

enum { BATCHES = 500, CHANGES = 3, TRANSACTIONS_MAX = 2 };

/* A transaction, and what it was told if it was committed. */
struct transaction {
	enum err rc;
	struct fault fault;
	uint64_t lsn;
	struct { char key[16]; struct slice value; } change[CHANGES];
};

struct run {
	struct engine *e;
	struct model m;
	uint64_t random;
	unsigned refused, unfrozen;      /* transactions; batches that were published, and then an allocation failed */
};

static void choose(struct run *r, struct transaction *t)
{
	static const uint8_t bytes[3000] = "any";

	for (unsigned i = 0; i < CHANGES; i++) {
		bool del = test_random(&r->random) % 5 == 0;

		snprintf(t->change[i].key, sizeof t->change[i].key, "%u key %02u", i, (unsigned)(test_random(&r->random) % 100));
		t->change[i].value = del ? SLICE_NONE : slice_of(bytes, test_random(&r->random) % sizeof bytes);
	}
}

static void carry_out(struct engine *e, struct transaction *t)
{
	struct slice there;

	engine_begin(e);
	t->rc = engine_read(e, SLICE_LIT("0 key 00"), &there, &t->fault);
	for (unsigned i = 0; i < CHANGES; i++) {
		struct slice key = slice_str(t->change[i].key);

		if (slice_present(t->change[i].value))
			engine_put(e, key, t->change[i].value);
		else
			engine_del(e, key);
	}
	if (t->rc == ERR_OK)
		t->rc = engine_commit(e, &t->lsn, &t->fault);
	else
		engine_abort(e);
}

/* What was committed is there, what was refused is not, and was refused for want of memory. True if none was refused. */
static bool tell_model(struct run *r, const struct transaction *t)
{
	if (t->rc != ERR_OK) {
		cr_assert_eq(t->rc, ERR_NO_MEMORY);
		cr_assert_eq(t->fault.code, ERR_NO_MEMORY);
		r->refused++;
		return false;
	}
	for (unsigned i = 0; i < CHANGES; i++)
		model_set(&r->m, t->lsn, slice_str(t->change[i].key), t->change[i].value);
	return true;
}

static void check_all(const struct run *r)
{
	struct view *v;

	cr_assert_eq(view_open(r->e, &v, NULL), ERR_OK);
	model_check_all(&r->m, v);
	view_close(&v);
}

/* One batch of n transactions, while an allocation fails; false if there were fewer. */
static bool batch(struct run *r, unsigned n, unsigned skip)
{
	struct transaction t[TRANSACTIONS_MAX] = { { .rc = ERR_OK } };
	struct fault f = { 0 };
	bool all = true;

	for (unsigned i = 0; i < n; i++)
		choose(r, &t[i]);
	no_memory_after(skip);
	for (unsigned i = 0; i < n; i++)
		carry_out(r->e, &t[i]);
	enum err rc = engine_flush(r->e, &f);

	engine_publish(r->e);
	bool failed = no_memory_over();

	cr_assert_eq(rc, ERR_OK);
	for (unsigned i = 0; i < n; i++)
		all &= tell_model(r, &t[i]);
	cr_assert(all || failed);
	r->unfrozen += all && failed;
	if (failed)
		check_all(r);
	return failed;
}

/* What is in the log only is there, too. */
static void reopen(struct run *r, const struct engine_opts *o)
{
	failpoint_arm(FAILPOINT_CHECKPOINT_COMMIT, &(struct failpoint_plan){ .error = EIO });
	engine_close(&r->e);
	failpoint_disarm(FAILPOINT_CHECKPOINT_COMMIT);
	r->e = test_open(o);
	check_all(r);
}

static void run(unsigned transactions)
{
	char dir[TEST_DIR];
	struct run r = { .random = test_seed() };
	unsigned skip = 0;

	test_dir_make(dir);
	struct engine_opts o = test_opts(dir);

	r.e = test_open(&o);
	for (unsigned i = 1; i <= BATCHES; i++) {
		skip = batch(&r, transactions, skip) ? skip + 1 : 0;
		if (i % 20 == 0)
			reopen(&r, &o);
	}
	fprintf(stderr, "refused %u, unfrozen %u\n", r.refused, r.unfrozen);
	cr_assert_gt(r.refused, 20);
	cr_assert_gt(r.unfrozen, 5);
	test_wait_checkpoint(r.e);
	check_all(&r);
	engine_close(&r.e);
	model_release(&r.m);
	test_dir_remove(dir);
}

Test(no_memory, transactions, .timeout = 240)
{
	run(1);
}

/* Of a batch, those that are not refused go on. */
Test(no_memory, batches, .timeout = 240)
{
	run(TRANSACTIONS_MAX);
}
