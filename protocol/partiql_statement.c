/* partiql_statement - from clauses to a statement: what each may be, and its WHERE, update and item bound.
 *
 * Complaints come in the service's order: the form of the whole statement, the number of parameters, what a clause may
 * be, then literals, functions and types. */
#include <stdlib.h>

#include "protocol/partiql_int.h"

static enum err check_clauses(struct pq_parser *p, const struct pq_draft *d)
{
	const char *where;

	if (d->refused != NULL) {
		where = d->refused_at != NULL ? pq_position(p->text, d->refused_at->at, d->refused_at->n, p->arena) : "";
		return fault_set(p->f, MSG_PQ_CLAUSE, d->refused, strcmp(d->refused, "GROUP BY") == 0 ? "" : where);
	}
	if (d->distinct)
		return fault_set(p->f, MSG_PQ_TOKEN, "DISTINCT", "");
	if (d->several)
		return fault_set(p->f, MSG_PQ_SEVERAL);
	if (d->alias || d->column_alias)
		return fault_set(p->f, MSG_PQ_ALIAS);
	return d->value_select ? fault_set(p->f, MSG_PQ_VALUE_SELECT) : ERR_OK;
}

static bool is_table_name(struct slice s)
{
	if (slice_starts_with(s, SLICE_LIT("arn:")))
		return true;
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.')
			return false;
	}
	return s.n >= 3 && s.n <= 255;
}

static enum err check_from(struct pq_parser *p, struct pq_draft *d)
{
	const struct path *path = &d->from->path;
	bool read = d->s->kind == STATEMENT_SELECT || d->s->kind == STATEMENT_EXISTS;

	if (d->from->kind != PQ_PATH)
		return fault_set(p->f, MSG_PQ_FROM);
	for (uint32_t i = 0; i < path->n; i++)
		if (path->step[i].is_index)
			return fault_set(p->f, MSG_PQ_COMPONENT, pq_position(p->text, d->from->at, d->from->n, p->arena));
	if (path->n > 2)
		return fault_set(p->f, MSG_PQ_FROM_LONG);
	if (path->n == 2 && d->s->kind == STATEMENT_INSERT)
		return fault_set(p->f, MSG_PQ_FROM_INDEX);
	if (!is_table_name(path->step[0].name))
		return fault_set(p->f, MSG_PQ_TABLE_NAME);
	if (path->n == 2 && !read)
		return fault_set(p->f, MSG_PQ_NO_INDEX);
	d->s->table = path->step[0].name;
	d->s->index = path->n == 2 ? path->step[1].name : SLICE_NONE;
	return ERR_OK;
}

/* "a.b[0]" gives "b[0]". */
static struct slice column_name(const struct path *path, struct arena *a)
{
	uint32_t first = path->n;
	struct slice out;
	struct buf b;

	while (first > 0 && path->step[first - 1].is_index)
		first--;
	if (first == path->n)
		return path->step[path->n - 1].name;
	buf_init(&b);
	buf_put_slice(&b, path->step[first - 1].name);
	for (uint32_t i = first; i < path->n; i++)
		buf_printf(&b, "[%u]", (unsigned)path->step[i].index);
	out = b.failed ? SLICE_NONE : arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return out;
}

static int compare_columns(const void *a, const void *b)
{
	const struct column *x = a, *y = b;

	return slice_cmp(x->name, y->name);
}

/* The service makes a projection of the columns, the last first. */
static enum err check_columns(struct pq_parser *p, const struct pq_node *columns)
{
	struct path_at *path = arena_alloc(p->arena, columns->operands * sizeof *path);
	uint32_t n = 0;

	if (path == NULL)
		return fault_set(p->f, MSG_NO_MEMORY);
	for (const struct pq_node *c = columns->first; c != NULL; c = c->next, n++)
		path[n] = (struct path_at){ c->path, columns->operands - n };
	return pq_check_paths(path, n, p->arena, p->f);
}

static enum err bind_columns(struct pq_parser *p, struct pq_draft *d)
{
	struct column *column;
	unsigned n = 0;

	if (d->columns == NULL)
		return ERR_OK;
	column = arena_alloc(p->arena, d->columns->operands * sizeof *column);
	if (column == NULL)
		return fault_set(p->f, MSG_NO_MEMORY);
	for (const struct pq_node *c = d->columns->first; c != NULL; c = c->next) {
		if (c->kind != PQ_PATH)
			return fault_set(p->f, MSG_PQ_COMPONENT, pq_position(p->text, c->at, c->n, p->arena));
		column[n] = (struct column){ column_name(&c->path, p->arena), c->path };
		if (!slice_present(column[n++].name))
			return fault_set(p->f, MSG_NO_MEMORY);
	}
	qsort(column, n, sizeof *column, compare_columns);
	for (unsigned i = 1; i < n; i++)
		if (slice_eq(column[i - 1].name, column[i].name))
			return fault_set(p->f, MSG_PQ_COLUMN_TWICE, SLICE_FMT(column[i].name));
	d->s->column = column;
	d->s->columns = n;
	return check_columns(p, d->columns);
}

