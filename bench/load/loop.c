/* loop - one epoll loop that keeps connections busy, at full depth or at a given rate, and times every request.
 *
 *    pace --ops due--> conn: encode --send--> server --recv--> reply --> latency = now - intended
 *
 * L1. With a rate, request i is meant to leave at start + i / rate, whether or not a connection is free then, and its
 *     latency counts from that moment: a server that stalls pays for all who wait behind.
 * L2. Without one, a connection that got replies asks as many new requests at once: its depth stays full.
 * L3. The window is between the end of the warm-up and the end: counts and CPU time are of it alone. Requests meant to leave
 *     within it are waited for, so that slow ones are not lost.
 * L4. All replies of a read are taken before the next requests go out, in one write: what a good client does. */
#include "bench/load/load_int.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024, EVENTS = 256, DRAIN_NS = 2000000000, SETUP_TRIES = 100 };

struct flight {
	uint64_t intended;
	bool write, busy;
};

struct conn {
	int fd;
	bool wants_write;
	struct buf out, in;
	size_t out_at, in_at;
	struct flight *flight;     /* by slot */
	uint32_t *order;           /* ring of slots, oldest first, for protocols that answer in order */
	uint32_t *free;            /* stack of free slots */
	uint32_t order_first, frees;
	struct driver_conn driver;
};

struct load {
	const struct load_opts *o;
	struct load_report *r;
	struct driver_state state;
	struct conn *conn;
	struct load_op *op;         /* room for one connection's next requests */
	struct keys keys;
	int epoll;
	bool filling;               /* write every key once, in order */
	uint64_t issued, limit;     /* requests; limit 0 = none */
	uint64_t finished;
	uint64_t start, window, end;  /* ns; end 0 = none but the limit */
	unsigned next_conn;
	bool failed;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool fail(struct load *l, const char *what)
{
	if (!l->failed)
		snprintf(l->r->error, sizeof(l->r->error), "%s", what);
	l->failed = true;
	return false;
}

/* ---- connections ---- */

static int dial(const struct load_opts *o)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	char port[8];
	int fd, one = 1;

	snprintf(port, sizeof(port), "%u", o->port);
	if (getaddrinfo(o->host, port, &hints, &list) != 0)
		return -1;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, list->ai_addr, list->ai_addrlen) != 0) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static bool conn_open(struct load *l, struct conn *c)
{
	unsigned depth = l->o->depth;
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	c->fd = dial(l->o);
	if (c->fd < 0)
		return fail(l, strerror(errno));
	c->flight = calloc(depth, sizeof(*c->flight));
	c->order = calloc(depth, sizeof(*c->order));
	c->free = calloc(depth, sizeof(*c->free));
	c->driver.group = calloc(DEPTH_MAX, sizeof(*c->driver.group));
	if (c->flight == NULL || c->order == NULL || c->free == NULL || c->driver.group == NULL)
		return fail(l, "out of memory");
	for (unsigned i = 0; i < depth; i++)
		c->free[c->frees++] = depth - 1 - i;
	buf_put_slice(&c->out, buf_slice(&l->state.greeting));
	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &ev) == 0 ? true : fail(l, "epoll_ctl");
}

static void conn_close(struct conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->flight);
	free(c->order);
	free(c->free);
	free(c->driver.group);
	buf_release(&c->out);
	buf_release(&c->in);
}

static bool conn_flush(struct load *l, struct conn *c)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	while (c->out_at < c->out.n) {
		ssize_t n = send(c->fd, c->out.p + c->out_at, c->out.n - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return fail(l, strerror(errno));
		if (n < 0)
			break;
		c->out_at += (size_t)n;
	}
	if ((c->out_at < c->out.n) != c->wants_write) {
		c->wants_write = !c->wants_write;
		ev.events |= c->wants_write ? EPOLLOUT : 0u;
		epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &ev);
	}
	if (c->out_at == c->out.n) {
		buf_clear(&c->out);
		c->out_at = 0;
	}
	return true;
}

/* ---- asking ---- */

/* When request i is meant to leave. */
static uint64_t due_at(const struct load *l, uint64_t i)
{
	return l->start + (uint64_t)((double)i * 1e9 / l->o->rate);
}

