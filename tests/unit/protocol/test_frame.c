/* Frames: round trips, every frame in every kind of pieces, and what is not a frame. */
#include "protocol/frame.h"
#include "protocol/mp.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct buf b;
static struct arena a;

static void setup(void)
{
	buf_init(&b);
	arena_init(&a, 0);
}

static void teardown(void)
{
	buf_release(&b);
	arena_release(&a);
}

TestSuite(frame, .init = setup, .fini = teardown);

/* A copy of exactly the first n bytes, so that a sanitizer sees a read beyond them. */
static enum frame_status next_of(struct slice all, size_t n, size_t max, struct frame *fr, size_t *need, size_t *used)
{
	uint8_t *copy = malloc(n != 0 ? n : 1);
	struct slice in;
	enum frame_status st;

	memcpy(copy, all.p, n);
	in = slice_of(copy, n);
	st = frame_next(&in, max, fr, need);
	*used = (size_t)(in.p - copy);
	if (st != FRAME_READY)
		cr_assert_eq(in.n, n, "nothing may be taken from a partial frame");
	free(copy);
	return st;
}

static void put_request(uint32_t id, size_t body)
{
	size_t at = frame_begin(&b, FRAME_REQUEST, 3, id);

	frame_set_deadline(&b, at, 1500);
	for (size_t i = 0; i < body; i++)
		buf_put_u8(&b, (uint8_t)i);
	frame_end(&b, at);
}

Test(frame, header_bytes)
{
	static const uint8_t want[] = { 0, 0, 0, 14, 0x01, 0x02, 0x03, 0x04, 2, 3, 0, 0, 0, 0, 0x05, 0xdc, 0, 1 };

	put_request(0x01020304, 2);
	cr_assert(slice_eq(buf_slice(&b), slice_of(want, sizeof(want))));
}

Test(frame, round_trip_of_many_in_one_buffer)
{
	struct slice in;
	struct frame fr;

	for (uint32_t i = 0; i < 500; i++)
		put_request(i * 7919, i);
	in = buf_slice(&b);
	for (uint32_t i = 0; i < 500; i++) {
		cr_assert_eq(frame_next(&in, FRAME_MAX, &fr, NULL), FRAME_READY);
		cr_assert_eq(fr.id, i * 7919);
		cr_assert_eq(fr.kind, FRAME_REQUEST);
		cr_assert_eq(fr.code, 3);
		cr_assert_eq(fr.deadline_ms, 1500u);
		cr_assert_eq(fr.body.n, i);
	}
	cr_assert_eq(in.n, 0u);
}

Test(frame, one_byte_at_a_time)
{
	size_t need = 0, used;
	struct frame fr;

	put_request(9, 40);
	put_request(10, 0);
	for (size_t n = 0; n < FRAME_HEADER + 40; n++) {
		cr_assert_eq(next_of(buf_slice(&b), n, FRAME_MAX, &fr, &need, &used), FRAME_NEED_MORE, "at %zu", n);
		cr_assert_eq(need, n < 4 ? (size_t)FRAME_HEADER : FRAME_HEADER + 40);
	}
	for (size_t n = FRAME_HEADER + 40; n <= b.n; n++) {
		cr_assert_eq(next_of(buf_slice(&b), n, FRAME_MAX, &fr, &need, &used), FRAME_READY);
		cr_assert_eq(used, (size_t)FRAME_HEADER + 40);
		cr_assert_eq(fr.id, 9u);
	}
}

Test(frame, too_short_and_too_long_are_bad_at_once)
{
	static const uint8_t under[] = { 0, 0, 0, 11 };
	static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff };
	static const uint8_t http[] = { 'G', 'E', 'T', ' ' };
	size_t used;
	struct frame fr;

	cr_assert_eq(next_of(slice_of(under, 4), 4, FRAME_MAX, &fr, NULL, &used), FRAME_BAD);
	cr_assert_eq(next_of(slice_of(huge, 4), 4, FRAME_MAX, &fr, NULL, &used), FRAME_BAD);
	cr_assert_eq(next_of(slice_of(http, 4), 4, FRAME_MAX, &fr, NULL, &used), FRAME_BAD);
	put_request(1, 100);
	cr_assert_eq(next_of(buf_slice(&b), b.n, b.n - 1, &fr, NULL, &used), FRAME_BAD);
	cr_assert_eq(next_of(buf_slice(&b), b.n, b.n, &fr, NULL, &used), FRAME_READY);
}

