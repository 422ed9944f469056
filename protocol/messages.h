/* messages - every text that a client may see, in one place.
 *
 * Each macro gives an error code and a printf format: `return fault_set(f, MSG_TABLE_NOT_FOUND, SLICE_FMT(name))`,
 * so the compiler still checks the arguments. The words are the service's own wire texts: programs match them.
 * Keep the sections, each module adds to its own. */
#ifndef DYNAX_PROTOCOL_MESSAGES_H
#define DYNAX_PROTOCOL_MESSAGES_H

#include "protocol/err.h"

/* ---- requests: shape, constraints, HTTP ---- */

/* ---- frames ---- */
#define MSG_FRAME_BAD ERR_FRAME, "Bad frame: its length or its kind is not one of this protocol"
#define MSG_FRAME_NO_HELLO ERR_FRAME, "The first frame of a connection must be a HELLO"
#define MSG_FRAME_BAD_HELLO ERR_FRAME, "The HELLO frame cannot be read"
#define MSG_FRAME_VERSION ERR_FRAME, "Protocol version %u is not spoken here: this side speaks version %u"
#define MSG_FRAME_UNEXPECTED ERR_FRAME, "A frame of kind %u is not expected here"

/* ---- values and numbers ---- */

/* ---- expressions ---- */

/* ---- keys and items ---- */

/* ---- tables ---- */

/* ---- engine and operations ---- */
#define MSG_NO_MEMORY ERR_NO_MEMORY, "Internal server error: out of memory"

#endif
