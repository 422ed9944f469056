/* admin - see admin.h. Requests of the admin port, one function each. */
#include "proxy/admin.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy/offload.h"

enum { HEAD_MAX = 8192, BODY_MAX = 4096, TIMEOUT_S = 10 };
enum { TARGET_USUAL = 70 };  /* percent: what the service's console proposes */

struct admin {
	struct evhttp *http;
	struct admin_source source;
	struct offload *thread;      /* for what takes long */
	struct mailbox mailbox;      /* what it has done */
	struct event *mail_event;
};

static void reply(struct evhttp_request *req, int status, const char *reason, const char *type, struct slice body)
{
	struct evbuffer *b = evbuffer_new();

	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", type);
	if (b != NULL)
		evbuffer_add(b, body.p, body.n);
	evhttp_send_reply(req, status, reason, b);
	if (b != NULL)
		evbuffer_free(b);
}

static void on_metrics(struct evhttp_request *req, void *arg)
{
	struct admin *a = arg;
	struct buf text;

	buf_init(&text);
	a->source.metrics(a->source.arg, &text);
	if (text.failed)
		reply(req, 500, "Internal Server Error", "text/plain", SLICE_LIT("out of memory\n"));
	else
		reply(req, 200, "OK", "text/plain; version=0.0.4; charset=utf-8", buf_slice(&text));
	buf_release(&text);
}

static void on_healthz(struct evhttp_request *req, void *arg)
{
	(void)arg;
	reply(req, 200, "OK", "text/plain", SLICE_LIT("ok\n"));
}

static void on_readyz(struct evhttp_request *req, void *arg)
{
	struct admin *a = arg;
	const char *why = NULL;

	if (a->source.ready(a->source.arg, &why))
		reply(req, 200, "OK", "text/plain", SLICE_LIT("ready\n"));
	else
		reply(req, 503, "Service Unavailable", "text/plain", slice_str(why != NULL ? why : "not ready"));
}

/* A POST, which may change something: but not a web page's, which a browser would send here from anywhere. */
static bool is_post(struct evhttp_request *req)
{
	return evhttp_request_get_command(req) == EVHTTP_REQ_POST
		&& evhttp_find_header(evhttp_request_get_input_headers(req), "Origin") == NULL;
}

/* Seconds, with up to three decimals; up to a hundred years. */
static bool parse_seconds(const char *s, uint64_t *ms)
{
	static const double max_s = 100.0 * 366 * 86400;
	char *end;
	double v;

	if (s == NULL || *s < '0' || *s > '9')
		return false;
	v = strtod(s, &end);
	*ms = *end == '\0' && v <= max_s ? (uint64_t)(v * 1000 + 0.5) : 0;
	return *end == '\0' && v <= max_s;
}

/* ---- moving the clock: one after the other, on a thread that may wait ---- */

struct advance {
	struct offload_job job;
	struct admin *admin;
	struct evhttp_request *req;
	uint64_t ms;
};

static void advance_run(struct offload_job *j)
{
	struct advance *v = (struct advance *)(void *)j;

	v->admin->source.advance(v->admin->source.arg, v->ms);
}

/* If the client has left, evhttp frees the request now. */
static void advance_done(struct mail *m)
{
	struct advance *v = (struct advance *)(void *)m;

	reply(v->req, 200, "OK", "text/plain", SLICE_LIT("ok\n"));
	free(v);
}

static void advance(struct admin *a, struct evhttp_request *req, uint64_t ms)
{
	struct advance *v = malloc(sizeof(*v));

	if (v == NULL) {
		reply(req, 500, "Internal Server Error", "text/plain", SLICE_LIT("out of memory\n"));
		return;
	}
	*v = (struct advance){ { { NULL, advance_done }, &a->mailbox, advance_run, NULL }, a, req, ms };
	offload_put(a->thread, &v->job);
}

