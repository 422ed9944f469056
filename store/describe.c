/* describe - see describe.h. A TableDescription member by member, in the order of their identifiers. */
#include "store/describe.h"

#include <stdio.h>

#include "protocol/messages.h"
#include "store/decreases.h"
#include "store/table_state.h"

/* ---- pieces ---- */

static void put_copy(struct buf *b, unsigned *n, unsigned id, struct slice bytes)
{
	if (!slice_present(bytes))
		return;
	record_key(b, n, id);
	buf_put_slice(b, bytes);
}

static void put_text(struct buf *b, unsigned *n, unsigned id, const char *s)
{
	record_put_str(b, n, id, slice_str(s));
}

void table_arn_print(struct buf *text, const struct store *s, struct slice table, const char *kind, struct slice rest)
{
	buf_printf(text, "arn:aws:dynamodb:%s:%s:table/%.*s", s->region, s->account, SLICE_FMT(table));
	if (kind != NULL)
		buf_printf(text, "/%s/%.*s", kind, SLICE_FMT(rest));
}

void table_arn_put(struct buf *b, unsigned *n, unsigned id, const struct store *s, struct slice table, const char *kind,
	struct slice rest)
{
	struct buf arn;

	buf_init(&arn);
	table_arn_print(&arn, s, table, kind, rest);
	record_put_str(b, n, id, buf_slice(&arn));
	b->failed |= arn.failed;
	buf_release(&arn);
}

const char *table_arn(const struct store *s, struct slice name, struct arena *a)
{
	return arena_printf(a, "arn:aws:dynamodb:%s:%s:table/%.*s", s->region, s->account, SLICE_FMT(name));
}

static double seconds(uint64_t ms)
{
	return (double)ms / 1000;
}

static void put_throughput(struct buf *b, const struct store *s, struct units u, const struct throughput_past *past)
{
	unsigned n = 0;
	size_t at = record_begin(b);

	if (past != NULL && past->decreased_ms != 0)
		record_put_double(b, &n, ProvisionedThroughputDescription_LastDecreaseDateTime, seconds(past->decreased_ms));
	if (past != NULL && past->increased_ms != 0)
		record_put_double(b, &n, ProvisionedThroughputDescription_LastIncreaseDateTime, seconds(past->increased_ms));
	record_put_int(b, &n, ProvisionedThroughputDescription_NumberOfDecreasesToday, decreases_today(past, store_now_ms(s)));
	record_put_int(b, &n, ProvisionedThroughputDescription_ReadCapacityUnits, u.read);
	record_put_int(b, &n, ProvisionedThroughputDescription_WriteCapacityUnits, u.write);
	record_end(b, at, n);
}

/* Tables and global indexes have the same three members. */
_Static_assert((int)TableWarmThroughputDescription_Status == (int)GlobalSecondaryIndexWarmThroughputDescription_Status
	&& (int)TableWarmThroughputDescription_ReadUnitsPerSecond
		== (int)GlobalSecondaryIndexWarmThroughputDescription_ReadUnitsPerSecond, "one writer for both");

static void put_warm(struct buf *b, struct units warm)
{
	unsigned n = 0;
	size_t at = record_begin(b);

	record_put_int(b, &n, TableWarmThroughputDescription_ReadUnitsPerSecond, warm.read);
	put_text(b, &n, TableWarmThroughputDescription_Status, "ACTIVE");
	record_put_int(b, &n, TableWarmThroughputDescription_WriteUnitsPerSecond, warm.write);
	record_end(b, at, n);
}

/* ---- indexes ---- */

