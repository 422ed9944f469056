/* test_arena - alignment, growth, reset, rollback, text. */
#include <criterion/criterion.h>

#include "protocol/arena.h"

Test(arena, aligned_and_writable)
{
	struct arena a;

	arena_init(&a, 64);
	for (size_t n = 0; n < 300; n++) {
		uint8_t *p = arena_alloc(&a, n);

		cr_assert_not_null(p);
		cr_assert_eq((uintptr_t)p % 16, 0);
		memset(p, 0xab, n);
	}
	arena_release(&a);
}

Test(arena, impossible_sizes_fail_and_change_nothing)
{
	struct arena a;
	struct arena_mark m;

	arena_init(&a, 0);
	m = arena_save(&a);
	cr_assert_null(arena_alloc(&a, SIZE_MAX));
	cr_assert_null(arena_alloc(&a, SIZE_MAX - 20));
	cr_assert(!slice_present(arena_copy(&a, slice_of("", SIZE_MAX))));
	cr_assert_eq(a.head, m.head);
	cr_assert_eq(a.used, m.used);
	arena_release(&a);
}

Test(arena, rollback_keeps_what_came_before)
{
	struct arena a;
	struct arena_mark m;
	struct slice before;

	arena_init(&a, 64);
	before = arena_copy(&a, SLICE_LIT("before"));
	m = arena_save(&a);
	for (int i = 0; i < 100; i++)
		cr_assert_not_null(arena_zalloc(&a, 50));
	arena_rollback(&a, m);
	cr_assert(slice_eq(before, SLICE_LIT("before")));
	cr_assert_eq(before.p[before.n], 0);
	cr_assert_not_null(arena_alloc(&a, 1000));
	cr_assert(slice_eq(before, SLICE_LIT("before")));
	arena_release(&a);
}

/* Newest first, and what is older stays. */
Test(arena, is_released_bit_by_bit)
{
	enum { N = 100, BYTES = 1000 };
	struct arena a;
	uint8_t *p[N];
	size_t freed = 0, n;

	arena_init(&a, 4096);
	for (int i = 0; i < N; i++) {
		p[i] = arena_alloc(&a, BYTES);
		memset(p[i], i, BYTES);
	}
	n = arena_release_some(&a, 1);
	cr_assert_gt(n, 0);
	cr_assert_lt(n, N * BYTES);
	cr_assert_eq(p[0][BYTES - 1], 0);
	cr_assert_eq(p[1][BYTES - 1], 1);
	uint8_t *more = arena_alloc(&a, 16);

	cr_assert_not_null(more);
	memset(more, 0xff, 16);
	cr_assert_eq(p[0][0], 0);
	for (freed = n; (n = arena_release_some(&a, 10 * BYTES)) != 0; freed += n)
		cr_assert(n >= 10 * BYTES || a.head == NULL);
	cr_assert_geq(freed, N * BYTES);
	cr_assert_not_null(arena_alloc(&a, BYTES));
	arena_release(&a);
}

Test(arena, reset_allows_reuse)
{
	struct arena a;

	arena_init(&a, 0);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 100; i++)
			memset(arena_alloc(&a, 1000), round, 1000);
		arena_reset(&a);
	}
	arena_reset(&a);
	arena_release(&a);
}

Test(arena, printf)
{
	struct arena a;
	char *s;

	arena_init(&a, 0);
	s = arena_printf(&a, "%s-%05d", "x", 42);
	cr_assert_str_eq(s, "x-00042");
	arena_release(&a);
}
