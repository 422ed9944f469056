/* server - see server.h. Start in the order of what needs what, run, signals, drain, stop. */
#include "proxy/server.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "proxy/admin.h"
#include "proxy/coherence.h"
#include "proxy/gauges.h"
#include "proxy/http_reader.h"
#include "proxy/listener.h"
#include "proxy/offload.h"
#include "proxy/partition_list.h"
#include "proxy/worker.h"

enum { RESERVE = 64, RESERVE_PER_WORKER = 8 };         /* descriptors for the server itself */
enum { DRAIN_POLL_MS = 10, LINGER_MS = 5000 };
enum { SIGNALS = 3, OFFLOAD_THREADS = 2 };

struct server {
	struct config config;
	int argc;
	char *const *argv;
	int http_fd, listen_fd, admin_fd;      /* -1 once given away */
	uint64_t descriptors, max_connections, given;
	int64_t started_s;
	struct coherence coherence;
	struct shared shared;
	struct address_text http_address;
	struct worker *worker[CONFIG_THREADS_MAX];
	unsigned workers, started;
	struct event_base *base;
	struct event *signal[SIGNALS], *drain_poll;
	struct listener *http, *msgpack;
	struct admin *admin;
	bool draining, stopping;
	uint64_t drain_until_ns, accept_pauses;
};

static bool fail(struct config_error *e, const char *what)
{
	snprintf(e->text, sizeof(e->text), "%s", what);
	return false;
}

/* ---- opening ---- */

static void raise_descriptors(struct server *s)
{
	struct rlimit r;
	uint64_t reserve = RESERVE + (uint64_t)RESERVE_PER_WORKER * s->workers;

	s->descriptors = 1024;
	if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
		if (getrlimit(RLIMIT_NOFILE, &r) == 0)
			s->descriptors = r.rlim_cur;
	}
	if (s->descriptors < 2 * reserve)
		reserve = s->descriptors / 2;
	s->max_connections = s->descriptors - reserve;
	if (s->config.max_connections != 0 && s->config.max_connections < s->max_connections)
		s->max_connections = s->config.max_connections;
}

static bool take_addresses(struct server *s, struct config_error *e)
{
	s->http_fd = listen_on(&s->config.http, s->config.insecure, e);
	if (s->http_fd < 0)
		return false;
	s->listen_fd = listen_on(&s->config.listen, s->config.insecure, e);
	if (s->listen_fd < 0)
		return false;
	s->http_address = address_text(&s->config.http);
	s->shared.http_address = s->http_address.s;
	s->admin_fd = listen_on(&s->config.admin, s->config.insecure, e);
	return s->admin_fd >= 0;
}

static bool make_caches(struct server *s, struct config_error *e)
{
	const struct config *c = &s->config;
	struct item_cache_opts items = { .max_bytes = c->item_cache, .ttl_ns = c->item_ttl * 1000000 };
	struct query_cache_opts queries = { .max_bytes = c->query_cache, .ttl_ns = c->query_ttl * 1000000 };

	s->shared.epochs = epochs_new(0);
	s->shared.flights = flights_new();
	s->shared.io_uring = s->config.io_uring;
	s->shared.offload = offload_new("offload", OFFLOAD_THREADS);
	if (s->shared.epochs == NULL || s->shared.flights == NULL || s->shared.offload == NULL)
		return fail(e, "out of memory");
	if (c->item_cache != 0 && (s->shared.items = item_cache_new(&items, s->shared.epochs)) == NULL)
		return fail(e, "no memory for the item cache");
	if (c->query_cache != 0 && (s->shared.queries = query_cache_new(&queries, s->shared.epochs)) == NULL)
		return fail(e, "no memory for the query cache");
	s->coherence = (struct coherence){ s->shared.epochs, s->shared.items };
	return true;
}

/* What the store says to a client begins like every error of the service; to who starts the daemon that says nothing. */
static bool store_failed(struct config_error *e, const char *text)
{
	static const char usual[] = "Internal server error: ";

	if (strncmp(text, usual, sizeof(usual) - 1) == 0)
		text += sizeof(usual) - 1;
	snprintf(e->text, sizeof(e->text), "cannot open the store: %s", text);
	return false;
}

