/* Frames from an untrusted peer, with the bodies that this layer reads itself: HELLO and ERROR. */
#include "protocol/frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is read again from what it makes. */
static void check_hello(const struct hello *h)
{
	struct hello again;
	struct slice in;
	struct frame fr;
	struct buf b;

	buf_init(&b);
	frame_put_hello(&b, h);
	in = buf_slice(&b);
	if (frame_next(&in, FRAME_MAX, &fr, NULL) != FRAME_READY || !frame_read_hello(&fr, &again) || again.version != h->version
		|| again.max_frame != h->max_frame || !slice_eq(again.software, h->software))
		abort();
	buf_release(&b);
}

static void read_body(const struct frame *fr)
{
	struct arena a;
	struct fault f;
	struct hello h;

	arena_init(&a, 0);
	fault_init(&f, &a);
	if (fr->kind == FRAME_HELLO && frame_read_hello(fr, &h))
		check_hello(&h);
	if (fr->kind == FRAME_ERROR && frame_read_error(fr, &f) && (f.text == NULL || f.code == ERR_OK))
		abort();
	arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = slice_of(data, size);
	struct frame fr;
	size_t need = 0;
	enum frame_status st;

	while ((st = frame_next(&in, FRAME_MAX, &fr, &need)) == FRAME_READY)
		read_body(&fr);
	if (st == FRAME_NEED_MORE && (need <= in.n || need > FRAME_MAX))
		abort();
	return 0;
}
