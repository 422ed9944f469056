/* json_parse - yajl, tamed: its events go to the reader's frames; what it lets pass is checked before.
 *
 * yajl does not look whether its allocations succeed. It gets ours, which leave it with a jump when memory is out; its
 * blocks are in a list, so that nothing is lost. It holds nothing else. The first blocks come from a pool in the reader, which
 * the next body takes afresh: malloc and free would cost as much as a small body's parsing. */
#include <setjmp.h>
#include <stdlib.h>

#include <yajl/yajl_parse.h>

#include "protocol/json_int.h"
#include "protocol/utf8.h"

/* ---- events ---- */

/* yajl's context. Its blocks hang on the reader: what changes between setjmp and longjmp must not be a local. */
struct parse {
	struct json_reader *reader;
	jmp_buf no_memory;
};

static struct json_reader *reader_of(void *p)
{
	return ((struct parse *)p)->reader;
}

static int cb_null(void *p)
{
	return json_on_token(reader_of(p), (struct token){ TOKEN_NULL, SLICE_NONE });
}

static int cb_boolean(void *p, int v)
{
	return json_on_token(reader_of(p), (struct token){ v ? TOKEN_TRUE : TOKEN_FALSE, SLICE_NONE });
}

static int cb_number(void *p, const char *text, size_t n)
{
	enum token_kind kind = TOKEN_NUMBER;

	for (size_t i = 0; i < n; i++)
		if (text[i] == '.' || text[i] == 'e' || text[i] == 'E')
			kind = TOKEN_DECIMAL;
	return json_on_token(reader_of(p), (struct token){ kind, slice_of(text, n) });
}

static int cb_string(void *p, const unsigned char *text, size_t n)
{
	return json_on_token(reader_of(p), (struct token){ TOKEN_STRING, slice_of(text, n) });
}

static int cb_key(void *p, const unsigned char *text, size_t n)
{
	return json_on_key(reader_of(p), slice_of(text, n));
}

static int cb_map_begin(void *p)
{
	return json_on_map_begin(reader_of(p));
}

static int cb_array_begin(void *p)
{
	return json_on_array_begin(reader_of(p));
}

static int cb_end(void *p)
{
	return json_on_end(reader_of(p));
}

static const yajl_callbacks callbacks = {
	.yajl_null = cb_null,
	.yajl_boolean = cb_boolean,
	.yajl_number = cb_number,
	.yajl_string = cb_string,
	.yajl_start_map = cb_map_begin,
	.yajl_map_key = cb_key,
	.yajl_end_map = cb_end,
	.yajl_start_array = cb_array_begin,
	.yajl_end_array = cb_end,
};

/* ---- memory ---- */

struct json_block {
	struct json_block *next, **link; /* link: what points here */
	max_align_t bytes[];
};

static void block_link(struct json_reader *r, struct json_block *b)
{
	b->next = r->blocks;
	b->link = &r->blocks;
	if (b->next != NULL)
		b->next->link = &b->next;
	r->blocks = b;
}

static void block_unlink(struct json_block *b)
{
	*b->link = b->next;
	if (b->next != NULL)
		b->next->link = b->link;
}

static struct json_block *block_of(void *bytes)
{
	return (struct json_block *)(void *)((char *)bytes - offsetof(struct json_block, bytes));
}

static uint8_t *pool_end(struct json_reader *r)
{
	return (uint8_t *)r->pool + sizeof(r->pool);
}

static bool in_pool(struct json_reader *r, const void *bytes)
{
	return (uintptr_t)bytes - (uintptr_t)r->pool < sizeof(r->pool);
}

