/* endpoint - "HOST:PORT" to socket addresses. */
#ifndef DYNAX_CLIENT_ENDPOINT_H
#define DYNAX_CLIENT_ENDPOINT_H

#include "protocol/err.h"

#include <sys/socket.h>

enum { ENDPOINT_ADDRESSES = 8, ENDPOINT_HOST = 256 };
#define ENDPOINT_DEFAULT_HOST "127.0.0.1"
#define ENDPOINT_DEFAULT_PORT "8111"

struct endpoint {
	char host[ENDPOINT_HOST], port[8];
};

struct addresses {
	struct sockaddr_storage at[ENDPOINT_ADDRESSES];
	socklen_t len[ENDPOINT_ADDRESSES];
	unsigned n;
};

/* text may be NULL: the default host; port: the one to use if text has none. ERR_USAGE if text is not an endpoint. */
enum err endpoint_parse(struct endpoint *e, const char *text, const char *port, struct fault *f)
	__attribute__((warn_unused_result));
/* Look the host up; blocks if it is a name. */
enum err endpoint_resolve(const struct endpoint *e, struct addresses *out, struct fault *f)
	__attribute__((warn_unused_result));

/* Put the endpoint before the fault's text: "127.0.0.1:8111: connect: Connection refused". */
void endpoint_blame(const struct endpoint *e, struct fault *f);

#endif
