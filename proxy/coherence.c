/* coherence - see coherence.h. */
#include "proxy/coherence.h"

#include <time.h>

static void begin(void *arg, const struct store_change *c, size_t n)
{
	struct coherence *co = arg;

	epochs_begin(co->epochs, c, n);
}

static void end(void *arg, const struct store_change *c, size_t n)
{
	struct coherence *co = arg;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	item_cache_apply(co->items, c, n, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
	epochs_end(co->epochs, c, n);
}

struct store_observer coherence_observer(struct coherence *c)
{
	return (struct store_observer){ .begin = begin, .end = end, .arg = c };
}
