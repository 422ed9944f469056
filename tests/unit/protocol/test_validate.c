/* test_validate - the constraint list, sentence by sentence, through JSON requests; and what precedes and follows it. */
#include <criterion/criterion.h>
#include <regex.h>
#include <stdio.h>

#include "protocol/json.h"

static struct json_reader *reader;
static struct arena arena;
static struct fault fault;

static void setup(void)
{
	reader = json_reader_new();
	arena_init(&arena, 0);
	fault_init(&fault, &arena);
}

static void teardown(void)
{
	json_reader_free(&reader);
	arena_release(&arena);
}

TestSuite(validate, .init = setup, .fini = teardown);

static enum err check(enum op op, const char *body)
{
	struct request req;

	cr_assert_eq(json_read_request(reader, op, slice_str(body), &arena, &req, &fault), ERR_OK, "%s: %s", body,
	             fault.text);
	enum err rc = request_check(&req, &fault);

	return rc == ERR_OK ? request_check_values(&req, VALUES_KEY_CONDITIONS, &fault) : rc;
}

static void fine(enum op op, const char *body)
{
	cr_assert_eq(check(op, body), ERR_OK, "%s: %s", body, fault.text);
}

static void refused(enum op op, const char *body, const char *why)
{
	cr_assert_eq(check(op, body), ERR_VALIDATION, "%s", body);
	cr_assert_str_eq(fault.text, why, "%s:\n%s", body, fault.text);
}

static void refused_like(enum op op, const char *body, const char *pattern)
{
	regex_t re;

	cr_assert_eq(check(op, body), ERR_VALIDATION, "%s", body);
	cr_assert_eq(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	cr_assert_eq(regexec(&re, fault.text, 0, NULL, 0), 0, "%s", fault.text);
	regfree(&re);
}

static const char *repeat(const char *before, const char *piece, unsigned n, const char *after)
{
	struct buf b;
	struct slice s;

	buf_init(&b);
	buf_printf(&b, "%s", before);
	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, "%s", piece);
	buf_printf(&b, "%s", after);
	s = arena_copy(&arena, buf_slice(&b));
	buf_release(&b);
	return (const char *)s.p;
}

#define ONE "1 validation error detected: "
#define KEY "\"Key\":{\"p\":{\"S\":\"a\"}}"

Test(validate, right_requests)
{
	fine(OP_GetItem, "{\"TableName\":\"abc\"," KEY "}");
	fine(OP_GetItem, "{\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/abc\"," KEY "}");
	fine(OP_ListTables, "{}");
	fine(OP_Scan, "{\"TableName\":\"a-_.9\",\"Limit\":1,\"Segment\":0,\"TotalSegments\":1000000}");
	fine(OP_BatchWriteItem, "{\"RequestItems\":{\"abc\":[{\"PutRequest\":{\"Item\":{}}}]}}");
}

