/* process - see process.h. */
#include "proxy/process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

uint64_t process_cpu_ns(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t process_resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t process_open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (d == NULL)
		return 0;
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n - 1; /* this directory is one of them */
}
