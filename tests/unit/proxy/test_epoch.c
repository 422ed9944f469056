/* Epochs: parity and growth by E1, what turns what, and the combination with voided tables. */
#include "proxy/epoch.h"

#include <criterion/criterion.h>

static struct store_change item_change(uint32_t table, uint64_t hash)
{
	return (struct store_change){ .table = table, .hash = hash, .key = SLICE_LIT("k"), .item = SLICE_LIT("i") };
}

Test(epoch, a_batch_turns_its_stripes_odd_then_even)
{
	struct epochs *e = epochs_new(0);
	struct store_change c[] = { item_change(1, 100), item_change(1, 100), item_change(1, 200) };
	uint64_t before = epoch_load(e, 1, 100, false), other = epoch_load(e, 1, 300, false);

	cr_assert(epoch_even(before));
	epochs_begin(e, c, 3);
	cr_assert_not(epoch_even(epoch_load(e, 1, 100, false)), "touched twice, still odd");
	cr_assert_not(epoch_even(epoch_load(e, 1, 200, false)));
	cr_assert_not(epoch_even(epoch_load(e, 1, 0, true)), "the scan stripe turns with any of its items");
	cr_assert_eq(epoch_load(e, 1, 300, false), other);
	epochs_end(e, c, 3);
	cr_assert_eq(epoch_load(e, 1, 100, false), before + 2);
	cr_assert_eq(epoch_load(e, 1, 0, true), 2);
	epochs_free(&e);
	cr_assert_null(e);
}

Test(epoch, a_voided_table_turns_all_its_partitions)
{
	struct epochs *e = epochs_new(0);
	struct store_change c[] = { { .table = 7, .whole = true }, item_change(7, 5) };
	uint64_t one = epoch_load(e, 7, 5, false), two = epoch_load(e, 7, 6, false), alien = epoch_load(e, 8, 5, false);
	uint64_t voids = epoch_voids(e, 7);

	epochs_begin(e, c, 2);
	cr_assert_not(epoch_even(epoch_load(e, 7, 6, false)));
	cr_assert_not(epoch_even(epoch_load(e, 7, 5, false)), "both counters odd: still odd");
	cr_assert(epoch_even(epoch_load(e, 8, 5, false)));
	epochs_end(e, c, 2);
	cr_assert_gt(epoch_load(e, 7, 5, false), one);
	cr_assert_gt(epoch_load(e, 7, 6, false), two);
	cr_assert(epoch_even(epoch_load(e, 7, 6, false)));
	cr_assert_eq(epoch_load(e, 8, 5, false), alien);
	cr_assert_eq(epoch_voids(e, 7), voids + 2);
	epochs_free(&e);
}

Test(epoch, what_scans_cost_turns_no_partition)
{
	struct epochs *e = epochs_new(0);
	struct store_change c = { .table = 7, .scans = true };
	uint64_t one = epoch_load(e, 7, 0, false), scans = epoch_load(e, 7, 0, true);

	epochs_begin(e, &c, 1);
	cr_assert_not(epoch_even(epoch_load(e, 7, 0, true)));
	epochs_end(e, &c, 1);
	cr_assert_eq(epoch_load(e, 7, 0, true), scans + 2);
	cr_assert_eq(epoch_load(e, 7, 0, false), one);
	cr_assert_eq(epoch_voids(e, 7), 0);
	epochs_free(&e);
}

Test(epoch, one_stripe_for_all_is_still_right)
{
	struct epochs *e = epochs_new(1);
	struct store_change c[64];

	for (unsigned i = 0; i < 64; i++)
		c[i] = item_change(i % 3, i);
	for (unsigned round = 0; round < 10; round++) {
		epochs_begin(e, c, 64);
		for (unsigned i = 0; i < 64; i++)
			cr_assert_not(epoch_even(epoch_load(e, c[i].table, c[i].hash, false)));
		epochs_end(e, c, 64);
		for (unsigned i = 0; i < 64; i++)
			cr_assert_eq(epoch_load(e, c[i].table, c[i].hash, false), 2 * round + 2);
	}
	epochs_free(&e);
}
