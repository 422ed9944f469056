/* The blocking client against a server that behaves, and against ones that do not. */
#include "protocol/client/dynax.h"
#include "protocol/json.h"
#include "protocol/value.h"
#include "tests/unit/client/fake.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 500, THREADS = 50, READS = 100 };

static struct fake fake = { .serve = fake_serve_all };
static struct dynax_client *db;
static struct dynax_item *key;

static void start(const struct dynax_opts *opts)
{
	fake_start(&fake);
	db = dynax_open(fake.endpoint, opts);
	key = dynax_item_of("pk", "a", NULL);
}

static void teardown(void)
{
	dynax_close(&db);
	dynax_item_free(&key);
}

TestSuite(client, .fini = teardown, .timeout = 30);

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void expect(struct dynax_result *r, enum dynax_code code)
{
	cr_assert_eq(dynax_result_code(r), code, "%s: %s", dynax_result_type(r), dynax_result_message(r));
	dynax_result_free(&r);
}

Test(client, gets_an_item)
{
	struct dynax_result *r;

	start(NULL);
	r = dynax_get_item(db, "t", key);
	cr_assert(dynax_ok(r), "%s", dynax_result_message(r));
	cr_assert_str_eq(dynax_str(dynax_result_item(r), "pk", ""), "a");
	cr_assert_eq(dynax_result_source(r), DYNAX_SOURCE_HIT);
	cr_assert_str_eq(dynax_result_json(r), "{\"Item\":{\"pk\":{\"S\":\"a\"}}}");
	cr_assert_str_eq(dynax_result_type(r), "OK");
	dynax_result_free(&r);
	expect(dynax_ping(db), DYNAX_OK);
	cr_assert_eq(fake.connections, 1u);
}

static bool echo_in_reverse(struct fake_conn *c, const struct frame *fr)
{
	static struct frame held[MANY];
	static unsigned n;

	held[n] = *fr;
	held[n].body = slice_of(malloc(fr->body.n), fr->body.n);
	memcpy((uint8_t *)(uintptr_t)held[n++].body.p, fr->body.p, fr->body.n);
	while (n == MANY || (n > 0 && n < MANY && c->seen == MANY)) {
		fake_answer(c, &held[--n]);
		free((void *)(uintptr_t)held[n].body.p);
	}
	return true;
}

/* MANY reads of different keys at once; each must get its own. */
static void run_many_keys(void)
{
	struct dynax_request *req[MANY];
	struct dynax_result *r[MANY];

	for (int i = 0; i < MANY; i++) {
		struct dynax_item *k = dynax_item_new();

		dynax_item_set_int(k, "pk", i);
		req[i] = dynax_request_new("GetItem", "t");
		dynax_request_set_item(req[i], "Key", k);
		dynax_item_free(&k);
	}
	dynax_run_many(db, (const struct dynax_request *const *)req, MANY, r);
	for (int i = 0; i < MANY; i++) {
		cr_assert(dynax_ok(r[i]), "%d: %s", i, dynax_result_message(r[i]));
		cr_assert_eq(dynax_int(dynax_result_item(r[i]), "pk", -1), i);
		dynax_result_free(&r[i]);
		dynax_request_free(&req[i]);
	}
}

Test(client, answers_out_of_order_are_matched_by_id)
{
	fake.serve = echo_in_reverse;
	start(NULL);
	run_many_keys();
	cr_assert_eq(fake.connections, 1u);
}

Test(client, answers_in_single_bytes)
{
	fake.one_byte = true;
	start(NULL);
	run_many_keys();
}

static bool never(struct fake_conn *c, const struct frame *fr)
{
	(void)c;
	(void)fr;
	return true;
}

Test(client, a_request_ends_at_its_deadline)
{
	struct dynax_opts opts = { .timeout_ms = 200 };
	struct dynax_request *req;
	struct dynax_result *r;
	double t;

	fake.serve = never;
	start(&opts);
	t = seconds();
	r = dynax_get_item(db, "t", key);
	t = seconds() - t;
	cr_assert_eq(dynax_result_code(r), DYNAX_E_DEADLINE);
	cr_assert(dynax_result_retryable(r));
	cr_assert(t >= 0.19 && t < 1.5, "%f s", t);
	dynax_result_free(&r);
	req = dynax_request_new("GetItem", "t");
	dynax_request_set_item(req, "Key", key);
	dynax_request_set_timeout(req, 50);
	t = seconds();
	expect(dynax_run(db, req), DYNAX_E_DEADLINE);
	cr_assert_lt(seconds() - t, 0.19);
	dynax_request_free(&req);
}

