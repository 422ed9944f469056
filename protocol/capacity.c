/* capacity - see capacity.h. */
#include "protocol/capacity.h"

enum { READ_UNIT = 4096, WRITE_UNIT = 1024 };

static uint64_t units(size_t bytes, size_t unit)
{
	return bytes == 0 ? 1 : (bytes - 1) / unit + 1;
}

uint64_t capacity_read_halves(size_t bytes, enum read_consistency c)
{
	static const unsigned halves[] = { [READ_EVENTUAL] = 1, [READ_STRONG] = 2, [READ_TRANSACTIONAL] = 4 };

	return units(bytes, READ_UNIT) * halves[c];
}

uint64_t capacity_write_halves(size_t bytes, bool transactional)
{
	return units(bytes, WRITE_UNIT) * CAPACITY_HALVES * (transactional ? 2 : 1);
}

enum report report_of(struct slice name)
{
	if (slice_eq(name, SLICE_LIT("TOTAL")))
		return REPORT_TOTAL;
	if (slice_eq(name, SLICE_LIT("INDEXES")))
		return REPORT_INDEXES;
	return REPORT_NONE;
}

static double whole(uint64_t halves)
{
	return (double)halves / CAPACITY_HALVES;
}

/* A Capacity record. */
static void put_capacity(struct buf *b, uint64_t read, uint64_t write, bool split)
{
	size_t at = record_begin(b);
	unsigned n = 0;

	record_put_double(b, &n, Capacity_CapacityUnits, whole(read + write));
	if (split && read != 0)
		record_put_double(b, &n, Capacity_ReadCapacityUnits, whole(read));
	if (split && write != 0)
		record_put_double(b, &n, Capacity_WriteCapacityUnits, whole(write));
	record_end(b, at, n);
}

/* The index of one kind whose name follows `last`; names in a map ascend. NULL when there is none. */
static const struct consumed_index *next_index(const struct consumed *c, bool global, const struct consumed_index *last)
{
	const struct consumed_index *best = NULL;

	for (unsigned i = 0; i < c->indexes; i++) {
		const struct consumed_index *x = &c->index[i];

		if (x->global != global || (last != NULL && slice_cmp(x->name, last->name) <= 0))
			continue;
		if (best == NULL || slice_cmp(x->name, best->name) < 0)
			best = x;
	}
	return best;
}

static void put_indexes(struct buf *b, unsigned *n, const struct consumed *c, bool global, bool split)
{
	const struct consumed_index *x = next_index(c, global, NULL);
	uint32_t count = 0;
	size_t at;

	if (x == NULL)
		return;
	record_key(b, n, global ? ConsumedCapacity_GlobalSecondaryIndexes : ConsumedCapacity_LocalSecondaryIndexes);
	at = map_begin(b);
	for (; x != NULL; x = next_index(c, global, x), count++) {
		mp_put_str(b, x->name);
		put_capacity(b, x->read, x->write, split);
	}
	map_end(b, at, count);
}

void consumed_put(struct buf *b, const struct consumed *c, enum report how, bool split)
{
	uint64_t read = c->read, write = c->write;
	size_t at = record_begin(b);
	unsigned n = 0;

	for (unsigned i = 0; i < c->indexes; i++) {
		read += c->index[i].read;
		write += c->index[i].write;
	}
	record_put_double(b, &n, ConsumedCapacity_CapacityUnits, whole(read + write));
	if (how == REPORT_INDEXES) {
		put_indexes(b, &n, c, true, split);
		put_indexes(b, &n, c, false, split);
	}
	if (split && read != 0)
		record_put_double(b, &n, ConsumedCapacity_ReadCapacityUnits, whole(read));
	if (how == REPORT_INDEXES) {
		record_key(b, &n, ConsumedCapacity_Table);
		put_capacity(b, c->read, c->write, split);
	}
	record_put_str(b, &n, ConsumedCapacity_TableName, c->table);
	if (split && write != 0)
		record_put_double(b, &n, ConsumedCapacity_WriteCapacityUnits, whole(write));
	record_end(b, at, n);
}
