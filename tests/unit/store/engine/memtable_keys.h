/* memtable_keys - makers of random keys that try what a memtable's index rests on. */
#ifndef DYNAX_TESTS_MEMTABLE_KEYS_H
#define DYNAX_TESTS_MEMTABLE_KEYS_H

#include "protocol/slice.h"

enum { KEY_MAKERS = 7, MADE_KEY_MAX = 2100 };

struct key_source {
	uint64_t random, count;      /* state of the generator (test_random); how many ascending or descending ones were made */
	uint8_t key[MADE_KEY_MAX];
};

/* A key, perhaps one that was made before; borrowed until the next one is. The last maker takes any of the others. */
typedef struct slice make_key(struct key_source *s);
extern make_key *const key_makers[KEY_MAKERS];

#endif
