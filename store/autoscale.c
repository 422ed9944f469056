/* autoscale - see autoscale.h. */
#include "store/autoscale.h"

#include "protocol/capacity.h"
#include "store/keeper.h"
#include "store/spec.h"

enum { PERCENT = 100 };
/* Half units that make one unit a second over a minute. */
enum { HALVES_A_MINUTE = CAPACITY_HALVES * MINUTE_S };

/* ---- judging ---- */

int64_t autoscale_within(const struct autoscale_row *r, int64_t units)
{
	return units < r->min ? r->min : units > r->max ? r->max : units;
}

/* Units of which so many half units in a minute are the target (A2). */
static int64_t fitting(const struct autoscale_row *r, uint64_t halves)
{
	uint64_t of = (uint64_t)r->target * HALVES_A_MINUTE;

	return autoscale_within(r, (int64_t)((halves * PERCENT + of - 1) / of));
}

static bool rests(uint64_t last_ms, uint32_t cooldown_s, uint64_t now_ms)
{
	return last_ms != 0 && now_ms < last_ms + (uint64_t)cooldown_s * 1000;
}

int64_t autoscale_judge(const struct autoscale_row *r, int64_t units, const struct minutes *m, uint64_t end, uint64_t end_ms)
{
	uint64_t percent = (uint64_t)units * HALVES_A_MINUTE;
	struct minutes_range c;

	if (autoscale_within(r, units) != units)
		return autoscale_within(r, units);
	if (!rests(r->out_ms, r->out_cooldown_s, end_ms) && minutes_range(m, r->use, end, AUTOSCALE_OUT_MINUTES, &c)
	    && c.least * PERCENT > percent * r->target)
		return fitting(r, c.most);
	if (!rests(r->in_ms, r->in_cooldown_s, end_ms) && minutes_range(m, r->use, end, AUTOSCALE_IN_MINUTES, &c)
	    && c.most * PERCENT <= percent * (r->target - AUTOSCALE_IN_POINTS)) {
		int64_t less = fitting(r, c.most);

		return less < units ? less : units;
	}
	return units;
}

/* ---- on the keeper ---- */

static void look(struct meter *m, uint64_t second)
{
	struct meter_totals sum;

	meter_sum(m, &sum);
	minutes_look(&m->minutes, sum.used, second);
}

void autoscale_look(struct store *s)
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

/* Judge one minute by one row; true: this is to be done. */
static bool judge_row(const struct store *s, const struct catalog_table *ct, const struct autoscale_row *r, const struct minutes *m,
	uint64_t end, struct autoscale_change *out)
{
	int place = spec_place(&ct->table, r->owner);

	if (place == SPEC_NOWHERE || (place != SPEC_TABLE && !ct->table.index[place].readable))
		return false;
	struct units u = units_of(spec_get(&ct->spec, place, SPEC_PROVISIONED), UNITS_NONE);
	int64_t now = *autoscale_units(&u, r->use);
	uint64_t ms = store_now_ms(s) - (clock_seconds(&s->clock) - end * MINUTE_S) * 1000;

	*out = (struct autoscale_change){ ct->table.id, r->owner, r->use, autoscale_judge(r, now, m, end, ms), ms };
	return out->units != now;
}

/* Judge the next minute that has ended, of a table or index; false if there is none. todo: what is to be done, n things. */
static bool judge_minute(struct store *s, const struct catalog_table *ct, struct meter *meter, uint32_t owner, struct autoscale_change *todo,
	unsigned *n)
{
	struct minutes m;

	pthread_mutex_lock(&s->minutes_lock);
	bool due = minutes_next(&meter->minutes, ct->facts.scaled != 0);

	m = meter->minutes;
	pthread_mutex_unlock(&s->minutes_lock);
	*n = 0;
	for (unsigned i = 0; due && i < ct->facts.scaled && !ct->table.on_demand; i++)
		if (ct->facts.scale[i].owner == owner && judge_row(s, ct, &ct->facts.scale[i], &m, m.judged, &todo[*n]))
			++*n;
	return due;
}

/* The same of the first of a table and its indexes that has one. */
static bool judge_table(struct store *s, const struct catalog_table *ct, struct autoscale_change *todo, unsigned *n)
{
	const struct table *t = &ct->table;

	if (judge_minute(s, ct, t->meter, t->id, todo, n))
		return true;
	for (unsigned x = 0; x < t->gsis; x++)
		if (judge_minute(s, ct, t->index[x].meter, t->index[x].id, todo, n))
			return true;
	return false;
}

/* Judge the next minute that has ended, of any table from *id on; false if there is none. */
static bool judge_any(struct keeper *k, uint32_t *id, struct autoscale_change *todo, unsigned *n)
{
	const struct catalog *c = catalog_current(&k->store->catalog, &k->reader);
	bool found = false;

	for (size_t at = 0; at < c->n && !found; at++) {
		if (c->by_id[at]->table.id < *id)
			continue;
		found = judge_table(k->store, c->by_id[at], todo, n);
		*id = c->by_id[at]->table.id;
	}
	catalog_quiesce(&k->reader);
	return found;
}

void autoscale_tend(struct keeper *k)
{
	struct autoscale_change todo[METER_USES];
	uint32_t id = 0;
	unsigned n;

	autoscale_look(k->store);
	while (k->store->capacity != CAPACITY_OFF && !keeper_stopping(k) && judge_any(k, &id, todo, &n)) {
		for (unsigned i = 0; i < n; i++) {
			arena_reset(&k->arena);
			if (own_write_run(&k->write, &k->arena, autoscale_change_apply, &todo[i]) != ERR_OK)
				continue; /* A5; and whatever else hinders: there will be another minute */
		}
	}
}
