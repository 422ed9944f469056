/* keyspace_int - how a key is cut into entries of the layers; see keyspace.h. Shared by keyspace.c and its cursor. */
#ifndef DYNAX_STORE_ENGINE_KEYSPACE_INT_H
#define DYNAX_STORE_ENGINE_KEYSPACE_INT_H

#include "store/engine/keyspace.h"

enum {
	LAYER_ID = 8,                                   /* big-endian, in front of every entry of LAYERS */
	TOP_WIDTH = LMDB_KEY_MAX - 1,
	LAYER_WIDTH = LMDB_KEY_MAX - 1 - LAYER_ID,
	LAYERS_MAX = 2 + (65535 - TOP_WIDTH) / LAYER_WIDTH,
	LAYER_MARK = 1                                  /* follows the slice of an entry that leads on */
};

/* One entry's key. */
struct slot {
	uint8_t bytes[LMDB_KEY_MAX];
	struct slice key;          /* bytes, or the caller's key itself */
	bool leads_on;
};

static inline size_t layer_width(unsigned depth)
{
	return depth == 0 ? TOP_WIDTH : LAYER_WIDTH;
}

/* How many bytes of a key the layers above `depth` have. */
static inline size_t layer_offset(unsigned depth)
{
	return depth == 0 ? 0 : TOP_WIDTH + (size_t)(depth - 1) * LAYER_WIDTH;
}

static inline enum lmdb_tree layer_tree(unsigned depth)
{
	return depth == 0 ? LMDB_KEYS : LMDB_LAYERS;
}

static inline void layer_id_put(uint8_t *p, uint64_t id)
{
	for (unsigned i = 0; i < LAYER_ID; i++)
		p[i] = (uint8_t)(id >> (8 * (LAYER_ID - 1 - i)));
}

static inline uint64_t layer_id_get(const uint8_t *p)
{
	uint64_t id = 0;

	for (unsigned i = 0; i < LAYER_ID; i++)
		id = id << 8 | p[i];
	return id;
}

static inline bool entry_leads_on(struct slice entry)
{
	return entry.n == LMDB_KEY_MAX;
}

/* The entry for `key` in the layer `id` at `depth`. */
static inline void slot_set(struct slot *s, unsigned depth, uint64_t id, struct slice key)
{
	struct slice rest = slice_of(key.p + layer_offset(depth), key.n - layer_offset(depth));
	size_t n = 0;

	s->leads_on = rest.n > layer_width(depth);
	if (depth == 0 && !s->leads_on) {
		s->key = key;
		return;
	}
	if (depth > 0) {
		layer_id_put(s->bytes, id);
		n = LAYER_ID;
	}
	size_t width = s->leads_on ? layer_width(depth) : rest.n;

	memcpy(s->bytes + n, rest.p, width);
	n += width;
	if (s->leads_on)
		s->bytes[n++] = LAYER_MARK;
	s->key = slice_of(s->bytes, n);
}

#endif
