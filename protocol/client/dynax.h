/* dynax.h - the C client of dynax: DynamoDB's operations over the binary protocol of dynaxd.
 *
 *    item  (build) --> request --> client | async client --> result --> value (read)
 *
 *    struct dynax_client *db = dynax_open("127.0.0.1:8111", NULL);
 *    struct dynax_item *key = dynax_item_of("PK", "CUSTOMER#42", "SK", "PROFILE", NULL);
 *    struct dynax_result *r = dynax_get_item(db, "shop", key);
 *
 *    if (dynax_ok(r))
 *            puts(dynax_str(dynax_result_item(r), "name", "nobody"));
 *    else
 *            fprintf(stderr, "%s: %s\n", dynax_result_type(r), dynax_result_message(r));
 *    dynax_result_free(&r);
 *    dynax_item_free(&key);
 *    dynax_close(&db);
 *
 * Ownership. What _new, _of, _open and functions that return a result give belongs to the caller, who ends it with the
 * matching _free or _close; these take the address of the pointer, set it to NULL, and accept a pointer that is NULL.
 * Arguments are copied and stay the caller's. A struct dynax_value borrows from the result or item that it was taken from.
 * What gives a text out of one (dynax_str, dynax_number, dynax_json, dynax_result_str, the names of a cursor, ...) makes a copy
 * each time, which lives as long as that result or item: a text that is needed often is better asked for once.
 *
 * Errors. Builders remember their first mistake, so it is enough to check the result of the request. Every request ends
 * with exactly one result, within its time limit: a code, DynamoDB's name of the error, a message, and whether trying again
 * makes sense. A result that is NULL means out of memory; every function that takes a result accepts it. What sets something
 * in an item or request does not accept one that is NULL, as _new and _of give it out of memory, nor a member of no name; a text
 * that is NULL is a mistake.
 *
 * Retries. If a connection ends during a request, reads are retried on a new one. A write that may have reached the server
 * is not sent again unless the caller has allowed it (dynax_request_allow_resend): it ends with DYNAX_E_NETWORK, which is
 * retryable, and whether it was carried out is unknown. A server that shuts down in an orderly way, or closes a
 * connection that rested too long, says what it has not carried out; that is retried, writes too.
 *
 * Threads. One struct dynax_client may be used by many threads at once. Every other object belongs to one thread at a
 * time. A struct dynax_async belongs to the thread of its event_base. The library has no global state, installs no signal
 * handlers and raises no SIGPIPE.
 *
 * Strings are UTF-8 and NUL-terminated unless a length goes with them; sizes are in bytes, times in milliseconds. */
#ifndef DYNAX_H
#define DYNAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DYNAX_SENTINEL __attribute__((sentinel))
#else
#define DYNAX_SENTINEL
#endif

struct dynax_client;
struct dynax_async;
struct dynax_item;
struct dynax_request;
struct dynax_result;
struct dynax_pager;
struct dynax_memory;
struct event_base;

/* Version of the library, "0.1.0". */
const char *dynax_version(void);

/* ---- errors ---- */

/* How a request ended. The names are those of DynamoDB's exceptions; those with a comment are dynax's own. */
enum dynax_code {
	DYNAX_OK,
	DYNAX_E_VALIDATION,
	DYNAX_E_SERIALIZATION,
	DYNAX_E_UNKNOWN_OPERATION,
	DYNAX_E_CONDITION_FAILED,
	DYNAX_E_RESOURCE_NOT_FOUND,
	DYNAX_E_RESOURCE_IN_USE,
	DYNAX_E_LIMIT_EXCEEDED,
	DYNAX_E_THROUGHPUT_EXCEEDED,
	DYNAX_E_THROTTLING,
	DYNAX_E_REQUEST_LIMIT_EXCEEDED,
	DYNAX_E_ITEM_COLLECTION_SIZE,
	DYNAX_E_TRANSACTION_CANCELED,
	DYNAX_E_TRANSACTION_CONFLICT,
	DYNAX_E_TRANSACTION_IN_PROGRESS,
	DYNAX_E_IDEMPOTENT_MISMATCH,
	DYNAX_E_DUPLICATE_ITEM,
	DYNAX_E_EXPIRED_ITERATOR,
	DYNAX_E_TRIMMED_DATA,
	DYNAX_E_TABLE_NOT_FOUND,
	DYNAX_E_INTERNAL,
	DYNAX_E_UNAVAILABLE,
	DYNAX_E_MISSING_TOKEN,
	DYNAX_E_ACCESS_DENIED,
	DYNAX_E_REQUEST_TOO_LARGE,
	DYNAX_E_DEADLINE,        /* the time limit passed; a write may or may not have been carried out */
	DYNAX_E_FRAME,           /* the two sides do not speak the same protocol */
	DYNAX_E_NO_MEMORY,       /* here or at the server */
	DYNAX_E_DISK_FULL,
	DYNAX_E_MAP_FULL,
	DYNAX_E_IO,
	DYNAX_E_CORRUPT,
	DYNAX_E_BUSY,
	DYNAX_E_USAGE,           /* a request, item or endpoint that makes no sense; nothing was sent */
	DYNAX_E_NETWORK,         /* no connection, or it ended before the answer; a write may have been carried out */
	DYNAX_E_OBJECT_NOT_FOUND
};

