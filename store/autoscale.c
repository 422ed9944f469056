/* autoscale - see autoscale.h. Judging; the rest is in autoscale_settings.c. */
#include "store/autoscale.h"

#include "protocol/capacity.h"
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

/* What should be provisioned after the minute that ends at `end` (a minute of m): `units`, if nothing is to change. end_ms: the
 * same moment in Unix time. */
static int64_t judge(const struct autoscale_row *r, int64_t units, const struct minutes *m, uint64_t end, uint64_t end_ms)
{
	uint64_t percent = (uint64_t)units * HALVES_A_MINUTE;
	struct minutes_range c;

	if (autoscale_within(r, units) != units || r->target == 0)
		return autoscale_within(r, units);
	if (!rests(r->out_ms, r->out_cooldown_s, end_ms) && minutes_range(m, r->use, end, AUTOSCALE_OUT_MINUTES, &c)
	    && c.least * PERCENT > percent * r->target)
		return fitting(r, c.most);
	if (!r->out_only && !rests(r->in_ms, r->in_cooldown_s, end_ms) && minutes_range(m, r->use, end, AUTOSCALE_IN_MINUTES, &c)
	    && c.most * PERCENT <= percent * (r->target - AUTOSCALE_IN_POINTS)) {
		int64_t less = fitting(r, c.most);

		return less < units ? less : units;
	}
	return units;
}

/* One row; true: this is to be done. */
static bool judge_row(const struct catalog_table *t, const struct autoscale_row *r, const struct minutes *m, uint64_t ms,
	struct minutely_change *out)
{
	int place = spec_place(&t->table, r->owner);

	if (place == SPEC_NOWHERE || (place != SPEC_TABLE && !t->table.index[place].readable))
		return false;
	struct units u = units_of(spec_get(&t->spec, place, SPEC_PROVISIONED), UNITS_NONE);
	int64_t now = *minutely_units(&u, r->use);

	*out = (struct minutely_change){ autoscale_apply, t->table.id, r->owner, r->use, judge(r, now, m, m->judged, ms), ms };
	return out->units != now;
}

unsigned autoscale_changes(const struct catalog_table *t, uint32_t owner, const struct minutes *m, uint64_t ms,
	struct minutely_change change[METER_USES])
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->facts.scaled; i++)
		if (t->facts.scale[i].owner == owner && judge_row(t, &t->facts.scale[i], m, ms, &change[n]))
			n++;
	return n;
}
