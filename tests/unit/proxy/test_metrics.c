/* test_metrics - bounds of the histogram, and the sum of several workers as text. */
#include <criterion/criterion.h>

#include "proxy/metrics.h"

Test(metrics, buckets)
{
	unsigned last = 0;

	for (uint64_t ns = 0; ns < (UINT64_C(1) << 36); ns += 1 + ns / 64) {
		unsigned b = hist_bucket(ns);

		cr_assert(b >= last && b < HIST_BUCKETS);
		cr_assert(ns < hist_bound(b), "%llu in %u", (unsigned long long)ns, b);
		cr_assert(b == 0 || ns >= hist_bound(b - 1));
		/* no more than an eighth of its value wide */
		cr_assert(b < 16 || hist_bound(b) - hist_bound(b - 1) <= hist_bound(b) / 8);
		last = b;
	}
	cr_assert_eq(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
}

static void has(const struct buf *b, const char *text)
{
	cr_assert(memmem(b->p, b->n, text, strlen(text)) != NULL, "%s", text);
}

Test(metrics, sum_of_workers)
{
	struct metrics *m[2] = { metrics_new(), metrics_new() };
	struct buf out;

	buf_init(&out);
	metrics_observe(m[0], OP_GetItem, ERR_OK, 1, 2000, 16);
	metrics_observe(m[1], OP_GetItem, ERR_OK, 2, 3000000, 1);
	metrics_observe(m[1], OP_GetItem, ERR_VALIDATION, 0, 5000, 2);
	metrics_count(m[0], METRIC_BYTES_IN, 5);
	metrics_count(m[1], METRIC_BYTES_IN, 6);
	metric_add(&m[1]->outcome[CONN_WRITE_DEADLINE], 3);
	metrics_write(&out, m, 2);
	has(&out, "\ndynax_requests_total{op=\"GetItem\"} 19\n");
	has(&out, "\ndynax_request_errors_total{op=\"GetItem\",type=\"ValidationException\",code=\"1\"} 2\n");
	has(&out, "\ndynax_answers_total{op=\"GetItem\",cache=\"hit\"} 16\n");
	has(&out, "\ndynax_bytes_received_total 11\n");
	has(&out, "\ndynax_connections_closed_total{outcome=\"write_deadline\"} 3\n");
	has(&out, "dynax_request_seconds_bucket{op=\"GetItem\",le=\"4.096e-06\"} 16\n");
	has(&out, "dynax_request_seconds_bucket{op=\"GetItem\",le=\"+Inf\"} 19\n");
	cr_assert(memmem(out.p, out.n, "PutItem", 7) == NULL);
	buf_release(&out);
	metrics_free(&m[0]);
	metrics_free(&m[1]);
	cr_assert_null(m[0]);
}
