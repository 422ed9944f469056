/* mailbox - see mailbox.h. */
#include "proxy/mailbox.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool mailbox_init(struct mailbox *b)
{
	atomic_init(&b->head, NULL);
	b->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return b->fd >= 0;
}

void mailbox_release(struct mailbox *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}

void mailbox_post(struct mailbox *b, struct mail *m)
{
	struct mail *head = atomic_load_explicit(&b->head, memory_order_relaxed);
	uint64_t one = 1;

	do
		m->next = head;
	while (!atomic_compare_exchange_weak_explicit(&b->head, &head, m,
		memory_order_release, /* what the mail points to is seen by whoever takes it */
		memory_order_relaxed));
	/* m may be delivered, and gone, from here on. The counter cannot overflow: the owner empties it before it looks. */
	if (head == NULL && write(b->fd, &one, sizeof(one)) < 0)
		return;
}

unsigned mailbox_deliver(struct mailbox *b)
{
	struct mail *m, *oldest = NULL;
	uint64_t count;
	unsigned n = 0;

	/* Empty the counter first: a mail that comes after the exchange then wakes us again. */
	if (read(b->fd, &count, sizeof(count)) < 0)
		count = 0;
	m = atomic_exchange_explicit(&b->head, NULL, memory_order_acquire);
	while (m != NULL) {
		struct mail *next = m->next;

		m->next = oldest;
		oldest = m;
		m = next;
	}
	while (oldest != NULL) {
		m = oldest;
		oldest = m->next;
		m->deliver(m);
		n++;
	}
	return n;
}