/* How many requests may leave by now, of `want`. */
static unsigned allowed(const struct load *l, uint64_t now, unsigned want)
{
	bool paced = l->o->rate > 0 && !l->filling;
	unsigned n = 0;

	if (l->limit != 0 && l->limit - l->issued < want)
		want = (unsigned)(l->limit - l->issued);
	if (!paced)
		return l->end != 0 && now >= l->end ? 0 : want;
	while (n < want && due_at(l, l->issued + n) <= now && due_at(l, l->issued + n) < l->end)
		n++;
	return n;
}

static void conn_ask(struct load *l, struct conn *c, uint64_t now)
{
	unsigned n = allowed(l, now, c->frees);

	for (unsigned i = 0; i < n; i++) {
		uint32_t slot = c->free[--c->frees];
		struct flight *f = &c->flight[slot];
		bool write = l->filling || (l->o->read_ratio < 1 && keys_chance(&l->keys) >= l->o->read_ratio);

		f->intended = l->o->rate > 0 && !l->filling ? due_at(l, l->issued) : now;
		f->write = write;
		f->busy = true;
		c->order[(c->order_first + l->o->depth - c->frees - 1) % l->o->depth] = slot;
		l->op[i] = (struct load_op){
			.key = l->filling ? l->issued : keys_next(&l->keys), .serial = now + l->issued, .slot = slot, .write = write };
		l->issued++;
	}
	if (n > 0)
		l->o->driver->encode(&l->state, &c->driver, &c->out, l->op, n);
}

/* ---- hearing ---- */

static void note_error(struct load *l, struct slice text)
{
	if (l->r->error[0] == '\0')
		snprintf(l->r->error, sizeof(l->r->error), "%.*s", SLICE_FMT(text));
}

/* When it was due on the monotonic clock, and how long it took, ns; r or w, or e for an error. */
static void sample(FILE *out, const struct flight *f, enum reply_status st, uint64_t now)
{
	fprintf(out, "%llu %llu %c\n", (unsigned long long)f->intended, (unsigned long long)(now - f->intended),
		st == REPLY_ERROR ? 'e' : f->write ? 'w' : 'r');
}

static void count(struct load *l, const struct flight *f, enum reply_status st, struct slice text, uint64_t now)
{
	bool in_window = now >= l->window && (l->end == 0 || now < l->end);

	l->finished++;
	if (l->o->samples != NULL && !l->filling)
		sample(l->o->samples, f, st, now);
	if (st == REPLY_ERROR) {
		note_error(l, text);
		l->r->errors++;
		return;
	}
	if (in_window) {
		l->r->ops++;
		l->r->misses += st == REPLY_MISS && !f->write;
	}
	if (f->intended >= l->window)
		hist_add(&l->r->latency, now - f->intended);
}

/* All whole replies that are here. */
static bool conn_hear(struct load *l, struct conn *c, uint64_t now)
{
	struct slice in = slice_of(c->in.p + c->in_at, c->in.n - c->in_at), text = SLICE_NONE;
	enum reply_status st;
	uint32_t slot;

	while (in.n > 0 && (st = l->o->driver->reply(&c->driver, &in, &slot, &text)) != REPLY_MORE) {
		if (st == REPLY_SKIP)
			continue;
		if (st == REPLY_BAD || c->frees == l->o->depth)
			return fail(l, st == REPLY_BAD ? "a reply that cannot be read" : "a reply that nobody asked for");
		if (!l->o->driver->tagged) {
			slot = c->order[c->order_first];
			c->order_first = (c->order_first + 1) % l->o->depth;
		}
		if (slot >= l->o->depth || !c->flight[slot].busy) {
			note_error(l, text);
			return fail(l, l->r->error[0] != '\0' ? l->r->error : "a reply with an unknown id");
		}
		c->flight[slot].busy = false;
		c->free[c->frees++] = slot;
		count(l, &c->flight[slot], st, text, now);
	}
	c->in_at = c->in.n - in.n;
	return true;
}

