/* Items: what is built is what is read, mistakes stick, and the reader is at home in nested values. */
#include "protocol/client/dynax.h"

#include <criterion/criterion.h>
#include <math.h>

static struct dynax_item *item;

static void setup(void)
{
	item = dynax_item_new();
}

static void teardown(void)
{
	dynax_item_free(&item);
	cr_assert_null(item);
	dynax_item_free(&item);
}

TestSuite(item, .init = setup, .fini = teardown);

static void expect_json(const char *want)
{
	cr_assert_null(dynax_item_error(item), "%s", dynax_item_error(item));
	cr_assert_str_eq(dynax_json(dynax_item_value(item)), want);
}

Test(item, every_type)
{
	static const char *const words[] = { "pear", "fig" }, *const numbers[] = { "2", "1.0" };
	static const struct dynax_blob blobs[] = { { "\2", 1 }, { "\1", 1 } };

	dynax_item_set_str(item, "s", "Ana");
	dynax_item_set_int(item, "i", -42);
	dynax_item_set_double(item, "d", 0.1);
	dynax_item_set_number(item, "n", "1.50e2");
	dynax_item_set_bin(item, "b", "\0\xff", 2);
	dynax_item_set_bool(item, "t", true);
	dynax_item_set_null(item, "z");
	dynax_item_set_str_set(item, "ss", words, 2);
	dynax_item_set_num_set(item, "ns", numbers, 2);
	dynax_item_set_bin_set(item, "bs", blobs, 2);
	expect_json("{\"b\":{\"B\":\"AP8=\"},\"bs\":{\"BS\":[\"AQ==\",\"Ag==\"]},\"d\":{\"N\":\"0.1\"},\"i\":{\"N\":\"-42\"},"
		"\"n\":{\"N\":\"150\"},\"ns\":{\"NS\":[\"1\",\"2\"]},\"s\":{\"S\":\"Ana\"},\"ss\":{\"SS\":[\"fig\",\"pear\"]},"
		"\"t\":{\"BOOL\":true},\"z\":{\"NULL\":true}}");
	cr_assert_str_eq(dynax_plain_json(dynax_item_value(item)), "{\"b\":\"AP8=\",\"bs\":[\"AQ==\",\"Ag==\"],\"d\":0.1,\"i\":-42,"
		"\"n\":150,\"ns\":[1,2],\"s\":\"Ana\",\"ss\":[\"fig\",\"pear\"],\"t\":true,\"z\":null}");
}

Test(item, a_name_set_again_is_replaced_and_can_be_unset)
{
	dynax_item_set_int(item, "a", 1);
	dynax_item_set_int(item, "b", 2);
	dynax_item_set_str(item, "a", "new");
	expect_json("{\"a\":{\"S\":\"new\"},\"b\":{\"N\":\"2\"}}");
	dynax_item_unset(item, "a");
	expect_json("{\"b\":{\"N\":\"2\"}}");
	dynax_item_clear(item);
	expect_json("{}");
}

Test(item, nesting)
{
	struct dynax_item *list = dynax_list_new(), *line = dynax_item_of("sku", "kettle", "size", "L", NULL);
	struct dynax_value v;

	dynax_item_set_int(line, "qty", 3);
	dynax_item_set_item(list, NULL, line);
	dynax_item_set_str(list, NULL, "second");
	dynax_item_set_item(item, "lines", list);
	dynax_item_set_item(item, "a.b", line);
	dynax_item_free(&list);
	dynax_item_free(&line);
	v = dynax_item_value(item);
	cr_assert_str_eq(dynax_str(v, "lines[0].sku", ""), "kettle");
	cr_assert_eq(dynax_int(v, "lines[0].qty", -1), 3);
	cr_assert_str_eq(dynax_str(v, "lines[1]", ""), "second");
	cr_assert_str_eq(dynax_str(v, "lines[2]", "none"), "none");
	cr_assert_str_eq(dynax_str(v, "lines[x]", "none"), "none");
	cr_assert_str_eq(dynax_str(v, "lines[0].sku.deeper", "none"), "none");
	cr_assert_eq(dynax_type(dynax_at(v, "a.b")), DYNAX_TYPE_ABSENT);
	cr_assert_eq(dynax_int(dynax_member(v, "a.b"), "qty", -1), 3);
	cr_assert_eq(dynax_count(dynax_at(v, "lines")), 2u);
	cr_assert_eq(dynax_count(v), 2u);
}

