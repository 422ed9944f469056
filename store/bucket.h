/* bucket - a token bucket: so many tokens a tick, of which some are kept when nobody takes them.
 *
 *    | tick it was last looked at, 32 bits | level then, 32 bits, signed |          one word, changed by compare-and-swap
 *
 * What a tick and a token are is the user's to say, and always the same for one bucket:
 *
 *                                     tick            token                      kept
 *    table, index (throughput.h)      second          half unit                  300 seconds' worth
 *    on demand (growth.h)             second          half unit                  one second's worth
 *    partition (heat.h)               millisecond     thousandth of a half unit  one second's worth
 *
 * Tokens come in whole numbers, so a rate is met exactly, with no fraction lost. What is taken may exceed what is there: then
 * nothing passes until the debt is paid. Otherwise an item that needs more than the bucket holds could never be written; and
 * what a read costs is known only when it is done.
 *
 * B1. Over any time T that begins with a bucket of level L, what passes costs at most L + rate * T + one operation; of each
 *     thread, if several ask at once.
 * B2. The level is at most what is kept. A new bucket is full, whatever the rate will be.
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
 * BUCKET_BEHIND ticks has gone once round. */
enum { BUCKET_SECONDS = 300, BUCKET_RATE_MAX = INT32_MAX / BUCKET_SECONDS, BUCKET_NEW = INT32_MAX, BUCKET_BEHIND = 3600 };

struct bucket {
	_Atomic uint64_t word;
};

/* What comes a tick, and how much is kept, less than BUCKET_NEW. */
struct bucket_law {
	uint32_t rate, most;
};

/* Five minutes are kept: of seconds and half units, at most BUCKET_RATE_MAX. */
static inline struct bucket_law bucket_saving(uint32_t rate)
{
	return (struct bucket_law){ rate, rate * BUCKET_SECONDS };
}

/* Nothing is kept but what came last. rate: less than BUCKET_NEW. */
static inline struct bucket_law bucket_passing(uint32_t rate)
{
	return (struct bucket_law){ rate, rate };
}

static inline uint64_t bucket_word(uint32_t tick, int64_t level)
{
	int32_t kept = level < INT32_MIN ? INT32_MIN : (int32_t)level; /* above, B2 bounds it */

	return (uint64_t)tick << 32 | (uint32_t)kept;
}

static inline void bucket_init(struct bucket *b)
{
	atomic_init(&b->word, bucket_word(0, BUCKET_NEW));
}

/* The level at a tick, after what has come since the word's own. One that is older than the word's counts as that. */
static inline int64_t bucket_level_of(uint64_t word, struct bucket_law law, uint32_t *tick)
{
	uint32_t then = (uint32_t)(word >> 32), passed = *tick - then;
	int64_t level = (int32_t)(uint32_t)word;

	if (level == BUCKET_NEW)
		return law.most;
	if (passed > UINT32_MAX - BUCKET_BEHIND) {
		*tick = then;
		passed = 0;
	}
	level += (int64_t)passed * law.rate;
	return level < law.most ? level : law.most;
}

/* Tokens that are there now, or missing. */
static inline int64_t bucket_level(const struct bucket *b, struct bucket_law law, uint32_t tick)
{
	return bucket_level_of(atomic_load_explicit(&b->word, memory_order_relaxed), law, &tick);
}

/* Take tokens, there or not. Nothing but the word is shared, so no order is needed. */
static inline void bucket_take(struct bucket *b, struct bucket_law law, uint32_t now, uint64_t tokens)
{
	uint64_t word = atomic_load_explicit(&b->word, memory_order_relaxed), next;
	int64_t cost = tokens < INT32_MAX ? (int64_t)tokens : INT32_MAX;

	do {
		uint32_t tick = now;
		int64_t level = bucket_level_of(word, law, &tick);

		next = bucket_word(tick, level - cost);
	} while (!atomic_compare_exchange_weak_explicit(&b->word, &word, next, memory_order_relaxed, memory_order_relaxed));
}

#endif
