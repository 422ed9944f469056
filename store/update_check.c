/* update_check - see update_check.h. In order: nothing to do, things that do not go together, throughput, indexes. */
#include "store/update_check.h"

#include "protocol/messages.h"
#include "store/table.h"
#include "store/units_check.h"

/* What the updates of indexes are, as a whole. */
struct index_updates {
	struct slice name[TABLE_GSI_MAX + 1];    /* no more than a table can have, and one */
	unsigned names;
	unsigned created, deleted;
};

/* ---- indexes ---- */

static struct slice index_name(const struct record *update)
{
	static const struct { unsigned action; const struct shape *shape; unsigned name; } all[] = {
		{ GlobalSecondaryIndexUpdate_Create, &shape_CreateGlobalSecondaryIndexAction, CreateGlobalSecondaryIndexAction_IndexName },
		{ GlobalSecondaryIndexUpdate_Delete, &shape_DeleteGlobalSecondaryIndexAction, DeleteGlobalSecondaryIndexAction_IndexName },
		{ GlobalSecondaryIndexUpdate_Update, &shape_UpdateGlobalSecondaryIndexAction, UpdateGlobalSecondaryIndexAction_IndexName },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct record action;

		if (record_has(update, all[i].action) && record_open(&action, all[i].shape, update->m[all[i].action]))
			return record_str(&action, all[i].name);
	}
	return SLICE_NONE;
}

/* One action, on an index that no other update has named. */
static enum err check_update(struct index_updates *x, const struct record *update, struct fault *f)
{
	bool create = record_has(update, GlobalSecondaryIndexUpdate_Create);
	bool delete = record_has(update, GlobalSecondaryIndexUpdate_Delete);
	unsigned actions = create + delete + record_has(update, GlobalSecondaryIndexUpdate_Update);
	struct slice name = index_name(update);

	if (actions != 1)
		return actions == 0 ? fault_set(f, MSG_INDEX_UPDATE_EMPTY) : fault_set(f, MSG_INDEX_ONE_ACTION);
	for (unsigned i = 0; i < x->names; i++)
		if (slice_eq(x->name[i], name))
			return fault_set(f, MSG_INDEX_UPDATED_TWICE, SLICE_FMT(name));
	if (x->names <= TABLE_GSI_MAX)
		x->name[x->names++] = name;
	x->created += create;
	x->deleted += delete;
	return ERR_OK;
}

static enum err read_updates(struct index_updates *x, const struct record *in, struct fault *f)
{
	enum err rc = ERR_OK;
	uint32_t n;

	*x = (struct index_updates){ .names = 0 };
	for (struct mp m = record_list(in, UpdateTableInput_GlobalSecondaryIndexUpdates, &n); n > 0 && rc == ERR_OK; n--) {
		struct record update;

		if (!record_open(&update, &shape_GlobalSecondaryIndexUpdate, mp_skip(&m)))
			return fault_set(f, MSG_INDEX_UPDATE_EMPTY);
		rc = check_update(x, &update, f);
	}
	return rc;
}

/* ---- what goes together ---- */

/* How many things it is about. */
static unsigned concerns(const struct record *in)
{
	static const unsigned all[] = { UpdateTableInput_BillingMode, UpdateTableInput_DeletionProtectionEnabled,
		UpdateTableInput_OnDemandThroughput, UpdateTableInput_ProvisionedThroughput, UpdateTableInput_SSESpecification,
		UpdateTableInput_StreamSpecification, UpdateTableInput_TableClass, UpdateTableInput_WarmThroughput };
	unsigned n = 0;
	uint32_t updates;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		n += record_has(in, all[i]);
	record_list(in, UpdateTableInput_GlobalSecondaryIndexUpdates, &updates);
	return n + (updates != 0);
}

static enum err check_alone(const struct record *in, const struct index_updates *x, struct fault *f)
{
	static const struct { unsigned member; const char *name; } all[] = {
		{ UpdateTableInput_SSESpecification, "Server-Side Encryption modification" },
		{ UpdateTableInput_TableClass, "TableClass modification" },
		{ UpdateTableInput_DeletionProtectionEnabled, "DeletionProtection modification" },
		{ UpdateTableInput_WarmThroughput, "WarmThroughput" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!record_has(in, all[i].member))
			continue;
		if (all[i].member == UpdateTableInput_WarmThroughput && x->created != 0)
			return fault_set(f, MSG_UPDATE_WARM_INDEX);
		return fault_set(f, MSG_UPDATE_ALONE, all[i].name);
	}
	return ERR_OK;
}

static enum err check_together(const struct record *in, const struct index_updates *x, struct fault *f)
{
	bool stream = record_has(in, UpdateTableInput_StreamSpecification), online = x->created + x->deleted != 0;
	bool units = record_has(in, UpdateTableInput_ProvisionedThroughput);
	enum err rc = concerns(in) > 1 ? check_alone(in, x, f) : ERR_OK;

	if (rc != ERR_OK)
		return rc;
	if (stream && record_has(in, UpdateTableInput_OnDemandThroughput))
		return fault_set(f, MSG_UPDATE_MAXIMUM_STREAM);
	if (stream && (units || record_is(in, UpdateTableInput_BillingMode, "PROVISIONED")))
		return fault_set(f, MSG_UPDATE_STREAM_UNITS);
	if (online && units)
		return fault_set(f, MSG_UPDATE_INDEX_AND_UNITS);
	return online && stream ? fault_set(f, MSG_UPDATE_INDEX_STREAM) : ERR_OK;
}

enum err update_table_check(const struct record *in, struct fault *f)
{
	struct index_updates x;
	enum err rc = concerns(in) == 0 ? fault_set(f, MSG_UPDATE_NOTHING) : units_check_bounds(
		in->m[UpdateTableInput_ProvisionedThroughput], f);

	if (rc == ERR_OK)
		rc = read_updates(&x, in, f);
	if (rc == ERR_OK)
		rc = check_together(in, &x, f);
	return rc == ERR_OK && x.created + x.deleted > 1 ? fault_set(f, MSG_INDEX_ONE_AT_ONCE) : rc;
}
