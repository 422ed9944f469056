/* item_apply - see item_apply.h. */
#include "store/item_apply.h"

#include "protocol/messages.h"
#include "store/check_key.h"
#include "store/collection.h"
#include "store/index_admit.h"
#include "store/partition.h"
#include "store/streams.h"
#include "store/throughput.h"
#include "store/ttl.h"

/* The item as a member of ConditionalCheckFailedException. */
static void old_into_fault(struct arena *a, struct slice old, struct fault *f)
{
	struct buf b;
	unsigned n = 0;

	if (f == NULL)
		return;
	buf_init(&b);
	size_t at = record_begin(&b);

	record_key(&b, &n, ConditionalCheckFailedException_Item);
	buf_put_slice(&b, old);
	record_end(&b, at, n);
	if (!b.failed)
		f->detail = arena_copy(a, buf_slice(&b));
	buf_release(&b);
}

static enum err check_condition(struct write_txn *t, const struct item_op *op, struct fault *f)
{
	if (op->condition == NULL || condition_eval(op->condition, op->old))
		return ERR_OK;
	enum err rc = op->insert ? fault_set(f, MSG_DUPLICATE_ITEM) : fault_set(f, MSG_CONDITION_FAILED);

	if (!op->insert && op->old_on_failure && slice_present(op->old))
		old_into_fault(t->arena, op->old, f);
	return rc;
}

/* The image that an update makes; op->new stays absent if it makes none (it would only remove from nothing). */
static enum err update_image(struct write_txn *t, const struct table *table, struct item_op *op, struct fault *f)
{
	struct buf *b = &t->batch->scratch;
	enum err rc = ERR_OK;

	if (!slice_present(op->old) && op->update != NULL && !update_creates(op->update))
		return ERR_OK;
	if (op->update == NULL) {
		op->new = slice_present(op->old) ? op->old : op->key;
		return ERR_OK;
	}
	buf_clear(b);
	rc = update_apply(op->update, op->old, op->key, t->arena, b, f);
	if (rc != ERR_OK)
		return rc;
	if (b->failed)
		return fault_set(f, MSG_NO_MEMORY);
	if (item_size(buf_slice(b)) > ITEM_SIZE_MAX)
		return fault_set(f, MSG_UPDATE_SIZE);
	rc = check_updated_index_keys(table, buf_slice(b), f);
	if (rc != ERR_OK)
		return rc;
	op->new = arena_copy(t->arena, buf_slice(b));
	return slice_present(op->new) ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

static enum err new_image(struct write_txn *t, const struct table *table, struct item_op *op, struct fault *f)
{
	op->new = SLICE_NONE;
	switch (op->kind) {
	case ITEM_PUT:
		op->new = op->item;
		return ERR_OK;
	case ITEM_UPDATE:
		return update_image(t, table, op, f);
	case ITEM_CHECK:
		op->new = op->old;
		return ERR_OK;
	case ITEM_DELETE:
		break;
	}
	return ERR_OK;
}

/* Write the image and all that follows from it. */
static void store_image(struct write_txn *t, const struct catalog_table *ct, const struct item_op *op, size_t old_bytes,
	size_t new_bytes)
{
	struct engine *e = t->batch->store->engine;
	const struct table *table = &ct->table;

	t->grows = t->grows || slice_present(op->new);
	if (slice_present(op->new))
		engine_put(e, op->ekey, op->new);
	else
		engine_del(e, op->ekey);
	write_txn_count(t, partition_at(&table->parts, op->hash)->id, slice_present(op->new) - slice_present(op->old),
		(int64_t)new_bytes - (int64_t)old_bytes);
	if (ct->streams)
		stream_record(t, ct, op);
	if (ct->facts.ttl_id != 0)
		ttl_maintain(t, ct, op);
	write_txn_change(t, &(struct store_change){ .table = table->id, .hash = op->hash, .key = op->key, .item = op->new });
}

/* ---- throughput ---- */

/* The table's, before anything is read. Time to live is nobody's request. */
static enum err admit(struct write_txn *t, const struct table *table, const struct item_op *op, struct fault *f)
{
	return op->expired ? ERR_OK : throughput_admit(t->batch->store, table, NULL, op->hash, METER_WRITE, f);
}

/* cost: of the table itself. */
static void charge(struct write_txn *t, const struct table *table, struct item_op *op, uint64_t cost, const struct index_plan *p)
{
	op->cost.write = cost;
	op->cost.indexes = p != NULL ? p->n : 0;
	if (op->expired)
		return;
	throughput_charge(t->batch->store, table, NULL, op->hash, METER_WRITE, cost);
	if (p != NULL)
		index_charge(t, table, p);
}

/* ---- one action ---- */

/* op->old becomes op->new, in the table and its indexes. */
static enum err change_item(struct write_txn *t, const struct catalog_table *ct, struct item_op *op, bool transactional,
	struct fault *f)
{
	const struct table *table = &ct->table;
	size_t old_bytes = slice_present(op->old) ? item_size(op->old) : 0;
	size_t new_bytes = slice_present(op->new) ? item_size(op->new) : 0;
	uint64_t cost = capacity_write_halves(old_bytes > new_bytes ? old_bytes : new_bytes, transactional);
	struct index_plan indexes = { .n = 0 };
	enum err rc = ERR_OK;

	/* What stays the same is neither logged nor heard of; it costs what a write costs. */
	if (slice_present(op->old) == slice_present(op->new) && slice_eq(op->old, op->new)) {
		charge(t, table, op, cost, NULL);
		return ERR_OK;
	}
	if (table->gsis + table->lsis != 0)
		rc = index_plan(t, table, op->old, op->new, transactional, &indexes, &op->cost, f);
	if (rc == ERR_OK)
		rc = index_admit(t, table, op->ekey, &indexes, op->expired, f);
	if (rc == ERR_OK && table->lsis != 0)
		rc = collection_grow(t, table, op, (int64_t)new_bytes - (int64_t)old_bytes + index_local_growth(&indexes), f);
	if (rc == ERR_OK) {
		charge(t, table, op, cost, &indexes);
		store_image(t, ct, op, old_bytes, new_bytes);
		index_carry_out(t, op->ekey, &indexes);
	}
	index_plan_release(&indexes);
	return rc;
}

enum err item_apply(struct write_txn *t, struct item_op *op, bool transactional, struct fault *f)
{
	const struct catalog_table *ct = catalog_find_id(t->batch->catalog, op->table);

	if (ct == NULL)
		return fault_set(f, MSG_TABLE_UNKNOWN);
	op->cost = (struct consumed){ .table = ct->table.name };
	enum err rc = admit(t, &ct->table, op, f);

	if (rc == ERR_OK)
		rc = engine_read(t->batch->store->engine, op->ekey, &op->old, f);
	if (rc != ERR_OK)
		return rc;
	rc = check_condition(t, op, f);
	/* A condition that fails costs a write of the item that it was held against. */
	if (rc != ERR_OK)
		charge(t, &ct->table, op,
			capacity_write_halves(slice_present(op->old) ? item_size(op->old) : 0, transactional), NULL);
	if (rc == ERR_OK)
		rc = new_image(t, &ct->table, op, f);
	return rc == ERR_OK ? change_item(t, ct, op, transactional, f) : rc;
}
