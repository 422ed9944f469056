/* retry - what may be tried again, and when. Shared by the blocking and the asynchronous client.
 *
 * A request that was never sent, or that the server refused before it did anything (throttling), may always be retried. One
 * whose outcome is unknown may be retried if it changes nothing, or if the caller has said that doing it twice is harmless. */
#ifndef DYNAX_CLIENT_RETRY_H
#define DYNAX_CLIENT_RETRY_H

#include "protocol/client/dynax.h"
#include "protocol/op.h"

/* Fill in the defaults. */
struct dynax_opts retry_opts(const struct dynax_opts *given);
/* op: OP_COUNT for a ping. unsent: no byte of it left. */
bool retry_allowed(enum op op, bool resend, enum err code, bool unsent);
/* Milliseconds to wait after `failures` (at least 1) failures in a row: doubling, bounded, of which a random half is
 * taken off so that many clients do not come back at once. */
unsigned retry_wait(const struct dynax_opts *o, unsigned failures);

/* CLOCK_MONOTONIC in milliseconds. */
uint64_t retry_now(void);

#endif
