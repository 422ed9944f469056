#include "store/keeper.h"

#include <stdlib.h>
#include <time.h>

#include "protocol/messages.h"
#include "store/partition.h"

enum { INTERVAL_MS = 5000 };

bool keeper_stopping(struct keeper *k)
{
	pthread_mutex_lock(&k->lock);
	bool stop = k->stopping;

	pthread_mutex_unlock(&k->lock);
	return stop;
}

void keeper_wake(struct keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->due = true;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->lock);
}

/* False when it is time to go. */
static bool wait_a_round(struct keeper *k)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += k->interval_ms / 1000;
	until.tv_nsec += (long)(k->interval_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&k->lock);
	while (!k->stopping && !k->due && pthread_cond_timedwait(&k->changed, &k->lock, &until) == 0)
		;
	bool go_on = !k->stopping;

	k->due = false;

	pthread_mutex_unlock(&k->lock);
	return go_on;
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;

	do {
		partitions_tend(k);
		ttl_fill(k);
		ttl_sweep(k);
		streams_trim(k);
	} while (wait_a_round(k));
	return NULL;
}

static void release(struct keeper *k)
{
	catalog_leave(&k->store->catalog, &k->reader);
	arena_release(&k->arena);
	own_write_release(&k->write);
	pthread_cond_destroy(&k->changed);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

enum err keeper_start(struct store *s, unsigned interval_ms, struct keeper **out, struct fault *f)
{
	struct keeper *k = calloc(1, sizeof *k);
	pthread_condattr_t monotonic;

	if (k == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	k->store = s;
	k->interval_ms = interval_ms != 0 ? interval_ms : INTERVAL_MS;
	own_write_init(&k->write, s);
	arena_init(&k->arena, 0);
	catalog_join(&s->catalog, &k->reader);
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&k->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&k->thread, NULL, keeper_main, k) != 0) {
		release(k);
		return fault_set(f, MSG_NO_MEMORY);
	}
	*out = k;
	return ERR_OK;
}

void keeper_stop(struct keeper **k)
{
	if (*k == NULL)
		return;
	pthread_mutex_lock(&(*k)->lock);
	(*k)->stopping = true;
	pthread_cond_signal(&(*k)->changed);
	pthread_mutex_unlock(&(*k)->lock);
	pthread_join((*k)->thread, NULL);
	release(*k);
	*k = NULL;
}
