/* minutely - what happens at the end of each minute: throughput follows what was consumed, of all tables and global indexes.
 *
 *    meters --look--> minutes (minutes.h) --judge--> a change --own_write--> catalog
 *                                           autoscale.h: provisioned
 *                                           growth.h: on demand
 *
 * Y1. Each minute is judged once, after it has ended, in order; one is done with before the next is judged. Those that are no
 *     longer known are passed over.
 *
 * Threads: minutely_look, any but the writer; minutely_tend, the keeper. */
#ifndef DYNAX_STORE_MINUTELY_H
#define DYNAX_STORE_MINUTELY_H

#include "store/minutes.h"
#include "store/store_int.h"
#include "store/units.h"

struct keeper;
struct write_batch;

/* What is to be done: provision, or be ready for, so many units of what a table or its index reads or writes, as of a moment in
 * Unix time. apply is carried out by the writer; an error means: not now, the next minute will be judged again. */
struct minutely_change {
	enum err (*apply)(struct write_batch *b, struct store_write *w);
	uint32_t table, owner;
	unsigned use;
	int64_t units;
	uint64_t ms;
};

static inline int64_t *minutely_units(struct units *u, unsigned use)
{
	return use == METER_READ ? &u->read : &u->write;
}

/* Count what has come until now. */
void minutely_look(struct store *s);
/* Judge the minutes that have ended, and do what follows. */
void minutely_tend(struct keeper *k);

#endif
