/* expr_projection - the part of an item that a list of paths selects.
 *
 * Paths are sorted like the names of a canonical map and the places of a list, so that item and paths are walked
 * side by side, once:
 *
 *    item   { a: { b: 1, c: 2 }, d: [ 5, 6, 7 ], e: 8 }
 *    paths    a.c                d[0]  d[2]               ->   { a: { c: 2 }, d: [ 5, 7 ] }
 *
 * Recursion is as deep as a path is long, 32 at most. Threads and ownership: expr.h. */
#include "protocol/expr_int.h"
#include "protocol/messages.h"
#include "protocol/shape.h"

static bool select_value(const struct path_at *p, uint32_t n, uint32_t depth, struct slice v, struct buf *out);

/* Some of the pairs of a map; p[0..n) agree up to `depth`, and their steps there are names. */
static uint32_t select_pairs(const struct path_at *p, uint32_t n, uint32_t depth, struct slice map, struct buf *out)
{
	uint32_t pairs, found = 0, i = 0;
	struct mp m = value_pairs(map, &pairs);

	while (pairs > 0 && i < n) {
		struct slice name = mp_str(&m), v = mp_skip(&m);
		size_t before = out->n;

		pairs--;
		while (i < n && slice_cmp(p[i].path.step[depth].name, name) < 0)
			i++;
		if (i == n || !slice_eq(p[i].path.step[depth].name, name))
			continue;
		mp_put_str(out, name);
		if (select_value(p + i, paths_run(p, i, n, depth) - i, depth + 1, v, out))
			found++;
		else
			out->n = before;
	}
	return found;
}

static uint32_t select_elements(const struct path_at *p, uint32_t n, uint32_t depth, struct slice list, struct buf *out)
{
	uint32_t elements, found = 0, i = 0, at = 0;
	struct mp m = value_elements(list, &elements);

	for (; at < elements && i < n; at++) {
		struct slice v = mp_skip(&m);
		uint32_t end;

		if (p[i].path.step[depth].index != at)
			continue;
		end = paths_run(p, i, n, depth);
		found += select_value(p + i, end - i, depth + 1, v, out);
		i = end;
	}
	return found;
}

/* What p[0..n), which agree up to `depth`, select of v. False, with nothing put, if that is nothing. */
static bool select_value(const struct path_at *p, uint32_t n, uint32_t depth, struct slice v, struct buf *out)
{
	size_t before = out->n, at;
	bool list;
	uint32_t found;

	if (p[0].path.n == depth) {
		buf_put_slice(out, v);
		return true;
	}
	list = p[0].path.step[depth].is_index;
	if (value_type(v) != (list ? VALUE_L : VALUE_M))
		return false;
	if (list) {
		at = list_begin(out);
		found = select_elements(p, n, depth, v, out);
		list_end(out, at, found);
	} else {
		at = map_begin(out);
		found = select_pairs(p, n, depth, v, out);
		map_end(out, at, found);
	}
	if (found == 0)
		out->n = before;
	return found > 0;
}

bool paths_project(const struct path_at *p, uint32_t n, struct slice item, struct buf *out)
{
	return n > 0 && slice_present(item) && select_value(p, n, 0, item, out);
}

enum err projection_bind(const struct expr *e, struct expr_env *env, struct projection **out, struct fault *f)
{
	struct projection *p = arena_alloc(env->arena, sizeof(*p));
	struct path_at *path = arena_alloc(env->arena, e->actions * sizeof(*path));
	enum err rc;

	if (p == NULL || path == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	for (uint16_t i = 0; i < e->actions; i++) {
		rc = path_bind(e, &e->node[e->action[i].path], env, &path[i].path, f);
		if (rc != ERR_OK)
			return rc;
		path[i].at = i;
	}
	paths_sort(path, e->actions);
	rc = paths_check(path, e->actions, e->kind, env->arena, f);
	*p = (struct projection){ path, e->actions };
	*out = p;
	return rc;
}

void projection_apply(const struct projection *p, struct slice item, struct buf *out)
{
	if (!paths_project(p->path, p->n, item, out))
		mp_put_map(out, 0);
}

struct projection *projection_of_names(const struct slice *name, uint32_t n, struct arena *a)
{
	struct projection *p = arena_alloc(a, sizeof(*p));
	struct path_at *path = arena_alloc(a, n * sizeof(*path));
	struct path_step *step = arena_alloc(a, n * sizeof(*step));
	uint32_t kept = 0;

	if (p == NULL || path == NULL || step == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		step[i] = (struct path_step){ .name = name[i] };
		path[i] = (struct path_at){ { &step[i], 1 }, i };
	}
	paths_sort(path, n);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || !path_same(&path[i].path, &path[kept - 1].path))
			path[kept++] = path[i];
	*p = (struct projection){ path, kept };
	return p;
}

bool projection_nests(const struct projection *p, struct slice top_level_name)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->path[i].path.n > 1 && slice_eq(p->path[i].path.step[0].name, top_level_name))
			return true;
	return false;
}

struct slice projection_name(const struct projection *p, uint32_t i)
{
	return i < p->n ? p->path[i].path.step[0].name : SLICE_NONE;
}