/* ---- values: reading ---- */

enum dynax_type {
	DYNAX_TYPE_S,
	DYNAX_TYPE_N,
	DYNAX_TYPE_B,
	DYNAX_TYPE_SS,
	DYNAX_TYPE_NS,
	DYNAX_TYPE_BS,
	DYNAX_TYPE_BOOL,
	DYNAX_TYPE_NULL,
	DYNAX_TYPE_L,
	DYNAX_TYPE_M,
	DYNAX_TYPE_ABSENT        /* no value at all */
};

/* One attribute value, or a whole item (which is an M). A small struct that is passed by value and borrows from the
 * result or item that it came from; its fields are private. All readers accept an absent value, and give an absent one. */
struct dynax_value {
	const void *p;
	size_t n;
	struct dynax_memory *mem;
};

enum dynax_type dynax_type(struct dynax_value v);

/* The value at a path of names and list positions, as in "address.lines[0]"; absent if there is none. */
struct dynax_value dynax_at(struct dynax_value v, const char *path);
/* The value of one name in a map or item, whatever characters the name has; absent if there is none. */
struct dynax_value dynax_member(struct dynax_value map, const char *name);

/* The value at a path (NULL: v itself) if it has the type, else `otherwise`. */
const char *dynax_str(struct dynax_value v, const char *path, const char *otherwise);        /* an S */
int64_t dynax_int(struct dynax_value v, const char *path, int64_t otherwise);               /* an integral N that fits */
double dynax_double(struct dynax_value v, const char *path, double otherwise);              /* an N, rounded */
bool dynax_bool(struct dynax_value v, const char *path, bool otherwise);                    /* a BOOL */
/* An N in full, as decimal text without an exponent. */
const char *dynax_number(struct dynax_value v, const char *path, const char *otherwise);
/* The bytes of an S or B, not NUL-terminated; NULL and *n = 0 if it is neither. */
const void *dynax_bytes(struct dynax_value v, const char *path, size_t *n);

/* Members of a list, map or set; 0 for anything else. */
size_t dynax_count(struct dynax_value v);
/* Walk a list, a map or a set:
 *    struct dynax_cursor c = dynax_each(v);
 *    while (dynax_next(&c)) use(c.name, c.value);
 * name is NULL in lists and sets. */
struct dynax_cursor {
	struct dynax_value value;
	const char *name;
	const void *p, *end;       /* private, as the rest */
	struct dynax_memory *mem;
	uint32_t left;
	bool pairs;
};
struct dynax_cursor dynax_each(struct dynax_value v);
bool dynax_next(struct dynax_cursor *c);

/* The value as DynamoDB's JSON, {"S":"Ana"}; an item as {"name":{"S":"Ana"}}. NULL if absent or out of memory. */
const char *dynax_json(struct dynax_value item_or_value);
/* The same as plain JSON, {"name":"Ana"}: numbers as they are, binary in base64, sets as lists. */
const char *dynax_plain_json(struct dynax_value v);

/* ---- items: building ---- */

