/* fast_get - see fast_get.h. The request is recognised by its bytes alone: a record is canonical, so there is one spelling. */
#include "proxy/fast_get.h"

#include "protocol/value.h"
#include "proxy/read_plan.h"

/* The bytes of the records that are recognised (shape.h; PROTOCOL.md section 4). */
enum { MAP2 = 0x82, MAP3 = 0x83, BOOL_FALSE = 0xc2, BOOL_TRUE = 0xc3, FIXSTR = 0xa0, STR8 = 0xd9 };
enum { SHORTEST = 8 };   /* no simple GetItem has fewer bytes */

/* A str in its shortest form, 1 to 255 bytes, that ends the body. */
static bool last_name(const uint8_t *p, const uint8_t *end, struct slice *name)
{
	size_t left = (size_t)(end - p);

	if (left < 2)
		return false;
	if ((p[0] & 0xe0) == FIXSTR)
		*name = slice_of(p + 1, p[0] & 0x1f);
	else if (p[0] == STR8 && p[1] > 31)
		*name = slice_of(p + 2, p[1]);
	else
		return false;
	return name->n > 0 && name->p + name->n == end;
}

static bool recognise(struct slice body, struct slice *key, struct slice *name, bool *consistent)
{
	const uint8_t *p = body.p, *end = p + body.n;
	struct mp m;

	if (body.n < SHORTEST)
		return false;
	*consistent = p[0] == MAP3 && p[2] == BOOL_TRUE;
	if (p[0] == MAP2)
		p += 1;
	else if (p[0] == MAP3 && p[1] == GetItemInput_ConsistentRead && (p[2] == BOOL_FALSE || p[2] == BOOL_TRUE))
		p += 3;
	else
		return false;
	if (p[0] != GetItemInput_Key)
		return false;
	m = mp_open(slice_of(p + 1, (size_t)(end - p - 1)));
	*key = mp_skip(&m);
	if (m.bad || m.p == end || m.p[0] != GetItemInput_TableName)
		return false;
	return last_name(m.p + 1, end, name);
}

/* The cache will ask for the epoch of the key's partition: the last of three waits for memory, and the one that can begin at
 * once. */
static void prefetch_epoch(struct worker *w, const struct table *t, struct slice key)
{
	struct slice part = map_get(key, t->key.hash[0].name);

	if (slice_present(part))
		epoch_prefetch(w->epochs, t->id, store_hash(&part, 1));
}

static const struct table *find_table(struct worker *w, struct fast_memo *memo, struct slice name)
{
	if (memo->event_number != w->event_number || !slice_eq(slice_of(memo->name, memo->n), name)) {
		memo->event_number = w->event_number;
		memo->n = name.n;
		memcpy(memo->name, name.p, name.n);
		memo->table = w->backend->ops->table(w->reader, name);
	}
	return memo->table;
}

void fast_get_read(struct worker *w, struct fast_memo *memo, struct slice body, struct fast_get *g)
{
	struct slice name;

	g->table = NULL;
	if (w->items == NULL || !recognise(body, &g->key, &name, &g->consistent))
		return;
	g->table = find_table(w, memo, name);
	if (g->table == NULL)
		return;
	g->hash = item_cache_hash(g->table->id, g->key);
	item_cache_prefetch(w->items, g->hash);
	prefetch_epoch(w, g->table, g->key);
}

/* The answer's record. False, with nothing written, on a miss. */
static bool put_record(struct worker *w, const struct fast_get *g, struct buf *out, unsigned *units)
{
	static const uint8_t with_item[] = { 0x81, GetItemOutput_Item }, without[] = { 0x80 };
	size_t at = out->n;
	enum item_cache_result r;

	buf_put(out, with_item, sizeof(with_item));
	r = item_cache_try(w->items, g->table->id, g->key, g->hash, w->now_ns, out, units);
	if (r != ITEM_CACHE_HIT)
		out->n = at;
	if (r == ITEM_CACHE_NEGATIVE)
		buf_put(out, without, sizeof(without));
	return r != ITEM_CACHE_MISS && !out->failed;
}

static void count_hit(struct worker *w, const struct fast_get *g, unsigned units)
{
	meter_save(g->table->meter, read_saved(units, g->consistent ? READ_STRONG : READ_EVENTUAL));
	w->fast_hits++;
}

bool fast_get_record(struct worker *w, const struct fast_get *g, struct buf *out)
{
	unsigned units;

	if (!put_record(w, g, out, &units))
		return false;
	count_hit(w, g, units);
	return true;
}

bool fast_get_answer(struct worker *w, const struct fast_get *g, uint32_t id, size_t max_frame, struct buf *out)
{
	size_t at = frame_begin(out, FRAME_ANSWER, FRAME_CACHE_HIT, id);
	unsigned units;

	if (!put_record(w, g, out, &units) || out->n - at > max_frame) {
		out->n = at;
		return false;
	}
	count_hit(w, g, units);
	frame_end(out, at);
	return true;
}

void fast_get_count(struct worker *w)
{
	w->last_ns = monotonic_ns();
	metrics_observe(w->metrics, OP_GetItem, ERR_OK, FRAME_CACHE_HIT, w->last_ns - w->now_ns, w->fast_hits);
	metrics_count(w->metrics, METRIC_FAST_HITS, w->fast_hits);
	w->fast_hits = 0;
}
