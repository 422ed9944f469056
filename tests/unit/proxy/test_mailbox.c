/* test_mailbox - mail of many threads comes once each and in its sender's order, with few wake-ups (M1). */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/mailbox.h"

enum { SENDERS = 4, MAILS = 5000 };

struct letter {
	struct mail mail;
	unsigned sender, number;
};

static unsigned seen[SENDERS], total;

static void read_letter(struct mail *m)
{
	struct letter *l = (struct letter *)(void *)m;

	cr_assert_eq(l->number, seen[l->sender], "out of order");
	seen[l->sender]++;
	total++;
	free(l);
}

struct sender {
	struct mailbox *box;
	unsigned number;
	pthread_t thread;
};

static void *send_all(void *arg)
{
	struct sender *s = arg;

	for (unsigned i = 0; i < MAILS; i++) {
		struct letter *l = malloc(sizeof(*l));

		*l = (struct letter){ { NULL, read_letter }, s->number, i };
		mailbox_post(s->box, &l->mail);
	}
	return NULL;
}

/* Nothing is lost, each sender's order holds, and whenever there is mail the descriptor says so. */
Test(mailbox, many_senders, .timeout = 60)
{
	struct sender s[SENDERS];
	struct mailbox box;

	cr_assert(mailbox_init(&box));
	for (unsigned i = 0; i < SENDERS; i++) {
		s[i] = (struct sender){ .box = &box, .number = i };
		cr_assert_eq(pthread_create(&s[i].thread, NULL, send_all, &s[i]), 0);
	}
	while (total < SENDERS * MAILS) {
		struct pollfd p = { .fd = box.fd, .events = POLLIN };

		cr_assert_eq(poll(&p, 1, 5000), 1, "mail without a wake-up");
		mailbox_deliver(&box);
	}
	for (unsigned i = 0; i < SENDERS; i++)
		pthread_join(s[i].thread, NULL);
	cr_assert_eq(mailbox_deliver(&box), 0);
	mailbox_release(&box);
}

static void count_only(struct mail *m)
{
	(void)m;
	total++;
}

Test(mailbox, one_wake_up_for_many)
{
	struct mail m[3] = { { NULL, count_only }, { NULL, count_only }, { NULL, count_only } };
	struct pollfd p;
	struct mailbox box;
	uint64_t count = 0;

	cr_assert(mailbox_init(&box));
	for (unsigned i = 0; i < 3; i++)
		mailbox_post(&box, &m[i]);
	p = (struct pollfd){ .fd = box.fd, .events = POLLIN };
	cr_assert_eq(poll(&p, 1, 0), 1);
	cr_assert_eq(read(box.fd, &count, sizeof(count)), (ssize_t)sizeof(count));
	cr_assert_eq(count, 1, "each mail made a system call");
	cr_assert_eq(mailbox_deliver(&box), 3);
	cr_assert_eq(poll(&p, 1, 0), 0);
	mailbox_release(&box);
}
