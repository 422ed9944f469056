/* ttl - see ttl.h. Here: which second an item expires in, and the index of those; what deletes them is in ttl_sweep.c. */
#include "store/ttl.h"

#include <stdlib.h>

#include "store/big_endian.h"

enum { SECOND_DIGITS = 18, ID_BYTES = 4 };

bool ttl_second(struct slice item, struct slice attribute, uint64_t *second)
{
	char text[NUMBER_TEXT];
	char *end;

	if (!slice_present(item))
		return false;
	struct slice v = map_get(item, attribute);

	if (!slice_present(v) || value_type(v) != VALUE_N)
		return false;
	number_format(value_bytes(v), text);
	if (text[0] == '-')
		return false;
	/* The whole part; one of more digits is no time that will come. */
	*second = strtoull(text, &end, 10);
	return end - text <= SECOND_DIGITS;
}

struct slice ttl_key_head(uint32_t ttl_id, uint64_t second, uint8_t out[TTL_KEY_HEAD])
{
	be_put(out, ttl_id, ID_BYTES);
	be_put(out + ID_BYTES, second, TTL_KEY_HEAD - ID_BYTES);
	return slice_of(out, TTL_KEY_HEAD);
}

/* The key of an entry, in the batch's buffer; absent if memory is out. */
static struct slice entry_key(struct write_txn *t, uint32_t ttl_id, uint64_t second, struct slice ekey)
{
	struct buf *b = &t->batch->row;
	uint8_t head[TTL_KEY_HEAD];

	buf_clear(b);
	buf_put_slice(b, ttl_key_head(ttl_id, second, head));
	buf_put_slice(b, ekey);
	t->failed |= b->failed;
	return b->failed ? SLICE_NONE : buf_slice(b);
}

static void put_entry(struct write_txn *t, uint32_t ttl_id, uint64_t second, struct slice ekey)
{
	struct slice key = entry_key(t, ttl_id, second, ekey);

	if (slice_present(key))
		engine_put(t->batch->store->engine, key, SLICE_LIT(""));
}

void ttl_maintain(struct write_txn *t, const struct catalog_table *ct, const struct item_op *op)
{
	uint64_t before, after;
	bool was = ttl_second(op->old, ct->facts.ttl_attribute, &before);
	bool is = ttl_second(op->new, ct->facts.ttl_attribute, &after);

	if (was && is && before == after)
		return;
	if (was) {
		struct slice key = entry_key(t, ct->facts.ttl_id, before, op->ekey);

		if (slice_present(key))
			engine_del(t->batch->store->engine, key);
	}
	if (is)
		put_entry(t, ct->facts.ttl_id, after, op->ekey);
}

void ttl_enter(struct write_txn *t, const struct catalog_table *ct, struct slice ekey, struct slice item)
{
	uint64_t second;

	if (ttl_second(item, ct->facts.ttl_attribute, &second))
		put_entry(t, ct->facts.ttl_id, second, ekey);
}

void ttl_drop(struct write_txn *t, uint32_t ttl_id)
{
	uint8_t head[TTL_KEY_HEAD];

	if (ttl_id != 0)
		engine_drop_prefix(t->batch->store->engine, slice_of(ttl_key_head(ttl_id, 0, head).p, ID_BYTES));
}
