/* handlers - what carries out the operations. dispatch.c maps each operation to one of these.
 *
 * A handler begins with request_check, or with what does so for it (the store's prepare and describe functions), ends with
 * call_answer or call_fail, and never blocks on a peer. */
#ifndef DYNAX_PROXY_HANDLERS_H
#define DYNAX_PROXY_HANDLERS_H

#include "proxy/call.h"

typedef void handler_fn(struct call *c);

/* op_get.c, op_batch_get.c, op_query.c: through the caches */
void op_get_item(struct call *c);
void op_batch_get_item(struct call *c);
void op_query(struct call *c);       /* and Scan */
/* op_transact_get.c: from one view, never from a cache */
void op_transact_get_items(struct call *c);

/* op_endpoints.c: by the proxy itself */
void op_describe_endpoints(struct call *c);
/* Under which name and port this call's client finds us. */
struct slice endpoint_of(const struct call *c);

/* op_statement.c, op_statement_transact.c: PartiQL, by way of the others */
void op_execute_statement(struct call *c);
void op_batch_execute_statement(struct call *c);
void op_execute_transaction(struct call *c);

/* op_store.c: straight to the backend */
void op_write(struct call *c);       /* all that changes items or the catalog */
void op_describe(struct call *c);    /* all that reads the catalog */

#endif
