"""Every operation on items: what it does, each way to be refused, its limits; through both doors, cold and warm, alike.

What twin.py compares by itself (answers, capacity, sources of the two doors) is not asserted again here."""

import pytest
from doors import SS, N, item, keys, values

MISMATCH = "The provided key element does not match the schema"
ONE = {"pk": {"S": "a"}, "sk": {"N": "1"}}
NO_TABLE = ("ResourceNotFoundException", "Requested resource not found")
CONDITION = ("ConditionalCheckFailedException", "The conditional request failed")


def invalid(text):
    return "ValidationException", text


@pytest.fixture(scope="module")
def table(twin):
    """pk S, sk N; an index by kind and n of all attributes, and a local one by d of keys only. 30 items under a, sk 0..29."""
    twin("CreateTable", TableName="main", BillingMode="PAY_PER_REQUEST", KeySchema=keys("pk", "sk"),
         AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in zip(("pk", "sk", "kind", "n", "d"), "SNSNS")],
         GlobalSecondaryIndexes=[{"IndexName": "kinds", "KeySchema": keys("kind", "n"), "Projection": {"ProjectionType": "ALL"}}],
         LocalSecondaryIndexes=[{"IndexName": "days", "KeySchema": keys("pk", "d"),
                                 "Projection": {"ProjectionType": "KEYS_ONLY"}}])
    for i in range(30):
        twin("PutItem", TableName="main", Item=item(pk="a", sk=i, kind="odd" if i % 2 else "even", n=i // 10,
                                                    **({"d": f"d{29 - i:02}"} if i % 3 == 0 else {})))
    return "main"


def numbers(page):
    return [int(i["sk"]["N"]) for i in page["Items"]]


# ---- one item ----

def test_put_get_update_delete(twin, table):
    new = item(pk="one", sk=1, s="text", n=N("-0.50"), b=b"\0\xff", yes=True, none=None, l=[1, "x", [b"y"]], m={"a": {"b": 1}},
               ss=SS("x", "y"))
    got = twin("PutItem", TableName=table, Item=new, ReturnValues="ALL_OLD", ReturnItemCollectionMetrics="SIZE")
    assert got["ConsumedCapacity"]["CapacityUnits"] == 1 and "Attributes" not in got
    assert got["ItemCollectionMetrics"]["ItemCollectionKey"] == item(pk="one")
    assert twin("PutItem", TableName=table, Item=new, ReturnValues="ALL_OLD")["Attributes"]["n"] == {"N": "-0.5"}
    key = item(pk="one", sk=N("1.0"))
    assert twin("GetItem", TableName=table, Key=key)["Item"]["m"] == new["m"]
    assert twin("GetItem", TableName=table, Key=key, ConsistentRead=True)["ConsumedCapacity"]["CapacityUnits"] == 1
    assert twin("GetItem", TableName=table, Key=key, ProjectionExpression="l[2], m.#a.b",
                ExpressionAttributeNames={"#a": "a"})["Item"] \
        == item(l=[[b"y"]], m={"a": {"b": 1}})
    change = dict(TableName=table, Key=key,
                  UpdateExpression="SET l = list_append(l, :l), n = n + :one REMOVE s ADD c :one DELETE ss :x",
                  ExpressionAttributeValues=values(l=["end"], one=1, x=SS("x")))
    assert twin("UpdateItem", **change, ReturnValues="UPDATED_OLD")["Attributes"].keys() == {"l", "n", "s", "ss"}
    assert twin("UpdateItem", **change, ReturnValues="UPDATED_NEW")["Attributes"]["n"] == {"N": "1.5"}
    assert twin("GetItem", TableName=table, Key=key)["Item"]["c"] == {"N": "2"}
    assert twin("UpdateItem", TableName=table, Key=item(pk="one", sk=2), ReturnValues="ALL_NEW")["Attributes"] == item(pk="one",
                                                                                                                       sk=2)
    for sk in (1, 2):
        assert "Attributes" in twin("DeleteItem", TableName=table, Key=item(pk="one", sk=sk), ReturnValues="ALL_OLD",
                                    ConditionExpression="attribute_exists(pk)")
        assert "Item" not in twin("GetItem", TableName=table, Key=item(pk="one", sk=sk))
    assert "Attributes" not in twin("DeleteItem", TableName=table, Key=item(pk="one", sk=1), ReturnValues="ALL_OLD")


