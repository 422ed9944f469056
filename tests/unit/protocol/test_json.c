/* test_json - JSON to records and back: what comes out is what went in, in canonical order; what is refused, and how. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/resource.h>

#include "protocol/json.h"
#include "protocol/value.h"

static struct json_reader *reader;
static struct arena arena;
static struct buf out;
static struct fault fault;

static void setup(void)
{
	reader = json_reader_new();
	arena_init(&arena, 0);
	buf_init(&out);
	fault_init(&fault, &arena);
}

static void teardown(void)
{
	json_reader_free(&reader);
	arena_release(&arena);
	buf_release(&out);
}

TestSuite(json, .init = setup, .fini = teardown);

static const char *text(void)
{
	buf_put_u8(&out, 0);
	return (const char *)out.p;
}

static enum err read_request(enum op op, const char *body, struct request *req)
{
	return json_read_request(reader, op, slice_str(body), &arena, req, &fault);
}

/* Read as op's request and write it again. */
static const char *again(enum op op, const char *body)
{
	struct request req;

	cr_assert_eq(read_request(op, body, &req), ERR_OK, "%s: %s", body, fault.text);
	cr_assert_eq(req.value_fault.code, ERR_OK, "%s: %s", body, req.value_fault.text);
	buf_clear(&out);
	json_write(&out, op_info[op].in, req.bytes);
	return text();
}

static void refused(enum op op, const char *body, const char *why)
{
	struct request req;

	cr_assert_eq(read_request(op, body, &req), ERR_SERIALIZATION, "%s", body);
	cr_assert_str_eq(fault.text, why, "%s: %s", body, fault.text);
}

static void value_fault(const char *value, const char *why)
{
	char body[4096];
	struct request req;

	snprintf(body, sizeof body, "{\"TableName\":\"t\",\"Item\":{\"a\":{\"S\":\"x\"},\"k\":%s}}", value);
	cr_assert_eq(read_request(OP_PutItem, body, &req), ERR_OK, "%s: %s", body, fault.text);
	cr_assert_eq(req.value_fault.code, ERR_VALIDATION, "%s", body);
	cr_assert_str_eq(req.value_fault.text, why, "%s: %s", body, req.value_fault.text);
	cr_assert_eq(req.value_place, VALUES_ITEM);
	cr_assert(slice_eq(req.value_key, SLICE_LIT("k")));
}

Test(json, every_type_there_and_back)
{
	static const char body[] =
	        "{\"Item\":{\"b\":{\"B\":\"AP8=\"},\"bool\":{\"BOOL\":true},\"bs\":{\"BS\":[\"\",\"AA==\"]},"
	        "\"e\":{\"S\":\"\"},\"l\":{\"L\":[{\"N\":\"-1.5\"},{\"L\":[]},{\"NULL\":true}]},"
	        "\"m\":{\"M\":{\"a\":{\"S\":\"1\"},\"b\":{\"M\":{}}}},\"n\":{\"N\":\"12\"},\"ns\":{\"NS\":[\"-1\","
	        "\"2\"]},"
	        "\"s\":{\"S\":\"x\"},\"ss\":{\"SS\":[\"a\",\"b\"]}},\"TableName\":\"t\"}";

	cr_assert_str_eq(again(OP_PutItem, body), body);
}

Test(json, order_becomes_canonical)
{
	cr_assert_str_eq(again(OP_PutItem, " { \"TableName\" : \"t\" , \"Item\":{\"b\":{\"NS\":[\"10\",\"9\",\"-3\"]},"
	                                   "\"a\":{\"SS\":[\"b\",\"\",\"a\"]},\"aa\":{\"M\":{\"z\":{\"N\":\"1e2\"},"
	                                   "\"y\":{\"N\":\"0.50\"}}}}}"),
	                 "{\"Item\":{\"a\":{\"SS\":[\"\",\"a\",\"b\"]},\"aa\":{\"M\":{\"y\":{\"N\":\"0.5\"},\"z\":{"
	                 "\"N\":\"100\"}}},"
	                 "\"b\":{\"NS\":[\"-3\",\"9\",\"10\"]}},\"TableName\":\"t\"}");
}

