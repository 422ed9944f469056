/* meter - see meter.h. */
#include "store/meter.h"

#include <stdlib.h>
#include <string.h>

struct meter *meter_new(void)
{
	struct meter *m = aligned_alloc(alignof(struct meter), sizeof *m);

	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof *m);
	for (unsigned i = 0; i < METER_USES; i++) {
		bucket_init(&m->bucket[i]);
		bucket_init(&m->warm[i]);
	}
	m->refs = 1;
	return m;
}

struct meter *meter_ref(struct meter *m)
{
	m->refs++;
	return m;
}

void meter_unref(struct meter **m)
{
	if (*m != NULL && --(*m)->refs == 0)
		free(*m);
	*m = NULL;
}

/* Threads are counted off once in their lives, whatever the store: hence the two variables outside of any object. */
struct meter_cell *meter_cell(struct meter *m)
{
	static _Atomic unsigned threads;
	static _Thread_local unsigned mine;

	if (mine == 0)
		mine = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
	return &m->cell[mine % METER_CELLS];
}

void meter_sum(const struct meter *m, struct meter_totals *out)
{
	*out = (struct meter_totals){ .saved = 0 };
	for (unsigned use = 0; use < METER_USES; use++) {
		out->refused[use] = atomic_load_explicit(&m->refused[use], memory_order_relaxed);
		out->refused_by_partition[use] = atomic_load_explicit(&m->refused_by_partition[use], memory_order_relaxed);
	}
	for (unsigned why = 0; why < CUTS; why++)
		out->cuts[why] = atomic_load_explicit(&m->cuts[why], memory_order_relaxed);
	for (unsigned i = 0; i < METER_CELLS; i++) {
		for (unsigned use = 0; use < METER_USES; use++)
			out->used[use] += atomic_load_explicit(&m->cell[i].used[use], memory_order_relaxed);
		out->saved += atomic_load_explicit(&m->cell[i].saved, memory_order_relaxed);
	}
}
