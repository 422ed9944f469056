/* listener - see listener.h. First addresses and binding, with what may be exposed; then accepting, and resting from it. */
#include "proxy/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/log.h"

enum { BACKLOG = 1024, ACCEPT_BATCH = 64, REST_MS = 100 };
enum { KEEPALIVE_IDLE_S = 60, KEEPALIVE_EVERY_S = 15, KEEPALIVE_TRIES = 4 };

struct listener {
	int fd;
	struct listener_opts opts;
	struct event *event, *rest;
	unsigned next;               /* worker */
	uint64_t pauses;
	struct log_gate gate;
};

/* ---- binding ---- */

static bool is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return (ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr) >> 24) == 127;
	return sa->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &n) != 0)
		return 0;
	return ntohs(ss.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&ss)->sin6_port
					      : ((struct sockaddr_in *)(void *)&ss)->sin_port);
}

static int bind_one(const struct addrinfo *ai)
{
	int one = 1, saved, fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int listen_on(struct address *at, bool insecure, struct config_error *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV }, *ai;
	char port[8];
	int rc, fd = -1;

	snprintf(port, sizeof(port), "%u", at->port);
	rc = getaddrinfo(at->host, port, &hints, &ai);
	if (rc != 0) {
		snprintf(e->text, sizeof(e->text), "cannot resolve %s: %s", at->host, gai_strerror(rc));
		return -1;
	}
	if (!insecure && !is_loopback(ai->ai_addr)) {
		snprintf(e->text, sizeof(e->text),
			"will not listen on %s: it is not a loopback address and nobody is authenticated; --insecure allows it",
			address_text(at).s);
	} else {
		fd = bind_one(ai);
		if (fd < 0)
			snprintf(e->text, sizeof(e->text), "cannot listen on %s: %s", address_text(at).s, strerror(errno));
		else
			at->port = port_of(fd);
	}
	freeaddrinfo(ai);
	return fd;
}

/* ---- accepting ---- */

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	(void)fd;
	(void)what;
	event_add(l->event, NULL);
}

static void rest(struct listener *l, const char *why)
{
	static const struct timeval pause = { 0, REST_MS * 1000 };

	l->pauses++;
	if (log_gate_open(&l->gate))
		log_warn("not accepting for now: %s", why);
	event_del(l->event);
	event_add(l->rest, &pause);
}

/* Counted here, not by the workers, which have yet to take over what is in their mail. */
static bool is_full(const struct listener *l)
{
	uint64_t ended = 0;

	for (unsigned i = 0; i < l->opts.workers; i++)
		ended += atomic_load_explicit(&l->opts.worker[i]->metrics->ended, memory_order_relaxed);
	return *l->opts.given - ended >= l->opts.max_connections;
}

static void set_options(int fd)
{
	static const int one = 1, idle = KEEPALIVE_IDLE_S, every = KEEPALIVE_EVERY_S, tries = KEEPALIVE_TRIES;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	(void)what;
	for (unsigned n = 0; n < ACCEPT_BATCH; n++) {
		int s;

		if (is_full(l)) {
			rest(l, "the limit of connections is reached");
			return;
		}
		s = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (s < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
				rest(l, strerror(errno));
			return; /* else nobody is there, or has gone again */
		}
		set_options(s);
		if (worker_give(l->opts.worker[l->next++ % l->opts.workers], s, l->opts.door))
			++*l->opts.given;
		else
			close(s);
	}
}

struct listener *listener_new(struct event_base *base, int fd, const struct listener_opts *o)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (l == NULL) {
		close(fd);
		return NULL;
	}
	l->fd = fd;
	l->opts = *o;
	l->event = event_new(base, fd, EV_READ | EV_PERSIST, on_accept, l);
	l->rest = event_new(base, -1, 0, on_rested, l);
	if (l->event == NULL || l->rest == NULL || event_add(l->event, NULL) != 0)
		listener_free(&l);
	return l;
}

void listener_free(struct listener **lp)
{
	struct listener *l = *lp;

	if (l == NULL)
		return;
	if (l->event != NULL)
		event_free(l->event);
	if (l->rest != NULL)
		event_free(l->rest);
	close(l->fd);
	free(l);
	*lp = NULL;
}

uint64_t listener_pauses(const struct listener *l)
{
	return l != NULL ? l->pauses : 0;
}
