/* Frames from an untrusted peer, with the bodies that this layer reads itself: HELLO and ERROR. */
#include "protocol/frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_body(const struct frame *fr)
{
	struct arena a;
	struct fault f;
	struct hello h;

	arena_init(&a, 0);
	fault_init(&f, &a);
	if (fr->kind == FRAME_HELLO && frame_read_hello(fr, &h) && h.version == 0)
		abort();
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
