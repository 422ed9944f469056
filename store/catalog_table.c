/* catalog_table - a table as the engine keeps it, and back.
 *
 *    array [ format (7), table id, [index ids], [index is being built], uuid, created ms, on demand since ms, stream label | nil,
 *            attribute of time to live | nil, [[open shard's id, first hash]], expiry index id, it is being filled,
 *            [[id, decreases of throughput, last decrease ms, last increase ms]] (from format 3 on),
 *            [[owner, partition id, first hash, it is uncounted]] (from format 4 on),
 *            [switches to on demand, ms] (from format 5 on),
 *            [status, until ms, index id that is being added] (from format 6 on),
 *            [[owner, use, minimum, maximum, target, cooldown in, out, last in ms, out ms, never in, created ms, policy | nil]]
 *            (from format 7 on), CreateTableInput ]
 *
 * The CreateTableInput is what was asked for, as changed since by UpdateTable and its like: the one source from which
 * DescribeTable, the key schemas and the indexes are made. Index ids follow its GlobalSecondaryIndexes, then its
 * LocalSecondaryIndexes. */
#include <stdlib.h>

#include "protocol/messages.h"
#include "store/catalog.h"
#include "store/heat.h"
#include "store/throughput.h"

enum { FORMAT = 7, FORMAT_OLDEST = 2, FIELDS_OLDEST = 13, PAST_FIELDS = 4, ROW_FIELDS = 4, STATE_FIELDS = 3,
	SCALE_NUMBERS = 11 };
enum { FIELDS = FIELDS_OLDEST + FORMAT - FORMAT_OLDEST }; /* each format added one */

static void put_optional(struct buf *b, struct slice s)
{
	if (slice_present(s))
		mp_put_str(b, s);
	else
		mp_put_nil(b);
}

static struct slice get_optional(struct mp *m)
{
	if (mp_peek(m) != MP_NIL)
		return mp_str(m);
	mp_nil(m);
	return SLICE_NONE;
}

static void put_scale(struct buf *out, const struct catalog_facts *facts)
{
	mp_put_array(out, facts->scaled);
	for (unsigned i = 0; i < facts->scaled; i++) {
		const struct autoscale_row *r = &facts->scale[i];
		const int64_t field[SCALE_NUMBERS] = { r->owner, r->use, r->min, r->max, r->target, r->in_cooldown_s, r->out_cooldown_s,
			(int64_t)r->in_ms, (int64_t)r->out_ms, r->out_only, (int64_t)r->created_ms };

		mp_put_array(out, SCALE_NUMBERS + 1);
		for (unsigned k = 0; k < SCALE_NUMBERS; k++)
			mp_put_int(out, field[k]);
		put_optional(out, r->policy);
	}
}

