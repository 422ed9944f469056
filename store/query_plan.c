/* query_plan - understanding a Query or Scan: its parameters, expressions, table and index, in the service's order.
 *
 *    request alone: constraints, old against new parameters, segments, Select, expressions parsed and bound
 *    with the table: index, start key, key condition, what the index holds
 *
 * Query and Scan share most members; struct members says where each one's record has them. */
#include "protocol/expr_legacy.h"
#include "protocol/messages.h"
#include "store/params.h"
#include "store/query_int.h"
#include "store/table_state.h"
#include "store/throughput.h"

/* Identifiers of what both operations have. */
struct members {
	unsigned attributes, operator_, consistent, start, names, values, filter, index, limit, projection, legacy_filter;
	unsigned report, select, table;
};
#define MEMBERS(op, legacy) { \
	op##_AttributesToGet, op##_ConditionalOperator, op##_ConsistentRead, op##_ExclusiveStartKey, \
	op##_ExpressionAttributeNames, op##_ExpressionAttributeValues, op##_FilterExpression, op##_IndexName, op##_Limit, \
	op##_ProjectionExpression, legacy, op##_ReturnConsumedCapacity, op##_Select, op##_TableName }
static const struct members of_query = MEMBERS(QueryInput, QueryInput_QueryFilter);
static const struct members of_scan = MEMBERS(ScanInput, ScanInput_ScanFilter);

static const struct params query_params = {
	.expression = (const uint32_t[]){ QueryInput_ProjectionExpression, QueryInput_FilterExpression,
		QueryInput_KeyConditionExpression, PARAMS_END },
	.with_values = (const uint32_t[]){ QueryInput_FilterExpression, QueryInput_KeyConditionExpression, PARAMS_END },
	.legacy = (const uint32_t[]){ QueryInput_AttributesToGet, QueryInput_QueryFilter, QueryInput_ConditionalOperator,
		QueryInput_KeyConditions, PARAMS_END },
	.names = QueryInput_ExpressionAttributeNames, .values = QueryInput_ExpressionAttributeValues,
};
/* KeyConditions alone may stand beside a FilterExpression or ProjectionExpression. */
static const struct params mixed_query_params = {
	.expression = (const uint32_t[]){ QueryInput_ProjectionExpression, QueryInput_FilterExpression, PARAMS_END },
	.with_values = (const uint32_t[]){ QueryInput_FilterExpression, QueryInput_KeyConditionExpression, PARAMS_END },
	.legacy = (const uint32_t[]){ QueryInput_AttributesToGet, QueryInput_QueryFilter, QueryInput_ConditionalOperator,
		PARAMS_END },
	.names = QueryInput_ExpressionAttributeNames, .values = QueryInput_ExpressionAttributeValues,
};
static const struct params scan_params = {
	.expression = (const uint32_t[]){ ScanInput_ProjectionExpression, ScanInput_FilterExpression, PARAMS_END },
	.with_values = (const uint32_t[]){ ScanInput_FilterExpression, PARAMS_END },
	.legacy = (const uint32_t[]){ ScanInput_AttributesToGet, ScanInput_ScanFilter, ScanInput_ConditionalOperator, PARAMS_END },
	.names = ScanInput_ExpressionAttributeNames, .values = ScanInput_ExpressionAttributeValues,
};

/* A request while it is being understood. */
struct planner {
	struct store_reader *reader;
	const struct request *req;
	const struct record *in;
	const struct members *m;
	struct query *q;
	struct expr_env env;
	struct expr *key_condition;    /* parsed; or NULL */
	struct condition *key_bound;   /* the same, bound */
	struct fault *f;
};

/* ---- what the request alone tells ---- */

static enum err check_params(struct planner *p)
{
	const struct params *params = &scan_params;

	if (!p->q->scan)
		params = record_has(p->in, QueryInput_KeyConditions) && !record_has(p->in, QueryInput_KeyConditionExpression) ?
			&mixed_query_params : &query_params;
	return params_check(p->in, params, p->f);
}

static enum err bind_filter(struct planner *p)
{
	const struct record *in = p->in;
	const struct members *m = p->m;
	enum err rc = request_check_values(p->req, VALUES_FILTER, p->f);

	if (rc == ERR_OK && record_has(in, m->operator_) && !record_has(in, m->legacy_filter))
		return fault_set(p->f, MSG_OPERATOR_WITHOUT_EXPECTED);
	if (rc == ERR_OK && record_has(in, m->legacy_filter))
		rc = legacy_filter(in->m[m->legacy_filter], record_str(in, m->operator_), p->req->arena, &p->q->filter, p->f);
	return rc;
}

static enum err bind_attributes(struct planner *p)
{
	unsigned id = p->m->attributes;

