/* op_store - operations that go straight to the backend: writes, changes of the catalog, and descriptions of it.
 *
 *    worker: prepare (request_check, expressions, key) -> submit --mail--> done -> answer
 *
 * Caches need no word from here: the store's observer tells them before the write is answered (epoch.h). */
#include "proxy/backend.h"
#include "proxy/handlers.h"
#include "proxy/worker.h"

static void write_over(struct call *c, struct store_write *w)
{
	c->fault = w->fault;
	if (w->result != ERR_OK)
		call_fail(c);
	else
		call_answer(c, FRAME_CACHE_NONE);
}

static void write_done(struct store_write *w)
{
	write_over(w->arg, w);
}

void op_write(struct call *c)
{
	struct backend *b = c->worker->backend;
	struct store_write *w = call_state(c, sizeof(*w));

	if (w == NULL)
		return;
	*w = (struct store_write){ .req = &c->req, .out = &c->out, .fault = c->fault, .done = write_done, .arg = c };
	w->result = b->ops->prepare(c->worker->reader, w);
	if (w->result != ERR_OK)
		write_over(c, w);
	else
		b->ops->submit(c->worker->reader, w);
}

void op_describe(struct call *c)
{
	struct worker *w = c->worker;

	if (w->backend->ops->describe(w->reader, &c->req, &c->out, &c->fault) != ERR_OK)
		call_fail(c);
	else
		call_answer(c, FRAME_CACHE_NONE);
}
