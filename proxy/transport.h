/* transport - how bytes of a connection reach its socket. TCP now; TLS is another table of these functions, not a mode.
 *
 * read and write return the number of bytes, 0 at the end of the stream (read), or -1 with errno; EAGAIN means later.
 * buffered: bytes that were received and decoded but not read yet, which wake no event.
 * plain: what is to be written goes to the socket as it is, so that it need not be write that does it (ring.h). */
#ifndef DYNAX_PROXY_TRANSPORT_H
#define DYNAX_PROXY_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct conn;

struct transport {
	ssize_t (*read)(struct conn *c, void *p, size_t n);
	ssize_t (*write)(struct conn *c, const void *p, size_t n);
	bool (*buffered)(struct conn *c);
	void (*shut)(struct conn *c);      /* nothing more will be written */
	void (*close)(struct conn *c);
	bool plain;
};

extern const struct transport transport_tcp;

#endif
