/* tags - TagResource and UntagResource, and the rules for tags, which CreateTable has as well.
 *
 * Threads: pure. */
#ifndef DYNAX_STORE_TAGS_H
#define DYNAX_STORE_TAGS_H

#include "store/control.h"

/* Tags of one request: their characters, number, and none twice. */
enum err tags_check(struct slice tags, struct fault *f) __attribute__((warn_unused_result));

#endif