Test(validate, table_names)
{
	char body[600], want[800], name[257];

	refused(OP_PutItem, "{\"Item\":{}}",
	        ONE "Value null at 'tableName' failed to satisfy constraint: Member must not be null");
	refused(OP_PutItem, "{\"TableName\":\"\",\"Item\":{}}",
	        ONE "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or "
	            "equal to 1");
	refused(OP_PutItem, "{\"TableName\":\"bad table!@#\",\"Item\":{}}",
	        ONE "Value 'bad table!@#' at 'tableName' failed to satisfy constraint: Member must satisfy regular "
	            "expression "
	            "pattern: [a-zA-Z0-9_.-]+");
	refused(OP_CreateTable,
	        "{\"TableName\":\"ab\",\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"}],"
	        "\"AttributeDefinitions\":[]}",
	        ONE "Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or "
	            "equal to 3");
	refused(OP_Query, "{\"TableName\":\"a;\"}",
	        "2 validation errors detected: Value 'a;' at 'tableName' failed to satisfy constraint: Member must "
	        "satisfy regular "
	        "expression pattern: [a-zA-Z0-9_.-]+; Value 'a;' at 'tableName' failed to satisfy constraint: Member "
	        "must have "
	        "length greater than or equal to 3");
	memset(name, 'a', 256);
	name[256] = 0;
	snprintf(body, sizeof body, "{\"TableName\":\"%s\",\"Item\":{}}", name);
	snprintf(want, sizeof want,
	         ONE "Value '%s' at 'tableName' failed to satisfy constraint: Member must have length less than "
	             "or equal to 255",
	         name);
	refused(OP_PutItem, body, want);
	name[255] = 0;
	snprintf(body, sizeof body, "{\"TableName\":\"%s\",\"Item\":{}}", name);
	fine(OP_PutItem, body);
	refused(OP_Query, "{\"TableName\":\"abc\",\"IndexName\":\"\"}",
	        "2 validation errors detected: Value '' at 'indexName' failed to satisfy constraint: Member must "
	        "satisfy regular "
	        "expression pattern: [a-zA-Z0-9_.-]+; Value '' at 'indexName' failed to satisfy constraint: Member "
	        "must have length "
	        "greater than or equal to 3");
}

Test(validate, length_counts_utf16_units)
{
	fine(OP_TagResource,
	     repeat("{\"ResourceArn\":\"a\",\"Tags\":[{\"Value\":\"\",\"Key\":\"", "\xc3\xa9", 128, "\"}]}"));
	fine(OP_TagResource,
	     repeat("{\"ResourceArn\":\"a\",\"Tags\":[{\"Value\":\"\",\"Key\":\"", "\xf0\x9f\x98\x80", 64, "\"}]}"));
	refused_like(
	        OP_TagResource,
	        repeat("{\"ResourceArn\":\"a\",\"Tags\":[{\"Value\":\"\",\"Key\":\"", "\xf0\x9f\x98\x80", 65, "\"}]}"),
	        "at 'tags.1.member.key' failed to satisfy constraint: Member must have length less than or equal to "
	        "128$");
}

Test(validate, enumerations)
{
	refused(OP_Query, "{\"TableName\":\"abc\",\"Select\":\"INVALID_VALUE\"}",
	        ONE
	        "Value 'INVALID_VALUE' at 'select' failed to satisfy constraint: Member must satisfy enum value set: "
	        "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]");
	refused(OP_PutItem,
	        "{\"TableName\":\"abc\",\"Item\":{},\"ReturnValues\":\"hi\",\"ReturnConsumedCapacity\":\"none\","
	        "\"ConditionalOperator\":\"XOR\"}",
	        "3 validation errors detected: Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: "
	        "Member must satisfy "
	        "enum value set: [OR, AND]; Value 'none' at 'returnConsumedCapacity' failed to satisfy constraint: "
	        "Member must "
	        "satisfy enum value set: [INDEXES, TOTAL, NONE]; Value 'hi' at 'returnValues' failed to satisfy "
	        "constraint: Member "
	        "must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]");
}

