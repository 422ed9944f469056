/* cursor - pairs of a view in key order: the merge of its memtables and its LMDB snapshot.
 *
 *    source 0     active memtable      b* d
 *    source 1..   frozen, newest first a  b       -> a (1), b deleted (0), c (LMDB), d (0)
 *    last source  LMDB                 b  c  d
 *
 * Each source stands at its next pair, deletions included; the smallest key is taken (descending: the largest), of
 * equal ones the newest source's, and every source that stood at that key moves on. There are a few sources only,
 * so a scan over them beats a heap.
 *
 * Threads: the view's. */
#include "store/engine/engine_int.h"
#include "store/engine/keyspace.h"

#include "protocol/messages.h"

#include <stdlib.h>

struct source {
	const struct memnode *node;  /* a memtable's */
	struct slice key;            /* absent: exhausted */
	struct slice value;          /* absent: deleted */
	bool taken;                  /* its pair has been returned or hidden: move on before the next comparison */
};

struct cursor {
	struct view *view;
	struct slice from, to;       /* copies, behind the struct */
	bool descending, started;
	struct keyspace_cursor *index;
	unsigned n;                  /* sources: the memtables, then the index */
	struct source source[STATE_TABLES_MAX + 1];
};

/* ---- memtables ---- */

/* Stand at the first visible node from `node` on, in the cursor's direction. */
static void settle(struct cursor *c, unsigned i, const struct memnode *node)
{
	const struct memtable *t = c->view->state->table[i];
	struct source *s = &c->source[i];
	const struct memversion *v = NULL;

	while (node != NULL && (v = memnode_at(node, c->view->lsn)) == NULL)
		node = c->descending ? memtable_lt(t, memnode_key(node)) : memnode_next(node);
	s->node = node;
	s->key = node != NULL ? memnode_key(node) : SLICE_NONE;
	s->value = node != NULL && !v->deleted ? slice_of(v->bytes, v->n) : SLICE_NONE;
}

static const struct memnode *first_node(const struct cursor *c, const struct memtable *t)
{
	if (!c->descending)
		return slice_present(c->from) ? memtable_ge(t, c->from) : memtable_first(t);
	return slice_present(c->to) ? memtable_lt(t, c->to) : memtable_last(t);
}

static void move_table(struct cursor *c, unsigned i)
{
	const struct memtable *t = c->view->state->table[i];
	const struct memnode *node = c->source[i].node;

	if (!c->started)
		node = first_node(c, t);
	else
		node = c->descending ? memtable_lt(t, memnode_key(node)) : memnode_next(node);
	settle(c, i, node);
}

static enum err move_index(struct cursor *c, struct fault *f)
{
	struct source *s = &c->source[c->n - 1];
	enum err rc;

	if (!c->started)
		rc = c->descending ? keyspace_seek_before(c->index, c->to, f) : keyspace_seek(c->index, c->from, f);
	else
		rc = c->descending ? keyspace_prev(c->index, f) : keyspace_next(c->index, f);
	s->key = keyspace_key(c->index);
	s->value = keyspace_value(c->index);
	return rc;
}

/* ---- the merge ---- */

static bool before(const struct cursor *c, struct slice a, struct slice b)
{
	int order = slice_cmp(a, b);

	return c->descending ? order > 0 : order < 0;
}

/* The source whose key comes first; of equal ones the newest. NULL if all are exhausted. */
static struct source *foremost(struct cursor *c)
{
	struct source *best = NULL;

	for (unsigned i = 0; i < c->n; i++) {
		struct source *s = &c->source[i];

		if (slice_present(s->key) && (best == NULL || before(c, s->key, best->key)))
			best = s;
	}
	return best;
}

static enum err move_on(struct cursor *c, struct fault *f)
{
	for (unsigned i = 0; i < c->n; i++) {
		if (!c->source[i].taken)
			continue;
		enum err rc = ERR_OK;

		if (i == c->n - 1)
			rc = move_index(c, f);
		else
			move_table(c, i);
		if (rc != ERR_OK)
			return rc;
		c->source[i].taken = false;
	}
	c->started = true;
	return ERR_OK;
}

static bool in_bounds(const struct cursor *c, struct slice key)
{
	if (c->descending)
		return !slice_present(c->from) || slice_cmp(key, c->from) >= 0;
	return !slice_present(c->to) || slice_cmp(key, c->to) < 0;
}

enum err cursor_next(struct cursor *c, struct slice *key, struct slice *value, struct fault *f)
{
	*key = *value = SLICE_NONE;
	for (;;) {
		enum err rc = move_on(c, f);

		if (rc != ERR_OK)
			return rc;
		struct source *best = foremost(c);

		if (best == NULL || !in_bounds(c, best->key))
			return ERR_OK;
		for (unsigned i = 0; i < c->n; i++)
			c->source[i].taken = slice_present(c->source[i].key) && slice_eq(c->source[i].key, best->key);
		if (slice_present(best->value)) {
			*key = best->key;
			*value = best->value;
			return ERR_OK;
		}
	}
}

static struct slice copy_bound(uint8_t *to, struct slice s)
{
	if (!slice_present(s))
		return SLICE_NONE;
	if (s.n != 0)
		memcpy(to, s.p, s.n);
	return slice_of(to, s.n);
}

enum err cursor_open(struct view *v, struct slice from, struct slice to, bool descending, struct cursor **out,
	struct fault *f)
{
	struct cursor *c = malloc(sizeof *c + from.n + to.n);

	if (c == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	*c = (struct cursor){ .view = v, .descending = descending, .n = v->state->n + 1 };
	c->from = copy_bound((uint8_t *)(c + 1), from);
	c->to = copy_bound((uint8_t *)(c + 1) + from.n, to);
	for (unsigned i = 0; i < c->n; i++)
		c->source[i].taken = true;
	enum err rc = keyspace_cursor_open(v->txn, &c->index, f);

	if (rc != ERR_OK)
		cursor_close(&c);
	*out = c;
	return rc;
}

void cursor_close(struct cursor **c)
{
	if (*c != NULL)
		keyspace_cursor_close(&(*c)->index);
	free(*c);
	*c = NULL;
}
