/* streams_text - what clients see of streams as text: ARNs, shard ids, sequence numbers, iterators.
 *
 *    iterator   ARN |1| base64 of: version 1 | shard 4 | position 8 | issued 8 | sum 8
 *
 * The sum covers the ARN too: a text that was cut or altered is refused, not misread. It is no secret; who can read a
 * stream can ask for any iterator of it. */
#include <inttypes.h>
#include <mbedtls/base64.h>
#include <stdio.h>
#include <xxhash.h>

#include "store/streams.h"

enum { ITERATOR_VERSION = 1, ITERATOR_PLAIN = 21, ITERATOR_BYTES = 29, ITERATOR_BASE64 = 40, SHARD_ID_LENGTH = 37 };
#define ITERATOR_MARK SLICE_LIT("|1|")

/* ---- ARNs ---- */

bool stream_arn_parse(struct slice arn, struct slice *table, struct slice *label)
{
	static const char kind[] = ":table/", part[] = "/stream/";

	if (!slice_starts_with(arn, SLICE_LIT("arn:aws:dynamodb:")))
		return false;
	const uint8_t *end = arn.p + arn.n, *name = memmem(arn.p, arn.n, kind, sizeof kind - 1);

	if (name == NULL)
		return false;
	name += sizeof kind - 1;
	const uint8_t *at = memmem(name, (size_t)(end - name), part, sizeof part - 1);

	if (at == NULL || at == name)
		return false;
	*table = slice_of(name, (size_t)(at - name));
	at += sizeof part - 1;
	*label = slice_of(at, (size_t)(end - at));
	return label->n != 0 && memchr(label->p, 0, label->n) == NULL;
}

/* ---- numbers ---- */

void sequence_format(uint64_t position, char out[SEQUENCE_TEXT])
{
	snprintf(out, SEQUENCE_TEXT, "1%020" PRIu64, position);
}

bool sequence_parse(struct slice text, uint64_t *position)
{
	uint64_t v = 0;

	if (text.n == 0)
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	while (text.n > 0 && text.p[0] == '0')
		text = slice_of(text.p + 1, text.n - 1);
	if (text.n != 21 || text.p[0] != '1') {
		*position = text.n < 21 ? 0 : UINT64_MAX;
		return true;
	}
	for (size_t i = 1; i < text.n; i++) {
		uint64_t digit = (uint64_t)(text.p[i] - '0');

		if (v > (UINT64_MAX - digit) / 10) {
			*position = UINT64_MAX;
			return true;
		}
		v = v * 10 + digit;
	}
	*position = v;
	return true;
}

void shard_id_format(uint32_t id, uint64_t start, char out[SHARD_ID_TEXT])
{
	snprintf(out, SHARD_ID_TEXT, "shardId-%020" PRIu64 "-%08" PRIx32, start >> STREAM_COUNTER_BITS, id);
}

bool shard_id_parse(struct slice text, uint32_t *id)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t v = 0;

	if (text.n != SHARD_ID_LENGTH || !slice_starts_with(text, SLICE_LIT("shardId-")))
		return false;
	for (size_t i = SHARD_ID_LENGTH - 8; i < SHARD_ID_LENGTH; i++) {
		const char *digit = memchr(digits, text.p[i], sizeof digits - 1);

		if (digit == NULL)
			return false;
		v = v << 4 | (uint32_t)(digit - digits);
	}
	*id = v;
	return true;
}

/* ---- iterators ---- */

static void put_le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static uint64_t sum_of(struct slice arn, const uint8_t plain[ITERATOR_PLAIN])
{
	return XXH3_64bits_withSeed(plain, ITERATOR_PLAIN, XXH3_64bits(arn.p, arn.n));
}

char *shard_iterator_format(const struct shard_iterator *it, struct arena *a)
{
	uint8_t b[ITERATOR_BYTES];
	unsigned char text[ITERATOR_BASE64 + 1];
	size_t n;

	b[0] = ITERATOR_VERSION;
	put_le(b + 1, it->shard, 4);
	put_le(b + 5, it->position, 8);
	put_le(b + 13, it->issued_ms, 8);
	put_le(b + ITERATOR_PLAIN, sum_of(it->arn, b), 8);
	if (mbedtls_base64_encode(text, sizeof text, &n, b, sizeof b) != 0)
		return NULL;
	return arena_printf(a, "%.*s|1|%.*s", SLICE_FMT(it->arn), (int)n, (const char *)text);
}

bool shard_iterator_parse(struct slice text, struct arena *a, struct shard_iterator *it)
{
	uint8_t b[ITERATOR_BYTES];
	unsigned char again[ITERATOR_BASE64 + 1];
	struct slice mark = ITERATOR_MARK;
	const uint8_t *coded;
	size_t n;

	if (text.n <= ITERATOR_BASE64 + mark.n)
		return false;
	struct slice arn = slice_of(text.p, text.n - ITERATOR_BASE64 - mark.n);

	coded = arn.p + arn.n + mark.n;
	if (memcmp(arn.p + arn.n, mark.p, mark.n) != 0
	    || mbedtls_base64_decode(b, sizeof b, &n, coded, ITERATOR_BASE64) != 0
	    || n != sizeof b || b[0] != ITERATOR_VERSION || get_le(b + ITERATOR_PLAIN, 8) != sum_of(arn, b))
		return false;
	/* The last character has two bits that decoding does not look at. */
	if (mbedtls_base64_encode(again, sizeof again, &n, b, sizeof b) != 0 || memcmp(again, coded, ITERATOR_BASE64) != 0)
		return false;
	*it = (struct shard_iterator){ .arn = arena_copy(a, arn), .shard = (uint32_t)get_le(b + 1, 4),
		.position = get_le(b + 5, 8), .issued_ms = get_le(b + 13, 8) };
	return slice_present(it->arn);
}
