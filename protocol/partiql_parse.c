/* partiql_parse - the grammar of statements: SELECT, INSERT, UPDATE and its form with FROM first, DELETE, EXISTS(SELECT).
 *
 * Clauses are kept as nodes. What the grammar has and the service has not is noted, and refused when all has been read. */
#include <strings.h>

#include "protocol/partiql_int.h"

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

static enum err where_clause(struct pq_parser *p, struct pq_draft *d)
{
	return pq_take_word(p, "where") ? pq_expression(p, &d->where) : ERR_OK;
}

static enum err column_clause(struct pq_parser *p, struct pq_draft *d, struct pq_node **column)
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

static enum err select_list(struct pq_parser *p, struct pq_draft *d)
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
static enum err from_clause(struct pq_parser *p, struct pq_draft *d)
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

static enum err order_clause(struct pq_parser *p, struct pq_draft *d)
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
static enum err other_clause(struct pq_parser *p, struct pq_draft *d, const char *word, const char *second, const char *name)
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

static enum err select_statement(struct pq_parser *p, struct pq_draft *d)
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

static enum err insert_statement(struct pq_parser *p, struct pq_draft *d)
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

static enum err add_change(struct pq_parser *p, struct pq_draft *d, struct pq_node *target, struct pq_node *value)
{
	struct pq_assignment *a = arena_alloc(p->arena, sizeof *a);

	if (a == NULL)
		return fault_set(p->f, MSG_NO_MEMORY);
	*a = (struct pq_assignment){ target, value, NULL };
	*d->last = a;
	d->last = &a->next;
	return ERR_OK;
}

static enum err set_clause(struct pq_parser *p, struct pq_draft *d)
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

static enum err remove_clause(struct pq_parser *p, struct pq_draft *d)
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

static enum err change_clauses(struct pq_parser *p, struct pq_draft *d)
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

static enum err returning_element(struct pq_parser *p, struct pq_draft *d)
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

static enum err returning_clause(struct pq_parser *p, struct pq_draft *d)
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
static void skip_alias(struct pq_parser *p, struct pq_draft *d)
{
	(void)pq_take_word(p, "as");
	if (p->cur.kind == PQ_TOKEN_NAME || p->cur.kind == PQ_TOKEN_QUOTED) {
		d->alias = true;
		pq_next(p);
	}
}

static enum err update_statement(struct pq_parser *p, struct pq_draft *d)
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
static enum err from_statement(struct pq_parser *p, struct pq_draft *d)
{
	enum err rc = from_clause(p, d);

	d->s->kind = STATEMENT_UPDATE;
	if (rc == ERR_OK)
		rc = where_clause(p, d);
	return rc == ERR_OK ? change_clauses(p, d) : rc;
}

static enum err delete_statement(struct pq_parser *p, struct pq_draft *d)
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

static enum err exists_statement(struct pq_parser *p, struct pq_draft *d)
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

static enum err any_statement(struct pq_parser *p, struct pq_draft *d)
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

enum err pq_statement(struct pq_parser *p, struct pq_draft *d)
{
	enum err rc = any_statement(p, d);

	if (rc == ERR_OK && d->s->kind != STATEMENT_SELECT && d->s->kind != STATEMENT_EXISTS)
		rc = returning_clause(p, d);
	return rc == ERR_OK ? end_of_statement(p) : rc;
}
