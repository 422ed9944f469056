/* scaling_resource - see scaling_resource.h. */
#include "store/scaling_resource.h"

#include "protocol/messages.h"
#include "store/spec.h"

static const char *const dimension[2][METER_USES] = {
	{ "dynamodb:table:ReadCapacityUnits", "dynamodb:table:WriteCapacityUnits" },
	{ "dynamodb:index:ReadCapacityUnits", "dynamodb:index:WriteCapacityUnits" },
};

enum err scaling_resource_parse(struct slice service, struct slice id, struct slice of, struct scaling_resource *r, struct fault *f)
{
	static const char table[] = "table/", index[] = "/index/";

	*r = (struct scaling_resource){ .id = id, .dimension = of };
	if (!slice_eq(service, SLICE_LIT("dynamodb")) || !slice_starts_with(id, SLICE_LIT(table)))
		return fault_set(f, MSG_SCALING_UNSUPPORTED);
	r->table = slice_of(id.p + sizeof table - 1, id.n - (sizeof table - 1));
	const uint8_t *at = memmem(r->table.p, r->table.n, index, sizeof index - 1);

	if (at != NULL) {
		r->index = slice_of(at + sizeof index - 1, (size_t)(id.p + id.n - at) - (sizeof index - 1));
		r->table.n = (size_t)(at - r->table.p);
	}
	for (r->use = 0; r->use < METER_USES; r->use++)
		if (slice_eq(of, slice_str(dimension[at != NULL][r->use])))
			return ERR_OK;
	return fault_set(f, MSG_SCALING_UNSUPPORTED);
}

bool scaling_resource_of(const struct catalog_table *t, const struct autoscale_row *row, struct arena *a, struct scaling_resource *r)
{
	int place = spec_place(&t->table, row->owner);
	const char *id;

	*r = (struct scaling_resource){ .table = t->table.name, .index = place >= 0 ? t->table.index[place].name : SLICE_NONE,
		.dimension = slice_str(dimension[place >= 0][row->use]), .use = row->use };
	id = place >= 0 ? arena_printf(a, "table/%.*s/index/%.*s", SLICE_FMT(r->table), SLICE_FMT(r->index))
		: arena_printf(a, "table/%.*s", SLICE_FMT(r->table));
	if (id != NULL)
		r->id = slice_str(id);
	return id != NULL;
}
