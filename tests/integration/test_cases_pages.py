"""What users of DynamoDB's compatibles stumbled over in pages, scans and batches."""

import base64

import pytest
from doors import definitions, index, item, values

G = {"AttributeDefinitions": definitions(pk="S", sk="S", gpk="S", gsk="S")}
START = "The provided starting key is invalid"


def indexed(db, projection="ALL"):
    return db.create("SS", GlobalSecondaryIndexes=[index("gsi-1", "gpk", "gsk", projection=projection)], **G)


# ---- pages ----

def test_pages_of_equal_index_keys(db):
    table = indexed(db)
    for i in range(7):
        db.put(table, pk=f"p{i % 3}", sk=f"s{i}", gpk="G", gsk="SAME")
    query = {"TableName": table, "IndexName": "gsi-1", "Limit": 2, "KeyConditionExpression": "gpk = :g",
             "ExpressionAttributeValues": values(g="G")}
    forward = list(db.pages("Query", **query))
    assert [p["Count"] for p in forward] in ([2, 2, 2, 1], [2, 2, 2, 1, 0])
    assert all(set(p["LastEvaluatedKey"]) == {"pk", "sk", "gpk", "gsk"} for p in forward[:-1])
    seen = [x["sk"]["S"] for p in forward for x in p["Items"]]
    assert sorted(seen) == [f"s{i}" for i in range(7)]
    back = db.pages("Query", ScanIndexForward=False, **query)
    assert [x["sk"]["S"] for p in back for x in p["Items"]] == seen[::-1]
    scan = db.pages("Scan", TableName=table, IndexName="gsi-1", Limit=2)
    assert sorted(x["sk"]["S"] for p in scan for x in p["Items"]) == sorted(seen)


def test_an_index_ordered_against_its_table(db):
    table = indexed(db)
    for pk, sk, gsk in (("Z", "9", "1"), ("M", "5", "2"), ("A", "1", "3")):
        db.put(table, pk=pk, sk=sk, gpk="G", gsk=gsk)
    for forward, order in ((True, "ZMA"), (False, "AMZ")):
        walk = db.pages("Query", TableName=table, IndexName="gsi-1", Limit=1, ScanIndexForward=forward,
                        KeyConditionExpression="gpk = :g", ExpressionAttributeValues=values(g="G"))
        assert "".join(x["pk"]["S"] for p in walk for x in p["Items"]) == order


def test_a_limit_counts_what_is_evaluated(db):
    table = db.create("SN")
    for i in range(10):
        db.put(table, pk="a", sk=i, even=i % 2 == 0)
    query = {"TableName": table, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="a")}
    none = {**query, "FilterExpression": "sk_copy = :x", "ExpressionAttributeValues": values(p="a", x=1)}
    page = db("Query", Limit=3, **none)
    assert (page["Count"], page["ScannedCount"], page["Items"], page["LastEvaluatedKey"]) == (0, 3, [], item(pk="a", sk=2))
    page = db("Query", Limit=10, **query)
    assert page["Count"] == 10 and page.get("LastEvaluatedKey", item(pk="a", sk=9)) == item(pk="a", sk=9)
    page = db("Query", Limit=10, ExclusiveStartKey=item(pk="a", sk=9), **query)
    assert page["Count"] == 0 and "LastEvaluatedKey" not in page
    page = db("Query", Limit=11, **query)
    assert page["Count"] == 10 and "LastEvaluatedKey" not in page


def test_a_page_is_a_megabyte_of_what_was_read(db):
    table = db.create("SN")
    for i in range(20):
        db.put(table, pk="a", sk=i, d="x" * 60000)
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="a")}
    for operation, more, count in (
            ("Query", {"ProjectionExpression": "sk", **query}, 20),
            ("Query", {"FilterExpression": "attribute_not_exists(d)", **query}, 0),
            ("Scan", {"Select": "COUNT"}, 20)):
        found = list(db.pages(operation, TableName=table, **more))
        assert 16 <= found[0]["ScannedCount"] <= 18 and "LastEvaluatedKey" in found[0]
        assert sum(p["ScannedCount"] for p in found) == 20 and sum(p["Count"] for p in found) == count


@pytest.mark.parametrize("operation, types, condition, v, start, text", [
    ("Query", "SS", "pk = :p", {"p": "right"}, item(pk="wrong", sk="0"),
     "The provided starting key is outside query boundaries based on provided conditions"),
    ("Query", "SS", "pk = :p", {"p": "a"}, item(pk="a", sk="0", x="y"), START),
    ("Query", "SS", "pk = :p", {"p": "a"}, item(pk="a"), START),
    ("Query", "SS", "pk = :p AND sk > :s", {"p": "a", "s": "5"}, item(pk="a", sk="1"),
     "The provided starting key does not match the range key predicate"),
    ("Query", "S", "pk = :p", {"p": "a"}, item(pk="a"), "ExclusiveStartKey"),
    ("Scan", "SS", None, None, item(pk="a"), START + ": The provided key element does not match the schema"),
])
def test_start_keys_that_are_wrong(db, operation, types, condition, v, start, text):
    query = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values(**v)} if condition else {}
    db.invalid(text, operation, TableName=db.create(types), ExclusiveStartKey=start, **query)


