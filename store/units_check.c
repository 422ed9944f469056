/* units_check - see units_check.h. */
#include "store/units_check.h"

#include "protocol/messages.h"

static enum err check_maximum(int64_t units, const char *member, struct slice index, bool on_demand, bool update, struct fault *f)
{
	bool table = !slice_present(index);

	if (!on_demand && update)
		return table ? fault_set(f, MSG_MAXIMUM_PROVISIONED_NOW, member)
			: fault_set(f, MSG_INDEX_MAXIMUM_PROVISIONED_NOW, member, SLICE_FMT(index));
	if (!on_demand)
		return table ? fault_set(f, MSG_MAXIMUM_PROVISIONED, member)
			: fault_set(f, MSG_INDEX_MAXIMUM_PROVISIONED, member, SLICE_FMT(index));
	if (units >= 1 || (update && units == MAXIMUM_CLEARED))
		return ERR_OK;
	return table ? fault_set(f, MSG_MAXIMUM_RANGE, member) : fault_set(f, MSG_INDEX_MAXIMUM_RANGE, member, SLICE_FMT(index));
}

enum err units_check_bounds(struct slice provisioned, struct fault *f)
{
	struct units u = units_of(provisioned, UNITS_NONE);

	if (u.read > UNITS_MOST)
		return fault_set(f, MSG_UNITS_BOUNDS, (long long)u.read, "ReadCapacityUnits");
	return u.write > UNITS_MOST ? fault_set(f, MSG_UNITS_BOUNDS, (long long)u.write, "WriteCapacityUnits") : ERR_OK;
}

enum err maximum_check(struct slice asked, struct slice index, bool on_demand, bool update, struct fault *f)
{
	struct record r;
	enum err rc = ERR_OK;

	if (!slice_present(asked) || !record_open(&r, &shape_OnDemandThroughput, asked))
		return ERR_OK;
	if (record_has(&r, OnDemandThroughput_MaxReadRequestUnits))
		rc = check_maximum(record_int(&r, OnDemandThroughput_MaxReadRequestUnits, 0), "MaxReadRequestUnits", index, on_demand,
			update, f);
	if (rc == ERR_OK && record_has(&r, OnDemandThroughput_MaxWriteRequestUnits))
		rc = check_maximum(record_int(&r, OnDemandThroughput_MaxWriteRequestUnits, 0), "MaxWriteRequestUnits", index, on_demand,
			update, f);
	return rc;
}

static enum err lower(const char *member, struct slice index, const char *than, struct fault *f)
{
	return slice_present(index) ? fault_set(f, MSG_INDEX_WARM_LOWER, member, SLICE_FMT(index), than)
		: fault_set(f, MSG_WARM_LOWER, member, than);
}

enum err warm_check_new(struct slice asked, struct slice index, struct slice provisioned, bool on_demand, struct fault *f)
{
	struct units least = units_warm(SLICE_NONE, provisioned, on_demand), u = units_of(asked, least);

	if (u.read < least.read)
		return lower("ReadUnitsPerSecond", index, on_demand ? TEXT_WARM_INITIAL
			: "ReadCapacityUnits of ProvisionedThroughput", f);
	return u.write < least.write ? lower("WriteUnitsPerSecond", index, on_demand ? TEXT_WARM_INITIAL
		: "WriteCapacityUnits of ProvisionedThroughput", f) : ERR_OK;
}

enum err warm_check_change(struct slice asked, struct slice index, struct units now, struct fault *f)
{
	struct units u = units_of(asked, now);

	if (u.read < now.read)
		return lower("ReadUnitsPerSecond", index, TEXT_WARM_CURRENT, f);
	return u.write < now.write ? lower("WriteUnitsPerSecond", index, TEXT_WARM_CURRENT, f) : ERR_OK;
}
