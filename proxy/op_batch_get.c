/* op_batch_get - BatchGetItem: each key through the item cache, the cold ones together from one view of the store.
 *
 *    check --> cache: prefetch all, then look up all --every key is known------------------> answer
 *                                       \--cold ones--> epochs --> one read --> fills ----> answer
 *
 * Each item is current by itself, as it would be from a GetItem; all that came from the store are from one moment.
 *
 * Keys for which a table has no throughput left come back as UnprocessedKeys; if that is all of them, the request fails. What
 * the cache has costs nothing.
 *
 * The answer holds at most 16 MB of items (as stored, before they are projected). From the first key that would pass that on,
 * keys come back as UnprocessedKeys, with everything that was said about their table.
 *
 * Megabytes are copied a piece each turn of the worker's loop, so that its other connections need not wait for all of them.
 * What was read on the worker is only lent, and goes in one piece: the backend reads few keys there.
 *
 * Threads: on the call's worker. Ownership: the state lives in the call's arena; bytes of cached items in `items`, those of
 * items that reader threads have read in `kept`. */
#include "protocol/messages.h"
#include "proxy/fault_point.h"
#include "proxy/handlers.h"
#include "proxy/read_plan.h"
#include "proxy/worker.h"

enum { KEYS_MAX = 100, ANSWER_BYTES_MAX = 16 << 20, PIECE_BYTES = 256 << 10 };

struct batch_table {
	struct slice name;               /* as the request has it */
	struct record in;                /* KeysAndAttributes */
	const struct table *table;
	struct read_plan plan;
	enum read_consistency consistency;
	unsigned first, n;               /* its keys */
	uint64_t read;                   /* halves */
};

struct batch_key {
	struct batch_table *of;
	struct slice key;
	uint64_t part, hash, epoch;
	bool cold, unprocessed;
	size_t at;                       /* of a cached item, in items */
	struct slice item;               /* absent: there is none */
};

struct batch_get {
	struct call *call;
	struct batch_table *table;
	unsigned tables;
	struct batch_key key[KEYS_MAX];
	unsigned keys;
	struct buf items, kept;
	struct backend_key cold[KEYS_MAX];
	unsigned colds;
	struct backend_read read;
	/* Between two turns. */
	struct mail mail;
	void (*go_on)(struct batch_get *b);
	size_t piece;                    /* bytes copied in this turn */
	unsigned looked, filled;         /* keys that are done with */
	size_t record, list;             /* where the answer's record and a table's list begin */
	unsigned members, put_table, put_key;
	uint32_t put;                    /* items in the list */
};

/* ---- pieces ---- */

static void next_turn(struct mail *m)
{
	struct batch_get *b = (struct batch_get *)(void *)((char *)m - offsetof(struct batch_get, mail));
	struct worker *w = b->call->worker;

	b->piece = 0;
	w->backend->ops->hold(w->reader, false);
	b->go_on(b);
}

/* So many bytes were copied. True if that is enough for this turn: then go_on is called in the next one. */
static bool copied(struct batch_get *b, size_t bytes, void (*go_on)(struct batch_get *b))
{
	struct worker *w = b->call->worker;

	b->piece += bytes;
	if (b->piece < PIECE_BYTES)
		return false;
	b->go_on = go_on;
	b->mail.deliver = next_turn;
	w->backend->ops->hold(w->reader, true);
	mailbox_post(&w->mailbox, &b->mail);
	return true;
}

/* ---- check ---- */

static enum err add_key(struct batch_get *b, struct batch_table *t, struct slice key)
{
	struct fault *f = &b->call->fault;
	uint64_t hash = item_cache_hash(0, key);

	if (b->keys == KEYS_MAX)
		return fault_set(f, MSG_BATCH_GET_MANY);
	for (unsigned i = t->first; i < b->keys; i++)
		if (b->key[i].hash == hash && slice_eq(b->key[i].key, key))
			return fault_set(f, MSG_DUPLICATE_KEYS);
	b->key[b->keys++] = (struct batch_key){ .of = t, .key = key, .hash = hash };
	t->n++;
	return ERR_OK;
}

