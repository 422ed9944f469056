/* http_get - see http_get.h. */
#include "proxy/http_get.h"

#include <stdlib.h>

#include "protocol/json.h"

bool http_get_setup(struct worker *w)
{
	if (w->http_memo == NULL)
		w->http_memo = calloc(1, sizeof(*w->http_memo));
	return w->http_memo != NULL;
}

static void find(struct worker *w, struct http_get *g)
{
	g->event_number = w->event_number;
	fast_get_read(w, w->http_memo, slice_of(g->record, g->n), &g->get);
}

void http_get_read(struct worker *w, struct http_get *g, struct slice body)
{
	struct slice record;

	g->n = 0;
	if (!json_read_record(w->json, OP_GetItem, body, &record) || record.n > sizeof(g->record))
		return;
	memcpy(g->record, record.p, record.n);
	g->n = (uint32_t)record.n;
	find(w, g);
	w->fetch_hash = g->get.table != NULL ? g->get.hash : 0;
}

void http_get_fetch(struct worker *w)
{
	if (w->fetch_hash == 0)
		return;
	item_cache_prefetch_entry(w->items, w->fetch_hash);
	w->fetch_hash = 0;
}

bool http_get_answer(struct worker *w, struct http_get *g, const struct http_answer *a, struct buf *out)
{
	struct buf record;
	bool hit;

	if (g->event_number != w->event_number)
		find(w, g);
	if (g->get.table == NULL)
		return false;
	record = worker_borrow_buf(w);
	hit = fast_get_record(w, &g->get, &record);
	if (hit)
		http_answer_hit(w, a, OP_GetItem, buf_slice(&record), out);
	worker_return_buf(w, &record);
	return hit;
}
