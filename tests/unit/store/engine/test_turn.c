/* test_turn - the log and the background sync in turn (turn.h, D1 to D3). */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "store/engine/segment.h"
#include "tests/unit/store/engine/engine_fixture.h"

TestSuite(turn, .timeout = 60);

/* A log that takes its turns as fast as it can, and looks whether somebody else has the disk then. */
struct rig {
	struct turn turn;
	atomic_int inside;
	atomic_bool overlap, stop;
	atomic_uint turns;
};

static void inside(struct rig *r)
{
	if (atomic_fetch_add(&r->inside, 1) != 0)
		atomic_store(&r->overlap, true);
	usleep(20);
	atomic_fetch_sub(&r->inside, 1);
}

static void *log_main(void *arg)
{
	struct rig *r = arg;

	while (!atomic_load(&r->stop)) {
		turn_take_log(&r->turn);
		inside(r);
		turn_give(&r->turn);
		atomic_fetch_add(&r->turns, 1);
	}
	return NULL;
}

Test(turn, one_at_a_time)
{
	struct rig r = { .stop = false };
	pthread_t log;

	turn_init(&r.turn);
	cr_assert_eq(pthread_create(&log, NULL, log_main, &r), 0);
	for (unsigned i = 0; i < 2000 || atomic_load(&r.turns) < 100; i++) {
		turn_take_background(&r.turn);
		inside(&r);
		turn_give(&r.turn);
	}
	atomic_store(&r.stop, true);
	pthread_join(log, NULL);
	cr_assert_not(atomic_load(&r.overlap));
	turn_destroy(&r.turn);
}

static void *log_once(void *arg)
{
	struct rig *r = arg;

	turn_take_log(&r->turn);
	atomic_fetch_add(&r->turns, 1);
	turn_give(&r->turn);
	return NULL;
}

static bool waits(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	bool yes = t->log_waits;

	pthread_mutex_unlock(&t->lock);
	return yes;
}

/* The checkpointer gives its turn and wants the next one at once: the log that waits comes first. */
Test(turn, the_log_waits_for_one_commit)
{
	for (unsigned i = 0; i < 200; i++) {
		struct rig r = { .stop = false };
		pthread_t log;

		turn_init(&r.turn);
		turn_take_background(&r.turn);
		cr_assert_eq(pthread_create(&log, NULL, log_once, &r), 0);
		while (!waits(&r.turn))
			usleep(10);
		cr_assert_eq(atomic_load(&r.turns), 0);
		turn_give(&r.turn);
		turn_take_background(&r.turn);
		cr_assert_eq(atomic_load(&r.turns), 1, "round %u", i);
		turn_give(&r.turn);
		pthread_join(log, NULL);
		turn_destroy(&r.turn);
	}
}

/* While the log is held the background goes on. The log has the first turn after it was let go, whoever asks first. */
Test(turn, a_log_that_is_held_comes_first_when_let_go)
{
	for (unsigned i = 0; i < 200; i++) {
		struct rig r = { .stop = false };
		pthread_t log;

		turn_init(&r.turn);
		turn_hold_log(&r.turn, true);
		cr_assert_eq(pthread_create(&log, NULL, log_once, &r), 0);
		while (!waits(&r.turn))
			usleep(10);
		turn_take_background(&r.turn);
		turn_give(&r.turn);
		cr_assert_eq(atomic_load(&r.turns), 0);
		turn_hold_log(&r.turn, false);
		turn_take_background(&r.turn);
		cr_assert_eq(atomic_load(&r.turns), 1, "round %u", i);
		turn_give(&r.turn);
		pthread_join(log, NULL);
		cr_assert_gt(atomic_load(&r.turn.held_ns), 0);
		turn_destroy(&r.turn);
	}
}

struct making {
	struct turn turn;
	int dirfd;
	struct segment *segment;
	atomic_bool done;
};

static void *make_segment(void *arg)
{
	struct making *m = arg;
	enum err rc = segment_create(m->dirfd, 1, 4096, &m->turn, &m->segment, NULL);

	atomic_store(&m->done, true);
	cr_assert_eq(rc, ERR_OK);
	return NULL;
}

/* The log's next file is background work: while the log has the disk, it is not synced. */
Test(turn, a_file_of_the_log_is_made_in_turn)
{
	struct making m = { .done = false };
	char dir[TEST_DIR];
	pthread_t maker;

	test_dir_make(dir);
	m.dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	turn_init(&m.turn);
	turn_take_log(&m.turn);
	cr_assert_eq(pthread_create(&maker, NULL, make_segment, &m), 0);
	usleep(100000);
	cr_assert_not(atomic_load(&m.done));
	turn_give(&m.turn);
	pthread_join(maker, NULL);
	cr_assert(atomic_load(&m.done));
	segment_close(&m.segment);
	close(m.dirfd);
	turn_destroy(&m.turn);
	test_dir_remove(dir);
}
