/* expr_lex - from the text of an expression to tokens.
 *
 * A name begins with a letter and goes on with letters, digits and "_"; a placeholder begins with "#" or ":" and
 * goes on with any of these. A number has no leading zeros. What begins nothing is a token of its own, one character
 * long, and no grammar takes it.
 * Threads: pure. */
#include "protocol/expr_int.h"

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(uint8_t c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t run(struct slice text, size_t at, bool (*in)(uint8_t))
{
	while (at < text.n && in(text.p[at]))
		at++;
	return at;
}

/* A character outside ASCII is reported whole. */
static size_t character(struct slice text, size_t at)
{
	size_t end = at + 1;

	if (text.p[at] >= 0xc0)
		while (end < text.n && (text.p[end] & 0xc0) == 0x80)
			end++;
	return end;
}

static enum token_kind symbol(uint8_t c)
{
	switch (c) {
	case '=': return TOKEN_EQ;
	case '<': return TOKEN_LT;
	case '>': return TOKEN_GT;
	case '(': return TOKEN_OPEN;
	case ')': return TOKEN_CLOSE;
	case '[': return TOKEN_INDEX_OPEN;
	case ']': return TOKEN_INDEX_CLOSE;
	case ',': return TOKEN_COMMA;
	case '.': return TOKEN_DOT;
	case '+': return TOKEN_PLUS;
	case '-': return TOKEN_MINUS;
	default: return TOKEN_BAD;
	}
}

struct token expr_lex(struct slice text, size_t at)
{
	enum token_kind kind = TOKEN_END;
	size_t end;
	uint8_t c, next;

	at = end = run(text, at, is_blank);
	if (at < text.n) {
		c = text.p[at];
		next = at + 1 < text.n ? text.p[at + 1] : 0;
		end = at + 1;
		if (is_letter(c)) {
			kind = TOKEN_NAME;
			end = run(text, end, is_word);
		} else if (is_digit(c)) {
			kind = TOKEN_NUMBER;
			end = c == '0' ? end : run(text, end, is_digit);
		} else if ((c == '#' || c == ':') && is_word(next)) {
			kind = c == '#' ? TOKEN_NAME_REF : TOKEN_VALUE_REF;
			end = run(text, end, is_word);
		} else if (c == '<' && (next == '=' || next == '>')) {
			kind = next == '=' ? TOKEN_LE : TOKEN_NE;
			end++;
		} else if (c == '>' && next == '=') {
			kind = TOKEN_GE;
			end++;
		} else {
			kind = symbol(c);
			end = character(text, at);
		}
	}
	return (struct token){ (uint8_t)kind, (uint16_t)at, (uint16_t)(end - at) };
}
