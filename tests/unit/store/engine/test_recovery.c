/* test_recovery - what survives: clean restarts, every crash point, damaged bytes, a lost directory (G1, G3, G5). */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/engine/engine_int.h"
#include "store/engine/failpoint.h"
#include "store/engine/keyspace.h"
#include "tests/support/sanitized.h"
#include "tests/unit/store/engine/engine_fixture.h"

static char dir[TEST_DIR];

static void setup(void)
{
	test_dir_make(dir);
}

static void teardown(void)
{
	test_dir_remove(dir);
}

TestSuite(recovery, .init = setup, .fini = teardown, .timeout = 240);

static bool run_batch(struct engine *e, uint64_t i)
{
	struct fault f = { 0 };

	if (!script_batch(e, NULL, i) || engine_flush(e, &f) != ERR_OK)
		return false;
	engine_publish(e);
	return true;
}

Test(recovery, restarts)
{
	struct engine_opts o = test_opts(dir);
	uint64_t random = test_seed(), i = 0;

	for (unsigned round = 0; round < 12; round++) {
		o.durability = test_random(&random) % 3;
		struct engine *e = test_open(&o);
		uint64_t lsn = engine_published(e);

		cr_assert_eq(script_check(e), i);
		for (uint64_t n = test_random(&random) % 150; n > 0; n--)
			cr_assert(run_batch(e, ++i));
		cr_assert_geq(engine_published(e), lsn);
		cr_assert_eq(script_check(e), i);
		engine_close(&e);
	}
}

Test(recovery, second_open_is_refused)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o), *other;
	struct fault f = { 0 };

	cr_assert_eq(engine_open(&o, &other, &f), ERR_BUSY);
	cr_assert_null(other);
	engine_close(&e);
	e = test_open(&o);
	engine_close(&e);
}

/* ---- crashes ---- */

/* The child writes batches until the point kills it, telling of each that was acknowledged. */
static void child(enum failpoint p, unsigned skip, uint64_t from, int pipe_fd, enum durability durability)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e;
	struct fault f = { 0 };

	o.durability = durability;
	failpoint_arm(p, &(struct failpoint_plan){ .skip = skip });
	if (engine_open(&o, &e, &f) != ERR_OK)
		_exit(2);
	for (uint64_t i = from; i < from + 800; i++) {
		if (i == from + 400) {
			engine_begin(e);
			engine_drop_prefix(e, SLICE_LIT("no such prefix"));
			uint64_t lsn;

			if (engine_commit(e, &lsn, &f) != ERR_OK)
				_exit(3);
		}
		if (!run_batch(e, i) || write(pipe_fd, &i, sizeof i) != sizeof i)
			_exit(3);
	}
	engine_close(&e);
	_exit(0);
}

/* What it leaves is what a crash leaves: nothing was closed. */
static void in_a_process_that_dies(void (*work)(const void *arg), const void *arg)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		work(arg);
		kill(getpid(), SIGKILL);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the work failed");
}

/* Returns whether the point was reached. */
static bool crash_once(enum failpoint p, unsigned skip, uint64_t *last, enum durability durability)
{
	int fd[2], status;
	uint64_t acked = *last, i;

	cr_assert_eq(pipe(fd), 0);
	pid_t pid = fork();

	if (pid == 0) {
		close(fd[0]);
		child(p, skip, *last + 1, fd[1], durability);
	}
	close(fd[1]);
	while (read(fd[0], &i, sizeof i) == sizeof i)
		acked = i;
	close(fd[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "%s: child failed with %d", failpoint_name(p),
		WEXITSTATUS(status));
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);

	*last = script_check(e);
	cr_assert(*last == acked || *last == acked + 1, "%s: %llu acknowledged, %llu there", failpoint_name(p),
		(unsigned long long)acked, (unsigned long long)*last);
	if (acked % 2 == 0)
		engine_close(&e);   /* otherwise it ends like the child, without a checkpoint */
	return WIFSIGNALED(status);
}

Test(recovery, every_crash_point)
{
	static const unsigned skips[] = { 0, 7, 1, 40 };

	for (enum failpoint p = 0; p < FAILPOINT_COUNT; p++) {
		unsigned reached = 0;
		uint64_t last = 0;

		for (unsigned i = 0; i < (UNDER_THREAD_SANITIZER ? 2 : 4); i++) {
			pid_t pid = fork();   /* an engine that is left open must not outlive its round */
			int status;

			if (pid == 0) {
				struct engine_opts o = test_opts(dir);
				struct engine *e = test_open(&o);

				last = script_check(e);
				engine_close(&e);
				_exit(crash_once(p, skips[i], &last, i % 2 == 0 ? DURABILITY_SYNC : DURABILITY_NONE));
			}
			cr_assert_eq(waitpid(pid, &status, 0), pid);
			cr_assert(WIFEXITED(status), "%s", failpoint_name(p));
			cr_assert_leq(WEXITSTATUS(status), 1);
			reached += (unsigned)WEXITSTATUS(status);
		}
		cr_assert_gt(reached, 0, "%s was never reached", failpoint_name(p));
		test_dir_remove(dir);
		mkdir(dir, 0700);
	}
}

