/* calls - the usual requests in one call, and paging: all of it on the public interface of requests and results. */
#include "protocol/client/client_int.h"

#include "protocol/json.h"

#include <stdlib.h>

/* Run a request that was made for this call alone. */
static struct dynax_result *run_once(struct dynax_client *c, struct dynax_request *req)
{
	struct dynax_result *r = req != NULL ? dynax_run(c, req) : NULL;

	dynax_request_free(&req);
	return r;
}

static struct dynax_result *run_with_item(struct dynax_client *c, const char *op, const char *table, const char *member,
	const struct dynax_item *item)
{
	struct dynax_request *req = dynax_request_new(op, table);

	if (req != NULL)
		dynax_request_set_item(req, member, item);
	return run_once(c, req);
}

struct dynax_result *dynax_call(struct dynax_client *c, const char *operation, const char *json)
{
	return run_once(c, dynax_request_from_json(operation, json));
}

struct dynax_result *dynax_get_item(struct dynax_client *c, const char *table, const struct dynax_item *key)
{
	return run_with_item(c, "GetItem", table, "Key", key);
}

struct dynax_result *dynax_put_item(struct dynax_client *c, const char *table, const struct dynax_item *item)
{
	return run_with_item(c, "PutItem", table, "Item", item);
}

struct dynax_result *dynax_delete_item(struct dynax_client *c, const char *table, const struct dynax_item *key)
{
	return run_with_item(c, "DeleteItem", table, "Key", key);
}

struct dynax_result *dynax_update_item(struct dynax_client *c, const char *table, const struct dynax_item *key,
	const char *update_expression, const struct dynax_item *values)
{
	struct dynax_request *req = dynax_request_new("UpdateItem", table);

	if (req == NULL)
		return NULL;
	dynax_request_set_item(req, "Key", key);
	dynax_request_set_str(req, "UpdateExpression", update_expression);
	if (values != NULL)
		dynax_request_set_item(req, "ExpressionAttributeValues", values);
	return run_once(c, req);
}

struct dynax_result *dynax_query(struct dynax_client *c, const char *table, const char *key_condition,
	const struct dynax_item *values)
{
	struct dynax_request *req = dynax_request_new("Query", table);

	if (req == NULL)
		return NULL;
	dynax_request_set_str(req, "KeyConditionExpression", key_condition);
	if (values != NULL)
		dynax_request_set_item(req, "ExpressionAttributeValues", values);
	return run_once(c, req);
}

struct dynax_result *dynax_scan(struct dynax_client *c, const char *table)
{
	return run_once(c, dynax_request_new("Scan", table));
}

struct dynax_result *dynax_describe_table(struct dynax_client *c, const char *table)
{
	return run_once(c, dynax_request_new("DescribeTable", table));
}

struct dynax_result *dynax_delete_table(struct dynax_client *c, const char *table)
{
	return run_once(c, dynax_request_new("DeleteTable", table));
}

struct dynax_result *dynax_list_tables(struct dynax_client *c, const char *after, unsigned limit)
{
	struct dynax_request *req = dynax_request_new("ListTables", NULL);

	if (req != NULL && after != NULL)
		dynax_request_set_str(req, "ExclusiveStartTableName", after);
	if (req != NULL && limit != 0)
		dynax_request_set_int(req, "Limit", limit);
	return run_once(c, req);
}

/* ---- batches: records made by hand, RequestItems is a map of tables ---- */

/* Hand a finished RequestItems, which is released, to a request and run it. */
static struct dynax_result *run_items(struct dynax_client *c, const char *op, unsigned member, struct buf *items, bool ok)
{
	struct dynax_request *req = dynax_request_new(op, NULL);

	if (req != NULL) {
		req->member[member] = ok && !items->failed ? arena_copy(&req->mem.arena, buf_slice(items)) : SLICE_NONE;
		if (!slice_present(req->member[member]))
			dynax_request_free(&req);
	}
	buf_release(items);
	return run_once(c, req);
}

/* The first item with a mistake, as a result; NULL if there is none. */
static struct dynax_result *wrong_item(enum op op, const struct dynax_item *const *item, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (dynax_item_error(item[i]) != NULL)
			return result_of_fault(op, ERR_USAGE, dynax_item_error(item[i]));
	return NULL;
}

struct dynax_result *dynax_batch_get(struct dynax_client *c, const char *table, const struct dynax_item *const *key, size_t n)
{
	struct dynax_result *wrong = wrong_item(OP_BatchGetItem, key, n);
	unsigned members = 0;
	bool ok = true;
	struct buf b;
	size_t at;

	if (wrong != NULL)
		return wrong;
	buf_init(&b);
	mp_put_map(&b, 1);
	mp_put_str(&b, slice_str(table));
	at = record_begin(&b);
	record_key(&b, &members, KeysAndAttributes_Keys);
	mp_put_array(&b, (uint32_t)n);
	for (size_t i = 0; i < n && ok; i++)
		ok = item_put(key[i], &b);
	record_end(&b, at, members);
	return run_items(c, "BatchGetItem", BatchGetItemInput_RequestItems, &b, ok);
}

