"""What users of DynamoDB's compatibles stumbled over in values and keys: numbers, strings, sets, documents, key lengths."""

import time

import pytest
from doors import BS, NS, SS, N, definitions, index, item, values

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
SCHEMA = "The provided key element does not match the schema"


@pytest.fixture(scope="module")
def plain(db):
    return db.create("S")


# ---- numbers ----

@pytest.mark.parametrize("given, read", [
    ("12345678901234567890123456789012345678", None), ("9876543210123456" + "0" * 24, None),
    ("00042", "42"), ("1.0", "1"), ("3.1400", "3.14"), ("-0", "0"), ("1.5E2", "150"), ("+5", "5"), (".5", "0.5"), ("5.", "5"),
    ("1e-3", "0.001"), ("0e125", "0"), ("1E125", "1" + "0" * 125), ("-1e-130", "-0." + "0" * 129 + "1"),
])
def test_numbers_read_back_in_one_form(db, plain, given, read):
    db.put(plain, pk="n", n=N(given), l=[N(given)], s=NS(given))
    got = db.get(plain, pk="n")
    assert [got["n"]["N"], got["l"]["L"][0]["N"], got["s"]["NS"][0]] == [read or given] * 3


@pytest.mark.parametrize("number, complaint", [
    ("1" * 39, "Attempting to store more than 38 significant digits in a Number"),
    ("1e126", OVERFLOW), ("-1e126", OVERFLOW), ("1.0e100000000", OVERFLOW), ("1e99999999999", OVERFLOW), ("0e126", OVERFLOW),
    ("1e-131", UNDERFLOW), ("1e-99999999999", UNDERFLOW), ("0e-131", UNDERFLOW),
    ("1e99999999999999999999", NOT_A_NUMBER),
    ("NaN", NOT_A_NUMBER + ": NaN"), ("Infinity", NOT_A_NUMBER), (" 1", NOT_A_NUMBER), ("1 ", NOT_A_NUMBER), ("0x10", NOT_A_NUMBER),
    ("1e", NOT_A_NUMBER), ("1_0", NOT_A_NUMBER), ("--1", NOT_A_NUMBER), (".", NOT_A_NUMBER), ("", NOT_A_NUMBER),
])
def test_numbers_that_are_none(db, plain, number, complaint):
    start = time.monotonic()
    n = {"N": number}
    for place in (n, {"M": {"x": {"L": [n]}}}, {"NS": ["1", number]}):
        bad = {**item(pk="never"), "n": place}
        db.invalid(complaint, "PutItem", TableName=plain, Item=bad)
        db.invalid(complaint, "BatchWriteItem", RequestItems={plain: [{"PutRequest": {"Item": bad}}]})
        db.invalid(complaint, "UpdateItem", TableName=plain, Key=item(pk="never"), UpdateExpression="SET x = :v",
                   ExpressionAttributeValues={":v": place})
    assert db.get(plain, pk="never") is None
    assert time.monotonic() - start < 2


def test_number_sets_hold_numbers(db, plain):
    db.put(plain, pk="set", s=NS("1", "2", "123456789012345678901234567890"))
    db.update(plain, {"pk": "set"}, "ADD s :v", v=NS("1.0", "123456789012345678901234567891"))
    got = db.update(plain, {"pk": "set"}, "DELETE s :v", v=NS("2.00"))
    assert sorted(got["s"]["NS"]) == ["1", "123456789012345678901234567890", "123456789012345678901234567891"]
    db.invalid("Input collection contains duplicates", "PutItem", TableName=plain, Item=item(pk="set", s=NS("7", "7.0")))


def test_sets_are_equal_by_members(db, plain):
    db.put(plain, pk="eq", s=NS("100000000000000001", "5"))
    put = {"TableName": plain, "Item": item(pk="eq"), "ConditionExpression": "s = :p"}
    db.refuse("ConditionalCheckFailedException", "The conditional request failed", "PutItem",
              ExpressionAttributeValues=values(p=NS("100000000000000002", "5")), **put)
    db("UpdateItem", TableName=plain, Key=item(pk="eq"), UpdateExpression="SET ok = :t", ConditionExpression="s = :p",
       ExpressionAttributeValues=values(t=True, p=NS("5.0", "100000000000000001")))
    assert db.get(plain, pk="eq")["ok"] == {"BOOL": True}


