/* store_describe - the operations that only look: tables, their list, and what hangs on them. */
#include "protocol/messages.h"
#include "store/partition.h"
#include "store/control.h"
#include "store/describe.h"
#include "store/scaling_api.h"
#include "store/streams.h"
#include "store/table_state.h"
#include "store/write_txn.h"

enum { LIST_LIMIT = 100 };

static enum err find_table(struct store_reader *r, struct slice name, const struct catalog_table **t, struct fault *f)
{
	*t = reader_catalog_table(r, name);
	return *t != NULL ? ERR_OK : fault_set(f, MSG_TABLE_NOT_FOUND, SLICE_FMT(name));
}

static enum err read_counters(struct store_reader *r, const struct table *t, struct counters c[DESCRIBED_MAX], struct fault *f)
{
	struct view *v;
	enum err rc = reader_view(r, &v, f);

	if (rc == ERR_OK)
		rc = partitions_view(v, &t->parts, &c[0], f);
	for (unsigned i = 0; i < t->gsis + t->lsis && rc == ERR_OK; i++)
		rc = partitions_view(v, &t->index[i].parts, &c[i + 1], f);
	return rc;
}

static enum err describe_table(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct counters c[DESCRIBED_MAX];
	const struct catalog_table *t;
	unsigned n = 0;
	enum err rc = find_table(r, record_str(&req->in, DescribeTableInput_TableName), &t, f);

	if (rc == ERR_OK)
		rc = read_counters(r, &t->table, c, f);
	if (rc != ERR_OK)
		return rc;
	size_t at = record_begin(out);

	record_key(out, &n, DescribeTableOutput_Table);
	table_description_put(out, r->store, t, table_status_name(table_state_now(r->store, t)), false, c);
	record_end(out, at, n);
	return ERR_OK;
}

/* The place of the first table from `at` on that has not gone. */
static size_t next_table(const struct store *s, const struct catalog *c, size_t at)
{
	while (at < c->n && table_gone(s, c->by_name[at]))
		at++;
	return at;
}

static enum err list_tables(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	const struct catalog *c = reader_catalog(r);
	struct slice after = record_str(&req->in, ListTablesInput_ExclusiveStartTableName);
	size_t limit = (size_t)record_int(&req->in, ListTablesInput_Limit, LIST_LIMIT);
	size_t from = next_table(r->store, c, slice_present(after) ? catalog_after(c, after) : 0);
	size_t to = from, last = from;
	uint32_t listed = 0;
	unsigned n = 0;

	(void)f;
	for (; to < c->n && listed < limit; to = next_table(r->store, c, to + 1), listed++)
		last = to;
	size_t at = record_begin(out);

	if (to < c->n)
		record_put_str(out, &n, ListTablesOutput_LastEvaluatedTableName, c->by_name[last]->table.name);
	record_key(out, &n, ListTablesOutput_TableNames);
	mp_put_array(out, listed);
	for (size_t i = from; i < to; i = next_table(r->store, c, i + 1))
		mp_put_str(out, c->by_name[i]->table.name);
	record_end(out, at, n);
	return ERR_OK;
}

static enum err describe_ttl(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	const struct catalog_table *t;
	unsigned n = 0, k = 0;
	enum err rc = find_table(r, record_str(&req->in, DescribeTimeToLiveInput_TableName), &t, f);

	if (rc == ERR_OK && !table_serves(r->store, t)) {
		const char *state = table_status_name(table_state_now(r->store, t));

		rc = fault_set(f, MSG_TTL_NOT_DESCRIBED, state, state);
	}
	if (rc != ERR_OK)
		return rc;
	bool enabled = slice_present(t->facts.ttl_attribute);
	size_t at = record_begin(out);

	record_key(out, &n, DescribeTimeToLiveOutput_TimeToLiveDescription);
	size_t inner = record_begin(out);

	if (enabled)
		record_put_str(out, &k, TimeToLiveDescription_AttributeName, t->facts.ttl_attribute);
	record_put_str(out, &k, TimeToLiveDescription_TimeToLiveStatus, slice_str(enabled ? "ENABLED" : "DISABLED"));
	record_end(out, inner, k);
	record_end(out, at, n);
	return ERR_OK;
}

