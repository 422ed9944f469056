/* mailbox - how other threads hand work to a worker: an intrusive stack and one eventfd.
 *
 *    writer thread, readers --post--> [ m3 -> m2 -> m1 ]    first into an empty box: write(eventfd)
 *    worker <--take everything at once, oldest first--
 *
 * M1. A sender that finds the box non-empty makes no system call: a batch's completions cost each worker one wake-up, unless
 *     it is quick enough to wake between two of them.
 * M2. A mail belongs to the mailbox from mailbox_post until its deliver() is called.
 *
 * Threads: mailbox_post any; the others the owner. */
#ifndef DYNAX_PROXY_MAILBOX_H
#define DYNAX_PROXY_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>

struct mail {
	struct mail *next;
	void (*deliver)(struct mail *m);
};

struct mailbox {
	_Atomic(struct mail *) head;   /* newest first */
	int fd;                        /* eventfd; readable when there is mail */
};

bool mailbox_init(struct mailbox *b);
void mailbox_release(struct mailbox *b);
void mailbox_post(struct mailbox *b, struct mail *m);
/* Deliver what is there, in the order of posting; the number of mails. */
unsigned mailbox_deliver(struct mailbox *b);

#endif
