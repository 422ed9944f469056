/* test_keycode - the order of key bytes is the order of values, and bounds hold what they should. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#include "store/keycode.h"
#include "store/store.h"

enum { KEYS = 400 };

static const struct key_schema ss = { .hash = { { { (const uint8_t *)"pk", 2 }, VALUE_S } },
				      .range = { { { (const uint8_t *)"sk", 2 }, VALUE_S } }, .hashes = 1, .ranges = 1 };

/* ---- random values that are likely to be near each other ---- */

static void random_bytes(struct buf *b, unsigned *seed, bool binary)
{
	static const uint8_t few[] = { 0x00, 0x01, 0xff, 0x7f, 'a' };
	static const char text[] = { 0, 1, 'a', 'b' };
	size_t n = rand_r(seed) % 8 == 0 ? 900 : 0; /* a long common prefix */

	for (size_t i = 0; i < n; i++)
		buf_put_u8(b, 'p');
	for (n = (size_t)rand_r(seed) % 5; n > 0; n--)
		buf_put_u8(b, binary ? few[rand_r(seed) % 5] : (uint8_t)text[rand_r(seed) % 4]);
}

static void random_value(struct buf *out, enum value_type type, unsigned *seed)
{
	struct buf bytes = { 0 };
	struct number x;

	if (type == VALUE_N) {
		static const char *const exponent[] = { "", "e5", "e-5", "e100", "e-120", "e1" };

		buf_printf(&bytes, "%s%d.%d%s", rand_r(seed) % 2 ? "-" : "", rand_r(seed) % 12, rand_r(seed) % 102,
			   exponent[rand_r(seed) % 6]);
		cr_assert_eq(number_parse(&x, buf_slice(&bytes)), NUMBER_OK);
		value_put_number(out, number_slice(&x));
	} else {
		random_bytes(&bytes, seed, type == VALUE_B);
		if (type == VALUE_S)
			value_put_string(out, buf_slice(&bytes));
		else
			value_put_binary(out, buf_slice(&bytes));
	}
	buf_release(&bytes);
}

struct sample {
	struct buf value[2], map, key;
};

/* A Key of one partition with the two range values. */
static void make_map(struct sample *s, const char *const *name, unsigned n)
{
	buf_clear(&s->map);
	mp_put_map(&s->map, n + 1);
	mp_put_str(&s->map, SLICE_LIT("pk"));
	value_put_string(&s->map, SLICE_LIT("p"));
	for (unsigned i = 0; i < n; i++) {
		mp_put_str(&s->map, slice_str(name[i]));
		buf_put_slice(&s->map, buf_slice(&s->value[i]));
	}
}

static void release(struct sample *s)
{
	buf_release(&s->value[0]);
	buf_release(&s->value[1]);
	buf_release(&s->map);
	buf_release(&s->key);
}

static int sign(int c)
{
	return (c > 0) - (c < 0);
}

/* Two range attributes, so that what follows a component is covered too. */
static void order_of(enum value_type first, enum value_type second)
{
	static const char *const names[] = { "s1", "s2" };
	struct key_schema ks = { .hash = { { SLICE_LIT("pk"), VALUE_S } },
				 .range = { { SLICE_LIT("s1"), first }, { SLICE_LIT("s2"), second } }, .hashes = 1, .ranges = 2 };
	unsigned seed = (unsigned)time(NULL), equal = 0;
	struct sample *s = calloc(KEYS, sizeof *s);

	cr_log_info("SEED %u", seed);
	for (int i = 0; i < KEYS; i++) {
		random_value(&s[i].value[0], first, &seed);
		random_value(&s[i].value[1], second, &seed);
		if (i == 1) { /* two equal ones at least */
			buf_clear(&s[1].value[0]), buf_clear(&s[1].value[1]);
			buf_put_slice(&s[1].value[0], buf_slice(&s[0].value[0]));
			buf_put_slice(&s[1].value[1], buf_slice(&s[0].value[1]));
		}
		make_map(&s[i], names, 2);
		cr_assert(item_check(buf_slice(&s[i].map)));
		cr_assert(keycode_item(&s[i].key, 7, &ks, buf_slice(&s[i].map), NULL));
	}
	for (int i = 0; i < KEYS; i++)
		for (int j = 0; j < KEYS; j++) {
			struct slice a = buf_slice(&s[i].key), b = buf_slice(&s[j].key);
			int want = value_cmp(buf_slice(&s[i].value[0]), buf_slice(&s[j].value[0]));

			if (want == 0)
				want = value_cmp(buf_slice(&s[i].value[1]), buf_slice(&s[j].value[1]));
			cr_assert_eq(sign(slice_cmp(a, b)), sign(want), "seed %u: %d %d", seed, i, j);
			cr_assert(want == 0 || !slice_starts_with(b, a)); /* K2 */
			equal += i != j && want == 0;
		}
	for (int i = 0; i < KEYS; i++)
		release(&s[i]);
	free(s);
	cr_assert_gt(equal, 0);
}

