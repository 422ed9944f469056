/* The asynchronous client: every callback once, from the loop, whatever happens to the connection. */
#include "protocol/client/dynax.h"
#include "tests/unit/client/fake.h"

#include <criterion/criterion.h>
#include <event2/event.h>

enum { MANY = 1000 };

static struct fake fake = { .serve = fake_serve_all };
static struct event_base *base;
static struct dynax_async *db;

struct seen {
	unsigned calls, right;
	enum dynax_code code;
};

static void start(const struct dynax_opts *opts)
{
	fake_start(&fake);
	base = event_base_new();
	db = dynax_async_new(base, fake.endpoint, opts);
}

static void teardown(void)
{
	dynax_async_free(&db);
	if (base != NULL)
		event_base_free(base);
}

TestSuite(async, .fini = teardown, .timeout = 30);

static void on_done(struct dynax_result *r, void *arg)
{
	struct seen *s = arg;

	s->calls++;
	s->code = dynax_result_code(r);
	s->right += dynax_ok(r);
	dynax_result_free(&r);
}

static void run_get(struct dynax_async *a, int64_t pk, dynax_done done, void *arg)
{
	struct dynax_request *req = dynax_request_new("GetItem", "t");
	struct dynax_item *key = dynax_item_new();

	dynax_item_set_int(key, "pk", pk);
	dynax_request_set_item(req, "Key", key);
	cr_assert(dynax_async_run(a, req, done, arg));
	dynax_item_free(&key);
	dynax_request_free(&req);
}

static void run_put(struct dynax_async *a, dynax_done done, void *arg)
{
	struct dynax_request *req = dynax_request_new("PutItem", "t");
	struct dynax_item *item = dynax_item_of("pk", "x", NULL);

	dynax_request_set_item(req, "Item", item);
	cr_assert(dynax_async_run(a, req, done, arg));
	dynax_item_free(&item);
	dynax_request_free(&req);
}

/* Loop until nothing is pending. */
static void loop(void)
{
	while (dynax_async_pending(db) > 0)
		event_base_loop(base, EVLOOP_ONCE);
}

static unsigned own[MANY];

static void check_own(struct dynax_result *r, void *arg)
{
	unsigned *calls = arg;

	cr_assert(dynax_ok(r), "%s", dynax_result_message(r));
	cr_assert_eq(dynax_int(dynax_result_item(r), "pk", -1), calls - own);
	++*calls;
	dynax_result_free(&r);
}

Test(async, many_requests_each_its_own_answer)
{
	start(NULL);
	for (int i = 0; i < MANY; i++)
		run_get(db, i, check_own, &own[i]);
	cr_assert_eq(dynax_async_pending(db), (size_t)MANY);
	loop();
	for (int i = 0; i < MANY; i++)
		cr_assert_eq(own[i], 1u);
	cr_assert_eq(fake.connections, 1u);
}

struct chain {
	unsigned left;
	bool inside;
};

static void next_in_chain(struct dynax_result *r, void *arg)
{
	struct chain *c = arg;

	cr_assert(dynax_ok(r));
	cr_assert_not(c->inside, "called from within dynax_async_run");
	dynax_result_free(&r);
	if (c->left-- > 0) {
		c->inside = true;
		run_get(db, 1, next_in_chain, c);
		c->inside = false;
	}
}

Test(async, callbacks_may_run_requests)
{
	struct chain c = { 200, false };

	start(NULL);
	run_get(db, 1, next_in_chain, &c);
	loop();
	cr_assert_eq(c.left, UINT32_MAX);
	cr_assert_eq(fake.requests, 201u);
}

static bool dies_now_and_then(struct fake_conn *c, const struct frame *fr)
{
	if (c->seen == 50)
		return false;
	fake_answer(c, fr);
	return true;
}

Test(async, reads_survive_connections_that_end)
{
	struct dynax_opts opts = { .backoff_ms = 1, .backoff_max_ms = 4, .attempts = 100, .timeout_ms = 20000 };
	struct seen s = { 0 };

	fake.serve = dies_now_and_then;
	start(&opts);
	for (int i = 0; i < MANY; i++)
		run_get(db, i, on_done, &s);
	loop();
	cr_assert_eq(s.calls, (unsigned)MANY);
	cr_assert_eq(s.right, (unsigned)MANY);
	cr_assert_gt(fake.connections, 10u);
}

