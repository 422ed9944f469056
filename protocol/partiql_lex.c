/* partiql_lex - the words of a statement.
 *
 * Names are letters, digits, _ and $, and no reserved word in any case of letters; in double quotes anything is a name.
 * A doubled quote inside quotes stands for one. Comments are white space: from two dashes to the end of the line, and
 * between slash-star and star-slash. What cannot be a token is PQ_TOKEN_BAD.
 * Source: the reserved words of SQL-92 and those PartiQL adds. Threads: pure. */
#include <stdlib.h>
#include <strings.h>

#include "protocol/partiql_int.h"

/* Sorted. */
static const char *const words[] = {
	"absolute", "action", "add", "all", "allocate", "alter", "and", "any", "are", "as", "asc", "assertion", "at",
	"authorization", "avg", "bag", "begin", "between", "bit", "bit_length", "blob", "bool", "boolean", "by", "cascade",
	"cascaded", "case", "cast", "catalog", "char", "char_length", "character", "character_length", "check", "clob", "close",
	"coalesce", "collate", "collation", "column", "commit", "connect", "connection", "constraint", "constraints",
	"continue", "convert", "corresponding", "count", "create", "cross", "current", "current_date", "current_time",
	"current_timestamp", "current_user", "cursor", "date", "date_add", "date_diff", "deallocate", "dec", "decimal",
	"declare", "default", "deferrable", "deferred", "delete", "desc", "describe", "descriptor", "diagnostics", "disconnect",
	"distinct", "domain", "double", "drop", "else", "end", "escape", "except", "exception", "exec", "execute", "exists",
	"external", "extract", "false", "fetch", "first", "float", "for", "foreign", "found", "from", "full", "get", "global",
	"go", "goto", "grant", "group", "having", "identity", "immediate", "in", "index", "indicator", "initially", "inner",
	"input", "insensitive", "insert", "int", "int4", "int8", "integer", "intersect", "interval", "into", "is", "isolation",
	"join", "key", "language", "last", "left", "let", "level", "like", "limit", "list", "local", "lower", "match", "max",
	"min", "missing", "modified", "module", "names", "national", "natural", "nchar", "new", "next", "no", "not", "null",
	"nullif", "numeric", "octet_length", "of", "old", "on", "only", "open", "option", "or", "order", "outer", "output",
	"overlaps", "pad", "partial", "pivot", "position", "precision", "prepare", "preserve", "primary", "prior", "privileges",
	"procedure", "public", "read", "real", "references", "relative", "remove", "restrict", "returning", "revoke", "right",
	"rollback", "rows", "schema", "scroll", "section", "select", "session", "session_user", "set", "sexp", "size",
	"smallint", "some", "space", "sql", "sqlcode", "sqlerror", "sqlstate", "string", "struct", "substring", "sum", "symbol",
	"system_user", "table", "temporary", "then", "time", "timestamp", "to", "transaction", "translate", "translation",
	"trim", "true", "tuple", "union", "unique", "unknown", "unpivot", "update", "upper", "usage", "user", "using", "value",
	"values", "varchar", "varying", "view", "when", "whenever", "where", "with", "work", "write", "zone",
};

enum { WORD_MAX = 32 };

static int compare_word(const void *key, const void *word)
{
	return strcasecmp(key, *(const char *const *)word);
}

