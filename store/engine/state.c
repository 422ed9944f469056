/* state - which memtables a view sees; see E1 in engine_int.h. */
#include "store/engine/engine_int.h"

#include <stdlib.h>

struct state *state_new(struct memtable *const *tables, unsigned n)
{
	struct state *s = calloc(1, sizeof *s);

	if (s == NULL)
		return NULL;
	s->refs = 1;
	s->n = n;
	memcpy(s->table, tables, n * sizeof *tables);
	return s;
}

/* A table that is listed no more may be large: it is freed bit by bit, by the checkpointer. */
static void table_unref_locked(struct engine *e, struct memtable *t)
{
	if (--t->refs == 0) {
		t->next_dead = e->dead;
		e->dead = t;
	}
}

void state_unref_locked(struct engine *e, struct state *s)
{
	if (--s->refs != 0)
		return;
	for (unsigned i = 0; i < s->n; i++)
		table_unref_locked(e, s->table[i]);
	free(s);
}

void state_install_locked(struct engine *e, struct state *s)
{
	struct state *old = e->state;

	for (unsigned i = 0; i < s->n; i++)
		s->table[i]->refs++;
	e->state = s;
	if (old != NULL)
		state_unref_locked(e, old);
}

static void count_frozen_locked(struct engine *e)
{
	size_t bytes = 0;

	for (unsigned i = 1; i < e->state->n; i++)
		bytes += atomic_load_explicit(&e->state->table[i]->bytes, memory_order_relaxed);
	atomic_store_explicit(&e->frozen_bytes, bytes, memory_order_relaxed);
}

bool state_freeze_locked(struct engine *e)
{
	struct state *old = e->state;
	struct memtable *table[STATE_TABLES_MAX];

	if (old->n == STATE_TABLES_MAX)
		return false;
	table[0] = memtable_new(e->opts.overlay_bytes / OVERLAY_PARTS);
	memcpy(table + 1, old->table, old->n * sizeof *table);
	struct state *s = table[0] != NULL ? state_new(table, old->n + 1) : NULL;

	if (s == NULL) {
		memtable_free(&table[0]);
		return false;
	}
	table[0]->born_ns = monotonic_ns();
	table[1]->last_lsn = atomic_load_explicit(&e->published, memory_order_relaxed);
	state_install_locked(e, s);
	count_frozen_locked(e);
	pthread_cond_signal(&e->c.wake);
	return true;
}

bool state_shrink_locked(struct engine *e, unsigned n)
{
	struct state *s = state_new(e->state->table, e->state->n - n);

	if (s == NULL)
		return false;
	state_install_locked(e, s);
	count_frozen_locked(e);
	return true;
}

bool state_free_some(struct engine *e, size_t bytes)
{
	if (e->freeing == NULL) {
		pthread_mutex_lock(&e->lock);
		e->freeing = e->dead;
		if (e->dead != NULL)
			e->dead = e->dead->next_dead;
		pthread_mutex_unlock(&e->lock);
	}
	if (e->freeing == NULL)
		return false;
	memtable_free_some(&e->freeing, bytes);
	return true;
}
