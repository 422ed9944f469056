/* endpoint - see endpoint.h. */
#include "protocol/client/endpoint.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

static bool set(char *to, size_t room, const char *from, size_t n)
{
	if (n == 0 || n >= room)
		return false;
	memcpy(to, from, n);
	to[n] = '\0';
	return true;
}

static bool set_port(struct endpoint *e, const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && *end == '\0' && port >= 1 && port <= 65535
		&& set(e->port, sizeof(e->port), text, strlen(text));
}

enum err endpoint_parse(struct endpoint *e, const char *text, const char *port, struct fault *f)
{
	const char *host, *colon;
	size_t n;
	bool ok;

	if (text == NULL)
		text = ENDPOINT_DEFAULT_HOST;
	if (strncmp(text, "dynax://", 8) == 0)
		text += 8;
	host = text;
	if (*text == '[') {
		host = text + 1;
		n = strcspn(host, "]");
		colon = host[n] == ']' && host[n + 1] == ':' ? host + n + 1 : NULL;
		ok = host[n] == ']' && (colon != NULL || host[n + 1] == '\0');
	} else {
		colon = strchr(text, ':');
		n = colon != NULL ? (size_t)(colon - text) : strlen(text);
		ok = true;
	}
	ok = ok && set(e->host, sizeof(e->host), host, n) && set_port(e, colon != NULL ? colon + 1 : port);
	return ok ? ERR_OK : fault_set(f, ERR_USAGE, "'%s' is not an endpoint: HOST:PORT is expected", text);
}

enum err endpoint_resolve(const struct endpoint *e, struct addresses *out, struct fault *f)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG }, *list;
	int rc = getaddrinfo(e->host, e->port, &hints, &list);

	/* A machine without any network but loopback has no "configured" address family. */
	if (rc != 0) {
		hints.ai_flags = 0;
		rc = getaddrinfo(e->host, e->port, &hints, &list);
	}
	if (rc != 0)
		return fault_set(f, ERR_NETWORK, "%s: %s", e->host, gai_strerror(rc));
	out->n = 0;
	for (struct addrinfo *a = list; a != NULL && out->n < ENDPOINT_ADDRESSES; a = a->ai_next) {
		memcpy(&out->at[out->n], a->ai_addr, a->ai_addrlen);
		out->len[out->n++] = a->ai_addrlen;
	}
	freeaddrinfo(list);
	return ERR_OK;
}

void endpoint_blame(const struct endpoint *e, struct fault *f)
{
	bool v6 = strchr(e->host, ':') != NULL;

	if (f->text != NULL)
		fault_set(f, f->code, v6 ? "[%s]:%s: %s" : "%s:%s: %s", e->host, e->port, f->text);
}
