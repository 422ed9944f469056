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

struct turn_log turn_take_checkpoint(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->taken || t->log_waits)
		pthread_cond_wait(&t->given, &t->lock);
	t->taken = true;
	struct turn_log log = t->log;

	pthread_mutex_unlock(&t->lock);
	return log;
}

void turn_give_log(struct turn *t, uint64_t start, uint64_t now)
{
	pthread_mutex_lock(&t->lock);
	t->log.last_ns = start;
	t->log.sync_ns += (now - start) / SMOOTH - t->log.sync_ns / SMOOTH;
	give_locked(t);
	pthread_mutex_unlock(&t->lock);
}

void turn_give_checkpoint(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	give_locked(t);
	pthread_mutex_unlock(&t->lock);
}