	return record_has(p->in, id) ? legacy_attributes(p->in->m[id], p->req->arena, &p->q->projection, p->f) : ERR_OK;
}

/* The older parameters, which the two operations take in orders of their own, and the start key's values. */
static enum err bind_legacy(struct planner *p)
{
	enum err rc = p->q->scan ? bind_attributes(p) : bind_filter(p);

	if (rc == ERR_OK)
		rc = p->q->scan ? bind_filter(p) : bind_attributes(p);
	return rc == ERR_OK ? request_check_values(p->req, VALUES_START_KEY, p->f) : rc;
}

static enum err read_segments(struct planner *p)
{
	bool one = record_has(p->in, ScanInput_Segment), all = record_has(p->in, ScanInput_TotalSegments);

	p->q->segment = (uint32_t)record_int(p->in, ScanInput_Segment, 0);
	p->q->segments = (uint32_t)record_int(p->in, ScanInput_TotalSegments, 1);
	if (one && !all)
		return fault_set(p->f, MSG_SEGMENT_ALONE);
	if (all && !one)
		return fault_set(p->f, MSG_SEGMENTS_ALONE);
	if (p->q->segment >= p->q->segments)
		return fault_set(p->f, MSG_SEGMENT_RANGE, p->q->segment, p->q->segments);
	return ERR_OK;
}

static bool selects(const struct planner *p, const char *what)
{
	return record_is(p->in, p->m->select, what);
}

static enum err check_select(struct planner *p)
{
	const struct record *in = p->in;
	bool legacy = record_has(in, p->m->attributes), some = legacy || record_has(in, p->m->projection);
	struct slice select = record_str(in, p->m->select);
	const char *what = selects(p, "ALL_ATTRIBUTES") ? "ALL_ATTRIBUTES" :
		selects(p, "ALL_PROJECTED_ATTRIBUTES") ? "ALL_PROJECTED_ATTRIBUTES" : "only the Count";

	if (!slice_present(select))
		return ERR_OK;
	if (selects(p, "SPECIFIC_ATTRIBUTES"))
		return some ? ERR_OK : fault_set(p->f, MSG_SELECT_NOTHING);
	if (some)
		return fault_set(p->f, MSG_SELECT_PROJECTION, legacy ? "AttributesToGet" : "ProjectionExpression", what);
	if (selects(p, "ALL_PROJECTED_ATTRIBUTES") && !record_has(in, p->m->index))
		return fault_set(p->f, MSG_SELECT_WITHOUT_INDEX);
	p->q->count_only = selects(p, "COUNT");
	return ERR_OK;
}

static void read_simple(struct planner *p)
{
	const struct record *in = p->in;

	p->q->consistency = record_bool(in, p->m->consistent) ? READ_STRONG : READ_EVENTUAL;
	p->q->report = report_of(record_str(in, p->m->report));
	p->q->limit = (uint32_t)record_int(in, p->m->limit, UINT32_MAX);
	p->q->start = in->m[p->m->start];
	p->q->descending = !p->q->scan && record_has(in, QueryInput_ScanIndexForward) &&
		!record_bool(in, QueryInput_ScanIndexForward);
}

/* ---- expressions ---- */

static enum err parse(struct planner *p, enum expr_kind kind, unsigned member, struct expr **out)
{
	enum err rc = expr_cache_parse(p->reader->exprs, kind, record_str(p->in, member), out, p->f);

	if (rc == ERR_OK)
		p->q->held[p->q->helds++] = *out;
	return rc;
}

static enum err bind_expressions(struct planner *p)
{
	const struct record *in = p->in;
	enum err rc = expr_env_init(&p->env, in->m[p->m->names], in->m[p->m->values], true, p->req->arena, p->f);
	struct expr *e;

	if (p->req->bound != NULL) {
		p->q->filter = p->req->bound->condition;
		p->q->projection = p->req->bound->projection;
		p->env = (struct expr_env){ .arena = p->req->arena };
		return ERR_OK;
	}
	if (rc == ERR_OK)
		rc = request_check_values(p->req, VALUES_EXPRESSION, p->f);
	if (rc == ERR_OK && !p->q->scan && record_has(in, QueryInput_KeyConditionExpression)) {
		rc = parse(p, EXPR_KEY_CONDITION, QueryInput_KeyConditionExpression, &p->key_condition);
		if (rc == ERR_OK)
			rc = condition_bind(p->key_condition, &p->env, &p->key_bound, p->f);
	}
	if (rc == ERR_OK && record_has(in, p->m->filter)) {
		rc = parse(p, EXPR_FILTER, p->m->filter, &e);
		if (rc == ERR_OK)
			rc = condition_bind(e, &p->env, &p->q->filter, p->f);
	}
	if (rc == ERR_OK && record_has(in, p->m->projection)) {
		rc = parse(p, EXPR_PROJECTION, p->m->projection, &e);
		if (rc == ERR_OK)
			rc = projection_bind(e, &p->env, &p->q->projection, p->f);
	}
	return rc == ERR_OK ? expr_env_unused(&p->env, p->f) : rc;
}

