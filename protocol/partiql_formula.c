/* partiql_formula - expressions of PartiQL: operators by precedence, terms, literals. Paths: partiql_path.c.
 *
 *    OR < AND < NOT < = <> IS IN < < <= > >= BETWEEN LIKE < + - || < * / % < sign < term
 *
 * Everything the grammar has is read, so that complaints about a statement's form come before those about its meaning;
 * what the service has no use for becomes a node that is refused when it is bound.
 * Recursion is bounded by PARTIQL_DEPTH_MAX. */
#include <strings.h>

#include "protocol/partiql_int.h"

enum precedence { LOWEST, PREC_OR, PREC_AND, PREC_NOT, PREC_EQUAL, PREC_ORDER, PREC_SUM, PREC_PRODUCT };

/* What may stand between two terms. `kind` of the node; negated: NOT in front is part of it. */
static const struct infix {
	const char *word;
	enum pq_token_kind token;
	enum precedence precedence;
	enum pq_kind kind;
} infixes[] = {
	{ "or", PQ_TOKEN_KEYWORD, PREC_OR, PQ_OR },
	{ "and", PQ_TOKEN_KEYWORD, PREC_AND, PQ_AND },
	{ "=", PQ_TOKEN_OPERATOR, PREC_EQUAL, PQ_INFIX },
	{ "<>", PQ_TOKEN_OPERATOR, PREC_EQUAL, PQ_INFIX },
	{ "!=", PQ_TOKEN_OPERATOR, PREC_EQUAL, PQ_INFIX },
	{ "is", PQ_TOKEN_KEYWORD, PREC_EQUAL, PQ_IS },
	{ "in", PQ_TOKEN_KEYWORD, PREC_EQUAL, PQ_IN },
	{ "<", PQ_TOKEN_OPERATOR, PREC_ORDER, PQ_INFIX },
	{ "<=", PQ_TOKEN_OPERATOR, PREC_ORDER, PQ_INFIX },
	{ ">", PQ_TOKEN_OPERATOR, PREC_ORDER, PQ_INFIX },
	{ ">=", PQ_TOKEN_OPERATOR, PREC_ORDER, PQ_INFIX },
	{ "between", PQ_TOKEN_KEYWORD, PREC_ORDER, PQ_BETWEEN },
	{ "like", PQ_TOKEN_KEYWORD, PREC_ORDER, PQ_INFIX },
	{ "+", PQ_TOKEN_OPERATOR, PREC_SUM, PQ_INFIX },
	{ "-", PQ_TOKEN_OPERATOR, PREC_SUM, PQ_INFIX },
	{ "||", PQ_TOKEN_OPERATOR, PREC_SUM, PQ_INFIX },
	{ "*", PQ_TOKEN_OPERATOR, PREC_PRODUCT, PQ_INFIX },
	{ "/", PQ_TOKEN_OPERATOR, PREC_PRODUCT, PQ_INFIX },
	{ "%", PQ_TOKEN_OPERATOR, PREC_PRODUCT, PQ_INFIX },
};

static enum err climb(struct pq_parser *p, enum precedence least, struct pq_node **out);

/* ---- terms ---- */

/* Expressions up to `close`; the opening sign has been taken. */
static enum err list_rest(struct pq_parser *p, struct pq_node *list, const char *close, const char *expected)
{
	struct pq_node **end = &list->first;
	enum err rc;

	if (pq_take(p, close))
		return ERR_OK;
	do {
		rc = pq_expression(p, end);
		if (rc != ERR_OK)
			return rc;
		list->operands++;
		end = &(*end)->next;
	} while (pq_take(p, ","));
	return pq_take(p, close) ? ERR_OK : pq_malformed(p, expected);
}

static enum err list_term(struct pq_parser *p, enum pq_kind kind, const char *close, const char *expected,
	struct pq_node **out)
{
	enum err rc = pq_take_node(p, kind, out);

	return rc == ERR_OK ? list_rest(p, *out, close, expected) : rc;
}

static enum err tuple_term(struct pq_parser *p, struct pq_node **out)
{
	struct pq_node **end;
	enum err rc = pq_take_node(p, PQ_TUPLE, out);

