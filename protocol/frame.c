/* frame - see frame.h and PROTOCOL.md. */
#include "protocol/frame.h"

#include "protocol/mp.h"

enum { AT_LENGTH = 0, AT_ID = 4, AT_KIND = 8, AT_CODE = 9, AT_FLAGS = 10, AT_DEADLINE = 12, LENGTH_BYTES = 4 };
/* Keys of the maps in HELLO and ERROR bodies. */
enum { HELLO_VERSION, HELLO_FEATURES, HELLO_MAX_FRAME, HELLO_SOFTWARE };
enum { ERROR_TYPE, ERROR_TEXT, ERROR_DETAIL };

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void set_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

enum frame_status frame_next(struct slice *in, size_t max, struct frame *out, size_t *need)
{
	const uint8_t *p = in->p;
	size_t whole = FRAME_HEADER;

	if (in->n >= LENGTH_BYTES) {
		whole = (size_t)get_u32(p) + LENGTH_BYTES;
		if (whole < FRAME_HEADER || whole > max)
			return FRAME_BAD;
	}
	if (in->n > AT_KIND && (p[AT_KIND] < FRAME_HELLO || p[AT_KIND] > FRAME_PONG))
		return FRAME_BAD;
	if (in->n < whole) {
		if (need != NULL)
			*need = whole;
		return FRAME_NEED_MORE;
	}
	out->id = get_u32(p + AT_ID);
	out->kind = p[AT_KIND];
	out->code = p[AT_CODE];
	out->flags = (uint16_t)(p[AT_FLAGS] << 8 | p[AT_FLAGS + 1]);
	out->deadline_ms = get_u32(p + AT_DEADLINE);
	out->body = slice_of(p + FRAME_HEADER, whole - FRAME_HEADER);
	*in = slice_of(p + whole, in->n - whole);
	return FRAME_READY;
}

size_t frame_begin(struct buf *b, enum frame_kind kind, uint8_t code, uint32_t id)
{
	size_t at = b->n;
	uint8_t *p = buf_reserve(b, FRAME_HEADER);

	if (p == NULL)
		return at;
	memset(p, 0, FRAME_HEADER);
	set_u32(p + AT_ID, id);
	p[AT_KIND] = (uint8_t)kind;
	p[AT_CODE] = code;
	b->n += FRAME_HEADER;
	return at;
}

void frame_set_deadline(struct buf *b, size_t at, uint32_t ms)
{
	if (!b->failed)
		set_u32(b->p + at + AT_DEADLINE, ms);
}

void frame_end(struct buf *b, size_t at)
{
	frame_end_before(b, at, 0);
}

void frame_end_before(struct buf *b, size_t at, size_t more)
{
	if (!b->failed)
		set_u32(b->p + at + AT_LENGTH, (uint32_t)(b->n + more - at - LENGTH_BYTES));
}

void frame_put_error(struct buf *b, uint32_t id, const struct fault *f)
{
	bool detail = slice_present(f->detail);
	size_t at = frame_begin(b, FRAME_ERROR, (uint8_t)f->code, id);

	mp_put_map(b, detail ? 3 : 2);
	mp_put_int(b, ERROR_TYPE);
	mp_put_str(b, slice_str(err_type(f->code)));
	mp_put_int(b, ERROR_TEXT);
	mp_put_str(b, slice_str(f->text != NULL ? f->text : ""));
	if (detail) {
		mp_put_int(b, ERROR_DETAIL);
		buf_put_slice(b, f->detail);
	}
	frame_end(b, at);
}

bool frame_read_error(const struct frame *fr, struct fault *f)
{
	struct mp m = mp_open(fr->body);
	struct slice text = SLICE_LIT(""), detail = SLICE_NONE;

	for (uint32_t n = mp_map(&m); n > 0 && !m.bad; n--) {
		uint64_t key = mp_uint(&m);

		if (key == ERROR_TEXT)
			text = mp_str(&m);
		else if (key == ERROR_DETAIL)
			detail = mp_skip(&m);
		else
			mp_skip(&m);
	}
	if (m.bad || !mp_at_end(&m))
		return false;
	text = arena_copy(f->arena, text);
	if (slice_present(detail))
		detail = arena_copy(f->arena, detail);
	f->code = fr->code > ERR_OK && fr->code < ERR_COUNT ? (enum err)fr->code : ERR_INTERNAL;
	f->text = (const char *)text.p;
	f->detail = detail;
	return slice_present(text);
}

void frame_put_hello(struct buf *b, const struct hello *h)
{
	size_t at = frame_begin(b, FRAME_HELLO, 0, 0);

	mp_put_map(b, 4);
	mp_put_int(b, HELLO_VERSION);
	mp_put_int(b, h->version);
	mp_put_int(b, HELLO_FEATURES);
	mp_put_int(b, (int64_t)h->features);
	mp_put_int(b, HELLO_MAX_FRAME);
	mp_put_int(b, h->max_frame);
	mp_put_int(b, HELLO_SOFTWARE);
	mp_put_str(b, h->software);
	frame_end(b, at);
}

bool frame_read_hello(const struct frame *fr, struct hello *h)
{
	struct mp m = mp_open(fr->body);
	struct hello got = { .software = SLICE_LIT("") };
	bool versioned = false;

	for (uint32_t n = mp_map(&m); n > 0 && !m.bad; n--) {
		uint64_t key = mp_uint(&m), v;

		if (key == HELLO_SOFTWARE) {
			got.software = mp_str(&m);
			continue;
		}
		if (key > HELLO_SOFTWARE) {
			mp_skip(&m);
			continue;
		}
		v = mp_uint(&m);
		if (key == HELLO_FEATURES)
			got.features = v & INT64_MAX;
		else if (key == HELLO_MAX_FRAME)
			got.max_frame = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
		else
			got.version = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
		versioned |= key == HELLO_VERSION;
	}
	if (m.bad || !mp_at_end(&m) || !versioned)
		return false;
	*h = got;
	return true;
}
