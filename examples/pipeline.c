/* Many writes at a time, with the asynchronous client:
 *    cc pipeline.c $(pkg-config --cflags --libs dynax) -levent_core && ./a.out */
#include <dynax.h>
#include <event2/event.h>
#include <stdio.h>

enum { ITEMS = 10000, IN_FLIGHT = 64 };

struct load {
	struct dynax_async *db;
	int next, written, failed;
};

static void send_more(struct load *l);

static void on_written(struct dynax_result *r, void *arg)
{
	struct load *l = arg;

	if (dynax_ok(r))
		l->written++;
	else if (l->failed++ == 0)
		fprintf(stderr, "%s: %s\n", dynax_result_type(r), dynax_result_message(r));
	dynax_result_free(&r);
	send_more(l);
}

/* Keep IN_FLIGHT requests on their way. */
static void send_more(struct load *l)
{
	while (l->next < ITEMS && dynax_async_pending(l->db) < IN_FLIGHT) {
		struct dynax_request *req = dynax_request_new("PutItem", "pipeline");
		struct dynax_item *item = dynax_item_new();

		dynax_item_set_int(item, "id", l->next++);
		dynax_request_set_item(req, "Item", item);
		/* A write whose outcome is unknown fails: dynax_request_allow_resend(req, true) would send it again. */
		dynax_request_set_str(req, "ConditionExpression", "attribute_not_exists(id)");
		if (!dynax_async_run(l->db, req, on_written, l))
			l->failed++;
		dynax_item_free(&item);
		dynax_request_free(&req);
	}
}

int main(void)
{
	struct event_base *base = event_base_new();
	/* Many attempts: a restart of the server only delays what it has not received yet. */
	struct dynax_opts opts = { .attempts = 100 };
	struct load l = { .db = dynax_async_new(base, "127.0.0.1:8111", &opts) };
	struct dynax_client *setup = dynax_open("127.0.0.1:8111", NULL);
	struct dynax_result *r = dynax_create_table(setup, "pipeline", "id:N", NULL);

	if (!dynax_ok(r) && dynax_result_code(r) != DYNAX_E_RESOURCE_IN_USE)
		fprintf(stderr, "%s: %s\n", dynax_result_type(r), dynax_result_message(r));
	dynax_result_free(&r);
	dynax_close(&setup);

	send_more(&l);
	while (dynax_async_pending(l.db) > 0)
		event_base_loop(base, EVLOOP_ONCE);
	printf("%d written, %d failed\n", l.written, l.failed);
	dynax_async_free(&l.db);
	event_base_free(base);
	return l.failed != 0;
}
