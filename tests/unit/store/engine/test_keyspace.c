/* test_keyspace - layered keys in LMDB against a sorted model, with the walker after every step (K1, K2). */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "store/engine/keyspace.h"
#include "tests/unit/store/engine/model.h"

static uint8_t key_bytes[8000];

/* Keys that share their first layers and differ around the places where a layer ends. */
static struct slice random_key(uint64_t *random)
{
	static const size_t stem[] = { 0, 1, 508, 509, 510, 511, 1010, 1011, 1012, 1013, 1514, 6000 };
	size_t n = stem[test_random(random) % (sizeof stem / sizeof *stem)];

	memset(key_bytes, 'a', n);
	if (n > 520 && test_random(random) % 3 == 0)
		key_bytes[509 + test_random(random) % 4] = (uint8_t)(test_random(random) % 3);
	for (size_t tail = 1 + test_random(random) % 3; tail > 0; tail--)
		key_bytes[n++] = (uint8_t)("\0\1\2ab\xff"[test_random(random) % 6]);
	return slice_of(key_bytes, n);
}

static void check_seek(struct lmdb_txn *t, const struct model *m, struct slice key)
{
	struct keyspace_cursor *c;
	struct fault f = { 0 };
	size_t below = 0;

	while (below < m->keys && slice_cmp(slice_of(m->key[below].bytes, m->key[below].n), key) < 0)
		below++;
	cr_assert_eq(keyspace_cursor_open(t, &c, &f), ERR_OK);
	cr_assert_eq(keyspace_seek(c, key, &f), ERR_OK);
	for (size_t i = below, end = 0; end < 4; i++, end++) {
		bool live = i < m->keys;

		cr_assert_eq(slice_present(keyspace_key(c)), live);
		if (!live)
			break;
		cr_assert(slice_eq(keyspace_key(c), slice_of(m->key[i].bytes, m->key[i].n)));
		cr_assert_eq(keyspace_next(c, &f), ERR_OK);
	}
	cr_assert_eq(keyspace_seek_before(c, key, &f), ERR_OK);
	for (size_t i = below, end = 0; end < 4; i--, end++) {
		cr_assert_eq(slice_present(keyspace_key(c)), i > 0);
		if (i == 0)
			break;
		cr_assert(slice_eq(keyspace_key(c), slice_of(m->key[i - 1].bytes, m->key[i - 1].n)));
		cr_assert_eq(keyspace_prev(c, &f), ERR_OK);
	}
	keyspace_cursor_close(&c);
}

/* The model keeps versions; here a key that is deleted must be gone. */
static void model_remove(struct model *m, struct slice key)
{
	for (size_t i = 0; i < m->keys; i++) {
		struct model one = { .key = &m->key[i], .keys = 1 };

		if (!slice_eq(slice_of(m->key[i].bytes, m->key[i].n), key))
			continue;
		model_cut(&one, 0);
		free(m->key[i].bytes);
		free(m->key[i].version);
		memmove(m->key + i, m->key + i + 1, (m->keys - i - 1) * sizeof *m->key);
		m->keys--;
		return;
	}
}

static void step(struct lmdb_txn *t, struct model *m, uint64_t *random)
{
	struct slice key = random_key(random), value = slice_of(key_bytes, test_random(random) % 3000), got;
	struct fault f = { 0 };

	if (test_random(random) % 2 == 0 || m->keys < 5) {
		model_set(m, 1, key, value);
		cr_assert_eq(keyspace_put(t, key, value, &f), ERR_OK);
	} else {
		if (test_random(random) % 2 == 0) {   /* one that is there */
			struct model_key *k = &m->key[test_random(random) % m->keys];

			memcpy(key_bytes, k->bytes, k->n);
			key = slice_of(key_bytes, k->n);
		}
		model_remove(m, key);
		cr_assert_eq(keyspace_del(t, key, &f), ERR_OK);
	}
	key = random_key(random);
	cr_assert_eq(keyspace_get(t, key, &got, &f), ERR_OK);
	cr_assert(slice_eq(got, model_get(m, 1, key)));
	check_seek(t, m, key);
}

Test(keyspace, random_steps)
{
	struct lmdb_opts o = { .map_max_bytes = 1 << 30, .readers_max = 4 };
	struct lmdb_env *env;
	struct lmdb_txn *t;
	struct model m = { 0 };
	struct fault f = { 0 };
	uint64_t random = test_seed();

	cr_assert_eq(lmdb_open(&o, &env, &f), ERR_OK);
	for (unsigned round = 0; round < 60; round++) {
		const char *why;

		cr_assert_eq(lmdb_write_begin(env, &t, &f), ERR_OK);
		for (unsigned i = 0; i < 40; i++)
			step(t, &m, &random);
		cr_assert(keyspace_sane(t, &why), "%s", why);
		cr_assert_eq(lmdb_write_end(&t, ERR_OK, &f), ERR_OK);
	}
	cr_assert_eq(lmdb_write_begin(env, &t, &f), ERR_OK);
	while (m.keys > 0) {
		struct slice key = slice_of(m.key[0].bytes, m.key[0].n);

		cr_assert_eq(keyspace_del(t, key, &f), ERR_OK);
		model_remove(&m, key);
	}
	struct MDB_cursor *c;
	struct slice key = SLICE_NONE, value;

	cr_assert_eq(lmdb_cursor_open(t, LMDB_LAYERS, &c, &f), ERR_OK);
	cr_assert_eq(lmdb_cursor_move(c, LMDB_FIRST, &key, &value, &f), ERR_OK);
	cr_assert(!slice_present(key), "an empty keyspace has layers");
	lmdb_cursor_close(&c);
	cr_assert_eq(lmdb_write_end(&t, ERR_OK, &f), ERR_OK);
	lmdb_close(&env);
	model_release(&m);
}