Test(json, equal_requests_are_equal_bytes)
{
	struct request a, b;

	cr_assert_eq(read_request(OP_GetItem,
	                          "{\"TableName\":\"t\",\"Key\":{\"p\":{\"N\":\"1\"},\"s\":{\"S\":\"\\u00e9\"}}}", &a),
	             ERR_OK);
	cr_assert_eq(read_request(OP_GetItem,
	                          "{\"Key\":{\"s\":{\"S\":\"\xc3\xa9\"},\"p\":{\"N\":\"01.0\"}},\"Nonsense\":[{}],"
	                          "\"TableName\":\"t\"}",
	                          &b),
	             ERR_OK);
	cr_assert(slice_eq(a.bytes, b.bytes));
}

Test(json, long_numbers_of_requests)
{
	cr_assert_str_eq(
	        again(OP_Query, "{\"Limit\":1.00000000000000000000000000000000000000000000000000000000000000000e3}"),
	        "{\"Limit\":1000}");
}

Test(json, names_of_attributes)
{
	static const char after[] = "\":{\"S\":\"a\"}}}";
	struct request req;

	value_fault("{\"M\":{\"\":{\"S\":\"a\"}}}", "One or more parameter values were invalid: Empty attribute name");
	for (unsigned more = 0; more < 2; more++) {
		buf_clear(&out);
		buf_printf(&out, "{\"Item\":{\"");
		for (unsigned i = 0; i < VALUE_NAME_MAX + more; i++)
			buf_put_u8(&out, 'n');
		buf_printf(&out, "%s", after);
		cr_assert_eq(json_read_request(reader, OP_PutItem, buf_slice(&out), &arena, &req, &fault), ERR_OK);
		cr_assert_eq(req.value_fault.code, more ? ERR_VALIDATION : ERR_OK);
	}
	cr_assert_str_eq(req.value_fault.text,
	                 "One or more parameter values were invalid: Attribute name is too large, must be "
	                 "less than 65536 bytes");
}

Test(json, nulls_and_unknown_names_are_absent)
{
	cr_assert_str_eq(again(OP_GetItem,
	                       "{\"x\":{\"a\":[1,{\"b\":null}]},\"ConsistentRead\":null,\"y\":3,\"TableName\":\"t\","
	                       "\"Key\":{\"p\":{\"S\":\"a\",\"N\":null,\"dog\":[\"cat\"],\"cat\":{\"x\":1},\"d\":2}}}"),
	                 "{\"Key\":{\"p\":{\"S\":\"a\"}},\"TableName\":\"t\"}");
	cr_assert_str_eq(again(OP_ListTables, "{}"), "{}");
}

Test(json, the_last_of_two_equal_names_counts)
{
	cr_assert_str_eq(again(OP_Query, "{\"Limit\":1,\"TableName\":\"a\",\"TableName\":\"b\",\"Limit\":2}"),
	                 "{\"Limit\":2,\"TableName\":\"b\"}");
	cr_assert_str_eq(
	        again(OP_GetItem, "{\"Key\":{\"p\":{\"S\":\"a\",\"S\":\"b\"},\"p\":{\"N\":\"1\",\"N\":\"2\"}}}"),
	        "{\"Key\":{\"p\":{\"N\":\"2\"}}}");
}

Test(json, numbers_of_requests)
{
	cr_assert_str_eq(again(OP_Query, "{\"Limit\":1e3}"), "{\"Limit\":1000}");
	cr_assert_str_eq(again(OP_Query, "{\"Limit\":1.0}"), "{\"Limit\":1}");
	cr_assert_str_eq(again(OP_Query, "{\"Limit\":1.9}"), "{\"Limit\":1}");
	cr_assert_str_eq(again(OP_Query, "{\"Limit\":-1.5}"), "{\"Limit\":-2}");
	cr_assert_str_eq(again(OP_Query, "{\"Limit\":-2147483648}"), "{\"Limit\":-2147483648}");
	refused(OP_Query, "{\"Limit\":2147483648}", "NUMBER_VALUE cannot be converted to Integer");
	refused(OP_Query, "{\"Limit\":1e300}", "DECIMAL_VALUE cannot be converted to Integer");
	refused(OP_Query, "{\"Limit\":99999999999999999999}", "NUMBER_VALUE cannot be converted to Integer");
	refused(OP_Query, "{\"Limit\":\"1\"}", "STRING_VALUE cannot be converted to Integer");
	refused(OP_Query, "{\"Limit\":true}", "TRUE_VALUE cannot be converted to Integer");
	refused(OP_Query, "{\"Limit\":[]}", "Unrecognized collection type class java.lang.Integer");
	refused(OP_Query, "{\"Limit\":{}}", "Start of structure or map found where not expected");
	refused(OP_UpdateTable, "{\"ProvisionedThroughput\":{\"ReadCapacityUnits\":\"1\"}}",
	        "STRING_VALUE cannot be converted to Long");
}

