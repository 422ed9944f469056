/* test_capacity - units, and the record that reports them. */
#include <criterion/criterion.h>

#include "protocol/capacity.h"

Test(capacity, units)
{
	cr_assert_eq(capacity_read_halves(0, READ_EVENTUAL), 1);
	cr_assert_eq(capacity_read_halves(0, READ_STRONG), 2);
	cr_assert_eq(capacity_read_halves(4096, READ_STRONG), 2);
	cr_assert_eq(capacity_read_halves(4097, READ_STRONG), 4);
	cr_assert_eq(capacity_read_halves(4097, READ_EVENTUAL), 2);
	cr_assert_eq(capacity_read_halves(1, READ_TRANSACTIONAL), 4);
	cr_assert_eq(capacity_write_halves(0, false), 2);
	cr_assert_eq(capacity_write_halves(1024, false), 2);
	cr_assert_eq(capacity_write_halves(1025, false), 4);
	cr_assert_eq(capacity_write_halves(1507, true), 8);
	cr_assert_eq(report_of(SLICE_NONE), REPORT_NONE);
	cr_assert_eq(report_of(SLICE_LIT("NONE")), REPORT_NONE);
	cr_assert_eq(report_of(SLICE_LIT("TOTAL")), REPORT_TOTAL);
	cr_assert_eq(report_of(SLICE_LIT("INDEXES")), REPORT_INDEXES);
}

static void open_record(struct record *r, const struct shape *shape, struct slice bytes)
{
	cr_assert(record_open(r, shape, bytes));
}

Test(capacity, total_has_units_and_table_only)
{
	struct consumed c = { .table = SLICE_LIT("tab"), .read = 1 };
	struct record r;
	struct buf b;

	buf_init(&b);
	consumed_put(&b, &c, REPORT_TOTAL, false);
	open_record(&r, &shape_ConsumedCapacity, buf_slice(&b));
	cr_assert_eq(record_double(&r, ConsumedCapacity_CapacityUnits, 0), 0.5);
	cr_assert(slice_eq(record_str(&r, ConsumedCapacity_TableName), SLICE_LIT("tab")));
	cr_assert(!record_has(&r, ConsumedCapacity_ReadCapacityUnits));
	cr_assert(!record_has(&r, ConsumedCapacity_Table));
	buf_release(&b);
}

Test(capacity, indexes_are_listed_by_kind_and_name)
{
	struct consumed_index x[] = { { SLICE_LIT("zz"), true, 0, 2 }, { SLICE_LIT("l1"), false, 0, 2 }, { SLICE_LIT("aa"), true, 0, 4 } };
	struct consumed c = { .table = SLICE_LIT("tab"), .write = 2, .index = x, .indexes = 3 };
	struct record r, table, first;
	struct buf b;
	uint32_t n;

	buf_init(&b);
	consumed_put(&b, &c, REPORT_INDEXES, false);
	open_record(&r, &shape_ConsumedCapacity, buf_slice(&b));
	cr_assert_eq(record_double(&r, ConsumedCapacity_CapacityUnits, 0), 5.0);
	open_record(&table, &shape_Capacity, r.m[ConsumedCapacity_Table]);
	cr_assert_eq(record_double(&table, Capacity_CapacityUnits, 0), 1.0);
	struct mp m = record_list(&r, ConsumedCapacity_GlobalSecondaryIndexes, &n);
	cr_assert_eq(n, 2);
	cr_assert(slice_eq(mp_str(&m), SLICE_LIT("aa")));
	open_record(&first, &shape_Capacity, mp_skip(&m));
	cr_assert_eq(record_double(&first, Capacity_CapacityUnits, 0), 2.0);
	cr_assert(slice_eq(mp_str(&m), SLICE_LIT("zz")));
	record_list(&r, ConsumedCapacity_LocalSecondaryIndexes, &n);
	cr_assert_eq(n, 1);
	buf_release(&b);
}

Test(capacity, transactions_report_the_split)
{
	struct consumed c = { .table = SLICE_LIT("tab"), .write = 8 };
	struct record r;
	struct buf b;

	buf_init(&b);
	consumed_put(&b, &c, REPORT_TOTAL, true);
	open_record(&r, &shape_ConsumedCapacity, buf_slice(&b));
	cr_assert_eq(record_double(&r, ConsumedCapacity_CapacityUnits, 0), 4.0);
	cr_assert_eq(record_double(&r, ConsumedCapacity_WriteCapacityUnits, 0), 4.0);
	cr_assert(!record_has(&r, ConsumedCapacity_ReadCapacityUnits));
	buf_release(&b);
}