static void *pool_take(struct json_reader *r, size_t n)
{
	void *bytes = (uint8_t *)r->pool + r->pool_used;

	if (n > sizeof(r->pool) - r->pool_used)
		return NULL;
	r->pool_used += (n + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	return bytes;
}

static void *block_resize(void *ctx, void *bytes, size_t n)
{
	struct parse *p = ctx;
	struct json_block *old = bytes != NULL ? block_of(bytes) : NULL, *b;

	if (old != NULL)
		block_unlink(old);
	b = realloc(old, sizeof *b + n);
	if (b == NULL) {
		if (old != NULL)
			block_link(p->reader, old);
		longjmp(p->no_memory, 1);
	}
	block_link(p->reader, b);
	return b->bytes;
}

static void *block_new(void *ctx, size_t n)
{
	void *bytes = pool_take(((struct parse *)ctx)->reader, n);

	return bytes != NULL ? bytes : block_resize(ctx, NULL, n);
}

/* What is in the pool moves out: how long it was is not known, but no longer than what is left there. */
static void *block_grow(void *ctx, void *bytes, size_t n)
{
	struct json_reader *r = ((struct parse *)ctx)->reader;
	size_t most;
	void *moved;

	if (bytes == NULL)
		return block_new(ctx, n);
	if (!in_pool(r, bytes))
		return block_resize(ctx, bytes, n);
	moved = block_resize(ctx, NULL, n);
	most = (size_t)(pool_end(r) - (uint8_t *)bytes);
	memcpy(moved, bytes, n < most ? n : most);
	return moved;
}

static void block_free(void *ctx, void *bytes)
{
	if (bytes == NULL || in_pool(((struct parse *)ctx)->reader, bytes))
		return;
	block_unlink(block_of(bytes));
	free(block_of(bytes));
}

static void free_blocks(struct json_reader *r)
{
	while (r->blocks != NULL) {
		struct json_block *b = r->blocks;

		block_unlink(b);
		free(b);
	}
}

/* ---- what yajl lets pass ---- */

static bool hex4(const uint8_t *p, const uint8_t *end, unsigned *v)
{
	*v = 0;
	if (end - p < 4)
		return false;
	for (unsigned i = 0; i < 4; i++) {
		unsigned c = p[i] | 0x20; /* lower case */

		if (c >= '0' && c <= '9')
			*v = *v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			*v = *v << 4 | (c - 'a' + 10);
		else
			return false;
	}
	return true;
}

static bool is_surrogate(unsigned v, unsigned first)
{
	return v >= first && v < first + 0x400;
}

/* Are the surrogates among the \u escapes in pairs? What is no escape at all is left to yajl. */
static bool escapes_paired(struct slice body)
{
	const uint8_t *p = body.p, *end = body.p + body.n;
	unsigned v;

	while (p < end && (p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		p += 2;
		if (p >= end || p[-1] != 'u' || !hex4(p, end, &v))
			continue;
		if (is_surrogate(v, 0xdc00))
			return false;
		if (!is_surrogate(v, 0xd800))
			continue;
		if (end - p < 10 || p[4] != '\\' || p[5] != 'u' || !hex4(p + 6, end, &v) || !is_surrogate(v, 0xdc00))
			return false;
		p += 10;
	}
	return true;
}

/* ---- parsing ---- */

static yajl_status run(struct parse *p, const yajl_callbacks *events, struct slice body)
{
	yajl_alloc_funcs memory = { block_new, block_grow, block_free, p };
	yajl_handle y = yajl_alloc(events, &memory, p);
	yajl_status status;

	/* Its own check of UTF-8 takes overlong forms and surrogates. */
	yajl_config(y, yajl_dont_validate_strings, 1);
	status = yajl_parse(y, body.p, body.n);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(y);
	yajl_free(y);
	return status;
}

static bool parse(struct json_reader *r, const yajl_callbacks *events, struct slice body)
{
	struct parse p = { .reader = r };

	r->pool_used = 0;

	if (!utf8_valid(body) || !escapes_paired(body))
		return json_broken(r);
	if (setjmp(p.no_memory) != 0) {
		free_blocks(r);
		return json_no_memory(r);
	}
	switch (run(&p, events, body)) {
	case yajl_status_ok:
		return true;
	case yajl_status_client_canceled:
		return false; /* the callback has said why */
	default:
		return json_broken(r);
	}
}

bool json_parse(struct json_reader *r, struct slice body)
{
	return parse(r, &callbacks, body);
}

bool json_parse_only(struct json_reader *r, struct slice text)
{
	return parse(r, NULL, text);
}
