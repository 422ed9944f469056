/* number - DynamoDB's decimal: 38 significant digits, magnitudes 1E-130 to 9.99..E+125, and zero.
 *
 * A number lives as 1 to 22 bytes, in one canonical form, whose byte order is its numeric order:
 *
 *    zero       80
 *    positive   80 + (e + 64)   d1+1  d2+1 ...             value = 0.d1d2.. * 100^e, d in 0..99, d1 != 0,
 *    negative   7f - (e + 64)  100-d1 100-d2 ... ff        last d != 0, -64 <= e <= 63
 *
 * N1. Equal numbers are equal bytes.
 * N2. memcmp order is numeric order, also when other bytes follow a 00 (positive or zero) or the ff (negative).
 * N3. Limits are checked on the digits and exponent as parsed, before anything is expanded.
 *
 * Threads: all functions are pure. Source: "Number" under "Data types" in DynamoDB's developer guide. */
#ifndef DYNAX_PROTOCOL_NUMBER_H
#define DYNAX_PROTOCOL_NUMBER_H

#include "protocol/slice.h"

#define NUMBER_BYTES 22       /* longest canonical form */
#define NUMBER_TEXT 171       /* longest text: "-0.", 129 zeros, 38 digits, NUL */

struct number {
	uint8_t n;
	uint8_t b[NUMBER_BYTES];
};

enum number_status {
	NUMBER_OK,
	NUMBER_SYNTAX,        /* not a number at all */
	NUMBER_OVERFLOW,      /* beyond 9.99..E+125 */
	NUMBER_UNDERFLOW,     /* not zero, and below 1E-130 */
	NUMBER_PRECISION      /* more than 38 significant digits */
};

static inline struct slice number_slice(const struct number *x)
{
	return slice_of(x->b, x->n);
}

enum number_status number_parse(struct number *out, struct slice text) __attribute__((warn_unused_result));
/* Canonical text, expanded, never scientific; returns its length, NUL-terminated. x is canonical. */
size_t number_format(struct slice x, char out[NUMBER_TEXT]);
/* Are these bytes a canonical number? For bytes from outside. */
bool number_valid(struct slice x);
/* Exact; a result that 38 digits cannot hold, or out of range, is NUMBER_OVERFLOW or NUMBER_UNDERFLOW. */
enum number_status number_add(struct number *out, struct slice a, struct slice b) __attribute__((warn_unused_result));
enum number_status number_sub(struct number *out, struct slice a, struct slice b) __attribute__((warn_unused_result));
void number_from_int(struct number *out, int64_t v);
/* False if x is not an integer or does not fit. */
bool number_to_int(struct slice x, int64_t *out) __attribute__((warn_unused_result));
/* Bytes that DynamoDB counts for it towards item size and capacity: one, one for each pair of digits as they stand
 * around the decimal point, and one for a minus sign; which is the length of the canonical form. */
size_t number_item_size(struct slice x);

#endif