static enum err read_one_table(struct batch_get *b, struct batch_table *t)
{
	static const struct read_members ids = { KeysAndAttributes_AttributesToGet,
		KeysAndAttributes_ExpressionAttributeNames, KeysAndAttributes_ProjectionExpression };
	struct call *c = b->call;
	uint32_t n;
	struct mp keys;
	enum err rc = read_plan_bind(&t->plan, c->worker, &c->req, &t->in, &ids, &c->fault);

	t->consistency = record_bool(&t->in, KeysAndAttributes_ConsistentRead) ? READ_STRONG : READ_EVENTUAL;
	t->first = b->keys;
	keys = record_list(&t->in, KeysAndAttributes_Keys, &n);
	for (; n > 0 && rc == ERR_OK; n--)
		rc = add_key(b, t, mp_skip(&keys));
	return rc;
}

static enum err read_request(struct batch_get *b)
{
	struct call *c = b->call;
	uint32_t n;
	struct mp m = record_list(&c->req.in, BatchGetItemInput_RequestItems, &n);
	enum err rc = ERR_OK;

	b->table = arena_zalloc(&c->arena, n * sizeof(*b->table));
	if (b->table == NULL)
		return fault_set(&c->fault, MSG_NO_MEMORY);
	for (; n > 0 && rc == ERR_OK; n--) {
		struct batch_table *t = &b->table[b->tables++];

		t->name = mp_str(&m);
		if (!record_open(&t->in, &shape_KeysAndAttributes, mp_skip(&m)))
			return fault_set(&c->fault, MSG_RECORD_BAD, "BatchGetItem");
		rc = read_one_table(b, t);
	}
	return rc;
}

/* Tables first, then the keys of each, as the service complains. */
static enum err check_tables(struct batch_get *b)
{
	struct call *c = b->call;
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < b->tables && rc == ERR_OK; i++)
		rc = read_table(c->worker, b->table[i].name, &b->table[i].table, &c->fault);
	for (unsigned i = 0; i < b->keys && rc == ERR_OK; i++)
		rc = store_check_key(b->key[i].of->table, b->key[i].key, &b->key[i].part, &c->fault);
	for (unsigned i = 0; i < b->tables && rc == ERR_OK; i++)
		rc = store_check_paths(b->table[i].table, b->table[i].plan.projection, NULL, &c->fault);
	return rc;
}

/* ---- answer ---- */

static void batch_release(struct batch_get *b)
{
	for (unsigned i = 0; i < b->tables; i++)
		read_plan_release(&b->table[i].plan);
	worker_return_buf(b->call->worker, &b->items);
	buf_release(&b->kept);
}

static void batch_fail(struct batch_get *b)
{
	batch_release(b);
	call_fail(b->call);
}

/* What fits, and what that costs. */
static void settle_sizes(struct batch_get *b)
{
	size_t bytes = 0;
	bool full = false;

	for (unsigned i = 0; i < b->keys; i++) {
		struct batch_key *k = &b->key[i];

		if (k->unprocessed)
			continue;
		if (!full && slice_present(k->item)) {
			bytes += item_size(k->item);
			full = bytes > ANSWER_BYTES_MAX;
		}
		k->unprocessed = full;
		if (!full)
			k->of->read += read_cost(k->item, k->of->consistency);
	}
}

static void put_consumed(struct batch_get *b, enum report report, struct buf *out)
{
	size_t at = list_begin(out);
	uint32_t n = 0;

	for (unsigned i = 0; i < b->tables; i++) {
		struct consumed used = { .table = b->table[i].name, .read = b->table[i].read };

		if (used.read == 0)
			continue;
		consumed_put(out, &used, report, false);
		n++;
	}
	list_end(out, at, n);
}

static void put_rest(struct batch_get *b);

