/* cache_race - the caches and the epoch rule under threads, with a store that dawdles.
 *
 *    clients: write --queue--> writer: begin, dawdle, publish, dawdle, end, acknowledge
 *             get, query: cache, or epoch, read, dawdle, fill
 *
 * Everything that clients see is checked for linearizability, key by key (history.h). Keys are new ones every so often, so
 * that "absent" is cached and replaced again and again. With DYNAX_FAULT=no-epoch-check (a build with FAULTS=1) the check
 * must fail; mk/test.mk sees to it that it does.
 *
 *    cache_race [SECONDS [SEED]]      exit status 0: linearizable */
#include "proxy/coherence.h"
#include "proxy/query_cache.h"
#include "tests/integration/history.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PARTITIONS = 4, ITEMS = 3, KEYS = PARTITIONS * ITEMS, CLIENTS = 6, ROUND_OPS = 400, TABLE = 1 };

struct job {
	unsigned key;
	uint64_t value;
	bool done;
	struct job *next;
};

/* Values are published under `lock`, as a view is: all of a batch at once. */
struct rig {
	struct epochs *epochs;
	struct item_cache *items;
	struct query_cache *queries;
	struct coherence coherence;
	struct store_observer observer;
	pthread_rwlock_t lock;
	uint64_t value[KEYS];
	pthread_mutex_t queue_lock;
	pthread_cond_t queued, done;
	struct job *queue;
	bool stop;
	_Atomic uint64_t next_value;
	uint64_t round;                  /* constant while clients run */
};

struct client {
	struct rig *rig;
	struct history seen;
	uint64_t random;
	pthread_t thread;
};

static uint64_t draw(uint64_t *state)
{
	uint64_t x = *state += 0x9E3779B97F4A7C15u;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

/* Mostly nothing, sometimes a turn of the scheduler, rarely a nap. */
static void dawdle(uint64_t *state)
{
	uint64_t x = draw(state) % 64;

	if (x == 0)
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
	else if (x < 24)
		sched_yield();
}

static uint64_t part_of(const struct rig *r, unsigned key)
{
	return (r->round * PARTITIONS + key / ITEMS) * 0x9E3779B97F4A7C15u;
}

/* Each round has keys of its own. */
static struct slice key_of(const struct rig *r, unsigned key, char text[32])
{
	return slice_of(text, (size_t)snprintf(text, 32, "%llu-%u", (unsigned long long)r->round, key));
}

static struct slice item_of(const uint64_t *value)
{
	return *value != 0 ? slice_of(value, sizeof(*value)) : SLICE_NONE;
}

/* ---- the writer ---- */

static struct job *take(struct rig *r)
{
	struct job *j;

	pthread_mutex_lock(&r->queue_lock);
	while (r->queue == NULL && !r->stop)
		pthread_cond_wait(&r->queued, &r->queue_lock);
	j = r->queue;
	r->queue = NULL;
	pthread_mutex_unlock(&r->queue_lock);
	return j;
}

static void carry_out(struct rig *r, struct job *batch, uint64_t *random)
{
	struct store_change change[CLIENTS] = { 0 };
	char text[CLIENTS][32];
	size_t n = 0;

	for (struct job *j = batch; j != NULL; j = j->next, n++)
		change[n] = (struct store_change){ .table = TABLE, .hash = part_of(r, j->key),
			.key = key_of(r, j->key, text[n]), .item = item_of(&j->value) };
	r->observer.begin(r->observer.arg, change, n);
	dawdle(random);
	pthread_rwlock_wrlock(&r->lock);
	for (struct job *j = batch; j != NULL; j = j->next)
		r->value[j->key] = j->value;
	pthread_rwlock_unlock(&r->lock);
	dawdle(random);
	r->observer.end(r->observer.arg, change, n);
}

static void *writer_run(void *arg)
{
	struct rig *r = arg;
	uint64_t random = 1;
	struct job *batch, *next;

	while ((batch = take(r)) != NULL) {
		carry_out(r, batch, &random);
		pthread_mutex_lock(&r->queue_lock);
		for (struct job *j = batch; j != NULL; j = next) {
			next = j->next;
			j->done = true;
		}
		pthread_cond_broadcast(&r->done);
		pthread_mutex_unlock(&r->queue_lock);
	}
	return NULL;
}

/* ---- clients ---- */

static void saw(struct client *c, unsigned key, uint64_t value, int64_t asked, bool write)
{
	history_add(&c->seen, (struct history_op){ .key = c->rig->round * KEYS + key, .value = value, .asked = asked,
		.answered = history_now(), .write = write });
}

static void do_write(struct client *c, unsigned key)
{
	struct rig *r = c->rig;
	struct job j = { .key = key, .value = ++r->next_value };
	int64_t asked = history_now();
	struct job **end;

	pthread_mutex_lock(&r->queue_lock);
	for (end = &r->queue; *end != NULL; end = &(*end)->next)
		;
	*end = &j;
	pthread_cond_signal(&r->queued);
	while (!j.done)
		pthread_cond_wait(&r->done, &r->queue_lock);
	pthread_mutex_unlock(&r->queue_lock);
	saw(c, key, j.value, asked, true);
}

static void do_get(struct client *c, unsigned key)
{
	struct rig *r = c->rig;
	char text[32];
	struct slice k = key_of(r, key, text);
	uint64_t h = item_cache_hash(TABLE, k), value = 0, epoch;
	int64_t asked = history_now();
	struct buf out;

	buf_init(&out);
	switch (item_cache_get(r->items, TABLE, k, h, 0, &out)) {
	case ITEM_CACHE_HIT:
		memcpy(&value, out.p, sizeof(value));
		break;
	case ITEM_CACHE_NEGATIVE:
		break;
	case ITEM_CACHE_MISS:
		epoch = epoch_load(r->epochs, TABLE, part_of(r, key), false);
		pthread_rwlock_rdlock(&r->lock);
		value = r->value[key];
		pthread_rwlock_unlock(&r->lock);
		dawdle(&c->random);
		item_cache_fill(r->items, TABLE, k, h, part_of(r, key), epoch, 0, item_of(&value));
		break;
	}
	buf_release(&out);
	saw(c, key, value, asked, false);
}

static void do_query(struct client *c, unsigned partition)
{
	struct rig *r = c->rig;
	uint64_t value[ITEMS], epoch;
	char text[32];
	struct slice request = key_of(r, partition * ITEMS, text);
	struct store_query q = { .stripe_table = TABLE, .stripe_hash = part_of(r, partition * ITEMS) };
	int64_t asked = history_now();
	struct buf out;

	buf_init(&out);
	epoch = epoch_load(r->epochs, TABLE, q.stripe_hash, false);
	if (query_cache_get(r->queries, OP_Query, request, &q, epoch, 0, &out)) {
		memcpy(value, out.p, sizeof(value));
	} else {
		pthread_rwlock_rdlock(&r->lock);
		memcpy(value, &r->value[partition * ITEMS], sizeof(value));
		pthread_rwlock_unlock(&r->lock);
		dawdle(&c->random);
		query_cache_fill(r->queries, OP_Query, request, &q, epoch, 0, slice_of(value, sizeof(value)));
	}
	buf_release(&out);
	for (unsigned i = 0; i < ITEMS; i++)
		saw(c, partition * ITEMS + i, value[i], asked, false);
}

static void *client_run(void *arg)
{
	struct client *c = arg;

	for (unsigned i = 0; i < ROUND_OPS; i++) {
		uint64_t x = draw(&c->random);
		unsigned key = (unsigned)(x >> 8) % KEYS;

		if (x % 8 < 2)
			do_write(c, key);
		else if (x % 8 < 6)
			do_get(c, key);
		else
			do_query(c, key / ITEMS);
	}
	return NULL;
}

/* ---- rounds ---- */

static void run_round(struct rig *r, struct client *client)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		pthread_create(&client[i].thread, NULL, client_run, &client[i]);
	for (unsigned i = 0; i < CLIENTS; i++)
		pthread_join(client[i].thread, NULL);
	memset(r->value, 0, sizeof(r->value));
	r->round++;
}

