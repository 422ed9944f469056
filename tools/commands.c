/* commands - one function per command of `dynax`, on the public library. */
#include "tools/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_GET_MAX = 100, BATCH_WRITE_MAX = 25, UNPROCESSED_ROUNDS = 10 };

static void print_item(const struct cli *c, struct dynax_value v)
{
	const char *text = c->plain ? dynax_plain_json(v) : dynax_json(v);

	if (text == NULL) {
		fputs("dynax: out of memory\n", stderr);
		exit(CLI_REFUSED);
	}
	puts(text);
}

/* Run a request of an operation on table arg[0], with the options given and, in `member`, the item of arg[1..]; r is the
 * caller's. CLI_OK if the server answered. */
static enum cli_exit run(struct cli *c, const char *op, const char *member, struct dynax_result **r)
{
	struct dynax_request *req = dynax_request_new(op, c->args > 0 ? c->arg[0] : NULL);
	struct dynax_item *item = member != NULL ? attrs_item(c->arg + 1, c->args - 1) : NULL;
	enum cli_exit code = CLI_USAGE;

	*r = NULL;
	if (req != NULL && item != NULL)
		dynax_request_set_item(req, member, item);
	if (req != NULL && (member == NULL || item != NULL) && cli_apply(c, req)) {
		*r = dynax_run(c->client, req);
		code = dynax_ok(*r) ? CLI_OK : cli_failed(*r);
	}
	dynax_item_free(&item);
	dynax_request_free(&req);
	return code;
}

/* The same, and print the item that comes back, if any. */
static enum cli_exit run_and_print(struct cli *c, const char *op, const char *member, bool *found)
{
	struct dynax_result *r;
	enum cli_exit code = run(c, op, member, &r);
	struct dynax_value v = dynax_result_item(r);

	*found = dynax_type(v) == DYNAX_TYPE_M;
	if (code == CLI_OK && *found)
		print_item(c, v);
	dynax_result_free(&r);
	return code;
}

enum cli_exit cmd_get(struct cli *c)
{
	bool found;
	enum cli_exit code = run_and_print(c, "GetItem", "Key", &found);

	if (code != CLI_OK || found)
		return code;
	fputs("dynax: there is no such item\n", stderr);
	return CLI_NOT_FOUND;
}

enum cli_exit cmd_put(struct cli *c)
{
	bool found;

	return run_and_print(c, "PutItem", "Item", &found);
}

enum cli_exit cmd_update(struct cli *c)
{
	bool found;

	return run_and_print(c, "UpdateItem", "Key", &found);
}

enum cli_exit cmd_delete(struct cli *c)
{
	bool found;

	return run_and_print(c, "DeleteItem", "Key", &found);
}

/* ---- query and scan ---- */

static bool given(const struct cli *c, const char *member)
{
	for (unsigned i = 0; i < c->gives; i++)
		if (c->given[i].option->member != NULL && strcmp(c->given[i].option->member, member) == 0)
			return true;
	return false;
}

/* --limit: one page, and on stderr where it ended. */
static enum cli_exit print_page(struct cli *c, const struct dynax_request *req)
{
	struct dynax_result *r = dynax_run(c->client, req);
	struct dynax_cursor items = dynax_each(dynax_result_items(r, NULL));
	enum cli_exit code = dynax_ok(r) ? CLI_OK : cli_failed(r);
	struct dynax_value last = dynax_result_last_key(r);

	while (dynax_next(&items))
		print_item(c, items.value);
	if (dynax_type(last) == DYNAX_TYPE_M)
		fprintf(stderr, "dynax: more with --after '%s'\n", dynax_json(last));
	dynax_result_free(&r);
	return code;
}

static enum cli_exit print_pages(struct cli *c, const struct dynax_request *req)
{
	struct dynax_pager *p = dynax_pager_new(c->client, req);
	enum cli_exit code = CLI_OK;
	struct dynax_value item;

	if (p == NULL)
		return cli_failed(NULL);
	while (dynax_pager_next(p, &item))
		print_item(c, item);
	if (!dynax_ok(dynax_pager_result(p)))
		code = cli_failed(dynax_pager_result(p));
	dynax_pager_free(&p);
	return code;
}

static enum cli_exit print_items(struct cli *c, const struct dynax_request *req)
{
	return given(c, "Limit") && !c->all ? print_page(c, req) : print_pages(c, req);
}

