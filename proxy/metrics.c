/* metrics - see metrics.h. Sums over workers, and how they are written. */
#include "proxy/metrics.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const conn_outcome_name[] = {
#define X(sym, name, what) name,
	CONN_OUTCOMES(X)
#undef X
};

static const struct {
	const char *name, *help;
} counter_info[] = {
#define X(sym, name, help) { name, help },
	METRIC_COUNTERS(X)
#undef X
};

static const char *const cache_name[] = { "none", "hit", "miss", "bypass" };

struct metrics *metrics_new(void)
{
	/* A worker's cells share no cache line with another's. */
	size_t n = (sizeof(struct metrics) + 63) & ~(size_t)63;
	struct metrics *m = aligned_alloc(64, n);

	if (m != NULL)
		memset(m, 0, n);
	return m;
}

void metrics_free(struct metrics **m)
{
	free(*m);
	*m = NULL;
}

unsigned hist_bucket(uint64_t ns)
{
	unsigned top, b;

	if (ns < (1u << HIST_SUB_BITS))
		return (unsigned)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	b = ((top - HIST_SUB_BITS + 1) << HIST_SUB_BITS) + (unsigned)((ns >> (top - HIST_SUB_BITS)) & ((1u << HIST_SUB_BITS) - 1));
	return b < HIST_BUCKETS ? b : HIST_BUCKETS - 1;
}

uint64_t hist_bound(unsigned b)
{
	unsigned shift = b >> HIST_SUB_BITS, sub = b & ((1u << HIST_SUB_BITS) - 1);

	if (shift == 0)
		return b + 1;
	return (uint64_t)((1u << HIST_SUB_BITS) + sub + 1) << (shift - 1);
}

void metrics_observe(struct metrics *m, enum op op, enum err e, uint8_t cache, uint64_t ns, uint64_t n)
{
	struct metrics_op *o = &m->op[op];

	metric_add(&o->requests, n);
	metric_add(&o->latency_sum_ns, ns * n);
	metric_add(&o->latency[hist_bucket(ns)], n);
	if (e != ERR_OK)
		metric_add(&o->errors[e], n);
	else
		metric_add(&o->cache[cache & 3], n);
}

/* ---- Prometheus text ---- */

/* Sum of the cell that lies `at` bytes into each. */
static uint64_t total(struct metrics *const *m, unsigned n, size_t at)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += atomic_load_explicit((metric_cell *)(void *)((char *)m[i] + at), memory_order_relaxed);
	return sum;
}

static void write_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_counters(struct buf *out, struct metrics *const *m, unsigned n)
{
	for (unsigned i = 0; i < METRIC_COUNTER_COUNT; i++) {
		write_head(out, counter_info[i].name, "counter", counter_info[i].help);
		buf_printf(out, "%s %" PRIu64 "\n", counter_info[i].name, total(m, n, offsetof(struct metrics, counter[i])));
	}
	write_head(out, "dynax_connections", "gauge", "connections open now");
	buf_printf(out, "dynax_connections %" PRIu64 "\n", total(m, n, offsetof(struct metrics, connections)));
	write_head(out, "dynax_connections_closed_total", "counter", "connections closed, by how they ended");
	for (unsigned i = 0; i < CONN_OUTCOME_COUNT; i++)
		buf_printf(out, "dynax_connections_closed_total{outcome=\"%s\"} %" PRIu64 "\n", conn_outcome_name[i],
			total(m, n, offsetof(struct metrics, outcome[i])));
}

static size_t op_at(unsigned op)
{
	return offsetof(struct metrics, op) + op * sizeof(struct metrics_op);
}

static void write_requests(struct buf *out, struct metrics *const *m, unsigned n)
{
	write_head(out, "dynax_requests_total", "counter", "requests carried out");
	for (unsigned op = 0; op < OP_COUNT; op++) {
		uint64_t v = total(m, n, op_at(op) + offsetof(struct metrics_op, requests));

		if (v != 0)
			buf_printf(out, "dynax_requests_total{op=\"%s\"} %" PRIu64 "\n", op_info[op].name, v);
	}
	write_head(out, "dynax_request_errors_total", "counter", "requests that failed, by error type");
	for (unsigned op = 0; op < OP_COUNT; op++)
		for (unsigned e = 1; e < ERR_COUNT; e++) {
			uint64_t v = total(m, n, op_at(op) + offsetof(struct metrics_op, errors) + e * sizeof(metric_cell));

			if (v != 0)
				buf_printf(out, "dynax_request_errors_total{op=\"%s\",type=\"%s\",code=\"%u\"} %" PRIu64 "\n",
					op_info[op].name, err_type((enum err)e), e, v);
		}
	write_head(out, "dynax_answers_total", "counter", "answers, by where they came from");
	for (unsigned op = 0; op < OP_COUNT; op++)
		for (unsigned k = 0; k < 4; k++) {
			uint64_t v = total(m, n, op_at(op) + offsetof(struct metrics_op, cache) + k * sizeof(metric_cell));

			if (v != 0)
				buf_printf(out, "dynax_answers_total{op=\"%s\",cache=\"%s\"} %" PRIu64 "\n", op_info[op].name,
					cache_name[k], v);
		}
}

/* One operation's histogram. Every second power of two is a bound: the scraper gets 20 lines, not 320. */
static void write_latency(struct buf *out, struct metrics *const *m, unsigned n, unsigned op)
{
	uint64_t seen = 0, requests = total(m, n, op_at(op) + offsetof(struct metrics_op, requests));
	const char *name = op_info[op].name;

	if (requests == 0)
		return;
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		uint64_t bound = hist_bound(b);

		seen += total(m, n, op_at(op) + offsetof(struct metrics_op, latency) + b * sizeof(metric_cell));
		if ((bound & (bound - 1)) == 0 && bound >= 1024 && __builtin_ctzll(bound) % 2 == 0 && bound <= (1ull << 36))
			buf_printf(out, "dynax_request_seconds_bucket{op=\"%s\",le=\"%.9g\"} %" PRIu64 "\n", name,
				(double)bound * 1e-9, seen);
	}
	buf_printf(out, "dynax_request_seconds_bucket{op=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, seen);
	buf_printf(out, "dynax_request_seconds_sum{op=\"%s\"} %.9f\n", name,
		(double)total(m, n, op_at(op) + offsetof(struct metrics_op, latency_sum_ns)) * 1e-9);
	buf_printf(out, "dynax_request_seconds_count{op=\"%s\"} %" PRIu64 "\n", name, seen);
}

void metrics_write(struct buf *out, struct metrics *const *m, unsigned n)
{
	write_counters(out, m, n);
	write_requests(out, m, n);
	write_head(out, "dynax_request_seconds", "histogram", "from a request's last byte to its answer");
	for (unsigned op = 0; op < OP_COUNT; op++)
		write_latency(out, m, n, op);
}