	if (rc != ERR_OK || pq_take(p, "}"))
		return rc;
	end = &(*out)->first;
	do {
		rc = pq_expression(p, end);
		if (rc == ERR_OK && !pq_take(p, ":"))
			rc = pq_malformed(p, "Expected COLON");
		if (rc == ERR_OK)
			rc = pq_expression(p, &(*end)->next);
		if (rc != ERR_OK)
			return rc;
		(*out)->operands += 2;
		end = &(*end)->next->next;
	} while (pq_take(p, ","));
	return pq_take(p, "}") ? ERR_OK : pq_malformed(p, "Expected RIGHT_CURLY");
}

/* "(a)" is a; "(a, b)" is a list. */
static enum err group_term(struct pq_parser *p, struct pq_node **out)
{
	struct pq_node *list;
	enum err rc;

	if (pq_is_word(p, pq_peek(p), ")")) {
		pq_next(p);
		return pq_malformed(p, "Unexpected term");
	}
	rc = list_term(p, PQ_LIST, ")", "Expected RIGHT_PAREN", &list);
	if (rc == ERR_OK)
		*out = list->operands == 1 ? list->first : list;
	return rc;
}

/* Memory of one's own: it is changed to lower case. */
static enum err lower_text(struct pq_parser *p, struct pq_node *n, int (*change)(int))
{
	char *copy = arena_alloc(p->arena, n->text.n + 1);

	if (copy == NULL)
		return fault_set(p->f, MSG_NO_MEMORY);
	for (size_t i = 0; i < n->text.n; i++)
		copy[i] = (char)change(n->text.p[i]);
	n->text = slice_of(copy, n->text.n);
	return ERR_OK;
}

