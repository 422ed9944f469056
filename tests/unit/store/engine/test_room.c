/* test_room - how large slices are and when the log is held (room.h), by numbers; then what holds when nothing can be
 * moved at all. */
#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "protocol/monotonic.h"
#include "store/engine/engine_int.h"
#include "store/engine/failpoint.h"
#include "tests/unit/store/engine/engine_fixture.h"

TestSuite(room, .timeout = 60);

enum { UNIT = 1 << 20, LEAST = 64 << 10 };   /* a sixteenth of the overlay */

/* An engine of numbers only: so many units in frozen tables and in the active one. */
struct rig {
	struct engine e;
	struct memtable active;
	struct state state;
};

static void rig_init(struct rig *r, double frozen, double active)
{
	*r = (struct rig){ .e = { .opts = { .overlay_bytes = 16 * UNIT } }, .state = { .n = 2, .table = { &r->active } } };
	r->e.state = &r->state;
	r->e.w.active = &r->active;
	r->e.published_ns = monotonic_ns();
	pthread_mutex_init(&r->e.lock, NULL);
	pthread_cond_init(&r->e.c.wake, NULL);
	turn_init(&r->e.turn);
	room_init(&r->e);
	atomic_store(&r->e.frozen_bytes, (size_t)(frozen * UNIT));
	atomic_store(&r->active.bytes, (size_t)(active * UNIT));
}

static void rig_end(struct rig *r)
{
	room_destroy(&r->e);
	turn_destroy(&r->e.turn);
	pthread_cond_destroy(&r->e.c.wake);
	pthread_mutex_destroy(&r->e.lock);
}

/* The writer has a batch ready that brought n bytes. */
static void batch(struct rig *r, size_t n)
{
	r->e.w.active_at = atomic_load(&r->active.bytes);
	atomic_fetch_add(&r->active.bytes, n);
	r->e.batch_open = true;
	room_pace(&r->e);
}

/* Of the next slice; 0 if it is not time for one. */
static size_t slice(struct rig *r, size_t moved)
{
	size_t n;

	return room_slice_locked(&r->e, moved, &n) ? n : 0;
}

/* R2: what a slice moves for a batch of 16 LEAST, by what LMDB is behind. */
Test(room, a_slice_answers_more_the_further_LMDB_is_behind)
{
	static const struct {
		double frozen;
		size_t n;
	} cases[] = { { 2, LEAST }, { 4, 0 }, { 4.5, 0 }, { 5, 68 << 10 }, { 6, 17 * LEAST }, { 8, 17 * LEAST } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rig r;

		rig_init(&r, cases[i].frozen - 1, 0);
		batch(&r, UNIT);
		cr_expect_eq(slice(&r, 0), cases[i].n, "case %zu", i);
		rig_end(&r);
	}
}

Test(room, what_is_too_little_for_a_slice_is_answered_with_what_follows)
{
	struct rig r;

	rig_init(&r, 5.9, 0);
	for (unsigned i = 0; i < 6; i++) {
		batch(&r, 10 << 10);
		cr_assert_eq(slice(&r, 0), 0, "batch %u", i);
	}
	batch(&r, 10 << 10);
	cr_assert_eq(slice(&r, 0), LEAST);
	cr_assert_eq(slice(&r, 0), 0, "it has been answered");
	rig_end(&r);
}

/* R2: what a slow writer brought is moved between its batches. */
Test(room, a_small_slice_may_go_while_no_batch_is_under_way)
{
	struct rig r;

	rig_init(&r, 4, 0);
	batch(&r, 10 << 10);
	cr_assert_eq(slice(&r, 0), 0);
	room_batch_end_locked(&r.e);
	cr_assert_eq(slice(&r, 0), LEAST);
	rig_end(&r);
}

/* R3 */
Test(room, a_slice_is_not_larger_than_the_last_batch)
{
	struct rig r;

	rig_init(&r, 7, 0);
	for (unsigned i = 0; i < 3; i++)
		batch(&r, 2 * LEAST);
	cr_assert_eq(slice(&r, 0), 2 * LEAST + LEAST / 8);
	rig_end(&r);
}

