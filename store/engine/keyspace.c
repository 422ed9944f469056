/* keyspace - get, put and delete through the layers; see keyspace.h. */
#include "store/engine/keyspace_int.h"

#include "protocol/messages.h"

#define NEXT_LAYER SLICE_LIT("layer")   /* in META: the next id to be given out */

/* The layer that the entry leads to; 0 if there is no such entry. */
static enum err follow(struct lmdb_txn *t, unsigned depth, const struct slot *s, uint64_t *id, struct fault *f)
{
	struct slice value;
	enum err rc = lmdb_get(t, layer_tree(depth), s->key, &value, f);

	*id = 0;
	if (rc != ERR_OK || !slice_present(value))
		return rc;
	if (value.n != LAYER_ID)
		return fault_set(f, MSG_ENGINE_INDEX_CORRUPT, "a layer's mark");
	*id = layer_id_get(value.p);
	return ERR_OK;
}

enum err keyspace_get(struct lmdb_txn *t, struct slice key, struct slice *value, struct fault *f)
{
	struct slot s;
	uint64_t id = 0;

	*value = SLICE_NONE;
	for (unsigned depth = 0;; depth++) {
		slot_set(&s, depth, id, key);
		if (!s.leads_on)
			return lmdb_get(t, layer_tree(depth), s.key, value, f);
		enum err rc = follow(t, depth, &s, &id, f);

		if (rc != ERR_OK || id == 0)
			return rc;
	}
}

/* ---- changes ---- */

static enum err new_layer(struct lmdb_txn *t, uint64_t *id, struct fault *f)
{
	uint8_t bytes[LAYER_ID];
	struct slice value;
	enum err rc = lmdb_get(t, LMDB_META, NEXT_LAYER, &value, f);

	if (rc != ERR_OK)
		return rc;
	*id = value.n == LAYER_ID ? layer_id_get(value.p) : 1;
	layer_id_put(bytes, *id + 1);
	return lmdb_put(t, LMDB_META, NEXT_LAYER, slice_of(bytes, LAYER_ID), f);
}

static enum err follow_or_make(struct lmdb_txn *t, unsigned depth, const struct slot *s, uint64_t *id, struct fault *f)
{
	uint8_t bytes[LAYER_ID];
	enum err rc = follow(t, depth, s, id, f);

	if (rc != ERR_OK || *id != 0)
		return rc;
	rc = new_layer(t, id, f);
	if (rc != ERR_OK)
		return rc;
	layer_id_put(bytes, *id);
	return lmdb_put(t, layer_tree(depth), s->key, slice_of(bytes, LAYER_ID), f);
}

enum err keyspace_put(struct lmdb_txn *t, struct slice key, struct slice value, struct fault *f)
{
	struct slot s;
	uint64_t id = 0;

	for (unsigned depth = 0;; depth++) {
		slot_set(&s, depth, id, key);
		if (!s.leads_on)
			return lmdb_put(t, layer_tree(depth), s.key, value, f);
		enum err rc = follow_or_make(t, depth, &s, &id, f);

		if (rc != ERR_OK)
			return rc;
	}
}

static enum err layer_empty(struct lmdb_txn *t, uint64_t id, bool *empty, struct fault *f)
{
	uint8_t bytes[LAYER_ID];
	struct MDB_cursor *c;
	struct slice key = slice_of(bytes, LAYER_ID), value;
	enum err rc = lmdb_cursor_open(t, LMDB_LAYERS, &c, f);

	if (rc != ERR_OK)
		return rc;
	layer_id_put(bytes, id);
	rc = lmdb_cursor_move(c, LMDB_SEEK, &key, &value, f);
	*empty = key.n < LAYER_ID || layer_id_get(key.p) != id;
	lmdb_cursor_close(&c);
	return rc;
}

enum err keyspace_del(struct lmdb_txn *t, struct slice key, struct fault *f)
{
	uint64_t id[LAYERS_MAX] = { 0 };
	struct slot s;
	unsigned depth = 0;
	bool empty = true;
	enum err rc;

	for (slot_set(&s, 0, 0, key); s.leads_on; slot_set(&s, depth, id[depth], key)) {
		rc = follow(t, depth, &s, &id[depth + 1], f);
		if (rc != ERR_OK || id[depth + 1] == 0)
			return rc;
		depth++;
	}
	rc = lmdb_del(t, layer_tree(depth), s.key, f);
	while (rc == ERR_OK && depth > 0) {
		rc = layer_empty(t, id[depth], &empty, f);
		if (rc != ERR_OK || !empty)
			return rc;
		depth--;
		slot_set(&s, depth, id[depth], key);
		rc = lmdb_del(t, layer_tree(depth), s.key, f);
	}
	return rc;
}
