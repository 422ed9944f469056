/* background - what threads share that work beside the requests: they work in rounds, read keys in pages, and write like
 * everybody else.
 *
 *    thread:  rounds_next --> key_page --> own_write_run ... waits ...      writer:  apply, in its place in the queue
 *
 * Threads: an own_write belongs to one thread, which must not be the writer; rounds may be woken from any. */
#ifndef DYNAX_STORE_BACKGROUND_H
#define DYNAX_STORE_BACKGROUND_H

#include <pthread.h>

#include "store/write_plan.h"

/* When a thread begins its next round, and when it stops. */
struct rounds {
	pthread_mutex_t lock;        /* of the rest */
	pthread_cond_t changed;      /* waits go by the monotonic clock */
	bool stopping, due;          /* due: do not wait for the time to pass */
	bool asked;                  /* the round that runs was due; its thread's own */
	uint64_t begun, ended;
};
enum { ROUNDS_UNTIL_WOKEN = INT32_MAX };
/* The first round is due at once. */
void rounds_init(struct rounds *r);
void rounds_release(struct rounds *r);
/* End a round, and wait until the next one is due, or ms have passed. False when it is time to go. */
bool rounds_next(struct rounds *r, unsigned ms) __attribute__((warn_unused_result));
void rounds_wake(struct rounds *r);
/* A round that begins now, or later, has come to its end; or the thread stops. Not from that thread. */
void rounds_settle(struct rounds *r);
void rounds_stop(struct rounds *r);
bool rounds_stopping(struct rounds *r);

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
