/* wire - one connection to a server: frames out, frames in, answers matched to requests by id. It waits for nothing: its
 * owner waits, with poll or libevent, and calls wire_turn.
 *
 *    CLOSED --wire_connect--> CONNECTING --writable--> GREETING --server's HELLO--> READY
 *       ^------------------------- wire_close, from any state -------------------------'
 *
 * Requests may be sent from CONNECTING on: they wait in `out`, behind our HELLO.
 *
 * W1. Every exchange that was sent ends once: with its answer, or with NULL when the connection ends, unless it was
 *     dropped before.
 * W2. An answer without an exchange (dropped, or never asked for) is ignored.
 * W3. An exchange that the server cannot have carried out when the connection ended is marked: unsent. None of its bytes had
 *     been sent, or the server said that it shuts down and has carried out only what it answered.
 *
 * Threads: one at a time. Ownership: exchanges are the owner's, and must live until they end. */
#ifndef DYNAX_CLIENT_WIRE_H
#define DYNAX_CLIENT_WIRE_H

#include "protocol/frame.h"

#include <sys/socket.h>

enum wire_state { WIRE_CLOSED, WIRE_CONNECTING, WIRE_GREETING, WIRE_READY };

struct exchange {
	uint32_t id;
	uint64_t at;           /* where its frame begins in the stream of bytes sent */
	bool unsent;           /* W3 */
	/* fr: ANSWER, ERROR or PONG, borrowed; NULL: the connection ended. The exchange is the owner's again, and may be
	 * sent again from here; the wire may not be closed from here. */
	void (*done)(struct exchange *x, const struct frame *fr);
};

struct wire {
	int fd;
	enum wire_state state;
	struct buf out;            /* bytes to send, from out_at on */
	size_t out_at;
	uint64_t sent;             /* bytes of this connection's stream that left */
	struct buf in;             /* bytes received, from in_at on */
	size_t in_at, in_need;     /* in_need: size of the frame that begins at in_at, as far as known */
	struct exchange **slot;    /* by id, modulo slots (a power of two); at most half are taken */
	uint32_t slots, taken, next_id;
	uint32_t peer_max;         /* longest frame that the server takes */
	bool farewell;             /* the server ends the connection, and has not carried out what it has not answered */
};

void wire_init(struct wire *w);
void wire_release(struct wire *w);     /* closes, as wire_close */

/* Start to connect. The wire is CLOSED. */
enum err wire_connect(struct wire *w, const struct sockaddr *to, socklen_t len, struct fault *f)
	__attribute__((warn_unused_result));
/* End the connection; exchanges under way end with NULL. */
void wire_close(struct wire *w);

/* What a wire waits for that is not READY, in words, for who waits no longer. */
const char *wire_late(const struct wire *w);

/* Queue a frame; x ends later. The wire is not CLOSED. ERR_REQUEST_TOO_LARGE, ERR_NO_MEMORY: nothing was queued. */
enum err wire_send(struct wire *w, struct exchange *x, enum frame_kind kind, uint8_t code, struct slice body,
	uint32_t deadline_ms, struct fault *f) __attribute__((warn_unused_result));
/* Forget x, whose time is over. */
void wire_drop(struct wire *w, struct exchange *x);

/* Does it wait for the socket to be writable (else only readable)? */
bool wire_wants_write(const struct wire *w);
/* The socket is ready, or there is something to send: connect, write, read, end exchanges. On an error the connection is
 * over and the fault says why: call wire_close. */
enum err wire_turn(struct wire *w, struct fault *f) __attribute__((warn_unused_result));

#endif
