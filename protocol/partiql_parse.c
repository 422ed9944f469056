/* partiql_parse - the statements: SELECT, INSERT, UPDATE and its form with FROM first, DELETE, EXISTS(SELECT).
 *
 *    words --> clauses, as nodes --> checks of each clause --> struct statement, its WHERE, update and item bound
 *
 * Complaints come in the service's order: the form of the whole statement, the number of parameters, what a clause may
 * be, then literals, functions and types. */
#include <stdlib.h>
#include <strings.h>

#include "protocol/partiql_int.h"

/* A statement while it is read. */
struct draft {
	struct statement *s;
	struct pq_node *from, *where, *value, *columns;   /* columns: NULL = "*" */
	struct pq_assignment *changes, **last;
	struct pq_node *order;                            /* a list of them */
	bool descending[2 * KEY_ATTRS_MAX];
	unsigned returnings;                              /* elements of RETURNING */
	bool returns_names;                               /* one of them is not "*" */
	const char *refused;                              /* a clause that the service has not */
	struct pq_node *refused_at;
	bool alias, several, column_alias, distinct, value_select, many_values;
};

/* ---- tokens ---- */

void pq_next(struct pq_parser *p)
{
	p->prev = p->cur;
	p->cur = pq_lex(p->text, p->cur.at + p->cur.n);
}

struct pq_token pq_peek(const struct pq_parser *p)
{
	return pq_lex(p->text, p->cur.at + p->cur.n);
}

struct slice pq_text(const struct pq_parser *p, struct pq_token t)
{
	return slice_of(p->text.p + t.at, t.n);
}

bool pq_is_word(const struct pq_parser *p, struct pq_token t, const char *word)
{
	if (t.kind != PQ_TOKEN_KEYWORD && t.kind != PQ_TOKEN_OPERATOR && t.kind != PQ_TOKEN_PUNCTUATION)
		return false;
	return strlen(word) == t.n && strncasecmp((const char *)p->text.p + t.at, word, t.n) == 0;
}

bool pq_is(const struct pq_parser *p, const char *punctuation)
{
	return pq_is_word(p, p->cur, punctuation);
}

bool pq_take_word(struct pq_parser *p, const char *word)
{
	if (!pq_is_word(p, p->cur, word))
		return false;
	pq_next(p);
	return true;
}

bool pq_take(struct pq_parser *p, const char *punctuation)
{
	return pq_take_word(p, punctuation);
}

struct slice pq_unquote(struct pq_parser *p, struct pq_token t)
{
	struct slice s = pq_text(p, t);
	uint8_t quote = t.kind == PQ_TOKEN_QUOTED ? '"' : '\'';
	uint8_t *to;
	size_t n = 0;

	if (t.kind != PQ_TOKEN_QUOTED && t.kind != PQ_TOKEN_STRING)
		return s;
	to = arena_alloc(p->arena, s.n);
	if (to == NULL)
		return SLICE_NONE;
	for (size_t i = 1; i + 1 < s.n; i++) {
		to[n++] = s.p[i];
		i += s.p[i] == quote;
	}
	return slice_of(to, n);
}

/* What cannot even be a token has no detail. Whatever has been read before comes first. */
enum err pq_malformed(struct pq_parser *p, const char *detail)
{
	for (struct pq_token t = p->cur; t.kind != PQ_TOKEN_END; t = pq_lex(p->text, t.at + t.n))
		if (t.kind == PQ_TOKEN_BAD)
			return fault_set(p->f, MSG_PQ_MALFORMED, "");
	return fault_set(p->f, MSG_PQ_MALFORMED, detail);
}

const char *pq_position(struct slice text, uint32_t at, uint32_t n, struct arena *a)
{
	unsigned line = 1, column = 1, length = 0;
	const char *out;

	for (uint32_t i = 0; i < at + n; i++) {
		if ((text.p[i] & 0xc0) == 0x80)
			continue;
		if (i >= at) {
			length++;
		} else if (text.p[i] == '\n') {
			line++;
			column = 1;
		} else {
			column++;
		}
	}
	out = arena_printf(a, " at %u:%u:%u", line, column, length);
	return out != NULL ? out : "";
}

/* ---- clauses ---- */

static enum err where_clause(struct pq_parser *p, struct draft *d)
{
	return pq_take_word(p, "where") ? pq_expression(p, &d->where) : ERR_OK;
}

static enum err column_clause(struct pq_parser *p, struct draft *d, struct pq_node **column)
{
	enum err rc = pq_expression(p, column);

