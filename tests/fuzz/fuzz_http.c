/* fuzz_http - the HTTP reader, fed in pieces as sockets do: what it reports must lie inside what came. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/http_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct http_reader *r, size_t n)
{
	if (r->parsed > n || (r->body_n > 0 && r->body_at + r->body_n > r->parsed))
		abort();
	for (int i = 0; i < HEADER_COUNT; i++)
		if (r->header[i].present && (size_t)r->header[i].at + r->header[i].n > r->parsed)
			abort();
}

/* The first byte says how long the pieces are; the rest is the stream. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size > 0 ? data[0] + 1u : 1, at = 1, n = 0;
	uint8_t *p = malloc(size + 1);
	struct http_reader r;
	enum http_step s;

	http_reader_setup();
	http_reader_init(&r);
	while (p != NULL && at < size) {
		size_t more = size - at < piece ? size - at : piece;

		memcpy(p + n, data + at, more);
		at += more;
		n += more;
		while ((s = http_reader_step(&r, p, n)) == HTTP_STEP_HEAD || s == HTTP_STEP_MESSAGE) {
			check(&r, n);
			if (s == HTTP_STEP_HEAD)
				continue;
			memmove(p, p + r.parsed, n - r.parsed);
			n -= r.parsed;
			http_reader_next(&r);
			if (n == 0)
				break;
		}
		if (s != HTTP_STEP_MORE && s != HTTP_STEP_MESSAGE)
			break;
		check(&r, n);
	}
	free(p);
	return 0;
}
