/* turn - see turn.h. */
#include "store/engine/turn.h"

enum { SMOOTH = 16 };

void turn_init(struct turn *t)
{
	*t = (struct turn){ .taken = false };
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->given, NULL);
}

void turn_destroy(struct turn *t)
{
	pthread_cond_destroy(&t->given);
	pthread_mutex_destroy(&t->lock);
}

static void give_locked(struct turn *t)
{
	t->taken = false;
	pthread_cond_broadcast(&t->given);
}

void turn_take_log(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	t->log_waits = true;
	while (t->taken)
		pthread_cond_wait(&t->given, &t->lock);
	t->log_waits = false;
	t->taken = true;
	pthread_mutex_unlock(&t->lock);
}

uint64_t turn_take_background(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->taken || t->log_waits)
		pthread_cond_wait(&t->given, &t->lock);
	t->taken = true;
	uint64_t sync_ns = t->sync_ns;

	pthread_mutex_unlock(&t->lock);
	return sync_ns;
}

void turn_give_log(struct turn *t, uint64_t start, uint64_t now)
{
	pthread_mutex_lock(&t->lock);
	t->last_ns = start;
	t->sync_ns += (now - start) / SMOOTH - t->sync_ns / SMOOTH;
	give_locked(t);
	pthread_mutex_unlock(&t->lock);
}

uint64_t turn_log_last(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	uint64_t last = t->last_ns;

	pthread_mutex_unlock(&t->lock);
	return last;
}

void turn_give_background(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	give_locked(t);
	pthread_mutex_unlock(&t->lock);
}