	if (rc != ERR_OK)
		return rc;
	if (pq_take_word(p, "as") || p->cur.kind == PQ_TOKEN_NAME || p->cur.kind == PQ_TOKEN_QUOTED) {
		if (p->cur.kind != PQ_TOKEN_NAME && p->cur.kind != PQ_TOKEN_QUOTED)
			return pq_malformed(p, "Expected identifier for alias");
		d->column_alias = true;
		pq_next(p);
	}
	return ERR_OK;
}

static enum err select_list(struct pq_parser *p, struct draft *d)
{
	struct pq_node **end;
	bool star = false;
	enum err rc = ERR_OK;

	d->columns = pq_node_new(p, PQ_LIST, p->cur);
	if (d->columns == NULL)
		return p->f->code;
	end = &d->columns->first;
	do {
		if (pq_take(p, "*")) {
			star = true;
			d->columns->operands++;
			continue;
		}
		rc = column_clause(p, d, end);
		if (rc != ERR_OK)
			return rc;
		d->columns->operands++;
		end = &(*end)->next;
	} while (pq_take(p, ","));
	if (star && d->columns->operands > 1)
		return pq_malformed(p, "Other expressions may not be present in the select list when '*' is used without dot "
				       "notation.");
	if (star)
		d->columns = NULL;
	return ERR_OK;
}

/* FROM of a SELECT: any expression, perhaps with an alias; more than one are read, and refused later. */
static enum err from_clause(struct pq_parser *p, struct draft *d)
{
	enum err rc = pq_expression(p, &d->from);

	if (rc != ERR_OK)
		return rc;
	if (pq_take_word(p, "as") || p->cur.kind == PQ_TOKEN_NAME || p->cur.kind == PQ_TOKEN_QUOTED) {
		if (p->cur.kind != PQ_TOKEN_NAME && p->cur.kind != PQ_TOKEN_QUOTED)
			return pq_malformed(p, "Expected identifier for alias");
		d->alias = true;
		pq_next(p);
	}
	while (pq_take(p, ",")) {
		struct pq_node *more;

		d->several = true;
		rc = pq_expression(p, &more);
		if (rc != ERR_OK)
			return rc;
	}
	return ERR_OK;
}

static enum err order_clause(struct pq_parser *p, struct draft *d)
{
	struct pq_node **end;

	if (!pq_take_word(p, "order"))
		return ERR_OK;
	if (!pq_take_word(p, "by"))
		return pq_malformed(p, "Expected BY");
	d->order = pq_node_new(p, PQ_LIST, p->cur);
	if (d->order == NULL)
		return p->f->code;
	end = &d->order->first;
	do {
		enum err rc = pq_expression(p, end);
		bool descending;

		if (rc != ERR_OK)
			return rc;
		end = &(*end)->next;
		descending = pq_take_word(p, "desc");
		if (!descending)
			(void)pq_take_word(p, "asc");
		if (d->order->operands < sizeof d->descending / sizeof *d->descending)
			d->descending[d->order->operands] = descending;
		d->order->operands++;
	} while (pq_take(p, ","));
	return ERR_OK;
}

/* Clauses of SQL that are read to be refused. */
static enum err other_clause(struct pq_parser *p, struct draft *d, const char *word, const char *second, const char *name)
{
	enum err rc;

	if (!pq_is_word(p, p->cur, word))
		return ERR_OK;
	pq_next(p);
	if (second != NULL && !pq_take_word(p, second))
		return pq_malformed(p, "Expected BY");
	if (d->refused == NULL)
		d->refused = name;
	rc = pq_expression(p, &d->refused_at);
	return rc;
}

static enum err select_statement(struct pq_parser *p, struct draft *d)
{
	enum err rc;

	d->s->kind = STATEMENT_SELECT;
	if (pq_take_word(p, "distinct"))
		d->distinct = true;
	else
		(void)pq_take_word(p, "all");
	d->value_select = pq_take_word(p, "value");
	p->in_columns = true;
	rc = select_list(p, d);
	p->in_columns = false;
	if (rc == ERR_OK && !pq_take_word(p, "from"))
		rc = pq_malformed(p, "Expected FROM after SELECT list");
	if (rc == ERR_OK)
		rc = from_clause(p, d);
	if (rc == ERR_OK)
		rc = where_clause(p, d);
	if (rc == ERR_OK)
		rc = order_clause(p, d);
	if (rc == ERR_OK)
		rc = other_clause(p, d, "group", "by", "GROUP BY");
	if (rc == ERR_OK)
		rc = other_clause(p, d, "having", NULL, "HAVING");
	return rc == ERR_OK ? other_clause(p, d, "limit", NULL, "LIMIT") : rc;
}

