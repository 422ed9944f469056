/* bucket - a token bucket: so many tokens a second, of which five minutes' worth are kept when nobody takes them.
 *
 *    | second it was last looked at, 32 bits | level then, 32 bits, signed |        one word, changed by compare-and-swap
 *
 * Tokens are half units (protocol/capacity.h) and come once a second, so a rate is met exactly, with no fraction lost. What
 * is taken may exceed what is there: then nothing passes until the debt is paid. Otherwise an item that needs more than the
 * bucket holds could never be written; and what a read costs is known only when it is done.
 *
 * B1. Over any time T that begins with a bucket of level L, what passes costs at most L + rate * T + one operation.
 * B2. The level is at most BUCKET_SECONDS * rate. A new bucket is full, whatever the rate will be.
 * B3. A new rate keeps the level (within B2), if what came at the old one is settled by taking nothing: raising it gives no
 *     burst that was not saved.
 *
 * Source for the 300 seconds: "DynamoDB burst and adaptive capacity" in the developer guide.
 * Threads: any, without locks. */
#ifndef DYNAX_STORE_BUCKET_H
#define DYNAX_STORE_BUCKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* No level reaches that of a new bucket, which tells it from others. A clock that seems to be behind the bucket by more than
 * BUCKET_BEHIND has gone once round. */
enum { BUCKET_SECONDS = 300, BUCKET_RATE_MAX = INT32_MAX / BUCKET_SECONDS, BUCKET_NEW = INT32_MAX, BUCKET_BEHIND = 3600 };

struct bucket {
	_Atomic uint64_t word;
};

static inline uint64_t bucket_word(uint32_t second, int64_t level)
{
	int32_t kept = level < INT32_MIN ? INT32_MIN : (int32_t)level; /* above, B2 bounds it */

	return (uint64_t)second << 32 | (uint32_t)kept;
}

static inline void bucket_init(struct bucket *b)
{
	atomic_init(&b->word, bucket_word(0, BUCKET_NEW));
}

/* The level at a second, after what has come since the word's own. One that is older than the word's counts as that. */
static inline int64_t bucket_level_of(uint64_t word, uint32_t rate, uint32_t *second)
{
	uint32_t then = (uint32_t)(word >> 32), passed = *second - then;
	int64_t level = (int32_t)(uint32_t)word, most = (int64_t)rate * BUCKET_SECONDS;

	if (level == BUCKET_NEW)
		return most;
	if (passed > UINT32_MAX - BUCKET_BEHIND) {
		*second = then;
		passed = 0;
	}
	level += (int64_t)passed * rate;
	return level < most ? level : most;
}

/* Half units that are there now, or missing. rate: a second, at most BUCKET_RATE_MAX. */
static inline int64_t bucket_level(const struct bucket *b, uint32_t rate, uint32_t second)
{
	return bucket_level_of(atomic_load_explicit(&b->word, memory_order_relaxed), rate, &second);
}

/* Take tokens, there or not. Nothing but the word is shared, so no order is needed. */
static inline void bucket_take(struct bucket *b, uint32_t rate, uint32_t now, uint64_t halves)
{
	uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed), next;
	int64_t cost = halves < INT32_MAX ? (int64_t)halves : INT32_MAX;

	do {
		uint32_t second = now;
		int64_t level = bucket_level_of(word, rate, &second);

		next = bucket_word(second, level - cost);
	} while (!atomic_compare_exchange_weak_explicit(&b->word, &word, next, memory_order_relaxed, memory_order_relaxed));
}

#endif
