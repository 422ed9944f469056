/* switches - how often a table may go from provisioned to on-demand billing.
 *
 * S1. Four times in any 24 hours. The other way: at any time.
 * S2. What is refused does not count; neither does creating a table on demand. A daemon that does not enforce throughput
 *     counts only.
 *
 * Source: "Considerations when switching capacity modes in DynamoDB" in the developer guide. The error's text is the one known
 * from when it was once a day, with today's number.
 * Threads: the writer. */
#ifndef DYNAX_STORE_SWITCHES_H
#define DYNAX_STORE_SWITCHES_H

#include "store/store_int.h"

/* The table is to be switched: notes it, or ERR_LIMIT_EXCEEDED. */
enum err switches_note(const struct store *s, struct catalog_facts *facts, struct fault *f) __attribute__((warn_unused_result));

#endif
