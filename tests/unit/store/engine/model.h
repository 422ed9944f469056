/* model - what the engine should answer: every key's versions, in a sorted array. Slow and obviously right. */
#ifndef DYNAX_TESTS_ENGINE_MODEL_H
#define DYNAX_TESTS_ENGINE_MODEL_H

#include "store/engine/engine.h"

struct model_version {
	uint64_t lsn;
	uint8_t *bytes;          /* NULL = deleted */
	size_t n;
};
struct model_key {
	uint8_t *bytes;
	size_t n;
	struct model_version *version;   /* oldest first */
	size_t versions;
};
struct model {
	struct model_key *key;           /* in order */
	size_t keys;
};

void model_release(struct model *m);
/* value.p == NULL deletes. */
void model_set(struct model *m, uint64_t lsn, struct slice key, struct slice value);
/* Forget every version above lsn. */
void model_cut(struct model *m, uint64_t lsn);
struct slice model_get(const struct model *m, uint64_t lsn, struct slice key);

/* The view answers what the model has at its LSN: every key by get, and all of them by cursors in both directions
 * between the bounds. Fails the Criterion test otherwise. */
void model_check_get(const struct model *m, struct view *v, struct slice key);
void model_check_range(const struct model *m, struct view *v, struct slice from, struct slice to, bool descending);
void model_check_all(const struct model *m, struct view *v);

/* A generator that repeats: seeded from SEED, or the clock, and printed. */
uint64_t test_seed(void);
uint64_t test_random(uint64_t *state);

#endif
