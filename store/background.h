/* background - what threads share that work beside the requests: they read keys in pages, and write like everybody else.
 *
 *    thread:  key_page --> own_write_run ... waits ...      writer:  apply, in its place in the queue
 *
 * Threads: an own_write belongs to one thread, which must not be the writer. */
#ifndef DYNAX_STORE_BACKGROUND_H
#define DYNAX_STORE_BACKGROUND_H

#include <pthread.h>

#include "store/write_plan.h"

struct own_write {
	struct store *store;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;                   /* under lock */
};
void own_write_init(struct own_write *o, struct store *s);
void own_write_release(struct own_write *o);
/* Have the writer run apply, which finds `control` in the plan, and wait until what it did is durable. The arena must
 * not be used meanwhile by anyone else. */
enum err own_write_run(struct own_write *o, struct arena *a, enum err (*apply)(struct write_batch *b, struct store_write *w),
	void *control) __attribute__((warn_unused_result));

/* Copy up to max keys from [from, to) of a fresh view; `from` moves behind the last one. n < max: there are no more. */
enum err key_page(struct engine *e, struct buf *from, struct slice to, struct arena *a, struct slice *key, unsigned max,
	unsigned *n, struct fault *f) __attribute__((warn_unused_result));

#endif
