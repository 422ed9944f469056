/* thread - a thread starts with a name, which top -H, gdb and perf show.
 *
 * Here because both layers above start threads: what speaks the protocol itself starts none.
 * Threads: any may start one. */
#ifndef DYNAX_PROTOCOL_THREAD_H
#define DYNAX_PROTOCOL_THREAD_H

#include <pthread.h>

/* 15 characters of a name are kept. The caller joins it. Returns 0, or pthread_create's error number; the name alone
 * never fails a start. */
int thread_start(pthread_t *t, void *(*run)(void *), void *arg, const char *name, ...)
	__attribute__((format(printf, 4, 5), warn_unused_result));

#endif
