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

/* A table that is listed no more may be large: it is freed by a thread that nobody waits for. */
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
