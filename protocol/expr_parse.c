/* expr_parse - the five kinds of expression, from text to struct expr.
 *
 *    update       SET path = formula, ... REMOVE path, ... ADD path :v, ... DELETE path :v, ...
 *    projection   path, path, ...
 *    condition, filter, key condition   formula              (expr_formula.c)
 *
 * The parser works in one scratch block that has room for the worst case, an entry for every byte of the text;
 * what it made is then packed behind a struct expr.
 * Threads and ownership: expr.h. */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "protocol/expr_parse.h"
#include "protocol/messages.h"

static const char *const op_words[] = {
#define X(sym, word, n) [EXPR_##sym] = word,
	EXPR_OPS(X)
#undef X
};

static const uint8_t op_operands[] = {
#define X(sym, word, n) [EXPR_##sym] = n,
	EXPR_OPS(X)
#undef X
};

static const char *const kind_names[] = {
	[EXPR_CONDITION] = "ConditionExpression", [EXPR_FILTER] = "FilterExpression",
	[EXPR_KEY_CONDITION] = "KeyConditionExpression", [EXPR_PROJECTION] = "ProjectionExpression",
	[EXPR_UPDATE] = "UpdateExpression",
};

static const char *const section_words[] = {
	[SECTION_SET] = "SET", [SECTION_REMOVE] = "REMOVE", [SECTION_ADD] = "ADD", [SECTION_DELETE] = "DELETE",
};

static const struct { const char *before, *behind; } complaint_texts[] = {
#define X(sym, text, tail) [COMPLAINT_##sym] = { text, tail },
	EXPR_COMPLAINTS(X)
#undef X
};

const char *expr_op_word(enum op_code op)
{
	return op_words[op];
}

unsigned expr_op_operands(enum op_code op)
{
	return op_operands[op];
}

const char *expr_kind_name(enum expr_kind kind)
{
	return kind_names[kind];
}

/* ---- tokens ---- */

struct token parser_peek(const struct parser *p)
{
	return expr_lex(p->text, (size_t)p->cur.at + p->cur.n);
}

void parser_next(struct parser *p)
{
	p->prev = p->cur;
	p->cur = parser_peek(p);
}

/* The words around: the token before, the token itself, the token after. */
bool parser_syntax(struct parser *p)
{
	struct token next = parser_peek(p);
	size_t from = p->prev.n > 0 ? p->prev.at : p->cur.at;
	size_t to = (size_t)next.at + next.n;
	struct slice token = slice_of(p->text.p + p->cur.at, p->cur.n), near;

	if (p->cur.kind == TOKEN_END) {
		token = SLICE_LIT("<EOF>");
		to = (size_t)p->prev.at + p->prev.n;
	} else if (next.kind == TOKEN_END) {
		to = (size_t)p->cur.at + p->cur.n;
	}
	near = slice_of(p->text.p + from, to > from ? to - from : 0);
	(void)fault_set(p->f, MSG_EXPR_SYNTAX, kind_names[p->kind], SLICE_FMT(token), SLICE_FMT(near));
	return false;
}

void parser_note(struct parser *p, enum complaint c, struct token where, uint32_t number)
{
	if (!p->noted[c].set)
		p->noted[c] = (struct noted){ true, where.at, where.n, number };
}

bool parser_word(const struct parser *p, struct token t, const char *word)
{
	return t.kind == TOKEN_NAME && t.n == strlen(word) &&
		strncasecmp((const char *)p->text.p + t.at, word, t.n) == 0;
}

enum section parser_section(const struct parser *p, struct token t)
{
	for (int s = SECTION_SET; s < SECTION_NONE; s++)
		if (parser_word(p, t, section_words[s]))
			return (enum section)s;
	return SECTION_NONE;
}

bool parser_keyword(const struct parser *p, struct token t)
{
	static const char *const words[] = { "AND", "OR", "NOT", "BETWEEN", "IN" };

	if (p->kind == EXPR_UPDATE)
		return parser_section(p, t) != SECTION_NONE;
	if (p->kind == EXPR_PROJECTION)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (parser_word(p, t, words[i]))
			return true;
	return false;
}

uint16_t parser_node(struct parser *p, struct node n)
{
	p->node[p->nodes] = n;
	return p->nodes++;
}

/* ---- paths ---- */

static bool take_name(struct parser *p)
{
	struct token t = p->cur;
	bool ref = t.kind == TOKEN_NAME_REF;

	if (!ref && (t.kind != TOKEN_NAME || parser_keyword(p, t)))
		return parser_syntax(p);
	if (!ref && expr_reserved(slice_of(p->text.p + t.at, t.n)))
		parser_note(p, COMPLAINT_RESERVED, t, 0);
	p->step[p->steps++] = (struct step){ 0, t.at, t.n, ref ? STEP_REF : STEP_NAME };
	parser_next(p);
	return true;
}

