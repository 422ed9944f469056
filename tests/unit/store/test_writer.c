/* test_writer - how much one batch carries. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "protocol/json.h"
#include "tests/unit/store/fixture.h"

enum { UPDATES = 64, FILLER = 390000 };

/* The writer waits in its first batch for as long as the gate is held. */
static void wait_at_gate(void *arg, const struct store_change *c, size_t n)
{
	pthread_mutex_t *gate = arg;

	(void)c;
	(void)n;
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
}

struct update {
	struct store_write write;
	struct request req;
	struct arena arena;
	struct buf out;
};

static void done(struct store_write *w)
{
	(void)w;
}

static void submit(struct fixture *fx, struct json_reader *j, struct update *u, unsigned i)
{
	struct fault f;
	char body[256];

	arena_init(&u->arena, 0);
	buf_init(&u->out);
	fault_init(&f, &u->arena);
	snprintf(body, sizeof body, "{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"x\"}},\"UpdateExpression\":\"SET n = :n\","
		"\"ExpressionAttributeValues\":{\":n\":{\"N\":\"%u\"}}}", i);
	cr_assert_eq(json_read_request(j, OP_UpdateItem, slice_str(body), &u->arena, &u->req, &f), ERR_OK);
	u->write = (struct store_write){ .req = &u->req, .out = &u->out, .done = done };
	cr_assert_eq(store_prepare(fixture_reader(fx), &u->write), ERR_OK);
	store_submit(fixture_store(fx), &u->write);
}

static void put_large_item(struct fixture *fx)
{
	static char body[FILLER + 256];
	static char filler[FILLER + 1];

	memset(filler, 'x', FILLER);
	snprintf(body, sizeof body, "{'TableName':'tbl','Item':{'pk':{'S':'x'},'filler':{'S':'%s'}}}", filler);
	ok(fx, "PutItem", body, "{}");
}

/* Small requests that change large items: the flush that they wait for stays small. */
Test(writer, a_batch_is_bounded_by_what_it_logs)
{
	static struct update u[UPDATES];
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct fixture *fx = fixture_with(&(struct store_opts){ .observer = { wait_at_gate, NULL, &gate } });
	struct json_reader *j = json_reader_new();
	struct store_stats s;

	ok(fx, "CreateTable", "{'TableName':'tbl','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
	put_large_item(fx);
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < UPDATES; i++)
		submit(fx, j, &u[i], i);
	pthread_mutex_unlock(&gate);
	ok(fx, "PutItem", "{'TableName':'tbl','Item':{'pk':{'S':'last'}}}", "{}");
	store_stats(fixture_store(fx), &s);
	cr_assert_lt(s.batch_writes_max, UPDATES / 2, "%llu", (unsigned long long)s.batch_writes_max);
	for (unsigned i = 0; i < UPDATES; i++) {
		cr_assert_eq(u[i].write.result, ERR_OK);
		arena_release(&u[i].arena);
		buf_release(&u[i].out);
	}
	json_reader_free(&j);
	fixture_free(fx);
}