/* Add "NAME = :kN" or "begins_with(NAME, :kN)" for one argument NAME=text, NAME:=json or NAME^=prefix. */
static bool add_condition(struct dynax_request *req, const char *arg, unsigned i, char *expr, size_t room)
{
	const char *eq = strchr(arg, '=');
	size_t at = strlen(expr), name;
	bool prefix, json, ok;
	char *attr = NULL, placeholder[16];

	if (eq == NULL || eq == arg)
		return cli_usage("'%s' is not NAME=text, NAME:=json or NAME^=prefix", arg) == CLI_OK;
	prefix = eq[-1] == '^';
	json = eq[-1] == ':';
	name = (size_t)(eq - arg) - (prefix || json ? 1 : 0);
	snprintf(placeholder, sizeof(placeholder), "#k%u", i);
	attr = strndup(arg, name);
	if (attr == NULL)
		return false;
	dynax_request_name(req, placeholder, attr);
	free(attr);
	snprintf(expr + at, room - at, prefix ? "%sbegins_with(#k%u, :k%u)" : "%s#k%u = :k%u", at > 0 ? " AND " : "", i, i);
	if (asprintf(&attr, ":k%u%s%s", i, json ? ":=" : "=", eq + 1) < 0)
		return false;
	ok = attrs_set(dynax_request_values(req), attr);
	free(attr);
	return ok;
}

enum cli_exit cmd_query(struct cli *c)
{
	struct dynax_request *req = dynax_request_new("Query", c->arg[0]);
	enum cli_exit code = CLI_USAGE;
	char expr[256] = "";
	bool ok = req != NULL && c->args <= 3;

	for (unsigned i = 1; i < c->args && ok; i++)
		ok = add_condition(req, c->arg[i], i, expr, sizeof(expr));
	if (ok && expr[0] != '\0')
		dynax_request_set_str(req, "KeyConditionExpression", expr);
	if (ok && cli_apply(c, req))
		code = print_items(c, req);
	else if (c->args > 3)
		cli_usage("a key has a partition and a sort attribute, no more");
	dynax_request_free(&req);
	return code;
}

enum cli_exit cmd_scan(struct cli *c)
{
	struct dynax_request *req = dynax_request_new("Scan", c->arg[0]);
	enum cli_exit code = CLI_USAGE;

	if (req != NULL && cli_apply(c, req))
		code = print_items(c, req);
	dynax_request_free(&req);
	return code;
}

/* ---- batches ---- */

/* Take up what a batch left undone, a few times; *r becomes the last result. print is called with each. */
static enum cli_exit finish_batch(struct cli *c, struct dynax_result **r, void (*print)(struct cli *, struct dynax_result *))
{
	struct dynax_request *rest;

	for (int round = 0; dynax_ok(*r); round++) {
		if (print != NULL)
			print(c, *r);
		rest = dynax_result_unprocessed(*r);
		if (rest == NULL)
			return CLI_OK;
		if (round == UNPROCESSED_ROUNDS) {
			dynax_request_free(&rest);
			fprintf(stderr, "dynax: part of the batch is still unprocessed after %d attempts\n", UNPROCESSED_ROUNDS);
			return CLI_REFUSED;
		}
		dynax_result_free(r);
		*r = dynax_run(c->client, rest);
		dynax_request_free(&rest);
	}
	return cli_failed(*r);
}

static void print_responses(struct cli *c, struct dynax_result *r)
{
	struct dynax_cursor items = dynax_each(dynax_result_items(r, NULL));

	while (dynax_next(&items))
		print_item(c, items.value);
}

enum cli_exit cmd_batch_get(struct cli *c)
{
	struct dynax_item *key[BATCH_GET_MAX];
	enum cli_exit code = CLI_OK;
	unsigned n = c->args - 1, made = 0;
	struct dynax_result *r;

	if (n > BATCH_GET_MAX)
		return cli_usage("at most %d keys", BATCH_GET_MAX);
	while (made < n && (key[made] = attrs_key(c->arg[made + 1])) != NULL)
		made++;
	if (made == n) {
		r = dynax_batch_get(c->client, c->arg[0], (const struct dynax_item *const *)key, n);
		code = finish_batch(c, &r, print_responses);
		dynax_result_free(&r);
	} else {
		code = CLI_USAGE;
	}
	while (made > 0)
		dynax_item_free(&key[--made]);
	return code;
}

/* Write n items and free them; *n is 0 then. */
static enum cli_exit write_batch(struct cli *c, struct dynax_item **item, unsigned *n, bool delete, unsigned *total)
{
	const struct dynax_item *const *items = (const struct dynax_item *const *)item;
	struct dynax_result *r;
	enum cli_exit code;