/* The items of the table that is next, from the key on that is next; false if the rest has to wait for another turn. */
static bool put_table(struct batch_get *b, bool lent)
{
	struct buf *out = &b->call->out;
	const struct batch_table *t = &b->table[b->put_table];

	if (b->put_key == t->first) {
		mp_put_str(out, t->name);
		b->list = list_begin(out);
		b->put = 0;
	}
	while (b->put_key < t->first + t->n) {
		const struct batch_key *k = &b->key[b->put_key++];

		if (k->unprocessed || !slice_present(k->item))
			continue;
		read_plan_put(&t->plan, k->item, out);
		b->put++;
		if (!lent && copied(b, k->item.n, put_rest))
			return false;
	}
	list_end(out, b->list, b->put);
	b->put_table++;
	return true;
}

static unsigned unprocessed_of(const struct batch_get *b, const struct batch_table *t)
{
	unsigned n = 0;

	for (unsigned k = t->first; k < t->first + t->n; k++)
		n += b->key[k].unprocessed;
	return n;
}

/* The table's part of the request again, with the keys that are left. */
static void put_unprocessed_table(struct batch_get *b, const struct batch_table *t, unsigned left, struct buf *out)
{
	size_t at = record_begin(out);
	unsigned n = 0;

	for (unsigned id = 0; id < KeysAndAttributes_MEMBERS; id++) {
		if (!record_has(&t->in, id))
			continue;
		record_key(out, &n, id);
		if (id != KeysAndAttributes_Keys) {
			buf_put_slice(out, t->in.m[id]);
			continue;
		}
		mp_put_array(out, left);
		for (unsigned k = t->first; k < t->first + t->n; k++)
			if (b->key[k].unprocessed)
				buf_put_slice(out, b->key[k].key);
	}
	record_end(out, at, n);
}

static void put_unprocessed(struct batch_get *b, struct buf *out)
{
	size_t at = map_begin(out);
	uint32_t n = 0;

	for (unsigned i = 0; i < b->tables; i++) {
		unsigned left = unprocessed_of(b, &b->table[i]);

		if (left == 0)
			continue;
		mp_put_str(out, b->table[i].name);
		put_unprocessed_table(b, &b->table[i], left, out);
		n++;
	}
	map_end(out, at, n);
}

static void put_items(struct batch_get *b, bool lent)
{
	struct call *c = b->call;

	while (b->put_table < b->tables)
		if (!put_table(b, lent))
			return;
	record_key(&c->out, &b->members, BatchGetItemOutput_UnprocessedKeys);
	put_unprocessed(b, &c->out);
	record_end(&c->out, b->record, b->members);
	batch_release(b);
	call_answer(c, c->worker->items == NULL ? FRAME_CACHE_BYPASS : b->colds == 0 ? FRAME_CACHE_HIT : FRAME_CACHE_MISS);
}

static void put_rest(struct batch_get *b)
{
	put_items(b, false);
}

/* lent: items may go when this returns. */
static void batch_answer(struct batch_get *b, bool lent)
{
	struct call *c = b->call;
	enum report report = report_of(record_str(&c->req.in, BatchGetItemInput_ReturnConsumedCapacity));

	settle_sizes(b);
	b->record = record_begin(&c->out);
	if (report != REPORT_NONE) {
		record_key(&c->out, &b->members, BatchGetItemOutput_ConsumedCapacity);
		put_consumed(b, report, &c->out);
	}
	record_key(&c->out, &b->members, BatchGetItemOutput_Responses);
	mp_put_map(&c->out, b->tables);
	put_items(b, lent);
}

/* ---- reading ---- */

static void fill_rest(struct batch_get *b);

/* Give the cold items that are next to the cache; false if the rest has to wait for another turn. */
static bool fill(struct batch_get *b, bool lent)
{
	struct worker *w = b->call->worker;

	while (b->filled < b->keys) {
		struct batch_key *k = &b->key[b->filled++];

		if (!k->cold || k->unprocessed)
			continue;
		item_cache_fill(w->items, k->of->table->id, k->key, k->hash, k->part, k->epoch, w->now_ns, k->item);
		if (!lent && copied(b, k->item.n, fill_rest))
			return false;
	}
	return true;
}