def test_sources(twin, table):
    """A miss, then hits (twin.py asks again by itself). A write takes its partition's queries out of the cache, and brings the
    item that is in it up to date; a write to another partition takes nothing away."""
    twin("GetItem", TableName=table, Key=item(pk="source", sk=1))
    assert twin.first == "miss"
    twin("PutItem", TableName=table, Item=item(pk="source", sk=1, v=0))
    reads = [("GetItem", {"Key": item(pk="source", sk=1)}),
             ("Query", {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="source")}),
             ("Scan", {"FilterExpression": "pk = :p", "ExpressionAttributeValues": values(p="source")})]
    for v in (1, 2):
        twin("UpdateItem", TableName=table, Key=item(pk="source", sk=1), UpdateExpression="SET v = :v",
             ExpressionAttributeValues=values(v=v))
        for operation, body in reads:
            got = twin(operation, TableName=table, **body)
            assert got.get("Item") == item(pk="source", sk=1, v=v) or got["Items"] == [item(pk="source", sk=1, v=v)]
            assert twin.first == ("hit" if operation == "GetItem" else "miss"), operation
    twin("PutItem", TableName=table, Item=item(pk="other source", sk=1))
    for operation, body in reads[:2]:
        twin(operation, TableName=table, **body)
        assert twin.first == "hit", operation
    twin("DeleteItem", TableName=table, Key=item(pk="other source", sk=1))
    twin("DeleteItem", TableName=table, Key=item(pk="source", sk=1))


def test_a_write_pays_for_its_indexes(twin, table):
    def put(**more):
        return twin("PutItem", TableName=table, Item=item(pk="paid", sk=1, **more))["ConsumedCapacity"]

    assert put(x="x" * 1500)["CapacityUnits"] == 2
    got = put(kind="k", n=1, d="day")
    assert got["GlobalSecondaryIndexes"]["kinds"]["CapacityUnits"] == 1
    assert got["LocalSecondaryIndexes"]["days"]["CapacityUnits"] == 1
    assert put(kind="l", n=1, d="day")["GlobalSecondaryIndexes"]["kinds"]["CapacityUnits"] == 2, "one entry goes, one comes"
    assert twin("DeleteItem", TableName=table, Key=item(pk="paid", sk=1))["ConsumedCapacity"]["CapacityUnits"] >= 3


