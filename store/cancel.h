/* cancel - TransactionCanceledException and its reasons, one for each action, in their order.
 *
 * Threads: pure functions. */
#ifndef DYNAX_STORE_CANCEL_H
#define DYNAX_STORE_CANCEL_H

#include "protocol/shape.h"

struct cancel_reason {
	enum err code;          /* ERR_OK = None */
	const char *text;
	struct slice item;      /* to return with it, or absent */
};

/* Can this error be the reason of one action? Others are the whole request's. */
bool cancel_is_reason(enum err code);
/* Make the fault; reasons are copied into its arena. Returns ERR_TRANSACTION_CANCELED, or ERR_NO_MEMORY. */
enum err cancel_set(struct fault *f, const struct cancel_reason *r, unsigned n);

#endif
