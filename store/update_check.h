/* update_check - what the service demands of an UpdateTable, as far as the request alone tells.
 *
 * An update is about one thing: what may come together with what is the service's, as observed in 2026.
 * Threads: pure functions. */
#ifndef DYNAX_STORE_UPDATE_CHECK_H
#define DYNAX_STORE_UPDATE_CHECK_H

#include "protocol/shape.h"

/* An UpdateTableInput, after its constraints were checked. */
enum err update_table_check(const struct record *in, struct fault *f) __attribute__((warn_unused_result));

#endif