static bool take_index(struct parser *p)
{
	struct token t = p->cur;
	uint64_t index = 0;

	if (t.kind != TOKEN_NUMBER)
		return parser_syntax(p);
	for (uint16_t i = 0; i < t.n && index <= INT32_MAX; i++)
		index = index * 10 + (uint64_t)(p->text.p[t.at + i] - '0');
	if (index > INT32_MAX) {
		parser_note(p, COMPLAINT_INDEX, t, 0);
		index = INT32_MAX;
	}
	p->step[p->steps++] = (struct step){ (uint32_t)index, t.at, t.n, STEP_INDEX };
	parser_next(p);
	if (p->cur.kind != TOKEN_INDEX_CLOSE)
		return parser_syntax(p);
	parser_next(p);
	return true;
}

bool parse_path_element(struct parser *p, uint16_t node)
{
	bool index = p->cur.kind == TOKEN_INDEX_OPEN;
	struct token t = p->cur;

	parser_next(p);
	if (!(index ? take_index(p) : take_name(p)))
		return false;
	if (++p->node[node].n > PATH_STEPS_MAX)
		parser_note(p, COMPLAINT_DEPTH, t, 0);
	if (p->noted[COMPLAINT_DEPTH].set && p->node[node].n > p->noted[COMPLAINT_DEPTH].number)
		p->noted[COMPLAINT_DEPTH].number = p->node[node].n;
	return true;
}

bool parse_path(struct parser *p, uint16_t *node)
{
	*node = parser_node(p, (struct node){ .kind = NODE_PATH, .n = 1, .first = p->steps, .next = NODE_NONE,
		.at = p->cur.at, .len = p->cur.n });
	return take_name(p);
}

static bool whole_path(struct parser *p, uint16_t *node)
{
	if (!parse_path(p, node))
		return false;
	while (p->cur.kind == TOKEN_DOT || p->cur.kind == TOKEN_INDEX_OPEN)
		if (!parse_path_element(p, *node))
			return false;
	return true;
}

/* ---- updates and projections ---- */

static bool take_value(struct parser *p, uint16_t *node)
{
	if (p->cur.kind != TOKEN_VALUE_REF)
		return parser_syntax(p);
	*node = parser_node(p, (struct node){ .kind = NODE_VALUE, .first = NODE_NONE, .next = NODE_NONE,
		.at = p->cur.at, .len = p->cur.n });
	parser_next(p);
	return true;
}

static bool take_action(struct parser *p, enum section s)
{
	struct action a = { .section = (uint8_t)s, .value = NODE_NONE };

	if (!whole_path(p, &a.path))
		return false;
	if (s == SECTION_SET) {
		if (p->cur.kind != TOKEN_EQ)
			return parser_syntax(p);
		parser_next(p);
		if (!parse_formula(p, &a.value))
			return false;
	} else if (s == SECTION_ADD || s == SECTION_DELETE) {
		if (!take_value(p, &a.value))
			return false;
	}
	p->action[p->actions++] = a;
	return true;
}

static bool take_actions(struct parser *p, enum section s)
{
	while (take_action(p, s)) {
		if (p->cur.kind != TOKEN_COMMA)
			return true;
		parser_next(p);
	}
	return false;
}

static bool take_update(struct parser *p)
{
	bool seen[SECTION_NONE] = { false };
	enum section s;

	do {
		s = parser_section(p, p->cur);
		if (s == SECTION_NONE)
			return parser_syntax(p);
		if (seen[s])
			parser_note(p, COMPLAINT_SECTION, p->cur, s);
		seen[s] = true;
		parser_next(p);
		if (!take_actions(p, s))
			return false;
	} while (p->cur.kind != TOKEN_END);
	return true;
}

static bool take_projection(struct parser *p)
{
	return take_actions(p, SECTION_NONE) && (p->cur.kind == TOKEN_END || parser_syntax(p));
}

/* ---- the whole ---- */

static const uint8_t condition_order[] = { COMPLAINT_PARENTHESES, COMPLAINT_FUNCTION, COMPLAINT_CONDITION_FUNCTION,
	COMPLAINT_MISUSED, COMPLAINT_OPERATORS, COMPLAINT_IN, COMPLAINT_RESERVED, COMPLAINT_INDEX, COMPLAINT_DEPTH };
static const uint8_t update_order[] = { COMPLAINT_RESERVED, COMPLAINT_PARENTHESES, COMPLAINT_FUNCTION,
	COMPLAINT_UPDATE_FUNCTION, COMPLAINT_MISUSED, COMPLAINT_OPERATORS, COMPLAINT_SECTION, COMPLAINT_INDEX,
	COMPLAINT_DEPTH };

static enum err complain(const struct parser *p, enum complaint c)
{
	const struct noted *n = &p->noted[c];
	struct slice word = SLICE_NONE;
	char number[16];

	switch (c) {
	case COMPLAINT_PARENTHESES:
		break;
	case COMPLAINT_SECTION:
		word = slice_str(section_words[n->number]);
		break;
	case COMPLAINT_OPERATORS:
	case COMPLAINT_IN:
	case COMPLAINT_DEPTH:
		word = slice_of(number, (size_t)snprintf(number, sizeof(number), "%u", (unsigned)n->number));
		break;
	default:
		word = slice_of(p->text.p + n->at, n->n);
	}
	return fault_set(p->f, MSG_EXPR_COMPLAINT, kind_names[p->kind], complaint_texts[c].before, SLICE_FMT(word),
		complaint_texts[c].behind);
}

