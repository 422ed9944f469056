/* expr_update - from a parsed update to changes, and from an item and changes to the new item.
 *
 * First every right side is computed from the old item. Then old item and sorted paths are walked side by side,
 * and the new bytes written in one go:
 *
 *    old      { a: { b: 1 },    c: [ 5, 6, 7 ]       }
 *    changes    a.b = :x        c[1] gone    d = :y            ->   { a: { b: :x }, c: [ 5, 7 ], d: :y }
 *
 * Indexes are those of the old list; what is set beyond its end is appended, by index.
 * Recursion is as deep as a path is long. Threads and ownership: expr.h. Not here: values (expr_compute.c). */
#include "protocol/expr_compute.h"
#include "protocol/messages.h"
#include "protocol/shape.h"

/* ---- binding ---- */

/* Names, then values, over the whole text: the service looks for both before anything else. */
static enum err check_placeholders(const struct expr *e, struct expr_env *env, struct fault *f)
{
	for (uint16_t i = 0; i < e->steps; i++) {
		struct slice word = expr_text(e, e->step[i].at, e->step[i].len);

		if (e->step[i].kind == STEP_REF && !slice_present(env_name(env, word)))
			return fault_set(f, MSG_EXPR_NO_NAME, expr_kind_name(e->kind), SLICE_FMT(word));
	}
	for (uint16_t i = 0; i < e->nodes; i++) {
		struct slice word = expr_text(e, e->node[i].at, e->node[i].len);

		if (e->node[i].kind == NODE_VALUE && !slice_present(env_value(env, word)))
			return fault_set(f, MSG_EXPR_NO_VALUE, expr_kind_name(e->kind), SLICE_FMT(word));
	}
	return ERR_OK;
}

static bool is_set(enum value_type t)
{
	return t == VALUE_SS || t == VALUE_NS || t == VALUE_BS;
}

/* ADD takes numbers and sets, DELETE sets. */
static enum err check_sections(const struct change *c, uint32_t n, struct fault *f)
{
	for (uint32_t i = 0; i < n; i++) {
		bool add = c[i].section == SECTION_ADD;
		const char *word = add ? "ADD" : "DELETE";
		enum value_type t;

		if (!add && c[i].section != SECTION_DELETE)
			continue;
		t = value_type(c[i].operand.value);
		if (!is_set(t) && !(add && t == VALUE_N))
			return fault_set(f, MSG_EXPR_SECTION_TYPE, expr_kind_name(EXPR_UPDATE), word, value_type_word(t), word);
	}
	return ERR_OK;
}

static enum err bind_action(struct binder *b, const struct action *a, struct path *path, struct change *c)
{
	enum err rc = path_bind(b->e, &b->e->node[a->path], b->env, path, b->f);

	*c = (struct change){ .section = (enum section)a->section };
	if (rc == ERR_OK && a->value != NODE_NONE)
		rc = bind_operand(b, &b->e->node[a->value], &c->operand);
	return rc;
}

struct update *update_new(struct path_at *path, const struct change *change, uint32_t n, bool legacy, struct arena *a)
{
	struct update *u = arena_alloc(a, sizeof(*u));

	paths_sort(path, n);
	if (u != NULL)
		*u = (struct update){ path, change, n, legacy };
	return u;
}

enum err update_bind(const struct expr *e, struct expr_env *env, struct update **out, struct fault *f)
{
	struct binder b = { .e = e, .env = env, .f = f };
	struct path_at *path = arena_alloc(env->arena, e->actions * sizeof(*path));
	struct change *change = arena_alloc(env->arena, e->actions * sizeof(*change));
	enum err rc = path != NULL && change != NULL ? check_placeholders(e, env, f) : fault_set(f, MSG_NO_MEMORY);