static void fill_rest(struct batch_get *b)
{
	if (fill(b, false))
		batch_answer(b, false);
}

static void batch_done(struct backend_read *rd)
{
	struct batch_get *b = rd->arg;
	unsigned n = 0, refused = 0;
	bool lent = b->kept.n == 0;

	fault_fill_delay();
	if (rd->result != ERR_OK) {
		b->call->fault = rd->fault;
		batch_fail(b);
		return;
	}
	for (unsigned i = 0; i < b->keys; i++) {
		struct batch_key *k = &b->key[i];

		if (!k->cold)
			continue;
		k->unprocessed = b->cold[n].refused != ERR_OK;
		refused += k->unprocessed;
		k->item = b->cold[n++].item;
	}
	if (refused == b->keys) {
		b->call->fault = rd->fault;
		batch_fail(b);
		return;
	}
	if (fill(b, lent))
		batch_answer(b, lent);
}

static void read_cold(struct batch_get *b)
{
	struct worker *w = b->call->worker;

	for (unsigned i = 0; i < b->keys; i++) {
		struct batch_key *k = &b->key[i];

		if (!k->cold)
			continue;
		k->epoch = epoch_load(w->epochs, k->of->table->id, k->part, false);
		b->cold[b->colds++] = (struct backend_key){ .table = k->of->table, .key = k->key, .hash = k->part,
			.consistency = k->of->consistency };
	}
	if (b->colds == 0) {
		batch_answer(b, false);
		return;
	}
	b->read = (struct backend_read){ .done = batch_done, .arg = b, .partial = true, .keep = &b->kept };
	fault_init(&b->read.fault, &b->call->arena);
	w->backend->ops->get_all(w->reader, b->cold, b->colds, &b->read);
}

/* Cached items are collected in `items`; it moves while it grows, so the slices come last. */
static void set_items(struct batch_get *b)
{
	for (unsigned i = 0; i < b->keys; i++) {
		struct batch_key *k = &b->key[i];

		if (k->item.n != 0)
			k->item.p = b->items.p + k->at;
	}
}

static void look_up(struct batch_get *b)
{
	struct worker *w = b->call->worker;

	while (b->looked < b->keys) {
		struct batch_key *k = &b->key[b->looked++];
		enum item_cache_result r;
		unsigned units;

		k->at = b->items.n;
		r = item_cache_get_priced(w->items, k->of->table->id, k->key, k->hash, w->now_ns, &b->items, &units);
		k->cold = r == ITEM_CACHE_MISS || b->items.failed;
		if (!k->cold)
			meter_save(k->of->table->meter, read_saved(units, k->of->consistency));
		if (r == ITEM_CACHE_HIT && !k->cold)
			k->item = slice_of(NULL, b->items.n - k->at);
		if (copied(b, k->item.n, look_up))
			return;
	}
	set_items(b);
	read_cold(b);
}

static void prefetch(struct batch_get *b)
{
	struct worker *w = b->call->worker;

	for (unsigned i = 0; i < b->keys; i++) {
		struct batch_key *k = &b->key[i];

		k->hash = item_cache_hash(k->of->table->id, k->key);
		item_cache_prefetch(w->items, k->hash);
	}
	for (unsigned i = 0; i < b->keys; i++)
		item_cache_prefetch_entry(w->items, b->key[i].hash);
}

void op_batch_get_item(struct call *c)
{
	struct batch_get *b = call_state(c, sizeof(*b));

	if (b == NULL)
		return;
	b->call = c;
	b->items = worker_borrow_buf(c->worker);
	if (request_check(&c->req, &c->fault) != ERR_OK || read_request(b) != ERR_OK || check_tables(b) != ERR_OK) {
		batch_fail(b);
		return;
	}
	prefetch(b);
	look_up(b);
}