def test_tokens_hold_the_keys_whatever_is_projected(db):
    table = db.create("SB")
    db.put(table, pk="a", sk=b"\x00\xff", v="1")
    db.put(table, pk="a", sk=b"\x00\xff\x01", v="2")
    found = list(db.pages("Query", TableName=table, KeyConditionExpression="pk = :p", ProjectionExpression="v", Limit=1,
                          ExpressionAttributeValues=values(p="a")))
    assert [p["Items"] for p in found[:2]] == [[item(v="1")], [item(v="2")]]
    assert found[0]["LastEvaluatedKey"] == item(pk="a", sk=b"\x00\xff")
    assert base64.b64decode(found[0]["LastEvaluatedKey"]["sk"]["B"]) == b"\x00\xff"


def test_counts_and_select(db):
    table, other = db.create("SS"), indexed(db)
    db.put(table, pk="a", sk="1")
    query = {"TableName": table, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="a")}
    assert db("Query", Select="COUNT", **query) == {"Count": 1, "ScannedCount": 1}
    db.invalid("Cannot specify the ProjectionExpression when choosing to get", "Query", Select="COUNT", ProjectionExpression="sk",
               **query)
    db.invalid("", "Scan", TableName=table, Select="ALL_PROJECTED_ATTRIBUTES")
    db.invalid("", "Scan", TableName=table, Select="SPECIFIC_ATTRIBUTES")
    db.invalid("Consistent reads are not supported on global secondary indexes", "Query", TableName=other, IndexName="gsi-1",
               ConsistentRead=True, KeyConditionExpression="gpk = :p", ExpressionAttributeValues=values(p="a"))


def test_a_partition_of_one_item_is_one_page(db):
    """Where no start key is taken, none is given: or who follows pages of one item would never come to an end."""
    table = db.create("S")
    db.put(table, pk="a", x=1)
    query = {"TableName": table, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="a"), "Limit": 1}
    for more in ({}, {"ScanIndexForward": False}, {"FilterExpression": "attribute_exists(y)"}, {"Select": "COUNT"}):
        assert [p["ScannedCount"] for p in db.pages("Query", **query, **more)] == [1]
    assert db("Scan", TableName=table, Limit=1)["LastEvaluatedKey"] == item(pk="a")
    db.invalid("The provided exclusive start key is invalid", "Query", ExclusiveStartKey=item(pk="a"), **query)


def test_a_query_filters_by_what_its_index_holds(db):
    table = db.create("SS", LocalSecondaryIndexes=[index("keys", "pk", "gsk", projection="KEYS_ONLY")],
                      GlobalSecondaryIndexes=[{**index("some", "gpk"), "Projection": {
                          "ProjectionType": "INCLUDE", "NonKeyAttributes": ["held"]}}], **G)
    db.put(table, pk="a", sk="1", gpk="g", gsk="1", held=1, b=2, c={"d": 3})
    text = "One or more parameter values were invalid: Secondary index %s does not project one or more filter attributes: [%s]"
    keys = {"TableName": table, "IndexName": "keys", "KeyConditionExpression": "pk = :p"}
    some = {"TableName": table, "IndexName": "some", "KeyConditionExpression": "gpk = :p"}
    for filtered, missing in (("c.d = :v AND b = :v OR c.d > b", "b, c"), ("attribute_not_exists(gpk)", "gpk"), ("size(held) = :v", "held")):
        v = {"p": "a", "v": 1} if ":v" in filtered else {"p": "a"}
        for more in ({}, {"Select": "COUNT"}, {"Select": "ALL_ATTRIBUTES"}, {"ProjectionExpression": "b"}):
            db.invalid(text % ("keys", missing), "Query", **keys, **more, FilterExpression=filtered, ExpressionAttributeValues=values(**v))
    db.invalid(text % ("some", "b"), "Query", **some, FilterExpression="held = :v AND b = :v", ExpressionAttributeValues=values(p="g", v=1))
    db.invalid(text % ("keys", "b"), "Query", TableName=table, IndexName="keys", QueryFilter={"b": {"ComparisonOperator": "NOT_NULL"}},
               KeyConditions={"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}})
    held = db("Query", **some, FilterExpression="held = :v AND sk = :s", ExpressionAttributeValues=values(p="g", v=1, s="1"))
    assert (held["Count"], held["ScannedCount"]) == (1, 1)
    scan = db("Scan", TableName=table, IndexName="some", FilterExpression="b = :v", ExpressionAttributeValues=values(v=2))
    assert (scan["Count"], scan["ScannedCount"]) == (0, 1)
    db.invalid("Global secondary index some does not project [b, c]", "Query", **some, ProjectionExpression="c.d, b, c.e",
               ExpressionAttributeValues=values(p="g"))


def test_no_match_is_an_empty_list(db):
    table = db.create("SS")
    empty = {"Items": [], "Count": 0, "ScannedCount": 0}
    query = {"TableName": table, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="none")}
    assert db("Query", **query) == empty and db("Query", **query) == empty
    assert db("Scan", TableName=table) == empty


# ---- scans ----

def test_a_token_belongs_to_its_segment(db):
    table = db.create("S")
    db.put(table, pk="a")
    scan = {"TableName": table, "TotalSegments": 100, "ExclusiveStartKey": item(pk="a")}
    answered = []
    for segment in range(100):
        try:
            db.invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
                       "Segment.", "Scan", Segment=segment, **scan)
        except AssertionError:
            answered.append(db("Scan", Segment=segment, **scan))
    assert len(answered) == 1 and answered[0]["Count"] == 0


