/* sweep - see sweep.h. */
#include "store/engine/sweep.h"

#include <assert.h>

static bool passed(const struct sweep *s, unsigned i)
{
	return s->in[i].passed == s->in[i].table->keys;
}

/* The least key that a table stands at, the newest table's node of it; NULL if none stands anywhere. */
static const struct memnode *here(const struct sweep *s)
{
	const struct memnode *least = NULL;

	for (unsigned i = 0; i < s->n; i++) {
		const struct memnode *at = s->in[i].at;

		if (at != NULL && (least == NULL || slice_cmp(memnode_key(at), memnode_key(least)) < 0))
			least = at;
	}
	return least;
}

/* S1: who is not done stands somewhere, unless all are at the end. */
static void begin_again_at_end(struct sweep *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->in[i].at != NULL)
			return;
	for (unsigned i = 0; i < s->n; i++)
		if (!passed(s, i))
			s->in[i].at = memtable_first(s->in[i].table);
}

static struct sweep_table table_at(struct memtable *t, const struct memnode *at)
{
	double bytes = (double)atomic_load_explicit(&t->bytes, memory_order_relaxed);

	return (struct sweep_table){ .table = t, .at = at, .key_bytes = t->keys != 0 ? bytes / (double)t->keys : 0 };
}

void sweep_join(struct sweep *s, struct memtable *const *table, unsigned n)
{
	const struct memnode *place = here(s);

	assert(s->n + n <= SWEEP_TABLES_MAX);
	memmove(s->in + n, s->in, s->n * sizeof *s->in);
	s->n += n;
	for (unsigned i = 0; i < n; i++)
		s->in[i] = table_at(table[i], place != NULL ? memtable_ge(table[i], memnode_key(place)) : memtable_first(table[i]));
}

void sweep_rewind(struct sweep *s)
{
	s->moved = 0;
	for (unsigned i = 0; i < s->n; i++)
		s->in[i] = table_at(s->in[i].table, memtable_first(s->in[i].table));
}

static void pass(struct sweep *s, unsigned i)
{
	struct sweep_table *t = &s->in[i];

	t->passed++;
	t->at = passed(s, i) ? NULL : memnode_next(t->at);
	s->moved += t->key_bytes;
}

const struct memversion *sweep_next(struct sweep *s, struct slice *key)
{
	for (const struct memnode *n; (n = here(s)) != NULL;) {
		const struct memversion *v = NULL;

		*key = memnode_key(n);
		for (unsigned i = 0; i < s->n; i++) {
			const struct memnode *at = s->in[i].at;

			if (at == NULL || (at != n && !slice_eq(memnode_key(at), *key)))
				continue;
			if (v == NULL)
				v = memnode_at(at, UINT64_MAX);
			pass(s, i);
		}
		begin_again_at_end(s);
		if (v != NULL)
			return v;
	}
	*key = SLICE_NONE;
	return NULL;
}

size_t sweep_moved(const struct sweep *s)
{
	return (size_t)s->moved;
}

double sweep_left(const struct sweep *s)
{
	unsigned oldest = s->n - 1;

	return s->n == 0 || passed(s, oldest) ? 0 : 1 - (double)s->in[oldest].passed / (double)s->in[oldest].table->keys;
}

unsigned sweep_done(const struct sweep *s)
{
	unsigned n = 0;

	while (n < s->n && passed(s, s->n - 1 - n))
		n++;
	return n;
}

void sweep_leave(struct sweep *s, unsigned n)
{
	while (n-- > 0) {
		struct sweep_table *t = &s->in[--s->n];

		s->moved -= t->key_bytes * (double)t->passed;
	}
}
