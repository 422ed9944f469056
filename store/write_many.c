/* write_many - see write_many.h. */
#include "store/write_many.h"

#include "store/collection.h"
#include "store/write_txn.h"

/* Engine keys hold the table's id: equal keys are the same item. */
bool write_many_distinct(const struct write_plan *p)
{
	for (unsigned i = 0; i < p->ops; i++)
		for (unsigned j = 0; j < i; j++)
			if (slice_eq(p->op[i].ekey, p->op[j].ekey))
				return false;
	return true;
}

/* ---- the answer ---- */

static void add_index_cost(struct consumed *sum, const struct consumed_index *x)
{
	for (unsigned i = 0; i < sum->indexes; i++) {
		if (slice_eq(sum->index[i].name, x->name)) {
			sum->index[i].write += x->write;
			sum->index[i].read += x->read;
			return;
		}
	}
	sum->index[sum->indexes++] = *x;
}

static bool first_of_table(const struct write_plan *p, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (p->op[j].table == p->op[i].table)
			return false;
	return true;
}

static void put_consumed(struct store_write *w, bool split)
{
	const struct write_plan *p = w->plan;
	uint32_t n = 0;
	size_t at = list_begin(w->out);

	for (unsigned i = 0; i < p->ops; i++) {
		struct consumed_index index[TABLE_GSI_MAX + TABLE_LSI_MAX];
		struct consumed sum = { .table = p->op[i].cost.table, .index = index };

		if (!first_of_table(p, i))
			continue;
		for (unsigned j = i; j < p->ops; j++) {
			const struct consumed *c = &p->op[j].cost;

			if (p->op[j].table != p->op[i].table)
				continue;
			sum.read += c->read;
			sum.write += c->write;
			for (unsigned k = 0; k < c->indexes; k++)
				add_index_cost(&sum, &c->index[k]);
		}
		if (sum.read + sum.write == 0)
			continue; /* all of them refused */
		consumed_put(w->out, &sum, p->report, split);
		n++;
	}
	list_end(w->out, at, n);
}

/* Those of a table, each item collection once. */
static enum err put_table_metrics(struct write_txn *t, struct store_write *w, const struct table *table)
{
	const struct write_plan *p = w->plan;
	enum err rc = ERR_OK;
	uint32_t n = 0;

	mp_put_str(w->out, table->name);
	size_t list = list_begin(w->out);

	for (unsigned i = 0; i < p->ops && rc == ERR_OK; i++)
		if (p->op[i].table == table->id && p->op[i].kind != ITEM_CHECK && !p->op[i].refused)
			rc = collection_metrics_put(t, table, &p->op[i], w->out, &n, &w->fault);
	list_end(w->out, list, n);
	return rc;
}

/* Table name -> metrics of its item collections; for tables with local indexes. */
static enum err put_metrics(struct write_txn *t, struct store_write *w)
{
	const struct write_plan *p = w->plan;
	uint32_t tables = 0;
	enum err rc = ERR_OK;
	size_t at = map_begin(w->out);

	/* Tables come sorted by name in a batch, and a transaction's answer need not be canonical to be right. */
	for (unsigned i = 0; i < p->ops && rc == ERR_OK; i++) {
		const struct catalog_table *ct = catalog_find_id(t->batch->catalog, p->op[i].table);

		if (!first_of_table(p, i) || ct->table.lsis == 0)
			continue;
		rc = put_table_metrics(t, w, &ct->table);
		tables++;
	}
	map_end(w->out, at, tables);
	return rc;
}

/* Both answers begin with the same two members. */
_Static_assert((int)BatchWriteItemOutput_ConsumedCapacity == (int)TransactWriteItemsOutput_ConsumedCapacity
	&& (int)BatchWriteItemOutput_ItemCollectionMetrics == (int)TransactWriteItemsOutput_ItemCollectionMetrics, "one report for two");

enum err write_many_report(struct write_txn *t, struct store_write *w, unsigned *n, bool split)
{
	if (w->plan->report != REPORT_NONE) {
		record_key(w->out, n, BatchWriteItemOutput_ConsumedCapacity);
		put_consumed(w, split);
	}
	if (!w->plan->metrics)
		return ERR_OK;
	record_key(w->out, n, BatchWriteItemOutput_ItemCollectionMetrics);
	return put_metrics(t, w);
}
