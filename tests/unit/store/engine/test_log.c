/* test_log - following the log: order, notes, published only, retention, trimming, restarts. */
#include <criterion/criterion.h>
#include <stdio.h>
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

TestSuite(log, .init = setup, .fini = teardown, .timeout = 120);

static struct log_reader *open_reader(struct engine *e, uint64_t after)
{
	struct fault f = { 0 };
	struct log_reader *r;

	cr_assert_eq(log_reader_open(e, after, &r, &f), ERR_OK);
	return r;
}

static bool next(struct log_reader *r, struct log_entry *entry)
{
	struct fault f = { 0 };
	bool got;

	cr_assert_eq(log_reader_next(r, entry, &got, &f), ERR_OK);
	return got;
}

static void put(struct engine *e, uint64_t i, size_t bytes)
{
	static uint8_t value[100000];
	struct fault f = { 0 };
	char key[32];
	uint64_t lsn;

	memset(value, (int)i, bytes);
	engine_begin(e);
	engine_put(e, slice_of(key, (size_t)snprintf(key, sizeof key, "key%llu", (unsigned long long)i)),
		slice_of(value, bytes));
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	cr_assert_eq(lsn, i);
}

static void flush(struct engine *e)
{
	struct fault f = { 0 };

	cr_assert_eq(engine_flush(e, &f), ERR_OK);
}

Test(log, entries_have_note_changes_and_deletions)
{
	struct engine *e = test_open(&(struct engine_opts){ 0 });
	struct log_reader *r = open_reader(e, 0);
	struct log_entry entry;
	struct fault f = { 0 };
	uint64_t lsn;

	cr_assert_not(next(r, &entry));
	engine_begin(e);
	engine_put(e, SLICE_LIT("a"), SLICE_LIT("1"));
	engine_note(e, SLICE_LIT("why"));
	engine_del(e, SLICE_LIT("b"));
	engine_put(e, SLICE_LIT("c"), SLICE_LIT(""));
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	flush(e);
	cr_assert_not(next(r, &entry), "seen before it is published");
	engine_publish(e);
	cr_assert(next(r, &entry));
	cr_assert_eq(entry.lsn, 1);
	cr_assert_gt(entry.time_ms, 1600000000000u);
	cr_assert(slice_eq(entry.note, SLICE_LIT("why")));
	cr_assert_eq(entry.changes, 3);
	cr_assert(slice_eq(entry.change[0].key, SLICE_LIT("a")) && slice_eq(entry.change[0].value, SLICE_LIT("1")));
	cr_assert(slice_eq(entry.change[1].key, SLICE_LIT("b")) && !slice_present(entry.change[1].value));
	cr_assert(slice_present(entry.change[2].value) && entry.change[2].value.n == 0);
	cr_assert_not(next(r, &entry));
	log_reader_close(&r);
	engine_close(&e);
}

/* What a value goes on with is in the log once, if it has just been put. */
Test(log, tails_are_logged_once)
{
	static uint8_t bytes[1000];
	struct engine *e = test_open(&(struct engine_opts){ 0 });
	struct log_reader *r = open_reader(e, 0);
	struct slice tail = slice_of(bytes, sizeof bytes);
	struct log_entry entry;
	struct fault f = { 0 };
	uint64_t lsn;

	for (unsigned same = 0; same < 2; same++) {
		memset(bytes, 'x', sizeof bytes);
		engine_begin(e);
		engine_put(e, SLICE_LIT("a"), tail);
		engine_del(e, SLICE_LIT("b"));
		bytes[500] = same ? 'x' : 'y';
		engine_put_tail(e, SLICE_LIT("c"), SLICE_LIT("head"), tail);
		engine_put_tail(e, SLICE_LIT("d"), SLICE_LIT(""), tail);
		cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
		flush(e);
		engine_publish(e);
		cr_assert(next(r, &entry));
		cr_assert_eq(entry.changes, 4);
		cr_assert_eq(entry.change[2].value.n, 4 + sizeof bytes);
		cr_assert_eq(memcmp(entry.change[2].value.p, "head", 4), 0);
		cr_assert_eq(memcmp(entry.change[2].value.p + 4, bytes, sizeof bytes), 0);
		cr_assert(slice_eq(entry.change[3].value, tail));
		cr_assert(same ? entry.bytes < 1200 : entry.bytes > 3000, "%zu", entry.bytes);
	}
	/* Not beyond its transaction. */
	engine_begin(e);
	engine_put_tail(e, SLICE_LIT("c"), SLICE_LIT("head"), tail);
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	flush(e);
	engine_publish(e);
	cr_assert(next(r, &entry));
	cr_assert_gt(entry.bytes, 1000);
	log_reader_close(&r);
	engine_close(&e);
}

