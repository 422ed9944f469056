/* index_admit - see index_admit.h. */
#include "store/index_admit.h"

#include "store/partition.h"

/* Whose throughput is too little for a change, and by which of its hashes. */
static enum throughput_spent spent(struct store *s, const struct table *t, const struct table_index *x, const struct index_move *m,
	uint64_t *hash)
{
	const struct index_side *const side[] = { &m->before, &m->after };
	enum throughput_spent why = SPENT_NONE;

	for (unsigned i = 0; i < 2 && why == SPENT_NONE; i++) {
		*hash = side[i]->hash;
		if (side[i]->cost != 0)
			why = throughput_spent(s, t, x, *hash, METER_WRITE);
	}
	return why;
}

static void charge(struct store *s, const struct table *t, const struct table_index *x, const struct index_move *m)
{
	if (m->before.cost != 0)
		throughput_charge(s, t, x, m->before.hash, METER_WRITE, m->before.cost);
	if (m->after.cost != 0)
		throughput_charge(s, t, x, m->after.hash, METER_WRITE, m->after.cost);
}

static uint32_t delay_ms(const struct store *s)
{
	return atomic_load_explicit(&s->index_delay_ms, memory_order_relaxed);
}

/* What is owed by the partition that has the hash. */
static uint64_t owed_by_part(const struct table_index *x, uint64_t hash)
{
	unsigned place = partition_place(&x->parts, hash);

	return backlog_owed(x->backlog, x->parts.part[place].from, partition_last(&x->parts, place));
}

/* Of the partitions that lose an entry, or get or change one: refuse if one is too far behind. What waits for its time alone is
 * not behind; while rows wait for throughput, those that wait for their time are counted among them, and so is that time. */
static enum err admit(struct store *s, const struct table *t, const struct table_index *x, const struct index_move *m,
	struct fault *f)
{
	const struct index_side *const side[] = { &m->before, &m->after };
	bool unpaid = x->backlog->now.waits.unpaid;
	uint32_t seconds = INDEX_BEHIND_SECONDS + delay_ms(s) / 1000;

	if (!throughput_limited(s, t, x, METER_WRITE))
		return ERR_OK;
	for (unsigned i = 0; i < 2; i++) {
		if (side[i]->cost == 0)
			continue;
		uint64_t hash = side[i]->hash;
		struct throughput_owed owed = { unpaid ? x->backlog->now.cost : 0, unpaid ? owed_by_part(x, hash) : 0 };
		enum throughput_spent behind = throughput_behind(s, t, x, hash, &owed, seconds);

		if (behind != SPENT_NONE)
			return throughput_refuse(s, t, x, hash, METER_WRITE, behind, f);
	}
	return ERR_OK;
}

/* backlog.h, L4 */
static bool follows(const struct table_index *x, struct slice item_key, const struct index_move *m)
{
	const struct backlog *b = x->backlog;

	if (backlog_empty(b))
		return false;
	if (b->now.waits.in_line)
		return true;
	if (slice_present(m->before.key) ? owed_by_part(x, m->before.hash) != 0 : backlog_leaves_without(b, item_key))
		return true;
	return slice_present(m->after.key) && owed_by_part(x, m->after.hash) != 0;
}

/* An index that is being built is changed at once (backlog.h, L3). */
static void choose(struct store *s, const struct table *t, struct slice item_key, struct index_change *c)
{
	uint64_t hash;

	if (!c->x->readable)
		return;
	enum throughput_spent why = spent(s, t, c->x, &c->move, &hash);
	bool delayed = delay_ms(s) != 0;

	c->waits.unpaid = why != SPENT_NONE;
	c->waits.in_line = delayed || (why != SPENT_NONE && why != SPENT_PARTITION);
	c->later = c->waits.unpaid || delayed || follows(c->x, item_key, &c->move);
}

enum err index_admit(struct write_txn *t, const struct table *table, struct slice item_key, struct index_plan *p, bool expired,
	struct fault *f)
{
	struct store *s = t->batch->store;

	for (unsigned i = 0; i < p->n; i++) {
		struct index_change *c = &p->change[i];

		if (!c->x->global)
			continue;
		if (expired)
			c->move.before.cost = c->move.after.cost = 0;
		enum err rc = admit(s, table, c->x, &c->move, f);

		if (rc != ERR_OK)
			return rc;
		choose(s, table, item_key, c);
	}
	return ERR_OK;
}

void index_charge(struct write_txn *t, const struct table *table, const struct index_plan *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!p->change[i].later)
			charge(t->batch->store, table, p->change[i].x, &p->change[i].move);
}

enum throughput_spent index_pay(struct store *s, const struct table *table, const struct table_index *x, const struct index_move *m,
	uint64_t *hash)
{
	enum throughput_spent why = spent(s, table, x, m, hash);

	if (why == SPENT_NONE)
		charge(s, table, x, m);
	return why;
}