static enum err report(const struct parser *p)
{
	bool update = p->kind == EXPR_UPDATE;
	const uint8_t *order = update ? update_order : condition_order;
	size_t n = update ? sizeof(update_order) : sizeof(condition_order);

	for (size_t i = 0; i < n; i++)
		if (p->noted[order[i]].set)
			return complain(p, (enum complaint)order[i]);
	return ERR_OK;
}

static enum err check_text(enum expr_kind kind, struct slice text, struct fault *f)
{
	if (text.n > EXPR_BYTES_MAX)
		return fault_set(f, MSG_EXPR_SIZE, kind_names[kind], text.n);
	if (expr_lex(text, 0).kind == TOKEN_END)
		return fault_set(f, MSG_EXPR_EMPTY, kind_names[kind]);
	return ERR_OK;
}

/* Where a part of so many bytes begins in a block that has grown to *size; and let it grow. */
static size_t lay_out(size_t *size, size_t align, size_t bytes)
{
	size_t here = (*size + align - 1) & ~(align - 1);

	*size = here + bytes;
	return here;
}

static bool scratch_open(struct parser *p, uint8_t **block)
{
	size_t n = p->text.n + 1, size = 0, node, step, action, value, pending;

	node = lay_out(&size, alignof(struct node), n * sizeof(struct node));
	step = lay_out(&size, alignof(struct step), n * sizeof(struct step));
	action = lay_out(&size, alignof(struct action), n * sizeof(struct action));
	value = lay_out(&size, alignof(struct parse_value), n * sizeof(struct parse_value));
	pending = lay_out(&size, alignof(struct pending), n * sizeof(struct pending));
	*block = malloc(size);
	if (*block == NULL)
		return false;
	p->node = (struct node *)(void *)(*block + node);
	p->step = (struct step *)(void *)(*block + step);
	p->action = (struct action *)(void *)(*block + action);
	p->value = (struct parse_value *)(void *)(*block + value);
	p->pending = (struct pending *)(void *)(*block + pending);
	return true;
}

static struct expr *pack(const struct parser *p, uint16_t root)
{
	size_t size = sizeof(struct expr), node, step, action, text;
	uint8_t *block;
	struct expr *e;

	node = lay_out(&size, alignof(struct node), p->nodes * sizeof(struct node));
	step = lay_out(&size, alignof(struct step), p->steps * sizeof(struct step));
	action = lay_out(&size, alignof(struct action), p->actions * sizeof(struct action));
	text = lay_out(&size, 1, p->text.n);
	block = malloc(size);
	if (block == NULL)
		return NULL;
	e = (struct expr *)(void *)block;
	*e = (struct expr){ .kind = p->kind, .bytes = (uint32_t)size, .root = root,
		.nodes = p->nodes, .steps = p->steps, .actions = p->actions,
		.text = slice_of(block + text, p->text.n), .node = (struct node *)(void *)(block + node),
		.step = (struct step *)(void *)(block + step), .action = (struct action *)(void *)(block + action) };
	atomic_init(&e->refs, 1);
	memcpy(block + node, p->node, p->nodes * sizeof(struct node));
	memcpy(block + step, p->step, p->steps * sizeof(struct step));
	memcpy(block + action, p->action, p->actions * sizeof(struct action));
	memcpy(block + text, p->text.p, p->text.n);
	return e;
}

static bool take_all(struct parser *p, uint16_t *root)
{
	switch (p->kind) {
	case EXPR_UPDATE:
		return take_update(p);
	case EXPR_PROJECTION:
		return take_projection(p);
	default:
		return parse_formula(p, root);
	}
}

enum err expr_parse(enum expr_kind kind, struct slice text, struct expr **out, struct fault *f)
{
	struct parser p = { .text = text, .kind = kind, .f = f };
	uint16_t root = NODE_NONE;
	uint8_t *block;
	enum err rc = check_text(kind, text, f);

	if (rc != ERR_OK)
		return rc;
	if (!scratch_open(&p, &block))
		return fault_set(f, MSG_NO_MEMORY);
	parser_next(&p);
	rc = take_all(&p, &root) ? report(&p) : ERR_VALIDATION;
	if (rc == ERR_OK) {
		*out = pack(&p, root);
		if (*out == NULL)
			rc = fault_set(f, MSG_NO_MEMORY);
	}
	free(block);
	return rc;
}

struct expr *expr_ref(struct expr *e)
{
	atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
	return e;
}

void expr_unref(struct expr **e)
{
	/* Release: what this thread read came before; acquire: the last one frees after all others. */
	if (*e != NULL && atomic_fetch_sub_explicit(&(*e)->refs, 1, memory_order_acq_rel) == 1)
		free(*e);
	*e = NULL;
}
