/* fake - a server of the msgpack protocol that does what a test wants: late, wrong, in pieces, or not at all. */
#ifndef DYNAX_TESTS_FAKE_H
#define DYNAX_TESTS_FAKE_H

#include "protocol/frame.h"
#include "protocol/request.h"

#include <stdatomic.h>

struct fake;
struct fake_conn {
	struct fake *fake;
	int fd;
	unsigned number;       /* 1 is the first connection */
	unsigned seen;         /* requests on this connection, this one included */
	struct buf in, out;
};

/* Carry out one request: put frames on c->out. False closes the connection (after sending what is there). */
typedef bool (*fake_serve)(struct fake_conn *c, const struct frame *fr);

struct fake {
	_Atomic(fake_serve) serve;    /* a test may change it while connections are served */
	bool silent;             /* never greets */
	bool one_byte;           /* sends a byte at a time */
	uint32_t version, max_frame;  /* of its HELLO; 0: the usual */
	atomic_uint connections, requests;
	int listener;
	char endpoint[32];
};

/* Listen on a free port and serve, each connection in a thread of its own, until the test's process ends. */
void fake_start(struct fake *f);
/* Stop listening; connections that are open stay. */
void fake_stop(struct fake *f);

/* Answer a GetItem with its own key as the item; other operations with an empty record. */
void fake_answer(struct fake_conn *c, const struct frame *fr);
void fake_error(struct fake_conn *c, const struct frame *fr, enum err code, const char *text, struct slice detail);
/* Answers everything. */
bool fake_serve_all(struct fake_conn *c, const struct frame *fr);

#endif