@pytest.mark.parametrize("error, operation, body", [
    (NO_TABLE, "GetItem", dict(TableName="none", Key=ONE)),
    (NO_TABLE, "PutItem", dict(TableName="none", Item=ONE)),
    (NO_TABLE, "UpdateItem", dict(TableName="none", Key=ONE)),
    (NO_TABLE, "DeleteItem", dict(TableName="none", Key=ONE)),
    (invalid(MISMATCH), "GetItem", dict(Key=item(pk="a"))),
    (invalid(MISMATCH), "GetItem", dict(Key=item(pk="a", sk="1"))),
    (invalid(MISMATCH), "UpdateItem", dict(Key=item(pk="a", sk=1, more=1))),
    (invalid(MISMATCH), "DeleteItem", dict(Key={})),
    (invalid("Missing the key sk in the item"), "PutItem", dict(Item=item(pk="a"))),
    (invalid("Type mismatch for key sk expected: N actual: S"), "PutItem", dict(Item=item(pk="a", sk="1"))),
    (invalid("The AttributeValue for a key attribute cannot contain an empty string value"), "PutItem",
     dict(Item=item(pk="", sk=1))),
    (invalid("Item size has exceeded the maximum allowed size"), "PutItem", dict(Item=item(pk="a", sk=99, x="x" * 409600))),
    (invalid("Item size to update has exceeded the maximum allowed size"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET x = :x", ExpressionAttributeValues=values(x="x" * 409600))),
    (invalid("Type mismatch for Index Key kind"), "PutItem", dict(Item=item(pk="a", sk=99, kind=7))),
    (invalid("An string set  may not be empty"), "PutItem", dict(Item={**ONE, "ss": {"SS": []}})),
    (invalid("Input collection [x, x] contains duplicates"), "PutItem", dict(Item={**ONE, "ss": {"SS": ["x", "x"]}})),
    (invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"), "PutItem",
     dict(Item={**ONE, "x": {}})),
    (invalid("ReturnValues can only be ALL_OLD or NONE"), "PutItem", dict(Item=ONE, ReturnValues="ALL_NEW")),
    (invalid("ReturnValues can only be ALL_OLD or NONE"), "DeleteItem", dict(Key=ONE, ReturnValues="UPDATED_NEW")),
    (invalid("failed to satisfy constraint: Member must satisfy enum value set"), "PutItem", dict(Item=ONE, ReturnValues="SOME")),
    (CONDITION, "PutItem", dict(Item=ONE, ConditionExpression="attribute_not_exists(pk)")),
    (CONDITION, "DeleteItem", dict(Key=ONE, ConditionExpression="n > :n", ExpressionAttributeValues=values(n=7))),
    (CONDITION, "UpdateItem", dict(Key=item(pk="none", sk=1), ConditionExpression="attribute_exists(pk)")),
    (invalid("Invalid ConditionExpression: Syntax error; token:"), "PutItem", dict(Item=ONE, ConditionExpression="n = = 1")),
    (invalid("An expression attribute value used in expression is not defined; attribute value: :v"), "DeleteItem", dict(
        Key=ONE, ConditionExpression="n = :v")),
    (invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET x = :v", ExpressionAttributeValues=values(v=1, w=1))),
    (invalid("Attribute name is a reserved keyword; reserved keyword: status"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET status = :v", ExpressionAttributeValues=values(v=1))),
    (invalid("Two document paths overlap with each other"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET x = :v REMOVE x.y", ExpressionAttributeValues=values(v=1))),
    (invalid("Cannot update attribute sk. This attribute is part of the key"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET sk = :v", ExpressionAttributeValues=values(v=1))),
    (invalid("The document path provided in the update expression is invalid for update"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET nothing.y = :v", ExpressionAttributeValues=values(v=1))),
    (invalid("An operand in the update expression has an incorrect data type"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET n = kind + :v", ExpressionAttributeValues=values(v=1))),
    (invalid("The provided expression refers to an attribute that does not exist in the item"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="SET x = nothing")),
    (invalid("Can not use both expression and non-expression parameters"), "UpdateItem", dict(
        Key=ONE, UpdateExpression="REMOVE x", AttributeUpdates={"y": {"Action": "DELETE"}})),
])
def test_refused(twin, table, error, operation, body):
    before = twin("Scan", TableName=table)
    twin.refuse(*error, operation, **{"TableName": table, **body})
    assert twin("Scan", TableName=table) == before
    assert twin.first == "hit", "a refused write leaves the caches alone"


def test_the_item_that_failed_the_condition(twin, table):
    refused = twin.refuse(*CONDITION, "PutItem", TableName=table, Item=ONE, ConditionExpression="attribute_not_exists(pk)",
                          ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert refused.body["Item"]["kind"] == {"S": "odd"}


# ---- queries and scans ----

QUERY = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="a")}


@pytest.mark.parametrize("more, expected", [
    ({}, range(30)),
    ({"ScanIndexForward": False, "Limit": 3}, [29, 28, 27]),
    ({"KeyConditionExpression": "pk = :p AND sk BETWEEN :f AND :t", "ExpressionAttributeValues": values(p="a", f=3, t=5)},
     [3, 4, 5]),
    ({"KeyConditionExpression": "pk = :p AND sk >= :f", "ExpressionAttributeValues": values(p="a", f=28)}, [28, 29]),
    ({"FilterExpression": "n = :n", "ExpressionAttributeValues": values(p="a", n=2)}, range(20, 30)),
    ({"IndexName": "kinds", "KeyConditionExpression": "kind = :p AND n < :n", "ExpressionAttributeValues": values(p="even", n=1)},
     [0, 2, 4, 6, 8]),
    ({"IndexName": "days", "KeyConditionExpression": "pk = :p AND begins_with(d, :d)",
      "ExpressionAttributeValues": values(p="a", d="d1")},
     [18, 15, 12]),
    ({"IndexName": "days", "ConsistentRead": True, "ScanIndexForward": False}, range(0, 30, 3)),
    ({"ExpressionAttributeValues": values(p="nobody")}, []),
    ({"KeyConditionExpression": None, "ExpressionAttributeValues": None, "KeyConditions": {
        "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]},
        "sk": {"ComparisonOperator": "LE", "AttributeValueList": [{"N": "1"}]}}}, [0, 1]),
])
def test_query(twin, table, more, expected):
    body = {k: v for k, v in {"TableName": table, **QUERY, **more}.items() if v is not None}
    assert numbers(twin("Query", **body)) == list(expected)
    count = twin("Query", **body, Select="COUNT")
    assert count["Count"] == len(expected) and "Items" not in count


def pages(twin, operation, body, most):
    """The numbers of all pages; no page but the last is other than full."""
    seen = []
    for page in twin.pages(operation, **body):
        assert page["ScannedCount"] <= most
        seen += numbers(page)
    return seen


def test_pages(twin, table):
    for forward in (True, False):
        body = {"TableName": table, "Limit": 7, "ScanIndexForward": forward, **QUERY}
        assert pages(twin, "Query", body, 7) == list(range(30))[::1 if forward else -1]
        # Ten items of an index share each key.
        body = {**body, "IndexName": "kinds", "KeyConditionExpression": "kind = :p", "ExpressionAttributeValues": values(p="odd"),
                "Limit": 2}
        assert pages(twin, "Query", body, 2) == list(range(1, 30, 2))[::1 if forward else -1]
    assert sorted(pages(twin, "Scan", {"TableName": table, "Limit": 4, "FilterExpression": "pk = :p",
                                       "ExpressionAttributeValues": values(p="a")}, 4)) == list(range(30))
    assert sorted(pages(twin, "Scan", {"TableName": table, "IndexName": "days", "Limit": 3}, 3)) == list(range(0, 30, 3))
    parts = [numbers(twin("Scan", TableName=table, IndexName="kinds", Segment=i, TotalSegments=4)) for i in range(4)]
    assert sorted(sum(parts, [])) == list(range(30))


def test_a_page_ends_at_a_megabyte(twin, table):
    for i in range(12):
        twin("PutItem", TableName=table, Item=item(pk="big", sk=i, x="x" * 100000))
    body = {"TableName": table, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="big"),
            "Select": "COUNT"}
    counts = [p["Count"] for p in twin.pages("Query", **body)]
    assert counts == [11, 1], "the item that passes the mark is part of the page"
    for i in range(12):
        twin("DeleteItem", TableName=table, Key=item(pk="big", sk=i))


@pytest.mark.parametrize("error, operation, body", [
    (NO_TABLE, "Query", dict(TableName="none", **QUERY)),
    (NO_TABLE, "Scan", dict(TableName="none")),
    (invalid("The table does not have the specified index: none"), "Query", dict(IndexName="none", **QUERY)),
    (invalid("The table does not have the specified index: none"), "Scan", dict(IndexName="none")),
    (invalid("Query condition missed key schema element: pk"), "Query", dict(
        KeyConditionExpression="sk = :p", ExpressionAttributeValues=values(p=1))),
    (invalid("Query key condition not supported"), "Query", dict(
        KeyConditionExpression="pk > :p", ExpressionAttributeValues=values(p="a"))),
    (invalid("Condition parameter type does not match schema type"), "Query", dict(
        KeyConditionExpression="pk = :p", ExpressionAttributeValues=values(p=1))),
    (invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request"), "Query", {}),
    (invalid("Consistent reads are not supported on global secondary indexes"), "Query", dict(
        IndexName="kinds", ConsistentRead=True, KeyConditionExpression="kind = :p", ExpressionAttributeValues=values(p="a"))),
    (invalid("Consistent reads are not supported on global secondary indexes"), "Scan",
     dict(IndexName="kinds", ConsistentRead=True)),
    (invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"), "Query", dict(
        QUERY, FilterExpression="sk > :s", ExpressionAttributeValues=values(p="a", s=1))),
    (invalid("failed to satisfy constraint: Member must have value greater than or equal to 1"), "Query", dict(QUERY, Limit=0)),
    (invalid("Member must have value greater than or equal to 1"), "Scan", dict(Limit=0)),
    (invalid("The provided starting key is invalid"), "Query", dict(QUERY, ExclusiveStartKey=item(pk="a"))),
    (invalid(""), "Query", dict(QUERY, ExclusiveStartKey=item(pk="b", sk=1))),
    (invalid("The provided starting key is invalid"), "Scan", dict(ExclusiveStartKey=item(x=1))),
    (invalid("less than"), "Scan", dict(Segment=4, TotalSegments=4)),
    (invalid("TotalSegments"), "Scan", dict(Segment=0)),
    (invalid("Invalid FilterExpression: Syntax error"), "Scan", dict(FilterExpression="n >")),
    (invalid("Cannot specify the ProjectionExpression when choosing to get"), "Query",
     dict(QUERY, Select="COUNT", ProjectionExpression="n")),
    (invalid(""), "Scan", dict(IndexName="days", Select="ALL_PROJECTED_ATTRIBUTES", AttributesToGet=["n"])),
])
def test_reads_refused(twin, table, error, operation, body):
    twin.refuse(*error, operation, **{"TableName": table, **body})


# ---- batches ----

def test_batches(twin, table):
    writes = [{"PutRequest": {"Item": item(pk="batch", sk=i)}} for i in range(25)]
    assert twin("BatchWriteItem", RequestItems={table: writes})["UnprocessedItems"] == {}
    wanted = {"Keys": [item(pk="batch", sk=i) for i in range(40)], "ProjectionExpression": "sk"}
    got = twin("BatchGetItem", RequestItems={table: wanted})
    assert sorted(int(i["sk"]["N"]) for i in got["Responses"][table]) == list(range(25)) and got["UnprocessedKeys"] == {}
    deletes = [{"DeleteRequest": {"Key": item(pk="batch", sk=i)}} for i in range(25)]
    twin("BatchWriteItem", RequestItems={table: deletes}, ReturnItemCollectionMetrics="SIZE")
    assert twin("BatchGetItem", RequestItems={table: wanted})["Responses"] == {table: []}


@pytest.mark.parametrize("error, operation, requests", [
    (NO_TABLE, "BatchGetItem", {"none": {"Keys": [ONE]}}),
    (NO_TABLE, "BatchWriteItem", {"none": [{"DeleteRequest": {"Key": ONE}}]}),
    (invalid("Provided list of item keys contains duplicates"), "BatchGetItem", {"main": {"Keys": [ONE, ONE]}}),
    (invalid("Provided list of item keys contains duplicates"), "BatchWriteItem", {
        "main": [{"DeleteRequest": {"Key": ONE}}, {"PutRequest": {"Item": ONE}}]}),
    (invalid("less than or equal to 100"), "BatchGetItem", {"main": {"Keys": [item(pk="a", sk=i) for i in range(101)]}}),
    (invalid("less than or equal to 25"), "BatchWriteItem", {
        "main": [{"DeleteRequest": {"Key": item(pk="a", sk=i)}} for i in range(26)]}),
    (invalid("The requestItems parameter is required for BatchGetItem"), "BatchGetItem", {}),
    (invalid("The requestItems parameter is required for BatchWriteItem"), "BatchWriteItem", {}),
    (invalid(MISMATCH), "BatchGetItem", {"main": {"Keys": [item(pk="a")]}}),
    (invalid(MISMATCH), "BatchWriteItem", {"main": [{"DeleteRequest": {"Key": item(pk="a")}}]}),
    (invalid(""), "BatchWriteItem", {"main": [{}]}),
])
def test_batches_refused(twin, table, error, operation, requests):
    twin.refuse(*error, operation, RequestItems=requests)


def test_limits_in_bytes(twin):
    """16 MB of a BatchGetItem, the rest of which is to be asked for again; 4 MB of a transaction, which is refused."""
    twin("CreateTable", TableName="large", BillingMode="PAY_PER_REQUEST", KeySchema=keys("pk"),
         AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
    large = [item(pk=f"k{i:02}", x="x" * 390000) for i in range(50)]
    for i in range(0, 50, 10):
        twin("BatchWriteItem", RequestItems={"large": [{"PutRequest": {"Item": x}} for x in large[i:i + 10]]})
    wanted = {"large": {"Keys": [{"pk": x["pk"]} for x in large], "ProjectionExpression": "pk"}}
    counts = []
    while wanted:
        got = twin("BatchGetItem", RequestItems=wanted)
        counts.append(len(got["Responses"]["large"]))
        wanted = got["UnprocessedKeys"]
    assert len(counts) == 2 and 40 <= counts[0] <= 43 and sum(counts) == 50
    puts = [{"Put": {"TableName": "large", "Item": {**x, "pk": {"S": "new" + x["pk"]["S"]}}}} for x in large[:11]]
    twin.refuse(*invalid("Transaction"), "TransactWriteItems", TransactItems=puts)
    assert "Item" not in twin("GetItem", TableName="large", Key={"pk": {"S": "newk00"}})
    twin("TransactWriteItems", TransactItems=puts[:10])
    twin("DeleteTable", TableName="large")


# ---- transactions ----

def get(sk, pk="a", **more):
    return {"Get": {"TableName": "main", "Key": item(pk=pk, sk=sk), **more}}


def put(sk, **more):
    return {"Put": {"TableName": "main", "Item": item(pk="txn", sk=sk), **more}}


def test_transactions(twin, table):
    new = {"ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    actions = [put(1, **new), {"Update": {"TableName": table, "Key": item(pk="txn", sk=2), "UpdateExpression": "ADD c :one",
                                          "ExpressionAttributeValues": values(one=1)}},
               {"Delete": {"TableName": table, "Key": item(pk="txn", sk=3)}},
               {"ConditionCheck": {"TableName": table, "Key": item(pk="a", sk=1), "ConditionExpression": "attribute_exists(pk)"}}]
    token = {"ClientRequestToken": "once"}
    twin("TransactWriteItems", TransactItems=actions, **token, ReturnItemCollectionMetrics="SIZE")
    assert "ConsumedCapacity" in twin("TransactWriteItems", TransactItems=actions, **token), "the same again, and nothing happens"
    got = twin("TransactGetItems", TransactItems=[get(1, "txn"), get(2, "txn", ProjectionExpression="c"), get(3, "txn")])
    assert got["Responses"] == [{"Item": item(pk="txn", sk=1)}, {"Item": item(c=1)}, {}]
    twin.refuse("IdempotentParameterMismatchException", "", "TransactWriteItems", TransactItems=actions[:1], **token)
    refused = twin.refuse("TransactionCanceledException", "[ConditionalCheckFailed, None, None, None]", "TransactWriteItems",
                          TransactItems=actions)
    assert refused.body["CancellationReasons"][0]["Item"] == item(pk="txn", sk=1)
    assert refused.body["CancellationReasons"][1] == {"Code": "None"}


@pytest.mark.parametrize("error, operation, actions", [
    (NO_TABLE, "TransactGetItems", [{"Get": {"TableName": "none", "Key": ONE}}]),
    (NO_TABLE, "TransactWriteItems", [{"Delete": {"TableName": "none", "Key": ONE}}]),
    (invalid("Transaction request cannot include multiple operations on one item"), "TransactGetItems", [get(1), get(1)]),
    (invalid("Transaction request cannot include multiple operations on one item"), "TransactWriteItems", [put(1), put(1)]),
    (invalid("less than or equal to 100"), "TransactGetItems", [get(i) for i in range(101)]),
    (invalid("less than or equal to 100"), "TransactWriteItems", [put(i) for i in range(101)]),
    (invalid("greater than or equal to 1"), "TransactWriteItems", []),
    (invalid("TransactItems can only contain one of Check, Put, Update or Delete"), "TransactWriteItems", [{}]),
    (("TransactionCanceledException", "[None, ValidationError]"), "TransactGetItems", [get(1), get("text")]),
    (invalid("cannot contain an empty string value. Key: pk"), "TransactGetItems", [get("text"), get(1, "")]),
    (invalid("cannot contain an empty string value. Key: pk"), "TransactWriteItems", [put("text"), {
        "Delete": {"TableName": "main", "Key": item(pk="", sk=1)}}]),
    (("TransactionCanceledException", "[ValidationError]"), "TransactWriteItems", [
        {"Put": {"TableName": "main", "Item": item(pk="txn", sk="text")}}]),
])
def test_transactions_refused(twin, table, error, operation, actions):
    twin.refuse(*error, operation, TransactItems=actions)


# ---- PartiQL ----

def test_statements(twin, table):
    twin("ExecuteStatement", Statement="INSERT INTO main VALUE {'pk': 'ql', 'sk': ?, 'n': 5}", Parameters=[{"N": "1"}])
    twin("ExecuteStatement", Statement="UPDATE main SET n = n + 1 WHERE pk = 'ql' AND sk = 1")
    assert twin("ExecuteStatement", Statement="SELECT n FROM main WHERE pk = ? AND sk = 1",
                Parameters=[{"S": "ql"}])["Items"] == [item(n=6)]
    got = twin("BatchExecuteStatement", Statements=[{"Statement": f"SELECT * FROM main WHERE pk = 'ql' AND sk = {sk}"}
                                                    for sk in (1, 2)])
    assert got["Responses"] == [{"TableName": table, "Item": item(pk="ql", sk=1, n=6)}, {"TableName": table}]
    twin("ExecuteTransaction", TransactStatements=[{"Statement": "DELETE FROM main WHERE pk = 'ql' AND sk = 1"},
                                                   {"Statement": "INSERT INTO main VALUE {'pk': 'ql', 'sk': 2}"}])
    twin.refuse("DuplicateItemException", "Duplicate primary key exists in table", "ExecuteStatement",
                Statement="INSERT INTO main VALUE {'pk': 'ql', 'sk': 2}")
    twin.refuse("ValidationException", "", "ExecuteStatement", Statement="SELEKT")
    twin.refuse(*NO_TABLE, "ExecuteStatement", Statement="SELECT * FROM nothing WHERE pk = 'a'")
    twin.refuse("ValidationException", "", "BatchExecuteStatement", Statements=[])
    twin.refuse("TransactionCanceledException", "[DuplicateItem]", "ExecuteTransaction", TransactStatements=[
        {"Statement": "INSERT INTO main VALUE {'pk': 'ql', 'sk': 2}"}])