Test(client, one_late_answer_does_not_hold_the_others)
{
	struct dynax_opts opts = { .timeout_ms = 2000 };
	struct dynax_request *req[2];
	struct dynax_result *r[2];

	start(&opts);
	fake.serve = never;
	req[0] = dynax_request_new("GetItem", "t");
	dynax_request_set_item(req[0], "Key", key);
	dynax_request_set_timeout(req[0], 50);
	req[1] = dynax_request_new("GetItem", "t");
	dynax_request_set_item(req[1], "Key", key);
	dynax_request_set_timeout(req[1], 300);
	dynax_run_many(db, (const struct dynax_request *const *)req, 2, r);
	expect(r[0], DYNAX_E_DEADLINE);
	expect(r[1], DYNAX_E_DEADLINE);
	fake.serve = fake_serve_all;
	expect(dynax_get_item(db, "t", key), DYNAX_OK);
	cr_assert_eq(fake.connections, 1u, "late requests are forgotten, the connection stays");
	dynax_request_free(&req[0]);
	dynax_request_free(&req[1]);
}

Test(client, a_server_that_does_not_greet)
{
	struct dynax_opts opts = { .connect_timeout_ms = 100, .attempts = 2 };
	double t;

	fake.silent = true;
	start(&opts);
	t = seconds();
	expect(dynax_get_item(db, "t", key), DYNAX_E_NETWORK);
	cr_assert_lt(seconds() - t, 2.0);
	cr_assert_eq(fake.connections, 2u);
}

Test(client, nobody_listens)
{
	struct dynax_result *r;
	double t = seconds();

	db = dynax_open("127.0.0.1:1", NULL);
	r = dynax_ping(db);
	cr_assert_eq(dynax_result_code(r), DYNAX_E_NETWORK);
	cr_assert(dynax_result_retryable(r));
	cr_assert_str_eq(dynax_result_type(r), "NetworkError");
	cr_assert_str_eq(dynax_result_message(r), "127.0.0.1:1: connect: Connection refused");
	cr_assert_lt(seconds() - t, 2.0);
	dynax_result_free(&r);
}

Test(client, another_version_is_refused)
{
	fake.version = 9;
	start(NULL);
	expect(dynax_ping(db), DYNAX_E_FRAME);
}

Test(client, a_bad_endpoint_is_told_by_the_request)
{
	static const char *const bad[] = { "", ":1", "h:", "h:x", "h:0", "h:65536", "[::1", "[::1]x", "h:1:2" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct dynax_client *c = dynax_open(bad[i], NULL);
		struct dynax_result *r = dynax_ping(c);

		cr_assert_eq(dynax_result_code(r), DYNAX_E_USAGE, "'%s': %s", bad[i], dynax_result_message(r));
		dynax_result_free(&r);
		dynax_close(&c);
	}
}

/* The first connection dies under its first request. */
static bool first_dies(struct fake_conn *c, const struct frame *fr)
{
	if (c->number == 1)
		return false;
	fake_answer(c, fr);
	return true;
}

Test(client, a_read_is_tried_again_on_a_new_connection)
{
	fake.serve = first_dies;
	start(NULL);
	expect(dynax_get_item(db, "t", key), DYNAX_OK);
	cr_assert_eq(fake.connections, 2u);
}

Test(client, a_write_of_unknown_outcome_is_not_sent_again)
{
	struct dynax_result *r;

	fake.serve = first_dies;
	start(NULL);
	r = dynax_put_item(db, "t", key);
	cr_assert_eq(dynax_result_code(r), DYNAX_E_NETWORK);
	cr_assert(dynax_result_retryable(r));
	dynax_result_free(&r);
	cr_assert_eq(fake.requests, 1u);
}

/* The first connection's server shuts down, without having carried out its request. */
static bool first_takes_leave(struct fake_conn *c, const struct frame *fr)
{
	struct fault f = { .code = ERR_UNAVAILABLE, .text = "bye" };

	if (c->number != 1)
		return fake_serve_all(c, fr);
	frame_put_error(&c->out, 0, &f);
	return false;
}