Test(keycode, order_of_strings)
{
	order_of(VALUE_S, VALUE_S);
}

Test(keycode, order_of_binaries)
{
	order_of(VALUE_B, VALUE_B);
}

Test(keycode, order_of_numbers)
{
	order_of(VALUE_N, VALUE_N);
}

Test(keycode, order_of_mixed_types)
{
	order_of(VALUE_B, VALUE_N);
	order_of(VALUE_N, VALUE_S);
}

/* ---- bounds ---- */

static bool selects(const struct key_condition *kc, struct slice v)
{
	int lo = slice_present(kc->lo) ? value_cmp(v, kc->lo) : 0, hi = slice_present(kc->hi) ? value_cmp(v, kc->hi) : 0;

	switch (kc->op) {
	case KEY_OP_NONE: return true;
	case KEY_OP_EQ: return lo == 0;
	case KEY_OP_LT: return lo < 0;
	case KEY_OP_LE: return lo <= 0;
	case KEY_OP_GT: return lo > 0;
	case KEY_OP_GE: return lo >= 0;
	case KEY_OP_BETWEEN: return lo >= 0 && hi <= 0;
	case KEY_OP_BEGINS_WITH: return slice_starts_with(value_bytes(v), value_bytes(kc->lo));
	}
	return false;
}

static void bounds_of(enum value_type type)
{
	static const char *const names[] = { "sk" };
	struct key_schema ks = { .hash = { { SLICE_LIT("pk"), VALUE_S } }, .range = { { SLICE_LIT("sk"), type } }, .hashes = 1,
				 .ranges = 1 };
	unsigned seed = (unsigned)time(NULL), hits = 0;
	struct sample s = { 0 };
	struct buf from = { 0 }, to = { 0 }, lo = { 0 }, hi = { 0 };

	cr_log_info("SEED %u", seed);
	for (int i = 0; i < 20000; i++) {
		struct key_condition kc = { .hash = { SLICE_LIT("\xa1p") }, .op = (enum key_op)(rand_r(&seed) % 8) };
		uint64_t hash, again;
		bool some, in;

		if (kc.op == KEY_OP_BEGINS_WITH && type == VALUE_N)
			continue;
		buf_clear(&from), buf_clear(&to), buf_clear(&s.value[0]), buf_clear(&s.key);
		random_value(&from, type, &seed);
		random_value(&to, type, &seed);
		random_value(&s.value[0], type, &seed);
		make_map(&s, names, 1);
		kc.lo = kc.op != KEY_OP_NONE ? buf_slice(&from) : SLICE_NONE;
		kc.hi = kc.op == KEY_OP_BETWEEN ? buf_slice(&to) : SLICE_NONE;
		cr_assert(keycode_item(&s.key, 7, &ks, buf_slice(&s.map), &again));
		some = keycode_condition(&lo, &hi, 7, &ks, &kc, &hash);
		cr_assert_eq(hash, again);
		in = some && slice_cmp(buf_slice(&lo), buf_slice(&s.key)) <= 0 && slice_cmp(buf_slice(&s.key), buf_slice(&hi)) < 0;
		cr_assert_eq(in, selects(&kc, buf_slice(&s.value[0])), "seed %u: round %d op %d", seed, i, kc.op);
		hits += in;
		buf_put_u8(&s.key, 'x'); /* an index entry goes on: it is in where its prefix is */
		in = some && slice_cmp(buf_slice(&lo), buf_slice(&s.key)) <= 0 && slice_cmp(buf_slice(&s.key), buf_slice(&hi)) < 0;
		cr_assert_eq(in, selects(&kc, buf_slice(&s.value[0])));
	}
	cr_assert_gt(hits, 100);
	release(&s);
	buf_release(&from), buf_release(&to), buf_release(&lo), buf_release(&hi);
}

Test(keycode, bounds_of_strings)
{
	bounds_of(VALUE_S);
}

Test(keycode, bounds_of_binaries)
{
	bounds_of(VALUE_B);
}

Test(keycode, bounds_of_numbers)
{
	bounds_of(VALUE_N);
}

Test(keycode, bounds_of_a_partition_hold_nothing_else)
{
	struct key_condition kc = { .hash = { SLICE_LIT("\xa1p") } };
	struct buf lo = { 0 }, hi = { 0 }, key = { 0 };
	const struct slice maps[] = { SLICE_LIT("\x82\xa2pk\xa1q\xa2sk\xa1x"), SLICE_LIT("\x82\xa2pk\xa0\xa2sk\xa1x"),
				      SLICE_LIT("\x82\xa2pk\xa2p\0\xa2sk\xa1x"), SLICE_LIT("\x82\xa2pk\xa2pp\xa2sk\xa1x") };

	cr_assert(keycode_condition(&lo, &hi, 7, &ss, &kc, NULL));
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
		buf_clear(&key);
		cr_assert(keycode_item(&key, 7, &ss, maps[i], NULL));
		cr_assert(slice_cmp(buf_slice(&key), buf_slice(&lo)) < 0 || slice_cmp(buf_slice(&key), buf_slice(&hi)) >= 0);
	}
	buf_release(&lo), buf_release(&hi), buf_release(&key);
}

