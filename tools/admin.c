/* admin - commands that ask the daemon's admin port, by HTTP/1.0: one request, and the answer ends the connection. */
#include "tools/cli.h"

#include "protocol/client/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMEOUT_MS = 5000, PATH_MAX_BYTES = 1024 };
#define ADMIN_PORT "8112"

static int try_connect(const struct sockaddr *to, socklen_t len, unsigned timeout_ms)
{
	struct timeval limit = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
	int saved, fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, to, len) == 0)
		return fd;
	saved = errno == EINPROGRESS ? ETIMEDOUT : errno; /* SO_SNDTIMEO has passed */
	close(fd);
	errno = saved;
	return -1;
}

/* -1 and errno, or errno 0 with f set: the address is none, or its host is not known. */
static int connect_to(const char *address, unsigned timeout_ms, struct fault *f)
{
	struct addresses found;
	struct endpoint e;
	int fd = -1;

	errno = 0;
	if (endpoint_parse(&e, address, ADMIN_PORT, f) != ERR_OK || endpoint_resolve(&e, &found, f) != ERR_OK)
		return -1;
	for (unsigned i = 0; i < found.n && fd < 0; i++)
		fd = try_connect((const struct sockaddr *)&found.at[i], found.len[i], timeout_ms);
	return fd;
}

/* The answer's body to stdout, or, if it is a refusal, to stderr. */
static enum cli_exit print_answer(const char *answer)
{
	const char *body = strstr(answer, "\r\n\r\n");
	int status = 0;

	if (body == NULL || sscanf(answer, "HTTP/1.%*d %d", &status) != 1) {
		fprintf(stderr, "dynax: this is not an admin port\n");
		return CLI_REFUSED;
	}
	if (status != 200) {
		fprintf(stderr, "dynax: %s", body + 4);
		return CLI_REFUSED;
	}
	fputs(body + 4, stdout);
	return CLI_OK;
}

/* Send the request, and print what comes back. */
static enum cli_exit exchange(FILE *f, const char *address, const char *method, const char *path)
{
	enum cli_exit code = CLI_UNREACHABLE;
	char *answer = NULL;

	fprintf(f, "%s %s HTTP/1.0\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", method, path, address);
	if (fflush(f) == 0)
		answer = cli_read(f);
	if (answer != NULL)
		code = print_answer(answer);
	else
		fprintf(stderr, "dynax: no answer from %s\n", address);
	free(answer);
	return code;
}

static enum cli_exit ask(const struct cli *c, const char *method, const char *path)
{
	const char *address = c->admin != NULL ? c->admin : ENDPOINT_DEFAULT_HOST ":" ADMIN_PORT;
	enum cli_exit code = CLI_UNREACHABLE;
	struct arena scratch;
	struct fault fault;
	FILE *f = NULL;
	int fd;

	arena_init(&scratch, 256);
	fault_init(&fault, &scratch);
	fd = connect_to(address, c->timeout_ms != 0 ? c->timeout_ms : TIMEOUT_MS, &fault);
	if (fd >= 0)
		f = fdopen(fd, "r+");
	if (f != NULL) {
		code = exchange(f, address, method, path);
		fclose(f);
	} else {
		fprintf(stderr, "dynax: cannot reach %s: %s\n", address, fault.text != NULL ? fault.text : strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	arena_release(&scratch);
	return fault.code == ERR_USAGE ? CLI_USAGE : code;
}

/* Append to a path, if it needs no escapes; false, with a message, otherwise. */
static bool append(char path[PATH_MAX_BYTES], const char *name, const char *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	size_t n = strlen(path);

	if (value[strspn(value, allowed)] != '\0' || snprintf(path + n, PATH_MAX_BYTES - n, "%c%s=%s", strchr(path, '?') != NULL ? '&'
		: '?', name, value) >= (int)(PATH_MAX_BYTES - n))
		return cli_usage("bad value '%s' for %s", value, name) == CLI_OK;
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
		bool index = o->kind != CLI_SCALING;

		set |= !index;
		if (!append(path, index ? "index" : o->member, c->given[i].value != NULL ? c->given[i].value : o->name + 2))
			return CLI_USAGE;
	}
	return ask(c, set ? "POST" : "GET", path);
}

enum cli_exit cmd_index_delay(struct cli *c)
{
	char path[PATH_MAX_BYTES] = "/index-delay";

	if (c->args != 0 && (c->arg[0][strspn(c->arg[0], "0123456789")] != '\0' || !append(path, "ms", c->arg[0])))
		return cli_usage("'%s' is not a number of milliseconds", c->arg[0]);
	return ask(c, c->args != 0 ? "POST" : "GET", path);
}