static enum err insert_statement(struct pq_parser *p, struct draft *d)
{
	enum err rc;

	d->s->kind = STATEMENT_INSERT;
	if (!pq_take_word(p, "into"))
		return pq_malformed(p, "Unexpected keyword");
	rc = pq_simple_path(p, &d->from);
	if (rc != ERR_OK)
		return rc;
	if (pq_take_word(p, "value")) {
		rc = pq_expression(p, &d->value);
	} else if (pq_take_word(p, "values")) {
		d->many_values = true;
		if (!pq_is(p, "("))
			return pq_malformed(p, "Expected LEFT_PAREN for row value constructor");
		rc = pq_expression(p, &d->value);
	} else {
		d->many_values = true;
		/* A name here would be an alias: there is none in an INSERT. */
		if (p->cur.kind == PQ_TOKEN_NAME || p->cur.kind == PQ_TOKEN_QUOTED)
			return pq_malformed(p, "Unexpected token after expression");
		rc = pq_expression(p, &d->value);
	}
	if (rc == ERR_OK && pq_is_word(p, p->cur, "on"))
		return pq_malformed(p, "invalid ON CONFLICT syntax");
	return rc;
}

static enum err add_change(struct pq_parser *p, struct draft *d, struct pq_node *target, struct pq_node *value)
{
	struct pq_assignment *a = arena_alloc(p->arena, sizeof *a);

	if (a == NULL)
		return fault_set(p->f, MSG_NO_MEMORY);
	*a = (struct pq_assignment){ target, value, NULL };
	*d->last = a;
	d->last = &a->next;
	return ERR_OK;
}

static enum err set_clause(struct pq_parser *p, struct draft *d)
{
	struct pq_node *target, *value;
	enum err rc;

	do {
		rc = pq_simple_path(p, &target);
		if (rc == ERR_OK && !pq_take(p, "="))
			rc = pq_malformed(p, "Expected '='");
		if (rc == ERR_OK)
			rc = pq_expression(p, &value);
		if (rc == ERR_OK)
			rc = add_change(p, d, target, value);
	} while (rc == ERR_OK && pq_take(p, ","));
	return rc;
}

static enum err remove_clause(struct pq_parser *p, struct draft *d)
{
	struct pq_node *target;
	enum err rc;

	do {
		rc = pq_simple_path(p, &target);
		if (rc == ERR_OK)
			rc = add_change(p, d, target, NULL);
	} while (rc == ERR_OK && pq_take(p, ","));
	return rc;
}

static enum err change_clauses(struct pq_parser *p, struct draft *d)
{
	enum err rc = ERR_OK;

	if (!pq_is_word(p, p->cur, "set") && !pq_is_word(p, p->cur, "remove"))
		return pq_malformed(p, "Expected data manipulation");
	while (rc == ERR_OK) {
		if (pq_take_word(p, "set"))
			rc = set_clause(p, d);
		else if (pq_take_word(p, "remove"))
			rc = remove_clause(p, d);
		else
			break;
	}
	return rc;
}

static enum err returning_element(struct pq_parser *p, struct draft *d)
{
	bool all = pq_is_word(p, p->cur, "all"), new;
	struct pq_node *names;

	if (!all && !pq_is_word(p, p->cur, "modified"))
		return pq_malformed(p, TEXT_PQ_RETURNING);
	pq_next(p);
	new = pq_is_word(p, p->cur, "new");
	if (!new && !pq_is_word(p, p->cur, "old"))
		return pq_malformed(p, TEXT_PQ_RETURNING);
	pq_next(p);
	d->s->returning = all ? (new ? STATEMENT_ALL_NEW : STATEMENT_ALL_OLD) : new ? STATEMENT_MODIFIED_NEW : STATEMENT_MODIFIED_OLD;
	if (pq_take(p, "*"))
		return ERR_OK;
	d->returns_names = true;
	return pq_expression(p, &names);
}

static enum err returning_clause(struct pq_parser *p, struct draft *d)
{
	enum err rc;

	if (!pq_take_word(p, "returning"))
		return ERR_OK;
	do {
		d->returnings++;
		rc = returning_element(p, d);
	} while (rc == ERR_OK && pq_take(p, ","));
	return rc;
}

/* A name behind the table is an alias: read, and refused later. */
static void skip_alias(struct pq_parser *p, struct draft *d)
{
	(void)pq_take_word(p, "as");
	if (p->cur.kind == PQ_TOKEN_NAME || p->cur.kind == PQ_TOKEN_QUOTED) {
		d->alias = true;
		pq_next(p);
	}
}