	if (*n == 0)
		return CLI_OK;
	r = delete ? dynax_batch_write(c->client, c->arg[0], NULL, 0, items, *n)
		: dynax_batch_write(c->client, c->arg[0], items, *n, NULL, 0);
	code = finish_batch(c, &r, NULL);
	dynax_result_free(&r);
	*total += code == CLI_OK ? *n : 0;
	while (*n > 0)
		dynax_item_free(&item[--*n]);
	return code;
}

enum cli_exit cmd_batch_write(struct cli *c)
{
	bool delete = c->args > 1 && strcmp(c->arg[1], "delete") == 0;
	struct dynax_item *item[BATCH_WRITE_MAX];
	enum cli_exit code = CLI_OK;
	unsigned n = 0, total = 0, number;
	char *line = NULL;
	size_t room = 0;

	if (c->args > 1 && !delete && strcmp(c->arg[1], "put") != 0)
		return cli_usage("'%s' is neither put nor delete", c->arg[1]);
	for (number = 1; code == CLI_OK && getline(&line, &room, stdin) > 0; number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")] == '\0')
			continue;
		item[n] = c->plain && line[0] == '{' ? attrs_plain(line) : attrs_key(line);
		if (item[n] == NULL) {
			fprintf(stderr, "dynax: line %u of standard input cannot be read\n", number);
			code = CLI_USAGE;
			break;
		}
		if (++n == BATCH_WRITE_MAX)
			code = write_batch(c, item, &n, delete, &total);
	}
	free(line);
	if (code == CLI_OK && ferror(stdin)) {
		perror("dynax: standard input");
		code = CLI_USAGE;
	}
	if (code == CLI_OK)
		code = write_batch(c, item, &n, delete, &total);
	while (n > 0)
		dynax_item_free(&item[--n]);
	fprintf(stderr, "dynax: %u items %s\n", total, delete ? "deleted" : "written");
	return code;
}

/* ---- tables, and the rest ---- */

static enum cli_exit print_result(struct dynax_result *r)
{
	const char *json = dynax_ok(r) ? dynax_result_json(r) : NULL;
	enum cli_exit code = CLI_OK;

	if (json != NULL)
		puts(json);
	else
		code = cli_failed(r);
	dynax_result_free(&r);
	return code;
}

enum cli_exit cmd_create_table(struct cli *c)
{
	return print_result(dynax_create_table(c->client, c->arg[0], c->arg[1], c->args > 2 ? c->arg[2] : NULL));
}

enum cli_exit cmd_describe_table(struct cli *c)
{
	return print_result(dynax_describe_table(c->client, c->arg[0]));
}

enum cli_exit cmd_delete_table(struct cli *c)
{
	return print_result(dynax_delete_table(c->client, c->arg[0]));
}

enum cli_exit cmd_list_tables(struct cli *c)
{
	char after[256] = "";

	for (;;) {
		struct dynax_result *r = dynax_list_tables(c->client, after[0] != '\0' ? after : NULL, 0);
		struct dynax_cursor names;

		if (!dynax_ok(r)) {
			enum cli_exit code = cli_failed(r);

			dynax_result_free(&r);
			return code;
		}
		names = dynax_each(dynax_result_list(r, "TableNames"));
		while (dynax_next(&names))
			puts(dynax_str(names.value, NULL, ""));
		snprintf(after, sizeof(after), "%s", dynax_result_str(r, "LastEvaluatedTableName", ""));
		dynax_result_free(&r);
		if (after[0] == '\0')
			return CLI_OK;
	}
}

enum cli_exit cmd_call(struct cli *c)
{
	const char *json = c->args > 1 ? c->arg[1] : "{}";
	bool typed = strcmp(json, "-") == 0;
	char *text = typed ? cli_read(stdin) : NULL;
	enum cli_exit code;

	if (typed && text == NULL)
		return cli_usage("standard input cannot be read");
	code = print_result(dynax_call(c->client, c->arg[0], typed ? text : json));
	free(text);
	return code;
}

enum cli_exit cmd_ping(struct cli *c)
{
	struct dynax_result *r = dynax_ping(c->client);
	enum cli_exit code = dynax_ok(r) ? CLI_OK : cli_failed(r);

	if (code == CLI_OK)
		puts("the server is there");
	dynax_result_free(&r);
	return code;
}
