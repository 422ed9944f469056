/* admin - commands that ask the daemon's admin port, by HTTP/1.0: one request, and the answer ends the connection. */
#include "tools/cli.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { HOST_MAX = 256, TIMEOUT_MS = 5000, PATH_MAX_BYTES = 1024 };

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

static enum cli_exit ask(const struct cli *c, const char *method, const char *path)
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
	fprintf(f, "%s %s HTTP/1.0\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", method, path, address);
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

/* Append to a path, if it needs no escapes; false, with a message, otherwise. */
static bool append(char path[PATH_MAX_BYTES], const char *name, const char *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	size_t n = strlen(path);

	if (value[strspn(value, allowed)] != '\0' || snprintf(path + n, PATH_MAX_BYTES - n, "%c%s=%s", strchr(path, '?') != NULL ? '&'
		: '?', name, value) >= (int)(PATH_MAX_BYTES - n))
		return cli_usage("'%s' is no %s", value, name) == CLI_OK;
	return true;
}

enum cli_exit cmd_partitions(struct cli *c)
{
	char path[PATH_MAX_BYTES] = "/partitions";

	return append(path, "table", c->arg[0]) ? ask(c, "GET", path) : CLI_USAGE;
}

/* Without settings: show them. */
enum cli_exit cmd_autoscaling(struct cli *c)
{
	char path[PATH_MAX_BYTES] = "/autoscaling";
	bool set = false;

	if (!append(path, "table", c->arg[0]))
		return CLI_USAGE;
	for (unsigned i = 0; i < c->gives; i++) {
		const struct cli_option *o = c->given[i].option;
		bool index = o->member != NULL && strcmp(o->member, "IndexName") == 0;

		if (!index && o->kind != CLI_SCALING)
			return cli_usage("%s has no place here", o->name);
		set |= !index;
		if (!append(path, index ? "index" : o->member, c->given[i].value != NULL ? c->given[i].value : o->name + 2))
			return CLI_USAGE;
	}
	return ask(c, set ? "POST" : "GET", path);
}

enum cli_exit cmd_index_delay(struct cli *c)
{
	char path[PATH_MAX_BYTES] = "/index-delay";

	if (c->args != 0 && !append(path, "ms", c->arg[0]))
		return CLI_USAGE;
	return ask(c, c->args != 0 ? "POST" : "GET", path);
}