static int to_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int to_upper(int c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

static enum err sub_select(struct pq_parser *p)
{
	return fault_set(p->f, MSG_PQ_TOKEN, "SELECT", pq_position(p->text, p->cur.at, p->cur.n, p->arena));
}

static enum err call_term(struct pq_parser *p, struct pq_node **out)
{
	enum err rc = pq_take_node(p, PQ_CALL, out);

	if (rc == ERR_OK)
		rc = lower_text(p, *out, to_lower);
	if (rc != ERR_OK)
		return rc;
	pq_next(p); /* the parenthesis */
	if (pq_is(p, "*") && pq_is_word(p, pq_peek(p), ")")) {
		pq_next(p);
		pq_next(p);
		return ERR_OK;
	}
	if (pq_is_word(p, p->cur, "select"))
		return sub_select(p);
	return list_rest(p, *out, ")", "Expected RIGHT_PAREN");
}

static enum err parameter_term(struct pq_parser *p, struct pq_node **out)
{
	enum err rc = pq_take_node(p, PQ_PARAMETER, out);

	if (rc != ERR_OK)
		return rc;
	if (p->parameters_left == 0) {
		p->parameters_short = true;
		return ERR_OK;
	}
	p->parameters_left--;
	(*out)->value = mp_skip(&p->parameters);
	return ERR_OK;
}

static enum err string_term(struct pq_parser *p, struct pq_node **out)
{
	struct pq_token t = p->cur;
	enum err rc = pq_take_node(p, PQ_STRING, out);

	if (rc != ERR_OK)
		return rc;
	(*out)->text = pq_unquote(p, t);
	return slice_present((*out)->text) ? ERR_OK : fault_set(p->f, MSG_NO_MEMORY);
}

/* Keywords that are operators: where a term should stand, they are unexpected as such. */
static bool is_operator_word(const struct pq_parser *p)
{
	static const char *const all[] = { "and", "or", "is", "in", "like", "between", "union", "except", "intersect" };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (pq_is_word(p, p->cur, all[i]))
			return true;
	return false;
}

static enum err keyword_term(struct pq_parser *p, struct pq_node **out)
{
	static const struct { const char *word; enum pq_kind kind; } literals[] = {
		{ "true", PQ_TRUE }, { "false", PQ_FALSE }, { "null", PQ_NULL }, { "missing", PQ_MISSING },
	};

	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
		if (pq_is_word(p, p->cur, literals[i].word))
			return pq_take_node(p, literals[i].kind, out);
	if (is_operator_word(p))
		return pq_malformed(p, "Unexpected operator");
	if (pq_is_word(p, p->cur, "select"))
		return sub_select(p);
	if (pq_is_word(p, p->cur, "from") || pq_is_word(p, p->cur, "set") || pq_is_word(p, p->cur, "remove"))
		return pq_malformed(p, "Expected data manipulation");
	if (pq_is_word(p, pq_peek(p), "("))
		return call_term(p, out);
	return pq_malformed(p, "Unexpected keyword");
}

static enum err plain_term(struct pq_parser *p, struct pq_node **out)
{
	switch (p->cur.kind) {
	case PQ_TOKEN_NAME:
		return pq_is_word(p, pq_peek(p), "(") ? call_term(p, out) : pq_path_term(p, out);
	case PQ_TOKEN_QUOTED:
		return pq_path_term(p, out);
	case PQ_TOKEN_STRING:
		return string_term(p, out);
	case PQ_TOKEN_NUMBER:
		return pq_take_node(p, PQ_NUMBER, out);
	case PQ_TOKEN_PARAMETER:
		return parameter_term(p, out);
	case PQ_TOKEN_KEYWORD:
		return keyword_term(p, out);
	case PQ_TOKEN_OPERATOR:
		return pq_malformed(p, "Unexpected operator");
	default:
		break;
	}
	if (pq_is(p, "("))
		return group_term(p, out);
	if (pq_is(p, "["))
		return list_term(p, PQ_LIST, "]", "Expected RIGHT_BRACKET", out);
	if (pq_is(p, "<<"))
		return list_term(p, PQ_BAG, ">>", "Expected RIGHT_DOUBLE_ANGLE_BRACKET", out);
	return pq_is(p, "{") ? tuple_term(p, out) : pq_malformed(p, "Unexpected term");
}

/* A sign in front of a number is part of it. */
static enum err signed_number(struct pq_parser *p, bool minus, struct pq_node *n)
{
	const char *text;

	if (!minus)
		return ERR_OK;
	if (n->text.n > 0 && n->text.p[0] == '-') {
		n->text = slice_of(n->text.p + 1, n->text.n - 1);
		return ERR_OK;
	}
	text = arena_printf(p->arena, "-%.*s", SLICE_FMT(n->text));
	if (text == NULL)
		return fault_set(p->f, MSG_NO_MEMORY);
	n->text = slice_str(text);
	return ERR_OK;
}

static enum err term(struct pq_parser *p, struct pq_node **out)
{
	struct pq_token sign = p->cur;
	bool minus = pq_is_word(p, sign, "-");
	struct pq_node *inner;
	enum err rc;

	if (!minus && !pq_is_word(p, sign, "+"))
		return plain_term(p, out);
	if (p->depth == PARTIQL_DEPTH_MAX)
		return fault_set(p->f, MSG_PQ_NESTING);
	pq_next(p);
	p->depth++;
	rc = term(p, &inner);
	p->depth--;
	*out = inner;
	if (rc != ERR_OK)
		return rc;
	if (inner->kind == PQ_NUMBER)
		return signed_number(p, minus, inner);
	*out = pq_node_new(p, PQ_PREFIX, sign);
	if (*out == NULL)
		return p->f->code;
	pq_node_append(*out, inner);
	return ERR_OK;
}

/* ---- operators ---- */

/* The operator at the current token; *negated: it is NOT IN, NOT BETWEEN or NOT LIKE, and NOT is the current token. */
static const struct infix *infix_here(const struct pq_parser *p, bool *negated)
{
	struct pq_token t = p->cur;

	*negated = pq_is_word(p, t, "not");
	if (*negated)
		t = pq_peek(p);
	for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++) {
		const struct infix *x = &infixes[i];

		if (t.kind != x->token || !pq_is_word(p, t, x->word))
			continue;
		if (!*negated || x->kind == PQ_IN || x->kind == PQ_BETWEEN || strcmp(x->word, "like") == 0)
			return x;
	}
	return NULL;
}

