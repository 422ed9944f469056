/* create_table_check - see create_table_check.h. In the service's order: billing, definitions, keys, indexes, what is left over,
 * stream. */
#include "store/create_table_check.h"

#include "protocol/messages.h"
#include "store/units_check.h"

enum { KEYS_MAX = 2 * KEY_ATTRS_MAX, DEFINITIONS_MAX = 2 + (TABLE_GSI_MAX + TABLE_LSI_MAX + 1) * KEYS_MAX };

/* A key schema taken apart. */
struct keys {
	struct slice name[KEYS_MAX];
	bool hash[KEYS_MAX];
	unsigned n;
};

/* Names in order, without repetition. */
struct names {
	struct slice name[DEFINITIONS_MAX];
	unsigned n;
};

struct check {
	struct names defined;
	struct names used;               /* by the table's keys and its indexes' */
	struct names indexes;
	struct slice table_hash;
	bool on_demand;
	struct arena *arena;
};

static bool names_have(const struct names *s, struct slice name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (slice_eq(s->name[i], name))
			return true;
	return false;
}

static void names_add(struct names *s, struct slice name)
{
	if (!names_have(s, name) && s->n < DEFINITIONS_MAX)
		s->name[s->n++] = name;
}

/* "a, b, c" in the arena. */
static const char *joined(struct arena *a, const struct slice *name, unsigned n)
{
	const char *s = "";

	for (unsigned i = 0; i < n && s != NULL; i++)
		s = arena_printf(a, "%s%s%.*s", s, i != 0 ? ", " : "", SLICE_FMT(name[i]));
	return s != NULL ? s : "";
}

/* ---- key schemas ---- */

static struct keys read_keys(struct mp m, uint32_t n)
{
	struct keys k = { .n = 0 };

	for (; n > 0 && k.n < KEYS_MAX; n--, k.n++) {
		struct record e;

		if (!record_open(&e, &shape_KeySchemaElement, mp_skip(&m)))
			break;
		k.name[k.n] = record_str(&e, KeySchemaElement_AttributeName);
		k.hash[k.n] = record_is(&e, KeySchemaElement_KeyType, "HASH");
	}
	return k;
}

static enum err keys_too_many(struct check *c, const struct keys *k, const char *where, struct fault *f)
{
	const char *s = "";

	for (unsigned i = 0; i < k->n && s != NULL; i++)
		s = arena_printf(c->arena, "%s%sKeySchemaElement(attributeName=%.*s, keyType=%s)", s, i != 0 ? ", " : "",
			SLICE_FMT(k->name[i]), k->hash[i] ? "HASH" : "RANGE");
	return fault_set(f, MSG_KEY_SCHEMA_LENGTH, s != NULL ? s : "", where);
}

static enum err check_defined(struct check *c, const struct keys *k, struct fault *f)
{
	for (unsigned i = 0; i < k->n; i++)
		if (!names_have(&c->defined, k->name[i]))
			return fault_set(f, MSG_KEYS_NOT_DEFINED, joined(c->arena, k->name, k->n),
				joined(c->arena, c->defined.name, c->defined.n));
	for (unsigned i = 0; i < k->n; i++)
		names_add(&c->used, k->name[i]);
	return ERR_OK;
}

/* HASH, or HASH and RANGE, and not twice the same. */
static enum err check_pair(const struct keys *k, struct fault *f)
{
	if (k->n > 1 && slice_eq(k->name[0], k->name[1]))
		return fault_set(f, MSG_KEYS_SAME_NAME);
	if (!k->hash[0])
		return fault_set(f, MSG_FIRST_KEY_NOT_HASH);
	if (k->n > 1 && k->hash[1])
		return fault_set(f, MSG_SECOND_KEY_NOT_RANGE);
	return ERR_OK;
}

/* A global index may have up to four attributes of each kind, partition key first. */
static enum err check_many(const struct keys *k, struct fault *f)
{
	unsigned hashes = 0, ranges = 0;