Test(keycode, segments_cover_a_table_without_overlap)
{
	static const uint32_t totals[] = { 1, 2, 3, 7, 100, 1000000 };
	struct buf lo = { 0 }, hi = { 0 }, last = { 0 };

	for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
		uint32_t total = totals[t], step = total > 1000 ? total / 2 : 1;

		for (uint32_t i = 0; i < total; i += step) {
			keycode_segment(&lo, &hi, 7, i, total);
			cr_assert_lt(slice_cmp(buf_slice(&lo), buf_slice(&hi)), 0);
			if (i == 0)
				cr_assert(slice_eq(buf_slice(&lo), SLICE_LIT("\0\0\0\7\0\0\0\0\0\0\0\0")));
			else if (step == 1)
				cr_assert(slice_eq(buf_slice(&lo), buf_slice(&last)));
			if (i + 1 == total)
				cr_assert(slice_eq(buf_slice(&hi), SLICE_LIT("\0\0\0\x08")));
			uint64_t first = i * (UINT64_MAX / total);

			cr_assert_eq(keycode_segment_of(first, total), i);
			cr_assert(i == 0 || keycode_segment_of(first - 1, total) == i - 1);
			buf_clear(&last);
			buf_put_slice(&last, buf_slice(&hi));
		}
	}
	cr_assert_eq(keycode_segment_of(UINT64_MAX, 1), 0);
	cr_assert_eq(keycode_segment_of(UINT64_MAX, 1000000), 999999);
	buf_release(&lo), buf_release(&hi), buf_release(&last);
}

Test(keycode, what_has_no_key)
{
	struct buf b = { 0 };
	uint64_t hash;

	cr_assert(!keycode_item(&b, 7, &ss, SLICE_LIT("\x81\xa2pk\xa1p"), NULL));
	cr_assert(!keycode_item(&b, 7, &ss, SLICE_LIT("\x82\xa2pk\xa1p\xa2sk\xc0"), NULL));
	cr_assert(!keycode_hash(&ss, SLICE_LIT("\x81\xa2sk\xa1p"), &hash));
	cr_assert_eq(b.n, 0);
}

Test(keycode, entries_of_equal_index_keys_stay_apart)
{
	struct table_index gsi = { .id = 9, .global = true,
				   .key = { .hash = { { SLICE_LIT("g"), VALUE_S } }, .hashes = 1 } };
	struct table_index lsi = { .id = 10, .key = { .hash = { { SLICE_LIT("pk"), VALUE_S } },
						      .range = { { SLICE_LIT("g"), VALUE_S } }, .hashes = 1, .ranges = 1 } };
	struct slice a = SLICE_LIT("\x83\xa1g\xa1G\xa2pk\xa1p\xa2sk\xa1" "1"), c = SLICE_LIT("\x83\xa1g\xa1G\xa2pk\xa1p\xa2sk\xa1" "2");
	struct buf x = { 0 }, y = { 0 };
	uint64_t hash, partition;

	cr_assert(keycode_entry(&x, &gsi, &ss, a, &hash));
	cr_assert(keycode_entry(&y, &gsi, &ss, c, NULL));
	cr_assert_lt(slice_cmp(buf_slice(&x), buf_slice(&y)), 0);
	struct slice g = SLICE_LIT("\xa1G");
	cr_assert_eq(hash, store_hash(&g, 1));
	buf_clear(&x), buf_clear(&y);
	cr_assert(keycode_entry(&x, &lsi, &ss, a, &hash));
	cr_assert(keycode_entry(&y, &lsi, &ss, c, NULL));
	cr_assert_lt(slice_cmp(buf_slice(&x), buf_slice(&y)), 0);
	cr_assert(keycode_hash(&ss, a, &partition));
	cr_assert_eq(hash, partition);
	cr_assert_eq(x.n, 4 + 8 + 3 * 3); /* the partition key is not there twice */
	buf_clear(&x);
	cr_assert(!keycode_entry(&x, &gsi, &ss, SLICE_LIT("\x82\xa2pk\xa1p\xa2sk\xa1" "1"), NULL));
	buf_release(&x), buf_release(&y);
}

/* The hash is part of what lies on disk: it may never change. */
Test(keycode, hash_is_fixed)
{
	struct slice one = SLICE_LIT("\xa1p"), two[] = { SLICE_LIT("\xa1p"), SLICE_LIT("\xa1q") };

	cr_assert_eq(store_hash(&one, 1), 0x9d9e0c1dd34f86b1);
	cr_assert_eq(store_hash(two, 2), 0x0a95df90fa9043ad);
}
