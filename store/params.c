/* params - see params.h. */
#include "store/params.h"

#include <stdio.h>

#include "protocol/messages.h"

enum { NAMES_MAX = 256 };

bool params_any(const struct record *in, const uint32_t *list)
{
	for (; *list != PARAMS_END; list++)
		if (record_has(in, *list))
			return true;
	return false;
}

/* Names of the listed parameters that are there (or all), joined; the lists are short and fixed, so they fit. */
static const char *names(const struct record *in, const uint32_t *list, bool all, const char *joint, char out[NAMES_MAX])
{
	size_t n = 0;

	out[0] = '\0';
	for (; *list != PARAMS_END && n < NAMES_MAX; list++) {
		if (!all && !record_has(in, *list))
			continue;
		int k = snprintf(out + n, NAMES_MAX - n, "%s%s", n != 0 ? joint : "", in->shape->member[*list].name);

		n += k > 0 ? (size_t)k : 0;
	}
	return out;
}

enum err params_check(const struct record *in, const struct params *p, struct fault *f)
{
	char a[NAMES_MAX], b[NAMES_MAX];
	bool expressions = params_any(in, p->expression);

	if (expressions && params_any(in, p->legacy))
		return fault_set(f, MSG_MIXED_PARAMETERS, names(in, p->legacy, false, ", ", a),
			names(in, p->expression, false, ", ", b));
	if (p->names != PARAMS_END && record_has(in, p->names) && !expressions)
		return fault_set(f, MSG_NAMES_WITHOUT_EXPRESSION);
	if (p->values != PARAMS_END && record_has(in, p->values) && !params_any(in, p->with_values))
		return fault_set(f, MSG_VALUES_WITHOUT_EXPRESSION, names(in, p->with_values, true, " and ", a),
			p->with_values[0] != PARAMS_END && p->with_values[1] != PARAMS_END ? "are" : "is");
	return ERR_OK;
}
