/* slice - a borrowed run of bytes: where it starts and how long it is.
 *
 * A slice owns nothing; whoever hands one out says how long its bytes live. `p == NULL` means "absent",
 * which is different from an empty slice (n == 0, p != NULL). Passed by value. */
#ifndef DYNAX_PROTOCOL_SLICE_H
#define DYNAX_PROTOCOL_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct slice {
	const uint8_t *p;
	size_t n;
};

#define SLICE_NONE ((struct slice){ NULL, 0 })
/* The bytes of a string literal, without its terminator. */
#define SLICE_LIT(s) ((struct slice){ (const uint8_t *)(s), sizeof(s) - 1 })
/* For printf's "%.*s". */
#define SLICE_FMT(s) (int)(s).n, (const char *)(s).p

static inline struct slice slice_of(const void *p, size_t n)
{
	return (struct slice){ p, n };
}

static inline struct slice slice_str(const char *s)
{
	return (struct slice){ (const uint8_t *)s, s != NULL ? strlen(s) : 0 };
}

static inline bool slice_present(struct slice s)
{
	return s.p != NULL;
}

static inline bool slice_eq(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* The same letters, whatever their case. */
static inline bool slice_is_word(struct slice s, const char *word)
{
	return s.n == strlen(word) && strncasecmp((const char *)s.p, word, s.n) == 0;
}

/* Order of unsigned bytes; a proper prefix comes first. Returns <0, 0 or >0. */
static inline int slice_cmp(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n != 0 ? memcmp(a.p, b.p, n) : 0;

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static inline bool slice_starts_with(struct slice s, struct slice prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

#endif
