/* keyspace - keys of any length over LMDB, whose own have at most 511 bytes.
 *
 *    KEYS     "apple"          -> value                     up to 510 bytes: the key itself
 *             "aaa...a" 01     -> layer 7                   longer: its first 510 bytes and a mark, which lead to
 *    LAYERS   7 "bcd"          -> value                     the rest of all keys that begin so, under the layer's id
 *             7 "eee...e" 01   -> layer 8                   502 bytes of it, and so on
 *
 * A trie whose nodes are B+trees. K1. A layer's entries sort as their keys do: the key that ends with a slice is a
 * proper prefix of the mark, so it comes first, and keys with another slice come before or after both.
 * K2. No layer is empty: deleting its last entry deletes its mark as well.
 *
 * Threads: the transaction's. */
#ifndef DYNAX_STORE_ENGINE_KEYSPACE_H
#define DYNAX_STORE_ENGINE_KEYSPACE_H

#include "store/engine/lmdb_env.h"

struct keyspace_cursor;

enum err keyspace_get(struct lmdb_txn *t, struct slice key, struct slice *value, struct fault *f)
	__attribute__((warn_unused_result));
enum err keyspace_put(struct lmdb_txn *t, struct slice key, struct slice value, struct fault *f)
	__attribute__((warn_unused_result));
enum err keyspace_del(struct lmdb_txn *t, struct slice key, struct fault *f) __attribute__((warn_unused_result));

enum err keyspace_cursor_open(struct lmdb_txn *t, struct keyspace_cursor **c, struct fault *f)
	__attribute__((warn_unused_result));
void keyspace_cursor_close(struct keyspace_cursor **c);
/* Stand at the first pair with a key >= `key` (an absent one: the first of all). */
enum err keyspace_seek(struct keyspace_cursor *c, struct slice key, struct fault *f) __attribute__((warn_unused_result));
/* Stand at the last pair with a key < `key` (an absent one: the last of all). */
enum err keyspace_seek_before(struct keyspace_cursor *c, struct slice key, struct fault *f)
	__attribute__((warn_unused_result));
enum err keyspace_next(struct keyspace_cursor *c, struct fault *f) __attribute__((warn_unused_result));
enum err keyspace_prev(struct keyspace_cursor *c, struct fault *f) __attribute__((warn_unused_result));
/* Where it stands; the key is absent at the end. Borrowed until the cursor moves. */
struct slice keyspace_key(const struct keyspace_cursor *c);
struct slice keyspace_value(const struct keyspace_cursor *c);

/* Walk everything and check K1 and K2 and that each layer is reached once; false says why in *why. For tests. */
bool keyspace_sane(struct lmdb_txn *t, const char **why);

#endif
