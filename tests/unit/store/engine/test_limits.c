/* test_limits - a full map, dropped prefixes, many views, threads, an ephemeral engine that leaves nothing. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/engine/failpoint.h"
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

TestSuite(limits, .init = setup, .fini = teardown, .timeout = 240);

static enum err change(struct engine *e, unsigned i, bool put)
{
	static uint8_t value[4000];
	struct fault f = { 0 };
	char key[32];
	uint64_t lsn;
	struct slice k = slice_of(key, (size_t)snprintf(key, sizeof key, "key%06u", i));

	engine_begin(e);
	if (put)
		engine_put(e, k, slice_of(value, sizeof value));
	else
		engine_del(e, k);
	enum err rc = engine_commit(e, &lsn, &f);

	if (rc == ERR_OK)
		rc = engine_flush(e, &f);
	engine_publish(e);
	return rc;
}

static unsigned count_keys(struct engine *e)
{
	struct fault f = { 0 };
	struct view *v;
	struct cursor *c;
	struct slice key, value;
	unsigned n = 0;

	cr_assert_eq(view_open(e, &v, &f), ERR_OK);
	cr_assert_eq(cursor_open(v, SLICE_NONE, SLICE_NONE, false, &c, &f), ERR_OK);
	while (cursor_next(c, &key, &value, &f) == ERR_OK && slice_present(key))
		n++;
	cursor_close(&c);
	view_close(&v);
	return n;
}

static unsigned fill_map(struct engine *e, unsigned from)
{
	enum err rc;

	while ((rc = change(e, from, true)) == ERR_OK)
		cr_assert_lt(++from, 20000);
	cr_assert_eq(rc, ERR_MAP_FULL);
	return from;
}

/* The engine finds out within half a second that there is room again. */
static void put_eventually(struct engine *e, unsigned i)
{
	for (unsigned tries = 0; change(e, i, true) != ERR_OK; tries++) {
		cr_assert_lt(tries, 1000);
		usleep(10 * 1000);
	}
}

Test(limits, a_limit_that_moves)
{
	struct engine_opts o = test_opts(dir);
	struct fault f = { 0 };
	struct view *v;

	o.map_max_bytes = 16 << 20;
	struct engine *e = test_open(&o);
	unsigned n = fill_map(e, 0);

	cr_assert_eq(view_open(e, &v, &f), ERR_OK);
	cr_assert_eq(engine_set_map_max(e, 32 << 20), 32 << 20);
	unsigned more = fill_map(e, n);

	cr_assert_gt(more, n + n / 2, "%u keys in 16 MB, %u in 32 MB", n, more);
	view_close(&v);
	cr_assert_eq(engine_set_map_max(e, 24 << 20), 24 << 20);
	cr_assert_eq(change(e, more, true), ERR_MAP_FULL);
	for (unsigned i = 0; i < more; i += 2)
		cr_assert_eq(change(e, i, false), ERR_OK);
	put_eventually(e, 0);
	cr_assert_leq(engine_set_map_max(e, UINT64_MAX), (uint64_t)1 << 40, "no more than was reserved");
	cr_assert_eq(count_keys(e), more / 2 + 1);
	engine_close(&e);
}

Test(limits, a_full_map_refuses_puts_and_lets_the_rest_go_on)
{
	struct engine_opts o = test_opts(dir);

	o.map_max_bytes = 16 << 20;
	struct engine *e = test_open(&o);
	unsigned n = fill_map(e, 0);

	cr_assert_gt(n, 1000);
	cr_assert_eq(count_keys(e), n);
	for (unsigned i = 0; i < n; i += 2)
		cr_assert_eq(change(e, i, false), ERR_OK, "deletion %u refused", i);
	cr_assert_eq(count_keys(e), n / 2);
	test_wait_checkpoint(e);
	unsigned again = fill_map(e, n);

	cr_assert_gt(again, n + n / 8, "%u keys, then %u", n, again - n);
	engine_close(&e);
	e = test_open(&o);
	cr_assert_eq(count_keys(e), again - n + n / 2);
	engine_close(&e);
}

/* Old views pin pages: then even what was admitted may not fit. Nothing is lost, and it fits once they are closed. */
Test(limits, a_map_filled_by_old_views)
{
	struct engine_opts o = test_opts(dir);
	struct fault f = { 0 };
	struct view *v;

	o.map_max_bytes = 16 << 20;
	struct engine *e = test_open(&o);
	enum err rc = ERR_OK;
	unsigned i = 0;

	for (; i < 600; i++)
		cr_assert_eq(change(e, i, true), ERR_OK);
	test_wait_checkpoint(e);
	cr_assert_eq(view_open(e, &v, &f), ERR_OK);
	for (; i < 60000 && rc == ERR_OK; i++)
		rc = change(e, i % 600, true);
	cr_assert_eq(rc, ERR_MAP_FULL);
	cr_assert_eq(count_keys(e), 600);
	cr_assert_eq(change(e, 0, false), ERR_OK);
	cr_assert_eq(count_keys(e), 599);
	struct engine_stats s;

	engine_stats(e, &s);
	cr_assert_lt(s.map_used_bytes + s.map_free_bytes, 3 * o.map_max_bytes, "what views pin counts");
	view_close(&v);
	test_wait_checkpoint(e);
	put_eventually(e, 0);
	engine_close(&e);
	e = test_open(&o);
	cr_assert_eq(count_keys(e), 600);
	engine_close(&e);
}

