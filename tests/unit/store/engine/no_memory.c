/* no_memory - see no_memory.h. What the wrapped functions are called is the linker's choice. */
#include "tests/unit/store/engine/no_memory.h"

#include <stdlib.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t n);

static _Thread_local bool armed, failed;
static _Thread_local unsigned left;

void no_memory_after(unsigned skip)
{
	left = skip;
	failed = false;
	armed = true;
}

bool no_memory_over(void)
{
	armed = false;
	return failed;
}

static bool fails(void)
{
	if (!armed || left-- > 0)
		return false;
	armed = false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}
