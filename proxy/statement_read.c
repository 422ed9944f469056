/* statement_read - a SELECT: its reads one after the other, each an ordinary GetItem, Query or Scan.
 *
 *    plan --> read 0 --> read 1 ... until Limit items are evaluated, a read stops short, or 1 MB of rows is there
 *               \-- WHERE filters, columns make the rows; NextToken says where to go on
 *
 * A read that names one item of the table by its whole key is a GetItem, and shares the item cache with all others.
 *
 * Threads and ownership: statement.h. Reads end at once or later; `running` keeps those that end at once from recursing. */
#include "protocol/messages.h"
#include "proxy/statement.h"
#include "proxy/worker.h"

enum { ROWS_BYTES_MAX = 1 << 20 };

struct statement_read_state {
	struct statement_reads plan;
	uint32_t at;                     /* the read to do next */
	struct slice start;              /* its start key, or absent */
	uint32_t left;                   /* of Limit */
	size_t bytes;                    /* of items evaluated by gets */
	struct slice values;             /* parameters, as ExpressionAttributeValues */
	struct buf rows;
	struct consumed consumed;
	struct consumed_index index;
	bool stopped;                    /* the rest is for another page */
	bool running, ended;
};

/* ---- which index ---- */

static enum err find_index(struct statement_run *r, const struct table *t)
{
	struct slice name = r->statement->index;

	r->key = &t->key;
	if (!slice_present(name))
		return ERR_OK;
	for (unsigned i = 0; i < t->gsis + t->lsis && r->index == NULL; i++)
		if (slice_eq(t->index[i].name, name))
			r->index = &t->index[i];
	if (r->index == NULL)
		return fault_set(&r->fault, MSG_PQ_INDEX_UNKNOWN);
	r->key = &r->index->key;
	if (r->key->hashes > 1 || r->key->ranges > 1)
		return fault_set(&r->fault, MSG_PQ_MULTIPLE_KEYS);
	return r->index->global && r->consistent ? fault_set(&r->fault, MSG_PQ_CONSISTENT) : ERR_OK;
}

/* Key attributes are scalars: no path goes into them. */
static enum err check_nested_in(struct statement_run *r, const struct key_schema *ks, const char *what)
{
	const struct statement *s = r->statement;

	for (unsigned i = 0; i < ks->hashes + ks->ranges; i++) {
		struct slice name = i < ks->hashes ? ks->hash[i].name : ks->range[i - ks->hashes].name;
		bool nests = s->where != NULL && condition_nests(s->where, name);

		for (unsigned k = 0; k < s->columns && !nests; k++)
			nests = s->column[k].path.n > 1 && slice_eq(s->column[k].path.step[0].name, name);
		if (nests)
			return fault_set(&r->fault, MSG_EXPR_KEY_NESTED, what, SLICE_FMT(name));
	}
	return ERR_OK;
}

static enum err check_nested(struct statement_run *r, const struct table *t)
{
	enum err rc = check_nested_in(r, &t->key, "Key");

	for (unsigned i = 0; i < t->gsis + t->lsis && rc == ERR_OK; i++)
		rc = check_nested_in(r, &t->index[i].key, "IndexKey");
	return rc;
}

/* One item, by its key alone: as a batch wants it. */
static enum err check_one_item(struct statement_run *r, const struct table *t)
{
	struct slice key = SLICE_NONE;
	bool more;
	enum err rc = ERR_OK;

	if (r->index == NULL)
		rc = statement_key(r->statement, &t->key, PICK_READ, &key, &more, &r->fault);
	if (rc == ERR_OK && !slice_present(key))
		rc = fault_set(&r->fault, MSG_PQ_BATCH_SELECT);
	return rc;
}

/* ---- rows ---- */

static void put_row(struct statement_run *r, struct slice item)
{
	statement_row(r->statement, item, &r->reads->rows);
	r->count++;
}

