/* meter - what a table, or a global index, has consumed: one for each, for as long as it exists.
 *
 *    catalog snapshot n   --struct table--> meter <--struct table--   catalog snapshot n + 1
 *
 * Descriptions of a table come and go with the snapshots of the catalog; its meter stays. Counts are spread over cells, one
 * cache line each, and a thread keeps to one of them. They begin at zero when the process starts.
 *
 * Threads: any counts, and any may read; references are the writer's alone. */
#ifndef DYNAX_STORE_METER_H
#define DYNAX_STORE_METER_H

#include <stdalign.h>
#include <stddef.h>

#include "store/bucket.h"
#include "store/minutes.h"

enum meter_use { METER_READ, METER_WRITE };
enum { METER_USES = 2, METER_CELLS = 8 };

/* Why a partition was cut (partition.h). */
enum cut_reason { CUT_SIZE, CUT_HEAT, CUT_THROUGHPUT };
enum { CUTS = 3 };

struct meter_cell {
	alignas(64) _Atomic uint64_t used[METER_USES];   /* half units */
	_Atomic uint64_t saved;                          /* half units of reads that a cache has answered */
};

struct meter {
	struct meter_cell cell[METER_CELLS];
	struct bucket bucket[METER_USES];
	struct bucket warm[METER_USES];                  /* of on-demand tables (growth.h) */
	_Atomic uint64_t refused[METER_USES];            /* operations */
	struct minutes minutes;                          /* under the store's minutes_lock */
	_Atomic uint64_t refused_by_partition[METER_USES]; /* those among them for which the partition had nothing left */
	_Atomic uint64_t cuts[CUTS];                     /* of its partitions */
	unsigned refs;
};

/* With one reference; NULL if out of memory. */
struct meter *meter_new(void);
struct meter *meter_ref(struct meter *m);
/* NULL is fine. */
void meter_unref(struct meter **m);

/* The calling thread's cell. */
struct meter_cell *meter_cell(struct meter *m);

static inline void meter_use(struct meter *m, enum meter_use use, uint64_t halves)
{
	atomic_fetch_add_explicit(&meter_cell(m)->used[use], halves, memory_order_relaxed);
}

static inline void meter_save(struct meter *m, uint64_t halves)
{
	if (m != NULL)
		atomic_fetch_add_explicit(&meter_cell(m)->saved, halves, memory_order_relaxed);
}

struct meter_totals {
	uint64_t used[METER_USES], saved, refused[METER_USES], refused_by_partition[METER_USES], cuts[CUTS];
	unsigned partitions;                             /* now: for those who know */
	uint32_t limit[METER_USES];                      /* half units a second, the same; 0 = none */
};
void meter_sum(const struct meter *m, struct meter_totals *out);

/* What may be consumed, in half units a second; 0 = no limit. */
struct throughput {
	uint32_t rate[METER_USES];                       /* as declared */
	uint32_t warm[METER_USES];                       /* on demand, as the service has it (growth.h) */
};

#endif