Test(json, booleans)
{
	cr_assert_str_eq(again(OP_GetItem, "{\"ConsistentRead\":\"Yes\"}"), "{\"ConsistentRead\":true}");
	cr_assert_str_eq(again(OP_GetItem, "{\"ConsistentRead\":\"1\"}"), "{\"ConsistentRead\":true}");
	cr_assert_str_eq(again(OP_GetItem, "{\"ConsistentRead\":\"FALSE\"}"), "{\"ConsistentRead\":false}");
	refused(OP_GetItem, "{\"ConsistentRead\":\"23\"}", "Unexpected token received from parser");
	refused(OP_GetItem, "{\"ConsistentRead\":23}", "NUMBER_VALUE cannot be converted to Boolean");
	refused(OP_GetItem, "{\"ConsistentRead\":34.56}", "DECIMAL_VALUE cannot be converted to Boolean");
	refused(OP_GetItem, "{\"ConsistentRead\":[]}", "Unrecognized collection type class java.lang.Boolean");
	refused(OP_GetItem, "{\"ConsistentRead\":{}}", "Start of structure or map found where not expected");
}

Test(json, wrong_kinds)
{
	static const char cast[] = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast "
	                           "to class java.lang.Class "
	                           "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class "
	                           "are in module java.base of "
	                           "loader 'bootstrap')";
	static const char attribute_map[] = "Unrecognized collection type java.util.Map<java.lang.String, "
	                                    "com.amazonaws.dynamodb.v20120810.AttributeValue>";

	refused(OP_GetItem, "{\"TableName\":23}", "NUMBER_VALUE cannot be converted to String");
	refused(OP_GetItem, "{\"TableName\":34.56}", "DECIMAL_VALUE cannot be converted to String");
	refused(OP_GetItem, "{\"TableName\":false}", "FALSE_VALUE cannot be converted to String");
	refused(OP_GetItem, "{\"TableName\":[]}", "Unrecognized collection type class java.lang.String");
	refused(OP_GetItem, "{\"TableName\":{}}", "Start of structure or map found where not expected");
	refused(OP_GetItem, "{\"Key\":23}", "Unexpected field type");
	refused(OP_GetItem, "{\"Key\":[]}", attribute_map);
	refused(OP_GetItem, "{\"Key\":{\"a\":1}}", "Unexpected value type in payload");
	refused(OP_GetItem, "{\"Key\":{\"a\":[]}}",
	        "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue");
	refused(OP_GetItem, "{\"AttributesToGet\":\"a\"}", "Unexpected field type");
	refused(OP_GetItem, "{\"AttributesToGet\":{}}", "Start of structure or map found where not expected");
	refused(OP_GetItem, "{\"AttributesToGet\":[1]}", "NUMBER_VALUE cannot be converted to String");
	refused(OP_GetItem, "{\"ExpressionAttributeNames\":[]}",
	        "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>");
	refused(OP_UpdateTable, "{\"ProvisionedThroughput\":\"x\"}", "Unexpected field type");
	refused(OP_UpdateTable, "{\"ProvisionedThroughput\":[]}",
	        "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ProvisionedThroughput");
	refused(OP_CreateTable, "{\"KeySchema\":[\"x\"]}", "Unexpected value type in payload");
	refused(OP_BatchWriteItem, "{\"RequestItems\":[]}",
	        "Unrecognized collection type java.util.Map<java.lang.String, "
	        "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>");
	refused(OP_BatchWriteItem, "{\"RequestItems\":{\"h\":1}}", cast);
	refused(OP_BatchWriteItem, "{\"RequestItems\":{\"h\":{}}}",
	        "Start of structure or map found where not expected");
	refused(OP_BatchGetItem, "{\"RequestItems\":{\"h\":{\"Keys\":[1]}}}", cast);
	refused(OP_BatchGetItem, "{\"RequestItems\":{\"h\":{\"Keys\":[[]]}}}", attribute_map);
	refused(OP_PutItem, "{\"Expected\":{\"a\":{\"Value\":1}}}", "Unexpected field type");
}