/* ---- errors that the engine survives ---- */

static void expect_failure(struct engine *e, enum failpoint p, int error, enum err expected, uint64_t *lsn)
{
	struct fault f = { 0 };

	failpoint_arm(p, &(struct failpoint_plan){ .error = error, .times = 1 });
	engine_begin(e);
	engine_put(e, SLICE_LIT("new"), SLICE_LIT("lost"));
	engine_put(e, SLICE_LIT("old"), SLICE_LIT("lost"));
	cr_assert_eq(engine_commit(e, lsn, &f), ERR_OK);
	cr_assert_eq(engine_flush(e, &f), expected);
	failpoint_disarm(p);
}

static void expect_failed_batch(struct engine *e, enum failpoint p, int error, enum err expected)
{
	struct fault f = { 0 };
	struct slice value;
	uint64_t lsn, next;

	expect_failure(e, p, error, expected, &lsn);
	cr_assert_eq(engine_read(e, SLICE_LIT("old"), &value, &f), ERR_OK);
	cr_assert(slice_eq(value, SLICE_LIT("kept")));
	test_expect(e, "old", "kept");
	test_expect(e, "new", NULL);
	engine_begin(e);
	engine_put(e, SLICE_LIT("after"), SLICE_LIT("x"));
	cr_assert_eq(engine_commit(e, &next, &f), ERR_OK);
	cr_assert_gt(next, lsn, "an LSN was given out twice");
	cr_assert_eq(engine_flush(e, &f), ERR_OK);
	cr_assert_eq(engine_publish(e), next);
	test_expect(e, "old", "kept");
	test_expect(e, "new", NULL);
}

Test(recovery, a_failed_flush_is_undone)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);

	test_put(e, "old", "kept");
	expect_failed_batch(e, FAILPOINT_LOG_WRITE, ENOSPC, ERR_DISK_FULL);
	expect_failed_batch(e, FAILPOINT_LOG_WRITE_HALF, ENOSPC, ERR_DISK_FULL);
	expect_failed_batch(e, FAILPOINT_LOG_SYNC, EIO, ERR_IO);
	expect_failed_batch(e, FAILPOINT_LOG_SYNCED, EIO, ERR_IO);
	engine_close(&e);
	e = test_open(&o);
	test_expect(e, "old", "kept");
	test_expect(e, "new", NULL);
	test_expect(e, "after", "x");
	engine_close(&e);
}

/* A batch that failed although all of it was written: at the end of a segment, no later one takes its place. */
static void fail_and_go_on(const void *arg)
{
	static uint8_t large[100000];
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	struct fault f = { 0 };
	uint64_t lsn;

	(void)arg;
	test_put(e, "old", "kept");
	expect_failure(e, FAILPOINT_LOG_SYNCED, EIO, ERR_IO, &lsn);
	engine_begin(e);
	engine_put(e, SLICE_LIT("large"), slice_of(large, sizeof large));
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	cr_assert_eq(engine_flush(e, &f), ERR_OK);
	engine_publish(e);
}

Test(recovery, a_failed_batch_stays_away_when_the_log_goes_on_elsewhere)
{
	struct engine_opts o = test_opts(dir);

	in_a_process_that_dies(fail_and_go_on, NULL);
	struct engine *e = test_open(&o);

	test_expect(e, "old", "kept");
	test_expect(e, "new", NULL);
	engine_close(&e);
}

Test(recovery, a_segment_that_cannot_be_used_again_is_done_without)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	uint64_t i = 0;

	failpoint_arm(FAILPOINT_SEGMENT_RECYCLED, &(struct failpoint_plan){ .error = EIO, .times = 1 });
	for (; i < 1500; i++)
		cr_assert(run_batch(e, i + 1), "batch %llu", (unsigned long long)i + 1);
	failpoint_disarm(FAILPOINT_SEGMENT_RECYCLED);
	engine_close(&e);
	e = test_open(&o);
	cr_assert_eq(script_check(e), i);
	engine_close(&e);
}