static void on_clock(struct evhttp_request *req, void *arg)
{
	struct admin *a = arg;
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req));
	struct evkeyvalq args = { NULL, NULL };
	uint64_t ms = 0;
	bool ok = a->source.advance != NULL && is_post(req) && query != NULL &&
		  evhttp_parse_query_str(query, &args) == 0 && parse_seconds(evhttp_find_header(&args, "advance"), &ms);

	evhttp_clear_headers(&args);
	if (a->source.advance == NULL) {
		reply(req, 404, "Not Found", "text/plain", SLICE_LIT("the clock runs by itself: start with --test-clock\n"));
	} else if (!ok) {
		reply(req, 400, "Bad Request", "text/plain", SLICE_LIT("expected is: POST /clock?advance=SECONDS\n"));
	} else {
		advance(a, req, ms);
	}
}

/* A number of a query; false if there is something else. An absent one is `otherwise`. */
static bool query_number(const struct evkeyvalq *args, const char *name, int64_t otherwise, int64_t *v)
{
	const char *s = evhttp_find_header(args, name);
	char *end;

	*v = otherwise;
	if (s == NULL)
		return true;
	*v = strtoll(s, &end, 10);
	return *s >= '0' && *s <= '9' && *end == '\0';
}

/* GET tells it, POST sets and tells it. */
static void on_index_delay(struct evhttp_request *req, void *arg)
{
	struct admin *a = arg;
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req));
	struct evkeyvalq args = { NULL, NULL };
	bool ok = query == NULL;
	struct buf text;
	int64_t ms;

	if (is_post(req)) {
		ok = query != NULL && evhttp_parse_query_str(query, &args) == 0 && query_number(&args, "ms", -1, &ms) && ms >= 0
			&& ms <= UINT32_MAX;
		if (ok)
			a->source.set_index_delay(a->source.arg, (uint32_t)ms);
		evhttp_clear_headers(&args);
	}
	buf_init(&text);
	buf_printf(&text, "%" PRIu32 "\n", a->source.index_delay(a->source.arg));
	if (ok)
		reply(req, 200, "OK", "text/plain", buf_slice(&text));
	else
		reply(req, 400, "Bad Request", "text/plain", SLICE_LIT("expected is: GET /index-delay, POST /index-delay?ms=N\n"));
	buf_release(&text);
}

static void on_partitions(struct evhttp_request *req, void *arg)
{
	struct admin *a = arg;
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req)), *table = NULL;
	struct evkeyvalq args = { NULL, NULL };
	struct buf text;

	buf_init(&text);
	if (query != NULL && evhttp_parse_query_str(query, &args) == 0)
		table = evhttp_find_header(&args, "table");
	if (table == NULL)
		reply(req, 400, "Bad Request", "text/plain", SLICE_LIT("expected is: GET /partitions?table=NAME\n"));
	else if (!a->source.partitions(a->source.arg, slice_str(table), &text))
		reply(req, 404, "Not Found", "text/plain", SLICE_LIT("there is no such table\n"));
	else if (text.failed)
		reply(req, 500, "Internal Server Error", "text/plain", SLICE_LIT("out of memory\n"));
	else
		reply(req, 200, "OK", "application/json", buf_slice(&text));
	evhttp_clear_headers(&args);
	buf_release(&text);
}

/* use=read|write, and min, max, or off; index, target, in, out. */
static bool parse_autoscale(const struct evkeyvalq *args, struct store_autoscale *a)
{
	const char *use = evhttp_find_header(args, "use"), *index = evhttp_find_header(args, "index");
	bool ok, off = evhttp_find_header(args, "off") != NULL;
	int64_t target, in, out;

	*a = (struct store_autoscale){ .index = index != NULL ? slice_str(index) : SLICE_NONE };
	if (use == NULL || (strcmp(use, "read") != 0 && strcmp(use, "write") != 0))
		return false;
	a->write = *use == 'w';
	if (off)
		return evhttp_find_header(args, "max") == NULL;
	ok = query_number(args, "min", 0, &a->min) && query_number(args, "max", 0, &a->max)
		&& query_number(args, "target", TARGET_USUAL, &target) && query_number(args, "in", 0, &in)
		&& query_number(args, "out", 0, &out) && a->max != 0;

	ok = ok && target <= UINT32_MAX && in <= UINT32_MAX && out <= UINT32_MAX;
	if (ok) {
		a->target = (unsigned)target;
		a->in_cooldown_s = (unsigned)in;
		a->out_cooldown_s = (unsigned)out;
	}
	return ok;
}

