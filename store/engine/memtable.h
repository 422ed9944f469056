/* memtable - a part of the overlay: keys in order, each with its versions by LSN.
 *
 *    head -> node "a" -> node "c" -> node "k" ->         a list of the keys, and an index of it (memindex.h)
 *              |           |           |
 *           v 17 "x"    v 12 gone   v 19 "z"             newest version first
 *              |                       |
 *           v  9 "w"                v 11 "y"
 *
 * T1. Nothing is freed or moved before the whole table is: a reader may stand anywhere.
 * T2. A node is linked by one store with release order, after it is complete, and then put into the index. Nothing leaves the
 *     list: whoever stands at a node, however long, finds every key behind it that was there when he came to know of his LSN.
 * T3. A version above a reader's LSN is not seen by it; so taking the newest versions back (memnode_undo) disturbs no
 *     reader, as none has an LSN that high.
 * T4. Every node is in the bucket of its key's hash as well, as soon as it is in the list: a point read need not search
 *     the list, and a key that is not there costs a look into a filter, a byte a bucket, with two bits set for each key.
 *
 * Threads: one writer; any number of readers, without locks. How a reader comes to know of an LSN (engine_publish)
 * orders the writer's stores before the reader's loads.
 * Ownership: the table copies keys and values; what it hands out lives as long as the table. */
#ifndef DYNAX_STORE_ENGINE_MEMTABLE_H
#define DYNAX_STORE_ENGINE_MEMTABLE_H

#include "protocol/arena.h"
#include "protocol/slice.h"
#include "store/engine/memindex.h"

#include <stdatomic.h>

struct memversion {
	uint64_t lsn;
	struct memversion *older;
	uint32_t n : 31, deleted : 1;
	uint8_t bytes[];
};

struct memnode {
	_Atomic(struct memversion *) newest;   /* NULL: every version was taken back */
	_Atomic(struct memnode *) next;
	_Atomic(struct memnode *) bucket_next;
	uint32_t hash;                         /* of the key, upper half */
	uint16_t key_n;
	uint8_t key[];
};

/* A prefix whose keys are to be forgotten. Read by the checkpointer only, of a table no longer written. */
struct memdrop {
	struct memdrop *older;
	uint64_t lsn;
	struct slice prefix;
};

struct memtable {
	struct arena arena;
	struct memnode *head;         /* of the list; its key is empty, before every other */
	struct memindex index;
	_Atomic(struct memnode *) *bucket;
	_Atomic uint64_t *filter;     /* a word for eight buckets */
	uint64_t bucket_mask;
	size_t used;                  /* allocated for nodes and versions; the writer's */
	atomic_size_t bytes;          /* that and the index */
	size_t keys;                  /* the writer's; others': once it is frozen */
	struct memdrop *drops;        /* newest first */
	unsigned refs;                /* of the states that list it; under the engine's lock */
	uint64_t born_ns;             /* when it became the active one; under the engine's lock */
	uint64_t last_lsn;            /* the last one it may hold, once it is frozen; under the engine's lock */
	struct memtable *next_dead;   /* waiting to be freed; under the engine's lock */
};

/* An empty table that is meant to hold about `bytes_hint` bytes. NULL if out of memory. */
struct memtable *memtable_new(size_t bytes_hint);
void memtable_free(struct memtable **t);
/* Free some `bytes` of a large table, and all of it in the end: then *t is nulled. */
void memtable_free_some(struct memtable **t, size_t bytes);
bool memtable_empty(const struct memtable *t);

/* ---- writer ---- */

/* Add a version; value.p == NULL marks the key deleted. NULL if out of memory: then nothing has changed. */
struct memnode *memtable_set(struct memtable *t, uint64_t lsn, struct slice key, struct slice value, struct slice tail)
	__attribute__((warn_unused_result));
/* Take back the newest version, which no reader can see yet. */
void memnode_undo(struct memnode *n);
bool memtable_drop(struct memtable *t, uint64_t lsn, struct slice prefix) __attribute__((warn_unused_result));
/* Take back the drops above lsn. */
void memtable_undo_drops(struct memtable *t, uint64_t lsn);

/* ---- readers ---- */

uint64_t memtable_hash(struct slice key);
/* The version of `key` that a reader at `lsn` sees; NULL if the table has none. hash: memtable_hash(key). */
const struct memversion *memtable_get(const struct memtable *t, struct slice key, uint64_t hash, uint64_t lsn);

/* Nodes in key order, visible to the reader or not; NULL at the end. */
const struct memnode *memtable_first(const struct memtable *t);
const struct memnode *memtable_last(const struct memtable *t);
const struct memnode *memtable_ge(const struct memtable *t, struct slice key);   /* the first one >= key */
const struct memnode *memtable_lt(const struct memtable *t, struct slice key);   /* the last one < key */
const struct memnode *memnode_next(const struct memnode *n);
const struct memversion *memnode_at(const struct memnode *n, uint64_t lsn);

static inline struct slice memnode_key(const struct memnode *n)
{
	return slice_of(n->key, n->key_n);
}

#endif