static void drop(struct engine *e, const char *prefix)
{
	struct fault f = { 0 };
	uint64_t lsn;

	engine_begin(e);
	engine_drop_prefix(e, slice_str(prefix));
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	cr_assert_eq(engine_flush(e, &f), ERR_OK);
	engine_publish(e);
}

Test(limits, a_dropped_prefix_gives_its_space_back)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);

	for (unsigned i = 0; i < 5000; i++)
		cr_assert_eq(change(e, i, true), ERR_OK);
	test_put(e, "other", "stays");
	failpoint_arm(FAILPOINT_CHECKPOINT_COMMIT, &(struct failpoint_plan){ .error = EIO });
	drop(e, "key");
	engine_close(&e);               /* it is in the log only */
	failpoint_disarm(FAILPOINT_CHECKPOINT_COMMIT);
	e = test_open(&o);
	for (unsigned n = 0; n < 1500 && count_keys(e) > 1; n++)
		usleep(10000);
	cr_assert_eq(count_keys(e), 1);
	test_expect(e, "other", "stays");
	engine_close(&e);
}

Test(limits, many_views)
{
	enum { N = 2000 };
	static struct view *v[N];
	struct engine *e = test_open(&(struct engine_opts){ 0 });
	struct fault f = { 0 };

	for (unsigned i = 0; i < N; i++) {
		test_put(e, "a", "1");
		cr_assert_eq(view_open(e, &v[i], &f), ERR_OK);
	}
	for (unsigned i = 0; i < N; i++) {
		cr_assert_eq(view_lsn(v[i]), i + 1);
		view_close(&v[i]);
	}
	engine_close(&e);
}

/* ---- threads ---- */

enum { COUNTERS = 64, ROUNDS = 1500 };
struct shared {
	struct engine *e;
	atomic_bool done;
};

/* Every transaction sets all counters to the same number: no view may see two. */
static void *reader(void *arg)
{
	struct shared *s = arg;
	struct fault f = { 0 };
	uint64_t last = 0;
	bool descending = false;

	while (!atomic_load(&s->done)) {
		struct view *v;
		struct cursor *c;
		struct slice key, value, one;
		unsigned n = 0;

		cr_assert_eq(view_open(s->e, &v, &f), ERR_OK);
		cr_assert_eq(view_get(v, SLICE_LIT("c07"), &one, &f), ERR_OK);
		cr_assert_eq(cursor_open(v, SLICE_LIT("c"), SLICE_LIT("d"), descending, &c, &f), ERR_OK);
		while (cursor_next(c, &key, &value, &f) == ERR_OK && slice_present(key)) {
			cr_assert(slice_eq(value, one), "a torn view");
			n++;
		}
		cr_assert_eq(n, slice_present(one) ? COUNTERS : 0);
		if (slice_present(one)) {
			uint64_t now;

			memcpy(&now, one.p, sizeof now);
			cr_assert_geq(now, last, "time went backwards");
			last = now;
		}
		cursor_close(&c);
		view_close(&v);
		descending = !descending;
	}
	return NULL;
}

static void *follower(void *arg)
{
	struct shared *s = arg;
	struct fault f = { 0 };
	struct log_reader *r;
	struct log_entry entry;
	uint64_t lsn = 0;

	engine_retain(s->e, 1, 0);
	cr_assert_eq(log_reader_open(s->e, 0, &r, &f), ERR_OK);
	while (lsn < ROUNDS) {
		bool got;

		cr_assert_eq(log_reader_next(r, &entry, &got, &f), ERR_OK);
		if (!got) {
			usleep(1000);
			continue;
		}
		cr_assert_eq(entry.lsn, lsn + 1);
		cr_assert_eq(entry.changes, COUNTERS);
		lsn = entry.lsn;
		engine_retain(s->e, 1, lsn);
	}
	log_reader_close(&r);
	return NULL;
}

static void write_rounds(struct engine *e)
{
	static uint8_t value[1000];
	struct fault f = { 0 };

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		uint64_t lsn;

		memcpy(value, &i, sizeof i);
		engine_begin(e);
		for (unsigned k = 0; k < COUNTERS; k++) {
			char key[16];

			snprintf(key, sizeof key, "c%02u", k);
			engine_put(e, slice_str(key), slice_of(value, 8 + i % 900));
		}
		cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
		cr_assert_eq(engine_flush(e, &f), ERR_OK);
		engine_publish(e);
	}
}

Test(limits, readers_writer_checkpointer_and_follower_together)
{
	struct engine_opts o = test_opts(dir);
	struct shared s = { .e = test_open(&o) };
	pthread_t t[4];

	engine_retain(s.e, 1, 0);
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, reader, &s);
	pthread_create(&t[3], NULL, follower, &s);
	write_rounds(s.e);
	pthread_join(t[3], NULL);
	atomic_store(&s.done, true);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	engine_close(&s.e);
}

/* ---- ephemeral ---- */

static unsigned count_files(const char *path)
{
	DIR *d = opendir(path);
	unsigned n = 0;

	for (struct dirent *entry; (entry = readdir(d)) != NULL;)
		n += entry->d_name[0] != '.';
	closedir(d);
	return n;
}

Test(limits, an_ephemeral_engine_has_no_files)
{
	setenv("TMPDIR", dir, 1);
	struct engine *e = test_open(&(struct engine_opts){ .overlay_bytes = 1 << 20, .segment_bytes = 1 << 20 });

	for (unsigned i = 0; i < 2000; i++)
		cr_assert_eq(change(e, i, true), ERR_OK);
	cr_assert_eq(count_files(dir), 0);
	cr_assert_eq(count_keys(e), 2000);
	engine_close(&e);
	cr_assert_eq(count_files(dir), 0);
}
