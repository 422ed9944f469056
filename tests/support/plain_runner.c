/* plain_runner - runs Criterion's tests without Criterion's runner, under the thread sanitizer.
 *
 * Criterion hands tests to their processes through shared memory at addresses of its own choice. The thread sanitizer keeps
 * most of the address space for itself, so that this fails, or crashes. Here each test runs in a plain fork; the few functions
 * that Criterion's macros call are ours, and win over the library's at link. Fixtures work; parameters do not. */
#if defined(__SANITIZE_THREAD__)
#define PLAIN_RUNNER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLAIN_RUNNER 1
#endif
#endif

#include <criterion/criterion.h>

#ifdef PLAIN_RUNNER
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static bool run(const struct criterion_test *t)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		run_here(t);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (status != 0)
		fprintf(stderr, "FAILED: %s::%s (status %d)\n", t->category, t->name, status);
	return status == 0;
}

int main(void)
{
	unsigned tested = 0, failed = 0;

	for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++) {
		if (*t == NULL || (*t)->data->disabled)
			continue;
		tested++;
		failed += !run(*t);
	}
	fprintf(stderr, "[====] plain runner: tested: %u | failing: %u\n", tested, failed);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
#endif
