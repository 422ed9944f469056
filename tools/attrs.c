/* attrs - attributes on the command line, and plain JSON, to items.
 *
 * Plain JSON is read through yajl's tree: it is small, and the tree ends with the call. */
#include "tools/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

enum { DEPTH_MAX = 32 };

static bool set_plain(struct dynax_item *to, const char *name, yajl_val v, int depth);

static bool set_nested(struct dynax_item *to, const char *name, yajl_val v, int depth)
{
	bool list = YAJL_IS_ARRAY(v), ok = true;
	size_t n = list ? v->u.array.len : v->u.object.len;
	struct dynax_item *in = list ? dynax_list_new() : dynax_item_new();

	if (in == NULL)
		return false;
	for (size_t i = 0; i < n && ok; i++)
		ok = list ? set_plain(in, NULL, v->u.array.values[i], depth + 1)
			: set_plain(in, v->u.object.keys[i], v->u.object.values[i], depth + 1);
	dynax_item_set_item(to, name, in);
	dynax_item_free(&in);
	return ok;
}

static bool set_plain(struct dynax_item *to, const char *name, yajl_val v, int depth)
{
	if (depth > DEPTH_MAX)
		return false;
	if (YAJL_IS_STRING(v))
		dynax_item_set_str(to, name, YAJL_GET_STRING(v));
	else if (YAJL_IS_NUMBER(v))
		dynax_item_set_number(to, name, YAJL_GET_NUMBER(v));
	else if (YAJL_IS_TRUE(v) || YAJL_IS_FALSE(v))
		dynax_item_set_bool(to, name, YAJL_IS_TRUE(v));
	else if (YAJL_IS_NULL(v))
		dynax_item_set_null(to, name);
	else
		return set_nested(to, name, v, depth);
	return true;
}

static bool set_json(struct dynax_item *item, const char *name, const char *json)
{
	char why[256];
	yajl_val v = yajl_tree_parse(json, why, sizeof(why));
	bool ok = v != NULL && set_plain(item, name, v, 0);

	yajl_tree_free(v);
	return ok ? true : cli_usage("'%s' is not JSON", json) == CLI_OK;
}

bool attrs_set(struct dynax_item *item, const char *attr)
{
	/* The first "=" that is not at the start; ":=" before the text means JSON. */
	const char *eq = *attr != '\0' ? strchr(attr + 1, '=') : NULL;
	bool json, ok = true;
	size_t n;
	char *name;

	if (eq == NULL)
		return cli_usage("'%s' is not NAME=text or NAME:=json", attr) == CLI_OK;
	json = eq - attr > 1 && eq[-1] == ':';
	n = (size_t)(eq - attr) - (json ? 1 : 0);
	name = strndup(attr, n);
	if (name == NULL)
		return cli_usage("out of memory") == CLI_OK;
	if (json)
		ok = set_json(item, name, eq + 1);
	else
		dynax_item_set_str(item, name, eq + 1);
	free(name);
	if (ok && dynax_item_error(item) != NULL)
		return cli_usage("%s", dynax_item_error(item)) == CLI_OK;
	return ok;
}

static struct dynax_item *from_json(const char *json)
{
	struct dynax_item *item = dynax_item_from_json(json);

	if (dynax_item_error(item) != NULL) {
		cli_usage("%s", dynax_item_error(item));
		dynax_item_free(&item);
	}
	return item;
}

struct dynax_item *attrs_plain(const char *json)
{
	char why[256];
	yajl_val v = yajl_tree_parse(json, why, sizeof(why));
	struct dynax_item *item = YAJL_IS_OBJECT(v) ? dynax_item_new() : NULL;
	bool ok = item != NULL;

	for (size_t i = 0; ok && i < v->u.object.len; i++)
		ok = set_plain(item, v->u.object.keys[i], v->u.object.values[i], 1);
	yajl_tree_free(v);
	if (ok && dynax_item_error(item) == NULL)
		return item;
	if (ok)
		cli_usage("%s", dynax_item_error(item));
	else
		cli_usage("'%s' is not an item in plain JSON", json);
	dynax_item_free(&item);
	return NULL;
}

struct dynax_item *attrs_item(const char *const *arg, unsigned n)
{
	struct dynax_item *item;

	if (n == 1 && arg[0][0] == '{')
		return from_json(arg[0]);
	item = dynax_item_new();
	for (unsigned i = 0; i < n && item != NULL; i++)
		if (!attrs_set(item, arg[i]))
			dynax_item_free(&item);
	return item;
}

struct dynax_item *attrs_key(const char *text)
{
	struct dynax_item *item;
	char *copy, *rest;

	if (*text == '{')
		return from_json(text);
	item = dynax_item_new();
	copy = strdup(text);
	for (char *one = copy != NULL ? strtok_r(copy, ",", &rest) : NULL; one != NULL; one = strtok_r(NULL, ",", &rest)) {
		if (item != NULL && !attrs_set(item, one))
			dynax_item_free(&item);
	}
	free(copy);
	return item;
}