static double number_of(struct slice record, unsigned id)
{
	struct record capacity;

	return record_open(&capacity, &shape_Capacity, record) ? record_double(&capacity, id, 0) : 0;
}

static void add_consumed(struct statement_run *r, struct slice record)
{
	struct statement_read_state *g = r->reads;
	struct record in;
	double table = 0, all;

	if (!slice_present(record) || !record_open(&in, &shape_ConsumedCapacity, record))
		return;
	all = record_double(&in, ConsumedCapacity_CapacityUnits, 0);
	if (record_has(&in, ConsumedCapacity_Table))
		table = number_of(in.m[ConsumedCapacity_Table], Capacity_CapacityUnits);
	g->consumed.read += (uint64_t)(table * CAPACITY_HALVES);
	g->index.read += (uint64_t)((all - table) * CAPACITY_HALVES);
}

/* ---- one read ---- */

static void next_read(struct statement_run *r);

static void stop_at(struct statement_read_state *g, uint32_t read, struct slice key)
{
	g->stopped = true;
	g->at = read;
	g->start = key;
}

static void read_failed(struct statement_run *r, struct child *child)
{
	child_fault(child, &r->call->arena, &r->fault);
	next_read(r);
}

static bool is_full(const struct statement_read_state *g)
{
	return g->left == 0 || g->bytes >= ROWS_BYTES_MAX || g->rows.n >= ROWS_BYTES_MAX;
}

static void note_cache(struct statement_run *r, const struct call *c)
{
	if (r->cache == FRAME_CACHE_NONE || c->cache != FRAME_CACHE_HIT)
		r->cache = c->cache;
}

static void got_item(struct child *child)
{
	struct statement_run *r = child->arg;
	struct statement_read_state *g = r->reads;
	struct call *c = child->call;
	struct record out;

	if (c->fault.code != ERR_OK || !record_open(&out, &shape_GetItemOutput, buf_slice(&c->out))) {
		read_failed(r, child);
		return;
	}
	note_cache(r, c);
	add_consumed(r, out.m[GetItemOutput_ConsumedCapacity]);
	g->at++;
	g->start = SLICE_NONE;
	if (record_has(&out, GetItemOutput_Item)) {
		struct slice item = out.m[GetItemOutput_Item];

		g->left -= g->left != UINT32_MAX;
		g->bytes += item_size(item);
		if (r->statement->where == NULL || condition_eval(r->statement->where, item))
			put_row(r, item);
		if (is_full(g) && g->at < g->plan.n)
			stop_at(g, g->at, SLICE_NONE);
	}
	next_read(r);
}

static void got_page(struct child *child)
{
	struct statement_run *r = child->arg;
	struct statement_read_state *g = r->reads;
	struct call *c = child->call;
	struct record out;
	uint32_t n, scanned;
	struct mp items;

	if (c->fault.code != ERR_OK || !record_open(&out, &shape_QueryOutput, buf_slice(&c->out))) {
		read_failed(r, child);
		return;
	}
	note_cache(r, c);
	add_consumed(r, out.m[QueryOutput_ConsumedCapacity]);
	items = record_list(&out, QueryOutput_Items, &n);
	for (; n > 0; n--)
		put_row(r, mp_skip(&items));
	scanned = (uint32_t)record_int(&out, QueryOutput_ScannedCount, 0);
	if (g->left != UINT32_MAX)
		g->left -= scanned < g->left ? scanned : g->left;
	if (record_has(&out, QueryOutput_LastEvaluatedKey)) {
		stop_at(g, g->at, arena_copy(&r->call->arena, out.m[QueryOutput_LastEvaluatedKey]));
	} else {
		g->at++;
		g->start = SLICE_NONE;
		if (is_full(g) && g->at < g->plan.n)
			stop_at(g, g->at, SLICE_NONE);
	}
	next_read(r);
}

static void put_str(struct buf *b, unsigned *n, unsigned id, struct slice s)
{
	if (slice_present(s))
		record_put_str(b, n, id, s);
}

