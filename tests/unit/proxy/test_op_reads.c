/* The read handlers over a backend that answers when the test says so: misses that share a read across workers, writes that
 * overtake a read, errors, and what is asked of the backend. */
#include "proxy/flight.h"
#include "proxy/handlers.h"
#include "proxy/worker.h"

#include "protocol/messages.h"

#include <criterion/criterion.h>

enum { WORKERS = 2, READS_MAX = 16 };

static const struct table table = { .id = 5, .name = { (const uint8_t *)"things", 6 },
	.key = { .hash = { { { (const uint8_t *)"pk", 2 }, VALUE_S } }, .hashes = 1 } };

/* ---- a backend whose reads wait for the test ---- */

static struct rig {
	struct backend backend;
	struct shared shared;
	struct worker worker[WORKERS];
	struct backend_read *read[READS_MAX];       /* in flight, in order */
	struct backend_key *keys[READS_MAX];        /* of get_all */
	unsigned n[READS_MAX];
	unsigned reads;
	unsigned queries_open;                      /* prepared, not ended */
	unsigned held;
	unsigned answered, failed, hits, bypasses;
	enum err error;
	struct buf last;                            /* the last answer */
} rig;

static const struct table *fake_table(struct backend_reader *r, struct slice name)
{
	(void)r;
	return slice_eq(name, table.name) ? &table : NULL;
}

static void fake_hold(struct backend_reader *r, bool on)
{
	(void)r;
	rig.held += on ? 1u : -1u;
}

static void fake_get(struct backend_reader *r, const struct table *t, struct slice key, uint64_t hash, struct backend_read *rd)
{
	(void)r, (void)t, (void)key, (void)hash;
	rig.read[rig.reads++] = rd;
}

static void fake_get_all(struct backend_reader *r, struct backend_key *key, unsigned n, struct backend_read *rd)
{
	(void)r;
	rig.keys[rig.reads] = key;
	rig.n[rig.reads] = n;
	rig.read[rig.reads++] = rd;
}

static enum err fake_prepare(struct backend_reader *r, const struct request *req, struct store_query *q, struct fault *f)
{
	(void)r, (void)req, (void)f;
	*q = (struct store_query){ .table = &table, .stripe_table = table.id, .stripe_hash = 99 };
	rig.queries_open++;
	return ERR_OK;
}

static void fake_query(struct backend_reader *r, const struct request *req, struct store_query *q, struct backend_read *rd)
{
	(void)r, (void)req, (void)q;
	rig.read[rig.reads++] = rd;
}

static void fake_query_end(struct backend_reader *r, struct store_query *q)
{
	(void)r, (void)q;
	rig.queries_open--;
}

static const struct backend_ops fake_ops = { .name = "fake", .table = fake_table, .hold = fake_hold, .get = fake_get,
	.get_all = fake_get_all, .query_prepare = fake_prepare, .query = fake_query, .query_end = fake_query_end };

static void finish(struct call *c)
{
	rig.answered++;
	rig.hits += c->cache == FRAME_CACHE_HIT && c->fault.code == ERR_OK;
	rig.bypasses += c->cache == FRAME_CACHE_BYPASS;
	rig.failed += c->fault.code != ERR_OK;
	rig.error = c->fault.code;
	buf_clear(&rig.last);
	buf_put_slice(&rig.last, buf_slice(&c->out));
	call_drop(c);
}

static void rig_open(void)
{
	rig.backend.ops = &fake_ops;
	rig.shared.backend = &rig.backend;
	rig.shared.epochs = epochs_new(0);
	rig.shared.items = item_cache_new(&(struct item_cache_opts){ .max_bytes = 1 << 20 }, rig.shared.epochs);
	rig.shared.queries = query_cache_new(&(struct query_cache_opts){ .max_bytes = 1 << 20 }, rig.shared.epochs);
	rig.shared.flights = flights_new();
	for (unsigned i = 0; i < WORKERS; i++) {
		struct worker *w = &rig.worker[i];

		w->shared = &rig.shared;
		w->backend = &rig.backend;
		w->epochs = rig.shared.epochs;
		w->items = rig.shared.items;
		w->queries = rig.shared.queries;
		w->exprs = expr_cache_new(8);
		w->metrics = metrics_new();
		cr_assert(mailbox_init(&w->mailbox));
	}
	buf_init(&rig.last);
}

