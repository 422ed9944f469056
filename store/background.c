/* background - see background.h. */
#include "store/background.h"

#include "protocol/messages.h"
#include "protocol/monotonic.h"
#include "store/keycode.h"
#include "store/writer.h"

/* ---- rounds ---- */

void rounds_init(struct rounds *r)
{
	*r = (struct rounds){ .due = true };
	pthread_mutex_init(&r->lock, NULL);
	monotonic_cond_init(&r->changed);
}

void rounds_release(struct rounds *r)
{
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}

bool rounds_next(struct rounds *r, unsigned ms)
{
	struct timespec until = monotonic_in_ms(ms);

	pthread_mutex_lock(&r->lock);
	r->ended = r->begun;
	pthread_cond_broadcast(&r->changed);
	while (!r->stopping && !r->due && pthread_cond_timedwait(&r->changed, &r->lock, &until) == 0)
		;
	bool go_on = !r->stopping;

	r->asked = r->due;
	r->due = false;
	r->begun++;
	pthread_mutex_unlock(&r->lock);
	return go_on;
}

void rounds_wake(struct rounds *r)
{
	pthread_mutex_lock(&r->lock);
	r->due = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void rounds_settle(struct rounds *r)
{
	pthread_mutex_lock(&r->lock);
	uint64_t wanted = r->begun + 1; /* the one under way may have passed by what is due now */

	r->due = true;
	pthread_cond_broadcast(&r->changed);
	while (!r->stopping && r->ended < wanted)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

void rounds_stop(struct rounds *r)
{
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

bool rounds_stopping(struct rounds *r)
{
	pthread_mutex_lock(&r->lock);
	bool stop = r->stopping;

	pthread_mutex_unlock(&r->lock);
	return stop;
}

/* ---- writing ---- */

void own_write_init(struct own_write *o, struct store *s)
{
	o->store = s;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
}

void own_write_release(struct own_write *o)
{
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
}

static void done(struct store_write *w)
{
	struct own_write *o = w->arg;

	pthread_mutex_lock(&o->lock);
	o->done = true;
	pthread_cond_signal(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

enum err own_write_run(struct own_write *o, struct arena *a, enum err (*apply)(struct write_batch *b, struct store_write *w),
	void *control)
{
	/* No record: nobody reads it. */
	struct request req = { .op = OP_UpdateTable, .arena = a };
	struct write_plan plan = { .apply = apply, .control = control };
	struct buf out;
	struct store_write w = { .req = &req, .out = &out, .plan = &plan, .done = done, .arg = o };

	buf_init(&out);
	fault_init(&w.fault, a);
	o->done = false;
	writer_submit(o->store->writer, &w);
	pthread_mutex_lock(&o->lock);
	while (!o->done)
		pthread_cond_wait(&o->changed, &o->lock);
	pthread_mutex_unlock(&o->lock);
	buf_release(&out);
	return w.result;
}

/* ---- reading ---- */

static enum err take_keys(struct cursor *c, struct arena *a, struct slice *key, unsigned max, unsigned *n, struct fault *f)
{
	while (*n < max) {
		struct slice k, value;
		enum err rc = cursor_next(c, &k, &value, f);

		if (rc != ERR_OK || !slice_present(k))
			return rc;
		key[*n] = arena_copy(a, k);
		if (!slice_present(key[*n]))
			return fault_set(f, MSG_NO_MEMORY);
		++*n;
	}
	return ERR_OK;
}

enum err key_page(struct engine *e, struct buf *from, struct slice to, struct arena *a, struct slice *key, unsigned max,
	unsigned *n, struct fault *f)
{
	struct view *v = NULL;
	struct cursor *c = NULL;
	enum err rc = view_open(e, &v, f);

	*n = 0;
	if (rc == ERR_OK)
		rc = cursor_open(v, buf_slice(from), to, false, &c, f);
	if (rc == ERR_OK)
		rc = take_keys(c, a, key, max, n, f);
	cursor_close(&c);
	view_close(&v);
	if (rc != ERR_OK || *n == 0)
		return rc;
	buf_clear(from);
	buf_put_slice(from, key[*n - 1]);
	keycode_after(from);
	return from->failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;
}
