/* coherence - see coherence.h. */
#include "proxy/coherence.h"

#include "protocol/monotonic.h"

static void begin(void *arg, const struct store_change *c, size_t n)
{
	struct coherence *co = arg;

	epochs_begin(co->epochs, c, n);
}

static void end(void *arg, const struct store_change *c, size_t n)
{
	struct coherence *co = arg;

	item_cache_apply(co->items, c, n, monotonic_ns());
	epochs_end(co->epochs, c, n);
}

struct store_observer coherence_observer(struct coherence *c)
{
	return (struct store_observer){ .begin = begin, .end = end, .arg = c };
}