Test(item, readers_by_type)
{
	struct dynax_value v, none = { NULL, 0, NULL };
	const void *p;
	size_t n;

	dynax_item_set_number(item, "half", "0.5");
	dynax_item_set_number(item, "big", "123456789012345678901234567890");
	dynax_item_set_int(item, "min", INT64_MIN);
	dynax_item_set_bin(item, "bin", "a\0b", 3);
	dynax_item_set_bool(item, "yes", true);
	v = dynax_item_value(item);
	cr_assert_eq(dynax_int(v, "half", 7), 7, "not an integer");
	cr_assert_eq(dynax_int(v, "big", 7), 7, "does not fit");
	cr_assert_eq(dynax_int(v, "min", 7), INT64_MIN);
	cr_assert_str_eq(dynax_number(v, "big", ""), "123456789012345678901234567890");
	cr_assert(fabs(dynax_double(v, "half", 0) - 0.5) < 1e-12);
	cr_assert(dynax_bool(v, "yes", false));
	cr_assert(dynax_bool(v, "half", true), "the default, as it is no BOOL");
	p = dynax_bytes(v, "bin", &n);
	cr_assert_eq(n, 3u);
	cr_assert_arr_eq(p, "a\0b", 3);
	cr_assert_null(dynax_bytes(v, "half", &n));
	cr_assert_eq(dynax_type(none), DYNAX_TYPE_ABSENT);
	cr_assert_null(dynax_json(none));
	cr_assert_str_eq(dynax_str(none, "x", "d"), "d");
	cr_assert_eq(dynax_count(none), 0u);
}

Test(item, cursors)
{
	static const char *const words[] = { "b", "a" };
	struct dynax_cursor c;

	dynax_item_set_str_set(item, "set", words, 2);
	dynax_item_set_int(item, "n", 1);
	c = dynax_each(dynax_item_value(item));
	cr_assert(dynax_next(&c));
	cr_assert_str_eq(c.name, "n");
	cr_assert(dynax_next(&c));
	cr_assert_str_eq(c.name, "set");
	cr_assert_not(dynax_next(&c));
	cr_assert_not(dynax_next(&c));
	c = dynax_each(dynax_at(dynax_item_value(item), "set"));
	cr_assert(dynax_next(&c));
	cr_assert_null(c.name);
	cr_assert_str_eq(dynax_str(c.value, NULL, ""), "a");
}

Test(item, from_json_and_back)
{
	static const char text[] = "{\"a\":{\"L\":[{\"N\":\"1\"},{\"M\":{\"x\":{\"B\":\"AQ==\"}}}]},\"b\":{\"SS\":[\"x\"]}}";
	struct dynax_item *copy = dynax_item_from_json(text);

	cr_assert_null(dynax_item_error(copy));
	cr_assert_str_eq(dynax_json(dynax_item_value(copy)), text);
	dynax_item_set_value(item, "copy", dynax_at(dynax_item_value(copy), "a[1].x"));
	expect_json("{\"copy\":{\"B\":\"AQ==\"}}");
	dynax_item_free(&copy);
}

Test(item, doubles_read_back)
{
	static const double v[] = { 0, 1, -1, 0.1, 1e100, 1e-100, 123456.789, 5e-130, 9007199254740993.0, 1.0 / 3 };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		dynax_item_set_double(item, "d", v[i]);
		cr_assert(dynax_double(dynax_item_value(item), "d", 0.5) == v[i], "%.17g", v[i]);
	}
}

static void expect_mistake(const char *part)
{
	cr_assert_not_null(dynax_item_error(item), "no mistake: %s", part);
	cr_assert_not_null(strstr(dynax_item_error(item), part), "\"%s\" in \"%s\"", part, dynax_item_error(item));
	dynax_item_set_int(item, "later", 1);
	cr_assert_eq(dynax_type(dynax_item_value(item)), DYNAX_TYPE_ABSENT);
	dynax_item_clear(item);
	cr_assert_null(dynax_item_error(item));
}

Test(item, mistakes)
{
	static const char *const twice[] = { "a", "a" }, *const equal[] = { "1", "1.0" }, *const bad[] = { "x" };
	struct dynax_item *wrong = dynax_item_new(), *json = dynax_item_from_json("{\"a\":{\"N\":1}}");

	dynax_item_set_number(item, "n", "12x");
	expect_mistake("not a number, at attribute 'n'");
	dynax_item_set_number(item, "n", "1e126");
	expect_mistake("too great");
	dynax_item_set_number(item, "n", "1e-131");
	expect_mistake("too small");
	dynax_item_set_number(item, "n", "123456789012345678901234567890123456789");
	expect_mistake("38");
	dynax_item_set_double(item, "n", NAN);
	expect_mistake("finite");
	dynax_item_set_str(item, "s", NULL);
	expect_mistake("NULL");
	dynax_item_set_str(item, "s", "\xff");
	expect_mistake("UTF-8");
	dynax_item_set_str(item, NULL, "x");
	expect_mistake("without a name");
	dynax_item_set_str_set(item, "ss", twice, 2);
	expect_mistake("two equal members");
	dynax_item_set_num_set(item, "ns", equal, 2);
	expect_mistake("two equal members");
	dynax_item_set_num_set(item, "ns", bad, 1);
	expect_mistake("not a number");
	dynax_item_set_str_set(item, "ss", NULL, 0);
	expect_mistake("without members");
	dynax_item_set_value(item, "v", dynax_at(dynax_item_value(item), "nothing"));
	expect_mistake("absent");
	dynax_item_set_number(wrong, "inner", "?");
	dynax_item_set_item(item, "outer", wrong);
	expect_mistake("outer");
	cr_assert_not_null(dynax_item_error(json));
	dynax_item_free(&wrong);
	dynax_item_free(&json);
}