/* A WriteRequest with one member that is a record with one member, the item. */
static bool put_write(struct buf *b, unsigned kind, unsigned member, const struct dynax_item *item)
{
	unsigned outer = 0, inner = 0;
	size_t at = record_begin(b), in;
	bool ok;

	record_key(b, &outer, kind);
	in = record_begin(b);
	record_key(b, &inner, member);
	ok = item_put(item, b);
	record_end(b, in, inner);
	record_end(b, at, outer);
	return ok;
}

struct dynax_result *dynax_batch_write(struct dynax_client *c, const char *table, const struct dynax_item *const *put,
	size_t puts, const struct dynax_item *const *delete_key, size_t deletes)
{
	struct dynax_result *wrong = wrong_item(OP_BatchWriteItem, put, puts);
	bool ok = true;
	struct buf b;

	if (wrong == NULL)
		wrong = wrong_item(OP_BatchWriteItem, delete_key, deletes);
	if (wrong != NULL)
		return wrong;
	buf_init(&b);
	mp_put_map(&b, 1);
	mp_put_str(&b, slice_str(table));
	mp_put_array(&b, (uint32_t)(puts + deletes));
	for (size_t i = 0; i < puts && ok; i++)
		ok = put_write(&b, WriteRequest_PutRequest, PutRequest_Item, put[i]);
	for (size_t i = 0; i < deletes && ok; i++)
		ok = put_write(&b, WriteRequest_DeleteRequest, DeleteRequest_Key, delete_key[i]);
	return run_items(c, "BatchWriteItem", BatchWriteItemInput_RequestItems, &b, ok);
}

/* ---- CreateTable ---- */

/* One entry of KeySchema and of AttributeDefinitions, as JSON, of "name" or "name:T". */
static void put_key(struct buf *schema, struct buf *types, const char *key, const char *role)
{
	size_t n = strlen(key);
	char type = 'S';

	if (n > 2 && key[n - 2] == ':') {
		type = key[n - 1];
		n -= 2;
	}
	buf_printf(schema, "%s{\"AttributeName\":", schema->n > 1 ? "," : "");
	json_write_string(schema, slice_of(key, n));
	buf_printf(schema, ",\"KeyType\":\"%s\"}", role);
	buf_printf(types, "%s{\"AttributeName\":", types->n > 1 ? "," : "");
	json_write_string(types, slice_of(key, n));
	buf_printf(types, ",\"AttributeType\":\"%c\"}", type);
}

static void set_json(struct dynax_request *req, const char *member, struct buf *json)
{
	buf_put(json, "]", 2);    /* with its NUL */
	dynax_request_set_json(req, member, json->failed ? "" : (const char *)json->p);
	buf_release(json);
}

struct dynax_result *dynax_create_table(struct dynax_client *c, const char *table, const char *partition, const char *sort)
{
	struct dynax_request *req = dynax_request_new("CreateTable", table);
	struct buf schema, types;

	if (req == NULL)
		return NULL;
	buf_init(&schema);
	buf_init(&types);
	buf_put_u8(&schema, '[');
	buf_put_u8(&types, '[');
	put_key(&schema, &types, partition, "HASH");
	if (sort != NULL)
		put_key(&schema, &types, sort, "RANGE");
	set_json(req, "KeySchema", &schema);
	set_json(req, "AttributeDefinitions", &types);
	dynax_request_set_str(req, "BillingMode", "PAY_PER_REQUEST");
	return run_once(c, req);
}

/* ---- paging ---- */

struct dynax_pager {
	struct dynax_client *client;
	struct dynax_request *req;
	struct dynax_result *page;
	struct dynax_cursor at;
	bool begun;
};

struct dynax_pager *dynax_pager_new(struct dynax_client *c, const struct dynax_request *req)
{
	struct dynax_pager *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->client = c;
	p->req = request_copy(req);
	if (p->req == NULL)
		dynax_pager_free(&p);
	return p;
}

void dynax_pager_free(struct dynax_pager **p)
{
	if (*p == NULL)
		return;
	dynax_request_free(&(*p)->req);
	dynax_result_free(&(*p)->page);
	free(*p);
	*p = NULL;
}

/* Fetch the next page; false after the last and after an error. */
static bool next_page(struct dynax_pager *p)
{
	if (p->begun) {
		struct dynax_value last = dynax_result_last_key(p->page);

		if (!dynax_ok(p->page) || last.p == NULL)
			return false;
		dynax_request_set_value(p->req, "ExclusiveStartKey", last);
	}
	p->begun = true;
	dynax_result_free(&p->page);
	p->page = dynax_run(p->client, p->req);
	p->at = dynax_each(dynax_result_items(p->page, NULL));
	return dynax_ok(p->page);
}

bool dynax_pager_next(struct dynax_pager *p, struct dynax_value *item)
{
	while (!dynax_next(&p->at))
		if (!next_page(p))
			return false;
	*item = p->at.value;
	return true;
}

struct dynax_result *dynax_pager_result(struct dynax_pager *p)
{
	return p->page;
}
