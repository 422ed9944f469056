/* turn - see turn.h. */
#include "store/engine/turn.h"

#include "protocol/monotonic.h"

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

void turn_hold_log(struct turn *t, bool held)
{
	pthread_mutex_lock(&t->lock);
	t->log_held = held;
	pthread_cond_broadcast(&t->given);
	pthread_mutex_unlock(&t->lock);
}

static void wait_while_held_locked(struct turn *t)
{
	uint64_t start = monotonic_ns();

	while (t->log_held)
		pthread_cond_wait(&t->given, &t->lock);
	t->held_ns += monotonic_ns() - start;
}

void turn_take_log(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	t->log_waits = true;
	if (t->log_held)
		wait_while_held_locked(t);
	while (t->taken)
		pthread_cond_wait(&t->given, &t->lock);
	t->log_waits = false;
	t->taken = true;
	pthread_mutex_unlock(&t->lock);
}

void turn_take_background(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->taken || (t->log_waits && !t->log_held))
		pthread_cond_wait(&t->given, &t->lock);
	t->taken = true;
	pthread_mutex_unlock(&t->lock);
}

void turn_give(struct turn *t)
{
	pthread_mutex_lock(&t->lock);
	t->taken = false;
	pthread_cond_broadcast(&t->given);
	pthread_mutex_unlock(&t->lock);
}