static bool is_reserved(struct slice s)
{
	char word[WORD_MAX];

	if (s.n >= sizeof word)
		return false;
	memcpy(word, s.p, s.n);
	word[s.n] = '\0';
	return bsearch(word, words, sizeof words / sizeof *words, sizeof *words, compare_word) != NULL;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool begins_name(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static uint8_t at(struct slice s, size_t i)
{
	return i < s.n ? s.p[i] : '\0';
}

/* Behind white space and comments; past the end if a comment does not end. */
static size_t skip_space(struct slice s, size_t i)
{
	for (;;) {
		while (i < s.n && (s.p[i] == ' ' || (s.p[i] >= '\t' && s.p[i] <= '\r')))
			i++;
		if (at(s, i) == '-' && at(s, i + 1) == '-') {
			while (i < s.n && s.p[i] != '\n')
				i++;
		} else if (at(s, i) == '/' && at(s, i + 1) == '*') {
			for (i += 2; i < s.n && !(s.p[i] == '*' && at(s, i + 1) == '/');)
				i++;
			i += 2;
		} else {
			return i;
		}
	}
}

static struct pq_token token(enum pq_token_kind kind, size_t from, size_t end)
{
	return (struct pq_token){ (uint8_t)kind, (uint32_t)from, (uint32_t)(end - from) };
}

static struct pq_token lex_quoted(struct slice s, size_t from)
{
	uint8_t quote = s.p[from];
	size_t i = from + 1;

	for (; i < s.n; i++) {
		if (s.p[i] != quote)
			continue;
		if (at(s, i + 1) != quote)
			return token(quote == '"' ? PQ_TOKEN_QUOTED : PQ_TOKEN_STRING, from, i + 1);
		i++;
	}
	return token(PQ_TOKEN_BAD, from, s.n);
}

static size_t skip_digits(struct slice s, size_t i)
{
	while (is_digit(at(s, i)))
		i++;
	return i;
}

/* The service keeps exponent and scale in 32 bits; what does not fit is no number at all. */
static bool exponent_fits(struct slice digits, bool negative, size_t fraction)
{
	int64_t e = 0;

	for (size_t i = 0; i < digits.n && e <= INT32_MAX; i++)
		e = e * 10 + (digits.p[i] - '0');
	return e <= INT32_MAX && (int64_t)fraction + (negative ? e : -e) <= INT32_MAX;
}

static struct pq_token lex_number(struct slice s, size_t from)
{
	size_t i = skip_digits(s, from), fraction = 0, e;
	bool negative;

	if (at(s, i) == '.') {
		size_t point = i + 1;

		i = skip_digits(s, point);
		fraction = i - point;
	}
	if (at(s, i) != 'e' && at(s, i) != 'E')
		return token(PQ_TOKEN_NUMBER, from, i);
	e = i + 1;
	negative = at(s, e) == '-';
	e += at(s, e) == '-' || at(s, e) == '+';
	if (!is_digit(at(s, e)))
		return token(PQ_TOKEN_NUMBER, from, i);
	i = skip_digits(s, e);
	if (!exponent_fits(slice_of(s.p + e, i - e), negative, fraction))
		return token(PQ_TOKEN_BAD, from, i);
	return token(PQ_TOKEN_NUMBER, from, i);
}

static struct pq_token lex_name(struct slice s, size_t from)
{
	size_t i = from;

	while (i < s.n && (begins_name(s.p[i]) || is_digit(s.p[i])))
		i++;
	return token(is_reserved(slice_of(s.p + from, i - from)) ? PQ_TOKEN_KEYWORD : PQ_TOKEN_NAME, from, i);
}

/* Two-character signs first. */
static struct pq_token lex_sign(struct slice s, size_t from)
{
	static const char two[][3] = { "<=", ">=", "<>", "!=", "||", "<<", ">>" };
	uint8_t c = s.p[from];

	for (size_t i = 0; i < sizeof two / sizeof *two; i++)
		if (c == (uint8_t)two[i][0] && at(s, from + 1) == (uint8_t)two[i][1])
			return token(i < 5 ? PQ_TOKEN_OPERATOR : PQ_TOKEN_PUNCTUATION, from, from + 2);
	if (c != '\0' && strchr("=<>+-*/%", c) != NULL)
		return token(PQ_TOKEN_OPERATOR, from, from + 1);
	if (c != '\0' && strchr("()[]{},.:;", c) != NULL)
		return token(PQ_TOKEN_PUNCTUATION, from, from + 1);
	return token(c == '?' ? PQ_TOKEN_PARAMETER : PQ_TOKEN_BAD, from, from + 1);
}

struct pq_token pq_lex(struct slice text, size_t from)
{
	size_t i = skip_space(text, from);
	uint8_t c = at(text, i);

	if (i > text.n)
		return token(PQ_TOKEN_BAD, text.n, text.n);
	if (i == text.n)
		return token(PQ_TOKEN_END, i, i);
	if (c == '\'' || c == '"')
		return lex_quoted(text, i);
	if (is_digit(c) || (c == '.' && is_digit(at(text, i + 1))))
		return lex_number(text, i);
	return begins_name(c) ? lex_name(text, i) : lex_sign(text, i);
}
