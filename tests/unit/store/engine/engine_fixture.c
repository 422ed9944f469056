/* engine_fixture - see engine_fixture.h. */
#include "tests/unit/store/engine/engine_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void test_dir_make(char dir[TEST_DIR])
{
	snprintf(dir, TEST_DIR, "%s/dynax-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	cr_assert_not_null(mkdtemp(dir));
}

static void each_file(const char *dir, void (*fn)(const char *path, const char *name, void *arg), void *arg)
{
	DIR *d = opendir(dir);
	char path[1024];

	if (d == NULL)
		return;
	for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		fn(path, entry->d_name, arg);
	}
	closedir(d);
}

static void remove_file(const char *path, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	unlink(path);
}

void test_dir_remove(const char *dir)
{
	char log[TEST_DIR + 8];

	snprintf(log, sizeof log, "%s/log", dir);
	each_file(log, remove_file, NULL);
	rmdir(log);
	each_file(dir, remove_file, NULL);
	rmdir(dir);
}

static void copy_file(const char *path, const char *name, void *arg)
{
	static char block[1 << 16];
	char to[1024];
	ssize_t n;

	snprintf(to, sizeof to, "%s/%s", (const char *)arg, name);
	int in = open(path, O_RDONLY);
	struct stat st;

	if (fstat(in, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(in);
		return;
	}
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	while ((n = read(in, block, sizeof block)) > 0)
		cr_assert_eq(write(out, block, (size_t)n), n);
	close(in);
	close(out);
}

void test_dir_copy(const char *from, const char *to)
{
	char log_from[TEST_DIR + 8], log_to[TEST_DIR + 8], top[TEST_DIR];

	snprintf(log_from, sizeof log_from, "%s/log", from);
	snprintf(log_to, sizeof log_to, "%s/log", to);
	snprintf(top, sizeof top, "%s", to);
	each_file(from, copy_file, top);
	mkdir(log_to, 0700);
	each_file(log_from, copy_file, log_to);
}

static void smallest(const char *path, const char *name, void *arg)
{
	char *best = arg;

	(void)name;
	if (best[0] == 0 || strcmp(path, best) < 0)
		memcpy(best, path, strlen(path) + 1);
}

void test_first_segment(const char *dir, char path[TEST_DIR + 32])
{
	char log[TEST_DIR + 8];

	path[0] = 0;
	snprintf(log, sizeof log, "%s/log", dir);
	each_file(log, smallest, path);
	cr_assert_neq(path[0], 0);
}

struct engine_opts test_opts(const char *dir)
{
	return (struct engine_opts){
		.dir = dir, .overlay_bytes = 512 << 10, .segment_bytes = 64 << 10, .map_max_bytes = 256 << 20 };
}

struct engine *test_open(const struct engine_opts *o)
{
	struct arena a;
	struct engine *e;
	struct fault f;

	arena_init(&a, 0);
	fault_init(&f, &a);
	cr_assert_eq(engine_open(o, &e, &f), ERR_OK, "%s", f.text);
	arena_release(&a);
	return e;
}

void test_put(struct engine *e, const char *key, const char *value)
{
	struct fault f = { 0 };
	uint64_t lsn;

	engine_begin(e);
	engine_put(e, slice_str(key), slice_str(value));
	cr_assert_eq(engine_commit(e, &lsn, &f), ERR_OK);
	cr_assert_eq(engine_flush(e, &f), ERR_OK);
	cr_assert_eq(engine_publish(e), lsn);
}

void test_expect(struct engine *e, const char *key, const char *value)
{
	struct fault f = { 0 };
	struct view *v;
	struct slice got;

	cr_assert_eq(view_open(e, &v, &f), ERR_OK);
	cr_assert_eq(view_get(v, slice_str(key), &got, &f), ERR_OK);
	cr_assert_eq(slice_present(got), value != NULL, "%s", key);
	cr_assert(slice_eq(got, slice_str(value)), "%s", key);
	view_close(&v);
}

/* ---- the script ---- */

static void script_change(struct engine *e, struct model *m, uint64_t i, uint64_t *random)
{
	static uint8_t value[3000];
	char key[1200];
	size_t n = (size_t)snprintf(key, sizeof key, "k%02llu", (unsigned long long)(test_random(random) % 60));
	bool del = test_random(random) % 5 == 0;

	if (test_random(random) % 4 == 0) {   /* a long one */
		memset(key + n, 'x', 900);
		n += 900;
	}
	struct slice v = slice_of(value, test_random(random) % sizeof value);

	memset(value, (int)(i & 0xff), v.n);
	if (m != NULL)
		model_set(m, i, slice_of(key, n), del ? SLICE_NONE : v);
	if (e != NULL && del)
		engine_del(e, slice_of(key, n));
	else if (e != NULL)
		engine_put(e, slice_of(key, n), v);
}

/* The number, and once more behind other bytes. */
static void script_seq(struct engine *e, struct model *m, uint64_t i)
{
	uint64_t twice[2] = { 77, i };

	if (m != NULL) {
		model_set(m, i, SLICE_LIT("seq"), slice_of(&i, sizeof i));
		model_set(m, i, SLICE_LIT("twice"), slice_of(twice, sizeof twice));
	}
	if (e != NULL) {
		engine_put(e, SLICE_LIT("seq"), slice_of(&i, sizeof i));
		engine_put_tail(e, SLICE_LIT("twice"), slice_of(twice, sizeof i), slice_of(&i, sizeof i));
	}
}

bool script_batch(struct engine *e, struct model *m, uint64_t i)
{
	uint64_t random = i * 7919, lsn, transactions = 1 + test_random(&random) % 4;
	struct fault f = { 0 };

	for (uint64_t t = 0; t < transactions; t++) {
		uint64_t changes = 1 + test_random(&random) % 3;

		if (e != NULL)
			engine_begin(e);
		for (uint64_t c = 0; c < changes; c++)
			script_change(e, m, i, &random);
		script_seq(e, m, i);
		if (e != NULL && engine_commit(e, &lsn, &f) != ERR_OK)
			return false;
	}
	return true;
}

uint64_t script_check(struct engine *e)
{
	struct model m = { 0 };
	struct fault f = { 0 };
	struct view *v;
	struct cursor *c;
	struct slice seq, key, value;
	uint64_t last = 0;
	size_t keys = 0, expected = 0;

	cr_assert_eq(view_open(e, &v, &f), ERR_OK);
	cr_assert_eq(view_get(v, SLICE_LIT("seq"), &seq, &f), ERR_OK);
	if (slice_present(seq))
		memcpy(&last, seq.p, sizeof last);
	for (uint64_t i = 1; i <= last; i++)
		cr_assert(script_batch(NULL, &m, i));
	for (size_t i = 0; i < m.keys; i++) {
		struct slice k = slice_of(m.key[i].bytes, m.key[i].n), want = model_get(&m, UINT64_MAX, k);

		cr_assert_eq(view_get(v, k, &value, &f), ERR_OK);
		cr_assert_eq(slice_present(value), slice_present(want), "batch %llu", (unsigned long long)last);
		cr_assert(slice_eq(value, want), "batch %llu", (unsigned long long)last);
		expected += slice_present(want);
	}
	cr_assert_eq(cursor_open(v, SLICE_NONE, SLICE_NONE, false, &c, &f), ERR_OK);
	while (cursor_next(c, &key, &value, &f) == ERR_OK && slice_present(key))
		keys++;
	cr_assert_eq(keys, expected);
	cursor_close(&c);
	view_close(&v);
	model_release(&m);
	return last;
}

void test_wait_checkpoint(struct engine *e)
{
	struct engine_stats s;

	for (unsigned i = 0; i < 4000; i++) {
		engine_stats(e, &s);
		if (s.lsn_checkpointed == s.lsn_published)
			return;
		usleep(5000);
	}
	cr_assert_fail("the checkpointer does not catch up: %llu of %llu, map %llu used %llu free %llu, overlay %llu",
		(unsigned long long)s.lsn_checkpointed, (unsigned long long)s.lsn_published,
		(unsigned long long)s.map_bytes, (unsigned long long)s.map_used_bytes,
		(unsigned long long)s.map_free_bytes, (unsigned long long)s.overlay_bytes);
}
