/* utf8 - is it UTF-8, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF.
 *
 * Threads: pure functions. */
#ifndef DYNAX_PROTOCOL_UTF8_H
#define DYNAX_PROTOCOL_UTF8_H

#include "protocol/slice.h"

/* Length in bytes of the character at p (p < end), 1 to 4; 0 if there is no valid one. */
unsigned utf8_char(const uint8_t *p, const uint8_t *end);
/* Length of the longest valid beginning of s. */
size_t utf8_prefix(struct slice s);
/* Number of UTF-16 code units, which is what the service counts as the length of a string. s is valid. */
size_t utf8_utf16_length(struct slice s);

static inline bool utf8_valid(struct slice s)
{
	return utf8_prefix(s) == s.n;
}

#endif