static enum err type_name(struct pq_parser *p, struct pq_node *is)
{
	static const char *const types[] = {
		"missing", "null", "bool", "boolean", "string", "numeric", "blob", "struct", "tuple", "list", "smallint", "int",
		"int4", "int8", "integer", "float", "real", "decimal", "char", "character", "varchar", "timestamp", "symbol", "clob",
		"sexp", "bag", "date", "time", "double",
	};
	struct pq_token t = p->cur;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (!pq_is_word(p, t, types[i]))
			continue;
		is->text = pq_text(p, t);
		pq_next(p);
		if (strcmp(types[i], "double") == 0 && !pq_take_word(p, "precision"))
			break;
		if (strcmp(types[i], "character") == 0)
			(void)pq_take_word(p, "varying");
		return lower_text(p, is, to_upper);
	}
	return pq_malformed(p, "Expected type name");
}

static enum err between_rest(struct pq_parser *p, struct pq_node *n)
{
	struct pq_node *lo, *hi;
	enum err rc = climb(p, PREC_ORDER, &lo);

	if (rc != ERR_OK)
		return rc;
	if (!pq_take_word(p, "and"))
		return pq_malformed(p, "Expected AND keyword");
	if (p->cur.kind == PQ_TOKEN_END)
		return pq_malformed(p, "Expected expression after AND");
	rc = climb(p, PREC_ORDER, &hi);
	if (rc != ERR_OK)
		return rc;
	pq_node_append(n, lo);
	pq_node_append(n, hi);
	return ERR_OK;
}

/* What stands to the right of an operator; *negated: the node is to be negated. */
static enum err right_side(struct pq_parser *p, const struct infix *x, struct pq_node *n, bool *negated)
{
	struct pq_node *right;
	enum err rc;

	if (x->kind == PQ_IS) {
		*negated = pq_take_word(p, "not");
		return type_name(p, n);
	}
	if (p->cur.kind == PQ_TOKEN_END)
		return pq_malformed(p, "Missing right-hand side expression of infix operator");
	if (x->kind == PQ_BETWEEN)
		return between_rest(p, n);
	if (x->kind == PQ_IN && pq_is(p, "(") && !pq_is_word(p, pq_peek(p), ")"))
		rc = list_term(p, PQ_LIST, ")", "Expected RIGHT_PAREN", &right); /* also of one value */
	else
		rc = climb(p, x->precedence + 1, &right);
	if (rc == ERR_OK)
		pq_node_append(n, right);
	return rc;
}

static enum err negate(struct pq_parser *p, struct pq_token t, struct pq_node **node)
{
	struct pq_node *n = pq_node_new(p, PQ_NOT, t);

	if (n == NULL)
		return p->f->code;
	pq_node_append(n, *node);
	*node = n;
	return ERR_OK;
}

static enum err apply_infix(struct pq_parser *p, const struct infix *x, bool negated, struct pq_node **left)
{
	struct pq_token sign = p->cur;
	struct pq_node *n;
	enum err rc;

	if (negated)
		pq_next(p);
	n = pq_node_new(p, x->kind, p->cur);
	if (n == NULL)
		return p->f->code;
	pq_next(p);
	pq_node_append(n, *left);
	rc = right_side(p, x, n, &negated);
	if (rc != ERR_OK)
		return rc;
	if (++p->operators > EXPR_OPERATORS_MAX)
		return fault_set(p->f, MSG_PQ_OPERATORS, p->operators);
	*left = n;
	return negated ? negate(p, sign, left) : ERR_OK;
}

static enum err prefix(struct pq_parser *p, struct pq_node **out)
{
	struct pq_token t = p->cur;
	enum err rc;

	if (!pq_take_word(p, "not"))
		return term(p, out);
	rc = climb(p, PREC_NOT, out);
	return rc == ERR_OK ? negate(p, t, out) : rc;
}

static enum err climb(struct pq_parser *p, enum precedence least, struct pq_node **out)
{
	enum err rc;

	if (p->depth == PARTIQL_DEPTH_MAX)
		return fault_set(p->f, MSG_PQ_NESTING);
	p->depth++;
	rc = prefix(p, out);
	while (rc == ERR_OK) {
		bool negated;
		const struct infix *x = infix_here(p, &negated);

		if (x == NULL || x->precedence < least)
			break;
		rc = apply_infix(p, x, negated, out);
	}
	p->depth--;
	return rc;
}

enum err pq_expression(struct pq_parser *p, struct pq_node **out)
{
	*out = NULL;
	return climb(p, LOWEST, out);
}
