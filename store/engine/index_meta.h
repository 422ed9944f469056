/* index_meta - what the engine writes about itself into LMDB's META tree.
 *
 *    "format"  u32      "uuid" 16 bytes      "checkpoint" u64 LSN: the index has all of it up to there
 *    "layer"   u64      the next layer's id (keyspace.c)
 *    "drop" lsn 8, number 4 -> prefix: its keys are being deleted
 */
#ifndef DYNAX_STORE_ENGINE_INDEX_META_H
#define DYNAX_STORE_ENGINE_INDEX_META_H

#include "protocol/buf.h"
#include "store/engine/lmdb_env.h"
#include "store/engine/log_format.h"

/* Read what is there, or write it into a new index. */
enum err index_meta_open(struct lmdb_env *e, uint8_t uuid[LOG_UUID], uint64_t *checkpoint_lsn, struct fault *f)
	__attribute__((warn_unused_result));
enum err index_meta_set_checkpoint(struct lmdb_txn *t, uint64_t lsn, struct fault *f) __attribute__((warn_unused_result));

enum err index_meta_add_drop(struct lmdb_txn *t, uint64_t lsn, uint32_t number, struct slice prefix, struct fault *f)
	__attribute__((warn_unused_result));
/* The first drop that is not done: copies of its entry's key and of its prefix; key->n == 0 if there is none. */
enum err index_meta_first_drop(struct lmdb_txn *t, struct buf *key, struct buf *prefix, struct fault *f)
	__attribute__((warn_unused_result));

#endif
