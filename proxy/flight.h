/* flight - requests that miss together on one key cost one read.
 *
 *    worker A: miss --join--> leads:  reads the store ......... land --> wakes each waiter
 *    worker B: miss --join--> waits  . . . . . . . . . . . . . . . ^  on its own worker, with a copy of the bytes
 *
 * F1. A request joins only a flight that began under the same, even epoch as its own: then no write became visible between
 *     the leader's start and the waiter's, and the leader's answer is current for both.
 * F2. A leader always lands, whatever becomes of its client: the flight belongs to its read, which ends, not to its
 *     connection, which may die. Waiters never hang.
 * F3. An error goes to those who waited for it, and nowhere else: nothing is cached, and the next request reads anew.
 * F4. What has landed is kept once, counted, however many wait for it.
 *
 * Threads: any; a lock a shard, never held while a waiter is woken. Ownership: the leader's `struct flight` and a
 * waiter's `struct flight_waiter` are theirs, and stay where they are until flight_land returns, or `wake` is called. */
#ifndef DYNAX_PROXY_FLIGHT_H
#define DYNAX_PROXY_FLIGHT_H

#include "protocol/err.h"

#include <stdatomic.h>

struct flights;

/* What the leader brought: bytes of the answer, a NUL; or of the error's text, a NUL, the error's detail. */
struct flight_result {
	_Atomic unsigned refs;
	enum err err;
	bool absent;              /* of an item: there is none */
	size_t n, detail_n;
	uint8_t bytes[];
};

struct flight_waiter {
	/* Called on the leader's thread: hand over to the waiter's own. */
	void (*wake)(struct flight_waiter *w);
	struct flight_result *result;   /* set before wake; flight_result_unref when done; NULL: out of memory */
	struct flight_waiter *next;
};

struct flight {
	struct flight *next, **prev;    /* in its shard */
	uint64_t space, hash, epoch;
	struct slice key;               /* lives as long as the flight */
	struct flight_waiter *waiters;
};

struct flights *flights_new(void);
void flights_free(struct flights **f);

/* True: the caller leads, `own` is in the air, and flight_land must follow. False: `w` waits, and will be woken. */
bool flight_join(struct flights *f, uint64_t space, struct slice key, uint64_t hash, uint64_t epoch, struct flight *own,
	struct flight_waiter *w);
/* value absent = there is no item; fault is looked at if e != ERR_OK. */
void flight_land(struct flights *f, struct flight *own, enum err e, const struct fault *fault, struct slice value);

/* ERR_OK, or the error that landed, copied to f, which has an arena; r may be NULL: out of memory. */
enum err flight_result_fault(const struct flight_result *r, struct fault *f) __attribute__((warn_unused_result));
/* The landed bytes, if it is no error; absent if there is none. */
struct slice flight_result_value(const struct flight_result *r);
void flight_result_unref(struct flight_result **r);

/* Flights now in the air, and requests that were spared a read, ever. */
void flights_stats(struct flights *f, uint64_t *flying, uint64_t *joined);

#endif
