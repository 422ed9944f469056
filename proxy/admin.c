#include "proxy/admin.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_MAX = 8192, BODY_MAX = 4096, TIMEOUT_S = 10 };

struct admin {
	struct evhttp *http;
	struct admin_source source;
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

static void on_clock(struct evhttp_request *req, void *arg)
{
	struct admin *a = arg;
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req));
	struct evkeyvalq args = { NULL, NULL };
	uint64_t ms = 0;
	bool ok = a->source.advance != NULL && evhttp_request_get_command(req) == EVHTTP_REQ_POST && query != NULL &&
		  evhttp_parse_query_str(query, &args) == 0 && parse_seconds(evhttp_find_header(&args, "advance"), &ms);

	evhttp_clear_headers(&args);
	if (a->source.advance == NULL) {
		reply(req, 404, "Not Found", "text/plain", SLICE_LIT("the clock runs by itself: start with --test-clock\n"));
	} else if (!ok) {
		reply(req, 400, "Bad Request", "text/plain", SLICE_LIT("POST /clock?advance=SECONDS\n"));
	} else {
		a->source.advance(a->source.arg, ms);
		reply(req, 200, "OK", "text/plain", SLICE_LIT("ok\n"));
	}
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
		reply(req, 400, "Bad Request", "text/plain", SLICE_LIT("GET /partitions?table=NAME\n"));
	else if (!a->source.partitions(a->source.arg, slice_str(table), &text))
		reply(req, 404, "Not Found", "text/plain", SLICE_LIT("there is no such table\n"));
	else if (text.failed)
		reply(req, 500, "Internal Server Error", "text/plain", SLICE_LIT("out of memory\n"));
	else
		reply(req, 200, "OK", "application/json", buf_slice(&text));
	evhttp_clear_headers(&args);
	buf_release(&text);
}

static void on_other(struct evhttp_request *req, void *arg)
{
	(void)arg;
	reply(req, 404, "Not Found", "text/plain", SLICE_LIT("/metrics /healthz /readyz /partitions /clock\n"));
}

struct admin *admin_new(struct event_base *base, int fd, const struct admin_source *source)
{
	struct admin *a = calloc(1, sizeof(*a));

	if (a == NULL || (a->source = *source, a->http = evhttp_new(base)) == NULL ||
	    evhttp_accept_socket(a->http, fd) != 0) {
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
	evhttp_set_cb(a->http, "/clock", on_clock, a);
	evhttp_set_gencb(a->http, on_other, a);
	return a;
}

void admin_free(struct admin **a)
{
	if (*a == NULL)
		return;
	if ((*a)->http != NULL)
		evhttp_free((*a)->http);
	free(*a);
	*a = NULL;
}