Test(client, a_write_that_a_server_on_its_way_out_has_not_taken_is_sent_again)
{
	fake.serve = first_takes_leave;
	start(NULL);
	expect(dynax_put_item(db, "t", key), DYNAX_OK);
	cr_assert_eq(fake.requests, 2u);
}

Test(client, a_write_is_sent_again_if_that_is_allowed)
{
	struct dynax_request *req = dynax_request_new("PutItem", "t");

	fake.serve = first_dies;
	start(NULL);
	dynax_request_set_item(req, "Item", key);
	dynax_request_allow_resend(req, true);
	expect(dynax_run(db, req), DYNAX_OK);
	cr_assert_eq(fake.requests, 2u);
	dynax_request_free(&req);
}

/* Closes a connection when it has answered once. */
static bool answers_once(struct fake_conn *c, const struct frame *fr)
{
	fake_answer(c, fr);
	return false;
}

Test(client, a_connection_that_ended_while_it_rested_is_replaced)
{
	fake.serve = answers_once;
	start(NULL);
	expect(dynax_put_item(db, "t", key), DYNAX_OK);
	usleep(700000);
	expect(dynax_put_item(db, "t", key), DYNAX_OK);
	cr_assert_eq(fake.requests, 2u);
}

static bool throttles_twice(struct fake_conn *c, const struct frame *fr)
{
	if (atomic_load(&c->fake->requests) <= 2)
		fake_error(c, fr, ERR_THROUGHPUT_EXCEEDED, "slow down", SLICE_NONE);
	else
		fake_answer(c, fr);
	return true;
}

Test(client, throttled_writes_are_tried_again)
{
	fake.serve = throttles_twice;
	start(NULL);
	expect(dynax_put_item(db, "t", key), DYNAX_OK);
	cr_assert_eq(fake.requests, 3u);
	cr_assert_eq(fake.connections, 1u);
}

Test(client, attempts_are_bounded)
{
	struct dynax_opts opts = { .attempts = 2 };

	fake.serve = throttles_twice;
	start(&opts);
	expect(dynax_put_item(db, "t", key), DYNAX_E_THROUGHPUT_EXCEEDED);
	cr_assert_eq(fake.requests, 2u);
}

static bool refuses_with_item(struct fake_conn *c, const struct frame *fr)
{
	struct record in;
	struct buf b;
	unsigned n = 0;
	size_t at;

	buf_init(&b);
	if (!record_open(&in, &shape_PutItemInput, fr->body))
		abort();
	at = record_begin(&b);
	record_key(&b, &n, ConditionalCheckFailedException_Item);
	buf_put_slice(&b, in.m[PutItemInput_Item]);
	record_end(&b, at, n);
	fake_error(c, fr, ERR_CONDITION_FAILED, "The conditional request failed", buf_slice(&b));
	buf_release(&b);
	return true;
}

Test(client, errors_are_typed_and_carry_the_item)
{
	struct dynax_result *r;

	fake.serve = refuses_with_item;
	start(NULL);
	r = dynax_put_item(db, "t", key);
	cr_assert_eq(dynax_result_code(r), DYNAX_E_CONDITION_FAILED);
	cr_assert_str_eq(dynax_result_type(r), "ConditionalCheckFailedException");
	cr_assert_str_eq(dynax_result_message(r), "The conditional request failed");
	cr_assert_not(dynax_result_retryable(r));
	cr_assert_str_eq(dynax_str(dynax_result_item(r), "pk", ""), "a");
	dynax_result_free(&r);
}

/* The answer, or the error's further members, that a test wants: JSON of a shape. */
static struct { enum err code; const struct shape *shape; const char *json; } wanted;

static bool serves_wanted(struct fake_conn *c, const struct frame *fr)
{
	struct json_reader *reader = json_reader_new();
	struct arena a;
	struct fault f;
	struct buf b;

	buf_init(&b);
	arena_init(&a, 256);
	fault_init(&f, &a);
	if (json_read(reader, wanted.shape, slice_str(wanted.json), &a, &b, &f) != ERR_OK)
		abort();
	if (wanted.code != ERR_OK) {
		fake_error(c, fr, wanted.code, "refused", buf_slice(&b));
	} else {
		size_t at = frame_begin(&c->out, FRAME_ANSWER, 0, fr->id);

		buf_put_slice(&c->out, buf_slice(&b));
		frame_end(&c->out, at);
	}
	buf_release(&b);
	arena_release(&a);
	json_reader_free(&reader);
	return true;
}

