/* A shop in one table: cc ecommerce.c $(pkg-config --cflags --libs dynax) && ./a.out */
#include <dynax.h>
#include <stdio.h>

/* Print what came back, one item a line, or the error; and end the result. */
static void show(struct dynax_result *r)
{
	struct dynax_cursor items = dynax_each(dynax_result_items(r, NULL));
	const char *item = dynax_plain_json(dynax_result_item(r));

	if (!dynax_ok(r))
		printf("%s: %s\n", dynax_result_type(r), dynax_result_message(r));
	else if (item)
		puts(item);
	while (dynax_ok(r) && dynax_next(&items))
		puts(dynax_plain_json(items.value));
	dynax_result_free(&r);
}

static void put(struct dynax_client *db, const char *json)
{
	struct dynax_item *item = dynax_item_from_json(json);

	show(dynax_put_item(db, "ecommerce", item));
	dynax_item_free(&item);
}

/* Key conditions, then the order: the newest first, or not. */
static void query(struct dynax_client *db, const char *where, const struct dynax_item *values, bool forward)
{
	struct dynax_request *req = dynax_request_new("Query", "ecommerce");

	dynax_request_set_str(req, "KeyConditionExpression", where);
	dynax_request_set_item(req, "ExpressionAttributeValues", values);
	dynax_request_set_bool(req, "ScanIndexForward", forward);
	show(dynax_run(db, req));
	dynax_request_free(&req);
}

/* From PLACED to SHIPPED, and not from anything else. */
static void ship(struct dynax_client *db, const struct dynax_item *order)
{
	struct dynax_request *req = dynax_request_new("UpdateItem", "ecommerce");

	dynax_request_set_item(req, "Key", order);
	dynax_request_set_str(req, "UpdateExpression", "SET #s = :new");
	dynax_request_set_str(req, "ConditionExpression", "#s = :old");
	dynax_request_set_str(req, "ReturnValues", "ALL_NEW");
	dynax_request_name(req, "#s", "status");
	dynax_item_set_str(dynax_request_values(req), ":new", "SHIPPED");
	dynax_item_set_str(dynax_request_values(req), ":old", "PLACED");
	show(dynax_run(db, req));
	dynax_request_free(&req);
}

int main(void)
{
	struct dynax_client *db = dynax_open("127.0.0.1:8111", NULL);
	struct dynax_item *profile = dynax_item_of("PK", "CUSTOMER#42", "SK", "PROFILE", NULL);
	struct dynax_item *orders = dynax_item_of(":p", "CUSTOMER#42", ":o", "ORDER#", NULL);
	struct dynax_item *order = dynax_item_of(":p", "ORDER#o-9", NULL);
	struct dynax_item *meta = dynax_item_of("PK", "ORDER#o-9", "SK", "META", NULL);

	show(dynax_create_table(db, "ecommerce", "PK", "SK"));
	put(db, "{\"PK\":{\"S\":\"CUSTOMER#42\"},\"SK\":{\"S\":\"PROFILE\"},\"name\":{\"S\":\"Ana\"},\"email\":{\"S\":"
	        "\"ana@x.io\"}}");
	put(db, "{\"PK\":{\"S\":\"CUSTOMER#42\"},\"SK\":{\"S\":\"ORDER#2025-05-30#o-7\"},\"total\":{\"N\":\"20\"}}");
	put(db, "{\"PK\":{\"S\":\"CUSTOMER#42\"},\"SK\":{\"S\":\"ORDER#2025-06-12#o-9\"},\"total\":{\"N\":\"60\"}}");
	put(db, "{\"PK\":{\"S\":\"ORDER#o-9\"},\"SK\":{\"S\":\"META\"},\"status\":{\"S\":\"PLACED\"}}");
	put(db, "{\"PK\":{\"S\":\"ORDER#o-9\"},\"SK\":{\"S\":\"ITEM#1\"},\"sku\":{\"S\":\"kettle\"},\"qty\":{\"N\":"
	        "\"1\"}}");

	puts("a profile");
	show(dynax_get_item(db, "ecommerce", profile));
	puts("a customer's orders, newest first");
	query(db, "PK = :p AND begins_with(SK, :o)", orders, false);
	puts("an order with its items, in one Query");
	query(db, "PK = :p", order, true);
	puts("the status changes from PLACED to SHIPPED; the second time the condition fails");
	ship(db, meta);
	ship(db, meta);

	dynax_item_free(&profile);
	dynax_item_free(&orders);
	dynax_item_free(&order);
	dynax_item_free(&meta);
	dynax_close(&db);
}
