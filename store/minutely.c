/* minutely - see minutely.h. */
#include "store/minutely.h"

#include "store/autoscale.h"
#include "store/growth.h"
#include "store/keeper.h"

/* What may have to be done after one minute of a table or an index. */
struct todo {
	struct minutely_change change[METER_USES];
	unsigned n;
};

/* ---- looking ---- */

static void look(struct meter *m, uint64_t second)
{
	struct meter_totals sum;

	meter_sum(m, &sum);
	minutes_look(&m->minutes, sum.used, second);
}

void minutely_look(struct store *s)
{
	struct catalog_reader r;
	uint64_t second = clock_seconds(&s->clock);

	pthread_mutex_lock(&s->minutes_lock);
	catalog_join(&s->catalog, &r);
	const struct catalog *c = catalog_current(&s->catalog, &r);

	for (size_t i = 0; i < c->n; i++) {
		const struct table *t = &c->by_id[i]->table;

		look(t->meter, second);
		for (unsigned x = 0; x < t->gsis; x++)
			look(t->index[x].meter, second);
	}
	catalog_leave(&s->catalog, &r);
	pthread_mutex_unlock(&s->minutes_lock);
}

/* ---- judging ---- */

/* The next minute that has ended, of a table or index; false if there is none. */
static bool judge_minute(struct store *s, const struct catalog_table *ct, struct meter *meter, uint32_t owner, struct todo *todo)
{
	bool grows = growth_wanted(s, ct);
	struct minutes m;

	pthread_mutex_lock(&s->minutes_lock);
	bool due = minutes_next(&meter->minutes, grows || autoscale_wanted(ct));

	m = meter->minutes;
	pthread_mutex_unlock(&s->minutes_lock);
	if (!due)
		return false;
	uint64_t ms = store_now_ms(s) - (clock_seconds(&s->clock) - m.judged * MINUTE_S) * 1000;

	todo->n = grows ? growth_changes(ct, owner, &m, ms, todo->change) : autoscale_changes(ct, owner, &m, ms, todo->change);
	return true;
}

/* The same of the first of a table and its indexes that has one. */
static bool judge_table(struct store *s, const struct catalog_table *ct, struct todo *todo)
{
	const struct table *t = &ct->table;

	if (judge_minute(s, ct, t->meter, t->id, todo))
		return true;
	for (unsigned x = 0; x < t->gsis; x++)
		if (judge_minute(s, ct, t->index[x].meter, t->index[x].id, todo))
			return true;
	return false;
}

/* The same of the first table from *id on that has one. */
static bool judge_any(struct keeper *k, uint32_t *id, struct todo *todo)
{
	const struct catalog *c = catalog_current(&k->store->catalog, &k->reader);
	bool found = false;

	for (size_t at = 0; at < c->n && !found; at++) {
		if (c->by_id[at]->table.id < *id)
			continue;
		found = judge_table(k->store, c->by_id[at], todo);
		*id = c->by_id[at]->table.id;
	}
	catalog_quiesce(&k->reader);
	return found;
}

void minutely_tend(struct keeper *k)
{
	struct todo todo;
	uint32_t id = 0;

	minutely_look(k->store);
	while (k->store->capacity != CAPACITY_OFF && !keeper_stopping(k) && judge_any(k, &id, &todo)) {
		for (unsigned i = 0; i < todo.n; i++) {
			arena_reset(&k->arena);
			enum err rc = own_write_run(&k->write, &k->arena, todo.change[i].apply, &todo.change[i]);

			(void)rc;   /* an error means: not now */
		}
	}
}
