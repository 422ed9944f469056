/* sweep - frozen tables on their way into LMDB: their keys in order, round and round.
 *
 *               first key                                       last key
 *    oldest     | joins ---------------------------------------------->     and is done: it leaves
 *    next              | joins --------------------------------------->     then from the first key on to where it joined
 *    newest                                | joins ------------------->     likewise
 *
 * A page of LMDB costs the same whether one of its keys has changed or all have. So what is moved in one go should be near in key
 * order, and a place should be come to as seldom as can be: once a round, with all that the round has brought for it.
 *
 * S1. All tables stand at the same place: each at its first key that is not before it. At the end all begin again together.
 * S2. A table joins wherever the sweep stands, and has been moved when that has passed all of its keys, once each.
 * S3. A key's newest version among the tables is moved, and all of them pass it. Nothing older is moved after it: an older table
 *     has joined before, and passed the key together with the newer one or in an earlier round.
 * S4. Tables leave in the order in which they joined: the oldest first.
 *
 * Threads: one; the tables are frozen. Nothing is owned. A sweep may be copied, to go back to where it was. */
#ifndef DYNAX_STORE_ENGINE_SWEEP_H
#define DYNAX_STORE_ENGINE_SWEEP_H

#include "store/engine/memtable.h"

enum { SWEEP_TABLES_MAX = 16 };

struct sweep {
	unsigned n;                           /* newest first */
	struct sweep_table {
		struct memtable *table;
		const struct memnode *at;     /* NULL: no more before the end of the round, or at all */
		size_t passed;                /* keys */
		double key_bytes;             /* of the table, on average */
	} in[SWEEP_TABLES_MAX];
	double moved;                         /* bytes of all */
};

/* The n tables, newest first, are newer than those that it has. */
void sweep_join(struct sweep *s, struct memtable *const *table, unsigned n);
/* Begin anew: at the first key, nothing passed. */
void sweep_rewind(struct sweep *s);
/* Pass the next key; its newest version, or NULL with *key absent if everything has been passed. */
const struct memversion *sweep_next(struct sweep *s, struct slice *key);
/* How many bytes of its tables have been passed. */
size_t sweep_moved(const struct sweep *s);
/* What the oldest table has left of its round, 0 to 1. */
double sweep_left(const struct sweep *s);
/* How many of its tables, the oldest, have been passed and may leave. */
unsigned sweep_done(const struct sweep *s);
void sweep_leave(struct sweep *s, unsigned n);

#endif