Test(json, wrong_kinds_of_values)
{
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"S\":3}}}", "NUMBER_VALUE cannot be converted to String");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"N\":3}}}", "NUMBER_VALUE cannot be converted to String");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"M\":{\"b\":{\"N\":3}}}}}",
	        "NUMBER_VALUE cannot be converted to String");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"NS\":[3]}}}", "NUMBER_VALUE cannot be converted to String");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"M\":{\"dog\":\"cat\"}}}}", "Unexpected value type in payload");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"B\":1}}}", "only base-64-encoded strings are convertible to bytes");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"B\":[]}}}", "Unrecognized collection type class java.nio.ByteBuffer");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"S\":{}}}}", "Start of structure or map found where not expected");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"SS\":\"a\"}}}", "Unexpected field type");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"SS\":{}}}}", "Start of structure or map found where not expected");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"SS\":[[]]}}}", "Unrecognized collection type class java.lang.String");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"SS\":[{}]}}}", "Start of structure or map found where not expected");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"L\":[1]}}}", "Unexpected value type in payload");
	refused(OP_PutItem, "{\"Item\":{\"a\":{\"M\":[]}}}",
	        "Unrecognized collection type java.util.Map<java.lang.String, "
	        "com.amazonaws.dynamodb.v20120810.AttributeValue>");
}

Test(json, base64_is_strict)
{
	static const char *const bad[][2] = {
		{ "YWJjZGVmZ2g", "Base64 encoded length is expected a multiple of 4 bytes but found: 11" },
		{ "YWJj?"
		  "?!!",
		  "Invalid Base64 character" },
		{ "YW=j", "Invalid Base64 character" },
		{ "YWJj\\nYWI", "Invalid Base64 character" },
		{ "====", "Invalid Base64 character" },
		{ "YWJ k===", "Invalid Base64 character" },
		{ "YR==", "Invalid last non-pad Base64 character dectected" },
		{ "YWJ=", "Invalid last non-pad Base64 character dectected" },
		{ "=+/=", "Invalid last non-pad Base64 character dectected" },
	};

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char body[128];

		snprintf(body, sizeof body, "{\"Item\":{\"a\":{\"B\":\"%s\"}}}", bad[i][0]);
		refused(OP_PutItem, body, bad[i][1]);
	}
}

/* Every length, so that each padding comes with each last byte. */
Test(json, bytes_there_and_back)
{
	uint8_t bytes[80];
	struct buf json;
	struct buf value;

	buf_init(&json);
	buf_init(&value);
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(255 - i * 37);
	for (unsigned n = 0; n <= sizeof bytes; n++) {
		buf_clear(&json);
		buf_clear(&value);
		buf_clear(&out);
		value_put_binary(&value, slice_of(bytes, n));
		json_write_value(&json, buf_slice(&value));
		cr_assert_eq(json_read(reader, &shape_AttributeValue, buf_slice(&json), &arena, &out, &fault), ERR_OK,
		             "%u", n);
		cr_assert(slice_eq(buf_slice(&out), buf_slice(&value)));
	}
	buf_release(&json);
	buf_release(&value);
}