static bool open_store(struct server *s, struct config_error *e)
{
	const struct config *c = &s->config;
	struct embedded_opts o = {
		.store = {
			.engine = { .dir = c->memory ? NULL : c->data, .durability = c->durability, .overlay_bytes = c->overlay,
				.map_max_bytes = c->map_max },
			.observer = coherence_observer(&s->coherence),
			.region = c->region,
			.keeper_ms = (unsigned)c->ttl_interval,
			.index_delay_ms = (uint32_t)c->index_delay,
			.still_clock = c->test_clock,
			.capacity = (enum capacity_mode)c->capacity,
			.partition_bytes = c->partition_bytes,
			.partition_wcu = c->partition_wcu,
			.partition_rcu = c->partition_rcu,
			.collection_bytes = c->collection_bytes,
			.table_delay_ms = c->table_delay,
		},
		.reader_threads = c->reader_threads,
		.hand_over = (enum hand_over)c->hand_over,
	};
	struct arena a;
	struct fault f;
	enum err rc;

	arena_init(&a, 0);
	fault_init(&f, &a);
	rc = backend_embedded_open(&o, &s->shared.backend, &f);
	if (rc != ERR_OK)
		store_failed(e, f.text != NULL ? f.text : err_type(rc));
	arena_release(&a);
	return rc == ERR_OK;
}

static struct limits limits_of(const struct config *c)
{
	return (struct limits){ (uint32_t)c->idle_timeout, (uint32_t)c->head_timeout, (uint32_t)c->body_timeout,
		(uint32_t)c->write_timeout, LINGER_MS, c->cors };
}

static bool make_workers(struct server *s, struct config_error *e)
{
	struct limits l = limits_of(&s->config);

	for (unsigned i = 0; i < s->workers; i++) {
		s->worker[i] = worker_new(&s->shared, &l, i);
		if (s->worker[i] == NULL)
			return fail(e, "no memory or descriptors for a worker thread");
	}
	return true;
}

/* Processors that are online, whether or not this process may use all of them. */
static unsigned processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (unsigned)n;
}

/* libevent's messages go where ours go, with a time; what it calls an error ends the process. */
static void libevent_says(int severity, const char *text)
{
	log_line(severity == EVENT_LOG_ERR ? LOG_ERROR : severity == EVENT_LOG_DEBUG ? LOG_TRACE : LOG_WARN, "libevent: %s", text);
}

struct server *server_open(const struct config *c, int argc, char *const *argv, struct config_error *e)
{
	struct server *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		fail(e, "out of memory");
		return NULL;
	}
	s->started_s = time(NULL);
	s->config = *c;
	s->argc = argc;
	s->argv = argv;
	s->http_fd = s->listen_fd = s->admin_fd = -1;
	s->shared.region = s->config.region;
	s->workers = c->threads == 0 ? processors() : c->threads;
	if (s->workers > CONFIG_THREADS_MAX)
		s->workers = CONFIG_THREADS_MAX; /* that many processors */
	signal(SIGPIPE, SIG_IGN);
	event_set_log_callback(libevent_says);
	http_reader_setup();
	raise_descriptors(s);
	if (!take_addresses(s, e) || !make_caches(s, e) || !open_store(s, e) || !make_workers(s, e))
		server_close(&s);
	return s;
}

/* ---- admin ---- */

static void write_metrics(void *arg, struct buf *out)
{
	struct server *s = arg;
	struct metrics *m[CONFIG_THREADS_MAX];
	struct server_gauges g = { s->accept_pauses + listener_pauses(s->http) + listener_pauses(s->msgpack), s->max_connections,
		s->descriptors, s->started_s };

	for (unsigned i = 0; i < s->workers; i++)
		m[i] = s->worker[i]->metrics;
	metrics_write(out, m, s->workers);
	gauges_write(out, &s->shared, &g);
}

static bool write_partitions(void *arg, struct slice table, struct buf *out)
{
	struct server *s = arg;

	return partition_list_write(s->shared.backend, table, out);
}

struct autoscale_list {
	struct buf *out;
	unsigned n;
};

static void put_autoscale(void *arg, const struct store_autoscale *a)
{
	struct autoscale_list *l = arg;

	buf_printf(l->out, "%s\n{", l->n++ != 0 ? "," : "");
	if (slice_present(a->index))
		buf_printf(l->out, "\"IndexName\":\"%.*s\",", SLICE_FMT(a->index));
	buf_printf(l->out, "\"Capacity\":\"%s\",\"MinCapacity\":%" PRId64 ",\"MaxCapacity\":%" PRId64 ",\"TargetValue\":%u,"
		"\"ScaleInCooldown\":%u,\"ScaleOutCooldown\":%u,\"CapacityUnits\":%" PRId64 "}", a->write ? "write" : "read",
		a->min, a->max, a->target, a->in_cooldown_s, a->out_cooldown_s, a->units);
}