static void put_global(struct buf *b, const struct store *s, const struct catalog_table *t, struct slice bytes,
	const char *status, const struct table_index *index, const struct counters *c)
{
	bool building = !index->readable, creating = building || table_state_creates_index(s, t, index->id);
	struct record x;
	unsigned n = 0;

	if (!record_open(&x, &shape_GlobalSecondaryIndex, bytes))
		return; /* the catalog's own bytes: they were opened before */
	struct slice provisioned = x.m[GlobalSecondaryIndex_ProvisionedThroughput];
	struct slice name = record_str(&x, GlobalSecondaryIndex_IndexName);
	size_t at = record_begin(b);

	if (building)
		record_put_bool(b, &n, GlobalSecondaryIndexDescription_Backfilling, true);
	table_arn_put(b, &n, GlobalSecondaryIndexDescription_IndexArn, s, t->table.name, "index", name);
	record_put_str(b, &n, GlobalSecondaryIndexDescription_IndexName, name);
	record_put_int(b, &n, GlobalSecondaryIndexDescription_IndexSizeBytes, (int64_t)c->bytes);
	put_text(b, &n, GlobalSecondaryIndexDescription_IndexStatus, creating ? "CREATING" : status);
	record_put_int(b, &n, GlobalSecondaryIndexDescription_ItemCount, (int64_t)c->entries);
	put_copy(b, &n, GlobalSecondaryIndexDescription_KeySchema, x.m[GlobalSecondaryIndex_KeySchema]);
	put_copy(b, &n, GlobalSecondaryIndexDescription_OnDemandThroughput, x.m[GlobalSecondaryIndex_OnDemandThroughput]);
	put_copy(b, &n, GlobalSecondaryIndexDescription_Projection, x.m[GlobalSecondaryIndex_Projection]);
	record_key(b, &n, GlobalSecondaryIndexDescription_ProvisionedThroughput);
	put_throughput(b, s, units_of(provisioned, UNITS_NONE), throughput_past_of(&t->facts, index->id));
	record_key(b, &n, GlobalSecondaryIndexDescription_WarmThroughput);
	put_warm(b, units_warm(x.m[GlobalSecondaryIndex_WarmThroughput], provisioned, t->table.on_demand));
	record_end(b, at, n);
}

static void put_local(struct buf *b, const struct store *s, const struct catalog_table *t, struct slice bytes,
	const struct counters *c)
{
	struct record x;
	unsigned n = 0;

	if (!record_open(&x, &shape_LocalSecondaryIndex, bytes))
		return;
	struct slice name = record_str(&x, LocalSecondaryIndex_IndexName);
	size_t at = record_begin(b);

	table_arn_put(b, &n, LocalSecondaryIndexDescription_IndexArn, s, t->table.name, "index", name);
	record_put_str(b, &n, LocalSecondaryIndexDescription_IndexName, name);
	record_put_int(b, &n, LocalSecondaryIndexDescription_IndexSizeBytes, (int64_t)c->bytes);
	record_put_int(b, &n, LocalSecondaryIndexDescription_ItemCount, (int64_t)c->entries);
	put_copy(b, &n, LocalSecondaryIndexDescription_KeySchema, x.m[LocalSecondaryIndex_KeySchema]);
	put_copy(b, &n, LocalSecondaryIndexDescription_Projection, x.m[LocalSecondaryIndex_Projection]);
	record_end(b, at, n);
}

static void put_globals(struct buf *b, unsigned *n, const struct store *s, const struct catalog_table *t,
	const char *status, const struct counters *c)
{
	uint32_t k;

	if (t->table.gsis == 0)
		return;
	record_key(b, n, TableDescription_GlobalSecondaryIndexes);
	struct mp m = record_list(&t->spec, CreateTableInput_GlobalSecondaryIndexes, &k);

	mp_put_array(b, k);
	for (uint32_t i = 0; i < k; i++)
		put_global(b, s, t, mp_skip(&m), status, &t->table.index[i], &c[i]);
}

static void put_locals(struct buf *b, unsigned *n, const struct store *s, const struct catalog_table *t,
	const struct counters *c)
{
	uint32_t k;

	if (t->table.lsis == 0)
		return;
	record_key(b, n, TableDescription_LocalSecondaryIndexes);
	struct mp m = record_list(&t->spec, CreateTableInput_LocalSecondaryIndexes, &k);

	mp_put_array(b, k);
	for (uint32_t i = 0; i < k; i++)
		put_local(b, s, t, mp_skip(&m), &c[i]);
}

/* ---- the table ---- */