static struct dynax_result *answered(const char *op, enum err code, const struct shape *shape, const char *json)
{
	wanted.code = code;
	wanted.shape = shape;
	wanted.json = json;
	return dynax_call(db, op, "{}");
}

Test(client, parts_of_an_answer_are_read_by_path)
{
	struct dynax_result *r;

	fake.serve = serves_wanted;
	start(NULL);
	r = answered("TransactGetItems", ERR_OK, &shape_TransactGetItemsOutput,
		"{\"Responses\":[{},{\"Item\":{\"pk\":{\"S\":\"a\"}}}],\"ConsumedCapacity\":[{\"TableName\":\"t\",\"CapacityUnits\":2.5}]}");
	cr_assert(dynax_ok(r), "%s", dynax_result_message(r));
	cr_assert_eq(dynax_result_count(r, "Responses"), 2u);
	cr_assert_str_eq(dynax_str(dynax_result_value(r, "Responses[1].Item"), "pk", ""), "a");
	cr_assert_eq(dynax_result_double(r, "ConsumedCapacity[0].CapacityUnits", 0), 2.5);
	cr_assert_str_eq(dynax_result_str(r, "ConsumedCapacity[0].TableName", ""), "t");
	static const char *const none[] = { "", "Responses[0].Item", "Responses[2].Item", "Responses[1]", "Responses.Item", "Responses[x]",
		"Responses[", "Responses[1].Item.pk", "Item", "[0]", ".", "Responses[1].", "Responses[18446744073709551617].Item" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		cr_assert_eq(dynax_type(dynax_result_value(r, none[i])), DYNAX_TYPE_ABSENT, "%s", none[i]);
	cr_assert_eq(dynax_type(dynax_result_items(r, NULL)), DYNAX_TYPE_ABSENT);
	cr_assert_eq(dynax_result_int(r, "ConsumedCapacity[0].CapacityUnits", -1), -1);
	dynax_result_free(&r);

	r = answered("DescribeTable", ERR_OK, &shape_DescribeTableOutput, "{\"Table\":{\"TableStatus\":\"ACTIVE\",\"ItemCount\":7}}");
	cr_assert_str_eq(dynax_result_str(r, "Table.TableStatus", ""), "ACTIVE");
	cr_assert_eq(dynax_result_int(r, "Table.ItemCount", 0), 7);
	dynax_result_free(&r);

	r = answered("BatchGetItem", ERR_OK, &shape_BatchGetItemOutput,
		"{\"Responses\":{\"one\":[{\"pk\":{\"S\":\"a\"}}],\"two\":[{\"pk\":{\"S\":\"b\"}},{\"pk\":{\"S\":\"c\"}}]}}");
	cr_assert_eq(dynax_count(dynax_result_items(r, NULL)), 1u);
	cr_assert_eq(dynax_count(dynax_result_items(r, "two")), 2u);
	cr_assert_str_eq(dynax_str(dynax_result_value(r, "Responses.two[1]"), "pk", ""), "c");
	cr_assert_eq(dynax_type(dynax_result_items(r, "three")), DYNAX_TYPE_ABSENT);
	dynax_result_free(&r);
}

Test(client, the_members_of_an_error_are_read_by_path)
{
	struct dynax_result *r;

	fake.serve = serves_wanted;
	start(NULL);
	r = answered("TransactWriteItems", ERR_TRANSACTION_CANCELED, &shape_TransactionCanceledException,
		"{\"CancellationReasons\":[{\"Code\":\"None\"},{\"Code\":\"ConditionalCheckFailed\",\"Message\":\"no\","
		"\"Item\":{\"pk\":{\"S\":\"a\"}}}]}");
	cr_assert_eq(dynax_result_code(r), DYNAX_E_TRANSACTION_CANCELED);
	cr_assert_eq(dynax_result_count(r, "CancellationReasons"), 2u);
	cr_assert_str_eq(dynax_result_str(r, "CancellationReasons[0].Code", ""), "None");
	cr_assert_str_eq(dynax_result_str(r, "CancellationReasons[1].Message", ""), "no");
	cr_assert_str_eq(dynax_str(dynax_result_value(r, "CancellationReasons[1].Item"), "pk", ""), "a");
	dynax_result_free(&r);
	/* Of a kind that goes with another error: the error stays. */
	r = answered("PutItem", ERR_CONDITION_FAILED, &shape_TransactionCanceledException, "{\"CancellationReasons\":[{\"Code\":\"x\"}]}");
	cr_assert_eq(dynax_result_code(r), DYNAX_E_CONDITION_FAILED);
	cr_assert_eq(dynax_type(dynax_result_item(r)), DYNAX_TYPE_ABSENT);
	cr_assert_null(strstr(dynax_result_json(r), "Cancellation"));
	dynax_result_free(&r);
}

static bool talks_nonsense(struct fake_conn *c, const struct frame *fr)
{
	size_t at = frame_begin(&c->out, FRAME_ANSWER, 0, fr->id);

	buf_put(&c->out, "\x81\x07\xff", 3);
	frame_end(&c->out, at);
	return true;
}

Test(client, an_answer_that_is_none_is_an_error)
{
	fake.serve = talks_nonsense;
	start(NULL);
	expect(dynax_get_item(db, "t", key), DYNAX_E_FRAME);
}

static bool talks_garbage(struct fake_conn *c, const struct frame *fr)
{
	(void)fr;
	buf_put(&c->out, "\xff\xff\xff\xff and more", 13);
	return true;
}

Test(client, a_stream_that_is_no_frame_ends_the_connection)
{
	fake.serve = talks_garbage;
	start(NULL);
	expect(dynax_put_item(db, "t", key), DYNAX_E_FRAME);
}

static bool answers_twice(struct fake_conn *c, const struct frame *fr)
{
	struct frame other = *fr;

	other.id += 77;
	fake_answer(c, &other);
	fake_answer(c, fr);
	fake_answer(c, fr);
	return true;
}

Test(client, answers_that_nobody_asked_for_are_passed_over)
{
	fake.serve = answers_twice;
	start(NULL);
	for (int i = 0; i < 20; i++)
		expect(dynax_get_item(db, "t", key), DYNAX_OK);
	cr_assert_eq(fake.connections, 1u);
}

Test(client, a_request_longer_than_the_server_takes)
{
	static char text[5000];

	fake.max_frame = 4096;
	start(NULL);
	memset(text, 'x', sizeof(text) - 1);
	dynax_item_set_str(key, "long", text);
	expect(dynax_put_item(db, "t", key), DYNAX_E_REQUEST_TOO_LARGE);
	dynax_item_unset(key, "long");
	expect(dynax_put_item(db, "t", key), DYNAX_OK);
}

Test(client, mistakes_of_the_caller_send_nothing)
{
	struct dynax_request *req = dynax_request_new("GetItem", "t");
	struct dynax_result *r;

	start(NULL);
	dynax_request_set_int(req, "Limit", 1);
	expect(dynax_run(db, req), DYNAX_E_USAGE);
	dynax_request_free(&req);
	req = dynax_request_new("GetItm", "t");
	expect(dynax_run(db, req), DYNAX_E_USAGE);
	dynax_request_free(&req);
	req = dynax_request_new("GetItem", "t");
	dynax_request_set_int(req, "TableName", 1);
	expect(dynax_run(db, req), DYNAX_E_USAGE);
	dynax_request_free(&req);
	dynax_item_set_number(key, "n", "x");
	expect(dynax_get_item(db, "t", key), DYNAX_E_USAGE);
	r = dynax_call(db, "ListTables", "{");
	cr_assert_eq(dynax_result_code(r), DYNAX_E_USAGE);
	cr_assert_str_eq(dynax_result_message(r), "this is not JSON");
	dynax_result_free(&r);
	req = dynax_request_new("Scan", "t");
	dynax_request_set_int(req, "Limit", INT64_C(1) << 31);
	r = dynax_run(db, req);
	cr_assert_str_eq(dynax_result_message(r), "Limit: more than 32 bits");
	dynax_result_free(&r);
	dynax_request_free(&req);
	expect(dynax_get_item(db, "t", NULL), DYNAX_E_USAGE);
	cr_assert_eq(fake.requests, 0u);
}

/* Every 40th request resets its connection. */
static bool resets(struct fake_conn *c, const struct frame *fr)
{
	struct linger now = { .l_onoff = 1 };

	if (atomic_load(&c->fake->requests) % 40 == 0) {
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		return false;
	}
	fake_answer(c, fr);
	return true;
}

static atomic_uint right, failed;

static void *reader(void *arg)
{
	struct dynax_item *k = dynax_item_new();

	for (int i = 0; i < READS; i++) {
		int64_t want = (int64_t)(intptr_t)arg * READS + i;
		struct dynax_result *r;

		dynax_item_set_int(k, "pk", want);
		r = dynax_get_item(db, "t", k);
		if (dynax_ok(r) && dynax_int(dynax_result_item(r), "pk", -1) == want)
			atomic_fetch_add(&right, 1);
		else if (!dynax_ok(r) && dynax_result_retryable(r))
			atomic_fetch_add(&failed, 1);
		dynax_result_free(&r);
	}
	dynax_item_free(&k);
	return NULL;
}

Test(client, many_threads_few_connections_and_resets)
{
	struct dynax_opts opts = { .connections = 8, .backoff_ms = 1 };
	pthread_t t[THREADS];

	fake.serve = resets;
	start(&opts);
	for (intptr_t i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&t[i], NULL, reader, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	cr_assert_eq(right + failed, THREADS * READS, "%u right, %u typed errors", right, failed);
	cr_assert_gt(right, THREADS * READS * 9 / 10);
}

static bool pages(struct fake_conn *c, const struct frame *fr)
{
	size_t at = frame_begin(&c->out, FRAME_ANSWER, 0, fr->id), rec = record_begin(&c->out);
	struct record in;
	int64_t from = 0;
	unsigned n = 0;

	if (!record_open(&in, &shape_ScanInput, fr->body))
		abort();
	if (record_has(&in, ScanInput_ExclusiveStartKey)) {
		struct slice k = map_get(in.m[ScanInput_ExclusiveStartKey], SLICE_LIT("pk"));

		if (!number_to_int(value_bytes(k), &from))
			abort();
	}
	record_put_int(&c->out, &n, ScanOutput_Count, 2);
	record_key(&c->out, &n, ScanOutput_Items);
	mp_put_array(&c->out, from == 2 ? 0 : 2);
	for (int64_t i = from + 1; i <= from + 2 && from != 2; i++) {
		mp_put_map(&c->out, 1);
		mp_put_str(&c->out, SLICE_LIT("pk"));
		value_put_int(&c->out, i);
	}
	if (from < 6) {
		record_key(&c->out, &n, ScanOutput_LastEvaluatedKey);
		mp_put_map(&c->out, 1);
		mp_put_str(&c->out, SLICE_LIT("pk"));
		value_put_int(&c->out, from + 2);
	}
	record_end(&c->out, rec, n);
	frame_end(&c->out, at);
	return true;
}

Test(client, a_pager_walks_all_pages_empty_ones_too)
{
	struct dynax_request *req = dynax_request_new("Scan", "t");
	struct dynax_pager *p;
	struct dynax_value item;
	int64_t sum = 0;

	fake.serve = pages;
	start(NULL);
	p = dynax_pager_new(db, req);
	dynax_request_free(&req);
	while (dynax_pager_next(p, &item))
		sum += dynax_int(item, "pk", 1000);
	cr_assert(dynax_ok(dynax_pager_result(p)), "%s", dynax_result_message(dynax_pager_result(p)));
	cr_assert_eq(sum, 1 + 2 + 5 + 6 + 7 + 8);
	cr_assert_not(dynax_pager_next(p, &item));
	dynax_pager_free(&p);
}

Test(client, results_of_no_memory_can_be_asked)
{
	struct dynax_result *none = NULL;

	cr_assert_eq(dynax_result_code(none), DYNAX_E_NO_MEMORY);
	cr_assert_not(dynax_ok(none));
	cr_assert_str_eq(dynax_result_message(none), "out of memory in the client");
	cr_assert_eq(dynax_type(dynax_result_item(none)), DYNAX_TYPE_ABSENT);
	cr_assert_null(dynax_result_json(none));
	cr_assert_null(dynax_result_unprocessed(none));
	dynax_result_free(&none);
}
