/* partiql_token - NextToken: where a SELECT goes on, as text.
 *
 *    base64 of    digest of statement and parameters (8 bytes) | number of the read (4) | start key, or nothing
 *
 * The digest only tells a client that its token belongs to another statement; the key is checked like any start key. */
#include <mbedtls/base64.h>
#include <mbedtls/sha256.h>

#include "protocol/partiql_int.h"

enum { DIGEST = 8, READ = 4, HEAD = DIGEST + READ, TOKEN_MAX = 32768 };

static void digest(const struct statement *s, uint8_t out[32])
{
	mbedtls_sha256_context c;

	mbedtls_sha256_init(&c);
	mbedtls_sha256_starts_ret(&c, 0);
	mbedtls_sha256_update_ret(&c, s->text.p, s->text.n);
	mbedtls_sha256_update_ret(&c, (const uint8_t *)"", 1);
	if (s->parameters.n != 0)
		mbedtls_sha256_update_ret(&c, s->parameters.p, s->parameters.n);
	mbedtls_sha256_finish_ret(&c, out);
	mbedtls_sha256_free(&c);
}

struct slice statement_token_make(const struct statement *s, const struct statement_place *p, struct arena *a)
{
	size_t n = HEAD + p->key.n, room = (n + 2) / 3 * 4 + 1, written = 0;
	uint8_t sum[32], *bytes = arena_alloc(a, n), *text = arena_alloc(a, room);

	if (bytes == NULL || text == NULL)
		return SLICE_NONE;
	digest(s, sum);
	memcpy(bytes, sum, DIGEST);
	for (unsigned i = 0; i < READ; i++)
		bytes[DIGEST + i] = (uint8_t)(p->read >> (24 - 8 * i));
	if (p->key.n != 0)
		memcpy(bytes + HEAD, p->key.p, p->key.n);
	if (mbedtls_base64_encode(text, room, &written, bytes, n) != 0)
		return SLICE_NONE;
	return slice_of(text, written);
}

enum err statement_token_read(const struct statement *s, struct slice token, struct statement_place *out, struct fault *f)
{
	uint8_t sum[32], *bytes = arena_alloc(s->arena, token.n + 1);
	size_t n = 0;

	if (bytes == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	if (mbedtls_base64_decode(bytes, token.n + 1, &n, token.p, token.n) != 0 || n < HEAD)
		return fault_set(f, MSG_PQ_TOKEN_INVALID);
	digest(s, sum);
	if (memcmp(bytes, sum, DIGEST) != 0)
		return fault_set(f, MSG_PQ_TOKEN_OTHER);
	out->read = 0;
	for (unsigned i = 0; i < READ; i++)
		out->read = out->read << 8 | bytes[DIGEST + i];
	out->key = n > HEAD ? slice_of(bytes + HEAD, n - HEAD) : SLICE_NONE;
	if (slice_present(out->key) && !item_check(out->key))
		return fault_set(f, MSG_PQ_TOKEN_INVALID);
	return ERR_OK;
}