static void rig_close(void)
{
	uint64_t flying, joined;

	flights_stats(rig.shared.flights, &flying, &joined);
	cr_assert_eq(flying, 0, "every flight has landed");
	cr_assert_eq(rig.queries_open, 0, "every prepared query was ended");
	item_cache_free(&rig.shared.items);
	query_cache_free(&rig.shared.queries);
	epochs_free(&rig.shared.epochs);
	flights_free(&rig.shared.flights);
}

/* ---- requests ---- */

static void put_key(struct buf *b, const char *pk)
{
	mp_put_map(b, 1);
	mp_put_str(b, SLICE_LIT("pk"));
	value_put_string(b, slice_str(pk));
}

static struct slice key_of(struct arena *a, const char *pk)
{
	struct slice s;
	struct buf b;

	buf_init(&b);
	put_key(&b, pk);
	s = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return s;
}

static void run(unsigned worker, enum op op, handler_fn *handler, struct buf *record)
{
	struct call *c = call_new(&rig.worker[worker]);
	struct slice bytes = arena_copy(&c->arena, buf_slice(record));

	c->finish = finish;
	cr_assert_eq(request_open(&c->req, op, bytes, &c->arena, &c->fault), ERR_OK);
	buf_release(record);
	handler(c);
}

static void get(unsigned worker, const char *pk)
{
	struct buf b;
	unsigned n = 0;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	record_key(&b, &n, GetItemInput_Key);
	put_key(&b, pk);
	record_put_str(&b, &n, GetItemInput_TableName, table.name);
	record_end(&b, at, n);
	run(worker, OP_GetItem, op_get_item, &b);
}

static void query(unsigned worker)
{
	struct buf b;
	unsigned n = 0;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	record_put_str(&b, &n, QueryInput_KeyConditionExpression, SLICE_LIT("pk = :p"));
	record_put_str(&b, &n, QueryInput_TableName, table.name);
	record_end(&b, at, n);
	run(worker, OP_Query, op_query, &b);
}

/* The i-th read ends. */
static void answer_get(unsigned i, enum err e, const char *pk)
{
	struct backend_read *rd = rig.read[i];
	struct arena a;

	arena_init(&a, 0);
	rd->result = e != ERR_OK ? fault_set(&rd->fault, e, "no luck") : ERR_OK;
	rd->item = pk != NULL ? key_of(&a, pk) : SLICE_NONE;
	rd->done(rd);
	arena_release(&a);
}

static uint64_t part_of(const char *pk)
{
	struct arena a;
	struct fault f = { 0 };
	uint64_t hash = 0;

	arena_init(&a, 0);
	cr_assert_eq(store_check_key(&table, key_of(&a, pk), &hash, &f), ERR_OK);
	arena_release(&a);
	return hash;
}

static void write_partition(uint64_t hash)
{
	struct store_change c = { .table = table.id, .hash = hash };

	epochs_begin(rig.shared.epochs, &c, 1);
	epochs_end(rig.shared.epochs, &c, 1);
}

Test(op_reads, a_miss_is_read_once_and_then_served, .init = rig_open, .fini = rig_close)
{
	get(0, "a");
	cr_assert_eq(rig.reads, 1);
	cr_assert_eq(rig.answered, 0);
	answer_get(0, ERR_OK, "a");
	cr_assert_eq(rig.answered, 1);
	cr_assert_eq(rig.hits, 0);
	get(1, "a");
	cr_assert_eq(rig.reads, 1);
	cr_assert_eq(rig.hits, 1);
	get(0, "absent");
	answer_get(1, ERR_OK, NULL);
	get(1, "absent");
	cr_assert_eq(rig.reads, 2);
	cr_assert_eq(rig.hits, 2);
	cr_assert_eq(rig.failed, 0);
}