/* A map of attributes (an item, a key, a nested map, expression values). NULL if out of memory. */
struct dynax_item *dynax_item_new(void);
/* A list. The setters below append to it, and their name is ignored (NULL will do). */
struct dynax_item *dynax_list_new(void);
/* An item of strings: dynax_item_of("PK", "CUSTOMER#42", "SK", "PROFILE", NULL). */
struct dynax_item *dynax_item_of(const char *name, const char *value, ...) DYNAX_SENTINEL;
/* From DynamoDB's JSON, {"PK":{"S":"CUSTOMER#42"}}. dynax_item_error reports mistakes. */
struct dynax_item *dynax_item_from_json(const char *json);
void dynax_item_free(struct dynax_item **item);
/* Empty it and forget its mistake. */
void dynax_item_clear(struct dynax_item *item);
/* The first mistake that was made, or NULL. */
const char *dynax_item_error(const struct dynax_item *item);

/* Each sets one attribute; setting a name again replaces its value. */
void dynax_item_set_str(struct dynax_item *item, const char *name, const char *text);
void dynax_item_set_strn(struct dynax_item *item, const char *name, const char *text, size_t n);
void dynax_item_set_int(struct dynax_item *item, const char *name, int64_t v);
/* The shortest decimal that reads back as v; not a number and infinities are mistakes. */
void dynax_item_set_double(struct dynax_item *item, const char *name, double v);
/* Any number of DynamoDB's: up to 38 digits, "1.5e-100". */
void dynax_item_set_number(struct dynax_item *item, const char *name, const char *decimal);
void dynax_item_set_bin(struct dynax_item *item, const char *name, const void *p, size_t n);
void dynax_item_set_bool(struct dynax_item *item, const char *name, bool v);
void dynax_item_set_null(struct dynax_item *item, const char *name);
/* A copy of a map or list that was built before. */
void dynax_item_set_item(struct dynax_item *item, const char *name, const struct dynax_item *map_or_list);
/* A copy of a value that was read. */
void dynax_item_set_value(struct dynax_item *item, const char *name, struct dynax_value v);
/* Sets, of n members; none and doubled members are mistakes. */
void dynax_item_set_str_set(struct dynax_item *item, const char *name, const char *const *text, size_t n);
void dynax_item_set_num_set(struct dynax_item *item, const char *name, const char *const *decimal, size_t n);
struct dynax_blob {
	const void *p;
	size_t n;
};
void dynax_item_set_bin_set(struct dynax_item *item, const char *name, const struct dynax_blob *blob, size_t n);
void dynax_item_unset(struct dynax_item *item, const char *name);

/* What was built so far, for the readers above; valid until the item changes. */
struct dynax_value dynax_item_value(struct dynax_item *item);

/* ---- requests ---- */

/* A request of an operation by its API name, "UpdateItem"; table may be NULL where the operation has none. A request may
 * be run any number of times, and changed between; what a change replaces keeps its memory until the request is freed, so one
 * that serves for ever is better made anew. NULL if out of memory. */
struct dynax_request *dynax_request_new(const char *operation, const char *table);
/* From a whole JSON body; members may still be set. */
struct dynax_request *dynax_request_from_json(const char *operation, const char *json);
void dynax_request_free(struct dynax_request **req);
const char *dynax_request_error(const struct dynax_request *req);

/* Set a member of the request by its API name: "ConditionExpression", "Limit", "ConsistentRead", "Key". A later value
 * replaces an earlier one. An unknown name or a wrong type is a mistake. */
void dynax_request_set_str(struct dynax_request *req, const char *member, const char *text);
void dynax_request_set_int(struct dynax_request *req, const char *member, int64_t v);
void dynax_request_set_bool(struct dynax_request *req, const char *member, bool v);
void dynax_request_set_item(struct dynax_request *req, const char *member, const struct dynax_item *item);
void dynax_request_set_value(struct dynax_request *req, const char *member, struct dynax_value item);
/* Anything, in the JSON that the API uses for that member: one value and nothing else. */
void dynax_request_set_json(struct dynax_request *req, const char *member, const char *json);
/* One of ExpressionAttributeNames: dynax_request_name(req, "#s", "status"). */
void dynax_request_name(struct dynax_request *req, const char *placeholder, const char *attribute);
/* ExpressionAttributeValues, to be filled with the setters of items; belongs to the request. */
struct dynax_item *dynax_request_values(struct dynax_request *req);