Test(json, text_that_is_not_json_or_not_utf8)
{
	static const struct {
		const char *p;
		size_t n;
	} c[] = {
#define C(s) { s, sizeof(s) - 1 }
		C(""),
		C(" "),
		C("{"),
		C("}"),
		C("[]"),
		C("null"),
		C("1"),
		C("\"x\""),
		C("{}{}"),
		C("{} x"),
		C("{\"TableName\"}"),
		C("{\"TableName\":}"),
		C("{\"TableName\":\"t\",}"),
		C("{\"TableName\":\"t\"\"x\"}"),
		C("{'a':1}"),
		C("{\"a\":01}"),
		C("{\"TableName\":\"\xff\"}"),
		C("{\"TableName\":\"\xc0\x80\"}"),
		C("{\"TableName\":\"\xed\xa0\x80\"}"),
		C("{\"TableName\":\"\xf4\x90\x80\x80\"}"),
		C("{\"TableName\":\"\xc3\"}"),
		C("{\"\xff\":1}"),
		C("{\"TableName\":\"\\ud800\"}"),
		C("{\"TableName\":\"\\udc00\"}"),
		C("{\"TableName\":\"\\ud83d\\u0041\"}"),
		C("{\"TableName\":\"\\ud83dx\"}"),
		C("{\"TableName\":\"\\u12\"}"),
		C("{\"TableName\":\"a\nb\"}"),
		C("{\"Item\":{\"a\":{\"B\":\"\xff"
		  "dog\"}}}"),
		C("\xef\xbb\xbf{}"),
		C("{\"TableName\":\"t\"}\0"),
		C("nul"),
#undef C
	};

	for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++) {
		struct request req;
		enum err rc = json_read_request(reader, OP_GetItem, slice_of(c[i].p, c[i].n), &arena, &req, &fault);

		cr_assert_eq(rc, ERR_SERIALIZATION, "%u: %s", i, c[i].p);
		cr_assert_str_eq(fault.text, "", "%s: %s", c[i].p, fault.text);
	}
}

Test(json, escapes)
{
	cr_assert_str_eq(
	        again(OP_GetItem,
	              "{\"TableName\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u00e9\\ud83d\\ude00\\u0000z\x7f\"}"),
	        "{\"TableName\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\xc3\xa9\xf0\x9f\x98\x80\\u0000z\x7f\"}");
}

