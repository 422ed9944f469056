/* minutes - what a table, or a global index, has consumed in each of the last minutes of the store's clock.
 *
 *    totals of its meter --look--> | ... | 58 | 59 | the minute that runs |        a ring of MINUTES_KEPT
 *
 * T1. What has come between two looks is put down to the minutes between them, evenly. The keeper looks every few seconds, and
 *     whoever moves a clock that stands still looks before he does: then nothing is counted in a minute that is not its own.
 * T2. They begin anew when the process starts, with the minute that runs.
 *
 * Threads: those of one meter under the store's lock for minutes, or in the hands of one thread. */
#ifndef DYNAX_STORE_MINUTES_H
#define DYNAX_STORE_MINUTES_H

#include <stdbool.h>
#include <stdint.h>

/* A minute is kept for half an hour after it has ended. */
enum { MINUTE_S = 60, MINUTES_KEPT = 31, MINUTES_USES = 2 };

struct minutes {
	bool begun;
	uint64_t first, now;                            /* the first minute, and the one that runs: of the clock's seconds */
	uint64_t second;                                /* of the last look */
	uint64_t seen[MINUTES_USES];                    /* totals at the last look */
	uint64_t used[MINUTES_USES][MINUTES_KEPT];      /* half units, by minute modulo MINUTES_KEPT */
	uint64_t before[MINUTES_USES];                  /* the greatest of those that are kept no longer */
	uint64_t judged;                                /* all before this one have had their consequences (minutely.h) */
};

/* used: totals; second: of the clock. */
void minutes_look(struct minutes *m, const uint64_t used[MINUTES_USES], uint64_t second);

/* The oldest minute that is still known in full or in part. */
static inline uint64_t minutes_oldest(const struct minutes *m)
{
	uint64_t kept = m->now >= MINUTES_KEPT ? m->now - MINUTES_KEPT + 1 : 0;

	return kept > m->first ? kept : m->first;
}

/* Go on to the end of the next minute that has ended and has not been judged: m->judged. False if there is none, or they are not
 * wanted: then they are passed over. */
bool minutes_next(struct minutes *m, bool wanted);

/* The greatest and least number of half units in one of the n minutes before `end`; false if they are not all known. */
struct minutes_range {
	uint64_t least, most;
};
bool minutes_range(const struct minutes *m, unsigned use, uint64_t end, unsigned n, struct minutes_range *out);

#endif
