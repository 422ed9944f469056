/* dynax - the command line: `dynax get shop PK=CUSTOMER#42 SK=PROFILE`.
 *
 * Commands and options are tables. An option of a request names the member that it sets, so that the operation's shape says
 * whether it makes sense for a command, and which options a command's help lists. */
#include "tools/cli.h"

#include "bench/load/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
	{ "--endpoint", "HOST:PORT", CLI_ENDPOINT, NULL, "where dynaxd listens (default 127.0.0.1:8111, or $DYNAX_ENDPOINT)" },
	{ "--admin", "HOST:PORT", CLI_ADMIN, NULL, "its admin port (default 127.0.0.1:8112, or $DYNAX_ADMIN)" },
	{ "--timeout", "MS", CLI_TIMEOUT, NULL, "time limit of a request (default 5000)" },
	{ "--plain", NULL, CLI_PLAIN, NULL, "items as plain JSON instead of DynamoDB's" },
	{ "--help", NULL, CLI_HELP, NULL, "this text" },
	{ "--consistent", NULL, CLI_TRUE, "ConsistentRead", "read consistently" },
	{ "--projection", "EXPR", CLI_STR, "ProjectionExpression", "the attributes to print" },
	{ "--if", "EXPR", CLI_STR, "ConditionExpression", "write only if this is true" },
	{ "--expr", "EXPR", CLI_STR, "UpdateExpression", "what to change: 'SET #s = :new'" },
	{ "--return", "WHAT", CLI_STR, "ReturnValues", "ALL_OLD, ALL_NEW, UPDATED_OLD, UPDATED_NEW" },
	{ "--where", "EXPR", CLI_STR, "KeyConditionExpression", "any key condition" },
	{ "--filter", "EXPR", CLI_STR, "FilterExpression", "print only items for which this is true" },
	{ "--index", "NAME", CLI_STR, "IndexName", "this index instead of its table" },
	{ "--limit", "N", CLI_INT, "Limit", "read one page of N items" },
	{ "--after", "JSON", CLI_JSON, "ExclusiveStartKey", "begin after this key" },
	{ "--reverse", NULL, CLI_FALSE, "ScanIndexForward", "descending order of sort keys" },
	{ "--segment", "N/TOTAL", CLI_SEGMENT, NULL, "one part of a parallel scan, counted from 0" },
	{ "--all", NULL, CLI_ALL, NULL, "read all pages, also with --limit" },
	{ "--name", "#X=NAME", CLI_NAME, NULL, "a name that expressions use (may be repeated)" },
	{ "--value", ":X=TEXT", CLI_VALUE, NULL, "a value that expressions use; :X:=JSON if not text" },
	{ "--read", NULL, CLI_SCALING, "use", "autoscaling: scale reads" },
	{ "--write", NULL, CLI_SCALING, "use", "autoscaling: scale writes" },
	{ "--min", "N", CLI_SCALING, "min", "autoscaling: at least N units a second" },
	{ "--max", "N", CLI_SCALING, "max", "autoscaling: at most N units a second" },
	{ "--target", "PERCENT", CLI_SCALING, "target", "autoscaling: how much should be in use, 20 to 90 (default 70)" },
	{ "--in-cooldown", "S", CLI_SCALING, "in", "autoscaling: seconds from one decrease to the next" },
	{ "--out-cooldown", "S", CLI_SCALING, "out", "autoscaling: seconds from one increase to the next" },
	{ "--off", NULL, CLI_SCALING, "off", "autoscaling: do not scale any more" },
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]), MANY = 1 << 16 };

