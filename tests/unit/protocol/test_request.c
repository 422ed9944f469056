/* test_request - records from a msgpack peer: what is a request, and what is not in its one canonical form. */
#include <criterion/criterion.h>

#include "protocol/request.h"

static void good(const struct shape *s, struct slice bytes)
{
	cr_assert_eq(record_check(s, bytes, NULL), ERR_OK);
}

static void bad_bytes(const struct shape *s, struct slice bytes, const char *what)
{
	struct fault f;

	fault_init(&f, NULL);
	cr_assert_eq(record_check(s, bytes, &f), ERR_SERIALIZATION, "%s", what);
	cr_assert_eq(f.code, ERR_SERIALIZATION);
}

#define GOOD(shape, bytes) good(&shape_##shape, SLICE_LIT(bytes))
#define BAD(shape, bytes) bad_bytes(&shape_##shape, SLICE_LIT(bytes), #bytes)

Test(request, open)
{
	struct arena a;
	struct request r;

	arena_init(&a, 0);
	cr_assert_eq(request_open(&r, OP_GetItem, SLICE_LIT("\x81\x01\xc3"), &a, NULL), ERR_OK);
	cr_assert_eq(r.op, OP_GetItem);
	cr_assert(record_bool(&r.in, GetItemInput_ConsistentRead));
	cr_assert_eq(r.value_fault.code, ERR_OK);
	cr_assert_eq(request_open(&r, OP_GetItem, SLICE_LIT("\x81\x63\xc3"), &a, NULL), ERR_SERIALIZATION);
	arena_release(&a);
}

Test(record_check, members)
{
	GOOD(GetItemInput, "\x80");
	GOOD(GetItemInput, "\x82\x01\xc3\x06\xa3"
	                   "abc");
	BAD(GetItemInput, "");
	BAD(GetItemInput, "\x80\x80");
	BAD(GetItemInput, "\x81\x01\x01"); /* a boolean */
	BAD(GetItemInput, "\x81\x01\xc0"); /* null */
	BAD(GetItemInput, "\x82\x06\xa3"
	                  "abc\x01\xc3");          /* order */
	BAD(GetItemInput, "\x82\x01\xc3\x01\xc3"); /* twice */
	BAD(GetItemInput, "\x81\x07\xc3");         /* no such member */
	BAD(GetItemInput, "\x81\xcc\x01\xc3");     /* an identifier in a longer form */
	BAD(GetItemInput, "\xde\x00\x01\x01\xc3"); /* a head in a longer form */
	BAD(GetItemInput, "\x81\x06\xd9\x03"
	                  "abc");               /* a string in a longer form */
	BAD(GetItemInput, "\x81\x06\xa1\xff");  /* not UTF-8 */
	BAD(GetItemInput, "\x81\x06\xc4\x01x"); /* bytes for a string */
}

Test(record_check, lists_and_maps)
{
	GOOD(GetItemInput, "\x81\x00\x92\xa1"
	                   "b\xa1"
	                   "a");
	BAD(GetItemInput, "\x81\x00\x92\xa1"
	                  "b");
	BAD(GetItemInput, "\x81\x00\xdc\x00\x01\xa1"
	                  "b");
	GOOD(GetItemInput, "\x81\x02\x82\xa2#a\xa1x\xa2#b\xa1x");
	BAD(GetItemInput, "\x81\x02\x82\xa2#b\xa1x\xa2#a\xa1x");
	BAD(GetItemInput, "\x81\x02\x82\xa2#a\xa1x\xa2#a\xa1x");
	BAD(GetItemInput, "\x81\x02\x81\x01\xa1x");
	BAD(GetItemInput, "\x81\x02\xdf\xff\xff\xff\xff");
}

Test(record_check, integers_in_their_shortest_form)
{
	GOOD(QueryInput, "\x81\x0a\x7f");
	GOOD(QueryInput, "\x81\x0a\xe0");
	GOOD(QueryInput, "\x81\x0a\xcc\x80");
	GOOD(QueryInput, "\x81\x0a\xce\x7f\xff\xff\xff");
	BAD(QueryInput, "\x81\x0a\xce\x80\x00\x00\x00"); /* beyond an int */
	BAD(QueryInput, "\x81\x0a\xcc\x7f");
	BAD(QueryInput, "\x81\x0a\xcd\x00\x80");
	BAD(QueryInput, "\x81\x0a\xd0\x05");
	BAD(QueryInput, "\x81\x0a\xd1\x00\xff"); /* positive in a signed form */
	BAD(QueryInput, "\x81\x0a\xd0\xff");
	BAD(QueryInput, "\x81\x0a\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00");
	BAD(ConsumedCapacityUnits, "\x01");
	GOOD(ConsumedCapacityUnits, "\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00");
	BAD(ConsumedCapacityUnits, "\xca\x3f\x80\x00\x00");
	BAD(ConsumedCapacityUnits, "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00");
	BAD(ConsumedCapacityUnits, "\xcb\x80\x00\x00\x00\x00\x00\x00\x00");
}

Test(record_check, values)
{
	GOOD(GetItemInput, "\x81\x03\x82\xa1p\xa1x\xa1q\xd4\x01\x80");
	BAD(GetItemInput, "\x81\x03\x82\xa1q\xa1x\xa1p\xd4\x01\x80"); /* order of names */
	BAD(GetItemInput, "\x81\x03\x81\xa1p\xd4\x01\x00");           /* no number */
	BAD(GetItemInput, "\x81\x03\x81\xa1p\xd4\x02\x90");           /* an empty set */
	BAD(GetItemInput, "\x81\x03\x81\xa1p\xd4\x09\x80");           /* no such type */
	BAD(GetItemInput, "\x81\x03\xa1x");
}

Test(record_check, hostile_nesting)
{
	static uint8_t bytes[1 << 16];

	bytes[0] = 0x81;
	bytes[1] = PutItemInput_Item;
	bytes[2] = 0x81;
	bytes[3] = 0xa0;
	memset(bytes + 4, 0x91, sizeof bytes - 4);
	bad_bytes(&shape_PutItemInput, slice_of(bytes, sizeof bytes), "nesting");
}
