/* memindex - where in a memtable's list a key belongs: a B+ tree over the list's nodes.
 *
 *    inner    low a                 | a . | g . | p . |
 *                                     /      |      \
 *    leaves   low a  | a | c | e |  low g  | g | k |  low p  | p | t |
 *                      |   |   |             |   |             |   |
 *    list     head ->  a-> c-> e-> ......... g-> k-> ......... p-> t
 *
 * X1. The list is the truth and the index a hint. It names nodes that are in the list, and what it answers has been compared
 *     with the whole key: from whichever node before a key, the list leads there, and misses nothing on the way (T2). So a
 *     reader may see a block in the midst of a change, for he starts too far left then, or searches again; and blocks are
 *     changed in place: nothing is copied, and no reader's place is lost.
 * X2. A block has the keys from its lowest node on (`low`, for good) up to the next block's. To the writer, and to readers
 *     while he rests, the index is exact: every node is in a leaf, in order.
 * X3. All keys of a block begin with what its lowest one and the next block's have in common. Its heads are the four bytes
 *     behind that: nearly always they tell its keys apart, wherever those differ, and it is searched without a look at any
 *     node. Where heads are equal, whole keys decide.
 * X4. A full block is split on the way down, so that its parent has room for the new one. Whatever allocation fails, the index
 *     stays as X2 says.
 *
 * Source: readers that bear with half-shifted blocks: Hwang et al., "Endurable Transient Inconsistency in Byte-Addressable
 * Persistent B+-Tree", FAST 2018. Fences, common prefixes and heads: Graefe, "Modern B-Tree Techniques", 2011; LeanStore's
 * nodes have heads of four bytes too. Blocks of four cache lines, fetched together: Masstree, EuroSys 2012. Its permutation
 * words, and blocks that are replaced and not changed, cost memory that cannot be used again as long as readers may stand
 * anywhere: 32 bytes a key with an arena.
 *
 * Threads: one writer; any number of readers, without locks. */
#ifndef DYNAX_STORE_ENGINE_MEMINDEX_H
#define DYNAX_STORE_ENGINE_MEMINDEX_H

#include "protocol/arena.h"

#include <stdatomic.h>

struct memblock;
struct memnode;

struct memindex {
	struct arena arena;
	_Atomic(struct memblock *) root;
	size_t bytes;                   /* of the blocks beyond the first; the writer's */
};

/* Where a new node goes. */
struct memplace {
	struct memblock *leaf;
	unsigned i;
	struct memnode *before;         /* its neighbour to the left */
};

/* head: the list's own, before every key. False if out of memory; memindex_release is needed all the same. */
bool memindex_init(struct memindex *x, struct memnode *head, size_t block_bytes) __attribute__((warn_unused_result));
void memindex_release(struct memindex *x);

/* ---- writer ---- */

/* Find the place of a key that no node has, and make room there. False if out of memory. */
bool memindex_place(struct memindex *x, struct slice key, struct memplace *out) __attribute__((warn_unused_result));
/* Put a node into the place just found for its key. It is in the list already. */
void memindex_put(struct memplace place, struct memnode *n);

/* ---- readers ---- */

/* A node before `key` (absent: beyond all), and no other between them but for what the writer is changing. */
struct memnode *memindex_before(const struct memindex *x, struct slice key);

/* Whether X2 and X3 hold for the whole of it, while the writer rests; false says why in *why. For tests. */
bool memindex_sane(const struct memindex *x, const struct memnode *head, const char **why);

#endif