Test(recovery, a_full_disk_is_told_and_left)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	struct fault f = { 0 };
	enum err rc = ERR_OK;
	uint64_t i = 0;

	failpoint_arm(FAILPOINT_SEGMENT_CREATE, &(struct failpoint_plan){ .error = ENOSPC });
	failpoint_arm(FAILPOINT_CHECKPOINT_COMMIT, &(struct failpoint_plan){ .error = ENOSPC });
	while (i < 2000 && rc == ERR_OK) {
		if (!script_batch(e, NULL, i + 1))
			cr_assert_fail("the overlay filled up before the log");
		rc = engine_flush(e, &f);
		engine_publish(e);
		i += rc == ERR_OK;
	}
	cr_assert_eq(rc, ERR_DISK_FULL);
	cr_assert_eq(script_check(e), i);
	failpoint_disarm(FAILPOINT_SEGMENT_CREATE);
	while (script_batch(e, NULL, i + 1)) {       /* now only LMDB has no room: until the overlay is full */
		cr_assert_eq(engine_flush(e, &f), ERR_OK);
		engine_publish(e);
		cr_assert_lt(++i, 5000);
	}
	cr_assert_eq(f.code == ERR_OK || f.code == ERR_DISK_FULL, true);
	cr_assert_eq(script_check(e), i);
	failpoint_disarm(FAILPOINT_CHECKPOINT_COMMIT);
	if (engine_flush(e, &f) == ERR_OK)   /* what of batch i + 1 was committed */
		engine_publish(e);
	test_wait_checkpoint(e);
	for (unsigned n = 0; n < 200; n++)
		cr_assert(run_batch(e, ++i));
	cr_assert_eq(script_check(e), i);
	engine_close(&e);
	e = test_open(&o);
	cr_assert_eq(script_check(e), i);
	engine_close(&e);
}

static bool checkpoint_fails(struct engine *e)
{
	pthread_mutex_lock(&e->lock);
	enum err rc = e->c.error;

	pthread_mutex_unlock(&e->lock);
	return rc != ERR_OK;
}

Test(recovery, what_could_not_be_moved_is_moved_later)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);

	for (uint64_t i = 1; i <= 20; i++)
		cr_assert(run_batch(e, i));
	failpoint_arm(FAILPOINT_CHECKPOINT_COMMIT, &(struct failpoint_plan){ .error = EIO });
	checkpointer_hurry(e);
	while (!checkpoint_fails(e))
		usleep(1000);
	failpoint_disarm(FAILPOINT_CHECKPOINT_COMMIT);
	test_wait_checkpoint(e);
	cr_assert_eq(script_check(e), 20);
	engine_close(&e);
}

static bool in_lmdb(struct engine *e, struct slice key)
{
	struct lmdb_txn *t;
	struct slice value;

	cr_assert_eq(lmdb_read_open(e->index, &t, NULL), ERR_OK);
	cr_assert_eq(keyspace_get(t, key, &value, NULL), ERR_OK);
	lmdb_read_close(&t);
	return slice_present(value);
}

/* They give back what the puts that fail for want of room may need. */
Test(recovery, deletions_are_moved_first_when_the_disk_is_full)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	struct fault f = { 0 };
	uint64_t lsn;

	test_put(e, "old", "value");
	test_wait_checkpoint(e);
	cr_assert(in_lmdb(e, SLICE_LIT("old")));
	failpoint_arm(FAILPOINT_CHECKPOINT_PUT, &(struct failpoint_plan){ .error = ENOSPC });
	test_put(e, "new", "value");
	engine_begin(e);
	engine_del(e, SLICE_LIT("old"));
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	cr_assert_eq(engine_flush(e, &f), ERR_OK);
	engine_publish(e);
	checkpointer_hurry(e);
	for (unsigned i = 0; i < 5000 && in_lmdb(e, SLICE_LIT("old")); i++)
		usleep(1000);
	cr_assert_not(in_lmdb(e, SLICE_LIT("old")));
	cr_assert_not(in_lmdb(e, SLICE_LIT("new")));
	failpoint_disarm(FAILPOINT_CHECKPOINT_PUT);
	test_wait_checkpoint(e);
	cr_assert(in_lmdb(e, SLICE_LIT("new")));
	engine_close(&e);
}

/* Nothing hurries on a disk with room, so what is replayed goes into tables as large as those of a running engine. */
static void put_much(const void *arg)
{
	static uint8_t value[10000];
	struct engine_opts o = { .dir = dir };
	struct engine *e = test_open(&o);
	struct fault f = { 0 };
	uint64_t lsn;

	(void)arg;
	for (uint64_t i = 0; i < 150; i++) {
		engine_begin(e);
		engine_put(e, slice_of(&i, sizeof i), slice_of(value, sizeof value));
		cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
		cr_assert_eq(engine_flush(e, &f), ERR_OK);
		engine_publish(e);
	}
}