static void on_autoscaling(struct evhttp_request *req, void *arg)
{
	struct admin *a = arg;
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req)), *table = NULL;
	bool ok, post = is_post(req);
	struct evkeyvalq args = { NULL, NULL };
	struct store_autoscale set;
	enum err rc = ERR_OK;
	struct buf text;

	buf_init(&text);
	if (query != NULL && evhttp_parse_query_str(query, &args) == 0)
		table = evhttp_find_header(&args, "table");
	ok = table != NULL && (!post || parse_autoscale(&args, &set));
	if (ok)
		rc = a->source.autoscaling(a->source.arg, slice_str(table), post ? &set : NULL, &text);
	if (!ok)
		reply(req, 400, "Bad Request", "text/plain", SLICE_LIT("expected is: GET /autoscaling?table=NAME,"
			" or POST /autoscaling?table=NAME"
			"[&index=NAME]&use=read|write&min=N&max=N[&target=PERCENT][&in=SECONDS][&out=SECONDS], or &off=1\n"));
	else if (text.failed)
		reply(req, 500, "Internal Server Error", "text/plain", SLICE_LIT("out of memory\n"));
	else if (rc != ERR_OK)
		reply(req, rc == ERR_RESOURCE_NOT_FOUND ? 404 : 400, "Refused", "text/plain", buf_slice(&text));
	else
		reply(req, 200, "OK", "application/json", buf_slice(&text));
	evhttp_clear_headers(&args);
	buf_release(&text);
}

static void on_other(struct evhttp_request *req, void *arg)
{
	(void)arg;
	reply(req, 404, "Not Found", "text/plain",
		SLICE_LIT("/metrics /healthz /readyz /partitions /autoscaling /index-delay /clock\n"));
}

static void on_mail(evutil_socket_t fd, short what, void *arg)
{
	struct admin *a = arg;

	(void)fd;
	(void)what;
	mailbox_deliver(&a->mailbox);
}

static bool make(struct admin *a, struct event_base *base)
{
	a->thread = offload_new("admin", 1);
	a->http = evhttp_new(base);
	if (a->thread == NULL || a->http == NULL || !mailbox_init(&a->mailbox))
		return false;
	a->mail_event = event_new(base, a->mailbox.fd, EV_READ | EV_PERSIST, on_mail, a);
	return a->mail_event != NULL && event_add(a->mail_event, NULL) == 0;
}

struct admin *admin_new(struct event_base *base, int fd, const struct admin_source *source)
{
	struct admin *a = calloc(1, sizeof(*a));

	if (a != NULL) {
		a->source = *source;
		a->mailbox.fd = -1;
	}
	if (a == NULL || !make(a, base) || evhttp_accept_socket(a->http, fd) != 0) {
		close(fd);
		admin_free(&a);
		return NULL;
	}
	evhttp_set_max_headers_size(a->http, HEAD_MAX);
	evhttp_set_max_body_size(a->http, BODY_MAX);
	evhttp_set_timeout(a->http, TIMEOUT_S);
	evhttp_set_allowed_methods(a->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
	evhttp_set_cb(a->http, "/metrics", on_metrics, a);
	evhttp_set_cb(a->http, "/healthz", on_healthz, a);
	evhttp_set_cb(a->http, "/readyz", on_readyz, a);
	evhttp_set_cb(a->http, "/partitions", on_partitions, a);
	evhttp_set_cb(a->http, "/autoscaling", on_autoscaling, a);
	evhttp_set_cb(a->http, "/index-delay", on_index_delay, a);
	evhttp_set_cb(a->http, "/clock", on_clock, a);
	evhttp_set_gencb(a->http, on_other, a);
	return a;
}

/* What has been put on the thread is answered: evhttp must not free a request that somebody holds. */
void admin_free(struct admin **ap)
{
	struct admin *a = *ap;

	if (a == NULL)
		return;
	offload_free(&a->thread);
	if (a->mail_event != NULL) {
		mailbox_deliver(&a->mailbox);
		event_free(a->mail_event);
	}
	mailbox_release(&a->mailbox);
	if (a->http != NULL)
		evhttp_free(a->http);
	free(a);
	*ap = NULL;
}