void catalog_draft_put(struct buf *out, const struct catalog_draft *d)
{
	mp_put_array(out, FIELDS);
	mp_put_int(out, FORMAT);
	mp_put_int(out, d->id);
	mp_put_array(out, d->indexes);
	for (unsigned i = 0; i < d->indexes; i++)
		mp_put_int(out, d->index_id[i]);
	mp_put_array(out, d->indexes);
	for (unsigned i = 0; i < d->indexes; i++)
		mp_put_bool(out, d->building != NULL && d->building[i]);
	mp_put_str(out, d->facts.uuid);
	mp_put_int(out, (int64_t)d->facts.created_ms);
	mp_put_int(out, (int64_t)d->facts.on_demand_since_ms);
	put_optional(out, d->facts.stream_label);
	put_optional(out, d->facts.ttl_attribute);
	mp_put_array(out, d->facts.shards);
	for (unsigned i = 0; i < d->facts.shards; i++) {
		mp_put_array(out, 2);
		mp_put_int(out, d->facts.shard[i].id);
		mp_put_int(out, (int64_t)d->facts.shard[i].from);
	}
	mp_put_int(out, d->facts.ttl_id);
	mp_put_bool(out, d->facts.ttl_filling);
	mp_put_array(out, d->facts.pasts);
	for (unsigned i = 0; i < d->facts.pasts; i++) {
		const struct throughput_past *p = &d->facts.past[i];

		mp_put_array(out, PAST_FIELDS);
		mp_put_int(out, p->id);
		mp_put_int(out, p->decreases);
		mp_put_int(out, (int64_t)p->decreased_ms);
		mp_put_int(out, (int64_t)p->increased_ms);
	}
	mp_put_array(out, d->facts.rows);
	for (unsigned i = 0; i < d->facts.rows; i++) {
		const struct partition_row *r = &d->facts.row[i];

		mp_put_array(out, ROW_FIELDS);
		mp_put_int(out, r->owner);
		mp_put_int(out, r->part.id);
		mp_put_int(out, (int64_t)r->part.from);
		mp_put_bool(out, r->part.uncounted);
	}
	mp_put_array(out, SWITCHES_KEPT);
	for (unsigned i = 0; i < SWITCHES_KEPT; i++)
		mp_put_int(out, (int64_t)d->facts.switched_ms[i]);
	mp_put_array(out, STATE_FIELDS);
	mp_put_int(out, d->facts.state.status);
	mp_put_int(out, (int64_t)d->facts.state.until_ms);
	mp_put_int(out, d->facts.state.index);
	put_scale(out, &d->facts);
	buf_put_slice(out, d->spec);
}

static const char *const view_name[] = { [STREAM_KEYS_ONLY] = "KEYS_ONLY", [STREAM_NEW_IMAGE] = "NEW_IMAGE",
	[STREAM_OLD_IMAGE] = "OLD_IMAGE", [STREAM_NEW_AND_OLD_IMAGES] = "NEW_AND_OLD_IMAGES" };

const char *stream_view_name(enum stream_view v)
{
	return view_name[v];
}

enum stream_view stream_view_of(const struct record *spec)
{
	struct slice bytes = spec->m[CreateTableInput_StreamSpecification];
	struct record s;
	unsigned view = STREAM_KEYS_ONLY;

	if (!slice_present(bytes) || !record_open(&s, &shape_StreamSpecification, bytes))
		return STREAM_KEYS_ONLY;
	for (unsigned i = 0; i < sizeof view_name / sizeof *view_name; i++)
		if (record_is(&s, StreamSpecification_StreamViewType, view_name[i]))
			view = i;
	return (enum stream_view)view;
}

/* ---- decoding; false = damaged ---- */

/* Type of an attribute by AttributeDefinitions. */
static bool attribute_type(const struct record *spec, struct slice name, enum value_type *type)
{
	uint32_t n;

	for (struct mp m = record_list(spec, CreateTableInput_AttributeDefinitions, &n); n > 0; n--) {
		struct record def;

		if (!record_open(&def, &shape_AttributeDefinition, mp_skip(&m)))
			return false;
		if (!slice_eq(record_str(&def, AttributeDefinition_AttributeName), name))
			continue;
		*type = record_is(&def, AttributeDefinition_AttributeType, "S") ? VALUE_S
			: record_is(&def, AttributeDefinition_AttributeType, "N") ? VALUE_N : VALUE_B;
		return true;
	}
	return false;
}

static bool decode_schema(const struct record *spec, struct mp m, uint32_t n, struct key_schema *ks)
{
	for (; n > 0; n--) {
		struct record e;

		if (!record_open(&e, &shape_KeySchemaElement, mp_skip(&m)))
			return false;
		bool hash = record_is(&e, KeySchemaElement_KeyType, "HASH");
		unsigned *count = hash ? &ks->hashes : &ks->ranges;

		if (*count == KEY_ATTRS_MAX)
			return false;
		struct key_attr *a = hash ? &ks->hash[*count] : &ks->range[*count];

		a->name = record_str(&e, KeySchemaElement_AttributeName);
		if (!attribute_type(spec, a->name, &a->type))
			return false;
		(*count)++;
	}
	return ks->hashes != 0;
}

