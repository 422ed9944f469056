/* log - lines on stderr, by level, each with its time.
 *
 * One process-wide level: a daemon has one stderr. It is atomic, so that a reload may change it while others log.
 *
 * Threads: any. A line is one write, so lines do not mix. */
#ifndef DYNAX_PROXY_LOG_H
#define DYNAX_PROXY_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE, LOG_LEVELS };

extern const char *const log_level_name[LOG_LEVELS];

void log_set_level(enum log_level l);
bool log_on(enum log_level l);
void log_line(enum log_level l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* At most one line a second from one place; true if it may speak now. */
struct log_gate {
	_Atomic uint64_t next_ns;
};
bool log_gate_open(struct log_gate *g);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
/* Arguments are not evaluated when nobody listens: these stand on busy paths. */
#define log_debug(...) (log_on(LOG_DEBUG) ? log_line(LOG_DEBUG, __VA_ARGS__) : (void)0)
#define log_trace(...) (log_on(LOG_TRACE) ? log_line(LOG_TRACE, __VA_ARGS__) : (void)0)

#endif
