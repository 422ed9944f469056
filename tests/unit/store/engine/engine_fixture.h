/* engine_fixture - directories, small engines and scripted batches for the tests of the engine. */
#ifndef DYNAX_TESTS_ENGINE_FIXTURE_H
#define DYNAX_TESTS_ENGINE_FIXTURE_H

#include "store/engine/engine.h"
#include "tests/unit/store/engine/model.h"

enum { TEST_DIR = 64 };

/* A directory of this test's own, in memory if the machine has such a place (syncs cost nothing there). */
void test_dir_make(char dir[TEST_DIR]);
void test_dir_remove(const char *dir);
void test_dir_copy(const char *from, const char *to);
/* The log's only (or first) segment file. */
void test_first_segment(const char *dir, char path[TEST_DIR + 32]);

/* Small enough that every part works after a few hundred batches. */
struct engine_opts test_opts(const char *dir);
struct engine *test_open(const struct engine_opts *o);

/* One transaction with one put, flushed and published. */
void test_put(struct engine *e, const char *key, const char *value);
void test_expect(struct engine *e, const char *key, const char *value);   /* value NULL: there is none */

/* Batch number i of a script that never changes: a few transactions with a few changes, and "seq" = i.
 * Either is NULL: tell the model (at LSN i), or the engine. False if a commit fails. */
bool script_batch(struct engine *e, struct model *m, uint64_t i);
/* The number of the last batch that is there whole, having checked that everything is as the script says. */
uint64_t script_check(struct engine *e);

/* Wait until everything published has been checkpointed. */
void test_wait_checkpoint(struct engine *e);

#endif
