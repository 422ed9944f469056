/* ring - see ring.h. */
#include "proxy/ring.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "proxy/fault_point.h"

struct ring {
	struct io_uring uring;
};

struct ring *ring_new(void)
{
	struct ring *r = malloc(sizeof(*r));

	if (r == NULL)
		return NULL;
	if (io_uring_queue_init(RING_WRITES, &r->uring, 0) == 0)
		return r;
	free(r);
	return NULL;
}

void ring_free(struct ring **r)
{
	if (*r == NULL)
		return;
	io_uring_queue_exit(&(*r)->uring);
	free(*r);
	*r = NULL;
}

bool ring_write(struct ring *r, struct ring_write *w, unsigned n)
{
	unsigned prepared = fault_ring_short(n);

	for (unsigned i = 0; i < n; i++)
		w[i].done = 0;
	for (unsigned i = 0; i < prepared; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);

		io_uring_prep_send(sqe, w[i].fd, w[i].p, w[i].n, MSG_NOSIGNAL | MSG_DONTWAIT);
		io_uring_sqe_set_data(sqe, &w[i]);
	}
	/* Sends that do not wait are done when they have been submitted. The kernel takes them in order, and tells how many; the
	 * others will never be. */
	int rc = io_uring_submit_and_wait(&r->uring, prepared);
	unsigned taken = rc > 0 ? (unsigned)rc : 0;

	for (unsigned i = 0; i < taken; i++)
		w[i].done = -EIO; /* until it is known */
	for (unsigned i = 0; i < taken; i++) {
		struct io_uring_cqe *cqe;

		if (io_uring_wait_cqe(&r->uring, &cqe) != 0)
			return false;
		struct ring_write *done = io_uring_cqe_get_data(cqe);

		done->done = cqe->res;
		io_uring_cqe_seen(&r->uring, cqe);
	}
	return taken == n;
}
