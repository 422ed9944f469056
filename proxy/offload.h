/* offload - threads that carry out what would hold up an event loop's other connections: long answers become text there, and
 * the clock is moved (admin.h).
 *
 *    worker --offload_put--> queue --> a thread: run() --> worker's mailbox: mail.deliver()
 *
 * Jobs are begun in the order in which they were put. Threads: offload_put any; run() on a thread of the pool; deliver() on the
 * mailbox's owner. Ownership: a job is its sender's, who does not touch it, nor what run() uses, between offload_put and
 * deliver(). */
#ifndef DYNAX_PROXY_OFFLOAD_H
#define DYNAX_PROXY_OFFLOAD_H

#include "proxy/mailbox.h"

struct offload;

struct offload_job {
	struct mail mail;              /* deliver is the sender's */
	struct mailbox *to;
	void (*run)(struct offload_job *j);
	struct offload_job *next;      /* in the queue */
};

/* The threads are called name-0 and so on. NULL if out of memory or threads. */
struct offload *offload_new(const char *name, unsigned threads);
/* Carries out what is queued first. */
void offload_free(struct offload **o);
void offload_put(struct offload *o, struct offload_job *j);

#endif