Test(recovery, replay_fills_a_table_before_it_begins_another)
{
	struct engine_opts o = { .dir = dir };

	in_a_process_that_dies(put_much, NULL);
	struct engine *e = test_open(&o);

	pthread_mutex_lock(&e->lock);
	cr_assert_eq(e->state->n, 1, "%u tables", e->state->n);
	pthread_mutex_unlock(&e->lock);
	engine_close(&e);
}

/* ---- damage ---- */

/* A log of so many batches, that is in no checkpoint. */
struct left {
	unsigned batches;
	enum durability durability;
};

static void put_batches(const void *arg)
{
	const struct left *left = arg;
	struct engine_opts o = test_opts(dir);

	o.segment_bytes = 16 << 10;
	o.durability = left->durability;
	struct engine *e = test_open(&o);

	for (unsigned i = 1; i <= left->batches; i++) {
		char key[16], value[24];

		snprintf(key, sizeof key, "key%u", i);
		snprintf(value, sizeof value, "value %u", i);
		test_put(e, key, value);
	}
}

static void leave_log(unsigned batches, enum durability durability)
{
	in_a_process_that_dies(put_batches, &(struct left){ batches, durability });
}

static size_t used_bytes(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t last = 0, at = 0;

	cr_assert_not_null(file);
	for (int c; (c = fgetc(file)) != EOF; at++)
		if (c != 0)
			last = at + 1;
	fclose(file);
	return last;
}

static void flip(const char *path, size_t at)
{
	int fd = open(path, O_RDWR);
	uint8_t byte;

	cr_assert_eq(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= 0x5a;
	cr_assert_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

Test(recovery, damage_at_every_byte)
{
	enum { BATCHES = 6 };
	char copy[TEST_DIR], path[TEST_DIR + 32];
	unsigned corrupt = 0, cut = 0;

	leave_log(BATCHES, DURABILITY_SYNC);
	test_first_segment(dir, path);
	size_t used = used_bytes(path);

	for (size_t at = 0; at < used; at++) {
		struct fault f = { 0 };
		struct engine *e;

		test_dir_make(copy);
		test_dir_copy(dir, copy);
		test_first_segment(copy, path);
		flip(path, at);
		struct engine_opts o = test_opts(copy);
		enum err rc = engine_open(&o, &e, &f);

		if (rc == ERR_OK) {
			for (unsigned i = 1; i < BATCHES; i++) {
				char key[16], value[24];

				snprintf(key, sizeof key, "key%u", i);
				snprintf(value, sizeof value, "value %u", i);
				test_expect(e, key, value);
			}
			cut += engine_published(e) == BATCHES - 1;
			engine_close(&e);
		} else {
			cr_assert_eq(rc, ERR_CORRUPT, "byte %zu: %d", at, (int)rc);
			corrupt++;
		}
		test_dir_remove(copy);
	}
	cr_assert_gt(corrupt, used / 2, "%u of %zu", corrupt, used);
	cr_assert_gt(cut, 0);
}

Test(recovery, the_fault_names_file_and_offset)
{
	char path[TEST_DIR + 32];
	struct arena a;
	struct fault f;
	struct engine *e;

	leave_log(6, DURABILITY_SYNC);
	test_first_segment(dir, path);
	flip(path, 64 + 50);
	arena_init(&a, 0);
	fault_init(&f, &a);
	struct engine_opts o = test_opts(dir);

	cr_assert_eq(engine_open(&o, &e, &f), ERR_CORRUPT);
	cr_assert_not_null(strstr(f.text, "log/0000000000000001.log at byte 64"), "%s", f.text);
	arena_release(&a);
}

Test(recovery, unsynced_batches_may_be_lost_from_the_first_missing_one)
{
	char path[TEST_DIR + 32];

	leave_log(20, DURABILITY_NONE);
	test_first_segment(dir, path);
	flip(path, 700);    /* a page that never reached the disk, while later ones did */
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	uint64_t lsn = engine_published(e);

	cr_assert_gt(lsn, 2);
	cr_assert_lt(lsn, 20);
	test_put(e, "again", "x");
	cr_assert_gt(engine_published(e), 20);   /* lost LSNs are not given out again */
	engine_close(&e);
	e = test_open(&o);
	test_expect(e, "again", "x");
	test_expect(e, "key20", NULL);
	test_expect(e, "key1", "value 1");
	engine_close(&e);
}

Test(recovery, a_missing_log_is_reported)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	struct fault f = { 0 };
	char path[TEST_DIR + 32];

	test_put(e, "a", "1");
	engine_close(&e);
	test_first_segment(dir, path);
	unlink(path);
	cr_assert_eq(engine_open(&o, &e, &f), ERR_CORRUPT);
}
