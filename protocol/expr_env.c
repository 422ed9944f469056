/* expr_env - the placeholders of a request: "#n" for names, ":v" for values.
 *
 * Both maps come sorted, and are taken apart once into arrays, so that a look-up is a binary search.
 * Threads and ownership: expr.h. */
#include <stdlib.h>

#include "protocol/expr_int.h"
#include "protocol/messages.h"

enum { PLACEHOLDER_MAX = 255 };

static const char names_map[] = "ExpressionAttributeNames";
static const char values_map[] = "ExpressionAttributeValues";

static bool is_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool well_formed(struct slice key, char mark)
{
	if (key.n < 2 || key.p[0] != (uint8_t)mark)
		return false;
	for (size_t i = 1; i < key.n; i++)
		if (!is_word(key.p[i]))
			return false;
	return true;
}

static enum err check_key(const char *map, char mark, struct slice key, struct fault *f)
{
	if (key.n == 0)
		return fault_set(f, MSG_EXPR_MAP_KEY_EMPTY, map);
	if (!well_formed(key, mark))
		return fault_set(f, MSG_EXPR_MAP_KEY, map, SLICE_FMT(key));
	if (key.n > PLACEHOLDER_MAX)
		return fault_set(f, MSG_EXPR_MAP_KEY_LONG, map, SLICE_FMT(key));
	return ERR_OK;
}

static enum err check_name(const struct env_entry *e, struct fault *f)
{
	if (e->value.n == 0)
		return fault_set(f, MSG_EXPR_NAME_EMPTY, SLICE_FMT(e->name));
	if (e->value.n > VALUE_NAME_MAX)
		return fault_set(f, MSG_EXPR_NAME_LONG, SLICE_FMT(e->name));
	return ERR_OK;
}

/* Take a map apart; mark is what its keys begin with. */
static enum err load(struct slice map, char mark, struct arena *a, struct env_entry **out, uint32_t *n, struct fault *f)
{
	const char *what = mark == '#' ? names_map : values_map;
	struct mp m = mp_open(map);
	enum err rc;

	*n = mp_map(&m);
	if (*n == 0)
		return fault_set(f, MSG_EXPR_MAP_EMPTY, what);
	*out = arena_alloc(a, *n * sizeof(**out));
	if (*out == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	for (uint32_t i = 0; i < *n; i++) {
		struct env_entry *e = &(*out)[i];

		e->name = mp_str(&m);
		e->value = mark == '#' ? mp_str(&m) : mp_skip(&m);
		e->used = false;
		rc = check_key(what, mark, e->name, f);
		if (rc == ERR_OK && mark == '#')
			rc = check_name(e, f);
		if (rc != ERR_OK)
			return rc;
	}
	return ERR_OK;
}

enum err expr_env_init(struct expr_env *env, struct slice names, struct slice values, bool any_expression,
	struct arena *a, struct fault *f)
{
	enum err rc = ERR_OK;

	*env = (struct expr_env){ .arena = a };
	if (!any_expression && slice_present(names))
		return fault_set(f, MSG_NAMES_WITHOUT_EXPRESSION);
	if (!any_expression && slice_present(values))
		return fault_set(f, MSG_EXPR_VALUES_ALONE);
	if (slice_present(names))
		rc = load(names, '#', a, &env->name, &env->names, f);
	if (rc == ERR_OK && slice_present(values))
		rc = load(values, ':', a, &env->value, &env->values, f);
	return rc;
}

static int compare(const void *key, const void *entry)
{
	return slice_cmp(*(const struct slice *)key, ((const struct env_entry *)entry)->name);
}

static struct slice look_up(struct env_entry *entry, uint32_t n, struct slice ref)
{
	struct env_entry *e = n > 0 ? bsearch(&ref, entry, n, sizeof(*entry), compare) : NULL;

	if (e == NULL)
		return SLICE_NONE;
	e->used = true;
	return e->value;
}

struct slice env_name(struct expr_env *env, struct slice ref)
{
	return look_up(env->name, env->names, ref);
}

struct slice env_value(struct expr_env *env, struct slice ref)
{
	return look_up(env->value, env->values, ref);
}

static enum err complain_unused(const char *map, const struct env_entry *entry, uint32_t n, struct fault *f)
{
	struct buf keys;
	enum err rc = ERR_OK;

	buf_init(&keys);
	for (uint32_t i = 0; i < n; i++)
		if (!entry[i].used)
			buf_printf(&keys, "%s%.*s", keys.n > 0 ? ", " : "", SLICE_FMT(entry[i].name));
	if (keys.failed)
		rc = fault_set(f, MSG_NO_MEMORY);
	else if (keys.n > 0)
		rc = fault_set(f, MSG_EXPR_UNUSED, map, SLICE_FMT(buf_slice(&keys)));
	buf_release(&keys);
	return rc;
}

enum err expr_env_unused(const struct expr_env *env, struct fault *f)
{
	enum err rc = complain_unused(names_map, env->name, env->names, f);

	return rc != ERR_OK ? rc : complain_unused(values_map, env->value, env->values, f);
}
