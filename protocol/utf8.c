/* utf8 - see utf8.h. Source: table 3-7 of the Unicode standard, "Well-Formed UTF-8 Byte Sequences". */
#include "protocol/utf8.h"

static inline bool within(uint8_t c, uint8_t lo, uint8_t hi)
{
	return c >= lo && c <= hi;
}

unsigned utf8_char(const uint8_t *p, const uint8_t *end)
{
	size_t left = (size_t)(end - p);
	uint8_t lo = 0x80, hi = 0xbf; /* of the second byte */

	if (p[0] < 0x80)
		return 1;
	if (within(p[0], 0xc2, 0xdf))
		return left >= 2 && within(p[1], lo, hi) ? 2 : 0;
	if (within(p[0], 0xe0, 0xef)) {
		if (p[0] == 0xe0)
			lo = 0xa0;
		if (p[0] == 0xed)
			hi = 0x9f;
		return left >= 3 && within(p[1], lo, hi) && within(p[2], 0x80, 0xbf) ? 3 : 0;
	}
	if (within(p[0], 0xf0, 0xf4)) {
		if (p[0] == 0xf0)
			lo = 0x90;
		if (p[0] == 0xf4)
			hi = 0x8f;
		return left >= 4 && within(p[1], lo, hi) && within(p[2], 0x80, 0xbf) && within(p[3], 0x80, 0xbf) ? 4
		                                                                                                 : 0;
	}
	return 0;
}

/* Eight bytes at a time as long as all are ASCII, which is what most text is. */
static const uint8_t *skip_ascii(const uint8_t *p, const uint8_t *end)
{
	uint64_t w;

	for (; end - p >= 8; p += 8) {
		memcpy(&w, p, 8);
		if ((w & 0x8080808080808080u) != 0)
			break;
	}
	while (p < end && *p < 0x80)
		p++;
	return p;
}

size_t utf8_prefix(struct slice s)
{
	const uint8_t *p = s.p, *end = s.p + s.n;
	unsigned n;

	if (s.n == 0)
		return 0;
	while ((p = skip_ascii(p, end)) < end) {
		n = utf8_char(p, end);
		if (n == 0)
			break;
		p += n;
	}
	return (size_t)(p - s.p);
}

size_t utf8_utf16_length(struct slice s)
{
	size_t n = 0;

	/* One unit for each character's first byte, one more for those of four bytes. */
	for (size_t i = 0; i < s.n; i++)
		n += (size_t)((s.p[i] & 0xc0) != 0x80) + (size_t)(s.p[i] >= 0xf0);
	return n;
}