/* R4 */
Test(room, nobody_writes)
{
	struct rig r;

	rig_init(&r, 5, 0);
	r.e.published_ns -= (ROOM_REST_MS + 1) * UINT64_C(1000000);
	cr_assert_eq(slice(&r, 0), 16 * UNIT);
	rig_end(&r);
}

/* R1: bytes that have been moved are not behind, though they are still in the overlay. */
Test(room, the_log_is_held_while_LMDB_is_too_far_behind)
{
	struct rig r;

	rig_init(&r, 5, 0);
	batch(&r, UNIT);
	cr_assert_not(r.e.turn.log_held, "six sixteenths, and not more");
	batch(&r, 1024);
	cr_assert(r.e.turn.log_held);
	cr_assert(room_wanted_locked(&r.e));
	cr_assert_eq(slice(&r, 0), LEAST, "a log that waits is reason enough for a slice");
	room_made_locked(&r.e, 1023, 0);
	cr_assert(r.e.turn.log_held);
	room_made_locked(&r.e, 1024, 0);
	cr_assert_not(r.e.turn.log_held);
	cr_assert_not(room_wanted_locked(&r.e));
	rig_end(&r);
}

/* R5: three quarters of a round to go, for which the room of so much of the overlay is kept. */
Test(room, the_log_is_held_while_the_oldest_table_would_leave_too_late)
{
	struct rig r;

	rig_init(&r, 8, 0);
	room_made_locked(&r.e, 8 * UNIT, 0.75);
	batch(&r, UNIT / 2);
	cr_assert_not(r.e.turn.log_held);
	batch(&r, UNIT / 4);
	cr_assert(r.e.turn.log_held);
	room_made_locked(&r.e, 8 * UNIT, 0.7);
	cr_assert_not(r.e.turn.log_held);
	rig_end(&r);
}

/* Nothing would let it go: the checkpointer fails, or has nothing to move. */
Test(room, the_log_is_not_held_in_vain)
{
	struct rig r;

	rig_init(&r, 12, 0);
	r.e.c.error = ERR_INTERNAL;
	batch(&r, UNIT);
	cr_assert_not(r.e.turn.log_held);
	r.e.c.error = ERR_OK;
	batch(&r, UNIT);
	cr_assert(r.e.turn.log_held);
	r.e.c.error = ERR_INTERNAL;
	room_made_locked(&r.e, 0, 0);
	cr_assert_not(r.e.turn.log_held);
	r.e.c.error = ERR_OK;
	r.state.n = 1;
	batch(&r, UNIT);
	cr_assert_not(r.e.turn.log_held);
	rig_end(&r);
}

/* R6: so the overlay stays within its bound. */
Test(room, a_transaction_for_which_no_room_can_be_made_is_refused)
{
	static uint8_t value[8192];
	char dir[TEST_DIR];
	struct fault f = { 0 };
	enum err rc = ERR_OK;
	uint64_t lsn;

	test_dir_make(dir);
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);

	failpoint_arm(FAILPOINT_CHECKPOINT_COMMIT, &(struct failpoint_plan){ .error = EIO });
	for (uint64_t i = 0; i < 1000 && rc == ERR_OK; i++) {
		struct engine_stats s;

		engine_begin(e);
		engine_put(e, slice_of(&i, sizeof i), slice_of(value, sizeof value));
		rc = engine_commit(e, &lsn, &f);
		if (rc == ERR_OK)
			cr_assert_eq(engine_flush(e, &f), ERR_OK);
		engine_publish(e);
		engine_stats(e, &s);
		cr_assert_leq(s.overlay_bytes, o.overlay_bytes);
	}
	cr_assert_eq(rc, ERR_IO);
	failpoint_disarm(FAILPOINT_CHECKPOINT_COMMIT);
	for (unsigned i = 0; i < 400 && rc == ERR_IO; i++) {
		usleep(5000);
		engine_begin(e);
		engine_put(e, SLICE_LIT("room"), SLICE_LIT("again"));
		rc = engine_commit(e, &lsn, &f);
		if (rc == ERR_OK)
			cr_assert_eq(engine_flush(e, &f), ERR_OK);
		engine_publish(e);
	}
	cr_assert_eq(rc, ERR_OK);
	engine_close(&e);
	test_dir_remove(dir);
}
