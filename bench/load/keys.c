/* keys - which key comes next: uniform, or Zipfian by the method of Gray et al., "Quickly generating billion-record
 * synthetic databases" (SIGMOD 1994). Ranks are spread over the keys, so that neighbours are not hot together. */
#include "bench/load/load_int.h"

#include <math.h>

#define SPREAD 2654435761u

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static double zeta(uint64_t n, double theta)
{
	double sum = 0;

	for (uint64_t i = 1; i <= n; i++)
		sum += pow(1.0 / (double)i, theta);
	return sum;
}

void keys_init(struct keys *k, uint64_t n, double theta, uint64_t seed)
{
	*k = (struct keys){ .n = n, .state = seed, .theta = theta };
	if (theta <= 0)
		return;
	k->alpha = 1.0 / (1.0 - theta);
	k->zeta_n = zeta(n, theta);
	k->eta = (1 - pow(2.0 / (double)n, 1 - theta)) / (1 - zeta(2, theta) / k->zeta_n);
}

double keys_chance(struct keys *k)
{
	return (double)(next(&k->state) >> 11) * 0x1p-53;
}

static uint64_t zipf_rank(struct keys *k)
{
	double u = keys_chance(k), uz = u * k->zeta_n;
	uint64_t rank;

	if (uz < 1.0)
		return 0;
	if (uz < 1.0 + pow(0.5, k->theta))
		return 1;
	rank = (uint64_t)((double)k->n * pow(k->eta * u - k->eta + 1, k->alpha));
	return rank < k->n ? rank : k->n - 1;
}

uint64_t keys_next(struct keys *k)
{
	if (k->theta <= 0)
		return next(&k->state) % k->n;
	return zipf_rank(k) * SPREAD % k->n;
}

void keys_name(uint64_t key, char out[KEY_BYTES])
{
	out[0] = 'k';
	for (int i = KEY_BYTES - 1; i > 0; i--, key /= 10)
		out[i] = (char)('0' + key % 10);
}
