/* expr_parse - what the two halves of the parser share: expr_parse.c, which knows the five kinds of expression, and
 * expr_formula.c, which knows operators, functions and parentheses.
 *
 * Syntax errors end the parse. All else that is wrong with the text itself is noted, the first of each kind, and
 * reported when the whole text has been read, in the service's order. */
#ifndef DYNAX_PROTOCOL_EXPR_PARSE_H
#define DYNAX_PROTOCOL_EXPR_PARSE_H

#include "protocol/expr_int.h"

/* X(symbol, text before the word or number complained of, text behind it) */
#define EXPR_COMPLAINTS(X) \
	X(PARENTHESES, "The expression has redundant parentheses;", "") \
	X(FUNCTION, "Invalid function name; function: ", "") \
	X(CONDITION_FUNCTION, "The function is not allowed in a condition expression; function: ", "") \
	X(UPDATE_FUNCTION, "The function is not allowed in an update expression; function: ", "") \
	X(MISUSED, "The function is not allowed to be used this way in an expression; function: ", "") \
	X(OPERATORS, "The expression contains too many operators; operator count: ", "") \
	X(IN, "The IN operator is provided with too many operands; number of operands: ", "") \
	X(RESERVED, "Attribute name is a reserved keyword; reserved keyword: ", "") \
	X(SECTION, "The \"", "\" section can only be used once in an update expression;") \
	X(INDEX, "List index is not within the allowable range; index: [", "]") \
	X(DEPTH, "The document path has too many nesting levels; nesting levels: ", "")

enum complaint {
#define X(sym, before, behind) COMPLAINT_##sym,
	EXPR_COMPLAINTS(X)
#undef X
	COMPLAINTS
};

struct noted { bool set; uint16_t at, n; uint32_t number; };

/* What a value on the parser's stack may be used as. */
enum value_class { CLASS_OPERAND, CLASS_FUNCTION, CLASS_CONDITION, CLASS_SUM };
struct parse_value { uint16_t node; uint8_t class; bool parenthesised; };

enum pending_kind { PENDING_GROUP, PENDING_CALL, PENDING_IN, PENDING_OP, PENDING_BETWEEN, PENDING_BETWEEN_AND };
/* An operator that waits for its right side, or an open parenthesis. */
struct pending {
	uint8_t kind;
	bool open;              /* GROUP: a condition, or a sum, may stand in it */
	uint16_t node;          /* the operation */
	uint16_t base;          /* height of the value stack before its operands */
};

struct parser {
	struct slice text;
	enum expr_kind kind;
	struct fault *f;
	struct token prev, cur;
	uint32_t operators;
	struct noted noted[COMPLAINTS];
	/* Filled from the front; each has room for one entry per byte of text. */
	struct node *node;
	struct step *step;
	struct action *action;
	struct parse_value *value;
	struct pending *pending;
	uint16_t nodes, steps, actions, values, pendings;
};

void parser_next(struct parser *p);
struct token parser_peek(const struct parser *p);
/* "Syntax error" at the current token; returns false. */
bool parser_syntax(struct parser *p);
void parser_note(struct parser *p, enum complaint c, struct token where, uint32_t number);
/* Is the token this word, in any case of letters? */
bool parser_word(const struct parser *p, struct token t, const char *word);
/* Words that the grammar of this kind of expression keeps for itself. */
bool parser_keyword(const struct parser *p, struct token t);
enum section parser_section(const struct parser *p, struct token t);
uint16_t parser_node(struct parser *p, struct node n);

/* A path: its first element is the current token. */
bool parse_path(struct parser *p, uint16_t *node);
/* One more ".name" or "[1]" for the path that was read last. */
bool parse_path_element(struct parser *p, uint16_t node);
/* A whole condition, or the right side of an assignment. */
bool parse_formula(struct parser *p, uint16_t *node);

#endif