static void put_billing(struct buf *b, unsigned *n, const struct catalog_table *t)
{
	unsigned k = 0;

	if (!t->table.on_demand && t->facts.on_demand_since_ms == 0)
		return;
	record_key(b, n, TableDescription_BillingModeSummary);
	size_t at = record_begin(b);

	put_text(b, &k, BillingModeSummary_BillingMode, t->table.on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
	if (t->facts.on_demand_since_ms != 0)
		record_put_double(b, &k, BillingModeSummary_LastUpdateToPayPerRequestDateTime,
			seconds(t->facts.on_demand_since_ms));
	record_end(b, at, k);
}

static void put_encryption(struct buf *b, unsigned *n, const struct store *s, const struct catalog_table *t)
{
	struct record spec;
	struct slice bytes = t->spec.m[CreateTableInput_SSESpecification];
	unsigned k = 0;

	if (!slice_present(bytes) || !record_open(&spec, &shape_SSESpecification, bytes)
	    || !record_bool(&spec, SSESpecification_Enabled))
		return;
	struct slice key = record_str(&spec, SSESpecification_KMSMasterKeyId);
	struct buf arn;

	buf_init(&arn);
	if (slice_present(key) && slice_starts_with(key, SLICE_LIT("arn:")))
		buf_put_slice(&arn, key);
	else
		buf_printf(&arn, "arn:aws:kms:%s:%s:key/%.*s", s->region, s->account,
			SLICE_FMT(slice_present(key) ? key : t->facts.uuid));
	record_key(b, n, TableDescription_SSEDescription);
	size_t at = record_begin(b);

	record_put_str(b, &k, SSEDescription_KMSMasterKeyArn, buf_slice(&arn));
	put_text(b, &k, SSEDescription_SSEType, "KMS");
	put_text(b, &k, SSEDescription_Status, "ENABLED");
	record_end(b, at, k);
	b->failed |= arn.failed;
	buf_release(&arn);
}

static void put_class(struct buf *b, unsigned *n, const struct catalog_table *t)
{
	unsigned k = 0;

	if (!record_has(&t->spec, CreateTableInput_TableClass))
		return;
	record_key(b, n, TableDescription_TableClassSummary);
	size_t at = record_begin(b);

	record_put_str(b, &k, TableClassSummary_TableClass, record_str(&t->spec, CreateTableInput_TableClass));
	record_end(b, at, k);
}

static void put_stream(struct buf *b, unsigned *n, const struct store *s, const struct catalog_table *t)
{
	if (!slice_present(t->facts.stream_label))
		return;
	table_arn_put(b, n, TableDescription_LatestStreamArn, s, t->table.name, "stream", t->facts.stream_label);
	record_put_str(b, n, TableDescription_LatestStreamLabel, t->facts.stream_label);
}

/* Members in the order of their identifiers. */
void table_description_put(struct buf *b, const struct store *s, const struct catalog_table *t, const char *status,
	bool brief, const struct counters *c)
{
	const struct record *spec = &t->spec;
	struct slice provisioned = spec->m[CreateTableInput_ProvisionedThroughput];
	unsigned n = 0;
	size_t at = record_begin(b);

	if (!brief)
		put_copy(b, &n, TableDescription_AttributeDefinitions, spec->m[CreateTableInput_AttributeDefinitions]);
	put_billing(b, &n, t);
	if (!brief)
		record_put_double(b, &n, TableDescription_CreationDateTime, seconds(t->facts.created_ms));
	record_put_bool(b, &n, TableDescription_DeletionProtectionEnabled,
		record_bool(spec, CreateTableInput_DeletionProtectionEnabled));
	if (!brief)
		put_globals(b, &n, s, t, status, c + 1);
	record_put_int(b, &n, TableDescription_ItemCount, (int64_t)c->entries);
	if (!brief)
		put_copy(b, &n, TableDescription_KeySchema, spec->m[CreateTableInput_KeySchema]);
	put_stream(b, &n, s, t);
	if (!brief)
		put_locals(b, &n, s, t, c + 1 + t->table.gsis);
	put_copy(b, &n, TableDescription_OnDemandThroughput, spec->m[CreateTableInput_OnDemandThroughput]);
	record_key(b, &n, TableDescription_ProvisionedThroughput);
	put_throughput(b, s, units_of(provisioned, UNITS_NONE), throughput_past_of(&t->facts, t->table.id));
	put_encryption(b, &n, s, t);
	if (t->streams)
		put_copy(b, &n, TableDescription_StreamSpecification, spec->m[CreateTableInput_StreamSpecification]);
	table_arn_put(b, &n, TableDescription_TableArn, s, t->table.name, NULL, SLICE_NONE);
	put_class(b, &n, t);
	record_put_str(b, &n, TableDescription_TableId, t->facts.uuid);
	record_put_str(b, &n, TableDescription_TableName, t->table.name);
	record_put_int(b, &n, TableDescription_TableSizeBytes, (int64_t)c->bytes);
	put_text(b, &n, TableDescription_TableStatus, status);
	record_key(b, &n, TableDescription_WarmThroughput);
	put_warm(b, units_warm(spec->m[CreateTableInput_WarmThroughput], provisioned, t->table.on_demand));
	record_end(b, at, n);
}
