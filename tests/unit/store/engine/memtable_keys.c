/* memtable_keys - see memtable_keys.h. */
#include "tests/unit/store/engine/memtable_keys.h"

#include "tests/unit/store/engine/model.h"

static uint64_t below(struct key_source *s, uint64_t n)
{
	return test_random(&s->random) % n;
}

static struct slice key_of(struct key_source *s, size_t n, uint64_t number, size_t number_n)
{
	for (size_t i = 0; i < number_n; i++)
		s->key[n + i] = (uint8_t)(number >> (8 * (number_n - 1 - i)));
	return slice_of(s->key, n + number_n);
}

/* Proper prefixes of each other, and such as differ by zeros at their ends. */
static struct slice short_key(struct key_source *s)
{
	size_t n = 1 + below(s, 6);

	for (size_t i = 0; i < n; i++)
		s->key[i] = (uint8_t)("\0\0a\xff"[below(s, 4)]);
	return slice_of(s->key, n);
}

static struct slice long_key(struct key_source *s)
{
	static const size_t stem[] = { 0, 3, 4, 5, 255, 256, 511, 2000 };
	size_t n = stem[below(s, 8)];

	memset(s->key, 'a', n);
	if (n > 0 && below(s, 3) == 0)
		s->key[below(s, n)] = (uint8_t)below(s, 256);
	return key_of(s, n, below(s, 1000), 1 + below(s, 3));
}

/* Few clusters that are far from each other: at their edges the heads of a block are all the same. */
static struct slice clustered_key(struct key_source *s)
{
	memset(s->key, 0, 12);
	s->key[0] = (uint8_t)("aaab"[below(s, 4)]);
	return key_of(s, 12, below(s, 3000), 2);
}

static struct slice ascending_key(struct key_source *s)
{
	memset(s->key, 'k', 5);
	return key_of(s, 5, s->count++, 8);
}

static struct slice descending_key(struct key_source *s)
{
	memset(s->key, 'm', 5);
	return key_of(s, 5, ~s->count++, 8);
}

/* Table, hash, partition key, number: the newest at the end of each partition. */
static struct slice store_key(struct key_source *s)
{
	uint64_t partition = below(s, 30), hash = partition + 1;

	(void)key_of(s, 0, 6 + below(s, 2), 4);
	(void)key_of(s, 4, test_random(&hash), 8);
	memset(s->key + 12, 'p', 10 + partition);
	return key_of(s, 22 + partition, s->count++, 4);
}

static make_key any_key;

make_key *const key_makers[KEY_MAKERS] = {
	short_key, long_key, clustered_key, ascending_key, descending_key, store_key, any_key,
};

static struct slice any_key(struct key_source *s)
{
	return key_makers[below(s, KEY_MAKERS - 1)](s);
}
