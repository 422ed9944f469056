/* commands - one function per command of `dynax`, on the public library. */
#include "tools/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH_GET_MAX = 100, BATCH_WRITE_MAX = 25 };
enum { ROUNDS_MAX = 10, WAIT_MS = 50, WAIT_MAX_MS = 2000 };  /* of a batch that is throttled: eleven seconds in all */

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

enum batch_kind { BATCH_GET, BATCH_PUT, BATCH_DELETE };

struct batch {
	struct cli *c;
	enum batch_kind kind;
	struct dynax_item *item[BATCH_GET_MAX];    /* items, or keys */
	unsigned n;
};

static void batch_clear(struct batch *b)
{
	while (b->n > 0)
		dynax_item_free(&b->item[--b->n]);
}

static struct dynax_result *batch_send(const struct batch *b)
{
	const struct dynax_item *const *item = (const struct dynax_item *const *)b->item;
	const char *table = b->c->arg[0];

	switch (b->kind) {
	case BATCH_GET:
		return dynax_batch_get(b->c->client, table, item, b->n);
	case BATCH_PUT:
		return dynax_batch_write(b->c->client, table, item, b->n, NULL, 0);
	case BATCH_DELETE:
		break;
	}
	return dynax_batch_write(b->c->client, table, NULL, 0, item, b->n);
}

/* Of a BatchGetItem; a BatchWriteItem has none. */
static void print_responses(struct cli *c, struct dynax_result *r)
{
	struct dynax_cursor items = dynax_each(dynax_result_items(r, NULL));

	while (dynax_next(&items))
		print_item(c, items.value);
}

static bool is_throttled(const struct dynax_result *r)
{
	return dynax_result_code(r) == DYNAX_E_THROUGHPUT_EXCEEDED || dynax_result_code(r) == DYNAX_E_THROTTLING;
}

/* Longer each time: throughput comes back by the second. */
static void wait_for_throughput(unsigned round)
{
	unsigned ms = WAIT_MS << round < WAIT_MAX_MS ? WAIT_MS << round : WAIT_MAX_MS;
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/* Send it, and what is left undone again, until nothing is. */
static enum cli_exit batch_run(const struct batch *b)
{
	struct dynax_request *rest = NULL;
	enum cli_exit code = CLI_OK;

	for (unsigned round = 0; code == CLI_OK; round++) {
		struct dynax_result *r = rest != NULL ? dynax_run(b->c->client, rest) : batch_send(b);
		bool done = false;

		if (dynax_ok(r)) {
			print_responses(b->c, r);
			dynax_request_free(&rest);
			rest = dynax_result_unprocessed(r);
			done = rest == NULL;
		} else if (!is_throttled(r) || round == ROUNDS_MAX) {
			code = cli_failed(r);
		}
		dynax_result_free(&r);
		if (done)
			break;
		if (code == CLI_OK && round == ROUNDS_MAX) {
			fprintf(stderr, "dynax: part of the batch is still unprocessed after %u attempts\n", round + 1);
			code = CLI_REFUSED;
		}
		if (code == CLI_OK)
			wait_for_throughput(round);
	}
	dynax_request_free(&rest);
	return code;
}

enum cli_exit cmd_batch_get(struct cli *c)
{
	struct batch b = { .c = c, .kind = BATCH_GET };
	enum cli_exit code = CLI_USAGE;
	unsigned n = c->args - 1;

	if (n > BATCH_GET_MAX)
		return cli_usage("at most %d keys", BATCH_GET_MAX);
	while (b.n < n && (b.item[b.n] = attrs_key(c->arg[b.n + 1])) != NULL)
		b.n++;
	if (b.n == n)
		code = batch_run(&b);
	batch_clear(&b);
	return code;
}

/* Write what there is, and forget it. */
static enum cli_exit batch_write(struct batch *b, unsigned *total)
{
	enum cli_exit code = b->n > 0 ? batch_run(b) : CLI_OK;

	*total += code == CLI_OK ? b->n : 0;
	batch_clear(b);
	return code;
}

enum cli_exit cmd_batch_write(struct cli *c)
{
	bool delete = c->args > 1 && strcmp(c->arg[1], "delete") == 0;
	struct batch b = { .c = c, .kind = delete ? BATCH_DELETE : BATCH_PUT };
	enum cli_exit code = CLI_OK;
	unsigned total = 0, number;
	char *line = NULL;
	size_t room = 0;

	if (c->args > 1 && !delete && strcmp(c->arg[1], "put") != 0)
		return cli_usage("'%s' is neither put nor delete", c->arg[1]);
	for (number = 1; code == CLI_OK && getline(&line, &room, stdin) > 0; number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")] == '\0')
			continue;
		b.item[b.n] = c->plain && line[0] == '{' ? attrs_plain(line) : attrs_key(line);
		if (b.item[b.n] == NULL) {
			fprintf(stderr, "dynax: line %u of standard input cannot be read\n", number);
			code = CLI_USAGE;
		} else if (++b.n == BATCH_WRITE_MAX) {
			code = batch_write(&b, &total);
		}
	}
	free(line);
	if (code == CLI_OK && ferror(stdin)) {
		perror("dynax: standard input");
		code = CLI_USAGE;
	}
	if (code == CLI_OK)
		code = batch_write(&b, &total);
	batch_clear(&b);
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
