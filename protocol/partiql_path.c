/* partiql_path - nodes of a parse, and the paths among them: names and indexes.
 *
 * Inside brackets the grammar has any expression; the service takes a string or a number that is written there. */
#include "protocol/partiql_int.h"

/* ---- nodes ---- */

struct pq_node *pq_node_new(struct pq_parser *p, enum pq_kind kind, struct pq_token t)
{
	struct pq_node *n = arena_zalloc(p->arena, sizeof *n);

	if (n == NULL) {
		fault_set(p->f, MSG_NO_MEMORY);
		return NULL;
	}
	n->kind = kind;
	n->at = t.at;
	n->n = t.n;
	n->text = pq_text(p, t);
	return n;
}

void pq_node_append(struct pq_node *parent, struct pq_node *child)
{
	struct pq_node **end = &parent->first;

	while (*end != NULL)
		end = &(*end)->next;
	*end = child;
	parent->operands++;
}

enum err pq_take_node(struct pq_parser *p, enum pq_kind kind, struct pq_node **out)
{
	*out = pq_node_new(p, kind, p->cur);
	if (*out == NULL)
		return p->f->code;
	pq_next(p);
	return ERR_OK;
}

/* ---- paths ---- */

static enum err add_step(struct pq_parser *p, struct pq_node *path, struct path_step step)
{
	uint32_t n = path->path.n;

	/* Room doubles at every power of two. */
	if ((n & (n - 1)) == 0) {
		struct path_step *more = arena_alloc(p->arena, (n == 0 ? 1 : 2 * n) * sizeof *more);

		if (more == NULL)
			return fault_set(p->f, MSG_NO_MEMORY);
		if (n != 0)
			memcpy(more, path->path.step, n * sizeof *more);
		path->path.step = more;
	}
	if (n == PATH_STEPS_MAX)
		return fault_set(p->f, MSG_PQ_DEPTH, n + 1);
	path->path.step[path->path.n++] = step;
	return ERR_OK;
}

static enum err add_name(struct pq_parser *p, struct pq_node *path, struct pq_token t)
{
	struct slice name = pq_unquote(p, t);

	if (!slice_present(name))
		return fault_set(p->f, MSG_NO_MEMORY);
	if (name.n == 0)
		return fault_set(p->f, MSG_PQ_EMPTY_PATH);
	return add_step(p, path, (struct path_step){ .name = name });
}

static enum err bad_index(struct pq_parser *p, const struct pq_node *n)
{
	return fault_set(p->f, MSG_PQ_INDEX, SLICE_FMT(n->text), pq_position(p->text, n->at, n->n, p->arena));
}

static enum err index_of(struct pq_parser *p, const struct pq_node *n, uint32_t *index)
{
	uint64_t v = 0;
	size_t i = n->text.n > 0 && n->text.p[0] == '-';

	for (; i < n->text.n; i++) {
		uint8_t c = n->text.p[i];

		if (c < '0' || c > '9')
			return fault_set(p->f, MSG_PQ_COMPONENT, pq_position(p->text, n->at, n->n, p->arena));
		v = v > INT32_MAX ? v : v * 10 + (c - '0');
	}
	if (v > INT32_MAX || (v != 0 && n->text.p[0] == '-'))
		return bad_index(p, n);
	*index = (uint32_t)v;
	return ERR_OK;
}

/* Behind the bracket. */
static enum err add_bracket(struct pq_parser *p, struct pq_node *path)
{
	struct pq_node *inside;
	uint32_t index = 0;
	enum err rc;

	if (pq_is(p, "*"))
		return p->in_columns ? pq_malformed(p, "Invalid use of * in select list") : fault_set(p->f, MSG_PQ_WILDCARD);
	rc = pq_expression(p, &inside);
	if (rc == ERR_OK && !pq_take(p, "]"))
		rc = pq_malformed(p, "Expected RIGHT_BRACKET");
	if (rc != ERR_OK)
		return rc;
	if (inside->kind == PQ_STRING)
		return add_step(p, path, (struct path_step){ .name = inside->text });
	if (inside->kind != PQ_NUMBER)
		return fault_set(p->f, MSG_PQ_COMPONENT, pq_position(p->text, inside->at, inside->n, p->arena));
	rc = index_of(p, inside, &index);
	return rc == ERR_OK ? add_step(p, path, (struct path_step){ .index = index, .is_index = true }) : rc;
}

enum err pq_path_rest(struct pq_parser *p, struct pq_node *path, bool simple)
{
	enum err rc = ERR_OK;

	while (rc == ERR_OK) {
		if (pq_take(p, "[")) {
			rc = add_bracket(p, path);
			continue;
		}
		if (!pq_take(p, "."))
			return ERR_OK;
		if (pq_is(p, "*") && p->in_columns)
			return fault_set(p->f, MSG_PQ_HIERARCHY);
		if (pq_is(p, "*"))
			return simple ? pq_malformed(p, "Invalid path dot component for simple path") : fault_set(p->f, MSG_PQ_UNPIVOT);
		if (p->cur.kind != PQ_TOKEN_NAME && p->cur.kind != PQ_TOKEN_QUOTED)
			return pq_malformed(p, "Invalid path dot component");
		rc = add_name(p, path, p->cur);
		pq_next(p);
	}
	return rc;
}

enum err pq_path_term(struct pq_parser *p, struct pq_node **out)
{
	struct pq_token first = p->cur;
	enum err rc = pq_take_node(p, PQ_PATH, out);

	if (rc == ERR_OK)
		rc = add_name(p, *out, first);
	return rc == ERR_OK ? pq_path_rest(p, *out, false) : rc;
}

enum err pq_simple_path(struct pq_parser *p, struct pq_node **out)
{
	struct pq_token first = p->cur;
	enum err rc;

	if (first.kind != PQ_TOKEN_NAME && first.kind != PQ_TOKEN_QUOTED)
		return pq_malformed(p, "Expected identifier for simple path");
	rc = pq_take_node(p, PQ_PATH, out);
	if (rc == ERR_OK)
		rc = add_name(p, *out, first);
	return rc == ERR_OK ? pq_path_rest(p, *out, true) : rc;
}
