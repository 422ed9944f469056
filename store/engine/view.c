/* view - one consistent moment of the engine: LSN, memtables, LMDB snapshot. E3 in engine_int.h says why it is one.
 *
 * Views are pooled together with their LMDB transactions, so that opening one is a lock and a renewal. A pooled view
 * holds no snapshot: LMDB may reuse what it freed.
 *
 * Threads: any; a view belongs to one at a time. */
#include "store/engine/engine_int.h"
#include "store/engine/keyspace.h"

#include "protocol/messages.h"

#include <stdlib.h>

static enum err view_new(struct engine *e, struct view **out, struct fault *f)
{
	struct view *v = calloc(1, sizeof *v);

	if (v == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	v->engine = e;
	enum err rc = lmdb_read_open(e->index, &v->txn, f);

	if (rc == ERR_OK)
		*out = v;
	else
		free(v);
	return rc;
}

/* Renewing is some stores into LMDB's reader table: short enough for the lock, and so snapshot, state and LSN are
 * of one moment without further ado. */
static enum err take_locked(struct engine *e, struct view **out, struct fault *f)
{
	struct view *v = e->view_pool;

	if (v == NULL)
		return view_new(e, out, f);
	enum err rc = lmdb_read_renew(v->txn, f);

	if (rc != ERR_OK)
		return rc;
	e->view_pool = v->next_free;
	*out = v;
	return ERR_OK;
}

static enum err open_at(struct engine *e, bool newest, struct view **out, struct fault *f)
{
	*out = NULL;
	pthread_mutex_lock(&e->lock);
	enum err rc = take_locked(e, out, f);

	if (rc == ERR_OK) {
		struct view *v = *out;

		v->state = e->state;
		v->state->refs++;
		v->lsn = newest ? UINT64_MAX : atomic_load_explicit(&e->published, memory_order_relaxed);
	}
	pthread_mutex_unlock(&e->lock);
	return rc;
}

enum err view_open(struct engine *e, struct view **v, struct fault *f)
{
	return open_at(e, false, v, f);
}

enum err view_of_writer(struct engine *e, struct view **v, struct fault *f)
{
	return open_at(e, true, v, f);
}

void view_close(struct view **vp)
{
	struct view *v = *vp;

	if (v == NULL)
		return;
	struct engine *e = v->engine;

	lmdb_read_reset(v->txn);
	pthread_mutex_lock(&e->lock);
	state_unref_locked(e, v->state);
	v->state = NULL;
	v->next_free = e->view_pool;
	e->view_pool = v;
	pthread_mutex_unlock(&e->lock);
	*vp = NULL;
}

uint64_t view_lsn(const struct view *v)
{
	return v->lsn;
}

enum err view_get(struct view *v, struct slice key, struct slice *value, struct fault *f)
{
	uint64_t hash = memtable_hash(key);

	for (unsigned i = 0; i < v->state->n; i++) {
		const struct memversion *found = memtable_get(v->state->table[i], key, hash, v->lsn);

		if (found != NULL) {
			*value = found->deleted ? SLICE_NONE : slice_of(found->bytes, found->n);
			return ERR_OK;
		}
	}
	return keyspace_get(v->txn, key, value, f);
}

void view_free_pool(struct engine *e)
{
	while (e->view_pool != NULL) {
		struct view *v = e->view_pool;

		e->view_pool = v->next_free;
		lmdb_read_close(&v->txn);
		free(v);
	}
}