static bool dies_at_once(struct fake_conn *c, const struct frame *fr)
{
	(void)c;
	(void)fr;
	return false;
}

Test(async, a_write_of_unknown_outcome_ends)
{
	struct seen s = { 0 };

	fake.serve = dies_at_once;
	start(NULL);
	run_put(db, on_done, &s);
	loop();
	cr_assert_eq(s.calls, 1u);
	cr_assert_eq(s.code, DYNAX_E_NETWORK);
	cr_assert_eq(fake.requests, 1u);
}

static bool never(struct fake_conn *c, const struct frame *fr)
{
	(void)c;
	(void)fr;
	return true;
}

Test(async, deadlines)
{
	struct dynax_opts opts = { .timeout_ms = 100 };
	struct seen s = { 0 };

	fake.serve = never;
	start(&opts);
	run_get(db, 1, on_done, &s);
	run_put(db, on_done, &s);
	loop();
	cr_assert_eq(s.calls, 2u);
	cr_assert_eq(s.code, DYNAX_E_DEADLINE);
}

Test(async, nobody_listens)
{
	struct dynax_opts opts = { .backoff_ms = 1, .attempts = 3 };
	struct seen s = { 0 };

	base = event_base_new();
	db = dynax_async_new(base, "127.0.0.1:1", &opts);
	run_get(db, 1, on_done, &s);
	run_put(db, on_done, &s);
	loop();
	cr_assert_eq(s.calls, 2u);
	cr_assert_eq(s.code, DYNAX_E_NETWORK);
}

Test(async, a_server_that_does_not_greet)
{
	struct dynax_opts opts = { .connect_timeout_ms = 50, .backoff_ms = 1, .attempts = 2 };
	struct seen s = { 0 };

	fake.silent = true;
	start(&opts);
	run_get(db, 1, on_done, &s);
	loop();
	cr_assert_eq(s.code, DYNAX_E_NETWORK);
	cr_assert_eq(fake.connections, 2u);
}

Test(async, mistakes_come_through_the_callback)
{
	struct dynax_request *req = dynax_request_new("NoSuchThing", NULL);
	struct seen s = { 0 };

	start(NULL);
	cr_assert(dynax_async_run(db, req, on_done, &s));
	cr_assert_eq(s.calls, 0u);
	loop();
	cr_assert_eq(s.calls, 1u);
	cr_assert_eq(s.code, DYNAX_E_USAGE);
	dynax_request_free(&req);
	dynax_async_free(&db);
	db = dynax_async_new(base, "not an endpoint:", NULL);
	run_get(db, 1, on_done, &s);
	loop();
	cr_assert_eq(s.calls, 2u);
	cr_assert_eq(s.code, DYNAX_E_USAGE);
}

static void run_again(struct dynax_result *r, void *arg)
{
	struct dynax_request *req = dynax_request_new("ListTables", NULL);

	on_done(r, arg);
	cr_assert_not(dynax_async_run(db, req, run_again, arg), "a client that is being freed takes nothing");
	dynax_request_free(&req);
}

Test(async, freeing_ends_what_is_under_way)
{
	struct seen s = { 0 };

	fake.serve = never;
	start(NULL);
	for (int i = 0; i < 10; i++)
		run_get(db, i, run_again, &s);
	while (atomic_load(&fake.requests) == 0)
		event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	run_get(db, 11, run_again, &s);
	dynax_async_free(&db);
	cr_assert_null(db);
	cr_assert_eq(s.calls, 11u);
	cr_assert_eq(s.code, DYNAX_E_NETWORK);
}

static bool throttles_twice(struct fake_conn *c, const struct frame *fr)
{
	if (atomic_load(&c->fake->requests) <= 2)
		fake_error(c, fr, ERR_THROTTLING, "slow down", SLICE_NONE);
	else
		fake_answer(c, fr);
	return true;
}

Test(async, throttled_requests_are_tried_again)
{
	struct seen s = { 0 };

	fake.serve = throttles_twice;
	start(NULL);
	run_put(db, on_done, &s);
	loop();
	cr_assert_eq(s.right, 1u);
	cr_assert_eq(fake.requests, 3u);
}
