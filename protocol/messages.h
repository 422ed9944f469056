/* messages - every text that a client may see, in one place.
 *
 * Each macro gives an error code and a printf format: `return fault_set(f, MSG_TABLE_NOT_FOUND, SLICE_FMT(name))`,
 * so the compiler still checks the arguments. The words are the service's own wire texts: programs match them.
 * Keep the sections, each module adds to its own. */
#ifndef DYNAX_PROTOCOL_MESSAGES_H
#define DYNAX_PROTOCOL_MESSAGES_H

#include "protocol/err.h"

/* ---- requests: shape, constraints, HTTP ---- */

/* ---- values and numbers ---- */

/* ---- expressions ---- */

/* ---- keys and items ---- */

/* ---- tables ---- */

/* ---- engine and operations ---- */
#define MSG_NO_MEMORY ERR_NO_MEMORY, "Internal server error: out of memory"

#endif
