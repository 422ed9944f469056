/* Query cache: an answer lives exactly as long as its stripe's epoch; keys differ in all that shapes an answer. */
#include "proxy/query_cache.h"

#include <criterion/criterion.h>

struct rig {
	struct epochs *epochs;
	struct query_cache *cache;
	struct buf out;
};

static struct rig rig_new(struct query_cache_opts o)
{
	struct rig r = { .epochs = epochs_new(0) };

	r.cache = query_cache_new(&o, r.epochs);
	cr_assert_not_null(r.cache);
	buf_init(&r.out);
	return r;
}

static void rig_free(struct rig *r)
{
	buf_release(&r->out);
	query_cache_free(&r->cache);
	epochs_free(&r->epochs);
}

static const struct store_query orders = { .stripe_table = 3, .stripe_hash = 77 };
static const struct store_query whole = { .stripe_table = 3, .whole = true };

static uint64_t epoch_of(struct rig *r, const struct store_query *q)
{
	return epoch_load(r->epochs, q->stripe_table, q->stripe_hash, q->whole);
}

static bool get(struct rig *r, enum op op, const char *request, const struct store_query *q, uint64_t now)
{
	buf_clear(&r->out);
	return query_cache_get(r->cache, op, slice_str(request), q, epoch_of(r, q), now, &r->out);
}

static void fill(struct rig *r, enum op op, const char *request, const struct store_query *q, const char *answer)
{
	query_cache_fill(r->cache, op, slice_str(request), q, epoch_of(r, q), 0, slice_str(answer));
}

static void change(struct rig *r, uint32_t table, uint64_t hash)
{
	struct store_change c = { .table = table, .hash = hash };

	epochs_begin(r->epochs, &c, 1);
	epochs_end(r->epochs, &c, 1);
}

Test(query_cache, an_answer_dies_with_the_first_write_to_its_partition)
{
	struct rig r = rig_new((struct query_cache_opts){ 0 });
	struct query_cache_stats s;

	cr_assert_not(get(&r, OP_Query, "pk = a", &orders, 0));
	fill(&r, OP_Query, "pk = a", &orders, "answer");
	cr_assert(get(&r, OP_Query, "pk = a", &orders, 0));
	cr_assert(slice_eq(buf_slice(&r.out), slice_str("answer")));
	change(&r, 3, 78);
	cr_assert(get(&r, OP_Query, "pk = a", &orders, 0), "another partition was written");
	change(&r, 3, 77);
	cr_assert_not(get(&r, OP_Query, "pk = a", &orders, 0));
	query_cache_stats(r.cache, &s);
	cr_assert_eq(s.stale_drops, 1);
	cr_assert_eq(s.entries, 0);
	rig_free(&r);
}

Test(query_cache, a_scan_dies_with_any_write_to_its_table)
{
	struct rig r = rig_new((struct query_cache_opts){ 0 });

	fill(&r, OP_Scan, "all", &whole, "everything");
	change(&r, 4, 77);
	cr_assert(get(&r, OP_Scan, "all", &whole, 0));
	change(&r, 3, 5);
	cr_assert_not(get(&r, OP_Scan, "all", &whole, 0));
	rig_free(&r);
}

Test(query_cache, nothing_is_served_or_filled_while_the_stripe_is_odd)
{
	struct rig r = rig_new((struct query_cache_opts){ 0 });
	struct store_change c = { .table = 3, .hash = 77 };

	fill(&r, OP_Query, "q", &orders, "old");
	epochs_begin(r.epochs, &c, 1);
	cr_assert_not(get(&r, OP_Query, "q", &orders, 0));
	fill(&r, OP_Query, "q", &orders, "while odd");
	epochs_end(r.epochs, &c, 1);
	cr_assert_not(get(&r, OP_Query, "q", &orders, 0));
	rig_free(&r);
}

Test(query_cache, a_fill_that_a_write_has_overtaken_is_refused)
{
	struct rig r = rig_new((struct query_cache_opts){ 0 });
	uint64_t e = epoch_of(&r, &orders);
	struct query_cache_stats s;

	change(&r, 3, 77);
	query_cache_fill(r.cache, OP_Query, SLICE_LIT("q"), &orders, e, 0, SLICE_LIT("old"));
	cr_assert_not(get(&r, OP_Query, "q", &orders, 0));
	query_cache_stats(r.cache, &s);
	cr_assert_eq(s.fills_refused, 1);
	rig_free(&r);
}

Test(query_cache, operation_table_and_request_make_the_key)
{
	struct rig r = rig_new((struct query_cache_opts){ 0 });
	struct store_query reborn = { .stripe_table = 9, .stripe_hash = 77 };

	fill(&r, OP_Query, "x", &orders, "query");
	cr_assert_not(get(&r, OP_Scan, "x", &orders, 0));
	cr_assert_not(get(&r, OP_Query, "y", &orders, 0));
	cr_assert_not(get(&r, OP_Query, "x", &reborn, 0));
	cr_assert(get(&r, OP_Query, "x", &orders, 0));
	rig_free(&r);
}

Test(query_cache, time_to_live_counts_from_the_fill)
{
	struct rig r = rig_new((struct query_cache_opts){ .ttl_ns = 100 });

	fill(&r, OP_Query, "x", &orders, "query");
	cr_assert(get(&r, OP_Query, "x", &orders, 99));
	cr_assert_not(get(&r, OP_Query, "x", &orders, 100));
	rig_free(&r);
}

Test(query_cache, bytes_stay_within_bounds)
{
	struct rig r = rig_new((struct query_cache_opts){ .max_bytes = 1 << 20 });
	static char answer[5000], request[32];
	struct query_cache_stats s;

	memset(answer, 'x', sizeof(answer) - 1);
	for (unsigned i = 0; i < 2000; i++) {
		memset(request, 0, sizeof(request));
		memcpy(request, &i, sizeof(i));
		query_cache_fill(r.cache, OP_Query, slice_of(request, sizeof(request)), &orders, 0, 0, slice_str(answer));
		query_cache_stats(r.cache, &s);
		cr_assert_leq(s.bytes, 1 << 20);
	}
	cr_assert_gt(s.entries, 180);
	cr_assert_not(query_cache_get(NULL, OP_Query, SLICE_LIT("x"), &orders, 0, 0, &r.out), "off");
	rig_free(&r);
}
