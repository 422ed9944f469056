/* admin - commands that ask the daemon's admin port, by HTTP/1.0: one request, and the answer ends the connection. */
#include "tools/cli.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { HOST_MAX = 256, TIMEOUT_MS = 5000 };

static int try_connect(const struct addrinfo *a, unsigned timeout_ms)
{
	struct timeval limit = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return fd;
	close(fd);
	return -1;
}

static int connect_to(const char *address, unsigned timeout_ms)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	const char *colon = strrchr(address, ':');
	char host[HOST_MAX];
	int fd = -1;

	if (colon == NULL || (size_t)(colon - address) >= sizeof(host))
		return -1;
	memcpy(host, address, (size_t)(colon - address));
	host[colon - address] = '\0';
	if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return -1;
	for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
		fd = try_connect(a, timeout_ms);
	freeaddrinfo(found);
	return fd;
}

/* The answer's body to stdout, or, if it is a refusal, to stderr. */
static enum cli_exit print_answer(const char *answer)
{
	const char *body = strstr(answer, "\r\n\r\n");
	int status = 0;

	if (body == NULL || sscanf(answer, "HTTP/1.%*d %d", &status) != 1) {
		fprintf(stderr, "dynax: this is no admin port\n");
		return CLI_REFUSED;
	}
	if (status != 200) {
		fprintf(stderr, "dynax: %s", body + 4);
		return CLI_REFUSED;
	}
	fputs(body + 4, stdout);
	return CLI_OK;
}

static enum cli_exit get(const struct cli *c, const char *path, const char *arg)
{
	const char *address = c->admin != NULL ? c->admin : "127.0.0.1:8112";
	unsigned timeout_ms = c->timeout_ms != 0 ? c->timeout_ms : TIMEOUT_MS;
	int fd = connect_to(address, timeout_ms);
	FILE *f = fd >= 0 ? fdopen(fd, "r+") : NULL;
	enum cli_exit code = CLI_UNREACHABLE;
	char *answer = NULL;

	if (f == NULL) {
		fprintf(stderr, "dynax: cannot reach %s\n", address);
		if (fd >= 0)
			close(fd);
		return CLI_UNREACHABLE;
	}
	fprintf(f, "GET %s%s HTTP/1.0\r\nHost: %s\r\n\r\n", path, arg, address);
	if (fflush(f) == 0)
		answer = cli_read(f);
	if (answer != NULL)
		code = print_answer(answer);
	else
		fprintf(stderr, "dynax: no answer from %s\n", address);
	free(answer);
	fclose(f);
	return code;
}

enum cli_exit cmd_partitions(struct cli *c)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	if (c->arg[0][strspn(c->arg[0], allowed)] != '\0')
		return cli_usage("'%s' is not a table's name", c->arg[0]);
	return get(c, "/partitions?table=", c->arg[0]);
}
