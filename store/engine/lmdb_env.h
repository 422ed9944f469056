/* lmdb_env - the LMDB environment that indexes the log: three trees, transactions, errors in our words.
 *
 *    KEYS     keys as they are, up to 510 bytes; longer ones lead into LAYERS (keyspace.h)
 *    LAYERS   layer id, what follows
 *    META     what the engine knows about itself (index_meta.h)
 *
 * I1. Commits sync their pages, not the meta page that makes them current (MDB_NOMETASYNC): a crash may lose the last
 *     one, which the log still has, but never harms the tree. lmdb_sync makes it last.
 * I2. The map is address space, not memory or disk: 1 TiB of it, or what the limit asks for beyond that, is reserved once, so
 *     that it need never be moved under the feet of open views. The file grows by itself.
 * I3. The limit is the engine's to keep (checkpoint.c), and may be changed at any time, within what is reserved. LMDB itself
 *     knows the reserved map only.
 *
 * Threads: one writer at a time; a read transaction belongs to one thread at a time (MDB_NOTLS).
 * Bytes handed out live until their transaction ends, those of a write transaction until its next change. */
#ifndef DYNAX_STORE_ENGINE_LMDB_ENV_H
#define DYNAX_STORE_ENGINE_LMDB_ENV_H

#include "protocol/err.h"
#include "protocol/slice.h"

enum { LMDB_KEY_MAX = 511 };
enum lmdb_tree { LMDB_KEYS, LMDB_LAYERS, LMDB_META, LMDB_TREES };
enum lmdb_move { LMDB_SEEK, LMDB_FIRST, LMDB_LAST, LMDB_NEXT, LMDB_PREV };

struct lmdb_env;
struct lmdb_txn;
struct MDB_cursor;

struct lmdb_opts {
	const char *dir;            /* NULL = ephemeral: no name, no syncs */
	size_t map_max_bytes;       /* the limit */
	unsigned readers_max;
};
struct lmdb_usage {
	uint64_t map, used, free;   /* bytes: the limit; of pages in use; of pages to be used again */
	uint64_t pinned;            /* of those that are free, but are in the snapshots of open readers */
	unsigned readers, readers_max;
};

enum err lmdb_open(const struct lmdb_opts *o, struct lmdb_env **e, struct fault *f) __attribute__((warn_unused_result));
void lmdb_close(struct lmdb_env **e);
/* The limit; a new one from any thread, as far as address space is reserved: returns what it is now. */
uint64_t lmdb_limit(const struct lmdb_env *e);
uint64_t lmdb_set_limit(struct lmdb_env *e, uint64_t bytes);
enum err lmdb_sync(struct lmdb_env *e, struct fault *f) __attribute__((warn_unused_result));
/* Free the slots of readers that died. */
void lmdb_check_readers(struct lmdb_env *e);
enum err lmdb_usage(struct lmdb_env *e, struct lmdb_usage *u, struct fault *f) __attribute__((warn_unused_result));

/* ---- read transactions: opened once, then reset and renewed ---- */

enum err lmdb_read_open(struct lmdb_env *e, struct lmdb_txn **t, struct fault *f) __attribute__((warn_unused_result));
enum err lmdb_read_renew(struct lmdb_txn *t, struct fault *f) __attribute__((warn_unused_result));
void lmdb_read_reset(struct lmdb_txn *t);
void lmdb_read_close(struct lmdb_txn **t);

/* ---- write transactions ---- */

enum err lmdb_write_begin(struct lmdb_env *e, struct lmdb_txn **t, struct fault *f) __attribute__((warn_unused_result));
/* Commit if rc is ERR_OK, else abort; returns the first error. */
enum err lmdb_write_end(struct lmdb_txn **t, enum err rc, struct fault *f) __attribute__((warn_unused_result));

enum err lmdb_get(struct lmdb_txn *t, enum lmdb_tree tree, struct slice key, struct slice *value, struct fault *f)
	__attribute__((warn_unused_result));
enum err lmdb_put(struct lmdb_txn *t, enum lmdb_tree tree, struct slice key, struct slice value, struct fault *f)
	__attribute__((warn_unused_result));
/* A key that is not there is no error. */
enum err lmdb_del(struct lmdb_txn *t, enum lmdb_tree tree, struct slice key, struct fault *f)
	__attribute__((warn_unused_result));

/* ---- cursors ---- */

enum err lmdb_cursor_open(struct lmdb_txn *t, enum lmdb_tree tree, struct MDB_cursor **c, struct fault *f)
	__attribute__((warn_unused_result));
void lmdb_cursor_close(struct MDB_cursor **c);
/* *key is what LMDB_SEEK looks for (the first one not below it), and becomes the key found; absent if there is none:
 * then only LMDB_SEEK, _FIRST and _LAST may follow. */
enum err lmdb_cursor_move(struct MDB_cursor *c, enum lmdb_move move, struct slice *key, struct slice *value,
	struct fault *f) __attribute__((warn_unused_result));

#endif