static void put_encoded(struct buf *b, unsigned *n, unsigned id, struct slice v)
{
	if (!slice_present(v))
		return;
	record_key(b, n, id);
	buf_put_slice(b, v);
}

static struct slice get_record(struct statement_run *r, struct slice key)
{
	unsigned n = 0;
	struct buf b;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	if (r->consistent)
		record_put_bool(&b, &n, GetItemInput_ConsistentRead, true);
	put_encoded(&b, &n, GetItemInput_Key, key);
	if (slice_present(r->capacity))
		record_put_str(&b, &n, GetItemInput_ReturnConsumedCapacity, SLICE_LIT("INDEXES"));
	record_put_str(&b, &n, GetItemInput_TableName, r->statement->table);
	record_end(&b, at, n);
	return statement_record(r->call, &b);
}

/* Members of QueryInput and ScanInput, which stand in the order of their names in both. */
struct page_ids {
	unsigned consistent, start, values, filter, index, condition, limit, capacity, forward, table;
};
#define NO_MEMBER UINT32_MAX
static const struct page_ids query_ids = { QueryInput_ConsistentRead, QueryInput_ExclusiveStartKey,
	QueryInput_ExpressionAttributeValues, NO_MEMBER, QueryInput_IndexName, QueryInput_KeyConditionExpression, QueryInput_Limit,
	QueryInput_ReturnConsumedCapacity, QueryInput_ScanIndexForward, QueryInput_TableName };
static const struct page_ids scan_ids = { ScanInput_ConsistentRead, ScanInput_ExclusiveStartKey,
	ScanInput_ExpressionAttributeValues, ScanInput_FilterExpression, ScanInput_IndexName, NO_MEMBER, ScanInput_Limit,
	ScanInput_ReturnConsumedCapacity, NO_MEMBER, ScanInput_TableName };

/* Statement and number of the read stand for the key condition of a Query, the statement alone for the filter of a Scan. */
static struct slice page_record(struct statement_run *r, const struct page_ids *id)
{
	struct statement_read_state *g = r->reads;
	unsigned n = 0;
	struct buf b;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	if (r->consistent)
		record_put_bool(&b, &n, id->consistent, true);
	put_encoded(&b, &n, id->start, g->start);
	put_encoded(&b, &n, id->values, g->values);
	if (id->filter != NO_MEMBER)
		record_put_str(&b, &n, id->filter, r->statement->text);
	put_str(&b, &n, id->index, r->statement->index);
	if (id->condition != NO_MEMBER)
		put_str(&b, &n, id->condition,
			slice_str(arena_printf(&r->call->arena, "%u %.*s", (unsigned)g->at, SLICE_FMT(r->statement->text))));
	if (g->left != UINT32_MAX)
		record_put_int(&b, &n, id->limit, g->left);
	if (slice_present(r->capacity))
		record_put_str(&b, &n, id->capacity, SLICE_LIT("INDEXES"));
	if (id->forward != NO_MEMBER && g->plan.descending)
		record_put_bool(&b, &n, id->forward, false);
	record_put_str(&b, &n, id->table, r->statement->table);
	record_end(&b, at, n);
	return statement_record(r->call, &b);
}

static void start_read(struct statement_run *r)
{
	struct statement_read_state *g = r->reads;
	const struct statement_read *read = g->plan.scan ? NULL : &g->plan.read[g->at];
	enum op op = read == NULL ? OP_Scan : slice_present(read->point) ? OP_GetItem : OP_Query;
	struct slice record = op == OP_GetItem ? get_record(r, read->point) : page_record(r, op == OP_Scan ? &scan_ids : &query_ids);

	if (!slice_present(record)) {
		fault_set(&r->fault, MSG_NO_MEMORY);
		g->ended = true;
		return;
	}
	if (op == OP_Query)
		r->bound.key = read->key;
	r->child = (struct child){ .done = op == OP_GetItem ? got_item : got_page, .arg = r };
	child_run(&r->child, r->call, op, record, op == OP_GetItem ? NULL : &r->bound);
}