/* Many segments, several batches each; a reader that begins anywhere sees all that follows. */
static void follow(const char *where)
{
	enum { N = 600 };
	struct engine_opts o = test_opts(where);
	struct engine *e = test_open(&o);
	struct log_reader *live = open_reader(e, 0);
	struct log_entry entry;

	engine_retain(e, 3, 0);
	for (uint64_t i = 1; i <= N; i++) {
		put(e, i, i % 50 == 0 ? 90000 : i % 900);
		if (i % 3 == 0) {
			flush(e);
			engine_publish(e);
		}
	}
	for (uint64_t i = 1; i <= N; i++) {
		cr_assert(next(live, &entry));
		cr_assert_eq(entry.lsn, i);
	}
	cr_assert_not(next(live, &entry));
	log_reader_close(&live);
	if (where != NULL) {
		test_wait_checkpoint(e);
		engine_close(&e);
		e = test_open(&o);
	} else {
		cr_assert_eq(engine_oldest(e), 0);
	}
	engine_retain(e, 3, 0);
	uint64_t oldest = engine_oldest(e);

	for (uint64_t from = oldest; from <= N; from += 37) {
		struct log_reader *r = open_reader(e, from);

		for (uint64_t i = from + 1; i <= N; i++) {
			cr_assert(next(r, &entry));
			cr_assert_eq(entry.lsn, i);
			cr_assert_eq(entry.change[0].value.n, i % 50 == 0 ? 90000 : i % 900);
		}
		cr_assert_not(next(r, &entry));
		log_reader_close(&r);
	}
	engine_close(&e);
}

Test(log, follow_files)
{
	follow(dir);
}

Test(log, follow_ephemeral)
{
	follow(NULL);
}

Test(log, segments_go_when_nobody_needs_them)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	struct engine_stats s;
	struct fault f = { 0 };
	struct log_reader *r;
	uint64_t i = 0;

	engine_retain(e, 0, 100);
	for (; i < 3000;) {
		put(e, ++i, 1000);
		flush(e);
		engine_publish(e);
	}
	test_wait_checkpoint(e);
	cr_assert_leq(engine_oldest(e), 100);
	r = open_reader(e, 100);
	log_reader_close(&r);
	engine_retain(e, 0, UINT64_MAX);
	for (unsigned n = 0; n < 400 && engine_oldest(e) <= 100; n++)
		usleep(10000);
	cr_assert_gt(engine_oldest(e), 100);
	cr_assert_eq(log_reader_open(e, 100, &r, &f), ERR_TRIMMED_DATA);
	for (; i < 9000;) {
		put(e, ++i, 1000);
		flush(e);
		engine_publish(e);
	}
	test_wait_checkpoint(e);
	engine_stats(e, &s);
	for (unsigned n = 0; n < 400 && s.log_bytes > 4 * o.overlay_bytes; n++) {
		usleep(10000);   /* until the keeper's turn */
		engine_stats(e, &s);
	}
	cr_assert_leq(s.log_bytes, 4 * o.overlay_bytes, "%llu bytes of log", (unsigned long long)s.log_bytes);
	engine_close(&e);
}

Test(log, time_keeps_segments)
{
	struct engine_opts o = test_opts(dir);

	o.log_keep_seconds = 3600;
	struct engine *e = test_open(&o);

	for (uint64_t i = 1; i <= 2000; i++) {
		put(e, i, 1000);
		flush(e);
		engine_publish(e);
	}
	test_wait_checkpoint(e);
	usleep(1200000);
	cr_assert_eq(engine_oldest(e), 0);
	engine_close(&e);
}

Test(log, a_consumer_that_starts_finds_what_it_has_not_seen)
{
	struct engine_opts o = test_opts(dir);

	o.consumers = 1;
	struct engine *e = test_open(&o);
	struct log_entry entry;

	for (unsigned life = 0; life < 2; life++) {
		for (uint64_t i = 1; i <= 500; i++)
			test_put(e, "a", "some value");
		test_wait_checkpoint(e);
		engine_close(&e);
		e = test_open(&o);
		usleep(1200000);
		cr_assert_eq(engine_oldest(e), 0);
	}
	struct log_reader *r = open_reader(e, 0);

	for (uint64_t i = 1; i <= 1000; i++) {
		cr_assert(next(r, &entry));
		cr_assert_eq(entry.lsn, i);
	}
	log_reader_close(&r);
	engine_close(&e);
}

Test(log, failed_batches_are_not_seen)
{
	struct engine_opts o = test_opts(dir);
	struct engine *e = test_open(&o);
	struct log_reader *r = open_reader(e, 0);
	struct log_entry entry;
	struct fault f = { 0 };

	put(e, 1, 10);
	flush(e);
	engine_publish(e);
	failpoint_arm(FAILPOINT_LOG_SYNC, &(struct failpoint_plan){ .error = 5, .times = 1 });
	put(e, 2, 5000);
	cr_assert_eq(engine_flush(e, &f), ERR_IO);
	cr_assert(next(r, &entry));
	cr_assert_not(next(r, &entry));
	put(e, 3, 10);
	flush(e);
	engine_publish(e);
	cr_assert(next(r, &entry));
	cr_assert_eq(entry.lsn, 3);
	cr_assert_not(next(r, &entry));
	log_reader_close(&r);
	engine_close(&e);
}

static uint64_t heard;

static void hear(void *arg, uint64_t lsn)
{
	*(uint64_t *)arg = lsn;
}

Test(log, listener)
{
	struct engine *e = test_open(&(struct engine_opts){ 0 });

	engine_on_publish(e, hear, &heard);
	test_put(e, "a", "1");
	cr_assert_eq(heard, 1);
	engine_on_publish(e, NULL, NULL);
	test_put(e, "a", "2");
	cr_assert_eq(heard, 1);
	engine_close(&e);
}
