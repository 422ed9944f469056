/* expr_path - document paths: resolve, find, order, and keep apart.
 *
 *    order      a < a.b < a.b[0] < a.c < a[0] < a[1] < b          (a prefix first, names before indexes)
 *
 * In this order all paths below one stand right behind it, so overlaps are found with a stack of the paths that
 * contain the present one, and a conflict (a name and an index in one place) shows at the border of the two kinds.
 * Threads: pure. */
#include <stdlib.h>

#include "protocol/expr_int.h"
#include "protocol/messages.h"

struct slice path_get(const struct path *p, struct slice item)
{
	struct slice v = item;

	for (uint32_t i = 0; i < p->n && slice_present(v); i++) {
		const struct path_step *s = &p->step[i];
		enum value_type want = s->is_index ? VALUE_L : VALUE_M;

		if (i > 0 && value_type(v) != want)
			return SLICE_NONE;
		v = s->is_index ? list_get(v, s->index) : map_get(v, s->name);
	}
	return v;
}

static int step_order(const struct path_step *a, const struct path_step *b)
{
	if (a->is_index != b->is_index)
		return a->is_index ? 1 : -1;
	if (a->is_index)
		return (a->index > b->index) - (a->index < b->index);
	return slice_cmp(a->name, b->name);
}

int path_order(const struct path *a, const struct path *b)
{
	uint32_t n = a->n < b->n ? a->n : b->n;

	for (uint32_t i = 0; i < n; i++) {
		int c = step_order(&a->step[i], &b->step[i]);

		if (c != 0)
			return c;
	}
	return (a->n > b->n) - (a->n < b->n);
}

const char *path_text(const struct path *p, struct arena *a)
{
	struct buf b;
	struct slice s;

	buf_init(&b);
	buf_put_u8(&b, '[');
	for (uint32_t i = 0; i < p->n; i++) {
		if (i > 0)
			buf_put(&b, ", ", 2);
		if (p->step[i].is_index)
			buf_printf(&b, "[%u]", (unsigned)p->step[i].index);
		else
			buf_put_slice(&b, p->step[i].name);
	}
	buf_put_u8(&b, ']');
	s = b.failed ? SLICE_NONE : arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return (const char *)s.p;
}

enum err path_bind(const struct expr *e, const struct node *n, struct expr_env *env, struct path *out, struct fault *f)
{
	struct path_step *step = arena_alloc(env->arena, n->n * sizeof(*step));

	if (step == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	for (uint16_t i = 0; i < n->n; i++) {
		const struct step *s = &e->step[n->first + i];
		struct slice word = expr_text(e, s->at, s->len);

		step[i] = (struct path_step){ .index = s->index, .is_index = s->kind == STEP_INDEX };
		if (s->kind == STEP_INDEX)
			continue;
		step[i].name = s->kind == STEP_REF ? env_name(env, word) : arena_copy(env->arena, word);
		if (!slice_present(step[i].name))
			return s->kind == STEP_REF ?
				fault_set(f, MSG_EXPR_NO_NAME, expr_kind_name(e->kind), SLICE_FMT(word)) :
				fault_set(f, MSG_NO_MEMORY);
	}
	*out = (struct path){ step, n->n };
	return ERR_OK;
}

static int compare(const void *a, const void *b)
{
	const struct path_at *x = a, *y = b;
	int c = path_order(&x->path, &y->path);

	return c != 0 ? c : (x->at > y->at) - (x->at < y->at);
}

void paths_sort(struct path_at *p, uint32_t n)
{
	if (n > 1)
		qsort(p, n, sizeof(*p), compare);
}

uint32_t paths_run(const struct path_at *p, uint32_t from, uint32_t to, uint32_t depth)
{
	uint32_t end = from + 1;

	while (end < to && step_order(&p[from].path.step[depth], &p[end].path.step[depth]) == 0)
		end++;
	return end;
}

static uint32_t common(const struct path *a, const struct path *b)
{
	uint32_t i = 0;

	while (i < a->n && i < b->n && step_order(&a->step[i], &b->step[i]) == 0)
		i++;
	return i;
}

/* Two paths that may not stand together. */
struct clash { const struct path_at *one, *two; };

/* Of several clashes the one that a reader of the text meets first counts. */
static void note_clash(struct clash *c, const struct path_at *a, const struct path_at *b)
{
	const struct path_at *one = a->at < b->at ? a : b, *two = a->at < b->at ? b : a;

	if (c->one == NULL || two->at < c->two->at || (two->at == c->two->at && one->at < c->one->at))
		*c = (struct clash){ one, two };
}

static enum err report(const struct clash *c, bool overlap, enum expr_kind kind, struct arena *a, struct fault *f)
{
	const char *one = path_text(&c->one->path, a), *two = path_text(&c->two->path, a);

	if (one == NULL || two == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	if (overlap)
		return fault_set(f, MSG_EXPR_OVERLAP, expr_kind_name(kind), one, two);
	return fault_set(f, MSG_EXPR_CONFLICT, expr_kind_name(kind), one, two);
}

enum err paths_check(const struct path_at *p, uint32_t n, enum expr_kind kind, struct arena *a, struct fault *f)
{
	/* The paths that contain p[i], each longer than the one below it; equal paths keep one place. */
	const struct path_at *holds[PATH_STEPS_MAX + 1];
	struct clash overlap = { NULL, NULL }, conflict = { NULL, NULL };
	uint32_t held = 0;

	for (uint32_t i = 0; i < n; i++) {
		while (held > 0 && common(&holds[held - 1]->path, &p[i].path) < holds[held - 1]->path.n)
			held--;
		for (uint32_t k = 0; k < held; k++)
			note_clash(&overlap, holds[k], &p[i]);
		if (held == 0 || holds[held - 1]->path.n < p[i].path.n)
			holds[held++] = &p[i];
		if (i > 0) {
			uint32_t same = common(&p[i - 1].path, &p[i].path);

			if (same < p[i - 1].path.n && same < p[i].path.n &&
				p[i - 1].path.step[same].is_index != p[i].path.step[same].is_index)
				note_clash(&conflict, &p[i - 1], &p[i]);
		}
	}
	if (overlap.one != NULL)
		return report(&overlap, true, kind, a, f);
	return conflict.one != NULL ? report(&conflict, false, kind, a, f) : ERR_OK;
}