/* By the key of the table or index, or by none: what needs no table is said before the table is looked for. */
static enum err fit_key_condition(struct planner *p, const struct key_schema *key)
{
	if (p->key_bound != NULL)
		return key_condition_fit(p->key_condition, p->key_bound, key, &p->q->condition, p->f);
	return legacy_key_conditions(p->in->m[QueryInput_KeyConditions], key, p->req->arena, &p->q->condition, p->f);
}

static enum err check_key_condition(struct planner *p)
{
	enum err rc = request_check_values(p->req, VALUES_KEY_CONDITIONS, p->f);

	return rc == ERR_OK && !p->q->scan && p->req->bound == NULL ? fit_key_condition(p, NULL) : rc;
}

/* ---- with the table ---- */

static bool index_coming(const struct planner *p, const struct table *t)
{
	return table_state_creates_index(p->reader->store, (const struct catalog_table *)t, p->q->index->id);
}

static enum err find_index(struct planner *p)
{
	struct slice name = record_str(p->in, p->m->index);
	const struct table *t = p->q->table;

	p->q->key = &t->key;
	if (!slice_present(name))
		return ERR_OK;
	for (unsigned i = 0; i < t->gsis + t->lsis && p->q->index == NULL; i++)
		if (slice_eq(t->index[i].name, name))
			p->q->index = &t->index[i];
	if (p->q->index == NULL)
		return fault_set(p->f, MSG_INDEX_UNKNOWN, SLICE_FMT(name));
	p->q->key = &p->q->index->key;
	if (p->q->index->global && p->q->consistency == READ_STRONG)
		return fault_set(p->f, MSG_GSI_CONSISTENT);
	if (!p->q->index->readable || index_coming(p, t))
		return fault_set(p->f, MSG_INDEX_BACKFILLING, SLICE_FMT(name));
	return ERR_OK;
}

static enum err bind_key_condition(struct planner *p)
{
	struct query *q = p->q;
	enum err rc;

	if (p->req->bound != NULL) {
		q->condition = p->req->bound->key;
		return query_check_condition(q, p->f);
	}
	rc = fit_key_condition(p, q->key);
	return rc == ERR_OK ? query_check_condition(q, p->f) : rc;
}

static enum err check_filter(struct planner *p, const struct key_attr *attr, unsigned n)
{
	const char *what = record_has(p->in, p->m->filter) ? "Filter Expression" : "QueryFilter";

	/* A WHERE may speak of keys. */
	for (unsigned i = 0; p->q->filter != NULL && p->req->bound == NULL && i < n; i++)
		if (condition_uses(p->q->filter, attr[i].name))
			return fault_set(p->f, MSG_FILTER_ON_KEY, what, SLICE_FMT(attr[i].name));
	return ERR_OK;
}

/* The attributes that are asked for and that the index does not hold, joined; absent if it holds all. */
static struct slice not_held(const struct query *q, struct arena *a)
{
	struct slice all = SLICE_NONE, name, last = SLICE_NONE;
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; q->projection != NULL && slice_present(name = projection_name(q->projection, i)); i++) {
		if (table_index_holds(q->table, q->index, name) || slice_eq(name, last))
			continue;
		last = name;
		buf_put(&b, ", ", b.n != 0 ? 2 : 0);
		buf_put_slice(&b, name);
	}
	if (b.n != 0)
		all = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return all;
}

/* A global index gives what it holds; beside a local one the items are read. */
static enum err check_held(struct planner *p)
{
	struct query *q = p->q;
	struct slice missing;

	if (q->index == NULL || q->index->projection == INDEX_ALL)
		return ERR_OK;
	if (!q->scan && p->req->bound == NULL && store_check_filter(q->table, q->index, q->filter, p->req->arena, p->f) != ERR_OK)
		return p->f->code;
	missing = not_held(q, p->req->arena);
	if (!q->index->global) {
		q->fetch = slice_present(missing) || selects(p, "ALL_ATTRIBUTES");
		return ERR_OK;
	}
	if (selects(p, "ALL_ATTRIBUTES"))
		return fault_set(p->f, MSG_GSI_ALL, SLICE_FMT(q->index->name));
	if (slice_present(missing))
		return fault_set(p->f, MSG_GSI_PROJECTS, SLICE_FMT(q->index->name), SLICE_FMT(missing));
	return ERR_OK;
}

