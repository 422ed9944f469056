/* query - one page of a Query or Scan: walk a range, weigh, filter, project, answer.
 *
 *    cursor --entry--> [local index: its item] --> filter --> projection --> Items
 *       \-- until Limit entries, 1 MB or the end of the range; the last entry's place is LastEvaluatedKey
 *
 * Q1. What an entry costs, and whether the page is full, is measured before filter and projection.
 * Q2. The work is bounded by the page, whatever the size of the partition.
 * Q3. A Scan costs what the partitions that it passes cost, each rounded up by itself, and empty ones too: an on-demand table
 *     of the service has four from the start, and is charged so here however few it has, so scanning a single small item takes
 *     four units, two if eventually consistent.
 *
 * Items are written to the answer as they are found; what stands before them in the record is put in at the end. */

#include "protocol/messages.h"
#include "store/heat.h"
#include "store/keycode.h"
#include "store/partition.h"
#include "store/query_int.h"
#include "store/throughput.h"

enum { PAGE_BYTES = 1024 * 1024 };
enum { ID_BYTES = 4, QUARTERS = 4 };

_Static_assert((int)QueryOutput_Items == (int)ScanOutput_Items && (int)QueryOutput_Count == (int)ScanOutput_Count &&
		      (int)QueryOutput_ConsumedCapacity == (int)ScanOutput_ConsumedCapacity &&
		      (int)QueryOutput_LastEvaluatedKey == (int)ScanOutput_LastEvaluatedKey &&
		      (int)QueryOutput_ScannedCount == (int)ScanOutput_ScannedCount,
	      "the answers of Query and Scan are alike");

struct page {
	const struct query *q;
	struct view *view;
	struct buf *out;
	struct buf key;              /* scratch: of an item to fetch */
	struct slice last;           /* the last entry evaluated; borrowed from the cursor */
	uint32_t scanned, count;
	size_t bytes;                /* of all evaluated, as the page counts them */
	size_t entry_bytes;          /* of the table's items or the index's entries, since the walk came to this partition */
	const struct partitions *parts; /* of a Scan (Q3) */
	unsigned place, place_last;  /* partition that the walk has come to; that it ends with if it comes to its end */
	uint64_t passed;             /* cost of partitions before, halves */
	uint64_t hash;               /* of the Query's partition key; where the Scan's page begins */
	uint64_t spot;               /* of a Scan: of any entry that it has read */
	uint64_t fetched;            /* cost of items fetched beside index entries, halves */
	bool more;                   /* stopped before the end of the range */
};

/* The item that an entry of a local index stands for. Both are from one view, so it is there. */
static enum err fetch(struct page *g, struct slice entry, struct slice *item, struct fault *f)
{
	const struct table *t = g->q->table;
	enum err rc;

	buf_clear(&g->key);
	if (!keycode_item(&g->key, t->id, &t->key, entry, NULL) || g->key.failed)
		return g->key.failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;
	rc = view_get(g->view, buf_slice(&g->key), item, f);
	if (rc != ERR_OK)
		return rc;
	if (!slice_present(*item))
		*item = entry;
	g->fetched += capacity_read_halves(item_size(*item), g->q->consistency);
	return ERR_OK;
}

/* Q3, by the newest description that is not newer than the view: cached answers are told of later ones (partitions_recost), and
 * who keeps this one looked for that after the query was prepared. */
static const struct partitions *charged_parts(struct store_reader *r, const struct query *q)
{
	static const struct partition quarter[QUARTERS] = { { .from = 0 }, { .from = UINT64_C(1) << 62 },
		{ .from = UINT64_C(2) << 62 }, { .from = UINT64_C(3) << 62 } };
	static const struct partitions quarters = { .part = quarter, .n = QUARTERS };
	const struct catalog_table *ct = catalog_find_id(reader_catalog(r), q->table->id);
	const struct table *t = ct != NULL ? &ct->table : q->table;
	const struct table_index *x = q->index != NULL ? catalog_find_index(t, q->index->id) : NULL;
	const struct partitions *p = throughput_parts(t, x);

	return t->on_demand && p->n < QUARTERS ? &quarters : p;
}

/* The partitions that a Scan touches if it comes to its end. A segment may begin a few hashes before the partition that it is
 * meant to begin with. */
static void span_parts(struct page *g, struct store_reader *r, struct slice lo, struct slice hi)
{
	uint64_t from = keycode_hash_in(lo);

	g->parts = charged_parts(r, g->q);
	g->place = partition_place(g->parts, from < UINT64_MAX - UINT32_MAX ? from + UINT32_MAX : from);
	g->place_last = hi.n <= ID_BYTES ? g->parts->n - 1 : partition_place(g->parts, keycode_hash_in(hi) - 1);
}

/* The walk comes to a later partition: those before are paid for. */
static void pass_to(struct page *g, unsigned place)
{
	for (; g->place < place; g->place++) {
		g->passed += capacity_read_halves(g->entry_bytes, g->q->consistency);
		g->entry_bytes = 0;
	}
}

static enum err evaluate(struct page *g, struct slice entry, struct fault *f)
{
	const struct query *q = g->q;
	size_t size = item_size(entry);
	struct slice item = entry;
	enum err rc;

	g->last = entry;
	g->scanned++;
	g->entry_bytes += size;
	if (q->fetch) {
		rc = fetch(g, entry, &item, f);
		if (rc != ERR_OK)
			return rc;
		size = item_size(item);
	}
	g->bytes += size;
	if (q->filter != NULL && !condition_eval(q->filter, item))
		return ERR_OK;
	g->count++;
	if (q->count_only)
		return ERR_OK;
	if (q->projection != NULL)
		projection_apply(q->projection, item, g->out);
	else
		buf_put_slice(g->out, item);
	return ERR_OK;
}

