/* cpu - a process' CPU time: the sum over its threads, in nanoseconds, of /proc/PID/task/TID/schedstat.
 *
 * /proc/PID/stat would count in clock ticks of 10 ms, too coarse for short runs. The time of threads that have ended is
 * lost; servers keep theirs. */
#include "bench/load/load_int.h"

#include <dirent.h>
#include <stdio.h>

static double thread_ns(int pid, const char *tid)
{
	unsigned long long ns = 0;
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, tid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return (double)ns;
}

/* Microseconds; -1 if there is no such process. */
double cpu_of(int pid)
{
	char path[64];
	struct dirent *d;
	double ns = 0;
	DIR *tasks;

	if (pid <= 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (tasks == NULL)
		return -1;
	while ((d = readdir(tasks)) != NULL)
		if (d->d_name[0] != '.')
			ns += thread_ns(pid, d->d_name);
	closedir(tasks);
	return ns / 1000;
}