Test(validate, create_table)
{
#define DEFS "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}]"
	refused(OP_CreateTable, "{}", "The parameter 'TableName' is required but was not present in the request");
	refused(OP_CreateTable,
	        "{\"TableName\":\"abc\"," DEFS ",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"INVALID\"}]}",
	        ONE "Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy "
	            "enum value "
	            "set: [HASH, RANGE]");
	refused(OP_CreateTable,
	        "{\"TableName\":\"abc\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"X\"}],"
	        "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]}",
	        ONE "Value 'X' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member "
	            "must satisfy "
	            "enum value set: [B, N, S]");
	refused(OP_CreateTable,
	        "{\"TableName\":\"abc\"," DEFS ",\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},"
	        "{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"},{\"AttributeName\":\"c\",\"KeyType\":\"RANGE\"}]}",
	        ONE "Value '[KeySchemaElement(attributeName=a, keyType=HASH), KeySchemaElement(attributeName=b, "
	            "keyType=RANGE), "
	            "KeySchemaElement(attributeName=c, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: "
	            "Member must "
	            "have length less than or equal to 2");
	refused(OP_CreateTable, "{\"TableName\":\"abc\"}",
	        "2 validation errors detected: Value null at 'attributeDefinitions' failed to satisfy constraint: "
	        "Member must not be "
	        "null; Value null at 'keySchema' failed to satisfy constraint: Member must not be null");
	refused(OP_CreateTable, "{\"TableName\":\"abc\"," DEFS ",\"KeySchema\":[null]}",
	        "2 validation errors detected: Value null at 'keySchema.1.member.attributeName' failed to satisfy "
	        "constraint: Member "
	        "must not be null; Value null at 'keySchema.1.member.keyType' failed to satisfy constraint: Member "
	        "must not be null");
	refused_like(
	        OP_UpdateTable,
	        "{\"TableName\":\"abc\",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":0,\"WriteCapacityUnits\":-3}}",
	        "^2 .*Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must "
	        "have value "
	        "greater than or equal to 1; Value '-3' at 'provisionedThroughput.writeCapacityUnits'");
}

Test(validate, ranges)
{
	refused(OP_Scan, "{\"TableName\":\"abc\",\"Limit\":0}",
	        ONE
	        "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1");
	refused(OP_Scan, "{\"TableName\":\"abc\",\"Segment\":1000000}",
	        ONE "Value '1000000' at 'segment' failed to satisfy constraint: Member must have value less than or "
	            "equal to 999999");
	refused(OP_ListTables, "{\"Limit\":101}",
	        ONE "Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to "
	            "100");
}

Test(validate, the_newer_sentences)
{
	refused(OP_Query, "{\"TableName\":\"abc\",\"Limit\":0}",
	        ONE "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1");
	refused_like(OP_Query, "{\"TableName\":\"abc\",\"Limit\":0,\"Select\":\"x\"}",
	             "^1 validation error detected: Value 'x' at 'select'");
	refused(OP_BatchGetItem, repeat("{\"RequestItems\":{\"abc\":{\"Keys\":[{}", ",{}", 100, "]}}}"),
	        ONE "Value at 'RequestItems.abc.member.Keys' failed to satisfy constraint: Member must have length "
	            "less than or equal "
	            "to 100");
}

Test(validate, batches)
{
	refused(OP_BatchGetItem, "{\"RequestItems\":{}}", "The requestItems parameter is required for BatchGetItem");
	refused(OP_BatchWriteItem, "{\"RequestItems\":{}}",
	        "The requestItems parameter is required for BatchWriteItem");
	refused(OP_BatchWriteItem, "{\"RequestItems\":null}",
	        ONE "Value null at 'requestItems' failed to satisfy constraint: Member must not be null");
	refused_like(OP_BatchWriteItem,
	             repeat("{\"RequestItems\":{\"abc\":[{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"a\"}}}}",
	                    ",{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"a\"}}}}", 25, "]}}"),
	             "^1 validation error detected: Value '\\{abc=\\[.+\\]\\}' at 'requestItems' failed to satisfy "
	             "constraint: Map value must "
	             "satisfy constraint: \\[Member must have length less than or equal to 25, Member must have length "
	             "greater than or "
	             "equal to 1\\]$");
	refused_like(OP_BatchWriteItem, "{\"RequestItems\":{\"aa;\":[{\"PutRequest\":{},\"DeleteRequest\":{}}]}}",
	             "^3 validation errors detected: Value '\\{.+\\}' at 'requestItems' failed to satisfy constraint: "
	             "Map keys must satisfy "
	             "constraint: \\[Member must have length less than or equal to 255, Member must have length "
	             "greater than or equal to "
	             "3, Member must satisfy regular expression pattern: \\[a-zA-Z0-9_.-\\]\\+\\]; Value null at "
	             "'requestItems.aa;.member.1.member.deleteRequest.key' failed to satisfy constraint: Member must "
	             "not be null; Value "
	             "null at 'requestItems.aa;.member.1.member.putRequest.item' failed");
	refused_like(OP_BatchWriteItem, "{\"RequestItems\":{\"abc\":[]}}", "Map value must satisfy constraint");
	refused(OP_TransactWriteItems, "{\"TransactItems\":[]}",
	        ONE "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than "
	            "or equal to 1");
	refused_like(OP_TransactGetItems,
	             repeat("{\"TransactItems\":[{\"Get\":{\"TableName\":\"abc\",\"Key\":{\"p\":{\"S\":\"a\"}}}}",
	                    ",{\"Get\":{\"TableName\":\"abc\",\"Key\":{\"p\":{\"S\":\"a\"}}}}", 100, "]}"),
	             "^1 validation error detected: Value '\\[.+\\]' at 'transactItems' failed to satisfy constraint: "
	             "Member must have "
	             "length less than or equal to 100$");
}