/* A partition of a table without range key ends with its one item: there is no place behind it, as no start key is taken. */
static bool ends(const struct page *g)
{
	return !g->q->scan && g->q->index == NULL && g->q->key->ranges == 0;
}

static bool full(const struct page *g)
{
	return g->scanned >= g->q->limit || g->bytes >= PAGE_BYTES;
}

static enum err walk(struct page *g, struct cursor *c, struct fault *f)
{
	struct slice key, value;
	enum err rc = cursor_next(c, &key, &value, f);

	while (rc == ERR_OK && slice_present(key)) {
		uint64_t hash = keycode_hash_in(key);

		if (g->q->scan && hash > partition_last(g->parts, g->place))
			pass_to(g, partition_place(g->parts, hash));
		rc = evaluate(g, value, f);
		if (g->q->scan && heat_random() % g->scanned == 0)
			g->spot = hash;
		if (rc == ERR_OK && full(g) && !ends(g)) {
			g->more = true;
			return rc;
		}
		if (rc == ERR_OK)
			rc = cursor_next(c, &key, &value, f);
	}
	if (g->q->scan)
		pass_to(g, g->place_last);
	return rc;
}

/* ---- the answer ---- */

static uint64_t cost(const struct page *g)
{
	return g->passed + capacity_read_halves(g->entry_bytes, g->q->consistency);
}

/* The entries are the index's to pay for, items fetched beside them the table's. */
static void charge(struct store *s, struct store_query *sq, const struct page *g)
{
	const struct query *q = g->q;
	uint64_t read = cost(g);

	sq->cost = read + g->fetched;
	throughput_charge_page(s, q->table, q->index, g->hash, g->spot, METER_READ, read);
	if (g->fetched != 0)
		throughput_charge_page(s, q->table, NULL, g->hash, g->spot, METER_READ, g->fetched);
}

static void put_consumed(const struct page *g, struct buf *b)
{
	const struct query *q = g->q;
	uint64_t read = cost(g);
	struct consumed_index index = { 0 };
	struct consumed c = { .table = q->table->name, .read = read };

	if (q->index != NULL) {
		index = (struct consumed_index){ .name = q->index->name, .global = q->index->global, .read = read };
		c.read = g->fetched;
		c.index = &index;
		c.indexes = 1;
	}
	consumed_put(b, &c, q->report, false);
}

/* Members before the items, and the head of their list; the items stand in the answer already. */
static void put_front(const struct page *g, struct buf *b, unsigned *n)
{
	if (g->q->report != REPORT_NONE) {
		record_key(b, n, QueryOutput_ConsumedCapacity);
		put_consumed(g, b);
	}
	record_put_int(b, n, QueryOutput_Count, g->count);
	if (!g->q->count_only) {
		record_key(b, n, QueryOutput_Items);
		mp_put_array(b, g->count);
	}
}

static void finish(struct page *g, size_t at)
{
	struct buf front;
	unsigned n = 0;

	buf_init(&front);
	put_front(g, &front, &n);
	buf_insert(g->out, at, buf_slice(&front));
	g->out->failed |= front.failed;
	buf_release(&front);
	if (g->more) {
		record_key(g->out, &n, QueryOutput_LastEvaluatedKey);
		projection_apply(g->q->token, g->last, g->out);
	}
	record_put_int(g->out, &n, QueryOutput_ScannedCount, g->scanned);
	record_end(g->out, at, n);
}

/* The cursor stays open until the answer is complete: the last entry is still needed. */
static enum err read_page(struct page *g, struct slice lo, struct slice hi, size_t at, struct fault *f)
{
	struct cursor *c;
	enum err rc = cursor_open(g->view, lo, hi, g->q->descending, &c, f);

	if (rc != ERR_OK)
		return rc;
	rc = walk(g, c, f);
	if (rc == ERR_OK)
		finish(g, at);
	cursor_close(&c);
	return rc;
}

enum err store_query_run(struct store_reader *r, const struct request *req, struct store_query *q, struct buf *out,
			 struct fault *f)
{
	struct page g = { .q = q->plan, .out = out };
	struct buf lo, hi;
	size_t before = out->n, at;
	bool some;

	(void)req; /* its plan has all of it */
	buf_init(&g.key);
	buf_init(&lo);
	buf_init(&hi);
	some = query_bounds(g.q, &lo, &hi);
	enum err rc = lo.failed || hi.failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;

	g.hash = g.spot = q->whole ? keycode_hash_in(buf_slice(&lo)) : q->stripe_hash;
	if (rc == ERR_OK)
		rc = throughput_admit(r->store, g.q->table, g.q->index, g.hash, METER_READ, f);
	if (rc == ERR_OK)
		rc = reader_view(r, &g.view, f);
	if (rc == ERR_OK && some && g.q->scan)
		span_parts(&g, r, buf_slice(&lo), buf_slice(&hi));
	at = record_begin(out);
	if (rc == ERR_OK && some)
		rc = read_page(&g, buf_slice(&lo), buf_slice(&hi), at, f);
	else if (rc == ERR_OK)
		finish(&g, at);
	if (rc == ERR_OK && out->failed)
		rc = fault_set(f, MSG_NO_MEMORY);
	if (rc != ERR_OK)
		out->n = before;
	else
		charge(r->store, q, &g);
	buf_release(&lo);
	buf_release(&hi);
	buf_release(&g.key);
	return rc;
}