static enum err update_statement(struct pq_parser *p, struct draft *d)
{
	enum err rc = pq_simple_path(p, &d->from);

	d->s->kind = STATEMENT_UPDATE;
	if (rc != ERR_OK)
		return rc;
	skip_alias(p, d);
	rc = change_clauses(p, d);
	return rc == ERR_OK ? where_clause(p, d) : rc;
}

/* FROM table WHERE key SET ... */
static enum err from_statement(struct pq_parser *p, struct draft *d)
{
	enum err rc = from_clause(p, d);

	d->s->kind = STATEMENT_UPDATE;
	if (rc == ERR_OK)
		rc = where_clause(p, d);
	return rc == ERR_OK ? change_clauses(p, d) : rc;
}

static enum err delete_statement(struct pq_parser *p, struct draft *d)
{
	enum err rc;

	d->s->kind = STATEMENT_DELETE;
	if (!pq_take_word(p, "from"))
		return pq_malformed(p, "Expected FROM after DELETE");
	rc = pq_simple_path(p, &d->from);
	if (rc != ERR_OK)
		return rc;
	skip_alias(p, d);
	return where_clause(p, d);
}

static enum err exists_statement(struct pq_parser *p, struct draft *d)
{
	enum err rc;

	pq_next(p);
	if (!pq_take_word(p, "select"))
		return fault_set(p->f, MSG_PQ_EXISTS);
	rc = select_statement(p, d);
	d->s->kind = STATEMENT_EXISTS;
	if (rc == ERR_OK && !pq_take(p, ")"))
		rc = pq_malformed(p, "Expected RIGHT_PAREN");
	return rc;
}

/* An expression by itself is well formed, and refused. */
static enum err no_statement(struct pq_parser *p)
{
	struct pq_node *n;
	enum err rc = pq_expression(p, &n);

	if (rc != ERR_OK)
		return rc;
	if (p->cur.kind != PQ_TOKEN_END)
		return pq_malformed(p, "Unexpected token after expression");
	if (n->kind == PQ_IS)
		return fault_set(p->f, MSG_PQ_OPERATION, "IsType");
	return fault_set(p->f, MSG_PQ_EXISTS_ALONE);
}

static enum err any_statement(struct pq_parser *p, struct draft *d)
{
	if (pq_take_word(p, "select"))
		return select_statement(p, d);
	if (pq_take_word(p, "insert"))
		return insert_statement(p, d);
	if (pq_take_word(p, "update"))
		return update_statement(p, d);
	if (pq_take_word(p, "delete"))
		return delete_statement(p, d);
	if (pq_take_word(p, "from"))
		return from_statement(p, d);
	if (pq_is_word(p, p->cur, "exists") && pq_is_word(p, pq_peek(p), "(")) {
		pq_next(p);
		return exists_statement(p, d);
	}
	return no_statement(p);
}

static enum err end_of_statement(struct pq_parser *p)
{
	if (pq_take(p, ";") && p->cur.kind != PQ_TOKEN_END)
		return pq_malformed(p, "Unexpected token after semicolon. (Only one query is allowed.)");
	return p->cur.kind == PQ_TOKEN_END ? ERR_OK : pq_malformed(p, "Unexpected token after expression");
}

static enum err whole_statement(struct pq_parser *p, struct draft *d)
{
	enum err rc = any_statement(p, d);

	if (rc == ERR_OK && d->s->kind != STATEMENT_SELECT && d->s->kind != STATEMENT_EXISTS)
		rc = returning_clause(p, d);
	return rc == ERR_OK ? end_of_statement(p) : rc;
}

/* ---- what clauses may be ---- */

static enum err check_clauses(struct pq_parser *p, const struct draft *d)
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

static enum err check_from(struct pq_parser *p, struct draft *d)
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

static enum err bind_columns(struct pq_parser *p, struct draft *d)
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
	return ERR_OK;
}

static enum err order_fault(struct pq_parser *p, const struct pq_node *o)
{
	const char *quote = o->kind == PQ_STRING ? "\"" : "";

	if (o->kind == PQ_PATH)
		return fault_set(p->f, MSG_PQ_ORDER_TYPE, "", 4, "PATH", "");
	return fault_set(p->f, MSG_PQ_ORDER_TYPE, quote, SLICE_FMT(o->text), quote);
}

static enum err bind_order(struct pq_parser *p, struct draft *d)
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

static enum err check_returning(struct pq_parser *p, const struct draft *d)
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

static enum err bind_clauses(struct pq_parser *p, struct draft *d)
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
	struct draft d = { .s = arena_zalloc(a, sizeof *d.s) };
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
	rc = whole_statement(&p, &d);
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