Test(validate, at_most_ten_and_bounded)
{
	const char *body = repeat("{\"TransactItems\":[{}", ",{\"Put\":{}}", 40, "]}");

	cr_assert_eq(check(OP_TransactWriteItems, body), ERR_VALIDATION);
	cr_assert_eq(strncmp(fault.text, "10 validation errors detected: ", 31), 0, "%s", fault.text);
	body = repeat("{\"TransactItems\":[{\"Put\":{\"TableName\":\"", "a!", 500000, "\",\"Item\":{}}}]}");
	cr_assert_eq(check(OP_TransactWriteItems, body), ERR_VALIDATION);
}

Test(validate, value_faults_in_the_words_of_their_place)
{
	refused(OP_PutItem, "{\"TableName\":\"abc\",\"Item\":{\"a\":{\"SS\":[]}}}",
	        "One or more parameter values were invalid: An string set  may not be empty");
	refused(OP_UpdateItem, "{\"TableName\":\"abc\"," KEY ",\"ExpressionAttributeValues\":{\":v\":{\"N\":\"x\"}}}",
	        "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric "
	        "value: x for key :v");
	refused(OP_Scan, "{\"TableName\":\"abc\",\"ExclusiveStartKey\":{\"a\":{}}}",
	        "The provided starting key is invalid: Supplied AttributeValue is empty, must contain exactly one of "
	        "the supported "
	        "datatypes");
	refused(OP_Scan, "{\"TableName\":\"abc\",\"ExclusiveStartKey\":{\"a\":{\"N\":\"x\"}}}",
	        "The parameter cannot be converted to a numeric value: x");
	refused(OP_PutItem, "{\"TableName\":\"abc\",\"Item\":{},\"ExpressionAttributeValues\":{\"\":{\"S\":\"a\"}}}",
	        "ExpressionAttributeValues contains invalid key: The expression attribute map contains an empty key;");
	refused(OP_PutItem, "{\"TableName\":\"abc\",\"Item\":{\"\":{\"S\":\"a\"}}}",
	        "One or more parameter values were invalid: Empty attribute name");
	refused(OP_PutItem, "{\"TableName\":\"\",\"Item\":{\"a\":{\"SS\":[]}}}",
	        ONE "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or "
	            "equal to 1");
}

Test(validate, without_an_arena_for_texts)
{
	struct fault bare;
	struct request req;

	cr_assert_eq(json_read_request(reader, OP_GetItem, SLICE_LIT("{}"), &arena, &req, &fault), ERR_OK);
	fault_init(&bare, NULL);
	cr_assert_eq(request_check(&req, &bare), ERR_VALIDATION);
	cr_assert_eq(request_check(&req, NULL), ERR_VALIDATION);
}