Test(op_reads, without_caches_those_that_share_a_read_bypass_them_too, .init = rig_open, .fini = rig_close)
{
	for (unsigned i = 0; i < WORKERS; i++) {
		rig.worker[i].items = NULL;
		rig.worker[i].queries = NULL;
		get(i, "a");
		query(i);
	}
	cr_assert_eq(rig.reads, 2);
	for (unsigned i = 0; i < 2; i++) {
		rig.read[i]->result = ERR_OK;
		rig.read[i]->done(rig.read[i]);
	}
	cr_assert_eq(mailbox_deliver(&rig.worker[1].mailbox), 2);
	cr_assert_eq(rig.answered, 4);
	cr_assert_eq(rig.bypasses, 4);
}

Test(op_reads, misses_on_two_workers_share_a_read, .init = rig_open, .fini = rig_close)
{
	struct buf first;

	get(0, "a");
	get(1, "a");
	get(1, "b");
	cr_assert_eq(rig.reads, 2, "one for a, one for b");
	answer_get(0, ERR_OK, "a");
	cr_assert_eq(rig.answered, 1);
	first = rig.last;
	buf_init(&rig.last);
	cr_assert_eq(mailbox_deliver(&rig.worker[1].mailbox), 1, "the waiter is woken on its own worker");
	cr_assert_eq(rig.answered, 2);
	cr_assert(slice_eq(buf_slice(&first), buf_slice(&rig.last)));
	buf_release(&first);
	answer_get(1, ERR_OK, NULL);
	cr_assert_eq(rig.answered, 3);
}

Test(op_reads, a_write_between_makes_a_read_of_its_own_and_no_fill, .init = rig_open, .fini = rig_close)
{
	struct item_cache_stats s;

	get(0, "a");
	write_partition(part_of("a"));
	get(1, "a");
	cr_assert_eq(rig.reads, 2, "the first read may be of before the write");
	answer_get(0, ERR_OK, "a");
	item_cache_stats(rig.shared.items, &s);
	cr_assert_eq(s.fills_refused, 1);
	cr_assert_eq(s.entries, 0);
	answer_get(1, ERR_OK, "a");
	item_cache_stats(rig.shared.items, &s);
	cr_assert_eq(s.fills, 1);
}

Test(op_reads, while_a_partition_turns_every_read_goes_alone, .init = rig_open, .fini = rig_close)
{
	struct store_change c = { .table = table.id, .hash = part_of("a") };
	struct item_cache_stats s;

	epochs_begin(rig.shared.epochs, &c, 1);
	get(0, "a");
	get(1, "a");
	cr_assert_eq(rig.reads, 2);
	epochs_end(rig.shared.epochs, &c, 1);
	answer_get(0, ERR_OK, "a");
	answer_get(1, ERR_OK, "a");
	item_cache_stats(rig.shared.items, &s);
	cr_assert_eq(s.entries, 0, "read under an odd epoch: not filled, though it is even now");
}

Test(op_reads, an_error_reaches_those_who_waited_and_is_not_kept, .init = rig_open, .fini = rig_close)
{
	get(0, "a");
	get(1, "a");
	answer_get(0, ERR_IO, NULL);
	cr_assert_eq(mailbox_deliver(&rig.worker[1].mailbox), 1);
	cr_assert_eq(rig.failed, 2);
	cr_assert_eq(rig.error, ERR_IO);
	get(0, "a");
	cr_assert_eq(rig.reads, 2);
	answer_get(1, ERR_OK, "a");
	cr_assert_eq(rig.failed, 2);
}

static void answer_query(unsigned i, const char *bytes)
{
	buf_put(rig.read[i]->out, bytes, strlen(bytes));
	rig.read[i]->done(rig.read[i]);
}

Test(op_reads, queries_share_reads_and_die_with_writes, .init = rig_open, .fini = rig_close)
{
	query(0);
	query(1);
	cr_assert_eq(rig.reads, 1);
	answer_query(0, "the answer");
	cr_assert_eq(mailbox_deliver(&rig.worker[1].mailbox), 1);
	cr_assert(slice_eq(buf_slice(&rig.last), slice_str("the answer")));
	query(1);
	cr_assert_eq(rig.hits, 1);
	cr_assert(slice_eq(buf_slice(&rig.last), slice_str("the answer")));
	write_partition(99);
	query(0);
	cr_assert_eq(rig.reads, 2);
	answer_query(1, "another");
	cr_assert_eq(rig.answered, 4);
}