static enum err list_tags(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct slice arn = record_str(&req->in, ListTagsOfResourceInput_ResourceArn);
	const struct catalog_table *t;
	unsigned n = 0;

	enum err rc = control_arn_check(arn, f);

	if (rc != ERR_OK)
		return rc;
	t = reader_catalog_table(r, arn);
	if (t == NULL || !table_serves(r->store, t)) {
		/* Of our own account we know that it is not there; what another one has is not ours to say. */
		const char *own = table_arn(r->store, control_table_name(arn), req->arena);

		return own != NULL && !slice_eq(slice_str(own), arn) ? fault_set(f, MSG_RESOURCE_DENIED, SLICE_FMT(arn))
			: fault_set(f, MSG_RESOURCE_UNKNOWN, SLICE_FMT(arn));
	}
	size_t at = record_begin(out);

	record_key(out, &n, ListTagsOfResourceOutput_Tags);
	if (record_has(&t->spec, CreateTableInput_Tags))
		buf_put_slice(out, t->spec.m[CreateTableInput_Tags]);
	else
		mp_put_array(out, 0);
	record_end(out, at, n);
	return ERR_OK;
}

static enum err describe_limits(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	unsigned n = 0;
	size_t at = record_begin(out);

	(void)r, (void)req, (void)f;
	record_put_int(out, &n, DescribeLimitsOutput_AccountMaxReadCapacityUnits, 80000);
	record_put_int(out, &n, DescribeLimitsOutput_AccountMaxWriteCapacityUnits, 80000);
	record_put_int(out, &n, DescribeLimitsOutput_TableMaxReadCapacityUnits, 40000);
	record_put_int(out, &n, DescribeLimitsOutput_TableMaxWriteCapacityUnits, 40000);
	record_end(out, at, n);
	return ERR_OK;
}

static enum err describe_backups(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	const struct catalog_table *t;
	unsigned n = 0, k = 0, j = 0;
	struct slice name = record_str(&req->in, DescribeContinuousBackupsInput_TableName);

	t = reader_catalog_table(r, name);
	if (t == NULL)
		return fault_set(f, MSG_BACKUP_TABLE, SLICE_FMT(name));
	/* The service says DISABLED of a young table and ENABLED of an older one; here nothing can be backed up this way. */
	size_t at = record_begin(out);

	record_key(out, &n, DescribeContinuousBackupsOutput_ContinuousBackupsDescription);
	size_t backups = record_begin(out);

	record_put_str(out, &k, ContinuousBackupsDescription_ContinuousBackupsStatus, SLICE_LIT("DISABLED"));
	record_key(out, &k, ContinuousBackupsDescription_PointInTimeRecoveryDescription);
	size_t recovery = record_begin(out);

	record_put_str(out, &j, PointInTimeRecoveryDescription_PointInTimeRecoveryStatus, SLICE_LIT("DISABLED"));
	record_end(out, recovery, j);
	record_end(out, backups, k);
	record_end(out, at, n);
	return ERR_OK;
}

static describe_fn *const describe_of[OP_COUNT] = {
	[OP_DescribeTable] = describe_table,
	[OP_ListTables] = list_tables,
	[OP_DescribeTimeToLive] = describe_ttl,
	[OP_ListTagsOfResource] = list_tags,
	[OP_DescribeLimits] = describe_limits,
	[OP_DescribeContinuousBackups] = describe_backups,
	[OP_ListStreams] = list_streams,
	[OP_DescribeStream] = describe_stream,
	[OP_GetShardIterator] = get_shard_iterator,
	[OP_GetRecords] = get_records,
	[OP_DescribeScalableTargets] = describe_targets,
	[OP_DescribeScalingPolicies] = describe_policies,
};

enum err store_describe(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	size_t before = out->n;
	enum err rc = describe_of[req->op] == NULL ? fault_set(f, MSG_NOT_SUPPORTED, op_info[req->op].name)
		: request_check(req, f);

	if (rc == ERR_OK)
		rc = describe_of[req->op](r, req, out, f);
	if (rc == ERR_OK && out->failed)
		rc = fault_set(f, MSG_NO_MEMORY);
	if (rc != ERR_OK && !out->failed)
		out->n = before;
	return rc;
}
