/* cpu - a process' CPU time, from /proc/PID/stat. */
#include "bench/load/load_int.h"

#include <stdio.h>
#include <unistd.h>

double cpu_of(int pid)
{
	unsigned long long utime, stime;
	char path[64], line[1024], *p;
	size_t n;
	FILE *f;

	if (pid <= 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f == NULL)
		return -1;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	/* The name in brackets may hold anything: count from its end. utime and stime are fields 14 and 15 of all. */
	p = strrchr(line, ')');
	if (p == NULL || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &utime, &stime) != 2)
		return -1;
	return (double)(utime + stime) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}
