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
