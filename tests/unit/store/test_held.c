/* The set of what is held up: what was added is there, nothing else, up to its bound. */
#include <criterion/criterion.h>

#include "store/held.h"

Test(held, what_was_added)
{
	struct held h = { .n = 0 };

	cr_assert_not(held_has(&h, 0));
	for (uint64_t i = 0; i < 1000; i++) {
		cr_assert(held_add(&h, i << 40));
		cr_assert(held_add(&h, i << 40));
	}
	cr_assert_eq(h.n, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		cr_assert(held_has(&h, i << 40));
		cr_assert_not(held_has(&h, (i << 40) + 2));
	}
	held_release(&h);
	cr_assert_not(held_has(&h, 0));
}

Test(held, its_bound)
{
	struct held h = { .n = 0 };

	for (uint64_t i = 1; i <= HELD_MAX; i++)
		cr_assert(held_add(&h, i));
	cr_assert_not(held_add(&h, HELD_MAX + 1));
	cr_assert(held_has(&h, HELD_MAX));
	cr_assert_not(held_has(&h, HELD_MAX + 1));
	held_release(&h);
}