/* ---- all of them ---- */

static void put_outcome(struct statement_run *r)
{
	struct statement_read_state *g = r->reads;
	enum report report = report_of(r->capacity);
	struct statement_place place = { g->at, g->start };
	struct buf b;

	r->rows = g->rows.failed ? SLICE_NONE : arena_copy(&r->call->arena, buf_slice(&g->rows));
	if (!slice_present(r->rows) && r->count != 0)
		fault_set(&r->fault, MSG_NO_MEMORY);
	if (g->stopped) {
		r->next_token = statement_token_make(r->statement, &place, &r->call->arena);
		r->last_key = g->start;
		if (!slice_present(r->next_token))
			fault_set(&r->fault, MSG_NO_MEMORY);
	}
	if (report == REPORT_NONE)
		return;
	buf_init(&b);
	consumed_put(&b, &g->consumed, report, false);
	r->consumed = statement_record(r->call, &b);
}

static void finish(struct statement_run *r)
{
	if (r->fault.code == ERR_OK)
		put_outcome(r);
	buf_release(&r->reads->rows);
	r->done(r);
}

static bool is_over(const struct statement_run *r)
{
	const struct statement_read_state *g = r->reads;

	return r->fault.code != ERR_OK || g->stopped || g->at >= g->plan.n;
}

/* After a read, and before the first. */
static void next_read(struct statement_run *r)
{
	struct statement_read_state *g = r->reads;

	if (g->running) {
		g->ended = true;
		return;
	}
	do {
		if (is_over(r)) {
			finish(r);
			return;
		}
		g->running = true;
		g->ended = false;
		start_read(r);
		g->running = false;
	} while (g->ended);
}

static enum err plan(struct statement_run *r, const struct table *t)
{
	struct statement_read_state *g = r->reads;
	struct statement_place place = { 0, SLICE_NONE };
	enum err rc = find_index(r, t);

	if (rc == ERR_OK)
		rc = statement_reads(r->statement, r->key, r->index == NULL, &g->plan, &r->fault);
	if (rc == ERR_OK && r->index != NULL && g->plan.keyed)
		rc = store_check_filter(t, r->index, r->statement->where, &r->call->arena, &r->fault);
	if (rc == ERR_OK)
		rc = check_nested(r, t);
	if (rc == ERR_OK && r->one_item)
		rc = check_one_item(r, t);
	if (rc == ERR_OK && slice_present(r->token))
		rc = statement_token_read(r->statement, r->token, &place, &r->fault);
	if (rc == ERR_OK)
		rc = statement_projection(r->statement, &r->bound.projection, &r->fault);
	if (rc != ERR_OK)
		return rc;
	if (g->plan.scan)
		g->plan.n = 1;
	g->at = place.read;
	g->start = place.key;
	r->bound.condition = r->statement->where;
	if (g->at >= g->plan.n && slice_present(r->token))
		return fault_set(&r->fault, MSG_PQ_TOKEN_INVALID);
	return statement_values(r->statement, &g->values) ? ERR_OK : fault_set(&r->fault, MSG_NO_MEMORY);
}

void statement_select(struct statement_run *r, const struct table *t)
{
	struct statement_read_state *g = arena_zalloc(&r->call->arena, sizeof *g);

	r->reads = g;
	if (g == NULL || plan(r, t) != ERR_OK) {
		if (g == NULL)
			fault_set(&r->fault, MSG_NO_MEMORY);
		r->done(r);
		return;
	}
	r->ran = true;
	g->left = r->limit;
	g->consumed.table = r->table;
	if (r->index != NULL) {
		g->index = (struct consumed_index){ .name = arena_copy(&r->call->arena, r->index->name), .global = r->index->global };
		g->consumed.index = &g->index;
		g->consumed.indexes = 1;
	}
	buf_init(&g->rows);
	next_read(r);
}
