/* history - see history.h. */
#include "tests/integration/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOLD_MAX = 5 };

struct zone {
	uint64_t value;
	int64_t low, high;
	bool forward;
};

static void *must(void *p)
{
	if (p == NULL) {
		fputs("out of memory\n", stderr);
		exit(2);
	}
	return p;
}

static void reserve(struct history *h, size_t more)
{
	if (h->n + more <= h->cap)
		return;
	h->cap = (h->n + more) * 2;
	h->op = must(realloc(h->op, h->cap * sizeof(*h->op)));
}

void history_add(struct history *h, struct history_op op)
{
	reserve(h, 1);
	h->op[h->n++] = op;
}

void history_merge(struct history *a, const struct history *b)
{
	reserve(a, b->n);
	if (b->n != 0)
		memcpy(a->op + a->n, b->op, b->n * sizeof(*b->op));
	a->n += b->n;
}

void history_release(struct history *h)
{
	free(h->op);
	*h = (struct history){ 0 };
}

int64_t history_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* By key, then value, the write first. */
static int by_value(const void *pa, const void *pb)
{
	const struct history_op *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return b->write - a->write;
}

static int by_low(const void *pa, const void *pb)
{
	const struct zone *a = pa, *b = pb;

	return (a->low > b->low) - (a->low < b->low);
}

/* The zone of n operations on one value; false if one of them is impossible by itself. */
static bool zone_of(const struct history_op *op, size_t n, struct zone *z)
{
	int64_t first_end = INT64_MAX, last_begin = INT64_MIN, written = INT64_MIN;

	if (op->value == 0)
		first_end = INT64_MIN;       /* written before time began */
	else if (op->write)
		written = op->asked;
	else
		return false;                /* nobody wrote it */
	for (size_t i = 0; i < n; i++) {
		if (op[i].answered < written || (i > 0 && op[i].write))
			return false;
		if (op[i].answered < first_end)
			first_end = op[i].answered;
		if (op[i].asked > last_begin)
			last_begin = op[i].asked;
	}
	*z = (struct zone){ .value = op->value, .forward = first_end < last_begin,
		.low = first_end < last_begin ? first_end : last_begin,
		.high = first_end < last_begin ? last_begin : first_end };
	return true;
}

/* Two zones that cannot be: pointers to them, or NULL. Forward zones do not overlap up to the one in hand, so that only the
 * last one begun can hold a backward zone. */
static bool zones_fit(struct zone *z, size_t n, const struct zone **a, const struct zone **b)
{
	const struct zone *last = NULL;

	qsort(z, n, sizeof(*z), by_low);
	for (size_t i = 0; i < n; i++) {
		if (last != NULL && z[i].low > last->low && (z[i].forward ? z[i].low < last->high : z[i].high < last->high)) {
			*a = last;
			*b = &z[i];
			return false;
		}
		if (z[i].forward)
			last = &z[i];
	}
	return true;
}

static bool key_fits(const struct history_op *op, size_t n, struct zone *zone, size_t told)
{
	const struct zone *a, *b;
	size_t zones = 0;

	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && op[i + run].value == op[i].value; run++)
			;
		if (!zone_of(&op[i], run, &zone[zones++])) {
			if (told < TOLD_MAX)
				fprintf(stderr, "key %" PRIu64 ": value %" PRIu64 " was seen before it was written, or never was\n",
					op->key, op[i].value);
			return false;
		}
	}
	if (zones_fit(zone, zones, &a, &b))
		return true;
	if (told < TOLD_MAX)
		fprintf(stderr, "key %" PRIu64 ": value %" PRIu64 " must have held from %" PRId64 " to %" PRId64
			", but %" PRIu64 " is between, from %" PRId64 " to %" PRId64 "\n",
			op->key, a->value, a->low, a->high, b->value, b->low, b->high);
	return false;
}

size_t history_check(struct history *h)
{
	struct zone *zone = must(malloc((h->n + 1) * sizeof(*zone)));
	size_t bad = 0;

	if (h->n != 0)
		qsort(h->op, h->n, sizeof(*h->op), by_value);
	for (size_t i = 0, run; i < h->n; i += run) {
		for (run = 1; i + run < h->n && h->op[i + run].key == h->op[i].key; run++)
			;
		bad += !key_fits(&h->op[i], run, zone, bad);
	}
	free(zone);
	return bad;
}
