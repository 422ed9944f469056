/* keeper - see keeper.h. */
#include "store/keeper.h"

#include <stdlib.h>

#include "protocol/messages.h"
#include "protocol/thread.h"
#include "store/minutely.h"
#include "store/partition.h"

enum { INTERVAL_MS = 5000, WATCH_MS = 1000 };

bool keeper_stopping(struct keeper *k)
{
	return rounds_stopping(&k->rounds);
}

void keeper_wind_down(struct keeper *k)
{
	rounds_stop(&k->rounds);
}

void keeper_settle(struct keeper *k)
{
	rounds_settle(&k->rounds);
}

static void tend_all(struct keeper *k)
{
	tables_clear(k);
	minutely_tend(k);
	partitions_tend(k);
	ttl_fill(k);
	ttl_sweep(k);
	streams_trim(k);
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;
	unsigned rest = 0;                   /* ms until the next look at everything */
	unsigned wait = 0;

	while (rounds_next(&k->rounds, wait)) {
		rest = k->rounds.asked || wait >= rest ? 0 : rest - wait;
		if (rest != 0) {
			partitions_watch(k);
		} else {
			tend_all(k);
			rest = k->interval_ms;
		}
		wait = rest < WATCH_MS ? rest : WATCH_MS;
	}
	return NULL;
}

static void release(struct keeper *k)
{
	catalog_leave(&k->store->catalog, &k->reader);
	arena_release(&k->arena);
	own_write_release(&k->write);
	rounds_release(&k->rounds);
	free(k);
}

enum err keeper_start(struct store *s, unsigned interval_ms, struct keeper **out, struct fault *f)
{
	struct keeper *k = calloc(1, sizeof *k);

	if (k == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	k->store = s;
	k->interval_ms = interval_ms != 0 ? interval_ms : INTERVAL_MS;
	own_write_init(&k->write, s);
	arena_init(&k->arena, 0);
	catalog_join(&s->catalog, &k->reader);
	rounds_init(&k->rounds);
	if (thread_start(&k->thread, keeper_main, k, "keeper") != 0) {
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
	rounds_stop(&(*k)->rounds);
	pthread_join((*k)->thread, NULL);
	release(*k);
	*k = NULL;
}
