/* Item cache: what is served, what is refused, bounds in bytes, time to live, whole tables, and a random test against a
 * model. */
#include "proxy/item_cache.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TABLE = 3 };

struct rig {
	struct epochs *epochs;
	struct item_cache *cache;
	struct buf out;
};

static struct rig rig_new(struct item_cache_opts o)
{
	struct rig r = { .epochs = epochs_new(0) };

	r.cache = item_cache_new(&o, r.epochs);
	buf_init(&r.out);
	cr_assert_not_null(r.cache);
	return r;
}

static void rig_free(struct rig *r)
{
	buf_release(&r->out);
	item_cache_free(&r->cache);
	epochs_free(&r->epochs);
}

static struct slice key_of(unsigned i)
{
	static char text[8][32];
	static unsigned turn;
	char *t = text[turn++ % 8];

	return slice_of(t, (size_t)snprintf(t, 32, "key-%u", i));
}

static uint64_t part_of(unsigned i)
{
	return i * 0x9E3779B97F4A7C15u;
}

static void fill(struct rig *r, unsigned i, struct slice item, uint64_t now)
{
	uint64_t e = epoch_load(r->epochs, TABLE, part_of(i), false);

	item_cache_fill(r->cache, TABLE, key_of(i), item_cache_hash(TABLE, key_of(i)), part_of(i), e, now, item);
}

static enum item_cache_result get(struct rig *r, unsigned i, uint64_t now)
{
	buf_clear(&r->out);
	return item_cache_get(r->cache, TABLE, key_of(i), item_cache_hash(TABLE, key_of(i)), now, &r->out);
}

static struct store_change change_of(unsigned i, struct slice item)
{
	return (struct store_change){ .table = TABLE, .hash = part_of(i), .key = key_of(i), .item = item };
}

static void write_item(struct rig *r, unsigned i, struct slice item)
{
	struct store_change c = change_of(i, item);

	epochs_begin(r->epochs, &c, 1);
	item_cache_apply(r->cache, &c, 1, 0);
	epochs_end(r->epochs, &c, 1);
}

static struct item_cache_stats stats(struct rig *r)
{
	struct item_cache_stats s;

	item_cache_stats(r->cache, &s);
	return s;
}

static bool answered(struct rig *r, const char *text)
{
	return slice_eq(buf_slice(&r->out), slice_str(text));
}

Test(item_cache, serves_what_was_filled)
{
	struct rig r = rig_new((struct item_cache_opts){ 0 });

	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS);
	fill(&r, 1, SLICE_LIT("one"), 0);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_HIT);
	cr_assert(answered(&r, "one"));
	cr_assert_eq(item_cache_get(r.cache, TABLE + 1, key_of(1), item_cache_hash(TABLE, key_of(1)), 0, &r.out),
		ITEM_CACHE_MISS, "another table's key, even under the same hash");
	cr_assert_eq(stats(&r).hits, 1);
	cr_assert_eq(stats(&r).misses, 2);
	rig_free(&r);
}

Test(item_cache, a_write_replaces_what_is_cached_and_caches_nothing_new)
{
	struct rig r = rig_new((struct item_cache_opts){ 0 });

	fill(&r, 1, SLICE_LIT("old"), 0);
	write_item(&r, 1, SLICE_LIT("new"));
	write_item(&r, 2, SLICE_LIT("two"));
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_HIT);
	cr_assert(answered(&r, "new"));
	cr_assert_eq(get(&r, 2, 0), ITEM_CACHE_MISS);
	write_item(&r, 1, SLICE_NONE);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS);
	cr_assert_eq(stats(&r).entries, 0);
	rig_free(&r);
}

Test(item_cache, serves_nothing_of_a_partition_that_is_turning)
{
	struct rig r = rig_new((struct item_cache_opts){ 0 });
	struct store_change c = change_of(1, SLICE_LIT("new"));

	fill(&r, 1, SLICE_LIT("old"), 0);
	epochs_begin(r.epochs, &c, 1);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS);
	item_cache_apply(r.cache, &c, 1, 0);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS, "mended, but another key of the batch may not be");
	epochs_end(r.epochs, &c, 1);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_HIT);
	rig_free(&r);
}

Test(item_cache, refuses_fills_that_a_write_has_overtaken)
{
	struct rig r = rig_new((struct item_cache_opts){ 0 });
	uint64_t e = epoch_load(r.epochs, TABLE, part_of(1), false);
	uint64_t h = item_cache_hash(TABLE, key_of(1));

	write_item(&r, 1, SLICE_LIT("new"));
	item_cache_fill(r.cache, TABLE, key_of(1), h, part_of(1), e, 0, SLICE_LIT("old"));
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS);
	item_cache_fill(r.cache, TABLE, key_of(1), h, part_of(1), e + 1, 0, SLICE_LIT("read while odd"));
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS);
	cr_assert_eq(stats(&r).fills_refused, 1);
	cr_assert_eq(stats(&r).fills, 0);
	rig_free(&r);
}

Test(item_cache, knows_what_is_not_there_until_it_is)
{
	struct rig r = rig_new((struct item_cache_opts){ 0 });

	fill(&r, 1, SLICE_NONE, 0);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_NEGATIVE);
	cr_assert_eq(stats(&r).negative_entries, 1);
	write_item(&r, 1, SLICE_LIT("born"));
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_HIT);
	cr_assert(answered(&r, "born"));
	cr_assert_eq(stats(&r).negative_entries, 0);
	rig_free(&r);
}

