/* write_one - see write_one.h. */
#include "store/write_one.h"

#include "protocol/messages.h"
#include "store/collection.h"
#include "store/item_apply.h"
#include "store/write_txn.h"

/* ---- the writer's half: the answer ---- */

/* PutItemOutput, DeleteItemOutput and UpdateItemOutput have the same members in the same places. */
_Static_assert((int)PutItemOutput_Attributes == (int)UpdateItemOutput_Attributes
	&& (int)PutItemOutput_Attributes == (int)DeleteItemOutput_Attributes
	&& (int)PutItemOutput_ConsumedCapacity == (int)UpdateItemOutput_ConsumedCapacity
	&& (int)PutItemOutput_ConsumedCapacity == (int)DeleteItemOutput_ConsumedCapacity
	&& (int)PutItemOutput_ItemCollectionMetrics == (int)UpdateItemOutput_ItemCollectionMetrics
	&& (int)PutItemOutput_ItemCollectionMetrics == (int)DeleteItemOutput_ItemCollectionMetrics, "one answer for three");

static void put_attributes(struct buf *out, unsigned *n, const struct write_plan *p)
{
	const struct item_op *op = &p->op[0];
	bool of_old = p->returning == RETURN_ALL_OLD || p->returning == RETURN_UPDATED_OLD;
	struct slice image = of_old ? op->old : op->new;

	if (p->returning == RETURN_NONE || !slice_present(image))
		return;
	if (p->returning == RETURN_ALL_OLD || p->returning == RETURN_ALL_NEW) {
		record_key(out, n, PutItemOutput_Attributes);
		buf_put_slice(out, image);
		return;
	}
	if (op->update == NULL)
		return;
	size_t at = out->n;
	unsigned before = *n;

	record_key(out, n, PutItemOutput_Attributes);
	if (!update_returned(op->update, image, out) && !out->failed) {
		out->n = at;
		*n = before;
	}
}

static enum err put_answer(struct write_txn *t, struct store_write *w)
{
	const struct write_plan *p = w->plan;
	const struct catalog_table *ct = catalog_find_id(t->batch->catalog, p->op[0].table);
	enum err rc = ERR_OK;
	unsigned n = 0;
	uint32_t reported = 0;
	size_t at = record_begin(w->out);

	put_attributes(w->out, &n, p);
	if (p->report != REPORT_NONE) {
		record_key(w->out, &n, PutItemOutput_ConsumedCapacity);
		consumed_put(w->out, &p->op[0].cost, p->report, false);
	}
	if (p->metrics && ct->table.lsis != 0) {
		record_key(w->out, &n, PutItemOutput_ItemCollectionMetrics);
		rc = collection_metrics_put(t, &ct->table, &p->op[0], w->out, &reported, &w->fault);
	}
	record_end(w->out, at, n);
	return rc;
}

static enum err apply(struct write_batch *b, struct store_write *w)
{
	struct write_txn t;

	write_txn_begin(&t, b, w->req->arena);
	enum err rc = item_apply(&t, &w->plan->op[0], false, &w->fault);

	if (rc == ERR_OK)
		rc = put_answer(&t, w);
	return write_end(&t, w, rc);
}

/* ---- the worker's half ---- */

static enum err read_returning(struct store_write *w, const struct write_one *one)
{
	static const struct { const char *name; enum returning value; } all[] = {
		{ "NONE", RETURN_NONE }, { "ALL_OLD", RETURN_ALL_OLD }, { "UPDATED_OLD", RETURN_UPDATED_OLD },
		{ "ALL_NEW", RETURN_ALL_NEW }, { "UPDATED_NEW", RETURN_UPDATED_NEW },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (record_is(&w->req->in, one->returning, all[i].name))
			w->plan->returning = all[i].value;
	return one->kind != ITEM_UPDATE && w->plan->returning > RETURN_ALL_OLD ? fault_set(&w->fault, MSG_RETURN_VALUES) : ERR_OK;
}

enum err write_one_begin(struct store_write *w, const struct write_one *one)
{
	const struct record *in = &w->req->in;
	struct write_plan *p = w->plan;
	enum err rc = write_plan_ops(w, 1);

	if (rc != ERR_OK)
		return rc;
	p->apply = apply;
	p->op->kind = one->kind;
	p->report = report_of(record_str(in, one->consumed));
	p->metrics = record_is(in, one->metrics, "SIZE");
	p->op->old_on_failure = record_is(in, one->on_failure, "ALL_OLD");
	rc = params_check(in, &one->params, &w->fault);
	if (rc == ERR_OK)
		rc = request_check_values(w->req, VALUES_ITEM, &w->fault);
	return rc == ERR_OK ? read_returning(w, one) : rc;
}

enum err write_one_bind(struct store_reader *r, struct store_write *w, const struct write_one *one, const struct table **t)
{
	enum err rc = write_bind(r, w, &w->req->in, &one->members, w->plan->op, &w->fault);

	return rc == ERR_OK ? reader_table(r, record_str(&w->req->in, one->table), t, &w->fault) : rc;
}