	for (unsigned i = 0; i < k->n; i++) {
		for (unsigned j = 0; j < i; j++)
			if (slice_eq(k->name[i], k->name[j]))
				return k->n > 2 ? fault_set(f, MSG_KEYS_MULTIPLE) : fault_set(f, MSG_KEYS_SAME_NAME);
		/* In a pair, the classical words. */
		if (k->hash[i] && ranges != 0)
			return k->n > 2 ? fault_set(f, MSG_KEYS_ORDER) : fault_set(f, MSG_FIRST_KEY_NOT_HASH);
		hashes += k->hash[i];
		ranges += !k->hash[i];
	}
	if (hashes == 0)
		return fault_set(f, MSG_FIRST_KEY_NOT_HASH);
	if (hashes > KEY_ATTRS_MAX || ranges > KEY_ATTRS_MAX)
		return fault_set(f, MSG_KEYS_MANY, hashes > KEY_ATTRS_MAX ? "HASH" : "RANGE");
	return ERR_OK;
}

/* ---- the table ---- */

static enum err check_throughput(const struct record *in, struct fault *f)
{
	struct slice s = in->m[CreateTableInput_ProvisionedThroughput];

	if (record_is(in, CreateTableInput_BillingMode, "PAY_PER_REQUEST"))
		return slice_present(s) ? fault_set(f, MSG_ON_DEMAND_UNITS) : ERR_OK;
	return slice_present(s) ? units_check_bounds(s, f) : fault_set(f, MSG_PROVISIONED_UNITS);
}

/* Maximum and warm throughput, of the table or of an index. */
static enum err check_limits(struct slice maximum, struct slice warm, struct slice provisioned, struct slice index, bool on_demand,
	struct fault *f)
{
	enum err rc = maximum_check(maximum, index, on_demand, false, f);

	return rc == ERR_OK ? warm_check_new(warm, index, provisioned, on_demand, f) : rc;
}

static enum err read_definitions(struct check *c, const struct record *in, unsigned member, struct fault *f)
{
	uint32_t n;

	for (struct mp m = record_list(in, member, &n); n > 0; n--) {
		struct record d;

		if (!record_open(&d, &shape_AttributeDefinition, mp_skip(&m)))
			return fault_set(f, MSG_DEFINITIONS_MANY);
		struct slice name = record_str(&d, AttributeDefinition_AttributeName);

		if (names_have(&c->defined, name))
			return fault_set(f, MSG_DEFINED_TWICE, SLICE_FMT(name));
		if (c->defined.n == DEFINITIONS_MAX)
			return fault_set(f, MSG_DEFINITIONS_MANY);
		names_add(&c->defined, name);
	}
	return ERR_OK;
}

static enum err check_table_keys(struct check *c, const struct record *in, struct fault *f)
{
	uint32_t n;
	struct mp m = record_list(in, CreateTableInput_KeySchema, &n);
	struct keys k = read_keys(m, n);

	if (n > 2)
		return keys_too_many(c, &k, "keySchema", f);
	if (k.n > c->defined.n)
		return fault_set(f, MSG_KEYS_WITHOUT_DEFINITION);
	enum err rc = check_defined(c, &k, f);

	if (rc == ERR_OK)
		rc = check_pair(&k, f);
	if (rc != ERR_OK)
		return rc;
	c->table_hash = k.name[0];
	bool indexed = record_has(in, CreateTableInput_LocalSecondaryIndexes)
		|| record_has(in, CreateTableInput_GlobalSecondaryIndexes);

	return !indexed && k.n != c->defined.n ? fault_set(f, MSG_DEFINITIONS_COUNT) : ERR_OK;
}

/* ---- indexes ---- */

static enum err check_projection(struct slice projection, struct fault *f)
{
	struct record p;
	uint32_t n;

	if (!slice_present(projection) || !record_open(&p, &shape_Projection, projection)
	    || !record_has(&p, Projection_ProjectionType))
		return fault_set(f, MSG_PROJECTION_UNKNOWN);
	struct slice type = record_str(&p, Projection_ProjectionType);
	bool include = record_is(&p, Projection_ProjectionType, "INCLUDE");

