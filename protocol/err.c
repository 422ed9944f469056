/* err - see err.h. */
#include <stdarg.h>

#include "protocol/err.h"

static const struct {
	const char *type, *full;
	int status;
	bool retryable;
} table[ERR_COUNT] = {
	[ERR_OK] = { "OK", "OK", 200, false },
#define X(sym, type, ns, status, retry) [ERR_##sym] = { type, ERR_NS_##ns "#" type, status, retry },
	ERR_TABLE(X)
#undef X
};

/* A code may come from a peer that knows more errors than we do. */
static enum err known(enum err e)
{
	return (unsigned)e < ERR_COUNT ? e : ERR_INTERNAL;
}

const char *err_type(enum err e)
{
	return table[known(e)].type;
}

const char *err_full_type(enum err e)
{
	return table[known(e)].full;
}

int err_http_status(enum err e)
{
	return table[known(e)].status;
}

bool err_retryable(enum err e)
{
	return table[known(e)].retryable;
}

enum err fault_set(struct fault *f, enum err code, const char *fmt, ...)
{
	va_list args;

	if (f == NULL)
		return code;
	f->code = code;
	f->text = NULL;
	f->detail = SLICE_NONE;
	if (strchr(fmt, '%') == NULL) {
		f->text = fmt;
	} else if (f->arena != NULL) {
		va_start(args, fmt);
		f->text = arena_vprintf(f->arena, fmt, args);
		va_end(args);
	}
	if (f->text == NULL)
		f->text = err_type(code);
	return code;
}
