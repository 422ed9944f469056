#include "proxy/transport.h"

#include <sys/socket.h>
#include <unistd.h>

#include "proxy/conn.h"

static ssize_t tcp_read(struct conn *c, void *p, size_t n)
{
	return recv(c->fd, p, n, 0);
}

static ssize_t tcp_write(struct conn *c, const void *p, size_t n)
{
	return send(c->fd, p, n, MSG_NOSIGNAL);
}

static bool tcp_buffered(struct conn *c)
{
	(void)c;
	return false;
}

static void tcp_shut(struct conn *c)
{
	shutdown(c->fd, SHUT_WR);
}

static void tcp_close(struct conn *c)
{
	close(c->fd);
}

const struct transport transport_tcp = { tcp_read, tcp_write, tcp_buffered, tcp_shut, tcp_close };
