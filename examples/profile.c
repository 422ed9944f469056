/* A customer's name: cc profile.c $(pkg-config --cflags --libs dynax) && ./a.out */
#include <dynax.h>
#include <stdio.h>

int main(void)
{
	struct dynax_client *db = dynax_open("127.0.0.1:8111", NULL);
	struct dynax_item *key = dynax_item_of("PK", "CUSTOMER#42", "SK", "PROFILE", NULL);
	struct dynax_result *r = dynax_get_item(db, "ecommerce", key);

	puts(dynax_ok(r) ? dynax_str(dynax_result_item(r), "name", "nobody") : dynax_result_message(r));
	dynax_result_free(&r);
	dynax_item_free(&key);
	dynax_close(&db);
}