	for (uint16_t i = 0; i < e->actions && rc == ERR_OK; i++) {
		path[i].at = i;
		rc = bind_action(&b, &e->action[i], &path[i].path, &change[i]);
	}
	if (rc != ERR_OK)
		return rc;
	*out = update_new(path, change, e->actions, false, env->arena);
	if (*out == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	rc = paths_check(path, e->actions, e->kind, env->arena, f);
	if (rc == ERR_OK)
		rc = check_sections(change, e->actions, f);
	return rc == ERR_OK ? bind_report(&b) : rc;
}

bool update_touches(const struct update *u, struct slice name)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (slice_eq(u->path[i].path.step[0].name, name))
			return true;
	return false;
}

static bool path_nests(const struct path *p, struct slice name)
{
	return p->n > 1 && slice_eq(p->step[0].name, name);
}

static bool operand_nests(const struct operand *o, struct slice name)
{
	bool two = o->kind == OPERAND_LIST_APPEND || o->kind == OPERAND_PLUS || o->kind == OPERAND_MINUS;

	return path_nests(&o->path, name) || ((two || o->kind == OPERAND_IF_NOT_EXISTS) && operand_nests(&o->arg[0], name)) ||
		(two && operand_nests(&o->arg[1], name));
}

bool update_nests(const struct update *u, struct slice name)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (path_nests(&u->path[i].path, name) || operand_nests(&u->change[i].operand, name))
			return true;
	return false;
}

struct slice update_given(const struct update *u, struct slice name)
{
	for (uint32_t i = 0; i < u->n; i++) {
		const struct change *c = &u->change[u->path[i].at];

		if (u->path[i].path.n == 1 && slice_eq(u->path[i].path.step[0].name, name))
			return c->operand.kind == OPERAND_VALUE ? c->operand.value : SLICE_NONE;
	}
	return SLICE_NONE;
}

bool update_creates(const struct update *u)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (u->change[i].section == SECTION_SET || u->change[i].section == SECTION_ADD)
			return true;
	return u->n == 0;
}

bool update_returned(const struct update *u, struct slice image, struct buf *out)
{
	return paths_project(u->path, u->n, image, out);
}

/* ---- applying ---- */

struct work {
	const struct update *u;
	struct compute by;
	struct slice *value;    /* what each SET puts, by place in the text */
	struct buf *out;
};

/* The new value at the end of a path; absent if there is to be none. */
static enum err leaf(struct work *w, const struct path_at *p, struct slice old, struct slice *value)
{
	const struct change *c = &w->u->change[p->at];

	*value = SLICE_NONE;
	switch (c->section) {
	case SECTION_SET:
		*value = w->value[p->at];
		return ERR_OK;
	case SECTION_ADD:
		return compute_add(&w->by, old, c->operand.value, value);
	case SECTION_DELETE:
		return compute_delete(&w->by, old, c->operand.value, value);
	default:
		return ERR_OK;
	}
}

static enum err rebuild(struct work *w, uint32_t from, uint32_t to, uint32_t depth, struct slice old);

/* Write what becomes of one child, behind its name if it has one; *count tells whether it is still there. The paths
 * from..to agree up to and with `depth`. */
static enum err rebuild_child(struct work *w, uint32_t from, uint32_t to, uint32_t depth, struct slice old,
	uint32_t *count)
{
	const struct path_at *p = &w->u->path[from];
	const struct path_step *s = &p->path.step[depth];
	struct slice value = old;
	bool last = p->path.n == depth + 1;
	enum err rc;

	if (last) {
		rc = leaf(w, p, old, &value);
		if (rc != ERR_OK || !slice_present(value))
			return rc;
	} else if (!slice_present(old)) {
		return fault_set(w->by.f, MSG_UPDATE_PATH);
	}
	(*count)++;
	if (!s->is_index)
		mp_put_str(w->out, s->name);
	if (!last)
		return rebuild(w, from, to, depth + 1, old);
	buf_put_slice(w->out, value);
	return ERR_OK;
}

static enum err rebuild_map(struct work *w, uint32_t from, uint32_t to, uint32_t depth, struct slice old)
{
	uint32_t pairs, count = 0, end;
	struct mp m = value_pairs(old, &pairs);
	size_t at = map_begin(w->out);
	enum err rc = ERR_OK;

