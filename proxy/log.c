/* log - see log.h. A line is put together on the stack, and cut if it is too long. */
#include "proxy/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "protocol/monotonic.h"

enum { LINE_MAX_BYTES = 1024 };

const char *const log_level_name[LOG_LEVELS] = { "error", "warn", "info", "debug", "trace" };

static _Atomic int level = LOG_INFO;

void log_set_level(enum log_level l)
{
	atomic_store_explicit(&level, (int)l, memory_order_relaxed);
}

bool log_on(enum log_level l)
{
	return (int)l <= atomic_load_explicit(&level, memory_order_relaxed);
}

void log_line(enum log_level l, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	struct timespec ts;
	struct tm tm;
	va_list ap;
	size_t n;
	int more;

	if (!log_on(l))
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &tm);
	n += (size_t)snprintf(line + n, sizeof(line) - n, ".%03ldZ %s: ", ts.tv_nsec / 1000000, log_level_name[l]);
	va_start(ap, fmt);
	more = vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	if (more > 0)
		n += (size_t)more;
	if (n > sizeof(line) - 1)
		n = sizeof(line) - 1;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nobody to tell */
}

bool log_gate_open(struct log_gate *g)
{
	uint64_t now = monotonic_ns(), next = atomic_load_explicit(&g->next_ns, memory_order_relaxed);

	return now >= next && atomic_compare_exchange_strong(&g->next_ns, &next, now + 1000000000u);
}
