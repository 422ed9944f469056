/* failpoint - see failpoint.h. */
#include "store/engine/failpoint.h"

#include <signal.h>
#include <unistd.h>

_Static_assert(FAILPOINT_COUNT <= 32, "failpoint_armed has a bit for each");

atomic_uint failpoint_armed;

/* Written while nobody hits the point; only `hits` changes afterwards. */
static struct failpoint_plan plans[FAILPOINT_COUNT];
static atomic_uint hits[FAILPOINT_COUNT];

void failpoint_arm(enum failpoint p, const struct failpoint_plan *plan)
{
	failpoint_disarm(p);
	plans[p] = *plan;
	atomic_store(&hits[p], 0);
	atomic_fetch_or(&failpoint_armed, 1u << p);
}

void failpoint_disarm(enum failpoint p)
{
	atomic_fetch_and(&failpoint_armed, ~(1u << p));
}

const char *failpoint_name(enum failpoint p)
{
	static const char *const names[] = {
#define X(name) #name,
		FAILPOINT_TABLE(X)
#undef X
	};

	return names[p];
}

int failpoint_act(enum failpoint p)
{
	unsigned hit = atomic_fetch_add(&hits[p], 1);
	const struct failpoint_plan *plan = &plans[p];

	if (hit < plan->skip || (plan->times != 0 && hit >= plan->skip + plan->times))
		return 0;
	if (plan->error == 0)
		kill(getpid(), SIGKILL);
	return plan->error;
}
