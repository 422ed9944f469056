/* test_wal_keeper - the log is synced when it should be, whoever sets the system's clock. */
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

Test(wal_keeper, a_clock_that_is_set_back_holds_up_no_sync, .timeout = 60)
{
	char dir[TEST_DIR];

	test_dir_make(dir);
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
	test_dir_remove(dir);
}