static bool conn_read(struct load *l, struct conn *c)
{
	ssize_t n;

	if (c->in_at > 0) {
		memmove(c->in.p, c->in.p + c->in_at, c->in.n - c->in_at);
		c->in.n -= c->in_at;
		c->in_at = 0;
	}
	if (buf_reserve(&c->in, READ_BYTES) == NULL)
		return fail(l, "out of memory");
	n = recv(c->fd, c->in.p + c->in.n, c->in.cap - c->in.n, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? true : fail(l, strerror(errno));
	if (n == 0)
		return fail(l, l->r->error[0] != '\0' ? l->r->error : "the server closed a connection");
	c->in.n += (size_t)n;
	return conn_hear(l, c, now_ns());
}

/* ---- the loop ---- */

/* Give what is due to connections with room, each in turn. */
static bool ask_all(struct load *l)
{
	uint64_t now = now_ns();

	for (unsigned i = 0; i < l->o->connections; i++) {
		struct conn *c = &l->conn[(l->next_conn + i) % l->o->connections];

		if (c->frees > 0)
			conn_ask(l, c, now);
		if (c->out_at < c->out.n && !c->wants_write && !conn_flush(l, c))
			return false;
	}
	l->next_conn = (l->next_conn + 1) % l->o->connections;
	return true;
}

/* How long the loop may sleep: to the next request that is due, or the end. */
static struct timespec patience(const struct load *l)
{
	uint64_t now = now_ns(), until = now + 100000000;

	if (l->o->rate > 0 && !l->filling && due_at(l, l->issued) < until)
		until = due_at(l, l->issued);
	if (now < l->window && l->window < until)
		until = l->window;
	if (l->end != 0 && now < l->end && l->end < until)
		until = l->end;
	until = until > now ? until - now : 0;
	return (struct timespec){ .tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000) };
}

static bool turn(struct load *l)
{
	struct epoll_event ev[EVENTS];
	struct timespec wait = patience(l);
	int n = epoll_pwait2(l->epoll, ev, EVENTS, &wait, NULL);

	if (n < 0 && errno != EINTR)
		return fail(l, "epoll_wait");
	for (int i = 0; i < n; i++) {
		struct conn *c = ev[i].data.ptr;

		if ((ev[i].events & ~(uint32_t)EPOLLOUT) != 0 && !conn_read(l, c))
			return false;
		if (l->o->rate <= 0 || l->filling)
			conn_ask(l, c, now_ns());
		if (!conn_flush(l, c))
			return false;
	}
	return l->o->rate > 0 && !l->filling ? ask_all(l) : true;
}

/* Everything that was to be asked has been, and is answered, or not answered for long enough. */
static bool over(const struct load *l, uint64_t now)
{
	bool asked;

	if (l->limit != 0)
		asked = l->issued == l->limit;
	else
		asked = now >= l->end && (l->o->rate <= 0 || due_at(l, l->issued) >= l->end);
	if (asked && l->finished == l->issued)
		return true;
	return l->end != 0 && now > l->end + DRAIN_NS;
}

/* Requests that were due and got no answer, or could not even leave, are errors. */
static void count_unanswered(struct load *l)
{
	uint64_t due = l->issued;

	if (l->end != 0 && l->o->rate > 0 && due_at(l, due) < l->end)
		due = (uint64_t)((double)(l->end - l->start) * l->o->rate / 1e9);
	if (due == l->finished)
		return;
	l->r->errors += due - l->finished;
	note_error(l, SLICE_LIT("requests were not answered in time"));
}

static bool go(struct load *l)
{
	double cpu = -1, cpu_end = -1;
	uint64_t now = now_ns(), closed = 0;

	if (l->window == 0) /* filling: all of it counts */
		l->start = l->window = now;
	if (!ask_all(l))
		return false;
	for (; !over(l, now); now = now_ns()) {
		if (cpu < 0 && now >= l->window)
			cpu = cpu_of(l->o->server_pid);
		if (closed == 0 && l->end != 0 && now >= l->end) {
			closed = now;
			cpu_end = cpu_of(l->o->server_pid);
		}
		if (!turn(l))
			return false;
	}
	if (closed == 0) {
		closed = now;
		cpu_end = cpu_of(l->o->server_pid);
	}
	count_unanswered(l);
	l->r->seconds = (double)(closed - l->window) / 1e9;
	l->r->cpu_us = cpu < 0 || cpu_end < 0 ? -1 : cpu_end - cpu;
	return true;
}

