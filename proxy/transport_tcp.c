/* transport_tcp - the plain socket as a transport (transport.h): nothing is ever buffered on this side of it. */
#include "proxy/transport.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proxy/conn.h"

/* recv and send by number: as functions of libc they are cancellation points, and in a process with threads each switches
 * cancellation on and off around the call, which is a fortieth of a cached read's whole cost. Our threads are not cancelled. */
static ssize_t tcp_read(struct conn *c, void *p, size_t n)
{
	return syscall(SYS_recvfrom, c->fd, p, n, 0, NULL, NULL);
}

static ssize_t tcp_write(struct conn *c, const void *p, size_t n)
{
	return syscall(SYS_sendto, c->fd, p, n, MSG_NOSIGNAL, NULL, 0);
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

const struct transport transport_tcp = { tcp_read, tcp_write, tcp_buffered, tcp_shut, tcp_close, true };
