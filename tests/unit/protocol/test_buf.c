/* test_buf - growth, the limit, the sticky failure, and fault's texts. */
#include <criterion/criterion.h>

#include "protocol/buf.h"
#include "protocol/err.h"

Test(buf, grows_and_keeps_order)
{
	struct buf b;

	buf_init(&b);
	for (int i = 0; i < 10000; i++)
		buf_put_u8(&b, (uint8_t)i);
	buf_printf(&b, "%d", 4711);
	cr_assert(!b.failed);
	cr_assert_eq(b.n, 10004);
	for (size_t i = 0; i < 10000; i++)
		cr_assert_eq(b.p[i], (uint8_t)i);
	cr_assert_arr_eq(b.p + 10000, "4711", 4);
	buf_release(&b);
	cr_assert_null(b.p);
}

Test(buf, limit_is_sticky_until_cleared)
{
	struct buf b = { .max = 10 };

	buf_put(&b, "1234567890", 10);
	cr_assert(!b.failed);
	buf_put(&b, "x", 1);
	cr_assert(b.failed);
	cr_assert_eq(b.n, 10);
	cr_assert_null(buf_reserve(&b, 0));
	buf_clear(&b);
	buf_put(&b, "x", 1);
	cr_assert(!b.failed);
	cr_assert_null(buf_reserve(&b, SIZE_MAX));
	buf_release(&b);
}

Test(buf, insert_moves_what_follows)
{
	struct buf b;

	buf_init(&b);
	buf_put(&b, "adef", 4);
	buf_insert(&b, 1, SLICE_LIT("bc"));
	buf_insert(&b, 6, SLICE_LIT("g"));
	buf_insert(&b, 0, SLICE_LIT(""));
	cr_assert(slice_eq(buf_slice(&b), SLICE_LIT("abcdefg")));
	buf_release(&b);
}

Test(buf, empty_puts_are_harmless)
{
	struct buf b;

	buf_init(&b);
	buf_put(&b, NULL, 0);
	cr_assert(!b.failed);
	cr_assert_not_null(buf_reserve(&b, 0));
	buf_release(&b);
}

Test(err, names)
{
	cr_assert_str_eq(err_type(ERR_VALIDATION), "ValidationException");
	cr_assert_str_eq(err_full_type(ERR_VALIDATION), "com.amazon.coral.validate#ValidationException");
	cr_assert_str_eq(err_full_type(ERR_CONDITION_FAILED),
			 "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException");
	cr_assert_str_eq(err_full_type(ERR_SERIALIZATION), "com.amazon.coral.service#SerializationException");
	cr_assert_eq(err_http_status(ERR_REQUEST_TOO_LARGE), 413);
	cr_assert(err_retryable(ERR_THROTTLING));
	cr_assert_str_eq(err_type(ERR_OK), "OK");
	cr_assert_str_eq(err_type((enum err)9999), "InternalServerError");
}

Test(err, fault_texts)
{
	struct arena a;
	struct fault f;

	arena_init(&a, 0);
	fault_init(&f, &a);
	cr_assert_eq(fault_set(&f, ERR_BUSY, "in use by %d", 12), ERR_BUSY);
	cr_assert_str_eq(f.text, "in use by 12");
	fault_init(&f, NULL);
	fault_set(&f, ERR_BUSY, "plain");
	cr_assert_str_eq(f.text, "plain");
	fault_set(&f, ERR_BUSY, "in use by %d", 12);
	cr_assert_str_eq(f.text, "InternalServerError");
	cr_assert_eq(fault_set(NULL, ERR_IO, "%d", 1), ERR_IO);
	arena_release(&a);
}