/* Time limit of this request, over all attempts; 0 = the client's. */
void dynax_request_set_timeout(struct dynax_request *req, unsigned ms);
/* This write may be sent again when its outcome is unknown: doing it twice is harmless. */
void dynax_request_allow_resend(struct dynax_request *req, bool allow);

/* ---- results ---- */

void dynax_result_free(struct dynax_result **r);
bool dynax_ok(const struct dynax_result *r);
enum dynax_code dynax_result_code(const struct dynax_result *r);
/* "ConditionalCheckFailedException", "NetworkError"; "OK" without an error. */
const char *dynax_result_type(const struct dynax_result *r);
/* The error's text; "" without an error. */
const char *dynax_result_message(const struct dynax_result *r);
/* Does it make sense to try again? (For a write, see "Retries" above.) */
bool dynax_result_retryable(const struct dynax_result *r);

/* The item of a GetItem, the attributes that a write returns, the item that failed its condition
 * (ReturnValuesOnConditionCheckFailure); absent if there is none. */
struct dynax_value dynax_result_item(struct dynax_result *r);
/* The items of a Query, Scan or, of one table (NULL: the first), BatchGetItem: a list. */
struct dynax_value dynax_result_items(struct dynax_result *r, const char *table);
/* LastEvaluatedKey; absent on the last page. */
struct dynax_value dynax_result_last_key(struct dynax_result *r);

/* Any part of the answer, or of the error's further members, by a path of the API's names and of list positions:
 *    dynax_result_int(r, "Count", 0)                           of a Query
 *    dynax_result_str(r, "Table.TableStatus", "")              of a DescribeTable
 *    dynax_result_value(r, "Responses[1].Item")                of a TransactGetItems
 *    dynax_result_str(r, "CancellationReasons[0].Code", "")    of a TransactionCanceledException
 * Each gives what stands there if it is of that kind, else "absent" or `otherwise`. */
struct dynax_value dynax_result_value(struct dynax_result *r, const char *path);     /* an item or attribute value */
struct dynax_value dynax_result_list(struct dynax_result *r, const char *path);      /* a list of strings or items */
size_t dynax_result_count(struct dynax_result *r, const char *path);                 /* the length of any list; 0 if absent */
int64_t dynax_result_int(struct dynax_result *r, const char *path, int64_t otherwise);
double dynax_result_double(struct dynax_result *r, const char *path, double otherwise);
const char *dynax_result_str(struct dynax_result *r, const char *path, const char *otherwise);
/* The whole answer, or error, as the JSON that the HTTP API would give. */
const char *dynax_result_json(struct dynax_result *r);
/* What a BatchGetItem or BatchWriteItem left undone, as a request ready to be run; NULL if nothing. The caller's. */
struct dynax_request *dynax_result_unprocessed(struct dynax_result *r);
/* Where a read was answered from. */
enum dynax_source { DYNAX_SOURCE_NONE, DYNAX_SOURCE_HIT, DYNAX_SOURCE_MISS, DYNAX_SOURCE_BYPASS };
enum dynax_source dynax_result_source(const struct dynax_result *r);

/* ---- the blocking client ---- */

/* Zero is the default of each. With the defaults, a request that finds nobody listening fails after some 50 ms. For requests
 * that outlive a restart of the server, raise `attempts`; the time limit then says how long to go on. */
struct dynax_opts {
	unsigned connect_timeout_ms;   /* 2000: for one attempt to connect, greeting included */
	unsigned timeout_ms;           /* 5000: for a request, over all attempts */
	unsigned attempts;             /* 3: of a request at most, the first included */
	unsigned backoff_ms;           /* 20: wait before the second attempt; doubles, with jitter */
	unsigned backoff_max_ms;       /* 1000 */
	unsigned connections;          /* 8: of a blocking client at most; a thread waits for a free one */
};

/* endpoint: "HOST:PORT", "HOST", "[::1]:8111", or NULL for 127.0.0.1:8111. Connects when first used, and again when needed.
 * NULL only if out of memory; a mistake in the endpoint is reported by the first request. A host name is looked up by the
 * system for each connection, which can take longer than the time limits here. */
struct dynax_client *dynax_open(const char *endpoint, const struct dynax_opts *opts);
/* No other thread may be using it. */
void dynax_close(struct dynax_client **c);

