/* conn - one client connection: socket, buffers, deadlines; what the bytes mean is its door's business.
 *
 *                 conn_finish                last answer written, half-closed
 *      OPEN -------------------> FINISHING ---------------------------------> LINGERING
 *       |  (the peer's last bytes,   |      (read and forget, so that the         |
 *       |   Connection: close, a     |       peer can read our last words)        |
 *       |   bad request, shutdown,   |                                            |
 *       |   idleness)                |                                            |
 *       |                            |                                            |
 *       +---- error, deadline -------+---- error, peer is done, deadline ---------+--> CLOSED (conn_close)
 *
 * C1. Plain read() and write() from libevent's EV_READ|EV_PERSIST: a bufferevent costs 1.7 to 5 times as much here.
 * C2. Fair: one read of at most CONN_READ bytes for each wake-up, a write of at most CONN_WRITE, and no new request after
 *     WORKER_SLICE_NS. What is longer than CONN_WRITE is neither copied nor moved on the worker.
 * C3. Bounded: a door takes no request while conn_may_take() says no: the peer leaves its answers unread (CONN_OUT_HIGH), or
 *     has too many requests in flight. Reading stops until that has eased off.
 * C4. An idle connection holds no buffer: they are borrowed from the worker while bytes are pending.
 * C5. Deadlines count from the start of a phase (a head, a body, unread output), not from the last byte, and are looked at by
 *     the worker's tick: no timer is touched for a request.
 * C6. The shell outlives its socket while calls, lists or a running event still refer to it (refs).
 *
 * Threads: its worker alone. */
#ifndef DYNAX_PROXY_CONN_H
#define DYNAX_PROXY_CONN_H

#include <event2/event.h>
#include <event2/event_struct.h>

#include "proxy/transport.h"
#include "proxy/worker.h"

enum {
	CONN_READ = 64 * 1024,            /* read at most, each wake-up */
	CONN_OUT_HIGH = 1024 * 1024,      /* unsent answers: above this no further request is taken */
	CONN_OUT_LOW = 256 * 1024,        /* ... until below this */
	CONN_WRITE = 256 * 1024,          /* written at most, each turn: to copy megabytes into the kernel takes its time */
	CONN_CALLS_MAX = 1024,            /* requests in flight, each connection */
	CONN_LONG_MAX = 16,               /* of them: those whose answers may be long, and are in no backlog until they are there */
	CONN_BODY_RATE = 64,              /* bytes a millisecond that a body must reach beyond its deadline's base */
	CONN_WRITE_STEP = 64 * 1024,      /* a reader that takes so much in time is slow, but alive */
	CONN_SMALL_INPUT = 4096           /* leftovers up to this give the big buffer back */
};

#define CONN_STATES(X) X(OPEN) X(FINISHING) X(LINGERING) X(CLOSED)
enum conn_state {
#define X(sym) CONN_STATE_##sym,
	CONN_STATES(X)
#undef X
};

/* What we wait for from the peer: decides which deadline runs. */
enum conn_due { DUE_NOTHING, DUE_HEAD, DUE_BODY };

struct conn;

struct conn_door {
	const char *name;
	bool (*open)(struct conn *c);         /* make c->door_state */
	/* Bytes came in, and input() is to follow soon: begin to fetch what it will need. They stay where they are until then. NULL
	 * if there is nothing to be gained. */
	void (*look)(struct conn *c);
	void (*input)(struct conn *c);        /* take what it can from conn_input() */
	/* The server shuts down, or the connection was idle: what was taken is answered, and nothing else will be. Append a last
	 * word to the output, if there is one; false otherwise. May be NULL. */
	bool (*farewell)(struct conn *c);
	void (*closed)(struct conn *c);       /* free c->door_state */
};

struct conn {
	struct worker *worker;
	const struct conn_door *door;
	const struct transport *io;
	void *door_state;
	int fd;
	enum conn_state state;
	enum conn_due due;
	uint64_t due_ns;                  /* since when */
	size_t due_bytes;                 /* received since */
	enum conn_outcome outcome;        /* what will be counted once closed */
	struct buf in, out;               /* without memory while empty (C4) */
	struct buf behind;                /* sent after `out`, which does not grow once a part of it is sent, or a long answer follows */
	size_t taken;                     /* of in: consumed by the door */
	size_t sent;                      /* of out: written */
	size_t held;                      /* bytes of finished answers that wait for their turn */
	uint64_t blocked_ns;              /* since when output waits for the peer; 0 = it does not */
	size_t blocked_bytes;             /* written since */
	unsigned calls, long_calls;       /* in flight; long_calls: see CONN_LONG_MAX */
	unsigned refs;                    /* C6 */
	bool reading, writing;            /* events added */
	bool paused;                      /* C3 */
	bool eof;                         /* the peer sends nothing more */
	bool linger;                      /* the peer may still be sending: LINGERING before CLOSED */
	bool farewell;                    /* it was said */
	bool dirty, resumed;              /* on the worker's lists */
	struct event read_event, write_event;
	struct conn *prev, *next;         /* worker's connections */
	struct conn *next_dirty, *next_resumed;
};

/* Take over fd. NULL, and fd closed, if out of memory. */
struct conn *conn_new(struct worker *w, int fd, const struct conn_door *door);
void conn_ref(struct conn *c);
void conn_unref(struct conn *c);

/* ---- for doors ---- */
/* Received and not taken yet. Valid until the door returns. */
static inline struct slice conn_input(const struct conn *c)
{
	return slice_of(c->in.p + c->taken, c->in.n - c->taken);
}
static inline void conn_take(struct conn *c, size_t n)
{
	c->taken += n;
}
/* May another request be taken (C3)? If not, input() is called again when it may. */
bool conn_may_take(struct conn *c);
/* Where answers are appended; written when the event ends. */
struct buf *conn_output(struct conn *c);
/* Append what is in b; if it is long, its memory is taken over and b left empty. */
void conn_output_take(struct conn *c, struct buf *b);
static inline size_t conn_backlog(const struct conn *c)
{
	return c->out.n - c->sent + c->behind.n + c->held;
}
/* Which deadline runs from now on; a repeated call does not restart it. */
void conn_expect(struct conn *c, enum conn_due due);
/* A request was taken whole: the next head's deadline starts afresh. */
void conn_request_done(struct conn *c);
/* No further request; close when all answers are written. The first outcome counts. */
void conn_finish(struct conn *c, enum conn_outcome why, bool linger);
void conn_close(struct conn *c, enum conn_outcome why);
static inline bool conn_is_alive(const struct conn *c)
{
	return c->state < CONN_STATE_LINGERING;
}
/* A call of this connection begins, or ends. is_long: conn_call_is_long was called for it. */
void conn_call_begin(struct conn *c);
void conn_call_end(struct conn *c, bool is_long);
/* Its answer may be long. */
void conn_call_is_long(struct conn *c);

/* ---- for the worker ---- */
void conn_flush(struct conn *c);
/* What it would write, if that may be written to the socket by others; else empty. Who does tells conn_flushed: n bytes, or a
 * negative errno. */
struct slice conn_unsent(const struct conn *c);
void conn_flushed(struct conn *c, ssize_t n);
/* input(), for what was read. */
void conn_serve(struct conn *c);
/* input() again, for what was left over. */
void conn_resume(struct conn *c);
/* Look at the deadlines. */
void conn_check(struct conn *c, uint64_t now_ns);

extern const struct conn_door door_msgpack;
extern const struct conn_door door_http;

#endif