def test_numeric_keys_are_numbers(db):
    table = db.create("N")
    db.invalid("Provided list of item keys contains duplicates", "BatchWriteItem", RequestItems={table: [
        {"PutRequest": {"Item": item(pk=N("1000"))}}, {"PutRequest": {"Item": item(pk=N("1e3"))}}]})
    db.invalid("Provided list of item keys contains duplicates", "BatchGetItem",
               RequestItems={table: {"Keys": [item(pk=5), item(pk=5)]}})
    assert db("Scan", TableName=table)["Count"] == 0
    db.put(table, pk=N("1e3"), v="x")
    assert db.get(table, pk=N("1000.0")) == item(pk=1000, v="x")


def test_arithmetic_is_decimal(db, plain):
    db.put(plain, pk="sum", c=N("9007199254740993"))
    got = db.update(plain, {"pk": "sum"}, "SET c = c + :o, d = :big - :o", o=1, big=N("10000000000000000000000"))
    assert got["c"] == {"N": "9007199254740994"} and got["d"] == {"N": "9999999999999999999999"}
    for a, b in (("9e125", "9e125"), ("1e50", "1")):
        db.invalid("Number overflow", "UpdateItem", TableName=plain, Key=item(pk="sum"), UpdateExpression="SET c = :x + :y",
                   ExpressionAttributeValues=values(x=N(a), y=N(b)))


