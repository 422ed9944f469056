/* worker - a thread with its own event base, its own connections and its own access to the backend.
 *
 *    event base: connections (conn.c) | mailbox (other threads' completions) | tick (deadlines) | resumed connections
 *
 * W1. A connection and its calls are touched by their worker alone; other threads post mail.
 * W2. Whatever an event produced is written when its handler ends: worker_settle flushes all connections with output and
 *     then tells the backend that nothing of the catalog is held any longer.
 * W3. Readable connections are gathered and served together:
 *
 *        read, look | read, look | read, look || serve | serve | serve || write all (ring.h)
 *
 *     While the kernel reads the next connection, the processor fetches what the last one's requests will touch (conn_door's
 *     look). With 16 connections of one request each this takes 5 % (items of 100 bytes) to 10 % (1 KB) off a hit's CPU time.
 *     Every other event first serves the connections that are gathered (worker_begin), so that nothing but reads happens
 *     between a look and its serving.
 *
 * Not here: accepting (listener.c), what is read and written (conn.c, the doors). */
#ifndef DYNAX_PROXY_WORKER_H
#define DYNAX_PROXY_WORKER_H

#include <pthread.h>

#include "protocol/monotonic.h"
#include "proxy/backend.h"
#include "proxy/deadline.h"
#include "proxy/flight.h"
#include "proxy/item_cache.h"
#include "proxy/mailbox.h"
#include "proxy/metrics.h"
#include "proxy/query_cache.h"

struct call;
struct conn;
struct event;
struct event_base;
struct expr_cache;
struct fast_memo;
struct json_reader;

/* What all workers share; constant while they run. Owned by the server. */
struct shared {
	const char *region;                /* for the health check's text */
	const char *http_address;          /* "127.0.0.1:8000" */
	struct backend *backend;
	struct epochs *epochs;
	struct item_cache *items;          /* NULL = off */
	struct query_cache *queries;       /* NULL = off */
	struct flights *flights;           /* requests that miss together; never NULL */
	struct offload *offload;           /* for what takes long; never NULL */
	bool io_uring;                     /* to be used, if there is one */
};

/* Limits of connections. Copied to each worker; a reload posts new ones. Milliseconds. */
struct limits {
	uint32_t idle_ms, head_ms, body_ms, write_ms, linger_ms;
	bool cors;
};

enum {
	WORKER_GATHER = 16,                /* connections served together, at most: they hold a buffer each */
	WORKER_SPARE_BUFS = WORKER_GATHER + 8,
	WORKER_SPARE_BYTES = 256 * 1024,   /* larger buffers are not kept */
	WORKER_SPARE_CALLS = 256,
	WORKER_TICK_MS = 200,              /* how exact deadlines are */
	WORKER_SLICE_NS = 2000000          /* a connection's requests may hold up the others for so long */
};

struct worker {
	/* for handlers */
	const struct shared *shared;
	struct backend *backend;
	struct backend_reader *reader;
	struct epochs *epochs;
	struct item_cache *items;          /* NULL = off */
	struct query_cache *queries;       /* NULL = off */
	struct flights *flights;
	struct expr_cache *exprs;
	struct metrics *metrics;
	uint64_t now_ns;                   /* CLOCK_MONOTONIC at the start of this event */
	uint64_t last_ns;                  /* ... when the last call ended */
	uint64_t slice_ns;                 /* ... since when the present connection is served */
	unsigned fast_hits;                /* of this event, not yet among the metrics (fast_get.h) */

	/* for doors and connections */
	struct limits limits;
	struct event_base *base;
	struct json_reader *json;
	struct mailbox mailbox;
	struct conn *conns;                /* all of them, linked */
	struct conn *dirty;                /* those with output to flush, linked through next_dirty */
	struct conn *resumed;              /* those with input left over, linked through next_resumed */
	struct event *mail_event, *tick_event, *resume_event, *serve_event;
	struct conn *gathered[WORKER_GATHER];
	unsigned gathers;
	struct ring *ring;                 /* writes to several connections; NULL = one by one */
	struct look *look;                 /* the msgpack door's memory of gathered requests; made when it first needs it */
	struct fast_memo *http_memo;       /* the HTTP door's, as late */
	uint64_t fetch_hash;               /* HTTP: of the entry that is to be fetched next; 0 = none */
	uint64_t event_number;             /* counts events: what was looked up in the catalog holds for one */
	struct buf spare[WORKER_SPARE_BUFS];
	unsigned spares;
	struct call *free_calls;
	unsigned calls_free, calls_live;
	struct deadlines deadlines;        /* of the calls in flight that have one */
	uint64_t seed[2];                  /* request ids */
	char date[32];                     /* HTTP Date, of second date_s */
	int64_t date_s;
	bool draining;                     /* shutting down: no new requests */
	unsigned number;

	pthread_t thread;
	_Atomic bool ended;                /* its loop has; worker_join will not wait */
	struct mail drain_mail, stop_mail;
};

/* Make a worker; worker_start runs its thread. NULL, false: out of memory, descriptors or threads (errno). */
struct worker *worker_new(const struct shared *s, const struct limits *l, unsigned number);
bool worker_start(struct worker *w);
/* Any thread: let running requests end and close what is idle; or stop the loop at once. */
void worker_drain(struct worker *w);
void worker_stop(struct worker *w);
void worker_join(struct worker *w);
/* After join, or never started: closes connections and waits for what is still in flight at the backend, which is open still. */
void worker_wind_up(struct worker *w);
/* Then, when no other thread is left that could post: one that has posted its last mail may have yet to ring. */
void worker_free(struct worker **w);
/* Any thread: take over an accepted socket. False, and the socket is the caller's, if out of memory. */
enum door { DOOR_HTTP, DOOR_MSGPACK };
bool worker_give(struct worker *w, int fd, enum door door);
/* Any thread: new limits. */
bool worker_set_limits(struct worker *w, const struct limits *l);

/* On the worker only from here. */
bool worker_is_current(const struct worker *w);
/* First and last in the handler of an event, except that of a readable connection, which ends with worker_gather. */
void worker_begin(struct worker *w);
void worker_settle(struct worker *w);
/* Serve c when all that are readable have been read. */
void worker_gather(struct worker *w, struct conn *c);
void worker_resume_later(struct worker *w);
/* A buffer with its memory kept from its last use, perhaps; and back. An idle connection holds none. */
struct buf worker_borrow_buf(struct worker *w);
void worker_return_buf(struct worker *w, struct buf *b);

/* A value for x-amzn-RequestId: 52 characters of 0-9A-Z. */
enum { REQUEST_ID = 52 };
void worker_request_id(struct worker *w, char id[REQUEST_ID]);
/* HTTP's Date, 29 characters. */
const char *worker_date(struct worker *w);

#endif