	while (rc == ERR_OK && (pairs > 0 || from < to)) {
		const uint8_t *pair = m.p;
		struct mp ahead = m;
		struct slice name = pairs > 0 ? mp_str(&ahead) : SLICE_NONE;
		struct slice v = pairs > 0 ? mp_skip(&ahead) : SLICE_NONE;
		int order = pairs == 0 ? 1 : from == to ? -1 : slice_cmp(name, w->u->path[from].path.step[depth].name);

		if (order <= 0) {
			m = ahead;
			pairs--;
		}
		if (order < 0) {
			buf_put(w->out, pair, (size_t)(m.p - pair));
			count++;
			continue;
		}
		end = paths_run(w->u->path, from, to, depth);
		rc = rebuild_child(w, from, end, depth, order == 0 ? v : SLICE_NONE, &count);
		from = end;
	}
	map_end(w->out, at, count);
	return rc;
}

static enum err rebuild_list(struct work *w, uint32_t from, uint32_t to, uint32_t depth, struct slice old)
{
	uint32_t elements, count = 0, end;
	struct mp m = value_elements(old, &elements);
	size_t at = list_begin(w->out);
	enum err rc = ERR_OK;

	for (uint32_t i = 0; rc == ERR_OK && (i < elements || from < to); i++) {
		struct slice v = i < elements ? mp_skip(&m) : SLICE_NONE;

		if (i < elements && (from == to || w->u->path[from].path.step[depth].index != i)) {
			buf_put_slice(w->out, v);
			count++;
			continue;
		}
		end = paths_run(w->u->path, from, to, depth);
		rc = rebuild_child(w, from, end, depth, v, &count);
		from = end;
	}
	list_end(w->out, at, count);
	return rc;
}

/* Write the map or list `old` as the paths from..to, which lead into it, change it. */
static enum err rebuild(struct work *w, uint32_t from, uint32_t to, uint32_t depth, struct slice old)
{
	bool list = w->u->path[from].path.step[depth].is_index;

	if (value_type(old) != (list ? VALUE_L : VALUE_M))
		return fault_set(w->by.f, MSG_UPDATE_PATH);
	return list ? rebuild_list(w, from, to, depth, old) : rebuild_map(w, from, to, depth, old);
}

static enum err compute_all(struct work *w)
{
	w->value = arena_alloc(w->by.arena, w->u->n * sizeof(*w->value));
	if (w->value == NULL)
		return fault_set(w->by.f, MSG_NO_MEMORY);
	for (uint32_t i = 0; i < w->u->n; i++) {
		enum err rc = w->u->change[i].section != SECTION_SET ? ERR_OK :
			compute_value(&w->by, &w->u->change[i].operand, &w->value[i]);

		if (rc != ERR_OK)
			return rc;
	}
	return ERR_OK;
}

/* Only a document put into another can get too deep. */
static bool may_nest(const struct update *u)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (u->path[i].path.n > 1)
			return true;
	return false;
}

enum err update_apply(const struct update *u, struct slice old, struct slice key, struct arena *a, struct buf *out,
	struct fault *f)
{
	struct slice base = slice_present(old) ? old : key;
	struct work w = { .u = u, .by = { .item = base, .arena = a, .f = f, .legacy = u->legacy }, .out = out };
	size_t at = out->n;
	enum err rc;

	if (u->n == 0 || (!slice_present(old) && !update_creates(u))) {
		buf_put_slice(out, base);
		return out->failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;
	}
	rc = compute_all(&w);
	if (rc == ERR_OK)
		rc = rebuild(&w, 0, u->n, 0, base);
	if (rc != ERR_OK)
		return rc;
	if (out->failed)
		return fault_set(f, MSG_NO_MEMORY);
	if (may_nest(u) && !item_check(slice_of(out->p + at, out->n - at)))
		return fault_set(f, MSG_VALUE_NESTING);
	return ERR_OK;
}
