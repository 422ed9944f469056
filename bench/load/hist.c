/* hist - a log-linear histogram: 128 buckets for each power of two, so that a bucket is under 1 % wide. */
#include "bench/load/load_int.h"

enum { SUB = 1 << HIST_SUB_BITS };

static unsigned bucket_of(uint64_t ns)
{
	unsigned shift, i;

	if (ns < SUB)
		return (unsigned)ns;
	shift = 63u - (unsigned)__builtin_clzll(ns) - HIST_SUB_BITS;
	i = ((shift + 1) << HIST_SUB_BITS) + (unsigned)((ns >> shift) - SUB);
	return i < HIST_BUCKETS ? i : HIST_BUCKETS - 1;
}

/* The middle of a bucket. */
static uint64_t value_of(unsigned i)
{
	unsigned shift;

	if (i < SUB)
		return i;
	shift = (i >> HIST_SUB_BITS) - 1;
	return (((uint64_t)(i & (SUB - 1)) + SUB) << shift) + ((1ull << shift) >> 1);
}

void hist_add(struct hist *h, uint64_t ns)
{
	h->count[bucket_of(ns)]++;
	h->n++;
	if (ns > h->max)
		h->max = ns;
}

uint64_t hist_at(const struct hist *h, double share)
{
	uint64_t seen = 0, rank = (uint64_t)(share * (double)h->n);

	if (h->n == 0)
		return 0;
	if (rank >= h->n)
		rank = h->n - 1;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		seen += h->count[i];
		if (seen > rank)
			return value_of(i) < h->max ? value_of(i) : h->max;
	}
	return h->max;
}
