/* coding - HTTP content codings: gzip and deflate, both ways, and what a client accepts.
 *
 * Threads: pure functions. */
#ifndef DYNAX_PROXY_CODING_H
#define DYNAX_PROXY_CODING_H

#include "protocol/buf.h"

enum coding { CODING_NONE, CODING_GZIP, CODING_DEFLATE, CODING_UNKNOWN };

/* Value of Content-Encoding; absent, empty and "identity" are NONE. */
enum coding coding_of(struct slice name);
const char *coding_name(enum coding c);
/* The coding to answer with, by an Accept-Encoding value: the best weight, then the first listed. Lenient where the
 * service is: a weight that is no number counts as 1, one beyond its range as the nearest end. */
enum coding coding_accepted(struct slice header);

enum coding_result { CODING_OK, CODING_BROKEN, CODING_TOO_LONG };
/* Append what `in` decodes to, stopping as soon as there would be more than `max` bytes: a small bomb costs no more than
 * a large body. gzip may have several members; bytes that belong to none are damage, and so is a missing end. */
enum coding_result coding_decode(enum coding c, struct slice in, size_t max, struct buf *out);
/* Append `in` encoded; false if out of memory. */
bool coding_encode(enum coding c, struct slice in, struct buf *out) __attribute__((warn_unused_result));

#endif
