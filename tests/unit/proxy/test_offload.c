/* Every job is run once and comes back to its own mailbox, those queued at the end too. */
#include <criterion/criterion.h>

#include "proxy/offload.h"

#include <stddef.h>
#include <unistd.h>

enum { JOBS = 500 };

struct job {
	struct offload_job job;
	unsigned runs, delivered;
};

static void run(struct offload_job *j)
{
	((struct job *)(void *)j)->runs++;
}

static void deliver(struct mail *m)
{
	((struct job *)(void *)((char *)m - offsetof(struct job, job.mail)))->delivered++;
}

Test(offload, each_job_once)
{
	static struct job job[JOBS];
	struct mailbox box[2];
	struct offload *o = offload_new("test", 3);

	cr_assert_not_null(o);
	cr_assert(mailbox_init(&box[0]) && mailbox_init(&box[1]));
	for (unsigned i = 0; i < JOBS; i++) {
		job[i].job = (struct offload_job){ .mail.deliver = deliver, .to = &box[i % 2], .run = run };
		offload_put(o, &job[i].job);
	}
	offload_free(&o);
	cr_assert_null(o);
	cr_assert_eq(mailbox_deliver(&box[0]), JOBS / 2);
	cr_assert_eq(mailbox_deliver(&box[1]), JOBS / 2);
	for (unsigned i = 0; i < JOBS; i++)
		cr_assert(job[i].runs == 1 && job[i].delivered == 1);
	mailbox_release(&box[0]);
	mailbox_release(&box[1]);
}
