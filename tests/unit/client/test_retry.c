/* test_retry - how long to wait before the next attempt. */
#include "protocol/client/retry.h"

#include <criterion/criterion.h>
#include <limits.h>

Test(retry, waits_double_up_to_their_bound)
{
	static const struct { unsigned first, most, failures, whole; } t[] = {
		{ 20, 1000, 1, 20 }, { 20, 1000, 2, 40 }, { 20, 1000, 6, 640 }, { 20, 1000, 7, 1000 }, { 20, 1000, UINT_MAX, 1000 },
		{ 50, 10, 1, 10 }, { 1u << 31, UINT_MAX, 2, UINT_MAX }, { 3u << 30, UINT_MAX, 3, UINT_MAX }, { 20, UINT_MAX, 40, UINT_MAX },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct dynax_opts o = { .backoff_ms = t[i].first, .backoff_max_ms = t[i].most };
		unsigned wait = retry_wait(&o, t[i].failures);

		cr_assert(wait >= t[i].whole / 2 && wait <= t[i].whole, "%zu: %u", i, wait);
	}
}
