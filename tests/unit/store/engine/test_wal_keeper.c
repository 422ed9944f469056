/* test_wal_keeper - the log is synced when it should be, whoever sets the system's clock; the next segment is made in time. */
#include <criterion/criterion.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "store/engine/engine_int.h"
#include "tests/unit/store/engine/engine_fixture.h"

/* How far the system's clock seems to be ahead. What waits for a time of it waits that much longer: as if it were set back. */
static atomic_int ahead_s;

int clock_gettime(clockid_t id, struct timespec *t)
{
	long rc = syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME)
		t->tv_sec += atomic_load(&ahead_s);
	return (int)rc;
}

static char dir[TEST_DIR], kilobyte[1025];

static void setup(void)
{
	memset(kilobyte, 'x', sizeof kilobyte - 1);
	test_dir_make(dir);
}

static void teardown(void)
{
	test_dir_remove(dir);
}

TestSuite(wal_keeper, .init = setup, .fini = teardown, .timeout = 60);

Test(wal_keeper, a_clock_that_is_set_back_holds_up_no_sync)
{
	struct engine_opts o = test_opts(dir);

	o.durability = DURABILITY_ASYNC;
	atomic_store(&ahead_s, 3600);
	struct engine *e = test_open(&o);

	usleep(100 * 1000);
	test_put(e, "a", "1");
	for (unsigned i = 0; i < 400 && atomic_load(&e->wal->durable_lsn) != 1; i++)
		usleep(5000);
	cr_assert_eq(atomic_load(&e->wal->durable_lsn), 1);
	engine_close(&e);
}

static bool has_spare(struct engine *e)
{
	pthread_mutex_lock(&e->wal->lock);
	bool has = e->wal->spare != NULL;

	pthread_mutex_unlock(&e->wal->lock);
	return has;
}

static bool gets_spare(struct engine *e)
{
	for (unsigned i = 0; i < 400 && !has_spare(e); i++)
		usleep(5000);
	return has_spare(e);
}

/* Twice: once the log has gone on in another segment it is no short-lived one, and has always one ahead. */
Test(wal_keeper, a_log_that_has_gone_on_has_its_next_segment_at_once)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);

	for (unsigned i = 0; i < 2; i++) {
		const struct segment *was = e->wal->active;

		while (e->wal->active == was)
			test_put(e, "a", kilobyte);
		cr_assert_lt(e->wal->active->tail, o.segment_bytes / 4);
		cr_assert(gets_spare(e));
	}
	engine_close(&e);
}

Test(wal_keeper, a_log_that_goes_on_past_a_quarter_asks_for_its_next_segment_at_once)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);

	test_put(e, "a", "1");
	cr_assert(!e->wal->spare_asked, "a short-lived log needs none");
	for (unsigned i = 0; i < o.segment_bytes / 4 / 1024; i++)
		test_put(e, "a", kilobyte);
	engine_close(&e);
	e = test_open(&o);
	cr_assert(!has_spare(e));
	cr_assert_eq(e->wal->oldest, e->wal->active, "it goes on in the segment that it had");
	test_put(e, "a", "2");
	cr_assert(gets_spare(e));
	engine_close(&e);
}

/* C3 (checkpoint.c): else LMDB could have what a log that was cut short by a power failure does not lead up to. */
Test(wal_keeper, the_log_is_on_disk_before_its_changes_are_moved)
{
	struct engine_opts o = test_opts(dir);

	o.durability = DURABILITY_NONE;
	struct engine *e = test_open(&o);

	test_put(e, "a", "1");
	cr_assert_eq(atomic_load(&e->wal->durable_lsn), 0, "nothing else syncs it");
	test_wait_checkpoint(e);
	cr_assert_eq(atomic_load(&e->wal->durable_lsn), 1);
	engine_close(&e);
}
