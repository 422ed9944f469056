/* test_conn - output that the peer takes more slowly than it comes (conn.h): all of it arrives, in order, and what was sent is
 * not kept. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/call.h"
#include "proxy/conn.h"
#include "proxy/worker.h"

TestSuite(conn, .timeout = 60);

/* ---- a worker without a store, and a connection whose other end is the test ---- */

static struct backend_reader *reader_new(struct backend *b, struct worker *w)
{
	(void)w;
	return (struct backend_reader *)(void *)b;
}

static void reader_free(struct backend_reader **r)
{
	*r = NULL;
}

static void quiesce(struct backend_reader *r)
{
	(void)r;
}

static bool door_open(struct conn *c)
{
	(void)c;
	return true;
}

static void door_nothing(struct conn *c)
{
	(void)c;
}

static const struct conn_door door = { .name = "none", .open = door_open, .input = door_nothing, .closed = door_nothing };

static struct rig {
	struct worker *w;
	struct conn *c;
	int peer;
	uint64_t put, got;               /* bytes: each tells its place in the stream */
} rig;

static void rig_open(void)
{
	static const struct backend_ops ops = { .reader_new = reader_new, .reader_free = reader_free, .quiesce = quiesce };
	static struct backend backend = { .ops = &ops };
	static struct shared shared = { .backend = &backend };
	struct limits limits = { 0 };
	int fd[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	rig.w = worker_new(&shared, &limits, 0);
	cr_assert_not_null(rig.w);
	rig.c = conn_new(rig.w, fd[0], &door);
	cr_assert_not_null(rig.c);
	rig.peer = fd[1];
}

static void rig_close(void)
{
	worker_wind_up(rig.w);
	worker_free(&rig.w);
	close(rig.peer);
	rig.c = NULL; /* a leak, if it is still there */
}

static uint8_t byte_at(uint64_t place)
{
	return (uint8_t)(place ^ place >> 8 ^ place >> 16);
}

static void fill(struct buf *b, size_t n)
{
	uint8_t *p = buf_reserve(b, n);

	cr_assert_not_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = byte_at(rig.put++);
	b->n += n;
}

/* An answer of n bytes; a long one is handed over. */
static void answer(size_t n, bool hand_over)
{
	struct buf b;

	worker_begin(rig.w);
	if (hand_over) {
		buf_init(&b);
		fill(&b, n);
		conn_output_take(rig.c, &b);
		buf_release(&b);
	} else {
		fill(conn_output(rig.c), n);
	}
	worker_settle(rig.w);
}

/* What the connection does when its socket takes more. */
static void go_on(void)
{
	worker_begin(rig.w);
	conn_flush(rig.c);
	worker_settle(rig.w);
}

/* The peer reads n bytes. */
static void take(size_t n)
{
	static uint8_t p[1 << 16];

	while (n > 0) {
		ssize_t got = read(rig.peer, p, n < sizeof p ? n : sizeof p);

		if (got < 0) {
			go_on();
			continue;
		}
		cr_assert_gt(got, 0);
		for (ssize_t i = 0; i < got; i++)
			cr_assert_eq(p[i], byte_at(rig.got++));
		n -= (size_t)got;
	}
}

static size_t memory(void)
{
	return rig.c->out.cap + rig.c->behind.cap;
}

Test(conn, what_was_sent_is_not_kept)
{
	enum { ANSWER = 10000, OWED = 600000, ROUNDS = 5000 };

	rig_open();
	while (conn_backlog(rig.c) < OWED)
		answer(ANSWER, false);
	for (unsigned i = 0; i < ROUNDS; i++) {
		take(ANSWER);
		go_on();
		answer(ANSWER, false);
		cr_assert_gt(conn_backlog(rig.c), CONN_WRITE);      /* never drained */
		cr_assert_lt(memory(), 4 * CONN_OUT_HIGH);
	}
	take(rig.put - rig.got);
	go_on();
	cr_assert_eq(conn_backlog(rig.c), 0);
	cr_assert_eq(memory(), 0);                                  /* C4 */
	rig_close();
}

/* Short and long ones, and a peer that takes some of it now and then. */
Test(conn, answers_arrive_in_order)
{
	rig_open();
	srand(7);
	for (unsigned i = 0; i < 3000; i++) {
		size_t most = i % 50 == 0 ? 3 * CONN_WRITE : 5000;

		answer((size_t)rand() % most + 1, rand() % 2 == 0);
		if (rand() % 3 == 0)
			take((rig.put - rig.got) / (size_t)(rand() % 4 + 1));
	}
	take(rig.put - rig.got);
	go_on();
	cr_assert_eq(memory(), 0);
	rig_close();
}

/* ---- the end of a worker ---- */

static struct call *call;

static void drop_call(struct mail *m)
{
	(void)m;
	call_drop(call);
	call = NULL;
}

/* Nothing of the connection is left (leaks.c), though it would have gone on reading when its call had ended. */
Test(conn, closed_while_it_does_not_read)
{
	struct mail ended = { .deliver = drop_call };

	rig_open();
	call = call_new(rig.w);
	call->conn = rig.c;
	conn_call_begin(rig.c);
	answer(2 * CONN_OUT_HIGH, true);
	cr_assert(!conn_may_take(rig.c));
	mailbox_post(&rig.w->mailbox, &ended);
	rig_close();
}