/* BatchGetItem of three keys. */
static void batch_get(const char *k1, const char *k2, const char *k3)
{
	struct buf b;
	unsigned n = 0, inner = 0;
	size_t at, t;

	buf_init(&b);
	at = record_begin(&b);
	record_key(&b, &n, BatchGetItemInput_RequestItems);
	mp_put_map(&b, 1);
	mp_put_str(&b, table.name);
	t = record_begin(&b);
	record_key(&b, &inner, KeysAndAttributes_Keys);
	mp_put_array(&b, 3);
	put_key(&b, k1);
	put_key(&b, k2);
	put_key(&b, k3);
	record_end(&b, t, inner);
	record_end(&b, at, n);
	run(0, OP_BatchGetItem, op_batch_get_item, &b);
}

Test(op_reads, a_batch_asks_once_for_its_cold_keys, .init = rig_open, .fini = rig_close)
{
	struct arena a;

	arena_init(&a, 0);
	get(0, "warm");
	answer_get(0, ERR_OK, "warm");
	batch_get("cold", "none", "warm");
	cr_assert_eq(rig.reads, 2);
	cr_assert_eq(rig.n[1], 2, "warm comes from the cache");
	rig.keys[1][0].item = key_of(&a, "cold");
	rig.keys[1][1].item = SLICE_NONE;
	rig.read[1]->done(rig.read[1]);
	cr_assert_eq(rig.answered, 2);
	cr_assert_eq(rig.failed, 0);
	get(1, "cold");
	get(1, "none");
	cr_assert_eq(rig.reads, 2, "both are cached now");
	cr_assert_eq(rig.hits, 2);
	arena_release(&a);
}

/* An item of more than a piece of a batch's answer. */
static struct slice large_item(struct arena *a, const char *pk)
{
	static const char megabyte[(1 << 20) + 1];
	struct slice s;
	struct buf b;

	buf_init(&b);
	mp_put_map(&b, 2);
	mp_put_str(&b, SLICE_LIT("pk"));
	value_put_string(&b, slice_str(pk));
	mp_put_str(&b, SLICE_LIT("v"));
	value_put_string(&b, slice_of(megabyte, sizeof megabyte));
	s = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return s;
}

/* Two items of a megabyte and one that is not there, read on another thread (kept) or on the worker: turns of the answer. */
static unsigned answer_large(struct arena *a, bool kept)
{
	struct worker *w = &rig.worker[0];
	unsigned read = rig.reads, answered = rig.answered, turns = 0;

	batch_get("a", "b", "none");
	rig.keys[read][0].item = large_item(a, "a");
	rig.keys[read][1].item = large_item(a, "b");
	rig.keys[read][2].item = SLICE_NONE;
	if (kept)
		buf_put(rig.read[read]->keep, "bytes", 5);
	rig.read[read]->done(rig.read[read]);
	for (; rig.answered == answered; turns++) {
		cr_assert_eq(rig.held, 1, "its tables stay");
		cr_assert_eq(mailbox_deliver(&w->mailbox), 1);
	}
	cr_assert_eq(rig.held, 0);
	cr_assert_eq(rig.failed, 0);
	return turns;
}

Test(op_reads, a_large_batch_lets_others_in_between, .init = rig_open, .fini = rig_close)
{
	struct arena a;
	struct buf at_once;

	arena_init(&a, 0);
	buf_init(&at_once);
	cr_assert_eq(answer_large(&a, false), 0, "what is lent goes at once");
	buf_put_slice(&at_once, buf_slice(&rig.last));
	cr_assert_eq(answer_large(&a, true), 4, "two to fill the cache, two to answer");
	cr_assert(slice_eq(buf_slice(&rig.last), buf_slice(&at_once)));
	buf_release(&at_once);
	arena_release(&a);
}
