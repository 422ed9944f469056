/* token - client request tokens: a transaction done once is not done again for ten minutes.
 *
 *    0, 'x', token                 -> digest of the request's actions, time it ends
 *    0, 'y', time it ends, token   -> nothing; by which the old ones are found
 *
 * Threads: the writer only. */
#ifndef DYNAX_STORE_TOKEN_H
#define DYNAX_STORE_TOKEN_H

#include "store/write_txn.h"

enum token_status { TOKEN_NEW, TOKEN_REPLAY, TOKEN_MISMATCH };

enum err token_look(struct store *s, struct slice token, struct slice actions, enum token_status *status, struct fault *f)
	__attribute__((warn_unused_result));
/* Keep the token with the open transaction; takes some that are over away with it. */
void token_keep(struct write_txn *t, struct slice token, struct slice actions);

#endif
