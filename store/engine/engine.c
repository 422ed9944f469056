/* engine - opening, closing and looking inside. The parts: writer.c, view.c, cursor.c, state.c, memtable.c. */
#include "store/engine/engine_int.h"

#include "protocol/messages.h"
#include "store/engine/log_format.h"

#include <stdlib.h>

static const size_t OVERLAY_DEFAULT = (size_t)512 << 20, SEGMENT_DEFAULT = (size_t)64 << 20,
	MAP_DEFAULT = (size_t)1 << 40;

static void set_defaults(struct engine_opts *o)
{
	if (o->overlay_bytes == 0)
		o->overlay_bytes = OVERLAY_DEFAULT;
	if (o->segment_bytes == 0)
		o->segment_bytes = SEGMENT_DEFAULT;
	if (o->map_max_bytes == 0)
		o->map_max_bytes = MAP_DEFAULT;
}

static enum err open_overlay(struct engine *e, struct fault *f)
{
	struct memtable *t = memtable_new(e->opts.overlay_bytes / 4);
	struct state *s = t != NULL ? state_new(&t, 1) : NULL;

	if (s == NULL) {
		memtable_free(&t);
		return fault_set(f, MSG_NO_MEMORY);
	}
	state_install_locked(e, s);
	return ERR_OK;
}

enum err engine_open(const struct engine_opts *o, struct engine **out, struct fault *f)
{
	struct engine *e = calloc(1, sizeof *e);

	*out = NULL;
	if (e == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	e->opts = *o;
	set_defaults(&e->opts);
	pthread_mutex_init(&e->lock, NULL);
	buf_init(&e->w.batch);
	e->w.batch.max = LOG_BATCH_MAX;
	e->w.next_lsn = 1;
	enum err rc = open_overlay(e, f);

	if (rc != ERR_OK)
		engine_close(&e);
	*out = e;
	return rc;
}

static void free_views(struct engine *e)
{
	while (e->view_pool != NULL) {
		struct view *v = e->view_pool;

		e->view_pool = v->next_free;
		free(v);
	}
}

static void free_tables(struct engine *e)
{
	if (e->state != NULL)
		state_unref_locked(e, e->state);
	while (e->dead != NULL) {
		struct memtable *t = e->dead;

		e->dead = t->next_dead;
		memtable_free(&t);
	}
}

void engine_close(struct engine **ep)
{
	struct engine *e = *ep;

	if (e == NULL)
		return;
	view_close(&e->w.view);
	free_views(e);
	free_tables(e);
	buf_release(&e->w.batch);
	free(e->w.undo);
	pthread_mutex_destroy(&e->lock);
	free(e);
	*ep = NULL;
}

uint64_t engine_published(const struct engine *e)
{
	return atomic_load_explicit(&e->published, memory_order_acquire);
}

void engine_stats(struct engine *e, struct engine_stats *out)
{
	*out = (struct engine_stats){
		.lsn_published = engine_published(e),
		.batches = atomic_load_explicit(&e->batches, memory_order_relaxed),
		.transactions = atomic_load_explicit(&e->transactions, memory_order_relaxed),
	};
	pthread_mutex_lock(&e->lock);
	for (unsigned i = 0; i < e->state->n; i++)
		out->overlay_bytes += atomic_load_explicit(&e->state->table[i]->bytes, memory_order_relaxed);
	pthread_mutex_unlock(&e->lock);
}
