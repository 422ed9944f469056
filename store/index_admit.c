/* index_admit - see index_admit.h. */
#include "store/index_admit.h"

#include "store/throughput.h"

static bool affordable(struct store *s, const struct table *t, const struct table_index *x, const struct index_move *m)
{
	return (m->before.cost == 0 || throughput_allows(s, t, x, m->before.hash, METER_WRITE))
		&& (m->after.cost == 0 || throughput_allows(s, t, x, m->after.hash, METER_WRITE));
}

static void charge(struct store *s, const struct table *t, const struct table_index *x, const struct index_move *m)
{
	if (m->before.cost != 0)
		throughput_charge(s, t, x, m->before.hash, METER_WRITE, m->before.cost);
	if (m->after.cost != 0)
		throughput_charge(s, t, x, m->after.hash, METER_WRITE, m->after.cost);
}

/* Of the partitions that lose an entry, or get or change one. */
static bool behind(struct store *s, const struct table *t, const struct table_index *x, const struct index_move *m)
{
	uint64_t owed = x->backlog->now.cost;

	return (m->before.cost != 0 && throughput_behind(s, t, x, m->before.hash, owed))
		|| (m->after.cost != 0 && throughput_behind(s, t, x, m->after.hash, owed));
}

/* backlog.h, L2 and L3. */
static bool made_later(struct store *s, const struct table *t, const struct index_change *c, bool expired)
{
	if (!c->x->readable)
		return false;
	return !backlog_empty(c->x->backlog) || atomic_load_explicit(&s->index_delay_ms, memory_order_relaxed) != 0
		|| (!expired && !affordable(s, t, c->x, &c->move));
}

enum err index_admit(struct write_txn *t, const struct table *table, struct index_plan *p, bool expired, struct fault *f)
{
	struct store *s = t->batch->store;

	for (unsigned i = 0; i < p->n; i++) {
		struct index_change *c = &p->change[i];

		if (!c->x->global)
			continue;
		if (!expired && behind(s, table, c->x, &c->move))
			return throughput_refuse(s, table, c->x, METER_WRITE, f);
		c->later = made_later(s, table, c, expired);
		if (expired)
			c->move.before.cost = c->move.after.cost = 0;
	}
	return ERR_OK;
}

void index_charge(struct write_txn *t, const struct table *table, const struct index_plan *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!p->change[i].later)
			charge(t->batch->store, table, p->change[i].x, &p->change[i].move);
}

bool index_pay(struct store *s, const struct table *table, const struct table_index *x, const struct index_move *m)
{
	if (!affordable(s, table, x, m))
		return false;
	charge(s, table, x, m);
	return true;
}
