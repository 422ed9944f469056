/* model - see model.h. */
#include "tests/unit/store/engine/model.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint8_t *copy(struct slice s)
{
	uint8_t *p = malloc(s.n + 1);

	if (s.n != 0)
		memcpy(p, s.p, s.n);
	return p;
}

static size_t lower_bound(const struct model *m, struct slice key)
{
	size_t lo = 0, hi = m->keys;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (slice_cmp(slice_of(m->key[mid].bytes, m->key[mid].n), key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct slice key_at(const struct model *m, size_t i)
{
	return slice_of(m->key[i].bytes, m->key[i].n);
}

void model_set(struct model *m, uint64_t lsn, struct slice key, struct slice value)
{
	size_t i = lower_bound(m, key);

	if (i == m->keys || !slice_eq(key_at(m, i), key)) {
		m->key = realloc(m->key, (m->keys + 1) * sizeof *m->key);
		memmove(m->key + i + 1, m->key + i, (m->keys - i) * sizeof *m->key);
		m->key[i] = (struct model_key){ .bytes = copy(key), .n = key.n };
		m->keys++;
	}
	struct model_key *k = &m->key[i];

	k->version = realloc(k->version, (k->versions + 1) * sizeof *k->version);
	k->version[k->versions++] = (struct model_version){
		.lsn = lsn, .bytes = slice_present(value) ? copy(value) : NULL, .n = value.n };
}

void model_cut(struct model *m, uint64_t lsn)
{
	for (size_t i = 0; i < m->keys; i++)
		while (m->key[i].versions > 0 && m->key[i].version[m->key[i].versions - 1].lsn > lsn)
			free(m->key[i].version[--m->key[i].versions].bytes);
}

void model_release(struct model *m)
{
	model_cut(m, 0);
	for (size_t i = 0; i < m->keys; i++) {
		free(m->key[i].bytes);
		free(m->key[i].version);
	}
	free(m->key);
	*m = (struct model){ 0 };
}

static struct slice value_at(const struct model_key *k, uint64_t lsn)
{
	for (size_t i = k->versions; i-- > 0;)
		if (k->version[i].lsn <= lsn)
			return slice_of(k->version[i].bytes, k->version[i].n);
	return SLICE_NONE;
}

struct slice model_get(const struct model *m, uint64_t lsn, struct slice key)
{
	size_t i = lower_bound(m, key);

	return i < m->keys && slice_eq(key_at(m, i), key) ? value_at(&m->key[i], lsn) : SLICE_NONE;
}

static void check_same(struct slice got, struct slice want, const char *what)
{
	cr_assert_eq(slice_present(got), slice_present(want), "%s: %s present", what, slice_present(got) ? "is" : "is not");
	cr_assert(slice_eq(got, want), "%s differs: %zu bytes instead of %zu", what, got.n, want.n);
}

void model_check_get(const struct model *m, struct view *v, struct slice key)
{
	struct slice value;
	struct fault f = { 0 };

	cr_assert_eq(view_get(v, key, &value, &f), ERR_OK);
	check_same(value, model_get(m, view_lsn(v), key), "value");
}

static void check_next(struct cursor *c, const struct model *m, size_t i, struct slice want)
{
	struct slice key, value;
	struct fault f = { 0 };

	cr_assert_eq(cursor_next(c, &key, &value, &f), ERR_OK);
	check_same(key, key_at(m, i), "key of cursor");
	check_same(value, want, "value of cursor");
}

void model_check_range(const struct model *m, struct view *v, struct slice from, struct slice to, bool descending)
{
	size_t lo = slice_present(from) ? lower_bound(m, from) : 0;
	size_t hi = slice_present(to) ? lower_bound(m, to) : m->keys;
	struct cursor *c;
	struct slice key, value;
	struct fault f = { 0 };

	cr_assert_eq(cursor_open(v, from, to, descending, &c, &f), ERR_OK);
	for (size_t i = 0; lo + i < hi; i++) {
		size_t at = descending ? hi - 1 - i : lo + i;
		struct slice want = value_at(&m->key[at], view_lsn(v));

		if (slice_present(want))
			check_next(c, m, at, want);
	}
	cr_assert_eq(cursor_next(c, &key, &value, &f), ERR_OK);
	cr_assert(!slice_present(key), "the cursor has more than the model");
	cursor_close(&c);
}

void model_check_all(const struct model *m, struct view *v)
{
	for (size_t i = 0; i < m->keys; i++)
		model_check_get(m, v, key_at(m, i));
	model_check_range(m, v, SLICE_NONE, SLICE_NONE, false);
	model_check_range(m, v, SLICE_NONE, SLICE_NONE, true);
}

uint64_t test_seed(void)
{
	const char *given = getenv("SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)clock();

	fprintf(stderr, "SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

uint64_t test_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
