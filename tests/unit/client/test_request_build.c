/* test_request_build - requests, member by member. */
#include "protocol/client/client_int.h"

#include <criterion/criterion.h>

static struct dynax_request *with_json(const char *member, const char *json)
{
	struct dynax_request *req = dynax_request_new("Query", "t");

	dynax_request_set_json(req, member, json);
	return req;
}

Test(request_build, json_of_every_kind)
{
	static const struct { const char *member, *json; } t[] = {
		{ "Limit", "1" }, { "Limit", " 1\n" }, { "Select", "\"COUNT\"" }, { "Select", "\"a,b]}\\\"{,\"" }, { "ConsistentRead", "true" },
		{ "ExclusiveStartKey", "{\"a\":{\"S\":\"x\"},\"b\":{\"N\":\"1\"}}" }, { "AttributesToGet", "[\"a\",\"b\"]" }, { "Limit", "null" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct dynax_request *req = with_json(t[i].member, t[i].json);

		cr_assert_null(dynax_request_error(req), "%s: %s", t[i].json, dynax_request_error(req));
		dynax_request_free(&req);
	}
}

Test(request_build, json_is_one_value)
{
	static const char *const bad[] = { "1,\"Select\":\"COUNT\"", "1,\"Limit\":2", "1,\"Nothing\":2", "1}", "1},{\"Limit\":2", "1 2",
		"1,", "", " ", "{", NULL };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct dynax_request *req = with_json("Limit", bad[i]);

		cr_assert_str_eq(dynax_request_error(req), "Limit: this is not JSON", "%s", bad[i]);
		dynax_request_free(&req);
	}
}
