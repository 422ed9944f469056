/* thread - see thread.h. */
#include "protocol/thread.h"

#include <stdarg.h>
#include <stdio.h>

enum { NAME_BYTES = 16 };            /* the kernel's, with the zero */

int thread_start(pthread_t *t, void *(*run)(void *), void *arg, const char *name, ...)
{
	char text[NAME_BYTES];
	va_list args;
	int error = pthread_create(t, NULL, run, arg);

	if (error != 0)
		return error;
	va_start(args, name);
	vsnprintf(text, sizeof text, name, args);
	va_end(args);
	pthread_setname_np(*t, text);
	return 0;
}
