/* cpu - a process' CPU time, from its own clock: in nanoseconds, where /proc/PID/stat counts ticks of 10 ms. */
#include "bench/load/load_int.h"

#include <time.h>

double cpu_of(int pid)
{
	struct timespec t;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return -1;
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}
