/* failpoint - failures on demand: named places where a test makes the engine fail or the process die.
 *
 * Always compiled in, so that what is tested is what is shipped; an unarmed one costs a load and a branch.
 * Threads: arm before the engine is opened, or while it is quiet; hit from any. */
#ifndef DYNAX_STORE_ENGINE_FAILPOINT_H
#define DYNAX_STORE_ENGINE_FAILPOINT_H

#include <stdatomic.h>
#include <stdbool.h>

#define FAILPOINT_TABLE(X) \
	X(LOG_WRITE)          /* before a batch is written */ \
	X(LOG_WRITE_HALF)     /* after half of its bytes are */ \
	X(LOG_SYNC)           /* written, not synced */ \
	X(LOG_SYNCED)         /* synced, not yet acknowledged */ \
	X(SEGMENT_CREATE)     /* before a segment file is made */ \
	X(SEGMENT_CREATED)    /* made, its directory not synced */ \
	X(SEGMENT_HEADER)     /* before a new segment's header is written */ \
	X(SEGMENT_RECYCLE)    /* before an old one is renamed */ \
	X(SEGMENT_RECYCLED)   /* renamed, its directory not synced */ \
	X(SEGMENT_REMOVE)     /* before one is unlinked */ \
	X(CHECKPOINT_BEGIN)   /* before a transaction begins */ \
	X(CHECKPOINT_PUT)     /* before a key is put */ \
	X(CHECKPOINT_COMMIT)  /* before a transaction commits */ \
	X(CHECKPOINT_COMMITTED) \
	X(CHECKPOINT_END)     /* LMDB is synced, the log not trimmed */ \
	X(DROP_SLICE)         /* between two slices of a dropped prefix */

enum failpoint {
#define X(name) FAILPOINT_##name,
	FAILPOINT_TABLE(X)
#undef X
	FAILPOINT_COUNT
};

struct failpoint_plan {
	unsigned skip;     /* hits that pass first */
	unsigned times;    /* hits that fail then; 0 = all */
	int error;         /* errno to fail with; 0 = the process dies by SIGKILL */
};

/* A bit for each armed point. Global, since it stands for the world outside, not for a state of the engine. */
extern atomic_uint failpoint_armed;

void failpoint_arm(enum failpoint p, const struct failpoint_plan *plan);
void failpoint_disarm(enum failpoint p);
const char *failpoint_name(enum failpoint p);
int failpoint_act(enum failpoint p);

/* 0, or the errno that this place fails with. */
static inline int failpoint(enum failpoint p)
{
	if (__builtin_expect((atomic_load_explicit(&failpoint_armed, memory_order_relaxed) >> p & 1) != 0, false))
		return failpoint_act(p);
	return 0;
}

#endif
