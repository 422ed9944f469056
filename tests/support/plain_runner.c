/* plain_runner - runs Criterion's tests without Criterion's runner, under the thread sanitizer.
 *
 * Criterion hands tests to their processes through shared memory at addresses of its own choice. The thread sanitizer keeps
 * most of the address space for itself, so that this fails, or crashes. Here each test runs in a plain fork; the few functions
 * that Criterion's macros call are ours, and win over the library's at link. Fixtures work; parameters do not. */
#include "tests/support/sanitized.h"

#include <criterion/criterion.h>

#if UNDER_THREAD_SANITIZER
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEST_SECONDS = 240 };

/* The sections in which Criterion's macros list tests and suites; the linker names their ends. There may be no suite. */
extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)), *__stop_cr_sts[] __attribute__((weak));

void criterion_send_assert(struct criterion_assert_stats *stats)
{
	if (!stats->passed)
		fprintf(stderr, "%s:%u: assertion failed: %s\n", stats->file, stats->line, stats->message);
}

void cr_log(enum criterion_severity severity, const char *msg, ...)
{
	va_list ap;

	(void)severity;
	va_start(ap, msg);
	vfprintf(stderr, msg, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void criterion_abort_test(void)
{
	_exit(EXIT_FAILURE);
}

void criterion_internal_test_setup(void)
{
}

void criterion_internal_test_teardown(void)
{
}

void criterion_internal_test_main(void (*fn)(void))
{
	fn();
}

static void call(void (*fixture)(void))
{
	if (fixture != NULL)
		fixture();
}

/* The fixtures of its suite, or none. */
static const struct criterion_test_extra_data *suite_of(const struct criterion_test *t)
{
	static const struct criterion_test_extra_data none;

	for (struct criterion_suite **s = __start_cr_sts; s < __stop_cr_sts; s++)
		if (*s != NULL && (*s)->data != NULL && strcmp((*s)->name, t->category) == 0)
			return (*s)->data;
	return &none;
}

static void run_here(const struct criterion_test *t)
{
	const struct criterion_test_extra_data *suite = suite_of(t);

	alarm(TEST_SECONDS);
	call(suite->init);
	call(t->data->init);
	t->test();
	call(t->data->fini);
	call(suite->fini);
	exit(EXIT_SUCCESS);
}

/* ---- the processes ---- */

enum { RUNNING_MAX = 16, SLOW_SECONDS = 5 };

struct running {
	const struct criterion_test *test;
	pid_t pid;
	time_t since;
};

struct runner {
	struct running at[RUNNING_MAX];
	unsigned n, allowed;
	unsigned tested, failed;
};

static void start(struct runner *r, const struct criterion_test *t)
{
	pid_t pid = fork();

	if (pid == 0)
		run_here(t);
	r->tested++;
	if (pid < 0) {
		perror("fork");
		r->failed++;
		return;
	}
	r->at[r->n++] = (struct running){ .test = t, .pid = pid, .since = time(NULL) };
}

/* Wait for one of them. */
static void reap(struct runner *r)
{
	int status = -1;
	pid_t pid = wait(&status);
	unsigned i = 0;

	while (i < r->n && r->at[i].pid != pid)
		i++;
	if (i == r->n)
		return;
	const struct criterion_test *t = r->at[i].test;
	long seconds = (long)(time(NULL) - r->at[i].since);

	if (status != 0)
		fprintf(stderr, "[FAIL] %s::%s: status %d after %ld s\n", t->category, t->name, status, seconds);
	else if (seconds >= SLOW_SECONDS)
		fprintf(stderr, "[slow] %s::%s: %ld s\n", t->category, t->name, seconds);
	r->failed += status != 0;
	r->at[i] = r->at[--r->n];
}

/* Of the options of Criterion's runner, -jN. */
int main(int argc, char **argv)
{
	struct runner r = { .allowed = 1 };

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "-j", 2) == 0 && atoi(argv[i] + 2) > 0)
			r.allowed = (unsigned)atoi(argv[i] + 2);
	if (r.allowed > RUNNING_MAX)
		r.allowed = RUNNING_MAX;
	for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++) {
		if (*t == NULL || (*t)->data->disabled)
			continue;
		while (r.n == r.allowed)
			reap(&r);
		start(&r, *t);
	}
	while (r.n > 0)
		reap(&r);
	fprintf(stderr, "[====] Synthesis: Tested: %u | Passing: %u | Failing: %u\n", r.tested, r.tested - r.failed, r.failed);
	return r.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
#endif
