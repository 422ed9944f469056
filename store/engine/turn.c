/* turn - see turn.h. */
#include "store/engine/turn.h"

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

void turn_take_log(struct turn *t, uint64_t now_ns)
{
	pthread_mutex_lock(&t->lock);
	t->log_waits = true;
	while (t->taken)
		pthread_cond_wait(&t->given, &t->lock);
	t->log_waits = false;
	t->taken = true;
	t->log_ns = now_ns;
	pthread_mutex_unlock(&t->lock);
}

uint64_t turn_take_checkpoint(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->taken || t->log_waits)
		pthread_cond_wait(&t->given, &t->lock);
	t->taken = true;
	uint64_t log_ns = t->log_ns;

	pthread_mutex_unlock(&t->lock);
	return log_ns;
}

void turn_give(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	t->taken = false;
	pthread_cond_broadcast(&t->given);
	pthread_mutex_unlock(&t->lock);
}