static void rig_open(struct rig *r)
{
	r->epochs = epochs_new(6);       /* few stripes: neighbours get in each other's way */
	r->items = item_cache_new(&(struct item_cache_opts){ .max_bytes = 1 << 20 }, r->epochs);
	r->queries = query_cache_new(&(struct query_cache_opts){ .max_bytes = 1 << 20 }, r->epochs);
	if (r->epochs == NULL || r->items == NULL || r->queries == NULL)
		exit(2);
	r->coherence = (struct coherence){ r->epochs, r->items };
	r->observer = coherence_observer(&r->coherence);
	pthread_rwlock_init(&r->lock, NULL);
	pthread_mutex_init(&r->queue_lock, NULL);
	pthread_cond_init(&r->queued, NULL);
	pthread_cond_init(&r->done, NULL);
}

static void rig_close(struct rig *r, pthread_t writer)
{
	pthread_mutex_lock(&r->queue_lock);
	r->stop = true;
	pthread_cond_signal(&r->queued);
	pthread_mutex_unlock(&r->queue_lock);
	pthread_join(writer, NULL);
	item_cache_free(&r->items);
	query_cache_free(&r->queries);
	epochs_free(&r->epochs);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
	int64_t end = history_now() + (int64_t)(seconds * 1e9);
	struct client client[CLIENTS] = { 0 };
	struct history all = { 0 };
	struct item_cache_stats items;
	struct query_cache_stats queries;
	struct rig r = { 0 };
	pthread_t writer;
	size_t bad;

	rig_open(&r);
	pthread_create(&writer, NULL, writer_run, &r);
	for (unsigned i = 0; i < CLIENTS; i++) {
		client[i].rig = &r;
		client[i].random = seed * CLIENTS + i;
	}
	while (history_now() < end)
		run_round(&r, client);
	item_cache_stats(r.items, &items);
	query_cache_stats(r.queries, &queries);
	rig_close(&r, writer);
	for (unsigned i = 0; i < CLIENTS; i++) {
		history_merge(&all, &client[i].seen);
		history_release(&client[i].seen);
	}
	bad = history_check(&all);
	printf("cache_race: SEED=%llu, %zu operations, item hits %llu, absent hits %llu, fills refused %llu, query hits %llu: "
		"%zu keys not linearizable\n", (unsigned long long)seed, all.n, (unsigned long long)items.hits,
		(unsigned long long)items.negative_hits, (unsigned long long)items.fills_refused,
		(unsigned long long)queries.hits, bad);
	history_release(&all);
	return bad != 0;
}
