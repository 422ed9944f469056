/* Many threads at one store: writers, readers, and a catalog that changes under them. Meant for the thread sanitizer
 * too; what it checks by itself is that nothing is lost and nothing is seen out of order. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/json.h"
#include "tests/unit/store/fixture.h"

enum { WRITERS = 3, READERS = 2, ADDS = 400 };

struct thread_arg {
	struct store *store;
	int n;
};

/* One write, from reading its JSON to its done(). */
struct call {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static void call_done(struct store_write *w)
{
	struct call *c = w->arg;

	pthread_mutex_lock(&c->lock);
	c->done = true;
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

static enum err write_json(struct store *s, struct store_reader *r, struct json_reader *j, struct arena *a, enum op op, const char *body)
{
	struct call c = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct request req;
	struct buf out;
	struct fault f;
	struct store_write w = { .req = &req, .out = &out, .done = call_done, .arg = &c };

	arena_reset(a);
	fault_init(&f, a);
	buf_init(&out);
	cr_assert_eq(json_read_request(j, op, slice_str(body), a, &req, &f), ERR_OK);
	enum err rc = store_prepare(r, &w);

	store_reader_quiesce(r);
	if (rc == ERR_OK) {
		store_submit(s, &w);
		pthread_mutex_lock(&c.lock);
		while (!c.done)
			pthread_cond_wait(&c.cond, &c.lock);
		pthread_mutex_unlock(&c.lock);
		rc = w.result;
	}
	buf_release(&out);
	return rc;
}

/* Adds to one counter that all writers share, and to one of its own, in one transaction. */
static void *adder(void *arg)
{
	struct thread_arg *t = arg;
	struct store_reader *r = store_reader_new(t->store);
	struct json_reader *j = json_reader_new();
	struct arena a;
	char body[600];

	arena_init(&a, 0);
	snprintf(body, sizeof body, "{\"TransactItems\":[{\"Update\":{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"all\"}},"
		"\"UpdateExpression\":\"ADD n :one\",\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}},"
		"{\"Update\":{\"TableName\":\"tbl\",\"Key\":{\"pk\":{\"S\":\"own%d\"}},"
		"\"UpdateExpression\":\"ADD n :one\",\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}}]}", t->n);
	for (int i = 0; i < ADDS; i++)
		cr_assert_eq(write_json(t->store, r, j, &a, OP_TransactWriteItems, body), ERR_OK);
	arena_release(&a);
	json_reader_free(&j);
	store_reader_free(&r);
	return NULL;
}

static atomic_bool over;

/* Creates and deletes a table, so that snapshots of the catalog come and go. */
static void *churner(void *arg)
{
	struct thread_arg *t = arg;
	struct store_reader *r = store_reader_new(t->store);
	struct json_reader *j = json_reader_new();
	struct arena a;

	arena_init(&a, 0);
	while (!atomic_load(&over)) {
		cr_assert_eq(write_json(t->store, r, j, &a, OP_CreateTable, "{\"TableName\":\"gone\",\"BillingMode\":\"PAY_PER_REQUEST\","
			"\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
			"\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}]}"), ERR_OK);
		cr_assert_eq(write_json(t->store, r, j, &a, OP_DeleteTable, "{\"TableName\":\"gone\"}"), ERR_OK);
	}
	arena_release(&a);
	json_reader_free(&j);
	store_reader_free(&r);
	return NULL;
}

/* n of an item, from the reader's view; 0 if there is none. */
static int64_t read_n(struct store_reader *r, const struct table *t, const char *pk, struct arena *a)
{
	struct map_builder m;
	struct buf value, key;
	struct slice item;
	struct fault f;
	uint64_t hash;
	int64_t n = 0;

	fault_init(&f, a);
	buf_init(&value);
	buf_init(&key);
	value_put_string(&value, slice_str(pk));
	map_builder_init(&m, a);
	map_builder_add(&m, SLICE_LIT("pk"), buf_slice(&value));
	cr_assert(map_put(&m, &key));
	cr_assert_eq(store_check_key(t, buf_slice(&key), &hash, &f), ERR_OK);
	cr_assert_eq(store_get(r, t, buf_slice(&key), hash, &item, &f), ERR_OK);
	if (slice_present(item))
		cr_assert(number_to_int(value_bytes(map_get(item, SLICE_LIT("n"))), &n));
	buf_release(&value);
	buf_release(&key);
	return n;
}

/* In one view the shared counter is the sum of the others, and it never goes back. */
static void *watcher(void *arg)
{
	struct thread_arg *t = arg;
	struct store_reader *r = store_reader_new(t->store);
	struct arena a;
	int64_t last = 0;

	arena_init(&a, 0);
	while (!atomic_load(&over)) {
		const struct table *tbl = store_table(r, SLICE_LIT("tbl")), *gone = store_table(r, SLICE_LIT("gone"));
		int64_t all, sum = 0;

		cr_assert_not_null(tbl);
		if (gone != NULL)
			read_n(r, gone, "nobody", &a);
		all = read_n(r, tbl, "all", &a);
		for (int i = 0; i < WRITERS; i++) {
			char pk[16];

			snprintf(pk, sizeof pk, "own%d", i);
			sum += read_n(r, tbl, pk, &a);
		}
		cr_assert_eq(all, sum, "%lld is not the sum %lld", (long long)all, (long long)sum);
		cr_assert(all >= last);
		last = all;
		store_reader_release(r);
		store_reader_quiesce(r);
		arena_reset(&a);
	}
	arena_release(&a);
	store_reader_free(&r);
	return NULL;
}

Test(store_threads, writers_readers_and_a_changing_catalog)
{
	struct fixture *fx = fixture_new(NULL);
	pthread_t thread[WRITERS], watch[READERS], churn;
	struct thread_arg arg[WRITERS];
	char want[64];

	ok(fx, "CreateTable", "{'TableName':'tbl','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
	atomic_store(&over, false);
	for (int i = 0; i < WRITERS; i++) {
		arg[i] = (struct thread_arg){ fixture_store(fx), i };
		cr_assert_eq(pthread_create(&thread[i], NULL, adder, &arg[i]), 0);
	}
	for (int i = 0; i < READERS; i++)
		cr_assert_eq(pthread_create(&watch[i], NULL, watcher, &arg[0]), 0);
	cr_assert_eq(pthread_create(&churn, NULL, churner, &arg[0]), 0);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&over, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(watch[i], NULL);
	pthread_join(churn, NULL);
	snprintf(want, sizeof want, "{'Item':{'n':{'N':'%d'},'pk':{'S':'all'}}}", WRITERS * ADDS);
	ok(fx, "GetItem", "{'TableName':'tbl','Key':{'pk':{'S':'all'}}}", want);
	fixture_free(fx);
}

/* ---- an index that is late now and then ---- */

/* n of every writer's own item in the index, each there once. */
static void read_index(struct fixture *fx, long n[WRITERS])
{
	const char *json = run(fx, "Query", "{'TableName':'tbl','IndexName':'byg','KeyConditionExpression':'g = :g',"
		"'ExpressionAttributeValues':{':g':{'S':'x'}}}").json;
	unsigned items = 0;

	for (const char *at = json; (at = strstr(at, "\"n\":{\"N\":\"")) != NULL; items++) {
		long v = strtol(at + 10, NULL, 10), i = strtol(strstr(at, "own") + 3, NULL, 10);

		cr_assert(v >= n[i], "item %ld went back from %ld to %ld", i, n[i], v);
		n[i] = v;
		at += 10;
	}
	cr_assert_eq(items, WRITERS, "%s", json);
}

Test(store_threads, an_index_follows_in_order)
{
	struct fixture *fx = fixture_new(NULL);
	pthread_t thread[WRITERS];
	struct thread_arg arg[WRITERS];
	long n[WRITERS] = { 0 }, done = 0;

	ok(fx, "CreateTable", "{'TableName':'tbl','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'},"
		"{'AttributeName':'n','AttributeType':'N'}],'GlobalSecondaryIndexes':[{'IndexName':'byg','KeySchema':["
		"{'AttributeName':'g','KeyType':'HASH'},{'AttributeName':'n','KeyType':'RANGE'}],'Projection':{'ProjectionType':'ALL'}}]}",
		NULL);
	for (int i = 0; i < WRITERS; i++) {
		char body[128];

		snprintf(body, sizeof body, "{'TableName':'tbl','Item':{'pk':{'S':'own%d'},'g':{'S':'x'},'n':{'N':'0'}}}", i);
		ok(fx, "PutItem", body, "{}");
		arg[i] = (struct thread_arg){ fixture_store(fx), i };
	}
	for (int i = 0; i < WRITERS; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, adder, &arg[i]), 0);
	for (unsigned round = 0; done < WRITERS * (long)ADDS; round++) {
		store_set_index_delay(fixture_store(fx), round % 30 < 20 ? round % 4 : 0);
		read_index(fx, n);
		done = 0;
		for (int i = 0; i < WRITERS; i++)
			done += n[i];
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	fixture_free(fx);
}

/* ---- the observer's place in the order of things ---- */

struct watch {
	struct fixture *fx;
	struct store_reader *reader;      /* the writer thread's own */
	int begun, ended;
	bool seen_before, seen_after;
	uint32_t table;
};

static bool visible(struct watch *o)
{
	const struct table *t = store_table(o->reader, SLICE_LIT("tbl"));
	struct arena a;
	bool there;

	arena_init(&a, 0);
	there = t != NULL && read_n(o->reader, t, "x", &a) == 7;
	store_reader_release(o->reader);
	store_reader_quiesce(o->reader);
	arena_release(&a);
	return there;
}

static void begin(void *arg, const struct store_change *c, size_t n)
{
	struct watch *o = arg;

	if (o->reader == NULL || n != 1 || c->whole)
		return;
	o->begun++;
	o->table = c->table;
	o->seen_before = visible(o);
	cr_assert(slice_present(c->key) && slice_present(c->item));
}

static void end(void *arg, const struct store_change *c, size_t n)
{
	struct watch *o = arg;

	if (o->reader == NULL || n != 1 || c->whole)
		return;
	o->ended++;
	o->seen_after = visible(o);
}

Test(store_threads, the_observer_hears_before_and_after_a_write_is_visible)
{
	struct watch o = { .reader = NULL };
	struct store_opts opts = { .observer = { begin, end, &o } };

	o.fx = fixture_with(&opts);
	ok(o.fx, "CreateTable", "{'TableName':'tbl','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", NULL);
	o.reader = store_reader_new(fixture_store(o.fx));
	ok(o.fx, "PutItem", "{'TableName':'tbl','Item':{'pk':{'S':'x'},'n':{'N':'7'}}}", "{}");
	cr_assert_eq(o.begun, 1);
	cr_assert_eq(o.ended, 1);
	cr_assert(!o.seen_before && o.seen_after);
	/* A write that fails, and one that changes nothing, are not heard of. */
	fails(o.fx, "PutItem", "{'TableName':'tbl','Item':{'pk':{'S':'x'}},'ConditionExpression':'attribute_not_exists(pk)'}",
		ERR_CONDITION_FAILED, NULL);
	ok(o.fx, "PutItem", "{'TableName':'tbl','Item':{'pk':{'S':'x'},'n':{'N':'7'}}}", "{}");
	cr_assert_eq(o.begun, 1);
	store_reader_free(&o.reader);
	fixture_free(o.fx);
}
