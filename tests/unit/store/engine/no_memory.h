/* no_memory - failing allocations. test-store is linked with malloc, calloc and realloc wrapped (Makefile).
 *
 *    for (unsigned skip = 0; hit; skip++) {
 *            no_memory_after(skip);
 *            ...                            what this thread does here has to bear with one allocation that fails
 *            hit = no_memory_over();
 *    }
 *
 * Threads: each fails its own allocations only. */
#ifndef DYNAX_TESTS_NO_MEMORY_H
#define DYNAX_TESTS_NO_MEMORY_H

#include <stdbool.h>

/* The allocation after the next `skip` fails; those behind it do not. */
void no_memory_after(unsigned skip);
/* Let all succeed again. Has one failed? */
bool no_memory_over(void);

#endif