@pytest.mark.parametrize("x, kind, text", [
    ({"N": 3}, "SerializationException", "NUMBER_VALUE cannot be converted to String"),
    ({"M": {"y": {"N": 3}}}, "SerializationException", "NUMBER_VALUE cannot be converted to String"),
    ({"M": {"y": {"dog": "cat"}}}, "ValidationException", "Supplied AttributeValue is empty, must contain exactly one of the "
     "supported datatypes"),
    ({}, "ValidationException", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    ({"S": "1", "N": "1"}, "ValidationException", "Supplied AttributeValue has more than one datatypes set, must contain exactly "
     "one of the supported datatypes"),
    ({"NULL": False}, "ValidationException", "One or more parameter values were invalid: Null attribute value types must have the "
     "value of true"),
    ({"SS": []}, "ValidationException", "An string set  may not be empty"),
    ({"SS": ["a", "a"]}, "ValidationException", "Input collection [a, a] contains duplicates."),
    ({"SS": ["", ""]}, "ValidationException", "contains duplicates"),
    ({"B": "YWJjZGVmZ2g"}, "SerializationException", ""),
    ({"B": "YWJj??!!"}, "SerializationException", ""),
])
def test_values_that_are_none(db, plain, x, kind, text):
    db.refuse(kind, text, "PutItem", TableName=plain, Item={**item(pk="never"), "x": x})
    assert db.get(plain, pk="never") is None


# ---- strings, binaries, sets, documents ----

def test_empty_strings_and_binaries(db, plain):
    whole = item(pk="e", s="", b=b"", l=[""], ss=SS("", "x"), bs=BS(b"", b"\0"))
    db("PutItem", TableName=plain, Item=whole)
    got = db.get(plain, pk="e")
    assert sorted(got["ss"]["SS"]) == ["", "x"] and sorted(got["bs"]["BS"]) == ["", "AA=="]
    assert {k: got[k] for k in "sbl"} == {k: whole[k] for k in "sbl"}


def test_a_key_is_never_empty(db, plain):
    pair, empty = db.create("SB"), item(pk="")
    text = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string " \
        "value. Key: pk"
    db.invalid(text, "PutItem", TableName=plain, Item=empty)
    db.invalid(text, "GetItem", TableName=plain, Key=empty)
    db.invalid(text, "DeleteItem", TableName=plain, Key=empty)
    db.invalid(text, "UpdateItem", TableName=plain, Key=empty)
    db.invalid(text, "BatchGetItem", RequestItems={plain: {"Keys": [empty]}})
    db.invalid(text, "BatchWriteItem", RequestItems={plain: [{"DeleteRequest": {"Key": empty}}]})
    db.invalid("empty string value", "Query", TableName=plain, KeyConditionExpression="pk = :p",
               ExpressionAttributeValues=values(p=""))
    db.invalid("empty binary value. Key: sk", "PutItem", TableName=pair, Item=item(pk="a", sk=b""))


def test_index_keys_are_checked_on_every_path(db):
    table = db.create("SS", AttributeDefinitions=definitions(pk="S", sk="S", gpk="S", gsk="S"),
                      GlobalSecondaryIndexes=[index("gsi-1", "gpk", "gsk")])
    empty = "A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain " \
        "an empty string value. IndexName: gsi-1, IndexKey: gpk"
    bad = item(pk="a", sk="1", gpk="", gsk="x")
    db.invalid(empty, "PutItem", TableName=table, Item=bad)
    db.invalid(empty, "BatchWriteItem", RequestItems={table: [{"PutRequest": {"Item": bad}}]})
    db.invalid(empty, "TransactWriteItems", TransactItems=[{"Put": {"TableName": table, "Item": bad}}])
    for given, name in ((7, "N"), (None, "NULL"), ({"x": 1}, "M")):
        mismatch = f"Type mismatch for Index Key gpk Expected: S Actual: {name} IndexName: gsi-1"
        db.invalid(mismatch, "PutItem", TableName=table, Item=item(pk="a", sk="1", gpk=given))
        db.invalid(mismatch, "UpdateItem", TableName=table, Key=item(pk="a", sk="1"), UpdateExpression="SET gpk = :v",
                   ExpressionAttributeValues=values(v=given))
    db.invalid("The update expression attempted to update a secondary index key to a value that is not supported", "UpdateItem",
               TableName=table, Key=item(pk="z", sk="1"), UpdateExpression="SET gpk = :v", ExpressionAttributeValues=values(v=""))
    db.invalid("Size of hashkey has exceeded the maximum size limit of2048 bytes", "PutItem", TableName=table,
               Item=item(pk="a", sk="1", gpk="x" * 2049))
    assert db("Scan", TableName=table)["Count"] == 0


def test_a_set_that_loses_its_last_member_goes(db, plain):
    db.put(plain, pk="last", s=SS("x"), k="y")
    assert db.update(plain, {"pk": "last"}, "DELETE s :v", v=SS("x", "never there")) == item(pk="last", k="y")
    assert db.update(plain, {"pk": "last"}, "DELETE s :v", v=SS("x")) == item(pk="last", k="y")


def test_bytes_that_are_not_text(db, plain):
    if not hasattr(db.door, "raw"):
        pytest.skip("this door's client would not send them")
    for body in (b'{"TableName":"%s","Item":{"pk":{"S":"a"},"b":{"B":"\xffdog"}}}' % plain.encode(),
                 b'{"TableName":"%s","Item":{"pk":{"S":"a"},"x":%s}}' % (plain.encode(), b"[" * 100000)):
        assert db.door.raw("PutItem", body)[0] == 400
    assert db.get(plain, pk="a") is None


@pytest.mark.parametrize("kind, order", [
    ("B", [b"\x01\x00", b"\x02", b"\x7f", b"\x80", b"\xff\x00"]),
    ("S", ["", "\x00", "Z", "a", "\u00e9", "\uff5e", "\U0001f600"]),
    ("N", [N(x) for x in ("-1e125", "-10", "-9.5", "-1e-130", "0", "1e-130", "0.5", "9", "10", "1e125")]),
])
def test_order_of_sort_keys(db, kind, order):
    table = db.create("S" + kind)
    order = [x for x in order if x != ""]
    for x in order[1::2] + order[::2]:
        db.put(table, pk="a", sk=x)
    query = {"TableName": table, "ExpressionAttributeValues": values(p="a"), "KeyConditionExpression": "pk = :p"}
    got = [x["sk"] for x in db("Query", **query)["Items"]]
    assert got == [db.get(table, pk="a", sk=x)["sk"] for x in order]
    assert [x["sk"] for x in db("Query", ScanIndexForward=False, **query)["Items"]] == got[::-1]
    query.update(KeyConditionExpression="pk = :p AND sk BETWEEN :a AND :b",
                 ExpressionAttributeValues=values(p="a", a=order[1], b=order[-2]))
    assert [x["sk"] for x in db("Query", **query)["Items"]] == got[1:-1]
    scan = db("Scan", TableName=table, FilterExpression="sk < :x", ExpressionAttributeValues=values(x=order[2]))
    assert [x["sk"] for x in scan["Items"]] == got[:2]


def deep(levels):
    v = {"S": "x"}
    for _ in range(levels):
        v = {"M": {"m": v}}
    return v


def test_documents_nest_32_levels(db, plain):
    db("PutItem", TableName=plain, Item={**item(pk="deep"), "d": deep(31)})
    assert db.get(plain, pk="deep")["d"] == deep(31)
    bad = {**item(pk="deeper"), "d": deep(32)}
    db.invalid("Nesting Levels have exceeded supported limits", "PutItem", TableName=plain, Item=bad)
    db.invalid("Nesting Levels have exceeded supported limits", "BatchWriteItem",
               RequestItems={plain: [{"PutRequest": {"Item": bad}}]})


# ---- keys ----

def test_lengths_of_keys(db):
    table = db.create("SS")
    longest = {"pk": "\u00e9" * 1024, "sk": "y" * 1024}
    db.put(table, **longest)
    assert db.get(table, **longest) == item(**longest)
    hash_key = "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"
    range_key = "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
    for pk, sk, text in (("x" * 2049, "a", hash_key), ("\u00e9" * 1025, "a", hash_key), ("a", "y" * 1025, range_key)):
        db.invalid(text, "PutItem", TableName=table, Item=item(pk=pk, sk=sk))
        db.invalid(text, "GetItem", TableName=table, Key=item(pk=pk, sk=sk))


def test_long_keys_with_a_long_common_prefix(db):
    table = db.create("SS", AttributeDefinitions=definitions(pk="S", sk="S", gpk="S", gsk="S"),
                      GlobalSecondaryIndexes=[index("gsi-1", "gpk", "gsk")])
    k, pk = "k" * 1000, "p" * 2048
    for last in "cab":
        db.put(table, pk=pk, sk=k + last, gpk="g" * 1000, gsk="s" * 1000)
    page = db("Query", TableName=table, KeyConditionExpression="pk = :p AND sk > :s", Limit=1,
              ExpressionAttributeValues=values(p=pk, s=k + "a"))
    assert page["Items"][0]["sk"]["S"] == k + "b" and page["LastEvaluatedKey"] == item(pk=pk, sk=k + "b")
    walk = db.pages("Query", TableName=table, IndexName="gsi-1", KeyConditionExpression="gpk = :p", Limit=1,
                    ExpressionAttributeValues=values(p="g" * 1000))
    assert [x["sk"]["S"][-1] for p in walk for x in p["Items"]] == list("abc")


@pytest.mark.parametrize("operation, member, attributes, text", [
    ("GetItem", "Key", item(pk="a"), SCHEMA), ("GetItem", "Key", item(pk="a", sk="b", x="c"), SCHEMA),
    ("GetItem", "Key", item(pk=1, sk="b"), SCHEMA), ("DeleteItem", "Key", item(pk="a", xx="b"), SCHEMA),
    ("PutItem", "Item", item(pk="a"), "One or more parameter values were invalid: Missing the key sk in the item"),
    ("PutItem", "Item", item(pk=1, sk="b"), "One or more parameter values were invalid: Type mismatch for key pk expected: S "
     "actual: N"),
])
def test_keys_that_do_not_fit(db, operation, member, attributes, text):
    table = db.create("SS")
    db.invalid(text, operation, TableName=table, **{member: attributes})


def test_a_key_is_not_updated(db):
    table = db.create("SS")
    db.invalid("One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key",
               "UpdateItem", TableName=table, Key=item(pk="a", sk="b"), UpdateExpression="SET sk = :v",
               ExpressionAttributeValues=values(v="z"))


def test_tables_that_are_not_there(db):
    missing = ("ResourceNotFoundException", "Requested resource not found")
    assert db.refuse(*missing, "GetItem", TableName="nowhere", Key=item(pk="a")).text == missing[1]
    assert db.refuse(*missing, "PutItem", TableName="nowhere", Item={}).text == missing[1]
    assert db.refuse(*missing, "DescribeTable", TableName="nowhere").text == missing[1] + ": Table: nowhere not found"
    db.invalid("Invalid ConditionExpression: Syntax error", "PutItem", TableName="nowhere", Item=item(pk="a"),
               ConditionExpression="(((")