/* ---- the two operations ---- */

static enum err plan_query(struct planner *p)
{
	struct query *q = p->q;
	enum err rc = query_start_count(q, p->f);

	if (rc == ERR_OK)
		rc = query_start_attrs(q, q->key->hash, q->key->hashes, true, p->f);
	if (rc == ERR_OK)
		rc = bind_key_condition(p);
	if (rc == ERR_OK)
		rc = query_start_attrs(q, q->key->range, q->key->ranges, false, p->f);
	if (rc == ERR_OK)
		rc = query_start_place(q, p->f);
	if (rc == ERR_OK)
		rc = store_check_paths(q->table, q->projection, NULL, p->f);
	if (rc == ERR_OK)
		rc = check_filter(p, q->key->hash, q->key->hashes);
	if (rc == ERR_OK)
		rc = check_filter(p, q->key->range, q->key->ranges);
	if (rc == ERR_OK)
		rc = check_held(p);
	return rc == ERR_OK ? store_check_paths(q->table, NULL, q->filter, p->f) : rc;
}

static enum err plan_scan(struct planner *p)
{
	struct query *q = p->q;
	enum err rc = query_start_count(q, p->f);

	if (rc == ERR_OK && q->index != NULL)
		rc = query_start_attrs(q, q->key->hash, q->key->hashes, true, p->f);
	if (rc == ERR_OK && q->index != NULL)
		rc = query_start_attrs(q, q->key->range, q->key->ranges, false, p->f);
	if (rc == ERR_OK)
		rc = check_held(p);
	if (rc == ERR_OK)
		rc = query_start_place(q, p->f);
	if (rc == ERR_OK)
		rc = store_check_paths(q->table, q->projection, NULL, p->f);
	return rc == ERR_OK ? store_check_paths(q->table, NULL, q->filter, p->f) : rc;
}

static enum err plan_request(struct planner *p)
{
	enum err rc = check_params(p);

	if (rc == ERR_OK)
		rc = bind_legacy(p);
	if (rc == ERR_OK && p->q->scan)
		rc = read_segments(p);
	else if (rc == ERR_OK && !record_has(p->in, QueryInput_KeyConditions) &&
		 !record_has(p->in, QueryInput_KeyConditionExpression))
		rc = fault_set(p->f, MSG_QUERY_NO_CONDITION);
	if (rc == ERR_OK)
		rc = bind_expressions(p);
	if (rc == ERR_OK)
		rc = check_key_condition(p);
	if (rc == ERR_OK)
		rc = check_select(p);
	read_simple(p);
	return rc;
}

static enum err plan_on_table(struct planner *p)
{
	struct slice place[PLACE_ATTRS_MAX];
	struct query *q = p->q;
	enum err rc = reader_table(p->reader, record_str(p->in, p->m->table), &q->table, p->f);

	if (rc == ERR_OK)
		rc = find_index(p);
	if (rc == ERR_OK)
		rc = q->scan ? plan_scan(p) : plan_query(p);
	if (rc != ERR_OK)
		return rc;
	q->token = projection_of_names(place, query_place(q, place), p->req->arena);
	return q->token != NULL ? ERR_OK : fault_set(p->f, MSG_NO_MEMORY);
}

static void release(struct query *q)
{
	while (q->helds > 0)
		expr_unref(&q->held[--q->helds]);
}

/* Entries of a local index and their items share their partition's hash, so the table's stripe covers both. */
static void tell_stripe(struct store_query *out, struct query *q)
{
	out->table = q->table;
	out->meter = throughput_meter(q->table, q->index);
	out->stripe_table = q->index != NULL && !q->fetch ? q->index->id : q->table->id;
	out->whole = q->scan;
	out->stripe_hash = q->scan ? 0 : store_hash(q->condition.hash, q->key->hashes);
	out->plan = q;
}

enum err store_query_prepare(struct store_reader *r, const struct request *req, struct store_query *out, struct fault *f)
{
	struct planner p = { .reader = r, .req = req, .in = &req->in, .f = f };
	enum err rc = request_check(req, f);

	if (rc != ERR_OK)
		return rc;
	p.q = arena_zalloc(req->arena, sizeof *p.q);
	if (p.q == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	p.q->scan = req->op == OP_Scan;
	p.q->segments = 1;
	p.m = p.q->scan ? &of_scan : &of_query;
	rc = plan_request(&p);
	if (rc == ERR_OK)
		rc = plan_on_table(&p);
	if (rc == ERR_OK)
		tell_stripe(out, p.q);
	else
		release(p.q);
	return rc;
}

void store_query_end(struct store_query *q)
{
	release(q->plan);
}
