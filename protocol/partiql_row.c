/* partiql_row - the rows of a SELECT: which attributes are needed, and what is made of an item.
 *
 * "SELECT a.b, c[0]" gives { "b": .., "c[0]": .. }: the value at each path, under the last name in it and what follows. */
#include "protocol/partiql_int.h"
#include "protocol/shape.h"

void statement_row(const struct statement *s, struct slice item, struct buf *out)
{
	uint32_t n = 0;
	size_t at;

	if (s->columns == 0) {
		buf_put_slice(out, item);
		return;
	}
	at = map_begin(out);
	for (unsigned i = 0; i < s->columns; i++) {
		struct slice v = path_get(&s->column[i].path, item);

		if (!slice_present(v))
			continue;
		mp_put_str(out, s->column[i].name);
		buf_put_slice(out, v);
		n++;
	}
	map_end(out, at, n);
}

/* The next operand of the condition that is about an attribute, from step *i and operand *k on. */
static const struct operand *next_path(const struct condition *c, uint32_t *i, uint16_t *k)
{
	for (; *i < c->n; (*i)++, *k = 0)
		for (; c->step[*i].kind == COND_TEST && *k < c->step[*i].operands; (*k)++)
			if (c->step[*i].operand[*k].path.n > 0)
				return &c->step[*i].operand[(*k)++];
	return NULL;
}

struct slice statement_where_name(const struct statement *s, unsigned i)
{
	uint32_t step = 0;
	uint16_t operand = 0;
	const struct operand *o;

	if (s->where == NULL)
		return SLICE_NONE;
	while ((o = next_path(s->where, &step, &operand)) != NULL)
		if (i-- == 0)
			return o->path.step[0].name;
	return SLICE_NONE;
}

enum err statement_projection(const struct statement *s, struct projection **out, struct fault *f)
{
	struct slice *name;

	*out = NULL;
	if (s->columns == 0)
		return ERR_OK;
	name = arena_alloc(s->arena, s->columns * sizeof *name);
	if (name == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	for (unsigned i = 0; i < s->columns; i++)
		name[i] = s->column[i].path.step[0].name;
	*out = projection_of_names(name, s->columns, s->arena);
	return *out != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}