static const struct cli_command commands[] = {
	{ "get", "TABLE KEY...", "print an item", 2, MANY, cmd_get, OP_GetItem },
	{ "put", "TABLE ATTR...", "store an item", 2, MANY, cmd_put, OP_PutItem },
	{ "update", "TABLE KEY... --expr EXPR", "change attributes of an item", 2, MANY, cmd_update, OP_UpdateItem },
	{ "delete", "TABLE KEY...", "delete an item", 2, MANY, cmd_delete, OP_DeleteItem },
	{ "query", "TABLE KEY... [NAME^=PREFIX]", "print the items with one partition key, in order",
		1, MANY, cmd_query, OP_Query },
	{ "scan", "TABLE", "print all items", 1, 1, cmd_scan, OP_Scan },
	{ "batch-get", "TABLE KEY,KEY...", "print many items, each key as PK=a,SK=b", 2, MANY, cmd_batch_get, OP_BatchGetItem },
	{ "batch-write", "TABLE [put|delete]", "store items (or delete keys) from standard input, one a line", 1, 2,
		cmd_batch_write, OP_BatchWriteItem },
	{ "create-table", "TABLE PARTITION[:T] [SORT[:T]]", "create a table; T is S (default), N or B",
		2, 3, cmd_create_table, OP_COUNT },
	{ "describe-table", "TABLE", "describe a table", 1, 1, cmd_describe_table, OP_COUNT },
	{ "list-tables", "", "list all tables", 0, 0, cmd_list_tables, OP_COUNT },
	{ "delete-table", "TABLE", "delete a table", 1, 1, cmd_delete_table, OP_COUNT },
	{ "partitions", "TABLE", "how a table and its indexes are partitioned, as JSON", 1, 1, cmd_partitions, OP_COUNT },
	{ "autoscaling", "TABLE [--read|--write ...]", "print or set what scales provisioned throughput",
		1, 1, cmd_autoscaling, OP_COUNT },
	{ "index-delay", "[MS]", "print or set how much later global indexes change", 0, 1, cmd_index_delay, OP_COUNT },
	{ "call", "OPERATION [JSON]", "call any operation; JSON '-' reads standard input", 1, 2, cmd_call, OP_COUNT },
	{ "ping", "", "ask whether the server is there", 0, 0, cmd_ping, OP_COUNT },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static bool has_member(enum op op, const char *name)
{
	return op != OP_COUNT && shape_member_id(op_info[op].in, slice_str(name)) >= 0;
}

/* Does an option mean anything to a command? Which members an operation has, its shape knows. */
static bool option_fits(const struct cli_option *o, const struct cli_command *of)
{
	bool scaling = of->run == cmd_autoscaling;

	switch (o->kind) {
	case CLI_STR:
	case CLI_INT:
	case CLI_TRUE:
	case CLI_FALSE:
	case CLI_JSON:
		return has_member(of->op, o->member) || (scaling && strcmp(o->member, "IndexName") == 0);
	case CLI_NAME:
		return has_member(of->op, "ExpressionAttributeNames");
	case CLI_VALUE:
		return has_member(of->op, "ExpressionAttributeValues");
	case CLI_SEGMENT:
		return has_member(of->op, "Segment");
	case CLI_ALL:
		return has_member(of->op, "ExclusiveStartKey");
	case CLI_PLAIN:
		return of->op != OP_COUNT;
	case CLI_SCALING:
		return scaling;
	case CLI_ENDPOINT:
	case CLI_ADMIN:
	case CLI_TIMEOUT:
	case CLI_HELP:
		break;
	}
	return true;
}

static void print_option(const struct cli_option *o)
{
	int n = printf("  %s %s", o->name, o->metavar != NULL ? o->metavar : "");

	printf("%*s%s\n", n < 26 ? 26 - n : 1, "", o->help);
}

static const char attr_help[] =
	"KEY and ATTR: NAME=text, or NAME:=json for numbers, true, null, lists and objects; or one JSON argument\n";

static void print_command_help(const struct cli_command *of)
{
	bool admin = of->run == cmd_partitions || of->run == cmd_autoscaling || of->run == cmd_index_delay;

	printf("usage: dynax %s%s%s\n\n%s\n\n", of->name, *of->usage != '\0' ? " " : "", of->usage, of->help);
	if (of->op != OP_COUNT && of->op != OP_Scan)
		puts(attr_help);
	for (unsigned i = 0; i < OPTIONS; i++)
		if (option_fits(&options[i], of) && options[i].kind != (admin ? CLI_ENDPOINT : CLI_ADMIN))
			print_option(&options[i]);
}

static void print_help(void)
{
	puts("usage: dynax [options] COMMAND ...        dynax COMMAND --help: its options alone\n");
	for (unsigned i = 0; i < COMMANDS; i++) {
		int n = printf("  %s %s", commands[i].name, commands[i].usage);

		printf("%*s%s\n", n < 46 ? 46 - n : 1, "", commands[i].help);
	}
	puts("  bench ...                                   measure a server; dynax bench --help\n");
	puts(attr_help);
	for (unsigned i = 0; i < OPTIONS; i++)
		print_option(&options[i]);
	puts("\nexit: 0 done, 1 no such item, 2 usage, 3 refused by the server, 4 no connection or no answer in time");
}

enum cli_exit cli_usage(const char *fmt, ...)
{
	va_list ap;

	fputs("dynax: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("; see dynax --help\n", stderr);
	return CLI_USAGE;
}

char *cli_read(FILE *f)
{
	size_t n = 0, room = 65536, got = 1;
	char *text = malloc(room);

	while (text != NULL && got > 0) {
		if (n + 1 == room) {
			char *more = realloc(text, room *= 2);

			if (more == NULL)
				break;
			text = more;
		}
		got = fread(text + n, 1, room - n - 1, f);
		n += got;
	}
	if (text == NULL || got > 0 || ferror(f)) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

enum cli_exit cli_failed(const struct dynax_result *r)
{
	enum dynax_code code = dynax_result_code(r);

	fprintf(stderr, "dynax: %s: %s\n", dynax_result_type(r), dynax_result_message(r));
	if (code == DYNAX_E_USAGE || code == DYNAX_E_SERIALIZATION)
		return CLI_USAGE;
	return code == DYNAX_E_NETWORK || code == DYNAX_E_DEADLINE || code == DYNAX_E_FRAME ? CLI_UNREACHABLE : CLI_REFUSED;
}

static bool apply_name(struct dynax_request *req, const char *text)
{
	const char *eq = strchr(text, '=');
	char name[256];

	if (eq == NULL || (size_t)(eq - text) >= sizeof(name))
		return cli_usage("--name '%s' is not #X=NAME", text) == CLI_OK;
	memcpy(name, text, (size_t)(eq - text));
	name[eq - text] = '\0';
	dynax_request_name(req, name, eq + 1);
	return true;
}

static bool apply_segment(struct dynax_request *req, const char *text)
{
	unsigned segment, total;
	char end;

	if (sscanf(text, "%u/%u%c", &segment, &total, &end) != 2)
		return cli_usage("--segment '%s' is not N/TOTAL", text) == CLI_OK;
	dynax_request_set_int(req, "Segment", segment);
	dynax_request_set_int(req, "TotalSegments", total);
	return true;
}

static bool apply(struct dynax_request *req, const struct cli_option *o, const char *value)
{
	char *end;

	switch (o->kind) {
	case CLI_STR:
		dynax_request_set_str(req, o->member, value);
		return true;
	case CLI_INT:
		dynax_request_set_int(req, o->member, strtoll(value, &end, 10));
		return *end == '\0' && end != value ? true : cli_usage("%s '%s' is not a number", o->name, value) == CLI_OK;
	case CLI_TRUE:
	case CLI_FALSE:
		dynax_request_set_bool(req, o->member, o->kind == CLI_TRUE);
		return true;
	case CLI_JSON:
		dynax_request_set_json(req, o->member, value);
		return true;
	case CLI_NAME:
		return apply_name(req, value);
	case CLI_VALUE:
		return attrs_set(dynax_request_values(req), value);
	case CLI_SEGMENT:
		return apply_segment(req, value);
	default:
		return true;
	}
}

bool cli_apply(const struct cli *c, struct dynax_request *req)
{
	for (unsigned i = 0; i < c->gives; i++)
		if (!apply(req, c->given[i].option, c->given[i].value))
			return false;
	return true;
}

/* ---- the command line ---- */

static const struct cli_option *find_option(const char *name, size_t n)
{
	for (unsigned i = 0; i < OPTIONS; i++)
		if (strlen(options[i].name) == n && memcmp(options[i].name, name, n) == 0)
			return &options[i];
	return NULL;
}

static bool take_timeout(struct cli *c, const char *value)
{
	char *end;
	unsigned long ms = strtoul(value, &end, 10);

	if (*end != '\0' || ms == 0 || ms > 3600000)
		return cli_usage("--timeout '%s' is not a number of milliseconds", value) == CLI_OK;
	c->timeout_ms = (unsigned)ms;
	return true;
}

static bool take_option(struct cli *c, const struct cli_option *o, const char *value)
{
	switch (o->kind) {
	case CLI_ENDPOINT:
		c->endpoint = value;
		return true;
	case CLI_ADMIN:
		c->admin = value;
		return true;
	case CLI_TIMEOUT:
		return take_timeout(c, value);
	case CLI_HELP:
		c->help = true;
		return true;
	default:
		c->plain |= o->kind == CLI_PLAIN;
		c->all |= o->kind == CLI_ALL;
		c->given[c->gives++] = (struct cli_given){ o, value };
		return true;
	}
}

static bool take_arg(struct cli *c, const char *arg)
{
	if (c->command != NULL) {
		c->arg[c->args++] = arg;
		return true;
	}
	if (strcmp(arg, "help") == 0) {
		c->help = true;
		return true;
	}
	for (unsigned i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, arg) == 0)
			c->command = &commands[i];
	return c->command != NULL ? true : cli_usage("there is no command '%s'", arg) == CLI_OK;
}

/* One option off argv[*i], with its value. */
static bool parse_option(struct cli *c, int argc, char **argv, int *i)
{
	const char *arg = argv[*i], *value = NULL;
	size_t n = strcspn(arg, "=");
	const struct cli_option *o = find_option(arg, n);

	if (o == NULL)
		return cli_usage("there is no option '%s'", arg) == CLI_OK;
	if (o->metavar == NULL && arg[n] == '=')
		return cli_usage("%s takes no value", o->name) == CLI_OK;
	if (o->metavar != NULL)
		value = arg[n] == '=' ? arg + n + 1 : *i + 1 < argc ? argv[++*i] : NULL;
	if (o->metavar != NULL && value == NULL)
		return cli_usage("%s needs a value: %s", o->name, o->metavar) == CLI_OK;
	return take_option(c, o, value);
}

/* Options may stand anywhere, as "--limit 5" or "--limit=5"; "--" ends them. */
static bool parse(struct cli *c, int argc, char **argv)
{
	bool only_args = false, ok = true;

	for (int i = 1; ok && i < argc; i++) {
		if (only_args || (strncmp(argv[i], "--", 2) != 0 && strcmp(argv[i], "-h") != 0))
			ok = take_arg(c, argv[i]);
		else if (argv[i][1] == 'h')
			c->help = true;
		else if (argv[i][2] == '\0')
			only_args = true;
		else
			ok = parse_option(c, argc, argv, &i);
	}
	for (unsigned i = 0; ok && c->command != NULL && i < c->gives; i++)
		if (!option_fits(c->given[i].option, c->command))
			ok = cli_usage("%s takes no %s", c->command->name, c->given[i].option->name) == CLI_OK;
	return ok;
}

static enum cli_exit run(struct cli *c)
{
	struct dynax_opts opts = { .timeout_ms = c->timeout_ms };
	enum cli_exit code;

	if (c->help && c->command != NULL)
		print_command_help(c->command);
	else if (c->help)
		print_help();
	if (c->help)
		return CLI_OK;
	if (c->command == NULL)
		return cli_usage("a command is missing");
	if (c->args < c->command->min_args || c->args > c->command->max_args)
		return cli_usage("expected is: dynax %s %s", c->command->name, c->command->usage);
	c->client = dynax_open(c->endpoint, &opts);
	if (c->client == NULL)
		return cli_failed(NULL);
	code = c->command->run(c);
	dynax_close(&c->client);
	if (fflush(stdout) != 0) {
		perror("dynax: standard output");
		return CLI_REFUSED;
	}
	return code;
}

/* A variable that is empty counts as one that is not set. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

int main(int argc, char **argv)
{
	struct cli c = { .endpoint = environment("DYNAX_ENDPOINT"), .admin = environment("DYNAX_ADMIN") };
	enum cli_exit code = CLI_USAGE;

	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		printf("dynax %s\n", dynax_version());
		return CLI_OK;
	}
	if (argc > 1 && strcmp(argv[1], "bench") == 0)
		return load_main(argc - 1, argv + 1);
	c.arg = calloc((size_t)argc, sizeof(*c.arg));
	c.given = calloc((size_t)argc, sizeof(*c.given));
	if (c.arg == NULL || c.given == NULL)
		code = cli_failed(NULL);
	else if (parse(&c, argc, argv))
		code = run(&c);
	free(c.arg);
	free(c.given);
	return (int)code;
}
