/* held - a set of numbers: whose changes are held up while a backlog is walked through (propagation.h, R3).
 *
 *    items, by a hash of their key | partitions, by their id        one set: two that share a number hold each other up, no more
 *
 * Open addressing, at most half full; it only grows, up to HELD_MAX. Zero: empty. Threads: one at a time. */
#ifndef DYNAX_STORE_HELD_H
#define DYNAX_STORE_HELD_H

#include <stdbool.h>
#include <stdint.h>

enum { HELD_MAX = 1 << 17 };

struct held {
	uint64_t *slot;                  /* heap; 0 = free */
	uint32_t n, slots;
};

bool held_has(const struct held *h, uint64_t number);
/* False if there is no room for it. */
bool held_add(struct held *h, uint64_t number) __attribute__((warn_unused_result));
void held_release(struct held *h);

#endif
