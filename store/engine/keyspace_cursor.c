/* keyspace_cursor - all keys in order, through the layers; see keyspace.h.
 *
 *    depth 0   KEYS cursor     ... "aaa...a" 01 ...       stem ""
 *    depth 1   LAYERS cursor   7 "bcd" <- here            stem "aaa...a"
 *
 * The cursor stands in one layer; the stem has the slices that lead there. Leaving a layer, it goes back to the entry
 * that led into it: KEYS has a cursor of its own that still stands there, within LAYERS it is looked up again. */
#include "store/engine/keyspace_int.h"

#include "protocol/buf.h"
#include "protocol/messages.h"

#include <stdlib.h>

struct keyspace_cursor {
	struct lmdb_txn *txn;
	struct MDB_cursor *top, *layers;   /* layers: opened when first needed */
	unsigned depth;
	uint64_t id[LAYERS_MAX];           /* of the layer at each depth */
	struct buf key;                    /* stem, and the slice of an entry below the top */
	struct slice entry, value;         /* where it stands, as LMDB has it; absent: nowhere in this layer */
	bool found;                        /* LMDB's cursor stands somewhere, if not in this layer */
};

enum err keyspace_cursor_open(struct lmdb_txn *t, struct keyspace_cursor **out, struct fault *f)
{
	struct keyspace_cursor *c = calloc(1, sizeof *c);

	*out = NULL;
	if (c == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	c->txn = t;
	buf_init(&c->key);
	enum err rc = lmdb_cursor_open(t, LMDB_KEYS, &c->top, f);

	if (rc == ERR_OK)
		*out = c;
	else
		keyspace_cursor_close(&c);
	return rc;
}

void keyspace_cursor_close(struct keyspace_cursor **c)
{
	if (*c == NULL)
		return;
	lmdb_cursor_close(&(*c)->top);
	lmdb_cursor_close(&(*c)->layers);
	buf_release(&(*c)->key);
	free(*c);
	*c = NULL;
}

/* ---- moving in one layer ---- */

static bool in_layer(const struct keyspace_cursor *c, struct slice entry)
{
	if (!slice_present(entry))
		return false;
	return c->depth == 0 || (entry.n > LAYER_ID && layer_id_get(entry.p) == c->id[c->depth]);
}

static enum err move(struct keyspace_cursor *c, enum lmdb_move how, struct slice key, struct fault *f)
{
	enum err rc = lmdb_cursor_move(c->depth == 0 ? c->top : c->layers, how, &key, &c->value, f);

	c->found = slice_present(key);
	c->entry = in_layer(c, key) ? key : SLICE_NONE;
	return rc;
}

/* The slice of a key that the current entry has. */
static struct slice entry_slice(const struct keyspace_cursor *c)
{
	size_t id = c->depth == 0 ? 0 : LAYER_ID;

	return slice_of(c->entry.p + id, c->entry.n - id - (entry_leads_on(c->entry) ? 1 : 0));
}

static enum err first_in_layer(struct keyspace_cursor *c, struct fault *f)
{
	uint8_t id[LAYER_ID];

	if (c->depth == 0)
		return move(c, LMDB_FIRST, SLICE_NONE, f);
	layer_id_put(id, c->id[c->depth]);
	return move(c, LMDB_SEEK, slice_of(id, LAYER_ID), f);
}

/* Stand before the entry that a seek has found. */
static enum err step_back(struct keyspace_cursor *c, struct fault *f)
{
	return move(c, c->found ? LMDB_PREV : LMDB_LAST, SLICE_NONE, f);
}

static enum err last_in_layer(struct keyspace_cursor *c, struct fault *f)
{
	uint8_t id[LAYER_ID];

	if (c->depth == 0)
		return move(c, LMDB_LAST, SLICE_NONE, f);
	layer_id_put(id, c->id[c->depth] + 1);
	enum err rc = move(c, LMDB_SEEK, slice_of(id, LAYER_ID), f);

	return rc == ERR_OK ? step_back(c, f) : rc;
}

/* ---- from layer to layer ---- */

static enum err descend(struct keyspace_cursor *c, struct fault *f)
{
	struct slice part = entry_slice(c);

	if (c->value.n != LAYER_ID || c->depth + 1 == LAYERS_MAX)
		return fault_set(f, MSG_ENGINE_INDEX_CORRUPT, "a layer's mark");
	c->key.n = layer_offset(c->depth);
	buf_put_slice(&c->key, part);
	if (c->key.failed)
		return fault_set(f, MSG_NO_MEMORY);
	c->id[++c->depth] = layer_id_get(c->value.p);
	return c->layers != NULL ? ERR_OK : lmdb_cursor_open(c->txn, LMDB_LAYERS, &c->layers, f);
}

/* Back to the entry that led here. */
static enum err ascend(struct keyspace_cursor *c, struct fault *f)
{
	struct slot s;

	c->depth--;
	c->found = true;
	if (c->depth == 0)
		return ERR_OK;
	/* the stem and one byte more: a key that leads on, in this layer */
	c->key.n = layer_offset(c->depth + 1);
	buf_put_u8(&c->key, 0);
	if (c->key.failed)
		return fault_set(f, MSG_NO_MEMORY);
	slot_set(&s, c->depth, c->id[c->depth], buf_slice(&c->key));
	return move(c, LMDB_SEEK, s.key, f);
}

/* From wherever the cursor is to the next key: out of a layer that has ended, into one that begins. */
static enum err settle(struct keyspace_cursor *c, bool forward, struct fault *f)
{
	enum err rc = ERR_OK;

