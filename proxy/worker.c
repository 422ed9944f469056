/* worker - see worker.h. One section for each kind of event, then how a worker is born and ends. */
#include "proxy/worker.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "protocol/expr.h"
#include "protocol/json.h"
#include "protocol/thread.h"
#include "proxy/call.h"
#include "proxy/conn.h"
#include "proxy/fast_get.h"
#include "proxy/log.h"
#include "proxy/ring.h"

enum { EXPR_CACHE_ENTRIES = 1024 };

/* Which worker this thread runs, for assertions: a connection touched by the wrong thread is the worst bug we can have. */
static _Thread_local const struct worker *current;

bool worker_is_current(const struct worker *w)
{
	return current == w;
}

/* ---- the end of an event (W2) ---- */

static struct conn *take_dirty(struct worker *w)
{
	struct conn *c = w->dirty;

	w->dirty = c->next_dirty;
	c->dirty = false;
	return c;
}

static void flush_next(struct worker *w)
{
	struct conn *c = take_dirty(w);

	conn_flush(c);
	conn_unref(c);
}

/* As flush_next, for several with one system call. */
static void flush_together(struct worker *w)
{
	struct ring_write write[RING_WRITES];
	struct conn *conn[RING_WRITES];
	unsigned n = 0;

	while (w->dirty != NULL && n < RING_WRITES) {
		struct slice unsent = conn_unsent(w->dirty);

		if (unsent.n == 0) {
			flush_next(w);
			continue;
		}
		conn[n] = take_dirty(w);
		write[n] = (struct ring_write){ .fd = conn[n]->fd, .p = unsent.p, .n = unsent.n };
		n++;
	}
	bool written = n == 0 || ring_write(w->ring, write, n);

	for (unsigned i = 0; i < n; i++) {
		conn_flushed(conn[i], write[i].done);
		conn_unref(conn[i]);
	}
	if (!written) {
		log_warn("worker %u: io_uring fails: writing one by one", w->number);
		ring_free(&w->ring);
	}
}

static void flush_all(struct worker *w)
{
	while (w->dirty != NULL) {
		if (w->ring != NULL && w->dirty->next_dirty != NULL)
			flush_together(w);
		else
			flush_next(w);
	}
}

void worker_settle(struct worker *w)
{
	flush_all(w);
	if (w->fast_hits > 0)
		fast_get_count(w);
	w->event_number++;
	w->backend->ops->quiesce(w->reader);
}

/* ---- readable connections (W3) ---- */

static void serve_gathered(struct worker *w)
{
	if (w->gathers == 0)
		return;
	for (unsigned i = 0; i < w->gathers; i++) {
		struct conn *c = w->gathered[i];
		uint64_t last = w->last_ns;

		/* A slice of its own for each; the last call's end is clock enough. */
		w->slice_ns = last > w->now_ns ? last : w->now_ns;
		conn_serve(c);
		/* Hits take no time: theirs are written together. */
		if (w->ring == NULL || w->last_ns != last)
			flush_all(w);
		conn_unref(c);
	}
	w->gathers = 0;
	worker_settle(w);
}

static void on_serve(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	serve_gathered(arg);
}

void worker_gather(struct worker *w, struct conn *c)
{
	if (w->gathers == 0) {
		w->now_ns = monotonic_ns();
		/* Joins the queue of active events behind all the readable ones that epoll reported. */
		event_active(w->serve_event, EV_TIMEOUT, 0);
	}
	metrics_count(w->metrics, METRIC_WAKEUPS, 1);
	conn_ref(c);
	w->gathered[w->gathers++] = c;
	if (c->door->look != NULL)
		c->door->look(c);
	if (w->gathers == WORKER_GATHER)
		serve_gathered(w);
}

void worker_begin(struct worker *w)
{
	serve_gathered(w);
	w->now_ns = w->slice_ns = monotonic_ns();
	metrics_count(w->metrics, METRIC_WAKEUPS, 1);
}

/* ---- connections with input left over ---- */

void worker_resume_later(struct worker *w)
{
	static const struct timeval at_once = { 0, 0 };

	/* By way of a timer, not at once: other connections get their turn between. */
	if (!event_pending(w->resume_event, EV_TIMEOUT, NULL))
		event_add(w->resume_event, &at_once);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	struct conn *c;

	(void)fd;
	(void)what;
	worker_begin(w);
	c = w->resumed; /* not before: to serve may lengthen the list */
	w->resumed = NULL;
	while (c != NULL) {
		struct conn *next = c->next_resumed;

		c->resumed = false;
		w->now_ns = w->slice_ns = monotonic_ns(); /* each has a slice of its own */
		conn_resume(c);
		conn_unref(c);
		c = next;
	}
	worker_settle(w);
}

/* ---- buffers ---- */

struct buf worker_borrow_buf(struct worker *w)
{
	struct buf b;
	uint8_t *room;

	if (w->spares > 0)
		return w->spare[--w->spares];
	buf_init(&b);
	room = buf_reserve(&b, CONN_READ);
	(void)room; /* a failure sticks to the buffer, and shows when it is used */
	return b;
}