static bool decode_projection(struct slice bytes, struct arena *a, struct table_index *x)
{
	struct record p;
	uint32_t n;

	if (!record_open(&p, &shape_Projection, bytes))
		return false;
	x->projection = record_is(&p, Projection_ProjectionType, "ALL") ? INDEX_ALL
		: record_is(&p, Projection_ProjectionType, "INCLUDE") ? INDEX_INCLUDE : INDEX_KEYS_ONLY;
	if (x->projection != INDEX_INCLUDE)
		return true;
	struct mp m = record_list(&p, Projection_NonKeyAttributes, &n);

	x->include = arena_alloc(a, (n + 1) * sizeof *x->include);
	if (x->include == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++)
		x->include[i] = mp_str(&m);
	x->includes = n;
	return !m.bad;
}

/* The members that global and local indexes share stand at different places. */
struct index_shape { const struct shape *shape; unsigned name, schema, projection; bool global; };
static const struct index_shape global_shape = { &shape_GlobalSecondaryIndex, GlobalSecondaryIndex_IndexName,
	GlobalSecondaryIndex_KeySchema, GlobalSecondaryIndex_Projection, true };
static const struct index_shape local_shape = { &shape_LocalSecondaryIndex, LocalSecondaryIndex_IndexName,
	LocalSecondaryIndex_KeySchema, LocalSecondaryIndex_Projection, false };

static bool decode_indexes(const struct record *spec, struct mp m, uint32_t n, const struct index_shape *s,
	struct arena *a, struct table_index *x)
{
	for (uint32_t i = 0; i < n; i++) {
		struct record r;
		uint32_t elements;

		if (!record_open(&r, s->shape, mp_skip(&m)))
			return false;
		struct mp schema = record_list(&r, s->schema, &elements);

		x[i].name = record_str(&r, s->name);
		x[i].global = s->global;
		if (s->global)
			x[i].limit = throughput_of(record_is(spec, CreateTableInput_BillingMode, "PAY_PER_REQUEST"),
				r.m[GlobalSecondaryIndex_ProvisionedThroughput], r.m[GlobalSecondaryIndex_OnDemandThroughput],
				r.m[GlobalSecondaryIndex_WarmThroughput]);
		if (!decode_schema(spec, schema, elements, &x[i].key) || !decode_projection(r.m[s->projection], a, &x[i]))
			return false;
	}
	return !m.bad;
}

/* Everything of t->table that follows from t->spec; ids, building: of the indexes. */
static bool decode_spec(struct catalog_table *t, struct mp ids, uint32_t n_ids, struct mp building)
{
	const struct record *spec = &t->spec;
	uint32_t elements, gsis, lsis;
	struct mp schema = record_list(spec, CreateTableInput_KeySchema, &elements);
	struct mp g = record_list(spec, CreateTableInput_GlobalSecondaryIndexes, &gsis);
	struct mp l = record_list(spec, CreateTableInput_LocalSecondaryIndexes, &lsis);

	t->table.name = record_str(spec, CreateTableInput_TableName);
	t->table.on_demand = record_is(spec, CreateTableInput_BillingMode, "PAY_PER_REQUEST");
	t->table.limit = throughput_of(t->table.on_demand, spec->m[CreateTableInput_ProvisionedThroughput],
		spec->m[CreateTableInput_OnDemandThroughput], spec->m[CreateTableInput_WarmThroughput]);
	t->table.gsis = gsis;
	t->table.lsis = lsis;
	if (gsis + lsis != n_ids || !decode_schema(spec, schema, elements, &t->table.key))
		return false;
	struct table_index *x = arena_zalloc(&t->arena, (gsis + lsis + 1) * sizeof *x);

	if (x == NULL)
		return false;
	for (uint32_t i = 0; i < n_ids; i++) {
		x[i].id = (uint32_t)mp_uint(&ids);
		x[i].readable = !mp_bool(&building);
		t->building |= !x[i].readable;
	}
	t->table.index = t->index = x;
	return !ids.bad && !building.bad && decode_indexes(spec, g, gsis, &global_shape, &t->arena, x)
		&& decode_indexes(spec, l, lsis, &local_shape, &t->arena, x + gsis);
}

