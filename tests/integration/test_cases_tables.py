"""What users of DynamoDB's compatibles stumbled over in transactions, indexes, tables, sizes and capacity."""

import base64
import threading
import time

import boto3
import pytest
from doors import Refused, definitions, index, item, keys, values

FAILED = "The conditional request failed"
G = {"AttributeDefinitions": definitions(pk="S", sk="S", gpk="S", gsk="S")}
PK = {"KeySchema": keys("pk"), "AttributeDefinitions": definitions(pk="S"), "BillingMode": "PAY_PER_REQUEST"}
MISSING = "The provided expression refers to an attribute that does not exist in the item"


@pytest.fixture(scope="module")
def plain(db):
    return db.create("S")


def indexed(db, **options):
    return db.create("SS", GlobalSecondaryIndexes=[index("gsi-1", "gpk", "gsk", **options)], **G)


def consumed(db, operation, **body):
    """What it cost, without the table's name."""
    used = db(operation, ReturnConsumedCapacity="INDEXES", **body)["ConsumedCapacity"]
    for one in used if isinstance(used, list) else [used]:
        del one["TableName"]
    return used


# ---- transactions ----

def test_a_token_is_good_for_one_execution(db):
    table = db.create("S")
    request = {"ClientRequestToken": "tok-2", "TransactItems": [{"Update": {
        "TableName": table, "Key": item(pk="x"), "UpdateExpression": "ADD c :o", "ExpressionAttributeValues": values(o=1)}}]}
    assert db("TransactWriteItems", **request) == db("TransactWriteItems", **request) == {}
    assert db.get(table, pk="x") == item(pk="x", c=1)
    request["TransactItems"][0]["Update"]["ExpressionAttributeValues"] = values(o=2)
    db.refuse("IdempotentParameterMismatchException", "", "TransactWriteItems", **request)


def test_a_token_sent_twice_at_once_executes_once(db):
    table = db.create("S")
    others, wrong = [db.another() for _ in range(4)], []

    def send(other):
        for i in range(50):
            try:
                other("TransactWriteItems", ClientRequestToken=f"at-once-{i}", TransactItems=[{"Update": {
                    "TableName": table, "Key": item(pk="x"), "UpdateExpression": "ADD c :o",
                    "ExpressionAttributeValues": values(o=1)}}])
            except Refused as r:
                if r.kind != "TransactionInProgressException":
                    wrong.append(r)
    threads = [threading.Thread(target=send, args=(o,)) for o in others]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for o in others:
        o.door.close()
    assert not wrong and db.get(table, pk="x") == item(pk="x", c=50)