void worker_return_buf(struct worker *w, struct buf *b)
{
	if (w->spares < WORKER_SPARE_BUFS && b->cap >= CONN_READ && b->cap <= WORKER_SPARE_BYTES) {
		buf_clear(b);
		w->spare[w->spares++] = *b;
	} else {
		buf_release(b);
	}
	buf_init(b);
}

/* ---- mail ---- */

static void leave_if_drained(struct worker *w)
{
	if (w->draining && w->conns == NULL)
		event_base_loopbreak(w->base);
}

static void on_mail(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	worker_begin(w);
	metrics_count(w->metrics, METRIC_MAILS, mailbox_deliver(&w->mailbox));
	worker_settle(w);
	leave_if_drained(w);
}

struct gift {
	struct mail mail;
	struct worker *worker;
	int fd;
	enum door door;
};

static void deliver_gift(struct mail *m)
{
	struct gift *g = (struct gift *)(void *)m;
	struct worker *w = g->worker;

	if (w->draining) {
		close(g->fd);
		metric_add(&w->metrics->ended, 1);
	} else if (conn_new(w, g->fd, g->door == DOOR_HTTP ? &door_http : &door_msgpack) != NULL) {
		metrics_count(w->metrics, g->door == DOOR_HTTP ? METRIC_ACCEPTED_HTTP : METRIC_ACCEPTED_MSGPACK, 1);
	} else {
		metric_add(&w->metrics->outcome[CONN_NO_MEMORY], 1);
		metric_add(&w->metrics->ended, 1);
	}
	free(g);
}

bool worker_give(struct worker *w, int fd, enum door door)
{
	struct gift *g = malloc(sizeof(*g));

	if (g == NULL)
		return false;
	*g = (struct gift){ { NULL, deliver_gift }, w, fd, door };
	mailbox_post(&w->mailbox, &g->mail);
	return true;
}

struct new_limits {
	struct mail mail;
	struct worker *worker;
	struct limits limits;
};

static void deliver_limits(struct mail *m)
{
	struct new_limits *n = (struct new_limits *)(void *)m;

	n->worker->limits = n->limits;
	free(n);
}

bool worker_set_limits(struct worker *w, const struct limits *l)
{
	struct new_limits *n = malloc(sizeof(*n));

	if (n == NULL)
		return false;
	*n = (struct new_limits){ { NULL, deliver_limits }, w, *l };
	mailbox_post(&w->mailbox, &n->mail);
	return true;
}

/* ---- deadlines and shutting down ---- */

static void check_all(struct worker *w)
{
	struct conn *c = w->conns, *next;

	for (; c != NULL; c = next) {
		next = c->next;
		conn_check(c, w->now_ns);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	worker_begin(w);
	check_all(w);
	worker_settle(w);
	leave_if_drained(w);
}

/* Deadlines were answered: send the answers. */
static void settle_deadlines(void *arg)
{
	worker_begin(arg);
	worker_settle(arg);
}

static void deliver_drain(struct mail *m)
{
	struct worker *w = (struct worker *)(void *)((char *)m - offsetof(struct worker, drain_mail));

	w->draining = true;
	check_all(w);
}

static void deliver_stop(struct mail *m)
{
	struct worker *w = (struct worker *)(void *)((char *)m - offsetof(struct worker, stop_mail));

	event_base_loopbreak(w->base);
}

void worker_drain(struct worker *w)
{
	w->drain_mail = (struct mail){ NULL, deliver_drain };
	mailbox_post(&w->mailbox, &w->drain_mail);
}

void worker_stop(struct worker *w)
{
	w->stop_mail = (struct mail){ NULL, deliver_stop };
	mailbox_post(&w->mailbox, &w->stop_mail);
}

/* ---- life ---- */

static bool worker_events(struct worker *w)
{
	static const struct timeval tick = { 0, WORKER_TICK_MS * 1000 };
	struct event_config *cfg = event_config_new();

	if (cfg == NULL)
		return false;
	/* One thread, and the mailbox has its own wake-up: no locks. */
	event_config_set_flag(cfg, EVENT_BASE_FLAG_NOLOCK);
	w->base = event_base_new_with_config(cfg);
	event_config_free(cfg);
	if (w->base == NULL || !mailbox_init(&w->mailbox) || !deadlines_init(&w->deadlines, w->base, settle_deadlines, w))
		return false;
	w->mail_event = event_new(w->base, w->mailbox.fd, EV_READ | EV_PERSIST, on_mail, w);
	w->tick_event = event_new(w->base, -1, EV_PERSIST, on_tick, w);
	w->resume_event = event_new(w->base, -1, 0, on_resume, w);
	w->serve_event = event_new(w->base, -1, 0, on_serve, w);
	return w->mail_event != NULL && w->tick_event != NULL && w->resume_event != NULL &&
	       w->serve_event != NULL && event_add(w->mail_event, NULL) == 0 && event_add(w->tick_event, &tick) == 0;
}

struct worker *worker_new(const struct shared *s, const struct limits *l, unsigned number)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->shared = s;
	w->backend = s->backend;
	w->epochs = s->epochs;
	w->items = s->items;
	w->queries = s->queries;
	w->flights = s->flights;
	w->limits = *l;
	w->number = number;
	w->mailbox.fd = -1;
	w->event_number = 1;
	w->now_ns = monotonic_ns();
	w->metrics = metrics_new();
	w->json = json_reader_new();
	w->ring = s->io_uring ? ring_new() : NULL;
	w->exprs = expr_cache_new(EXPR_CACHE_ENTRIES);
	if (getrandom(w->seed, sizeof(w->seed), 0) != sizeof(w->seed))
		w->seed[0] = w->now_ns | 1;
	if (w->metrics == NULL || w->json == NULL || w->exprs == NULL || !worker_events(w) ||
	    (w->reader = s->backend->ops->reader_new(s->backend, w)) == NULL)
		worker_free(&w);
	return w;
}

