/* offload - see offload.h. */
#include "proxy/offload.h"

#include <pthread.h>
#include <stdlib.h>

#include "protocol/thread.h"

enum { THREADS_MAX = 16 };

struct offload {
	pthread_mutex_t lock;              /* of the next three */
	pthread_cond_t more;
	struct offload_job *first, **last;
	bool stopping;
	unsigned threads;
	pthread_t thread[THREADS_MAX];
};

/* The next job, or NULL when stopping and all is done. */
static struct offload_job *take(struct offload *o)
{
	pthread_mutex_lock(&o->lock);
	while (o->first == NULL && !o->stopping)
		pthread_cond_wait(&o->more, &o->lock);
	struct offload_job *j = o->first;

	if (j != NULL) {
		o->first = j->next;
		if (o->first == NULL)
			o->last = &o->first;
	}
	pthread_mutex_unlock(&o->lock);
	return j;
}

static void *work(void *arg)
{
	struct offload *o = arg;
	struct offload_job *j;

	while ((j = take(o)) != NULL) {
		j->run(j);
		mailbox_post(j->to, &j->mail);
	}
	return NULL;
}

struct offload *offload_new(const char *name, unsigned threads)
{
	struct offload *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->more, NULL);
	o->last = &o->first;
	while (o->threads < threads && o->threads < THREADS_MAX &&
	       thread_start(&o->thread[o->threads], work, o, "%s-%u", name, o->threads) == 0)
		o->threads++;
	if (o->threads == 0)
		offload_free(&o);
	return o;
}

void offload_free(struct offload **op)
{
	struct offload *o = *op;

	if (o == NULL)
		return;
	pthread_mutex_lock(&o->lock);
	o->stopping = true;
	pthread_cond_broadcast(&o->more);
	pthread_mutex_unlock(&o->lock);
	for (unsigned i = 0; i < o->threads; i++)
		pthread_join(o->thread[i], NULL);
	pthread_cond_destroy(&o->more);
	pthread_mutex_destroy(&o->lock);
	free(o);
	*op = NULL;
}

void offload_put(struct offload *o, struct offload_job *j)
{
	j->next = NULL;
	pthread_mutex_lock(&o->lock);
	*o->last = j;
	o->last = &j->next;
	pthread_cond_signal(&o->more);
	pthread_mutex_unlock(&o->lock);
}