def test_reasons_in_order(db):
    table = db.create("S")
    db.put(table, pk="b", v=1)
    kept = {"TableName": table, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    refused = db.refuse(
        "TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [None, "
        "ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]", "TransactWriteItems", TransactItems=[
            {"Put": {"TableName": table, "Item": item(pk="a")}},
            {"Put": {"Item": item(pk="b"), "ConditionExpression": "attribute_not_exists(pk)", **kept}},
            {"ConditionCheck": {"Key": item(pk="c"), "ConditionExpression": "attribute_exists(pk)", **kept}},
            {"Update": {"TableName": table, "Key": item(pk="d"), "UpdateExpression": "SET x = nope"}}])
    assert refused.body["CancellationReasons"] == [
        {"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": FAILED, "Item": item(pk="b", v=1)},
        {"Code": "ConditionalCheckFailed", "Message": FAILED}, {"Code": "ValidationError", "Message": MISSING}]
    assert refused.body["__type"] == "com.amazonaws.dynamodb.v20120810#TransactionCanceledException" and "Message" in refused.body
    assert db("Scan", TableName=table)["Items"] == [item(pk="b", v=1)]


def test_placeholders_without_an_expression_in_transactions(db):
    """Refused in single requests, not looked at in transactions; with an expression they must be used there too."""
    table = db.create("S")
    names, idle = {"ExpressionAttributeNames": {"#a": "a"}}, {"ExpressionAttributeValues": values(v=1)}
    db.put(table, pk="old")
    db.invalid("ExpressionAttributeNames can only be specified when using expressions", "PutItem", TableName=table,
               Item=item(pk="x"), **names)
    db("TransactWriteItems", TransactItems=[{"Put": {"TableName": table, "Item": item(pk="new"), **names, **idle}},
                                            {"Delete": {"TableName": table, "Key": item(pk="old"), **names, **idle}}])
    key = {"TableName": table, "Key": item(pk="new")}
    assert db("TransactGetItems", TransactItems=[{"Get": {**key, **names}}])["Responses"] == [{"Item": item(pk="new")}]
    unused = "unused in expressions: keys: {#a}"
    db.invalid(unused, "TransactGetItems", TransactItems=[{"Get": {**key, "ProjectionExpression": "b", **names}}])
    db.invalid(unused, "TransactWriteItems",
               TransactItems=[{"Delete": {**key, "ConditionExpression": "attribute_exists(pk)", **names}}])


def test_what_is_wrong_with_keys_in_transactions(db):
    """Of a wrong type: the reason of its action, and of no later one. Empty: the request is refused, wherever it is."""
    table = indexed(db)

    def put(**attrs):
        return {"Put": {"TableName": table, "Item": item(**{"pk": "a", "sk": "b", **attrs})}}

    def update(expression, value, **key):
        return {"Update": {"TableName": table, "Key": item(**{"pk": "u", "sk": "b", **key}), "UpdateExpression": expression,
                           "ExpressionAttributeValues": values(v=value)}}

    def check(**key):
        return {"ConditionCheck": {"TableName": table, "Key": item(**key), "ConditionExpression": "attribute_exists(pk)"}}

    own = "One or more parameter values were invalid: Type mismatch for "
    schema = "The provided key element does not match the schema"
    for action, text in (
            (put(sk=1), own + "key sk expected: S actual: N"), (put(sk={"x": "y"}), own + "key sk expected: S actual: M"),
            (put(gpk=1), own + "Index Key gpk Expected: S Actual: N IndexName: gsi-1"),
            (put(gsk=["x"]), own + "Index Key gsk Expected: S Actual: L IndexName: gsi-1"),
            (update("SET gpk = :v", 1), own + "Index Key gpk Expected: S Actual: N IndexName: gsi-1"),
            (update("SET x = :v", 1, sk=1), schema), (check(pk="c", sk=1), schema), (check(pk="c"), schema)):
        refused = db.refuse("TransactionCanceledException", "[None, ValidationError, None]", "TransactWriteItems",
                            TransactItems=[put(pk="first"), action, put(pk="last", sk=1)])
        assert refused.body["CancellationReasons"][1] == {"Code": "ValidationError", "Message": text}
    invalid = "One or more parameter values are not valid. "
    empty = "The AttributeValue for a key attribute cannot contain an empty string value."
    for action, text in (
            (put(sk=""), f"{invalid}{empty} Key: sk"), (check(pk="", sk="x"), f"{invalid}{empty} Key: pk"),
            (put(gsk=""), f"{invalid}A value specified for a secondary index key is not supported. {empty} IndexName: gsi-1, "
             "IndexKey: gsk"),
            (update("SET x = :v", 1, sk=""), f"{invalid}{empty} Key: sk"),
            (update("SET gpk = :v", ""), f"{invalid}The update expression attempted to update a secondary index key to a value "
             f"that is not supported. {empty}")):
        db.invalid(text, "TransactWriteItems", TransactItems=[put(gpk=1), action])
    assert db("Scan", TableName=table)["Items"] == []


def puts(table, n, **more):
    return [{"Put": {"TableName": table, "Item": item(pk=f"k{i}", **more)}} for i in range(n)]


def test_limits_of_transactions(db):
    table = db.create("S")
    check = {"TableName": table, "Key": item(pk="a"), "ConditionExpression": "attribute_exists(pk)"}
    put_a = {"Put": {"TableName": table, "Item": item(pk="a")}}
    delete_b = {"Delete": {"TableName": table, "Key": item(pk="b")}}
    for actions, text in (
            (puts(table, 101), "Member must have length less than or equal to 100"),
            ([], "Member must have length greater than or equal to 1"),
            ([put_a, {"ConditionCheck": check}], "Transaction request cannot include multiple operations on one item"),
            ([{**put_a, **delete_b}], "TransactItems can only contain one of Check, Put, Update or Delete"),
            ([{}], "TransactItems can only contain one of Check, Put, Update or Delete"),
            (puts(table, 11, d="x" * 390000), ""),
            ([{"ConditionCheck": {"TableName": table, "Key": item(pk="a")}}], "")):
        db.invalid(text, "TransactWriteItems", TransactItems=actions)
    assert db("Scan", TableName=table)["Count"] == 0
    assert db("TransactWriteItems", TransactItems=puts(table, 100)) == {}
    assert db("Scan", TableName=table, Select="COUNT")["Count"] == 100


def test_capacity_of_transactions(db):
    table = db.create("S")
    write = {"ClientRequestToken": "tok-3", "ReturnConsumedCapacity": "TOTAL",
             "TransactItems": [{"Put": {"TableName": table, "Item": item(pk="a", d="x" * 1500)}}]}
    assert db("TransactWriteItems", **write)["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}]
    assert db("TransactWriteItems", **write)["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]
    got = db("TransactGetItems", ReturnConsumedCapacity="TOTAL", TransactItems=[
        {"Get": {"TableName": table, "Key": item(pk=pk)}} for pk in ("a", "missing")])
    assert got["ConsumedCapacity"][0]["CapacityUnits"] == 4.0


def test_transactional_reads_are_one_snapshot(db):
    table, writing = db.create("S"), True
    other = db.another()

    def write():
        i = 0
        while writing:
            i += 1
            other("TransactWriteItems", TransactItems=[{"Put": {"TableName": table, "Item": item(pk=pk, v=i)}} for pk in "ab"])
    thread = threading.Thread(target=write)
    thread.start()
    last, until = 0, time.monotonic() + 2
    try:
        while time.monotonic() < until:
            got = db.door.call("TransactGetItems", '{"TransactItems":[%s]}' % ",".join(
                '{"Get":{"TableName":"%s","Key":{"pk":{"S":"%s"}}}}' % (table, pk) for pk in "ab"))
            a, b = (int(r["Item"]["v"]["N"]) if r else 0 for r in got["Responses"])
            assert a == b and a >= last
            last = a
    finally:
        writing = False
        thread.join()
        other.door.close()
    assert last > 10


# ---- indexes ----

def await_index(db, table, name):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        found = [x for x in db("DescribeTable", TableName=table)["Table"]["GlobalSecondaryIndexes"] if x["IndexName"] == name][0]
        if found["IndexStatus"] == "ACTIVE":
            assert "Backfilling" not in found
            return
        assert found["Backfilling"] is True
        time.sleep(0.01)
    raise AssertionError("the index was never filled")


def test_an_index_leaves_out_what_is_unfit(db):
    table = db.create("S")
    for pk, k in (("1", "ok"), ("2", ""), ("3", 7), ("5", "x" * 2049), ("6", "x" * 70000)):
        db.put(table, pk=pk, k=k)
    db.put(table, pk="4")
    db("UpdateTable", TableName=table, AttributeDefinitions=definitions(k="S"),
       GlobalSecondaryIndexUpdates=[{"Create": index("idx-k", "k")}])
    await_index(db, table, "idx-k")
    assert db("Scan", TableName=table, IndexName="idx-k")["Items"] == [item(pk="1", k="ok")]
    assert db("Scan", TableName=table, Select="COUNT")["Count"] == 6
    db.invalid("The update expression attempted to update the secondary index key to unsupported type", "UpdateItem",
               TableName=table, Key=item(pk="3"), UpdateExpression="SET other_one = :v", ExpressionAttributeValues=values(v=1))
    assert db.update(table, {"pk": "3"}, "SET k = :v", v="mended") == item(pk="3", k="mended")
    assert db("Scan", TableName=table, IndexName="idx-k")["Count"] == 2


def test_rules_of_update_table(db):
    table, units = indexed(db), {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    create = {"Create": index("gsi-2", "q")}
    db.invalid("", "UpdateTable", TableName=table, GlobalSecondaryIndexUpdates=[{"Create": index("gsi-2", "sk")}])
    db.refuse("LimitExceededException", "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
              "per table", "UpdateTable", TableName=table, AttributeDefinitions=definitions(q="S"),
              GlobalSecondaryIndexUpdates=[create, {"Delete": {"IndexName": "gsi-1"}}])
    db.refuse("ResourceNotFoundException", "", "UpdateTable", TableName=table,
              GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "nope"}}])
    prov = db.create(
        "SS", BillingMode="PROVISIONED", ProvisionedThroughput=units,
        GlobalSecondaryIndexes=[index("gsi-1", "gpk", "gsk", ProvisionedThroughput=units)], **G)
    db("UpdateTable", TableName=prov, GlobalSecondaryIndexUpdates=[{"Update": {
        "IndexName": "gsi-1", "ProvisionedThroughput": {"ReadCapacityUnits": 20, "WriteCapacityUnits": 30}}}])
    got = db("DescribeTable", TableName=prov)["Table"]["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
    assert (got["ReadCapacityUnits"], got["WriteCapacityUnits"]) == (20, 30)


def test_indexes_of_new_tables(db):
    many = [index(f"gsi-{i}", "pk") for i in range(21)]
    db("CreateTable", TableName="twenty", GlobalSecondaryIndexes=many[:20], **PK)
    db.invalid("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of 20",
               "CreateTable", TableName="twenty-one", GlobalSecondaryIndexes=many, **PK)
    db.invalid("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex", "CreateTable",
               TableName="local", LocalSecondaryIndexes=[index("lsi", "pk", "q")],
               **{**PK, "AttributeDefinitions": definitions(pk="S", q="S")})
    db.invalid("", "CreateTable", TableName="include", GlobalSecondaryIndexes=[index("gsi", "pk", projection="INCLUDE")], **PK)


def test_what_an_index_returns(db):
    table = db.create("SS", AttributeDefinitions=definitions(pk="S", sk="S", lsk="S"),
                      LocalSecondaryIndexes=[index("lsi-1", "pk", "lsk", projection="KEYS_ONLY")])
    whole = item(pk="a", sk="1", lsk="z", v="deep")
    db("PutItem", TableName=table, Item=whole)
    query = {"TableName": table, "IndexName": "lsi-1", "KeyConditionExpression": "pk = :p",
             "ExpressionAttributeValues": values(p="a")}
    assert db("Query", ConsistentRead=True, **query)["Items"] == [item(pk="a", sk="1", lsk="z")]
    assert db("Query", Select="ALL_ATTRIBUTES", **query)["Items"] == [whole]
    assert db("Query", ProjectionExpression="v", **query)["Items"] == [item(v="deep")]
    db.invalid("Select type ALL_ATTRIBUTES is not supported for global secondary index gsi-1", "Query",
               TableName=indexed(db, projection="KEYS_ONLY"), IndexName="gsi-1", Select="ALL_ATTRIBUTES",
               KeyConditionExpression="gpk = :p", ExpressionAttributeValues=values(p="a"))


def test_collections_are_measured(db, plain):
    table = db.create("SS", AttributeDefinitions=definitions(pk="S", sk="S", lsk="S"),
                      LocalSecondaryIndexes=[index("lsi-1", "pk", "lsk")])
    got = db("PutItem", TableName=table, Item=item(pk="a", sk="1"), ReturnItemCollectionMetrics="SIZE")
    assert got["ItemCollectionMetrics"]["ItemCollectionKey"] == item(pk="a")
    assert len(got["ItemCollectionMetrics"]["SizeEstimateRangeGB"]) == 2
    assert db("PutItem", TableName=plain, Item=item(pk="a"), ReturnItemCollectionMetrics="SIZE") == {}


def test_an_index_is_current(db):
    table = indexed(db)
    for i in range(300):
        db.put(table, pk="x", sk="1", gpk=f"G{i}", gsk="1")
        for n, count in ((i, 1), (i - 1, 0)):
            assert db("Query", TableName=table, IndexName="gsi-1", KeyConditionExpression="gpk = :g",
                      ExpressionAttributeValues=values(g=f"G{n}"))["Count"] == count


# ---- tables ----

def test_life_of_a_table(db):
    assert db("CreateTable", TableName="alive", **PK)["TableDescription"]["TableStatus"] == "CREATING"
    assert db.refuse("ResourceInUseException", "", "CreateTable", TableName="alive", **PK).text == "Table already exists: alive"
    db.put("alive", pk="a")
    gone = db("DeleteTable", TableName="alive")["TableDescription"]
    assert gone["TableStatus"] == "DELETING" and "KeySchema" not in gone
    for operation in ("DeleteTable", "DescribeTable"):
        assert db.refuse("ResourceNotFoundException", "", operation, TableName="alive").text == \
            "Requested resource not found: Table: alive not found"
    db.refuse("ResourceNotFoundException", "Requested resource not found", "GetItem", TableName="alive", Key=item(pk="a"))
    db("CreateTable", TableName="alive", **PK)
    assert db.get("alive", pk="a") is None


UNITS = {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}


@pytest.mark.parametrize("change, text", [
    ({"AttributeDefinitions": definitions(pk="S", x="S")}, "One or more parameter values were invalid: Number of attributes in "
     "KeySchema does not exactly match number of attributes defined in AttributeDefinitions"),
    ({"AttributeDefinitions": definitions(pk="S") + definitions(pk="N")}, "pk"),
    ({"AttributeDefinitions": definitions(pk="BOOL")}, "Member must satisfy enum value set: [B, N, S]"),
    ({"AttributeDefinitions": None}, "ttribute"),
    (UNITS, "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"),
    ({"BillingMode": None}, "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"),
    ({"BillingMode": "pay_per_request"}, "Member must satisfy enum value set"),
    ({"Tags": [{"Key": str(i), "Value": ""} for i in range(51)]}, ""),
    ({"Tags": [{"Key": "hi!", "Value": ""}]}, ""),
])
def test_tables_that_cannot_be(db, change, text):
    body = {k: v for k, v in {**PK, **change}.items() if v is not None}
    db.invalid(text, "CreateTable", TableName="never", **body)
    db.refuse("ResourceNotFoundException", "", "DescribeTable", TableName="never")


def test_one_name_space(db):
    db("CreateTable", TableName="shared", **PK)
    for key, region in (("AKIA1", "us-east-1"), ("local-dev_key", "eu-west-1")):
        client = boto3.client("dynamodb", endpoint_url=db.daemon.url, region_name=region, aws_access_key_id=key,
                              aws_secret_access_key="any")
        assert "shared" in client.list_tables()["TableNames"]
        assert client.describe_table(TableName="shared")["Table"]["TableArn"] == \
            db("DescribeTable", TableName="shared")["Table"]["TableArn"]


# ---- capacity ----

def test_capacity_of_single_items(db, plain):
    missing = item(pk="missing")
    assert consumed(db, "BatchGetItem", RequestItems={plain: {"Keys": [missing]}})[0]["CapacityUnits"] == 0.5
    assert consumed(db, "BatchWriteItem", RequestItems={plain: [{"DeleteRequest": {"Key": missing}}]})[0]["CapacityUnits"] == 1.0
    assert consumed(db, "GetItem", TableName=plain, Key=missing, ConsistentRead=True)["CapacityUnits"] == 1.0
    assert db("GetItem", TableName=plain, Key=missing, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"] == {
        "TableName": plain, "CapacityUnits": 0.5}


def test_capacity_of_indexes(db):
    table = indexed(db)
    one = {"CapacityUnits": 1.0}
    assert consumed(db, "PutItem", TableName=table, Item=item(pk="a", sk="1", gpk="G", gsk="1")) == {
        "CapacityUnits": 2.0, "Table": one, "GlobalSecondaryIndexes": {"gsi-1": one}}
    move = {"TableName": table, "Key": item(pk="a", sk="1"), "UpdateExpression": "SET gsk = :v",
            "ExpressionAttributeValues": values(v="2")}
    assert consumed(db, "UpdateItem", **move) == {
        "CapacityUnits": 3.0, "Table": one, "GlobalSecondaryIndexes": {"gsi-1": {"CapacityUnits": 2.0}}}
    assert consumed(db, "UpdateItem", **move) == {"CapacityUnits": 1.0, "Table": one}


def test_capacity_is_that_of_what_was_read(db):
    table = db.create("SS")
    for i in range(10):
        db.put(table, pk="a", sk=str(i), d="x" * 990)
    got = db("Query", TableName=table, KeyConditionExpression="pk = :p", FilterExpression="attribute_exists(nope)",
             ProjectionExpression="sk", ConsistentRead=True, ExpressionAttributeValues=values(p="a"), ReturnConsumedCapacity="TOTAL")
    assert (got["ConsumedCapacity"]["CapacityUnits"], got["Count"]) == (3.0, 0)


# ---- sizes ----

def test_400_kilobytes_to_the_byte(db, plain):
    db.put(plain, pk="k", p="x" * 409596)
    db.invalid("Item size has exceeded the maximum allowed size", "PutItem", TableName=plain, Item=item(pk="k", p="x" * 409597))
    db.put(plain, pk="k", p="\u00e9" * 204798)
    db.put(plain, pk="k", b=bytes(400000))
    assert len(base64.b64decode(db.get(plain, pk="k")["b"]["B"])) == 400000
    db("DeleteItem", TableName=plain, Key=item(pk="k"))
    assert consumed(db, "PutItem", TableName=plain, Item=item(pk="k", l=["aa"] * 500))["CapacityUnits"] == 2.0
    db("DeleteItem", TableName=plain, Key=item(pk="k"))
    assert consumed(db, "PutItem", TableName=plain, Item=item(pk="k", l=["aa"] * 339))["CapacityUnits"] == 1.0   # 1024 bytes
    assert consumed(db, "PutItem", TableName=plain, Item=item(pk="k", l=["aa"] * 338 + ["aaa"]))["CapacityUnits"] == 2.0


def test_an_item_that_grows(db, plain):
    db.put(plain, pk="g", a="x" * 300000)
    grow = {"TableName": plain, "Key": item(pk="g"), "UpdateExpression": "SET b = :v",
            "ExpressionAttributeValues": values(v="x" * 200000)}
    text = "Item size to update has exceeded the maximum allowed size"
    db.invalid(text, "UpdateItem", **grow)
    reasons = db.refuse("TransactionCanceledException", "[ValidationError]", "TransactWriteItems",
                        TransactItems=[{"Update": grow}]).body["CancellationReasons"]
    assert reasons == [{"Code": "ValidationError", "Message": text}]
    db.invalid("Item size has exceeded the maximum allowed size", "TransactWriteItems",
               TransactItems=[{"Put": {"TableName": plain, "Item": item(pk="g", a="x" * 410000)}}])
    assert db.get(plain, pk="g") == item(pk="g", a="x" * 300000)