def test_order_of_a_scan(db):
    table = db.create("SN")
    for i in range(50):
        for sk in (3, 1, 2):
            db.put(table, pk=f"k{i}", sk=sk)
    found = [(x["pk"]["S"], x["sk"]["N"]) for x in db("Scan", TableName=table)["Items"]]
    partitions = [pk for pk, _ in found[::3]]
    assert found == [(pk, sk) for pk in partitions for sk in "123"]
    assert len(set(partitions)) == 50 and partitions != sorted(partitions)
    shared = [x["pk"]["S"] for s in range(7) for x in db("Scan", TableName=table, Segment=s, TotalSegments=7)["Items"]]
    assert shared == [pk for pk, _ in found]


# ---- batches ----

def put(**attributes):
    return {"PutRequest": {"Item": item(**attributes)}}


def test_limits_of_batches(db):
    table = db.create("S")
    twice = "Provided list of item keys contains duplicates"
    db.invalid("Member must have length less than or equal to 25", "BatchWriteItem",
               RequestItems={table: [put(pk=f"k{i}") for i in range(26)]})
    db.invalid("less than or equal to 100", "BatchGetItem", RequestItems={table: {"Keys": [item(pk=f"k{i}") for i in range(101)]}})
    db.invalid(twice, "BatchWriteItem", RequestItems={table: [put(pk="a"), {"DeleteRequest": {"Key": item(pk="a")}}]})
    db.invalid(twice, "BatchGetItem", RequestItems={table: {"Keys": [item(pk="a"), item(pk="a")]}})
    assert db("Scan", TableName=table)["Count"] == 0


def test_one_bad_member_spoils_a_batch(db):
    table = db.create("S")
    good = put(pk="good")
    db.invalid("The provided key element does not match the schema", "BatchWriteItem",
               RequestItems={table: [good, put(nokey="x")]})
    db.refuse("ResourceNotFoundException", "Requested resource not found", "BatchWriteItem",
              RequestItems={table: [good], "nowhere": [put(pk="x")]})
    db.invalid("Item size has exceeded the maximum allowed size", "BatchWriteItem",
               RequestItems={table: [good, put(pk="big", big="x" * 410000)]})
    assert db.get(table, pk="good") is None


@pytest.mark.parametrize("items", [
    {}, None, [], {"T": []}, {"T": [None]}, {"T": [{}]}, {"T": [{"PutRequest": None}]}, {"T": [{"PutRequest": {"Item": {}}}]},
    {"T": [{"PutRequest": {"Item": item(pk="a")}, "DeleteRequest": {"Key": item(pk="b")}}]}, {"T": "x"}, {"T": {"x": 1}}, 7,
])
def test_batches_of_no_shape(db, items):
    table = db.create("S")
    if isinstance(items, dict):
        items = {table: v for v in items.values()}
    with pytest.raises(Exception) as refused:
        db("BatchWriteItem", RequestItems=items)
    assert refused.value.kind in ("ValidationException", "SerializationException", "UsageError")
    assert db("Scan", TableName=table)["Count"] == 0


def test_a_batch_reads_16_megabytes(db):
    table, pair = db.create("S"), db.create("SS")
    for i in range(60):
        db.put(table, pk=f"k{i}", d="x" * 390000)
    asked = {table: {"Keys": [item(pk=f"k{i}") for i in range(60)], "ConsistentRead": True, "ProjectionExpression": "pk"}}
    rest, found = db("BatchGetItem", RequestItems=asked), []
    assert len(rest["Responses"][table]) in (41, 42, 43)
    while rest["UnprocessedKeys"]:
        found += rest["Responses"][table]
        left = rest["UnprocessedKeys"][table]
        assert (left["ConsistentRead"], left["ProjectionExpression"]) == (True, "pk")
        rest = db("BatchGetItem", RequestItems=rest["UnprocessedKeys"])
    found += rest["Responses"][table]
    assert sorted(x["pk"]["S"] for x in found) == sorted(f"k{i}" for i in range(60))
    nothing = db("BatchGetItem", RequestItems={table: {"Keys": [item(pk="none")]}, pair: {"Keys": [item(pk="none", sk="x")]}})
    assert nothing == {"Responses": {table: [], pair: []}, "UnprocessedKeys": {}}