static bool decode_shards(struct mp *m, struct catalog_table *t)
{
	uint32_t n = mp_array(m);
	struct stream_shard *s = arena_alloc(&t->arena, (n + 1) * sizeof *s);

	if (s == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (mp_array(m) != 2)
			return false;
		s[i].id = (uint32_t)mp_uint(m);
		s[i].from = (uint64_t)mp_int(m);
	}
	t->facts.shard = s;
	t->facts.shards = n;
	return !m->bad;
}

static bool decode_pasts(struct mp *m, struct catalog_table *t)
{
	uint32_t n = mp_array(m);
	struct throughput_past *p = arena_alloc(&t->arena, (n + 1) * sizeof *p);

	if (p == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (mp_array(m) != PAST_FIELDS)
			return false;
		p[i].id = (uint32_t)mp_uint(m);
		p[i].decreases = (unsigned)mp_uint(m);
		p[i].decreased_ms = mp_uint(m);
		p[i].increased_ms = mp_uint(m);
	}
	t->facts.past = p;
	t->facts.pasts = n;
	return !m->bad;
}

static bool decode_rows(struct mp *m, struct catalog_table *t)
{
	uint32_t n = mp_array(m);
	struct partition_row *r = arena_alloc(&t->arena, (n + 1) * sizeof *r);

	if (r == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (mp_array(m) != ROW_FIELDS)
			return false;
		r[i].owner = (uint32_t)mp_uint(m);
		r[i].part.id = (uint32_t)mp_uint(m);
		r[i].part.from = (uint64_t)mp_int(m);
		r[i].part.uncounted = mp_bool(m);
	}
	t->facts.row = r;
	t->facts.rows = n;
	return !m->bad;
}

static bool decode_switches(struct mp *m, struct catalog_table *t)
{
	if (mp_array(m) != SWITCHES_KEPT)
		return false;
	for (unsigned i = 0; i < SWITCHES_KEPT; i++)
		t->facts.switched_ms[i] = mp_uint(m);
	return !m->bad;
}

static bool decode_state(struct mp *m, struct table_state *s)
{
	if (mp_array(m) != STATE_FIELDS)
		return false;
	uint64_t status = mp_uint(m);

	s->status = (enum table_status)status;
	s->until_ms = mp_uint(m);
	s->index = (uint32_t)mp_uint(m);
	return !m->bad && status < TABLE_GONE;
}

static bool decode_scale_row(struct mp *m, struct autoscale_row *r)
{
	uint64_t field[SCALE_NUMBERS];

	if (mp_array(m) != SCALE_NUMBERS + 1)
		return false;
	for (unsigned k = 0; k < SCALE_NUMBERS; k++)
		field[k] = mp_uint(m);
	*r = (struct autoscale_row){ (uint32_t)field[0], (unsigned)field[1], (int64_t)field[2], (int64_t)field[3], (uint32_t)field[4],
		(uint32_t)field[5], (uint32_t)field[6], field[7], field[8], field[9] != 0, field[10], get_optional(m) };
	return r->use < METER_USES;
}

static bool decode_scale(struct mp *m, struct catalog_table *t)
{
	uint32_t n = mp_array(m);
	struct autoscale_row *r = arena_alloc(&t->arena, (n + 1) * sizeof *r);

	if (r == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!decode_scale_row(m, &r[i]))
			return false;
	t->facts.scale = r;
	t->facts.scaled = n;
	return !m->bad;
}

/* The partitions of the table or an index: its rows, or one that is all of it. */
static bool take_partitions(struct catalog_table *t, uint32_t owner, struct partitions *out)
{
	struct partition *p = arena_alloc(&t->arena, (t->facts.rows + 1) * sizeof *p);
	unsigned n = 0;

	if (p == NULL)
		return false;
	for (unsigned i = 0; i < t->facts.rows; i++)
		if (t->facts.row[i].owner == owner)
			p[n++] = t->facts.row[i].part;
	if (n == 0)
		p[n++] = (struct partition){ .id = owner };
	*out = (struct partitions){ .part = p, .n = n };
	return p[0].from == 0;
}

