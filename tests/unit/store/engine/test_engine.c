/* test_engine - random transactions, aborts and old views against a plain model (G2, G3). */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "protocol/buf.h"
#include "tests/support/sanitized.h"
#include "tests/unit/store/engine/model.h"

enum { KEEP_VIEWS = 6, KEY_MAX = 6200 };

struct run {
	struct engine *e;
	struct model m;
	uint64_t random;
	uint64_t lsn;                    /* expected last one */
	struct view *kept[KEEP_VIEWS];
	uint8_t key[KEY_MAX], value[70000];
	bool long_keys;
};

static uint64_t below(struct run *r, uint64_t n)
{
	return test_random(&r->random) % n;
}

/* Few distinct keys, many shared prefixes; lengths around the places where a layer ends. */
static struct slice random_key(struct run *r)
{
	static const size_t stem[] = { 0, 0, 0, 1, 3, 509, 510, 511, 1011, 1012, 1013, 2048, 6000 };
	size_t n = r->long_keys ? stem[below(r, sizeof stem / sizeof *stem)] : below(r, 3);

	memset(r->key, below(r, 4) == 0 ? 0 : 'a', n);
	if (n > 600 && below(r, 3) == 0)
		r->key[below(r, n)] = 'b';
	for (size_t tail = 1 + below(r, 4); tail > 0; tail--)
		r->key[n++] = (uint8_t)("\0abc\xff"[below(r, 5)]);
	return slice_of(r->key, n);
}

static struct slice random_value(struct run *r)
{
	static const size_t size[] = { 0, 1, 10, 100, 100, 1000, 1000, 3000, 5000, 70000 };
	size_t n = size[below(r, 10)];

	memset(r->value, (int)below(r, 256), n);
	return slice_of(r->value, n);
}

/* A value, often the one put last, behind some other bytes. */
static void put_tail(struct run *r, struct model *m, struct slice value)
{
	struct slice key = random_key(r);
	struct buf whole;

	buf_init(&whole);
	buf_put(&whole, "head", 1 + below(r, 4));
	size_t head = whole.n;

	buf_put_slice(&whole, below(r, 4) == 0 ? slice_of(value.p, value.n / 2) : value);
	engine_put_tail(r->e, key, slice_of(whole.p, head), slice_of(whole.p + head, whole.n - head));
	model_set(m, r->lsn + 1, key, buf_slice(&whole));
	buf_release(&whole);
}

/* One transaction; the model hears of it only once it is committed. */
static void transaction(struct run *r)
{
	struct model pending = { 0 };
	struct fault f = { 0 };
	uint64_t lsn;
	bool abort = below(r, 10) == 0;

	engine_begin(r->e);
	for (size_t ops = 1 + below(r, 6); ops > 0; ops--) {
		struct slice key = random_key(r), value = below(r, 4) == 0 ? SLICE_NONE : random_value(r);

		if (slice_present(value))
			engine_put(r->e, key, value);
		else
			engine_del(r->e, key);
		model_set(abort ? &pending : &r->m, r->lsn + 1, key, value);
		if (slice_present(value) && below(r, 3) == 0)
			put_tail(r, abort ? &pending : &r->m, value);
	}
	model_release(&pending);
	if (abort) {
		engine_abort(r->e);
		return;
	}
	cr_assert_eq(engine_commit(r->e, &lsn, &f), ERR_OK, "%s", f.text);
	cr_assert_eq(lsn, ++r->lsn);
}

static void check_read(struct run *r)
{
	struct slice key = random_key(r), value, want = model_get(&r->m, UINT64_MAX, key);
	struct fault f = { 0 };

	cr_assert_eq(engine_read(r->e, key, &value, &f), ERR_OK);
	cr_assert_eq(slice_present(value), slice_present(want));
	cr_assert(slice_eq(value, want));
}

static void batch(struct run *r)
{
	struct fault f = { 0 };
	uint64_t before = engine_published(r->e);

	for (size_t n = 1 + below(r, 8); n > 0; n--) {
		transaction(r);
		check_read(r);
	}
	cr_assert_eq(engine_published(r->e), before, "visible before publication");
	cr_assert_eq(engine_flush(r->e, &f), ERR_OK, "%s", f.text);
	cr_assert_eq(engine_publish(r->e), r->lsn);
}

static void random_range(struct run *r, struct view *v)
{
	uint8_t from_bytes[KEY_MAX];
	struct slice from = random_key(r);

	memcpy(from_bytes, from.p, from.n);
	from = below(r, 4) != 0 ? slice_of(from_bytes, from.n) : SLICE_NONE;
	struct slice to = below(r, 4) != 0 ? random_key(r) : SLICE_NONE;

	model_check_range(&r->m, v, from, to, below(r, 2) == 0);
}

static void look(struct run *r)
{
	struct view **slot = &r->kept[below(r, KEEP_VIEWS)];
	struct fault f = { 0 };

	if (*slot == NULL) {
		cr_assert_eq(view_open(r->e, slot, &f), ERR_OK, "%s", f.text);
		cr_assert_eq(view_lsn(*slot), r->lsn);
	} else if (below(r, 3) == 0) {
		model_check_all(&r->m, *slot);
		view_close(slot);
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		model_check_get(&r->m, *slot, random_key(r));
		random_range(r, *slot);
	}
}

static void run(struct run *r, const struct engine_opts *o, unsigned steps)
{
	struct fault f = { 0 };

	r->random = test_seed();
	cr_assert_eq(engine_open(o, &r->e, &f), ERR_OK, "%s", f.text);
	for (unsigned i = 0; i < steps; i++) {
		batch(r);
		look(r);
	}
	for (unsigned i = 0; i < KEEP_VIEWS; i++)
		view_close(&r->kept[i]);
	engine_close(&r->e);
	model_release(&r->m);
}

Test(engine, random_short_keys)
{
	static struct run r;

	run(&r, &(struct engine_opts){ .overlay_bytes = 4 << 20 }, test_rounds(1000));
}

Test(engine, random_long_keys)
{
	static struct run r = { .long_keys = true };

	run(&r, &(struct engine_opts){ .overlay_bytes = 4 << 20 }, test_rounds(600));
}

Test(engine, an_empty_transaction_gets_no_lsn)
{
	struct engine *e;
	struct fault f = { 0 };
	uint64_t lsn = 7;

	cr_assert_eq(engine_open(&(struct engine_opts){ 0 }, &e, &f), ERR_OK);
	engine_begin(e);
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	cr_assert_eq(lsn, 0);
	cr_assert_eq(engine_flush(e, &f), ERR_OK);
	cr_assert_eq(engine_publish(e), 0);
	engine_close(&e);
	cr_assert_null(e);
}
