/* collection - see collection.h. */
#include "store/collection.h"

#include "protocol/messages.h"
#include "store/big_endian.h"
#include "store/keycode.h"

enum { ROW_BYTES = 8, KIND_BYTES = 5, GB_SHIFT = 30 };

/* ---- rows ---- */

static enum err decode(struct slice row, uint64_t *bytes, struct fault *f)
{
	*bytes = 0;
	if (!slice_present(row))
		return ERR_OK;
	if (row.n != ROW_BYTES)
		return fault_set(f, MSG_CATALOG_DAMAGED);
	*bytes = be_get(row.p, ROW_BYTES);
	return ERR_OK;
}

/* The key of the row, in the arena; absent if memory is out. */
static struct slice row_key(const struct table *table, const struct item_op *op, struct arena *a)
{
	struct key_schema partition_key = table->key;
	uint8_t kind[CATALOG_KEY_BYTES];
	struct slice key = SLICE_NONE;
	struct buf b;

	partition_key.ranges = 0;
	buf_init(&b);
	buf_put_slice(&b, slice_of(catalog_key('l', 0, kind).p, KIND_BYTES));
	if (keycode_hashed(&b, table->id, &partition_key, op->key, op->hash) && !b.failed)
		key = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return key;
}

/* The collection of op's item, from the transaction or, the first time, from its row. */
static enum err find(struct write_txn *t, const struct table *table, const struct item_op *op, struct collection **out,
	struct fault *f)
{
	struct slice key = row_key(table, op, t->arena), row;
	struct collection *c = t->collections;

	if (!slice_present(key))
		return fault_set(f, MSG_NO_MEMORY);
	while (c != NULL && !slice_eq(c->key, key))
		c = c->next;
	*out = c;
	if (c != NULL)
		return ERR_OK;
	*out = c = arena_zalloc(t->arena, sizeof *c);
	if (c == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	enum err rc = engine_read(t->batch->store->engine, key, &row, f);

	if (rc == ERR_OK)
		rc = decode(row, &c->before, f);
	c->key = key;
	c->bytes = c->before;
	c->next = t->collections;
	t->collections = c;
	return rc;
}

void collections_put(struct write_txn *t)
{
	struct engine *e = t->batch->store->engine;
	uint8_t row[ROW_BYTES];

	for (const struct collection *c = t->collections; c != NULL; c = c->next) {
		if (c->bytes == c->before)
			continue;
		be_put(row, c->bytes, ROW_BYTES);
		if (c->bytes != 0)
			engine_put(e, c->key, slice_of(row, sizeof row));
		else
			engine_del(e, c->key);
	}
}

void collections_drop(struct write_txn *t, uint32_t table)
{
	uint8_t prefix[CATALOG_KEY_BYTES];

	engine_drop_prefix(t->batch->store->engine, catalog_key('l', table, prefix));
}

/* ---- the limit ---- */

enum err collection_grow(struct write_txn *t, const struct table *table, const struct item_op *op, int64_t bytes,
	struct fault *f)
{
	struct collection *c;
	uint64_t limit = t->batch->store->collection_bytes;
	enum err rc = find(t, table, op, &c, f);

	if (rc != ERR_OK)
		return rc;
	if (bytes > 0 && ((uint64_t)bytes > limit || c->bytes > limit - (uint64_t)bytes))
		return fault_set(f, MSG_COLLECTION_SIZE);
	/* Items older than the rows are in none: they do not make one negative. */
	c->bytes = bytes < 0 && (uint64_t)-bytes > c->bytes ? 0 : c->bytes + (uint64_t)bytes;
	return ERR_OK;
}

/* ---- metrics ---- */

enum err collection_metrics_put(struct write_txn *t, const struct table *table, const struct item_op *op, struct buf *out,
	uint32_t *n, struct fault *f)
{
	struct slice name = table->key.hash[0].name;
	struct collection *c;
	unsigned members = 0;
	enum err rc = find(t, table, op, &c, f);

	if (rc != ERR_OK || c->reported)
		return rc;
	size_t at = record_begin(out);

	record_key(out, &members, ItemCollectionMetrics_ItemCollectionKey);
	mp_put_map(out, 1);
	mp_put_str(out, name);
	buf_put_slice(out, map_get(op->key, name));
	record_key(out, &members, ItemCollectionMetrics_SizeEstimateRangeGB);
	mp_put_array(out, 2);
	mp_put_double(out, (double)(c->bytes >> GB_SHIFT));
	mp_put_double(out, (double)((c->bytes >> GB_SHIFT) + 1));
	record_end(out, at, members);
	c->reported = true;
	++*n;
	return ERR_OK;
}