static void load_close(struct load *l)
{
	for (unsigned i = 0; l->conn != NULL && i < l->o->connections; i++)
		conn_close(&l->conn[i]);
	free(l->conn);
	free(l->op);
	if (l->epoll >= 0)
		close(l->epoll);
	buf_release(&l->state.read.bytes);
	buf_release(&l->state.write.bytes);
	buf_release(&l->state.greeting);
	buf_release(&l->state.setup);
}

static bool load_open(struct load *l, const struct load_opts *o, struct load_report *r)
{
	*l = (struct load){ .o = o, .r = r, .epoll = epoll_create1(EPOLL_CLOEXEC) };
	memset(r, 0, sizeof(*r));
	keys_init(&l->keys, o->keys, o->theta, o->seed);
	o->driver->prepare(&l->state, o);
	form_find_stamp(&l->state.read);
	form_find_stamp(&l->state.write);
	l->conn = calloc(o->connections, sizeof(*l->conn));
	l->op = calloc(o->depth, sizeof(*l->op));
	if (l->conn == NULL || l->op == NULL || l->epoll < 0)
		return fail(l, "out of memory");
	for (unsigned i = 0; i < o->connections; i++)
		l->conn[i].fd = -1;
	for (unsigned i = 0; i < o->connections; i++)
		if (!conn_open(l, &l->conn[i]))
			return false;
	return true;
}

bool load_run(const struct load_opts *o, struct load_report *r)
{
	struct load l;
	bool ok = load_open(&l, o, r);

	if (ok) {
		l.start = now_ns();
		l.window = l.start + (uint64_t)(o->warmup * 1e9);
		l.limit = o->requests;
		l.end = o->requests != 0 ? 0 : l.window + (uint64_t)(o->seconds * 1e9);
		ok = go(&l);
	}
	load_close(&l);
	return ok;
}

/* ---- filling ---- */

/* Send the table's request on a connection of its own, and wait for an answer of any kind: the table may be there. */
static bool make_table(const struct load_opts *o, struct load *l)
{
	struct driver_conn none = { 0 };
	enum reply_status st = REPLY_MORE;
	struct slice text = SLICE_NONE;
	uint32_t slot;
	struct buf b;
	int fd = dial(o);

	buf_init(&b);
	if (fd < 0)
		return fail(l, strerror(errno));
	buf_put_slice(&b, buf_slice(&l->state.greeting));
	buf_put_slice(&b, buf_slice(&l->state.setup));
	if (send(fd, b.p, b.n, MSG_NOSIGNAL) != (ssize_t)b.n)
		st = REPLY_BAD;
	buf_clear(&b);
	while (st == REPLY_MORE || st == REPLY_SKIP) {
		uint8_t *p = buf_reserve(&b, 65536);
		ssize_t n = p != NULL ? recv(fd, p, 65536, 0) : -1;
		struct slice in;

		b.n += n > 0 ? (size_t)n : 0;
		in = buf_slice(&b);
		for (st = REPLY_SKIP; st == REPLY_SKIP && in.n > 0;)
			st = o->driver->reply(&none, &in, &slot, &text);
		if (n <= 0)
			st = REPLY_BAD;
	}
	close(fd);
	buf_release(&b);
	return st != REPLY_BAD ? true : fail(l, "the server does not answer CreateTable");
}

bool load_fill(const struct load_opts *o, struct load_report *r)
{
	struct load_opts one = *o;
	struct load l;
	bool ok = load_open(&l, o, r) && (l.state.setup.n == 0 || make_table(o, &l));

	load_close(&l);
	/* A new table may take a moment: try one item until it is taken. */
	one.connections = one.depth = 1;
	one.rate = 0;
	for (int i = 0; ok && i < SETUP_TRIES && (i == 0 || r->errors > 0); i++) {
		if (i > 0)
			usleep(50000);
		ok = load_open(&l, &one, r);
		l.filling = true;
		l.limit = 1;
		ok = ok && go(&l);
		load_close(&l);
	}
	if (!ok || r->errors > 0)
		return false;
	ok = load_open(&l, o, r);
	l.filling = true;
	l.limit = o->keys;
	ok = ok && go(&l);
	load_close(&l);
	return ok && r->errors == 0;
}