/* Send and wait. */
struct dynax_result *dynax_run(struct dynax_client *c, const struct dynax_request *req);
/* Send n requests down one connection without waiting between, and wait for all: result[i] is that of req[i]. They are
 * carried out in any order. The same request may stand at several places. */
void dynax_run_many(struct dynax_client *c, const struct dynax_request *const *req, size_t n, struct dynax_result **result);
/* Operation and JSON in, result out: dynax_call(c, "ListTables", "{}"), then dynax_result_json. */
struct dynax_result *dynax_call(struct dynax_client *c, const char *operation, const char *json);
/* Is the server there? The result carries no answer. */
struct dynax_result *dynax_ping(struct dynax_client *c);

/* The usual requests in one call. For anything else that an operation can do, build a struct dynax_request. */
struct dynax_result *dynax_get_item(struct dynax_client *c, const char *table, const struct dynax_item *key);
struct dynax_result *dynax_put_item(struct dynax_client *c, const char *table, const struct dynax_item *item);
struct dynax_result *dynax_delete_item(struct dynax_client *c, const char *table, const struct dynax_item *key);
/* values: of the expression's ":names", or NULL. */
struct dynax_result *dynax_update_item(struct dynax_client *c, const char *table, const struct dynax_item *key,
	const char *update_expression, const struct dynax_item *values);
/* One page; dynax_pager_new walks them all. */
struct dynax_result *dynax_query(struct dynax_client *c, const char *table, const char *key_condition,
	const struct dynax_item *values);
struct dynax_result *dynax_scan(struct dynax_client *c, const char *table);
/* At most 100 keys; 25 puts and deletes together. See dynax_result_unprocessed. */
struct dynax_result *dynax_batch_get(struct dynax_client *c, const char *table, const struct dynax_item *const *key, size_t n);
struct dynax_result *dynax_batch_write(struct dynax_client *c, const char *table, const struct dynax_item *const *put,
	size_t puts, const struct dynax_item *const *delete_key, size_t deletes);
/* Keys as "name" (a string) or "name:T" with T one of S, N, B; sort may be NULL. Billed per request. */
struct dynax_result *dynax_create_table(struct dynax_client *c, const char *table, const char *partition, const char *sort);
struct dynax_result *dynax_describe_table(struct dynax_client *c, const char *table);
struct dynax_result *dynax_list_tables(struct dynax_client *c, const char *after, unsigned limit);
struct dynax_result *dynax_delete_table(struct dynax_client *c, const char *table);

/* ---- paging ---- */

/* All items of a Query or Scan, page after page:
 *    while (dynax_pager_next(p, &item)) use(item);
 *    if (!dynax_ok(dynax_pager_result(p))) ...
 * The client must outlive it; the request is copied. NULL if out of memory. */
struct dynax_pager *dynax_pager_new(struct dynax_client *c, const struct dynax_request *req);
/* The next item, valid until the next call; false at the end and on an error. */
bool dynax_pager_next(struct dynax_pager *p, struct dynax_value *item);
/* The page that the last item came from, or the error; belongs to the pager. */
struct dynax_result *dynax_pager_result(struct dynax_pager *p);
void dynax_pager_free(struct dynax_pager **p);

/* ---- the asynchronous client ---- */

/* One connection on a libevent base, with any number of requests in flight. It connects when first needed, and again, with
 * backoff, while requests wait. A host name is looked up here, which may block. `connections` of opts has no meaning. NULL
 * if out of memory; a mistake in the endpoint is reported by every request. */
struct dynax_async *dynax_async_new(struct event_base *base, const char *endpoint, const struct dynax_opts *opts);
/* Requests in flight end with DYNAX_E_NETWORK; their callbacks are called before this returns. Not to be called from a
 * callback. */
void dynax_async_free(struct dynax_async **a);

/* Called exactly once for each request, from the loop (never from within dynax_async_run). r belongs to the callback;
 * NULL means out of memory. */
typedef void (*dynax_done)(struct dynax_result *r, void *arg);
/* False if out of memory, or while the client is being freed: then the callback will not be called. */
bool dynax_async_run(struct dynax_async *a, const struct dynax_request *req, dynax_done done, void *arg);
/* How many requests have not called back yet. There is no other limit: a program that sends faster than the server answers
 * bounds it itself. */
size_t dynax_async_pending(const struct dynax_async *a);

#ifdef __cplusplus
}
#endif

#endif