static void *run(void *arg)
{
	struct worker *w = arg;

	current = w;
	event_base_dispatch(w->base);
	atomic_store(&w->ended, true);
	return NULL;
}

bool worker_start(struct worker *w)
{
	errno = thread_start(&w->thread, run, w, "worker-%u", w->number);
	return errno == 0;
}

void worker_join(struct worker *w)
{
	pthread_join(w->thread, NULL);
}

static void free_calls(struct worker *w)
{
	while (w->free_calls != NULL) {
		struct call *c = w->free_calls;

		w->free_calls = c->next;
		arena_release(&c->arena);
		buf_release(&c->out);
		free(c);
	}
}

static void free_event(struct event *e)
{
	if (e != NULL)
		event_free(e);
}

void worker_wind_up(struct worker *w)
{
	struct pollfd p = { .fd = w->mailbox.fd, .events = POLLIN };
	const struct worker *was = current;

	current = w;
	w->draining = true;
	serve_gathered(w);
	while (w->conns != NULL)
		conn_close(w->conns, CONN_SHUTDOWN);
	on_resume(-1, 0, w);
	for (;;) {
		mailbox_deliver(&w->mailbox);
		worker_settle(w);
		if (w->calls_live == 0)
			break;
		poll(&p, 1, WORKER_TICK_MS);
	}
	w->backend->ops->reader_free(&w->reader);
	current = was;
}

void worker_free(struct worker **wp)
{
	struct worker *w = *wp;

	if (w == NULL)
		return;
	mailbox_release(&w->mailbox);
	free_calls(w);
	while (w->spares > 0)
		buf_release(&w->spare[--w->spares]);
	free_event(w->mail_event);
	deadlines_release(&w->deadlines);
	free_event(w->tick_event);
	free_event(w->resume_event);
	free_event(w->serve_event);
	ring_free(&w->ring);
	free(w->look);
	free(w->http_memo);
	if (w->base != NULL)
		event_base_free(w->base);
	json_reader_free(&w->json);
	expr_cache_free(&w->exprs);
	metrics_free(&w->metrics);
	free(w);
	*wp = NULL;
}

/* ---- small services ---- */

/* xorshift128+: ids need to be unique, not secret. */
static uint64_t next_random(uint64_t s[2])
{
	uint64_t a = s[0], b = s[1];

	s[0] = b;
	a ^= a << 23;
	s[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
	return s[1] + b;
}

/* Eight digits of base 32 from 40 bits, by halving: 20 bits to a half, 10 to a quarter, 5 to a byte. */
static uint64_t eight_digits(uint64_t bits)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t v = (bits & 0xfffff) | (bits >> 20 & 0xfffff) << 32;

	v = (v & UINT64_C(0x000003ff000003ff)) | (v & UINT64_C(0x000ffc00000ffc00)) << 6;
	v = (v & UINT64_C(0x001f001f001f001f)) | (v & UINT64_C(0x03e003e003e003e0)) << 3;
	/* Letters stand 7 behind the digit 9; 118 more takes what is above 9 into the byte's high bit. */
	return v + ones * '0' + ((v + ones * 118) >> 7 & ones) * ('A' - '9' - 1);
}

void worker_request_id(struct worker *w, char id[REQUEST_ID])
{
	for (unsigned n = 0; n < REQUEST_ID; n += 8) {
		uint64_t eight = eight_digits(next_random(w->seed));

		memcpy(id + n, &eight, REQUEST_ID - n < 8 ? REQUEST_ID - n : 8);
	}
}

const char *worker_date(struct worker *w)
{
	static const char *const day[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const month[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	int64_t second = (int64_t)(w->now_ns / 1000000000u);
	time_t now;
	struct tm tm;

	if (second == w->date_s && w->date[0] != '\0')
		return w->date;
	w->date_s = second;
	now = time(NULL);
	gmtime_r(&now, &tm);
	/* The clamps tell the compiler that it fits. */
	snprintf(w->date, sizeof(w->date), "%s, %02d %s %04d %02d:%02d:%02d GMT", day[tm.tm_wday % 7], tm.tm_mday % 100,
		month[tm.tm_mon % 12], (tm.tm_year + 1900) % 10000, tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100);
	return w->date;
}