Test(item_cache, time_to_live_counts_from_the_fill)
{
	struct rig r = rig_new((struct item_cache_opts){ .ttl_ns = 1000 });

	fill(&r, 1, SLICE_LIT("one"), 5000);
	for (uint64_t t = 5000; t < 6000; t += 100)
		cr_assert_eq(get(&r, 1, t), ITEM_CACHE_HIT, "uses do not prolong it");
	cr_assert_eq(get(&r, 1, 6000), ITEM_CACHE_MISS);
	cr_assert_eq(stats(&r).expirations, 1);
	cr_assert_eq(stats(&r).entries, 0);
	rig_free(&r);
}

Test(item_cache, a_voided_table_is_never_served_again)
{
	struct rig r = rig_new((struct item_cache_opts){ 0 });
	struct store_change c = { .table = TABLE, .whole = true };
	uint64_t e = epoch_load(r.epochs, TABLE, part_of(2), false);

	fill(&r, 1, SLICE_LIT("one"), 0);
	epochs_begin(r.epochs, &c, 1);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS);
	item_cache_apply(r.cache, &c, 1, 0);
	epochs_end(r.epochs, &c, 1);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS);
	item_cache_fill(r.cache, TABLE, key_of(2), item_cache_hash(TABLE, key_of(2)), part_of(2), e, 0, SLICE_LIT("late"));
	cr_assert_eq(get(&r, 2, 0), ITEM_CACHE_MISS, "a fill in flight across it is refused");
	fill(&r, 2, SLICE_LIT("two"), 0);
	cr_assert_eq(get(&r, 2, 0), ITEM_CACHE_HIT);
	rig_free(&r);
}

Test(item_cache, bytes_stay_within_bounds_and_negatives_within_their_share)
{
	struct rig r = rig_new((struct item_cache_opts){ .max_bytes = 1 << 20 });
	uint8_t item[3000] = { 0 };
	unsigned useful = 0;

	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 150; i++)
			if (get(&r, i, 0) == ITEM_CACHE_MISS)
				fill(&r, i, slice_of(item, sizeof(item)), 0);
	for (unsigned i = 1000; i < 60000; i++) {
		fill(&r, i, SLICE_NONE, 0);
		cr_assert_leq(stats(&r).bytes, 1 << 20);
	}
	for (unsigned i = 0; i < 150; i++)
		useful += get(&r, i, 0) == ITEM_CACHE_HIT;
	cr_assert_geq(useful, 140, "a flood of absent keys left %u of 150 items", useful);
	cr_assert_lt(stats(&r).negative_entries, (1u << 20) / 10 / 64);
	cr_assert_gt(stats(&r).negative_entries, 500);
	rig_free(&r);
}

Test(item_cache, items_too_large_are_not_taken_and_push_out_nothing)
{
	struct rig r = rig_new((struct item_cache_opts){ .max_bytes = 1 << 20 });
	size_t n = 400 * 1024;
	uint8_t *item = calloc(1, n);

	fill(&r, 1, SLICE_LIT("one"), 0);
	fill(&r, 2, slice_of(item, n), 0);
	cr_assert_eq(get(&r, 2, 0), ITEM_CACHE_MISS);
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_HIT);
	write_item(&r, 1, slice_of(item, n));
	cr_assert_eq(get(&r, 1, 0), ITEM_CACHE_MISS, "the old one may not stay either");
	free(item);
	rig_free(&r);
}

Test(item_cache, a_cache_that_is_off_misses)
{
	struct buf out;

	buf_init(&out);
	cr_assert_eq(item_cache_get(NULL, TABLE, key_of(1), 1, 0, &out), ITEM_CACHE_MISS);
	item_cache_fill(NULL, TABLE, key_of(1), 1, 1, 0, 0, SLICE_LIT("one"));
	item_cache_apply(NULL, NULL, 0, 0);
	item_cache_prefetch(NULL, 1);
	item_cache_prefetch_entry(NULL, 1);
	buf_release(&out);
}

/* The model: the store's truth. Whatever the cache answers must be it. */
Test(item_cache, agrees_with_a_model_under_random_operations)
{
	enum { KEYS = 5000 };
	unsigned seed = (unsigned)time(NULL);
	struct rig r = rig_new((struct item_cache_opts){ .max_bytes = 1 << 20, .shards = 4 });
	unsigned *truth = calloc(KEYS, sizeof(*truth));      /* 0 = absent, else length of the item */
	uint8_t *bytes = calloc(1, 4096);

	cr_log_info("SEED=%u", seed);
	srand(seed);
	for (unsigned step = 0; step < 300000; step++) {
		unsigned i = (unsigned)(rand() % KEYS * (rand() % 100) / 100);

		if (rand() % 5 == 0) {
			truth[i] = rand() % 4 == 0 ? 0 : 1 + (unsigned)rand() % 2000;
			write_item(&r, i, truth[i] != 0 ? slice_of(bytes, truth[i]) : SLICE_NONE);
			continue;
		}
		switch (get(&r, i, step)) {
		case ITEM_CACHE_MISS:
			fill(&r, i, truth[i] != 0 ? slice_of(bytes, truth[i]) : SLICE_NONE, step);
			break;
		case ITEM_CACHE_HIT:
			cr_assert_eq(r.out.n, truth[i]);
			break;
		case ITEM_CACHE_NEGATIVE:
			cr_assert_eq(truth[i], 0);
			break;
		}
		if (step % 1000 == 0)
			cr_assert_leq(stats(&r).bytes, 1 << 20);
	}
	cr_assert_gt(stats(&r).hits, 10000);
	cr_assert_gt(stats(&r).evictions, 1000);
	free(truth);
	free(bytes);
	rig_free(&r);
}