static enum err order_fault(struct pq_parser *p, const struct pq_node *o)
{
	const char *quote = o->kind == PQ_STRING ? "\"" : "";

	if (o->kind == PQ_PATH)
		return fault_set(p->f, MSG_PQ_ORDER_TYPE, "", 4, "PATH", "");
	return fault_set(p->f, MSG_PQ_ORDER_TYPE, quote, SLICE_FMT(o->text), quote);
}

static enum err bind_order(struct pq_parser *p, struct pq_draft *d)
{
	struct ordering *order;
	unsigned n = 0;

	if (d->order == NULL)
		return ERR_OK;
	order = arena_alloc(p->arena, d->order->operands * sizeof *order);
	if (order == NULL)
		return fault_set(p->f, MSG_NO_MEMORY);
	for (const struct pq_node *o = d->order->first; o != NULL; o = o->next, n++) {
		if (o->kind != PQ_PATH || o->path.n != 1)
			return order_fault(p, o);
		order[n] = (struct ordering){ o->path.step[0].name,
			n < sizeof d->descending / sizeof *d->descending && d->descending[n] };
	}
	d->s->order = order;
	d->s->orders = n;
	return ERR_OK;
}

static enum err check_returning(struct pq_parser *p, const struct pq_draft *d)
{
	static const char *const words[] = { "", "ALL OLD *", "MODIFIED OLD *", "ALL NEW *", "MODIFIED NEW *" };
	const struct statement *s = d->s;

	if (d->returnings > 1)
		return fault_set(p->f, MSG_PQ_RETURNING_MANY);
	if (d->returns_names)
		return fault_set(p->f, MSG_PQ_RETURNING_NAMES);
	if (d->returnings != 0 && s->kind == STATEMENT_INSERT)
		return fault_set(p->f, MSG_PQ_RETURNING_INSERT);
	if (d->returnings != 0 && s->kind == STATEMENT_DELETE && s->returning != STATEMENT_ALL_OLD)
		return fault_set(p->f, MSG_PQ_RETURNING_DELETE, words[s->returning]);
	return ERR_OK;
}

static enum err bind_clauses(struct pq_parser *p, struct pq_draft *d)
{
	struct pq_binder b = { .text = p->text, .arena = p->arena, .f = p->f, .env = { .arena = p->arena } };
	struct statement *s = d->s;
	enum err rc = ERR_OK;

	if (d->many_values)
		return fault_set(p->f, MSG_PQ_INSERT_MANY);
	if (s->kind == STATEMENT_INSERT)
		rc = pq_item(&b, d->value, &s->item);
	if (rc == ERR_OK && s->kind == STATEMENT_UPDATE)
		rc = pq_update(&b, d->changes, &s->update);
	if (rc == ERR_OK && d->where != NULL)
		rc = pq_condition(&b, d->where, &s->where);
	s->where_node = d->where;
	return rc;
}

static enum err check_parameters(const struct pq_parser *p)
{
	return p->parameters_short || p->parameters_left != 0 ? fault_set(p->f, MSG_PQ_PARAMETERS) : ERR_OK;
}

enum err statement_parse(struct slice text, struct slice parameters, struct arena *a, struct statement **out, struct fault *f)
{
	struct pq_parser p = { .text = text, .arena = a, .f = f };
	struct pq_draft d = { .s = arena_zalloc(a, sizeof *d.s) };
	enum err rc;

	d.last = &d.changes;
	if (d.s == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	*d.s = (struct statement){ .text = text, .parameters = parameters, .arena = a };
	if (slice_present(parameters)) {
		p.parameters = mp_open(parameters);
		p.parameters_left = mp_array(&p.parameters);
	}
	p.cur = pq_lex(text, 0);
	rc = pq_statement(&p, &d);
	if (rc == ERR_OK)
		rc = check_parameters(&p);
	if (rc == ERR_OK)
		rc = check_clauses(&p, &d);
	if (rc == ERR_OK)
		rc = check_from(&p, &d);
	if (rc == ERR_OK)
		rc = check_returning(&p, &d);
	if (rc == ERR_OK)
		rc = bind_columns(&p, &d);
	if (rc == ERR_OK)
		rc = bind_clauses(&p, &d);
	if (rc == ERR_OK)
		rc = bind_order(&p, &d);
	*out = d.s;
	return rc;
}
