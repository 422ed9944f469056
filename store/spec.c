/* spec - see spec.h. */
#include "store/spec.h"

#include "protocol/messages.h"
#include "store/control.h"

static const unsigned of_table[] = { [SPEC_PROVISIONED] = CreateTableInput_ProvisionedThroughput,
	[SPEC_ON_DEMAND] = CreateTableInput_OnDemandThroughput, [SPEC_WARM] = CreateTableInput_WarmThroughput };
static const unsigned of_index[] = { [SPEC_PROVISIONED] = GlobalSecondaryIndex_ProvisionedThroughput,
	[SPEC_ON_DEMAND] = GlobalSecondaryIndex_OnDemandThroughput, [SPEC_WARM] = GlobalSecondaryIndex_WarmThroughput };

int spec_place(const struct table *t, uint32_t id)
{
	if (t->id == id)
		return SPEC_TABLE;
	for (unsigned i = 0; i < t->gsis; i++)
		if (t->index[i].id == id)
			return (int)i;
	return SPEC_NOWHERE;
}

static bool open_index(const struct record *spec, int place, struct record *x)
{
	uint32_t n;
	struct mp m = record_list(spec, CreateTableInput_GlobalSecondaryIndexes, &n);

	if (place < 0 || (uint32_t)place >= n)
		return false;
	for (int i = 0; i < place; i++)
		mp_skip(&m);
	return record_open(x, &shape_GlobalSecondaryIndex, mp_skip(&m));
}

struct slice spec_get(const struct record *spec, int place, enum spec_part part)
{
	struct record x;

	if (place == SPEC_TABLE)
		return spec->m[of_table[part]];
	return open_index(spec, place, &x) ? x.m[of_index[part]] : SLICE_NONE;
}

struct slice spec_index_name(const struct record *spec, int place)
{
	struct record x;

	return open_index(spec, place, &x) ? record_str(&x, GlobalSecondaryIndex_IndexName) : SLICE_NONE;
}

enum err spec_set(struct record *spec, int place, enum spec_part part, struct slice value, struct arena *a, struct fault *f)
{
	struct record x;

	if (place == SPEC_TABLE) {
		spec->m[of_table[part]] = value;
		return ERR_OK;
	}
	if (!open_index(spec, place, &x))
		return fault_set(f, MSG_CATALOG_DAMAGED);
	x.m[of_index[part]] = value;
	struct slice copy = control_record_copy(&x, a);

	return slice_present(copy) ? spec_put_index(spec, place, copy, a, f) : fault_set(f, MSG_NO_MEMORY);
}

enum err spec_put_index(struct record *spec, int place, struct slice index, struct arena *a, struct fault *f)
{
	uint32_t n, kept = 0;
	struct mp m = record_list(spec, CreateTableInput_GlobalSecondaryIndexes, &n);
	struct slice list;
	struct buf b;

	buf_init(&b);
	size_t at = list_begin(&b);

	for (uint32_t i = 0; i <= n; i++) {
		struct slice one = i < n ? mp_skip(&m) : SLICE_NONE;

		if ((int)i == (place == SPEC_TABLE ? (int)n : place))
			one = index;
		if (slice_present(one)) {
			buf_put_slice(&b, one);
			kept++;
		}
	}
	list_end(&b, at, kept);
	list = b.failed ? SLICE_NONE : arena_copy(a, buf_slice(&b));
	buf_release(&b);
	if (!slice_present(list))
		return fault_set(f, MSG_NO_MEMORY);
	spec->m[CreateTableInput_GlobalSecondaryIndexes] = kept != 0 ? list : SLICE_NONE;
	return ERR_OK;
}

enum err spec_raise_warm(struct record *spec, int place, struct units least, bool on_demand, struct arena *a, struct fault *f)
{
	struct slice given = spec_get(spec, place, SPEC_WARM), provisioned = spec_get(spec, place, SPEC_PROVISIONED);
	struct units now = units_warm(given, provisioned, on_demand), next = units_max(now, least);
	bool ok;

	if (units_same(now, next))
		return ERR_OK;
	struct slice record = units_record(next, a, &ok);

	return ok ? spec_set(spec, place, SPEC_WARM, record, a, f) : fault_set(f, MSG_NO_MEMORY);
}