static enum err autoscaling(void *arg, struct slice table, const struct store_autoscale *set, struct buf *out)
{
	struct backend *b = ((struct server *)arg)->shared.backend;
	struct autoscale_list l = { out, 0 };
	struct arena a;
	struct fault f;

	arena_init(&a, 0);
	fault_init(&f, &a);
	enum err rc = set != NULL ? b->ops->autoscale_set(b, table, set, &f) : ERR_OK;

	if (rc == ERR_OK) {
		buf_printf(out, "{\"AutoScaling\":[");
		rc = b->ops->autoscale_list(b, table, put_autoscale, &l, &f);
		buf_printf(out, "]}\n");
	}
	if (rc != ERR_OK) {
		buf_clear(out);
		buf_printf(out, "%s\n", f.text != NULL ? f.text : err_type(rc));
	}
	arena_release(&a);
	return rc;
}

static void set_index_delay(void *arg, uint32_t ms)
{
	struct server *s = arg;

	s->shared.backend->ops->set_index_delay(s->shared.backend, ms);
}

static uint32_t index_delay(void *arg)
{
	struct server *s = arg;

	return s->shared.backend->ops->index_delay(s->shared.backend);
}

static void advance_clock(void *arg, uint64_t ms)
{
	struct server *s = arg;

	s->shared.backend->ops->advance(s->shared.backend, ms);
}

static bool is_ready(void *arg, const char **why)
{
	struct server *s = arg;

	if (s->draining) {
		*why = "shutting down\n";
		return false;
	}
	return s->shared.backend->ops->ready(s->shared.backend, why);
}

/* ---- signals ---- */

static void drain(struct server *s)
{
	static const struct timeval poll = { 0, DRAIN_POLL_MS * 1000 };

	s->draining = true;
	s->accept_pauses += listener_pauses(s->http) + listener_pauses(s->msgpack);
	listener_free(&s->http);
	listener_free(&s->msgpack);
	s->drain_until_ns = monotonic_ns() + s->config.drain_timeout * 1000000;
	for (unsigned i = 0; i < s->started; i++)
		worker_drain(s->worker[i]);
	event_add(s->drain_poll, &poll);
}

static void on_drain_poll(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;
	unsigned ended = 0;

	(void)fd;
	(void)what;
	for (unsigned i = 0; i < s->started; i++)
		ended += atomic_load(&s->worker[i]->ended);
	if (ended == s->started) {
		event_base_loopbreak(s->base);
	} else if (!s->stopping && monotonic_ns() > s->drain_until_ns) {
		log_warn("requests still run after the drain limit: closing their connections");
		s->stopping = true;
		for (unsigned i = 0; i < s->started; i++)
			worker_stop(s->worker[i]);
	}
}

static void on_stop(evutil_socket_t sig, short what, void *arg)
{
	struct server *s = arg;

	(void)what;
	if (s->draining) {
		/* As if nobody had caught it: no code of ours, or of a library, runs any more. */
		signal((int)sig, SIG_DFL);
		raise((int)sig);
	}
	log_info("signal %d: shutting down", (int)sig);
	drain(s);
}

static void report_change(void *arg, const char *name, bool reloadable)
{
	(void)arg;
	if (reloadable)
		log_info("reload: --%s changed", name);
	else
		log_warn("reload: --%s changed: it takes effect after a restart", name);
}

static void set_map_max(struct server *s, uint64_t bytes)
{
	uint64_t now = s->shared.backend->ops->set_map_max(s->shared.backend, bytes);

	if (now < bytes)
		log_warn("reload: --map-max: %" PRIu64 " bytes of address space are reserved: more takes a restart", now);
}

static void on_reload(evutil_socket_t sig, short what, void *arg)
{
	struct server *s = arg;
	struct config next;
	struct config_error e;
	struct limits l;

	(void)sig;
	(void)what;
	if (config_load(&next, s->argc, s->argv, &e) != CONFIG_RUN) {
		log_error("reload: %s: nothing changed", e.text);
		return;
	}
	/* Ports that were picked by the system are what was asked for. */
	next.http.port = next.http.port == 0 ? s->config.http.port : next.http.port;
	next.listen.port = next.listen.port == 0 ? s->config.listen.port : next.listen.port;
	next.admin.port = next.admin.port == 0 ? s->config.admin.port : next.admin.port;
	log_info("reload: options read again");
	config_changes(&s->config, &next, report_change, s);
	if (next.index_delay != s->config.index_delay) /* what was set over the admin port stays otherwise */
		set_index_delay(s, (uint32_t)next.index_delay);
	if (next.map_max != s->config.map_max)
		set_map_max(s, next.map_max);
	config_adopt(&s->config, &next);
	log_set_level(s->config.log_level);
	l = limits_of(&s->config);
	for (unsigned i = 0; i < s->started; i++)
		if (!worker_set_limits(s->worker[i], &l))
			log_error("reload: out of memory");
}

