#include "proxy/admin.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <stdlib.h>
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

static void on_other(struct evhttp_request *req, void *arg)
{
	(void)arg;
	reply(req, 404, "Not Found", "text/plain", SLICE_LIT("/metrics /healthz /readyz\n"));
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
	evhttp_set_allowed_methods(a->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
	evhttp_set_cb(a->http, "/metrics", on_metrics, a);
	evhttp_set_cb(a->http, "/healthz", on_healthz, a);
	evhttp_set_cb(a->http, "/readyz", on_readyz, a);
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
