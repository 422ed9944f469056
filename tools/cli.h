/* cli - the `dynax` command: what its files share.
 *
 *    main.c      options, the table of commands, exit codes
 *    commands.c  one function per command, on dynax.h
 *    admin.c     what is asked over the admin port
 *    attrs.c     NAME=text and NAME:=json on the command line, and plain JSON, to items */
#ifndef DYNAX_TOOLS_CLI_H
#define DYNAX_TOOLS_CLI_H

#include <stdio.h>

#include "protocol/client/dynax.h"
#include "protocol/op.h"

enum cli_exit {
	CLI_OK,
	CLI_NOT_FOUND,     /* get: there is no such item */
	CLI_USAGE,         /* the command line makes no sense */
	CLI_REFUSED,       /* the server answered with an error */
	CLI_UNREACHABLE    /* no connection, or no answer in time */
};

/* An option that was given, with its value (NULL if it takes none). */
struct cli_given {
	const struct cli_option *option;
	const char *value;
};

struct cli {
	const char *endpoint, *admin;
	unsigned timeout_ms;
	bool plain, all, help;
	const struct cli_command *command;
	const char **arg;            /* what follows the command */
	unsigned args;
	struct cli_given *given;     /* options of the command */
	unsigned gives;
	struct dynax_client *client;
};

/* What an option sets: a member of the request, or something of the command line itself. */
enum cli_kind {
	CLI_STR, CLI_INT, CLI_TRUE, CLI_FALSE, CLI_JSON,  /* a member of the request */
	CLI_NAME, CLI_VALUE,                              /* a placeholder */
	CLI_SEGMENT,                                      /* N/TOTAL */
	CLI_SCALING,                                      /* a setting of autoscaling alone */
	CLI_ENDPOINT, CLI_ADMIN, CLI_TIMEOUT, CLI_PLAIN, CLI_ALL, CLI_HELP
};

struct cli_option {
	const char *name, *metavar;  /* metavar NULL: takes no value */
	enum cli_kind kind;
	const char *member;
	const char *help;
};

struct cli_command {
	const char *name, *usage, *help;
	unsigned min_args, max_args;
	enum cli_exit (*run)(struct cli *c);
	enum op op;          /* of items: the operation whose members the options set; OP_COUNT if it takes none */
};

/* Say what is wrong; returns CLI_USAGE. */
enum cli_exit cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Say what the result says, on stderr; the exit code that goes with it. */
enum cli_exit cli_failed(const struct dynax_result *r);
/* All that comes, NUL-terminated, on the heap; NULL if reading fails or memory is out. */
char *cli_read(FILE *f);
/* Set the members that the options name. */
bool cli_apply(const struct cli *c, struct dynax_request *req);

enum cli_exit cmd_get(struct cli *c);
enum cli_exit cmd_put(struct cli *c);
enum cli_exit cmd_update(struct cli *c);
enum cli_exit cmd_delete(struct cli *c);
enum cli_exit cmd_query(struct cli *c);
enum cli_exit cmd_scan(struct cli *c);
enum cli_exit cmd_batch_get(struct cli *c);
enum cli_exit cmd_batch_write(struct cli *c);
enum cli_exit cmd_create_table(struct cli *c);
enum cli_exit cmd_describe_table(struct cli *c);
enum cli_exit cmd_list_tables(struct cli *c);
enum cli_exit cmd_delete_table(struct cli *c);
enum cli_exit cmd_call(struct cli *c);
enum cli_exit cmd_ping(struct cli *c);
/* admin.c */
enum cli_exit cmd_partitions(struct cli *c);
enum cli_exit cmd_autoscaling(struct cli *c);
enum cli_exit cmd_index_delay(struct cli *c);

/* Take NAME=text, or NAME:=json (a number, true, false, null, a list, an object). False, with a message, if it is neither. */
bool attrs_set(struct dynax_item *item, const char *attr);
/* An item of such attributes, or of one argument that is DynamoDB's JSON; NULL, with a message. */
struct dynax_item *attrs_item(const char *const *arg, unsigned n);
/* An item from "NAME=text,NAME=text", or DynamoDB's JSON. NULL, with a message. */
struct dynax_item *attrs_key(const char *text);
/* An item from one object of plain JSON. NULL, with a message. */
struct dynax_item *attrs_plain(const char *json);

#endif
