/* heat - how busy a partition is, by which of its keys, and what it may still do: one for each, for as long as it exists.
 *
 *    an operation's cost --> bucket: the limit                                  refused --> the seconds of that
 *              \--> the thread's account --one in so many half units--> sample: its key's hash, and the load
 *
 * Like a meter (meter.h), it outlives the descriptions of its table, and begins anew when the process starts.
 *
 * H1. A partition passes what its limit gives a second and, at most, one second's worth of it at once: burst and adaptive
 *     capacity do not exceed the limit. An operation passes if anything is left, whatever it costs (bucket.h).
 * H2. Each half unit consumed is as likely to be sampled as any other, whatever pattern requests come in: the part that a key
 *     has of the samples is what it has of the load. Reads and writes are sampled, limited and refused apart.
 * H3. A partition is hot while it has refused operations in HEAT_REFUSED of the last HEAT_SECONDS seconds.
 *
 * Sources: "Designing partition keys to distribute your workload" and "DynamoDB burst and adaptive capacity" in the developer
 * guide: 1,000 write and 3,000 read units a second, each by itself; keys of consistently high traffic get partitions of their
 * own. How long the service watches before it cuts is not published; half a minute lets a single burst pass.
 * Threads: any counts, and any may read, without locks, each number by itself; references are the writer's alone. */
#ifndef DYNAX_STORE_HEAT_H
#define DYNAX_STORE_HEAT_H

#include "store/meter.h"

enum { HEAT_SAMPLES = 256, HEAT_SECONDS = 30, HEAT_REFUSED = 15, HEAT_LOAD_SECONDS = 16 };

struct heat_use {
	struct bucket bucket;            /* of milliseconds and thousandths of half units */
	_Atomic uint64_t load;           /* second, and what was sampled, decayed */
	_Atomic uint64_t seconds;        /* second of the last refusal, and a bit for each that had one, up to it */
	_Atomic uint64_t refused;        /* operations */
	_Atomic uint32_t samples;        /* taken so far; the next one's place */
	_Atomic uint64_t sample[HEAT_SAMPLES]; /* hashes of partition keys; the last ones, around */
};

struct heat {
	struct heat_use use[METER_USES];
	unsigned refs;
};

/* With one reference; NULL if out of memory. */
struct heat *heat_new(void);
struct heat *heat_ref(struct heat *h);
/* NULL is fine. */
void heat_unref(struct heat **h);

/* A limit in half units a second, at most HEAT_RATE_MAX. */
enum { HEAT_RATE_MAX = INT32_MAX / 1000 - 1 };
static inline struct bucket_law heat_law(uint32_t rate)
{
	return (struct bucket_law){ rate, rate * 1000 };
}

/* Half units between samples: fine enough that a partition at its limit gives some each second, and rare enough to cost
 * nothing beside the operations. */
static inline uint32_t heat_every(uint32_t rate)
{
	return rate >= 512 ? 32 : rate >= 16 ? rate / 16 : 1;
}

/* A number that follows no pattern of the requests; the calling thread's. */
uint32_t heat_random(void);
/* The calling thread's, until its next sample; 0 in the beginning. */
extern _Thread_local uint64_t heat_left[METER_USES];
unsigned heat_draw(enum meter_use use, uint64_t halves, uint32_t every);

/* The calling thread has consumed half units: how many samples, `every` half units each, fall on them. */
static inline unsigned heat_account(enum meter_use use, uint64_t halves, uint32_t every)
{
	if (halves >= heat_left[use])
		return heat_draw(use, halves, every);
	heat_left[use] -= halves;
	return 0;
}
/* Note samples, with what they stand for, at a second of the store's clock. */
void heat_sample(struct heat *h, enum meter_use use, uint64_t hash, unsigned samples, uint32_t every, uint32_t second);
void heat_refuse(struct heat *h, enum meter_use use, uint32_t second);

/* H3 */
bool heat_hot(const struct heat *h, enum meter_use use, uint32_t second);
/* It has just been cut: watch it anew. */
void heat_calm(struct heat *h);
/* Half units a second, of late. */
double heat_load(const struct heat *h, enum meter_use use, uint32_t second);

/* The last samples with hashes from `first` to `last`, in order; returns how many. */
unsigned heat_samples(const struct heat *h, enum meter_use use, uint64_t first, uint64_t last, uint64_t out[HEAT_SAMPLES]);

/* Where to cut a partition that begins at `first` and ends with `last`, by n ordered samples of its load: where half of it is
 * before and half behind; or, if half of it or more is on one key, before and behind that, where there is anything.
 * None if there are too few samples to tell, or nothing is to be cut. */
struct heat_cuts {
	uint64_t at[2];
	unsigned n;
};
struct heat_cuts heat_cuts(const uint64_t *sample, unsigned n, uint64_t first, uint64_t last);

#endif
