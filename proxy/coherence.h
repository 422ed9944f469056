/* coherence - what the store's observer does to the caches, in E1's order (epoch.h).
 *
 *    store: before a batch is visible --begin--> epochs odd
 *           after                     --end----> item cache mended, epochs even
 *
 * Threads: the store's writer. Ownership: borrows what it is given. */
#ifndef DYNAX_PROXY_COHERENCE_H
#define DYNAX_PROXY_COHERENCE_H

#include "proxy/item_cache.h"

struct coherence {
	struct epochs *epochs;
	struct item_cache *items;      /* NULL = off */
};

/* For store_opts.observer. c must outlive the store. */
struct store_observer coherence_observer(struct coherence *c);

#endif