Test(frame, unknown_kinds_are_bad)
{
	size_t used;
	struct frame fr;

	put_request(1, 100);
	for (unsigned kind = 0; kind < 256; kind++) {
		enum frame_status want = kind >= FRAME_HELLO && kind <= FRAME_PONG ? FRAME_NEED_MORE : FRAME_BAD;

		b.p[8] = (uint8_t)kind;
		cr_assert_eq(next_of(buf_slice(&b), 9, FRAME_MAX, &fr, NULL, &used), want, "kind %u", kind);
	}
}

static struct frame only_frame(void)
{
	struct slice in = buf_slice(&b);
	struct frame fr;

	cr_assert_eq(frame_next(&in, FRAME_MAX, &fr, NULL), FRAME_READY);
	cr_assert_eq(in.n, 0u);
	return fr;
}

Test(frame, errors_round_trip_with_their_detail)
{
	static const uint8_t detail[] = { 0x81, 0x00, 0x80 };
	struct fault in = { .code = ERR_CONDITION_FAILED, .text = "The conditional request failed",
		.detail = slice_of(detail, sizeof(detail)) };
	struct fault out;
	struct frame fr;

	frame_put_error(&b, 77, &in);
	fr = only_frame();
	fault_init(&out, &a);
	cr_assert_eq(fr.id, 77u);
	cr_assert(frame_read_error(&fr, &out));
	cr_assert_eq(out.code, ERR_CONDITION_FAILED);
	cr_assert_str_eq(out.text, in.text);
	cr_assert(slice_eq(out.detail, in.detail));
}

Test(frame, an_error_code_of_a_newer_peer_is_an_internal_error)
{
	struct fault in = { .code = ERR_VALIDATION, .text = "new" }, out;
	struct frame fr;

	frame_put_error(&b, 1, &in);
	b.p[9] = 250;
	fr = only_frame();
	fault_init(&out, &a);
	cr_assert(frame_read_error(&fr, &out));
	cr_assert_eq(out.code, ERR_INTERNAL);
	cr_assert_str_eq(out.text, "new");
}

Test(frame, damaged_error_bodies_are_refused)
{
	struct fault in = { .code = ERR_VALIDATION, .text = "some text" }, out;
	struct frame fr;

	frame_put_error(&b, 1, &in);
	fr = only_frame();
	for (size_t n = 0; n < fr.body.n; n++) {
		struct frame cut = fr;

		cut.body.n = n;
		fault_init(&out, &a);
		cr_assert_not(frame_read_error(&cut, &out), "cut at %zu", n);
	}
}

Test(frame, hello_round_trip)
{
	struct hello in = { 1, FRAME_FEATURE_PUSH, FRAME_MAX, SLICE_LIT("dynaxd/0.1.0") }, out;
	struct frame fr;

	frame_put_hello(&b, &in);
	fr = only_frame();
	cr_assert_eq(fr.kind, FRAME_HELLO);
	cr_assert(frame_read_hello(&fr, &out));
	cr_assert_eq(out.version, 1u);
	cr_assert_eq(out.features, (uint64_t)FRAME_FEATURE_PUSH);
	cr_assert_eq(out.max_frame, (uint32_t)FRAME_MAX);
	cr_assert(slice_eq(out.software, in.software));
}

Test(frame, hello_passes_over_what_it_does_not_know)
{
	struct hello out;
	struct frame fr;
	size_t at = frame_begin(&b, FRAME_HELLO, 0, 0);

	mp_put_map(&b, 2);
	mp_put_int(&b, 99);
	mp_put_array(&b, 1);
	mp_put_int(&b, 5);
	mp_put_int(&b, 0);
	mp_put_int(&b, 3);
	frame_end(&b, at);
	fr = only_frame();
	cr_assert(frame_read_hello(&fr, &out));
	cr_assert_eq(out.version, 3u);
	cr_assert_eq(out.max_frame, 0u);
}

Test(frame, hello_without_a_version_is_refused)
{
	struct hello out;
	struct frame fr;
	size_t at = frame_begin(&b, FRAME_HELLO, 0, 0);

	mp_put_map(&b, 0);
	frame_end(&b, at);
	fr = only_frame();
	cr_assert_not(frame_read_hello(&fr, &out));
}
