/* requests - what benchmarks of the store share: requests in JSON, many under way at once, and the CPU time that it took. */
#ifndef DYNAX_BENCH_REQUESTS_H
#define DYNAX_BENCH_REQUESTS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/json.h"
#include "store/store.h"

enum { IN_FLIGHT = 64 };

static uint64_t cpu_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what != NULL ? what : "failed");
	exit(1);
}

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned left;
};

struct flight {
	struct store_write write;
	struct request req;
	struct arena arena;
	struct buf out;
};

static struct waiting waiting = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };

static void answered(struct store_write *w)
{
	if (w->result != ERR_OK)
		die(w->fault.text);
	pthread_mutex_lock(&waiting.lock);
	if (--waiting.left == 0)
		pthread_cond_signal(&waiting.changed);
	pthread_mutex_unlock(&waiting.lock);
}

/* Carry n changes out together, IN_FLIGHT at most. */
static void request_all(struct store *s, struct store_reader *r, struct json_reader *json, enum op op, const char *const *body,
	unsigned n)
{
	static struct flight all[IN_FLIGHT];
	struct fault f;

	waiting.left = n;
	for (unsigned i = 0; i < n; i++) {
		struct flight *x = &all[i];

		arena_reset(&x->arena);
		buf_clear(&x->out);
		fault_init(&f, &x->arena);
		x->write = (struct store_write){ .req = &x->req, .out = &x->out, .done = answered };
		if (json_read_request(json, op, slice_str(body[i]), &x->arena, &x->req, &f) != ERR_OK
		    || store_prepare(r, &x->write) != ERR_OK)
			die("cannot make a request");
		store_submit(s, &x->write);
	}
	store_reader_quiesce(r);
	pthread_mutex_lock(&waiting.lock);
	while (waiting.left != 0)
		pthread_cond_wait(&waiting.changed, &waiting.lock);
	pthread_mutex_unlock(&waiting.lock);
}

#endif