	if (record_has(&p, Projection_NonKeyAttributes) != include)
		return include ? fault_set(f, MSG_PROJECTION_EMPTY) : fault_set(f, MSG_PROJECTION_EXTRA, SLICE_FMT(type));
	struct mp m = record_list(&p, Projection_NonKeyAttributes, &n);

	while (n > 0) {
		struct slice name = mp_str(&m);
		struct mp rest = m;

		for (uint32_t i = --n; i > 0; i--)
			if (slice_eq(mp_str(&rest), name))
				return fault_set(f, MSG_PROJECTION_TWICE, SLICE_FMT(name));
	}
	return ERR_OK;
}

static enum err check_index_name(struct check *c, struct slice name, struct fault *f)
{
	if (names_have(&c->indexes, name))
		return fault_set(f, MSG_INDEX_TWICE, SLICE_FMT(name));
	names_add(&c->indexes, name);
	return ERR_OK;
}

static enum err check_local_index(struct check *c, struct slice bytes, struct fault *f)
{
	struct record x;
	uint32_t n;

	if (!record_open(&x, &shape_LocalSecondaryIndex, bytes))
		return fault_set(f, MSG_PROJECTION_UNKNOWN);
	struct mp m = record_list(&x, LocalSecondaryIndex_KeySchema, &n);
	struct keys k = read_keys(m, n);
	struct slice name = record_str(&x, LocalSecondaryIndex_IndexName);

	if (n > 2)
		return keys_too_many(c, &k, "localSecondaryIndexes.1.member.keySchema", f);
	enum err rc = check_defined(c, &k, f);

	if (rc == ERR_OK)
		rc = check_pair(&k, f);
	if (rc != ERR_OK)
		return rc;
	if (k.n != 2)
		return fault_set(f, MSG_INDEX_WITHOUT_RANGE, SLICE_FMT(name));
	if (!slice_eq(k.name[0], c->table_hash))
		return fault_set(f, MSG_INDEX_OTHER_HASH, SLICE_FMT(name), SLICE_FMT(k.name[0]), SLICE_FMT(c->table_hash));
	rc = check_projection(x.m[LocalSecondaryIndex_Projection], f);
	return rc == ERR_OK ? check_index_name(c, name, f) : rc;
}

static enum err check_local_indexes(struct check *c, const struct record *in, struct fault *f)
{
	uint32_t n, keys;
	enum err rc = ERR_OK;

	if (!record_has(in, CreateTableInput_LocalSecondaryIndexes))
		return ERR_OK;
	struct mp m = record_list(in, CreateTableInput_LocalSecondaryIndexes, &n);
	uint32_t all = n;

	record_list(in, CreateTableInput_KeySchema, &keys);
	if (n == 0)
		return fault_set(f, MSG_INDEXES_EMPTY, "LocalSecondaryIndexes");
	if (keys != 2)
		return fault_set(f, MSG_TABLE_WITHOUT_RANGE);
	/* One beyond the limit is enough to see that there are too many. */
	for (; n > 0 && all - n <= TABLE_LSI_MAX && rc == ERR_OK; n--)
		rc = check_local_index(c, mp_skip(&m), f);
	return rc == ERR_OK && all > TABLE_LSI_MAX ? fault_set(f, MSG_LOCAL_INDEXES_MANY) : rc;
}

static enum err check_global_index(struct check *c, struct slice bytes, struct fault *f)
{
	struct record x;
	uint32_t n;

	if (!record_open(&x, &shape_GlobalSecondaryIndex, bytes))
		return fault_set(f, MSG_PROJECTION_UNKNOWN);
	struct mp m = record_list(&x, GlobalSecondaryIndex_KeySchema, &n);
	struct keys k = read_keys(m, n);
	struct slice name = record_str(&x, GlobalSecondaryIndex_IndexName);
	bool units = record_has(&x, GlobalSecondaryIndex_ProvisionedThroughput);
	enum err rc = n > KEYS_MAX ? fault_set(f, MSG_KEYS_MANY, "HASH") : check_defined(c, &k, f);

