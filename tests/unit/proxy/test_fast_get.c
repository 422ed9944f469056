/* test_fast_get - which requests are simple, and that a simple one is answered as the ordinary way would. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "protocol/value.h"
#include "proxy/fast_get.h"

static const struct table shop = { .id = 7 };
static unsigned lookups;

static const struct table *find_table(struct backend_reader *r, struct slice name)
{
	(void)r;
	lookups++;
	return slice_eq(name, SLICE_LIT("shop")) ? &shop : NULL;
}

struct bench {
	struct backend_ops ops;
	struct backend backend;
	struct worker w;
	struct epochs *epochs;
	struct buf out;
};

static void bench_init(struct bench *b)
{
	struct item_cache_opts o = { .max_bytes = 1 << 20 };

	*b = (struct bench){ .ops = { .table = find_table } };
	b->backend.ops = &b->ops;
	b->epochs = epochs_new(0);
	b->w.backend = &b->backend;
	b->w.epochs = b->epochs;
	b->w.event_number = 1;
	b->w.items = item_cache_new(&o, b->epochs);
	buf_init(&b->out);
	lookups = 0;
}

static void bench_release(struct bench *b)
{
	buf_release(&b->out);
	item_cache_free(&b->w.items);
	epochs_free(&b->epochs);
}

static const uint8_t simple[] = "\x82\x03\x81\xa1p\xa2k1\x06\xa4shop";
static const uint8_t consistent[] = "\x83\x01\xc3\x03\x81\xa1p\xa2k1\x06\xa4shop";
#define BYTES(a) slice_of(a, sizeof(a) - 1)

static bool is_fast(struct bench *b, struct slice body, struct fast_get *g)
{
	struct fast_memo memo = { 0 };

	fast_get_read(&b->w, &memo, body, g);
	return g->table != NULL;
}

static void fill(struct bench *b, const struct fast_get *g, struct slice item)
{
	item_cache_fill(b->w.items, shop.id, g->key, g->hash, 1, epoch_load(b->epochs, shop.id, 1, false), 0, item);
}

Test(fast_get, what_is_simple)
{
	static const struct { const char *bytes; size_t n; } not[] = {
#define NOT(s) { s, sizeof(s) - 1 }
		NOT(""), NOT("\x80"), NOT("\x82\x03\x81\xa1p\xa2k1\x06\xa4shopX"), NOT("\x82\x03\x81\xa1p\xa2k1\x06\xa5shop"),
		NOT("\x82\x03\x81\xa1p\xa2k1\x05\xa5TOTAL"), NOT("\x83\x03\x81\xa1p\xa2k1\x05\xa5TOTAL\x06\xa4shop"),
		NOT("\x83\x01\xc0\x03\x81\xa1p\xa2k1\x06\xa4shop"), NOT("\x82\x03\x81\xa1p\xa2k1\x06\xd9\x04shop"),
		NOT("\x82\x03\x81\xa1p\xa2k1\x06\xc4\x04shop"), NOT("\x82\x03\x81\xa1p\xa2k1\x06\xa5nosuch"),
		NOT("\x82\x03\xc1\xa1p\xa2k1\x06\xa4shop"), NOT("\x82\x06\xa4shop\x03\x81\xa1p\xa2k1"),
	};
	struct bench b;
	struct fast_get g;

	bench_init(&b);
	cr_assert(is_fast(&b, BYTES(simple), &g));
	cr_assert(slice_eq(g.key, SLICE_LIT("\x81\xa1p\xa2k1")));
	cr_assert(is_fast(&b, BYTES(consistent), &g));
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		cr_assert_not(is_fast(&b, slice_of(not[i].bytes, not[i].n), &g), "%zu", i);
	for (size_t n = 0; n < sizeof(consistent) - 1; n++) { /* exact copies: the sanitizer sees a read too far */
		uint8_t *p = malloc(n + 1);

		memcpy(p, consistent, n);
		cr_assert_not(is_fast(&b, slice_of(p, n), &g), "prefix of %zu", n);
		free(p);
	}
	bench_release(&b);
}

Test(fast_get, one_lookup_of_the_table_for_a_batch)
{
	struct fast_memo memo = { 0 };
	struct bench b;
	struct fast_get g;

	bench_init(&b);
	for (unsigned i = 0; i < 16; i++)
		fast_get_read(&b.w, &memo, BYTES(simple), &g);
	cr_assert_eq(lookups, 1);
	b.w.event_number++; /* what was found holds for one event */
	fast_get_read(&b.w, &memo, BYTES(simple), &g);
	cr_assert_eq(lookups, 2);
	cr_assert_eq(g.table, &shop);
	bench_release(&b);
}

Test(fast_get, answers)
{
	static const uint8_t item[] = "\x82\xa1p\xa2k1\xa1v\xa3xyz";
	struct bench b;
	struct fast_get g;
	struct frame fr;
	struct slice in;

	bench_init(&b);
	cr_assert(is_fast(&b, BYTES(simple), &g));
	cr_assert_not(fast_get_answer(&b.w, &g, 5, FRAME_MAX, &b.out), "a miss");
	cr_assert_eq(b.out.n, 0);
	fill(&b, &g, BYTES(item));
	fast_get_prefetch(&b.w, &g);
	cr_assert_not(fast_get_answer(&b.w, &g, 5, FRAME_HEADER + sizeof(item), &b.out), "too long for the peer");
	cr_assert_eq(b.out.n, 0);
	cr_assert(fast_get_answer(&b.w, &g, 5, FRAME_MAX, &b.out));
	in = buf_slice(&b.out);
	cr_assert_eq(frame_next(&in, FRAME_MAX, &fr, NULL), FRAME_READY);
	cr_assert(fr.kind == FRAME_ANSWER && fr.code == FRAME_CACHE_HIT && fr.id == 5 && in.n == 0);
	cr_assert(slice_eq(fr.body, SLICE_LIT("\x81\x01\x82\xa1p\xa2k1\xa1v\xa3xyz")));
	bench_release(&b);
}

Test(fast_get, absent_item)
{
	struct bench b;
	struct fast_get g;
	struct frame fr;
	struct slice in;

	bench_init(&b);
	cr_assert(is_fast(&b, BYTES(simple), &g));
	fill(&b, &g, SLICE_NONE);
	cr_assert(fast_get_answer(&b.w, &g, 6, FRAME_MAX, &b.out));
	in = buf_slice(&b.out);
	cr_assert_eq(frame_next(&in, FRAME_MAX, &fr, NULL), FRAME_READY);
	cr_assert(slice_eq(fr.body, SLICE_LIT("\x80")));
	bench_release(&b);
}

Test(fast_get, not_while_a_write_becomes_visible)
{
	static const uint8_t item[] = "\x81\xa1p\xa2k1";
	struct store_change c = { .table = 7, .hash = 1, .key = SLICE_LIT("\x81\xa1p\xa2k2"), .item = BYTES(item) };
	struct bench b;
	struct fast_get g;

	bench_init(&b);
	cr_assert(is_fast(&b, BYTES(simple), &g));
	fill(&b, &g, BYTES(item));
	epochs_begin(b.epochs, &c, 1);
	cr_assert_not(fast_get_answer(&b.w, &g, 1, FRAME_MAX, &b.out));
	epochs_end(b.epochs, &c, 1);
	cr_assert(fast_get_answer(&b.w, &g, 1, FRAME_MAX, &b.out));
	bench_release(&b);
}
