/* test_wire - a connection whose server takes requests more slowly than they come: what was sent is not kept. */
#include "protocol/client/wire.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

TestSuite(wire, .timeout = 60);

enum { BODY = 10000, FRAME = FRAME_HEADER + BODY, AHEAD = 100, ROUNDS = 3000 };

static int listen_on_loopback(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(*at);

	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cr_assert_eq(bind(fd, (struct sockaddr *)at, n), 0);
	cr_assert_eq(listen(fd, 1), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)at, &n), 0);
	return fd;
}

static void never(struct exchange *x, const struct frame *fr)
{
	(void)x;
	cr_assert_null(fr, "nothing is answered");
}

static void turn(struct wire *w)
{
	struct fault f = { 0 };

	cr_assert_eq(wire_turn(w, &f), ERR_OK);
}

static void send_one(struct wire *w)
{
	static uint8_t body[BODY];
	struct exchange *x = calloc(1, sizeof(*x));
	struct fault f = { 0 };

	x->done = never;
	cr_assert_eq(wire_send(w, x, FRAME_REQUEST, 0, slice_of(body, sizeof(body)), 0, &f), ERR_OK);
	wire_drop(w, x);
	free(x);
	turn(w);
}

/* The server reads one request's worth. */
static void take_one(struct wire *w, int fd)
{
	static uint8_t p[FRAME];

	for (size_t n = 0; n < FRAME;) {
		ssize_t got = recv(fd, p, FRAME - n, MSG_DONTWAIT);

		cr_assert(got > 0 || errno == EAGAIN);
		n += got > 0 ? (size_t)got : 0;
		turn(w);
	}
}

Test(wire, what_was_sent_is_not_kept)
{
	struct hello h = { FRAME_VERSION, 0, FRAME_MAX, SLICE_LIT("test") };
	struct sockaddr_in at;
	int listener = listen_on_loopback(&at), fd;
	struct fault f = { 0 };
	struct wire w;
	struct buf b;

	wire_init(&w);
	cr_assert_eq(wire_connect(&w, (struct sockaddr *)&at, sizeof(at), &f), ERR_OK);
	fd = accept(listener, NULL, NULL);
	buf_init(&b);
	frame_put_hello(&b, &h);
	cr_assert_eq(write(fd, b.p, b.n), (ssize_t)b.n);
	buf_release(&b);
	while (w.state != WIRE_READY)
		turn(&w);
	while (w.out.n - w.out_at < (size_t)AHEAD * FRAME)
		send_one(&w);
	for (unsigned i = 0; i < ROUNDS; i++) {
		take_one(&w, fd);
		while (w.out.n - w.out_at < (size_t)AHEAD * FRAME)
			send_one(&w);
		cr_assert_lt(w.out.cap, (size_t)8 * AHEAD * FRAME);
	}
	wire_release(&w);
	close(fd);
	close(listener);
}