Test(json, value_faults)
{
	value_fault("{}", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
	value_fault("null", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
	value_fault("{\"dog\":\"cat\"}",
	            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
	value_fault("{\"S\":null}",
	            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
	value_fault("{\"M\":{\"y\":{\"dog\":\"cat\"}}}",
	            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
	value_fault("{\"S\":\"1\",\"N\":\"1\"}", "Supplied AttributeValue has more than one datatypes set, must "
	                                         "contain exactly one of the supported datatypes");
	value_fault("{\"L\":[],\"M\":{}}", "Supplied AttributeValue has more than one datatypes set, must contain "
	                                   "exactly one of the supported datatypes");
	value_fault(
	        "{\"NULL\":false}",
	        "One or more parameter values were invalid: Null attribute value types must have the value of true");
	value_fault(
	        "{\"NULL\":\"no\"}",
	        "One or more parameter values were invalid: Null attribute value types must have the value of true");
	value_fault("{\"SS\":[]}", "One or more parameter values were invalid: An string set  may not be empty");
	value_fault("{\"NS\":[]}", "One or more parameter values were invalid: An number set  may not be empty");
	value_fault("{\"BS\":[]}", "One or more parameter values were invalid: Binary sets should not be empty");
	value_fault("{\"SS\":[\"a\",\"a\"]}",
	            "One or more parameter values were invalid: Input collection [a, a] contains duplicates.");
	value_fault("{\"SS\":[\"b\",\"a\",\"b\"]}",
	            "One or more parameter values were invalid: Input collection [b, a, b] contains duplicates.");
	value_fault("{\"SS\":[\"\",\"\"]}",
	            "One or more parameter values were invalid: Input collection [, ] contains duplicates.");
	value_fault("{\"NS\":[\"1\",\"1.0\"]}", "Input collection contains duplicates");
	value_fault("{\"BS\":[\"Yg==\",\"Yg==\"]}", "One or more parameter values were invalid: Input collection "
	                                            "[Yg==, Yg==]of type BS contains duplicates.");
}

Test(json, number_faults)
{
	value_fault("{\"N\":\"\"}", "The parameter cannot be converted to a numeric value");
	value_fault("{\"N\":\"b\"}", "The parameter cannot be converted to a numeric value: b");
	value_fault("{\"S\":\"a\",\"N\":\"b\"}", "The parameter cannot be converted to a numeric value: b");
	value_fault("{\"NS\":[\"1\",\"\"]}", "The parameter cannot be converted to a numeric value");
	value_fault("{\"NS\":[\"1\",\"b\",\"1\"]}", "The parameter cannot be converted to a numeric value: b");
	value_fault("{\"N\":\"123456789012345678901234567890123456789\"}",
	            "Attempting to store more than 38 significant digits in a Number");
	value_fault("{\"N\":\"-1e126\"}",
	            "Number overflow. Attempting to store a number with magnitude larger than supported range");
	value_fault("{\"N\":\"1e-131\"}",
	            "Number underflow. Attempting to store a number with magnitude smaller than supported range");
}

Test(json, the_first_value_fault_of_the_foremost_parameter_counts)
{
	struct request req;

	cr_assert_eq(read_request(OP_PutItem,
	                          "{\"ExpressionAttributeValues\":{\":v\":{\"SS\":[]}},"
	                          "\"Item\":{\"b\":{\"N\":\"x\"},\"a\":{}},\"TableName\":\"t\"}",
	                          &req),
	             ERR_OK);
	cr_assert_eq(req.value_place, VALUES_ITEM);
	cr_assert_str_eq(req.value_fault.text, "The parameter cannot be converted to a numeric value: x");
	cr_assert(slice_eq(req.value_key, SLICE_LIT("b")));
	cr_assert_eq(read_request(OP_TransactWriteItems,
	                          "{\"TransactItems\":[{\"Put\":{\"ExpressionAttributeValues\":"
	                          "{\":v\":{\"L\":[{\"SS\":[]}]}}}}]}",
	                          &req),
	             ERR_OK);
	cr_assert_eq(req.value_place, VALUES_EXPRESSION);
	cr_assert(slice_eq(req.value_key, SLICE_LIT(":v")));
	cr_assert_eq(read_request(OP_Query,
	                          "{\"ExclusiveStartKey\":{\"a\":{}},\"ExpressionAttributeValues\":{\":v\":{}},"
	                          "\"KeyConditions\":{\"k\":{\"AttributeValueList\":[{}]}},"
	                          "\"QueryFilter\":{\"k\":{\"AttributeValueList\":[{\"N\":\"x\"}]}}}",
	                          &req),
	             ERR_OK);
	cr_assert_eq(req.value_place, VALUES_FILTER);
	cr_assert_str_eq(req.value_fault.text, "The parameter cannot be converted to a numeric value: x");
}

/* A body of `levels` maps around a string. */
static struct slice deep(unsigned levels)
{
	struct buf b;
	struct slice s;

	buf_init(&b);
	buf_printf(&b, "{\"TableName\":\"t\",\"Item\":{\"d\":");
	for (unsigned i = 0; i < levels; i++)
		buf_printf(&b, i % 2 ? "{\"L\":[" : "{\"M\":{\"a\":");
	buf_printf(&b, "{\"S\":\"x\"}");
	for (unsigned i = levels; i-- > 0;)
		buf_printf(&b, i % 2 ? "]}" : "}}");
	buf_printf(&b, "}}");
	s = arena_copy(&arena, buf_slice(&b));
	buf_release(&b);
	return s;
}

Test(json, nesting)
{
	struct request req;

	cr_assert_eq(json_read_request(reader, OP_PutItem, deep(31), &arena, &req, &fault), ERR_OK);
	cr_assert_eq(req.value_fault.code, ERR_OK);
	cr_assert(item_check(req.in.m[PutItemInput_Item]));
	buf_clear(&out);
	json_write(&out, &shape_PutItemInput, req.bytes);
	cr_assert_eq(json_read_request(reader, OP_PutItem, deep(32), &arena, &req, &fault), ERR_OK);
	cr_assert_str_eq(req.value_fault.text,
	                 "Nesting Levels have exceeded supported limits: Attributes in the item have "
	                 "nested levels beyond supported limit");
	cr_assert_eq(json_read_request(reader, OP_PutItem, deep(50000), &arena, &req, &fault), ERR_OK);
	cr_assert_eq(req.value_fault.code, ERR_VALIDATION);
}

Test(json, brackets_without_end)
{
	static const char *const open[] = { "[", "{\"a\":", "{\"Item\":{\"d\":{\"L\":[{\"L\":[" };
	static const char *const start[] = { "", "{\"x\":", "{\"Item\":{\"a\":", "{\"Item\":{\"a\":{\"L\":" };

	for (unsigned s = 0; s < 4; s++) {
		for (unsigned i = 0; i < 3; i++) {
			struct request req;

			buf_clear(&out);
			buf_printf(&out, "%s", start[s]);
			for (unsigned n = 0; n < 100000; n++)
				buf_printf(&out, "%s", open[i]);
			cr_assert_eq(json_read_request(reader, OP_PutItem, buf_slice(&out), &arena, &req, &fault),
			             ERR_SERIALIZATION);
		}
	}
}

/* More than 15 members, attributes and elements: heads of three bytes, and sorting behind them. */
Test(json, large_containers)
{
	struct buf body, want;

	buf_init(&body);
	buf_init(&want);
	buf_printf(&body, "{\"Item\":{");
	buf_printf(&want, "{\"Item\":{");
	for (unsigned i = 0; i < 1000; i++) {
		buf_printf(&body, "%s\"%04u\":{\"L\":[{\"N\":\"%u\"}]}", i ? "," : "", 999 - i, 999 - i);
		buf_printf(&want, "%s\"%04u\":{\"L\":[{\"N\":\"%u\"}]}", i ? "," : "", i, i);
	}
	buf_printf(&body, "}}");
	buf_printf(&want, "}}");
	buf_put_u8(&body, 0);
	buf_put_u8(&want, 0);
	cr_assert_str_eq(again(OP_PutItem, (const char *)body.p), (const char *)want.p);
	buf_release(&body);
	buf_release(&want);
}

Test(json, doubles_as_the_service_prints_them)
{
	static const struct {
		double v;
		const char *text;
	} c[] = {
		{ 0, "0.0" },
		{ 0.5, "0.5" },
		{ 1, "1.0" },
		{ 5, "5.0" },
		{ 1234.5, "1234.5" },
		{ -0.5, "-0.5" },
		{ 0.25, "0.25" },
		{ 0.1, "0.1" },
		{ 0.001, "0.001" },
		{ 0.0001, "1.0E-4" },
		{ 123456.789, "123456.789" },
		{ 1e7, "1.0E7" },
		{ 9999999, "9999999.0" },
		{ 1700000000, "1.7E9" },
		{ 1700000000.123, "1.700000000123E9" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 12345678.9, "1.23456789E7" },
		{ 100.03, "100.03" },
	};

	for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++) {
		struct buf v;

		buf_init(&v);
		buf_clear(&out);
		mp_put_double(&v, c[i].v);
		json_write(&out, &shape_ConsumedCapacityUnits, buf_slice(&v));
		cr_assert_str_eq(text(), c[i].text);
		buf_release(&v);
	}
}

Test(json, faults)
{
	struct buf detail;
	unsigned n = 0;
	size_t at;

	fault_set(&fault, ERR_VALIDATION, "bad \"%s\" \xff", "x");
	json_write_fault(&out, &fault);
	cr_assert_str_eq(
	        text(),
	        "{\"__type\":\"com.amazon.coral.validate#ValidationException\",\"message\":\"bad \\\"x\\\" \\ufffd\"}");

	buf_clear(&out);
	fault_set(&fault, ERR_SERIALIZATION, "%s", "");
	json_write_fault(&out, &fault);
	cr_assert_str_eq(text(), "{\"__type\":\"com.amazon.coral.service#SerializationException\"}");

	buf_init(&detail);
	at = record_begin(&detail);
	record_key(&detail, &n, ConditionalCheckFailedException_Item);
	buf_put_slice(&detail, SLICE_LIT("\x81\xa1p\xa1x"));
	record_end(&detail, at, n);
	buf_clear(&out);
	fault_set(&fault, ERR_CONDITION_FAILED, "The conditional request failed");
	fault.detail = buf_slice(&detail);
	json_write_fault(&out, &fault);
	cr_assert_str_eq(text(), "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException\","
	                         "\"message\":\"The conditional request failed\",\"Item\":{\"p\":{\"S\":\"x\"}}}");

	buf_clear(&out);
	fault_set(&fault, ERR_TRANSACTION_CANCELED, "cancelled");
	json_write_fault(&out, &fault);
	cr_assert_str_eq(text(), "{\"__type\":\"com.amazonaws.dynamodb.v20120810#TransactionCanceledException\","
	                         "\"Message\":\"cancelled\"}");
	buf_release(&detail);
}

Test(json, any_shape)
{
	static const char body[] = "{\"Count\":1,\"Items\":[{\"a\":{\"S\":\"b\"}}],\"ScannedCount\":2}";

	cr_assert_eq(json_read(reader, &shape_QueryOutput,
	                       SLICE_LIT("{\"ScannedCount\":2,\"Items\":[{\"a\":{\"S\":\"b\"}}],\"Count\":1}"), &arena,
	                       &out, &fault),
	             ERR_OK);
	struct slice record = arena_copy(&arena, buf_slice(&out));
	buf_clear(&out);
	json_write(&out, &shape_QueryOutput, record);
	cr_assert_str_eq(text(), body);
	cr_assert_eq(json_read(reader, &shape_AttributeMap, SLICE_LIT("{\"a\":{\"SS\":[]}}"), &arena, &out, &fault),
	             ERR_VALIDATION);
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
/* With less and less address space every allocation on the way gets its turn to fail: yajl's, the buffers', the arena's. */
Test(json, out_of_memory_is_an_answer)
{
	const unsigned body_bytes = 8 << 20;
	struct rlimit all, less;
	unsigned refused_count = 0, read_count = 0;
	unsigned long pages;
	FILE *statm;

	buf_printf(&out, "{\"TableName\":\"t\",\"Item\":{\"b\":{\"S\":\"\\n");
	while (out.n < body_bytes)
		buf_put(&out, "abcdefghijklmnop", 16);
	buf_printf(&out, "\"},\"a\":{\"S\":\"x\"}}}");
	cr_assert_eq(getrlimit(RLIMIT_AS, &all), 0);
	for (unsigned mb = 0; mb < 80; mb += 2) {
		struct request req;
		struct arena a;
		enum err rc;

		statm = fopen("/proc/self/statm", "r");
		cr_assert(statm != NULL && fscanf(statm, "%lu", &pages) == 1);
		fclose(statm);
		less = all;
		less.rlim_cur = pages * 4096 + ((rlim_t)mb << 20);
		arena_init(&a, 0);
		cr_assert_eq(setrlimit(RLIMIT_AS, &less), 0);
		rc = json_read_request(reader, OP_PutItem, buf_slice(&out), &a, &req, NULL);
		cr_assert_eq(setrlimit(RLIMIT_AS, &all), 0);
		cr_assert(rc == ERR_OK || rc == ERR_NO_MEMORY, "%u MB: %d", mb, rc);
		refused_count += rc != ERR_OK;
		read_count += rc == ERR_OK;
		arena_release(&a);
	}
	cr_assert_gt(refused_count, 3u);
	cr_assert_gt(read_count, 3u);
}
#endif

/* ---- the record alone ---- */

static bool read_record(const char *body, struct slice *record)
{
	return json_read_record(reader, OP_GetItem, slice_str(body), record);
}

Test(json, record_alone_is_the_request_s)
{
	static const char body[] = "{\"TableName\":\"t\",\"Key\":{\"k\":{\"S\":\"\\u00e4\"},\"a\":{\"N\":\"1.0\"}}}";
	struct request req;
	struct slice record;

	cr_assert_eq(read_request(OP_GetItem, body, &req), ERR_OK);
	for (int i = 0; i < 3; i++) {
		cr_assert(read_record(body, &record));
		cr_assert(slice_eq(record, req.bytes));
	}
}

Test(json, record_alone_is_refused_where_there_is_a_fault)
{
	struct slice record;

	cr_assert_not(read_record("{\"TableName\":1}", &record));
	cr_assert_not(read_record("{\"TableName\":\"t\"", &record));
	cr_assert_not(read_record("{\"TableName\":\"t\",\"Key\":{\"k\":{\"N\":\"x\"}}}", &record));
	cr_assert(read_record("{\"TableName\":\"t\"}", &record));
}
