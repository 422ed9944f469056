/* load_int - what the files of the load generator share.
 *
 *    main.c    options, report           loop.c    the epoll loop: connections, pipelines, pace
 *    keys.c    which key comes next      hist.c    latencies
 *    cpu.c     the server's CPU time     driver_*  what a protocol's requests and replies look like
 *
 * One loop serves every protocol, so that servers are compared and not clients. Threads: one. */
#ifndef DYNAX_BENCH_LOAD_INT_H
#define DYNAX_BENCH_LOAD_INT_H

#include <stdio.h>

#include "protocol/buf.h"

enum { KEY_BYTES = 16, DEPTH_MAX = 1024, CONNECTIONS_MAX = 1024, VALUE_MAX = 400 * 1024, TABLE_NAME_MAX = 255 };

/* ---- latencies (hist.c): log-linear, under 1 % wide buckets, 1 ns to 18 minutes ---- */

enum { HIST_SUB_BITS = 7, HIST_BUCKETS = (41 - HIST_SUB_BITS) << HIST_SUB_BITS };
struct hist {
	uint64_t count[HIST_BUCKETS];
	uint64_t n, max;
};
void hist_add(struct hist *h, uint64_t ns);
/* The latency that a share of all (0..1) does not exceed, ns; 0 if there are none. */
uint64_t hist_at(const struct hist *h, double share);

/* ---- keys (keys.c) ---- */

struct keys {
	uint64_t n, state;
	double theta, alpha, zeta_n, eta;   /* theta 0: uniform */
};
void keys_init(struct keys *k, uint64_t n, double theta, uint64_t seed);
uint64_t keys_next(struct keys *k);
double keys_chance(struct keys *k);     /* 0 <= x < 1 */
void keys_name(uint64_t key, char out[KEY_BYTES]);

/* ---- drivers ---- */

struct load_op {
	uint64_t key;
	uint64_t serial;   /* of the request: what a write writes differs from what was there */
	uint32_t slot;     /* 0 .. depth - 1, of the connection */
	bool write;
};

/* A request with holes: the key's name, the slot (as u32 BE) if the protocol carries an id, and a stamp in the value, from the
 * serial number: a server may take a write of what is there already for no write at all. */
struct form {
	struct buf bytes;
	size_t key_at, id_at, stamp_at;     /* FORM_NONE: no such hole */
};
enum { STAMP_BYTES = 8 };
#define FORM_NONE SIZE_MAX

struct driver_state {             /* of one run; made by prepare() */
	struct form read, write;
	struct buf greeting;      /* sent first on each connection; no reply is counted */
	struct buf setup;         /* a request that makes the table; empty if none is needed */
};

/* Of one connection; which replies are still to come, for drivers that join requests. */
struct driver_conn {
	uint16_t *group;          /* ring of sizes, `groups` of `depth` used, from `first` */
	uint32_t first, groups;
};

struct load_opts;

enum reply_status { REPLY_MORE, REPLY_HIT, REPLY_MISS, REPLY_ERROR, REPLY_SKIP, REPLY_BAD };

struct driver {
	const char *name;
	uint16_t port;            /* where such a server usually listens */
	bool tagged;              /* replies carry the slot; else they come in order */
	void (*prepare)(struct driver_state *s, const struct load_opts *o);
	/* Append n requests. */
	void (*encode)(const struct driver_state *s, struct driver_conn *c, struct buf *out, const struct load_op *op, unsigned n);
	/* Take one reply off the front of `in`: HIT, MISS (empty: a read of nothing, a write done), ERROR; SKIP: something
	 * that is nobody's reply. MORE and BAD leave `in` alone. *text: of an error. */
	enum reply_status (*reply)(struct driver_conn *c, struct slice *in, uint32_t *slot, struct slice *text);
};
extern const struct driver driver_msgpack, driver_http, driver_redis, driver_memcached, driver_echo;

/* encode() for protocols whose pipelined requests just follow each other. */
void forms_encode(const struct driver_state *s, struct driver_conn *c, struct buf *out, const struct load_op *op, unsigned n);
void form_put(const struct form *f, struct buf *out, const struct load_op *op);
/* Find the hole that value_put_filler left. */
void form_find_stamp(struct form *f);
/* Filler of an item's value; begins with the hole for a stamp if it is long enough. */
void value_put_filler(struct buf *b, size_t n);

/* ---- the loop (loop.c) ---- */

struct load_opts {
	const struct driver *driver;
	char host[256];
	uint16_t port;
	char table[TABLE_NAME_MAX + 1];     /* of DynamoDB's protocols, as is */
	int64_t expire;           /* number `t` of written items, 0 = they have none */
	unsigned connections, depth;
	size_t item_bytes;
	uint64_t keys, seed;
	double theta, read_ratio;
	double rate;              /* requests a second; 0 = as fast as possible */
	double seconds, warmup;
	uint64_t requests;        /* instead of seconds, 0 = none */
	bool load;                /* make the table and write every key first */
	bool load_only;
	int server_pid;
	FILE *samples;            /* NULL, or where each answer gets a line */
	bool json;
};

struct load_report {
	struct hist latency;
	uint64_t ops, misses, errors;   /* answered within the window; errors are not among ops */
	double seconds;
	double cpu_us;                  /* of the server within the window; < 0: not known */
	char error[256];                /* the first */
};

/* Make the table, write each key once. */
bool load_fill(const struct load_opts *o, struct load_report *r);
bool load_run(const struct load_opts *o, struct load_report *r);

/* ---- the server's CPU time (cpu.c) ---- */

/* User and system time of all its threads, microseconds; negative if it cannot be read. */
double cpu_of(int pid);

#endif
