/* metrics - counters of one worker, and the sum of all in Prometheus' text format.
 *
 * Each worker owns one `struct metrics` and is its only writer; readers on other threads load the same cells. So a count
 * costs a plain add, without a lock prefix.
 *
 * Latencies go to log-linear buckets: eight to each power of two of nanoseconds, so that a quantile is off by 12 % at most.
 *
 * Threads: metrics_* (count, observe) by the owner; metrics_write by any, while the owners run. */
#ifndef DYNAX_PROXY_METRICS_H
#define DYNAX_PROXY_METRICS_H

#include <stdatomic.h>

#include "protocol/op.h"

/* How a connection ended. X(symbol, name, what happened) */
#define CONN_OUTCOMES(X) \
	X(PEER_CLOSED, "peer_closed", "the peer closed between requests") \
	X(FINISHED, "finished", "closed by us after the last answer") \
	X(TRUNCATED, "truncated", "the peer closed in the middle of a request") \
	X(RESET, "reset", "a read or write failed") \
	X(IDLE, "idle_limit", "nothing came for the idle limit") \
	X(HEAD_DEADLINE, "head_deadline", "a request's head took too long") \
	X(BODY_DEADLINE, "body_deadline", "a request's body or frame took too long") \
	X(WRITE_DEADLINE, "write_deadline", "the peer did not take its answers") \
	X(BAD_HTTP, "bad_http", "not HTTP") \
	X(HEAD_TOO_LONG, "head_too_long", "an HTTP head beyond its limit") \
	X(BODY_TOO_LONG, "body_too_long", "a body beyond its limit") \
	X(BAD_EXPECT, "bad_expect", "an expectation that we do not know") \
	X(BAD_FRAME, "bad_frame", "not a frame of ours, or too long") \
	X(BAD_GREETING, "bad_greeting", "no greeting, or of another version") \
	X(NO_MEMORY, "no_memory", "no memory for its buffers") \
	X(SHUTDOWN, "shutdown", "the server stopped")

enum conn_outcome {
#define X(sym, name, what) CONN_##sym,
	CONN_OUTCOMES(X)
#undef X
	CONN_OUTCOME_COUNT
};
extern const char *const conn_outcome_name[CONN_OUTCOME_COUNT];

/* Plain counters. X(symbol, metric name, help) */
#define METRIC_COUNTERS(X) \
	X(ACCEPTED_HTTP, "dynax_connections_accepted_http_total", "HTTP connections accepted") \
	X(ACCEPTED_MSGPACK, "dynax_connections_accepted_msgpack_total", "msgpack connections accepted") \
	X(BYTES_IN, "dynax_bytes_received_total", "bytes read from clients") \
	X(BYTES_OUT, "dynax_bytes_sent_total", "bytes written to clients") \
	X(READ_PAUSES, "dynax_read_pauses_total", "times a connection was not read because of its backlog") \
	X(WAKEUPS, "dynax_worker_wakeups_total", "events handled by workers") \
	X(MAILS, "dynax_worker_mails_total", "completions received from other threads") \
	X(ORPHANS, "dynax_orphaned_answers_total", "answers whose connection was gone") \
	X(FAST_HITS, "dynax_fast_hits_total", "GetItem hits that took the shortest way")

enum metric_counter {
#define X(sym, name, help) METRIC_##sym,
	METRIC_COUNTERS(X)
#undef X
	METRIC_COUNTER_COUNT
};

enum { HIST_SUB_BITS = 3, HIST_BUCKETS = (40 << HIST_SUB_BITS) };

typedef _Atomic uint64_t metric_cell;

struct metrics_op {
	metric_cell requests, latency_sum_ns;
	metric_cell errors[ERR_COUNT];
	metric_cell cache[4];                    /* by enum frame_cache */
	metric_cell latency[HIST_BUCKETS];
};

struct metrics {
	metric_cell counter[METRIC_COUNTER_COUNT];
	metric_cell outcome[CONN_OUTCOME_COUNT];
	metric_cell connections;                 /* open now */
	metric_cell ended;                       /* of the sockets that a worker was given */
	struct metrics_op op[OP_COUNT];
};

/* One writer: no read-modify-write instruction is needed. */
static inline void metric_add(metric_cell *c, uint64_t n)
{
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}

static inline void metric_sub(metric_cell *c, uint64_t n)
{
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) - n, memory_order_relaxed);
}

static inline void metrics_count(struct metrics *m, enum metric_counter c, uint64_t n)
{
	metric_add(&m->counter[c], n);
}

struct metrics *metrics_new(void);
void metrics_free(struct metrics **m);

/* n requests of one operation that all took `ns` and ended with `e`. */
void metrics_observe(struct metrics *m, enum op op, enum err e, uint8_t cache, uint64_t ns, uint64_t n);

unsigned hist_bucket(uint64_t ns);
/* The smallest value that no longer belongs to the bucket. */
uint64_t hist_bound(unsigned bucket);

/* Append the sum of n workers' metrics. */
void metrics_write(struct buf *out, struct metrics *const *m, unsigned n);

#endif
