/* Flights: who leads and who waits, epochs keep strangers apart (F1), errors reach the waiters only (F3), one copy (F4),
 * and many threads on few keys. */
#include "proxy/flight.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>

struct guest {
	struct flight_waiter w;
	sem_t woken;
};

static void wake(struct flight_waiter *w)
{
	struct guest *g = (struct guest *)(void *)w;

	sem_post(&g->woken);
}

static void guest_init(struct guest *g)
{
	*g = (struct guest){ .w.wake = wake };
	sem_init(&g->woken, 0, 0);
}

static bool is_woken(struct guest *g)
{
	return sem_trywait(&g->woken) == 0;
}

static bool join(struct flights *f, uint64_t epoch, struct flight *own, struct guest *g)
{
	guest_init(g);
	return flight_join(f, 1, SLICE_LIT("hot"), 42, epoch, own, &g->w);
}

Test(flight, one_leads_and_the_others_get_its_bytes)
{
	struct flights *f = flights_new();
	struct flight own[4];
	struct guest g[4];
	uint64_t flying, joined;

	cr_assert(join(f, 2, &own[0], &g[0]));
	cr_assert_not(join(f, 2, &own[1], &g[1]));
	cr_assert_not(join(f, 2, &own[2], &g[2]));
	flights_stats(f, &flying, &joined);
	cr_assert_eq(flying, 1);
	cr_assert_eq(joined, 2);
	cr_assert_not(is_woken(&g[1]));
	flight_land(f, &own[0], ERR_OK, NULL, SLICE_LIT("item"));
	cr_assert(is_woken(&g[1]));
	cr_assert(is_woken(&g[2]));
	cr_assert_eq(g[1].w.result, g[2].w.result, "one copy");
	cr_assert(slice_eq(flight_result_value(g[1].w.result), SLICE_LIT("item")));
	flight_result_unref(&g[1].w.result);
	cr_assert(slice_eq(flight_result_value(g[2].w.result), SLICE_LIT("item")));
	flight_result_unref(&g[2].w.result);
	cr_assert(join(f, 2, &own[3], &g[3]), "landed: the next one reads anew");
	flight_land(f, &own[3], ERR_OK, NULL, SLICE_NONE);
	flights_free(&f);
}

Test(flight, another_epoch_is_another_flight)
{
	struct flights *f = flights_new();
	struct flight own[3];
	struct guest g[3];

	cr_assert(join(f, 2, &own[0], &g[0]));
	cr_assert(join(f, 4, &own[1], &g[1]), "a write came between: the first one's answer is too old for it");
	cr_assert_not(join(f, 4, &own[2], &g[2]));
	flight_land(f, &own[0], ERR_OK, NULL, SLICE_LIT("old"));
	cr_assert_not(is_woken(&g[2]));
	flight_land(f, &own[1], ERR_OK, NULL, SLICE_NONE);
	cr_assert(is_woken(&g[2]));
	cr_assert_not(slice_present(flight_result_value(g[2].w.result)));
	flight_result_unref(&g[2].w.result);
	flights_free(&f);
}

Test(flight, an_error_reaches_the_waiters_with_its_words)
{
	struct flights *f = flights_new();
	struct fault fault = { .code = ERR_THROTTLING, .text = "too fast", .detail = SLICE_LIT("\x80why") }, got;
	struct arena a;
	struct flight own[2];
	struct guest g[2];

	join(f, 2, &own[0], &g[0]);
	join(f, 2, &own[1], &g[1]);
	flight_land(f, &own[0], ERR_THROTTLING, &fault, SLICE_NONE);
	cr_assert(is_woken(&g[1]));
	arena_init(&a, 64);
	fault_init(&got, &a);
	cr_assert_eq(flight_result_fault(g[1].w.result, &got), ERR_THROTTLING);
	flight_result_unref(&g[1].w.result);
	cr_assert_eq(got.code, ERR_THROTTLING);
	cr_assert_str_eq(got.text, "too fast");
	cr_assert(slice_eq(got.detail, fault.detail));
	cr_assert_eq(flight_result_fault(NULL, &got), ERR_NO_MEMORY);
	arena_release(&a);
	flights_free(&f);
}

enum { THREADS = 8, ROUNDS = 20000, KEYS = 3 };

struct herd {
	struct flights *f;
	_Atomic uint64_t reads, shared;
};

static void *herd_run(void *arg)
{
	static const struct slice key[KEYS] = { { (const uint8_t *)"a", 1 }, { (const uint8_t *)"b", 1 },
		{ (const uint8_t *)"c", 1 } };
	struct herd *h = arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct flight own;
		struct guest g;
		unsigned k = i % KEYS;

		guest_init(&g);
		if (flight_join(h->f, 1, key[k], k, 0, &own, &g.w)) {
			h->reads++;
			if (i % 64 == 0)
				sched_yield();
			flight_land(h->f, &own, ERR_OK, NULL, key[k]);
		} else {
			h->shared++;
			sem_wait(&g.woken);
			cr_assert(slice_eq(flight_result_value(g.w.result), key[k]));
			flight_result_unref(&g.w.result);
		}
		sem_destroy(&g.woken);
	}
	return NULL;
}

Test(flight, many_threads_all_come_down)
{
	struct herd h = { .f = flights_new() };
	pthread_t t[THREADS];
	uint64_t flying, joined;

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, herd_run, &h);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	flights_stats(h.f, &flying, &joined);
	cr_assert_eq(flying, 0);
	cr_assert_eq(h.reads + h.shared, (uint64_t)THREADS * ROUNDS);
	cr_assert_eq(joined, h.shared);
	flights_free(&h.f);
}
