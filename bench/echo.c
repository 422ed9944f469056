/* echo - the least that a server can do: an epoll loop that answers every frame with as many bytes as its deadline field
 * says. What a real server spends beyond it is its own work. Driven by `dynax bench --protocol echo`.
 *
 * usage: echo [PORT]     (default 8199, on 127.0.0.1; 0 picks one) */
#include "protocol/frame.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024, EVENTS = 256 };

struct conn {
	int fd;
	struct buf in, out;
};

static void conn_close(struct conn *c)
{
	close(c->fd);
	buf_release(&c->in);
	buf_release(&c->out);
	free(c);
}

static void answer(struct buf *out, const struct frame *fr)
{
	size_t n = fr->deadline_ms > FRAME_HEADER ? fr->deadline_ms - FRAME_HEADER : 1, at = frame_begin(out, FRAME_ANSWER, 0, fr->id);
	uint8_t *p = buf_reserve(out, n);

	if (p != NULL) {
		memset(p, 'x', n);
		out->n += n;
	}
	frame_end(out, at);
}

static bool send_all(struct conn *c)
{
	size_t at = 0;

	while (at < c->out.n) {
		ssize_t n = send(c->fd, c->out.p + at, c->out.n - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	buf_clear(&c->out);
	return true;
}

/* One read, its answers, one write. The socket blocks on a client that does not read: this is no server for the public. */
static bool turn(struct conn *c)
{
	uint8_t *p = buf_reserve(&c->in, READ_BYTES);
	ssize_t n = p != NULL ? recv(c->fd, p, READ_BYTES, 0) : -1;
	struct slice in;
	struct frame fr;
	enum frame_status st;

	if (n <= 0)
		return false;
	c->in.n += (size_t)n;
	in = buf_slice(&c->in);
	while ((st = frame_next(&in, FRAME_MAX, &fr, NULL)) == FRAME_READY)
		answer(&c->out, &fr);
	if (in.n > 0)
		memmove(c->in.p, in.p, in.n);
	c->in.n = in.n;
	return st != FRAME_BAD && send_all(c);
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(fd, 512) != 0) {
		perror("echo");
		exit(1);
	}
	getsockname(fd, (struct sockaddr *)&a, &len);
	printf("echo ready: 127.0.0.1:%u\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

static void take_in(int epoll, int listener)
{
	struct conn *c = calloc(1, sizeof(*c));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	int one = 1;

	if (c == NULL)
		return;
	c->fd = accept(listener, NULL, NULL);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (c->fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &ev) != 0)
		conn_close(c);
}

int main(int argc, char **argv)
{
	int listener = listen_on((uint16_t)(argc > 1 ? atoi(argv[1]) : 8199)), epoll = epoll_create1(0);
	struct epoll_event ev[EVENTS] = { { .events = EPOLLIN, .data.ptr = NULL } };

	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &ev[0]);
	for (;;) {
		int n = epoll_wait(epoll, ev, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			struct conn *c = ev[i].data.ptr;

			if (c == NULL)
				take_in(epoll, listener);
			else if (!turn(c))
				conn_close(c);
		}
	}
}