static bool watch_signals(struct server *s)
{
	static const struct {
		int number;
		event_callback_fn fn;
	} watch[SIGNALS] = { { SIGINT, on_stop }, { SIGTERM, on_stop }, { SIGHUP, on_reload } };

	for (unsigned i = 0; i < SIGNALS; i++) {
		s->signal[i] = evsignal_new(s->base, watch[i].number, watch[i].fn, s);
		if (s->signal[i] == NULL || event_add(s->signal[i], NULL) != 0)
			return false;
	}
	s->drain_poll = event_new(s->base, -1, EV_PERSIST, on_drain_poll, s);
	return s->drain_poll != NULL;
}

/* ---- serving ---- */

/* Signals go to the main thread, which waits for them in its event loop. */
static bool start_workers(struct server *s)
{
	sigset_t all, was;
	bool ok = true;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	while (ok && s->started < s->workers) {
		ok = worker_start(s->worker[s->started]);
		s->started += ok;
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return ok;
}

static int give(int *fd)
{
	int n = *fd;

	*fd = -1;
	return n;
}

static bool start(struct server *s)
{
	struct listener_opts o = { DOOR_HTTP, s->worker, s->workers, s->max_connections, &s->given };
	struct admin_source source = { write_metrics, is_ready, write_partitions, autoscaling, set_index_delay, index_delay,
		s->config.test_clock ? advance_clock : NULL, s };

	s->base = event_base_new();
	if (s->base == NULL || !watch_signals(s) || !start_workers(s))
		return false;
	s->http = listener_new(s->base, give(&s->http_fd), &o);
	o.door = DOOR_MSGPACK;
	s->msgpack = listener_new(s->base, give(&s->listen_fd), &o);
	s->admin = admin_new(s->base, give(&s->admin_fd), &source);
	return s->http != NULL && s->msgpack != NULL && s->admin != NULL;
}

static void say_ready(const struct server *s)
{
	const struct config *c = &s->config;

	printf("dynaxd %s ready: http %s, msgpack %s, admin %s, data %s\n", DYNAX_VERSION, address_text(&c->http).s,
		address_text(&c->listen).s, address_text(&c->admin).s, c->memory ? "in memory" : c->data);
	fflush(stdout);
}

bool server_run(struct server *s)
{
	bool ok = start(s);

	if (ok) {
		say_ready(s);
		event_base_dispatch(s->base);
	} else {
		log_error("cannot start: %s", strerror(errno));
		for (unsigned i = 0; i < s->started; i++)
			worker_stop(s->worker[i]);
	}
	for (unsigned i = 0; i < s->started; i++)
		worker_join(s->worker[i]);
	return ok;
}

/* ---- closing ---- */

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void free_event(struct event *e)
{
	if (e != NULL)
		event_free(e);
}

void server_close(struct server **sp)
{
	struct server *s = *sp;

	if (s == NULL)
		return;
	listener_free(&s->http);
	listener_free(&s->msgpack);
	if (s->shared.backend != NULL)
		s->shared.backend->ops->wind_down(s->shared.backend);
	admin_free(&s->admin);
	for (unsigned i = 0; i < s->workers; i++)
		if (s->worker[i] != NULL)
			worker_wind_up(s->worker[i]);
	if (s->shared.backend != NULL)
		s->shared.backend->ops->close(&s->shared.backend);
	offload_free(&s->shared.offload);
	for (unsigned i = 0; i < s->workers; i++)
		worker_free(&s->worker[i]);
	item_cache_free(&s->shared.items);
	query_cache_free(&s->shared.queries);
	flights_free(&s->shared.flights);
	epochs_free(&s->shared.epochs);
	for (unsigned i = 0; i < SIGNALS; i++)
		free_event(s->signal[i]);
	free_event(s->drain_poll);
	if (s->base != NULL)
		event_base_free(s->base);
	close_fd(s->http_fd);
	close_fd(s->listen_fd);
	close_fd(s->admin_fd);
	free(s);
	*sp = NULL;
}
