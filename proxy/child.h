/* child - an ordinary request that a handler makes on behalf of its call, through the handlers everybody uses.
 *
 *    handler --child_run--> dispatch --> handler of that operation: caches, flights, backend --> done(child)
 *
 * So what PartiQL reads and writes has the caches, the coherence and the limits of the operations it stands for.
 *
 * H1. done is called exactly once, on the worker, perhaps before child_run returns. When it returns the child's call is gone:
 *     its answer and fault are good until then.
 * H2. The parent outlives its children: it answers only after the last one's done.
 *
 * Metrics count a child as the operation that it is, beside its parent.
 *
 * Threads: on the parent's worker. Ownership: a child is its maker's, good until done. */
#ifndef DYNAX_PROXY_CHILD_H
#define DYNAX_PROXY_CHILD_H

#include "proxy/call.h"

struct child {
	void (*done)(struct child *c);
	void *arg;                       /* the maker's */
	struct call *call;               /* in done: req, out, and fault.code != ERR_OK if it failed */
};

/* record: of op's request shape, in the parent's arena; bound: what stands for its expressions (expr.h), or NULL. */
void child_run(struct child *c, struct call *parent, enum op op, struct slice record, const struct bound *bound);
/* In done: the fault, with its words, in the parent's arena. */
void child_fault(const struct child *c, struct arena *a, struct fault *out);

#endif
