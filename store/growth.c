/* growth - see growth.h. */
#include "store/growth.h"

#include "protocol/capacity.h"
#include "store/spec.h"
#include "store/table_edit.h"

/* Units a second that are served now, if it was `units` until now. */
static int64_t judge(int64_t units, const struct minutes *m, unsigned use)
{
	const uint64_t unit = CAPACITY_HALVES * MINUTE_S;
	int64_t twice = (int64_t)((2 * m->before[use] + unit - 1) / unit);

	return twice > units ? twice : units;
}

static struct units now_of(const struct catalog_table *t, int place)
{
	return units_warm(spec_get(&t->spec, place, SPEC_WARM), spec_get(&t->spec, place, SPEC_PROVISIONED), t->table.on_demand);
}

static enum err grow_apply(struct write_batch *b, struct store_write *w)
{
	const struct minutely_change *c = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, c->table);
	int place = ct != NULL ? spec_place(&ct->table, c->owner) : SPEC_NOWHERE;
	struct table_edit e;

	if (place == SPEC_NOWHERE || !ct->table.on_demand)
		return ERR_OK;
	struct units least = now_of(ct, place);

	*minutely_units(&least, c->use) = c->units;
	enum err rc = table_edit_begin(&e, b, w, ct);

	if (rc == ERR_OK)
		rc = spec_raise_warm(&e.spec, place, least, true, e.arena, &w->fault);
	return table_edit_end(&e, w, rc);
}

unsigned growth_changes(const struct catalog_table *t, uint32_t owner, const struct minutes *m, uint64_t ms,
	struct minutely_change change[METER_USES])
{
	struct units now = now_of(t, spec_place(&t->table, owner));
	unsigned n = 0;

	for (unsigned use = 0; use < METER_USES; use++) {
		int64_t next = judge(*minutely_units(&now, use), m, use);

		if (next > *minutely_units(&now, use))
			change[n++] = (struct minutely_change){ grow_apply, t->table.id, owner, use, next, ms };
	}
	return n;
}