	while (rc == ERR_OK) {
		if (!slice_present(c->entry)) {
			if (c->depth == 0)
				return ERR_OK;
			rc = ascend(c, f);
			if (rc == ERR_OK)
				rc = move(c, forward ? LMDB_NEXT : LMDB_PREV, SLICE_NONE, f);
		} else if (entry_leads_on(c->entry)) {
			rc = descend(c, f);
			if (rc == ERR_OK)
				rc = forward ? first_in_layer(c, f) : last_in_layer(c, f);
		} else {
			break;
		}
	}
	if (rc != ERR_OK || c->depth == 0)
		return rc;
	c->key.n = layer_offset(c->depth);
	buf_put_slice(&c->key, entry_slice(c));
	return c->key.failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;
}

/* Go down as far as `key` leads, and stand at the first entry there that is not below it. */
static enum err approach(struct keyspace_cursor *c, struct slice key, struct fault *f)
{
	c->depth = 0;
	for (;;) {
		struct slot s;

		slot_set(&s, c->depth, c->id[c->depth], key);
		enum err rc = move(c, LMDB_SEEK, s.key, f);

		if (rc != ERR_OK || !s.leads_on || !slice_eq(c->entry, s.key))
			return rc;
		rc = descend(c, f);
		if (rc != ERR_OK)
			return rc;
	}
}

enum err keyspace_seek(struct keyspace_cursor *c, struct slice key, struct fault *f)
{
	c->depth = 0;
	enum err rc = key.n != 0 ? approach(c, key, f) : first_in_layer(c, f);

	return rc == ERR_OK ? settle(c, true, f) : rc;
}

enum err keyspace_seek_before(struct keyspace_cursor *c, struct slice key, struct fault *f)
{
	enum err rc;

	c->depth = 0;
	if (!slice_present(key)) {
		rc = last_in_layer(c, f);
	} else if (key.n == 0) {
		c->entry = SLICE_NONE;
		return ERR_OK;
	} else {
		rc = approach(c, key, f);
		if (rc == ERR_OK)
			rc = step_back(c, f);
	}
	return rc == ERR_OK ? settle(c, false, f) : rc;
}

enum err keyspace_next(struct keyspace_cursor *c, struct fault *f)
{
	enum err rc = move(c, LMDB_NEXT, SLICE_NONE, f);

	return rc == ERR_OK ? settle(c, true, f) : rc;
}

enum err keyspace_prev(struct keyspace_cursor *c, struct fault *f)
{
	enum err rc = move(c, LMDB_PREV, SLICE_NONE, f);

	return rc == ERR_OK ? settle(c, false, f) : rc;
}

struct slice keyspace_key(const struct keyspace_cursor *c)
{
	if (!slice_present(c->entry))
		return SLICE_NONE;
	return c->depth == 0 ? c->entry : buf_slice(&c->key);
}

struct slice keyspace_value(const struct keyspace_cursor *c)
{
	return slice_present(c->entry) ? c->value : SLICE_NONE;
}

/* ---- the walker ---- */

static enum err count_entries(struct lmdb_txn *t, uint64_t *entries, uint64_t *marks)
{
	struct MDB_cursor *c;
	struct slice key = SLICE_NONE, value;
	enum err rc = lmdb_cursor_open(t, LMDB_LAYERS, &c, NULL);

	*entries = *marks = 0;
	if (rc != ERR_OK)
		return rc;
	for (rc = lmdb_cursor_move(c, LMDB_FIRST, &key, &value, NULL); rc == ERR_OK && slice_present(key);
		rc = lmdb_cursor_move(c, LMDB_NEXT, &key, &value, NULL)) {
		*entries += 1;
		*marks += entry_leads_on(key);
	}
	lmdb_cursor_close(&c);
	return rc;
}

bool keyspace_sane(struct lmdb_txn *t, const char **why)
{
	struct keyspace_cursor *c;
	uint64_t entries, marks, reached = 0;
	struct buf last;
	bool first = true;

	*why = "a cursor cannot be opened";
	buf_init(&last);
	if (count_entries(t, &entries, &marks) != ERR_OK || keyspace_cursor_open(t, &c, NULL) != ERR_OK)
		return false;
	enum err rc = keyspace_seek(c, SLICE_NONE, NULL);

	*why = NULL;
	for (; rc == ERR_OK && *why == NULL && slice_present(keyspace_key(c)); rc = keyspace_next(c, NULL)) {
		if (!first && slice_cmp(buf_slice(&last), keyspace_key(c)) >= 0)
			*why = "keys are out of order";
		first = false;
		buf_clear(&last);
		buf_put_slice(&last, keyspace_key(c));
		reached += c->depth > 0;
	}
	if (rc != ERR_OK)
		*why = "the walk failed";
	else if (*why == NULL && reached + marks != entries)
		*why = "a layer is not reached, or empty";
	keyspace_cursor_close(&c);
	buf_release(&last);
	return *why == NULL;
}