static bool take_heat(struct catalog_table *t, struct partitions *p)
{
	p->heat = arena_zalloc(&t->arena, p->n * sizeof *p->heat);
	return p->heat != NULL;
}

static bool take_all_partitions(struct catalog_table *t)
{
	bool ok = take_partitions(t, t->table.id, &t->table.parts) && take_heat(t, &t->table.parts);

	for (unsigned i = 0; i < t->table.gsis + t->table.lsis; i++)
		ok = ok && take_partitions(t, t->index[i].id, &t->index[i].parts)
			&& (!t->index[i].global || take_heat(t, &t->index[i].parts));
	return ok;
}

static bool decode(struct catalog_table *t)
{
	struct mp m = mp_open(t->bytes);
	uint32_t fields = mp_array(&m);
	uint64_t format = mp_uint(&m);

	if (format < FORMAT_OLDEST || format > FORMAT || fields != FIELDS_OLDEST + format - FORMAT_OLDEST)
		return false;
	t->table.id = (uint32_t)mp_uint(&m);
	struct mp ids = mp_open(mp_skip(&m));
	uint32_t n_ids = mp_array(&ids);
	struct mp building = mp_open(mp_skip(&m));

	mp_array(&building);
	t->facts.uuid = mp_str(&m);
	t->facts.created_ms = mp_uint(&m);
	t->facts.on_demand_since_ms = mp_uint(&m);
	t->facts.stream_label = get_optional(&m);
	t->facts.ttl_attribute = get_optional(&m);
	if (!decode_shards(&m, t))
		return false;
	t->facts.ttl_id = (uint32_t)mp_uint(&m);
	t->facts.ttl_filling = mp_bool(&m);
	if (format >= 3 && !decode_pasts(&m, t))
		return false;
	if (format >= 4 && !decode_rows(&m, t))
		return false;
	if (format >= 5 && !decode_switches(&m, t))
		return false;
	if (format >= 6 && !decode_state(&m, &t->facts.state))
		return false;
	if (format >= 7 && !decode_scale(&m, t))
		return false;
	struct slice spec = mp_skip(&m);

	if (m.bad || !record_open(&t->spec, &shape_CreateTableInput, spec) || !decode_spec(t, ids, n_ids, building))
		return false;
	if (!take_all_partitions(t))
		return false;
	t->streams = t->facts.shards != 0;
	t->view = stream_view_of(&t->spec);
	return true;
}

enum err catalog_table_decode(struct slice bytes, struct catalog_table **out, struct fault *f)
{
	struct catalog_table *t = calloc(1, sizeof *t);

	if (t == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	t->refs = 1;
	arena_init(&t->arena, 0);
	t->bytes = arena_copy(&t->arena, bytes);
	if (!slice_present(t->bytes) || !decode(t)) {
		catalog_table_unref(&t);
		return fault_set(f, MSG_CATALOG_DAMAGED);
	}
	*out = t;
	return ERR_OK;
}

static void release_meters(struct meter **m, struct partitions *p)
{
	meter_unref(m);
	for (unsigned i = 0; i < p->n && p->heat != NULL; i++)
		heat_unref(&p->heat[i]);
}

void catalog_table_unref(struct catalog_table **t)
{
	if (--(*t)->refs == 0) {
		release_meters(&(*t)->table.meter, &(*t)->table.parts);
		for (unsigned i = 0; i < (*t)->table.gsis && (*t)->index != NULL; i++) {
			release_meters(&(*t)->index[i].meter, &(*t)->index[i].parts);
			backlog_unref(&(*t)->index[i].backlog);
		}
		arena_release(&(*t)->arena);
		free(*t);
	}
	*t = NULL;
}