	if (rc == ERR_OK)
		rc = check_many(&k, f);
	if (rc == ERR_OK)
		rc = check_projection(x.m[GlobalSecondaryIndex_Projection], f);
	if (rc != ERR_OK)
		return rc;
	if (c->on_demand && units)
		return fault_set(f, MSG_INDEX_ON_DEMAND_UNITS, SLICE_FMT(name));
	if (!c->on_demand && !units)
		return fault_set(f, MSG_INDEX_PROVISIONED_UNITS, SLICE_FMT(name));
	rc = check_limits(x.m[GlobalSecondaryIndex_OnDemandThroughput], x.m[GlobalSecondaryIndex_WarmThroughput],
		x.m[GlobalSecondaryIndex_ProvisionedThroughput], name, c->on_demand, f);
	return rc == ERR_OK ? check_index_name(c, name, f) : rc;
}

static enum err check_global_indexes(struct check *c, const struct record *in, struct fault *f)
{
	uint32_t n;
	enum err rc = ERR_OK;

	if (!record_has(in, CreateTableInput_GlobalSecondaryIndexes))
		return ERR_OK;
	struct mp m = record_list(in, CreateTableInput_GlobalSecondaryIndexes, &n);
	uint32_t all = n;

	if (n == 0)
		return fault_set(f, MSG_INDEXES_EMPTY, "GlobalSecondaryIndexes");
	for (; n > 0 && all - n <= TABLE_GSI_MAX && rc == ERR_OK; n--)
		rc = check_global_index(c, mp_skip(&m), f);
	return rc == ERR_OK && all > TABLE_GSI_MAX ? fault_set(f, MSG_GLOBAL_INDEXES_MANY) : rc;
}

static enum err check_used(const struct check *c, struct fault *f)
{
	if (c->used.n == c->defined.n)
		return ERR_OK;
	return fault_set(f, MSG_DEFINITIONS_UNUSED, joined(c->arena, c->defined.name, c->defined.n),
		joined(c->arena, c->used.name, c->used.n));
}

static enum err check_stream(const struct record *in, struct fault *f)
{
	struct record s;
	struct slice bytes = in->m[CreateTableInput_StreamSpecification];

	if (!slice_present(bytes) || !record_open(&s, &shape_StreamSpecification, bytes))
		return ERR_OK;
	bool enabled = record_bool(&s, StreamSpecification_StreamEnabled);

	if (enabled != record_has(&s, StreamSpecification_StreamViewType))
		return enabled ? fault_set(f, MSG_STREAM_WITHOUT_VIEW) : fault_set(f, MSG_STREAM_VIEW_WITHOUT);
	return ERR_OK;
}

/* ---- all of it ---- */

enum err create_table_check(const struct record *in, struct arena *a, struct fault *f)
{
	struct check *c = arena_zalloc(a, sizeof *c);

	if (c == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	c->arena = a;
	c->on_demand = record_is(in, CreateTableInput_BillingMode, "PAY_PER_REQUEST");
	enum err rc = check_throughput(in, f);

	if (rc == ERR_OK)
		rc = check_limits(in->m[CreateTableInput_OnDemandThroughput], in->m[CreateTableInput_WarmThroughput],
			in->m[CreateTableInput_ProvisionedThroughput], SLICE_NONE, c->on_demand, f);
	if (rc == ERR_OK)
		rc = read_definitions(c, in, CreateTableInput_AttributeDefinitions, f);
	if (rc == ERR_OK)
		rc = check_table_keys(c, in, f);
	if (rc == ERR_OK)
		rc = check_local_indexes(c, in, f);
	if (rc == ERR_OK)
		rc = check_global_indexes(c, in, f);
	if (rc == ERR_OK)
		rc = check_used(c, f);
	return rc == ERR_OK ? check_stream(in, f) : rc;
}

enum err global_index_check(const struct record *in, unsigned definitions, struct slice index, bool on_demand,
	struct arena *a, struct fault *f)
{
	struct check *c = arena_zalloc(a, sizeof *c);

	if (c == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	c->arena = a;
	c->on_demand = on_demand;
	enum err rc = read_definitions(c, in, definitions, f);

	return rc == ERR_OK ? check_global_index(c, index, f) : rc;
}
