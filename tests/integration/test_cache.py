"""What the caches promise (docs/coherence.md), seen from outside: answers are the same cold and warm, follow every write at
once, and say where they came from."""

import itertools
import json
import re
import threading
import time
import urllib.request

import pytest

from daemon import Daemon
from doors import HttpDoor, Refused

HASH = dict(KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
BOTH = dict(KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                                  {"AttributeName": "sk", "AttributeType": "S"}])


def metric(daemon, name):
    text = urllib.request.urlopen(daemon.admin_url + "/metrics", timeout=10).read().decode()
    return int(re.search(rf"^{name} (\d+)", text, re.M)[1])


def create(wire, name, shape):
    wire("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST", **shape)
    for _ in range(200):
        if wire("DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE":
            return name
        time.sleep(0.01)
    raise AssertionError("the table does not become ACTIVE")


numbers = itertools.count()


@pytest.fixture
def wire(dynax):
    return HttpDoor(dynax)


@pytest.fixture
def h(wire):
    return create(wire, f"hash-{next(numbers)}", HASH)


@pytest.fixture
def c(wire):
    return create(wire, f"both-{next(numbers)}", BOTH)


def S(text):
    return {"S": text}


def N(number):
    return {"N": str(number)}


def test_an_item_is_the_same_cold_and_warm(wire, h):
    wire("PutItem", TableName=h, Item={"pk": S("a"), "d": S("x" * 5000), "n": N("1.50")})
    for more in ({}, {"ReturnConsumedCapacity": "TOTAL"}, {"ReturnConsumedCapacity": "INDEXES", "ConsistentRead": True},
                 {"ProjectionExpression": "n", "ReturnConsumedCapacity": "TOTAL"}, {"AttributesToGet": ["n", "pk"]}):
        wire("GetItem", TableName=h, Key={"pk": S("a")}, **more)
        first = wire.bytes
        wire("GetItem", TableName=h, Key={"pk": S("a")}, **more)
        assert wire.source == "hit"
        assert wire.bytes == first
    got = wire("GetItem", TableName=h, Key={"pk": S("a")}, ReturnConsumedCapacity="TOTAL")
    assert got["ConsumedCapacity"] == {"TableName": h, "CapacityUnits": 1.0}, "5 KB, eventually consistent"
    got = wire("GetItem", TableName=h, Key={"pk": S("a")}, ReturnConsumedCapacity="TOTAL", ConsistentRead=True)
    assert got["ConsumedCapacity"]["CapacityUnits"] == 2.0


def test_hits_consume_what_the_cold_read_did(wire, h):
    for key in ("a", "missing"):
        if key == "a":
            wire("PutItem", TableName=h, Item={"pk": S("a")})
        cold = wire("GetItem", TableName=h, Key={"pk": S(key)}, ReturnConsumedCapacity="TOTAL")
        assert wire.source == "miss"
        warm = wire("GetItem", TableName=h, Key={"pk": S(key)}, ReturnConsumedCapacity="TOTAL")
        assert wire.source == "hit"
        assert cold == warm
        assert cold["ConsumedCapacity"]["CapacityUnits"] == 0.5


def test_a_read_is_one_look_up(db):
    """Of an item that is there and one that is not, through both doors."""
    def counted(key):
        names = [f"dynax_item_cache_{what}_total" for what in ("misses", "hits", "negative_hits")]
        before = [metric(db.daemon, name) for name in names]
        db.door.call("GetItem", json.dumps({"TableName": table, "Key": {"pk": S(key)}}))
        return [metric(db.daemon, name) - was for name, was in zip(names, before)]

    table = db.create("S")
    db.put(table, pk="a")
    assert [counted("a"), counted("a")] == [[1, 0, 0], [0, 1, 0]]
    assert [counted("none"), counted("none")] == [[1, 0, 0], [0, 0, 1]]


def test_query_results_follow_writes(dynax, wire, c):  # CCH-01
    ask = dict(TableName=c, KeyConditionExpression="pk = :p AND sk >= :s",
               ExpressionAttributeValues={":p": S("101"), ":s": S("5")})
    assert wire("Query", **ask)["Count"] == 0
    wire("PutItem", TableName=c, Item={"pk": S("101"), "sk": S("7")})
    assert wire("Query", **ask)["Count"] == 1
    assert HttpDoor(dynax)("Query", **ask)["Count"] == 1
    wire("PutItem", TableName=c, Item={"pk": S("102"), "sk": S("7")})
    assert wire("Query", **ask)["Count"] == 1
    assert wire.source == "hit", "another partition was written"
    wire("DeleteItem", TableName=c, Key={"pk": S("101"), "sk": S("7")})
    assert wire("Query", **ask)["Count"] == 0


def test_scans_follow_writes(wire, c):
    assert wire("Scan", TableName=c)["Count"] == 0
    wire("Scan", TableName=c)
    assert wire.source == "hit"
    wire("PutItem", TableName=c, Item={"pk": S("a"), "sk": S("1")})
    assert wire("Scan", TableName=c)["Count"] == 1


def test_index_queries_follow_writes(wire):
    shape = dict(
        KeySchema=BOTH["KeySchema"],
        AttributeDefinitions=BOTH["AttributeDefinitions"] + [{"AttributeName": a, "AttributeType": "S"} for a in ("g", "l")],
        GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                 "Projection": {"ProjectionType": "ALL"}}],
        LocalSecondaryIndexes=[{"IndexName": "by-l", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                                                                   {"AttributeName": "l", "KeyType": "RANGE"}],
                                "Projection": {"ProjectionType": "ALL"}}])
    t = create(wire, f"indexed-{next(numbers)}", shape)
    by_g = dict(TableName=t, IndexName="by-g", KeyConditionExpression="g = :g")
    by_l = dict(TableName=t, IndexName="by-l", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": S("a")})

    def counts(expected):
        for _ in range(2):
            got = [wire("Query", **by_g, ExpressionAttributeValues={":g": S(g)})["Count"] for g in "xy"]
            got += [wire("Query", **by_l)["Count"], wire("Scan", TableName=t, IndexName="by-g")["Count"]]
            assert got == expected
        assert wire.source == "hit"

    item = {"pk": S("a"), "sk": S("1"), "g": S("x"), "l": S("1")}
    counts([0, 0, 0, 0])
    wire("PutItem", TableName=t, Item=item)
    counts([1, 0, 1, 1])
    wire("PutItem", TableName=t, Item={**item, "g": S("y")})
    counts([0, 1, 1, 1])
    wire("PutItem", TableName=t, Item={"pk": S("b"), "sk": S("1"), "g": S("x")})
    counts([1, 1, 1, 2])
    wire("UpdateItem", TableName=t, Key={"pk": S("a"), "sk": S("1")}, UpdateExpression="REMOVE g, l")
    counts([1, 0, 0, 1])


def test_absence_is_cached_until_it_ends(wire, h, c):  # CCH-03
    ask = dict(TableName=c, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": S("n1")})
    for _ in range(2):
        assert "Item" not in wire("GetItem", TableName=h, Key={"pk": S("n1")})
        assert wire("Query", **ask)["Count"] == 0
    assert wire.source == "hit"
    wire("BatchWriteItem", RequestItems={h: [{"PutRequest": {"Item": {"pk": S("n1")}}}],
                                         c: [{"PutRequest": {"Item": {"pk": S("n1"), "sk": S("1")}}}]})
    assert "Item" in wire("GetItem", TableName=h, Key={"pk": S("n1")})
    assert wire("Query", **ask)["Count"] == 1


def test_transactions_reach_the_cache(wire, h):  # CCH-04
    wire("PutItem", TableName=h, Item={"pk": S("d")})
    for key in ("d", "u"):
        wire("GetItem", TableName=h, Key={"pk": S(key)})
    wire("TransactWriteItems", TransactItems=[
        {"Delete": {"TableName": h, "Key": {"pk": S("d")}}},
        {"Update": {"TableName": h, "Key": {"pk": S("u")}, "UpdateExpression": "SET v = :v",
                    "ExpressionAttributeValues": {":v": N(1)}}}])
    got = wire("BatchGetItem", RequestItems={h: {"Keys": [{"pk": S("d")}, {"pk": S("u")}]}})
    assert got["Responses"][h] == [{"pk": S("u"), "v": N(1)}]


def test_consistent_reads_see_the_newest(wire, h):  # CCH-07; with the embedded store a cached read is as good
    for i in range(50):
        wire("PutItem", TableName=h, Item={"pk": S("a"), "v": N(i)})
        for consistent in (False, True):
            got = wire("GetItem", TableName=h, Key={"pk": S("a")}, ConsistentRead=consistent)
            assert got["Item"]["v"] == N(i)
        got = wire("TransactGetItems", TransactItems=[{"Get": {"TableName": h, "Key": {"pk": S("a")}}}])
        assert got["Responses"] == [{"Item": {"pk": S("a"), "v": N(i)}}]
        assert wire.source == "bypass"


def test_one_entry_many_spellings(wire, c):  # CCH-08
    wire("PutItem", TableName=c, Item={"pk": S("a"), "sk": S("1"), "x": N(1), "y": N(2)})
    wire("PutItem", TableName=c, Item={"pk": S("a"), "sk": S("2"), "x": N(2)})
    key = {"pk": S("a"), "sk": S("1")}
    whole = {"pk": S("a"), "sk": S("1"), "x": N(1), "y": N(2)}
    two = {"pk": S("a"), "sk": S("2"), "x": N(2)}
    by_pk = dict(TableName=c, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": S("a")})
    requests = [
        ("GetItem", dict(TableName=c, Key=key, ProjectionExpression="x"), {"Item": {"x": N(1)}}),
        ("GetItem", dict(TableName=c, Key=key), {"Item": whole}),
        ("Query", dict(by_pk, Limit=1), {"Items": [whole], "Count": 1, "ScannedCount": 1, "LastEvaluatedKey": key}),
        ("Query", dict(TableName=c, KeyConditionExpression="#k = :q", ExpressionAttributeNames={"#k": "pk"},
                       ExpressionAttributeValues={":q": S("a")}),
         {"Items": [whole, two], "Count": 2, "ScannedCount": 2}),
        ("Query", dict(TableName=c, KeyConditionExpression="pk = :p", FilterExpression="x = :n",
                       ExpressionAttributeValues={":p": S("a"), ":n": N("1.0")}),
         {"Items": [whole], "Count": 1, "ScannedCount": 2}),
        ("Query", dict(by_pk, Select="COUNT", ScanIndexForward=False), {"Count": 2, "ScannedCount": 2}),
    ]
    for order in itertools.permutations(requests):
        for op, body, expected in order:
            assert wire(op, **body) == expected
        # Cold again for the next order.
        wire("PutItem", TableName=c, Item=two)


def test_equal_requests_are_one_entry(wire, c):
    wire("PutItem", TableName=c, Item={"pk": S("a"), "sk": S("1"), "x": N(1)})
    ask = dict(TableName=c, KeyConditionExpression="pk = :p", FilterExpression="x = :n")
    wire("Query", **ask, ExpressionAttributeValues={":p": S("a"), ":n": N("1.0")})
    wire("Query", **ask, ExpressionAttributeValues={":n": N("0.1e1"), ":p": S("a")})
    assert wire.source == "hit", "numbers and order of members are canonical"


def test_failed_writes_change_nothing(wire, h):  # CCH-09
    wire("PutItem", TableName=h, Item={"pk": S("a"), "v": N(1)})
    wire("GetItem", TableName=h, Key={"pk": S("a")})
    with pytest.raises(Refused) as refused:
        wire("PutItem", TableName=h, Item={"pk": S("a"), "v": N(99)}, ConditionExpression="attribute_not_exists(pk)",
             ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert refused.value.kind == "ConditionalCheckFailedException"
    with pytest.raises(Refused):
        wire("PutItem", TableName=h, Item={"pk": S("a"), "v": S("x" * 410000)})
    assert wire("GetItem", TableName=h, Key={"pk": S("a")})["Item"]["v"] == N(1)
    assert wire.source == "hit"


def test_tables_dropped_and_made_again(wire, h):  # CCH-12
    for _ in range(2):
        wire("PutItem", TableName=h, Item={"pk": S("a")})
        wire("GetItem", TableName=h, Key={"pk": S("a")})
        wire("Scan", TableName=h)
        wire("Query", TableName=h, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": S("a")})
    wire("DeleteTable", TableName=h)
    for op, more in (("GetItem", {"Key": {"pk": S("a")}}), ("Scan", {})):
        with pytest.raises(Refused) as refused:
            wire(op, TableName=h, **more)
        assert refused.value.kind == "ResourceNotFoundException"
    create(wire, h, BOTH)
    with pytest.raises(Refused) as refused:
        wire("GetItem", TableName=h, Key={"pk": S("a")})
    assert refused.value.text == "The provided key element does not match the schema"
    assert wire("Scan", TableName=h)["Items"] == []
    assert wire("GetItem", TableName=h, Key={"pk": S("a"), "sk": S("1")}) == {}


def test_batches_partly_cached(dynax, wire, h):  # CCH-13
    for i in range(1, 5):
        wire("PutItem", TableName=h, Item={"pk": S(f"k{i}"), "v": N(i)})
    for key in ("k1", "k3"):
        wire("GetItem", TableName=h, Key={"pk": S(key)})
    keys = [{"pk": S(f"k{i}")} for i in range(1, 6)]
    fills = metric(dynax, "dynax_item_cache_fills_total")
    got = wire("BatchGetItem", RequestItems={h: {"Keys": keys, "ProjectionExpression": "v"}},
               ReturnConsumedCapacity="TOTAL")
    assert wire.source == "miss"
    assert sorted(int(i["v"]["N"]) for i in got["Responses"][h]) == [1, 2, 3, 4]
    assert all(set(i) == {"v"} for i in got["Responses"][h])
    assert got["UnprocessedKeys"] == {}
    assert got["ConsumedCapacity"] == [{"TableName": h, "CapacityUnits": 2.5}]
    assert metric(dynax, "dynax_item_cache_fills_total") - fills == 3
    assert wire("GetItem", TableName=h, Key={"pk": S("k5")}) == {}
    assert wire.source == "hit", "its absence is known"
    wire("BatchGetItem", RequestItems={h: {"Keys": keys}})
    assert wire.source == "hit"


@pytest.mark.parametrize("request_items, kind, words", [
    ({"h": {"Keys": [{"pk": S(f"{i}")} for i in range(101)]}}, "ValidationException", "less than or equal to 100"),
    ({"h": {"Keys": [{"pk": S("a")}, {"pk": S("a")}]}}, "ValidationException",
     "Provided list of item keys contains duplicates"),
    ({"h": {"Keys": [{"pk": S(f"{i}")} for i in range(60)]}, "h2": {"Keys": [{"pk": S(f"{i}")} for i in range(60)]}},
     "ValidationException", "Too many items requested for the BatchGetItem call"),
    ({}, "ValidationException", ""),
    ({"h": {"Keys": []}}, "ValidationException", ""),
    ({"h": {"Keys": [{"nokey": S("a")}]}}, "ValidationException", "The provided key element does not match the schema"),
    ({"nope": {"Keys": [{"pk": S("a")}]}}, "ResourceNotFoundException", "Requested resource not found"),
    ({"h": {"Keys": [{"pk": S("a")}], "ProjectionExpression": "a", "AttributesToGet": ["a"]}}, "ValidationException",
     "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
     "{AttributesToGet} Expression parameters: {ProjectionExpression}"),
    ({"h": {"Keys": [{"pk": S("a")}], "ExpressionAttributeNames": {"#a": "a"}}}, "ValidationException",
     "ExpressionAttributeNames can only be specified when using expressions"),
])
def test_batches_refused(wire, h, request_items, kind, words):  # BAT-01, BAT-03
    named = {{"h": h, "nope": "nope"}.get(name, "other-table"): keys for name, keys in request_items.items()}
    with pytest.raises(Refused) as refused:
        wire("BatchGetItem", RequestItems=named)
    assert refused.value.kind == kind
    assert words in refused.value.text


@pytest.mark.parametrize("request_items", [None, [], {"h": None}, {"h": {"Keys": [None]}}, {"h": {"Keys": {}}}])
def test_batches_malformed(wire, h, request_items):  # BAT-03
    if isinstance(request_items, dict):
        request_items = {h: request_items["h"]}
    with pytest.raises(Refused) as refused:
        wire("BatchGetItem", RequestItems=request_items)
    assert refused.value.kind in ("ValidationException", "SerializationException")


def test_batches_of_missing_items(wire, h, c):  # BAT-04, step 3
    got = wire("BatchGetItem", RequestItems={h: {"Keys": [{"pk": S("none")}]},
                                             c: {"Keys": [{"pk": S("none"), "sk": S("x")}]}})
    assert got == {"Responses": {h: [], c: []}, "UnprocessedKeys": {}}


def test_a_batch_holds_16_megabytes(wire, h):  # BAT-04, step 2
    for i in range(60):
        wire("PutItem", TableName=h, Item={"pk": S(f"k{i}"), "d": S("x" * 390000)})
    for _ in range(2):      # cold, then as far as the cache holds them
        left = {h: {"Keys": [{"pk": S(f"k{i}")} for i in range(60)], "ConsistentRead": True, "ProjectionExpression": "pk"}}
        seen, rounds = [], 0
        while left:
            got = wire("BatchGetItem", RequestItems=left)
            seen += [i["pk"]["S"] for i in got["Responses"].get(h, [])]
            if rounds == 0:
                assert 40 <= len(seen) <= 43
                assert got["UnprocessedKeys"][h]["ConsistentRead"] is True
                assert got["UnprocessedKeys"][h]["ProjectionExpression"] == "pk"
            left, rounds = got["UnprocessedKeys"], rounds + 1
        assert rounds == 2
        assert sorted(seen) == sorted(f"k{i}" for i in range(60))


def test_transactional_reads(wire, h, c):
    wire("PutItem", TableName=h, Item={"pk": S("a"), "d": S("x" * 1500)})
    got = wire("TransactGetItems", ReturnConsumedCapacity="TOTAL", TransactItems=[
        {"Get": {"TableName": h, "Key": {"pk": S("a")}, "ProjectionExpression": "pk"}},
        {"Get": {"TableName": h, "Key": {"pk": S("missing")}}}])  # TXN-04, step 3
    assert got["Responses"] == [{"Item": {"pk": S("a")}}, {}]
    assert got["ConsumedCapacity"] == [{"TableName": h, "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}]
    with pytest.raises(Refused) as refused:
        wire("TransactGetItems", TransactItems=[{"Get": {"TableName": h, "Key": {"pk": S("a")}}}] * 2)
    assert refused.value.text == "Transaction request cannot include multiple operations on one item"
    with pytest.raises(Refused) as refused:
        wire("TransactGetItems", TransactItems=[{"Get": {"TableName": h, "Key": {"pk": S("a")}}},
                                                {"Get": {"TableName": c, "Key": {"pk": S("a")}}}])
    assert refused.value.kind == "TransactionCanceledException"
    assert refused.value.text.endswith("[None, ValidationError]")


def test_transactional_reads_are_one_snapshot(dynax, wire, h):  # TXN-05
    stop = threading.Event()
    torn = []

    def write():
        mine = HttpDoor(dynax)
        for i in itertools.count():
            if stop.is_set():
                return
            mine("TransactWriteItems", TransactItems=[
                {"Put": {"TableName": h, "Item": {"pk": S(k), "v": N(i)}}} for k in ("a", "b")])

    def read():
        mine, last = HttpDoor(dynax), -1
        while not stop.is_set():
            got = mine("TransactGetItems", TransactItems=[{"Get": {"TableName": h, "Key": {"pk": S(k)}}} for k in "ab"])
            a, b = (int(r.get("Item", {"v": N(-1)})["v"]["N"]) for r in got["Responses"])
            if a != b or a < last:
                torn.append((a, b, last))
                return
            last = a

    threads = [threading.Thread(target=write)] + [threading.Thread(target=read) for _ in range(4)]
    for t in threads:
        t.start()
    time.sleep(2)
    stop.set()
    for t in threads:
        t.join()
    assert torn == []


@pytest.mark.parametrize("more, words", [
    ({"ProjectionExpression": "a", "AttributesToGet": ["a"]}, "Can not use both expression and non-expression parameters"),
    ({"ExpressionAttributeNames": {"#a": "a"}}, "ExpressionAttributeNames can only be specified when using expressions"),
    ({"ProjectionExpression": ""}, "Invalid ProjectionExpression: The expression can not be empty"),
    ({"ProjectionExpression": "!!!"}, 'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"'),
    ({"ProjectionExpression": "#a"}, "An expression attribute name used in the document path is not defined"),
    ({"ProjectionExpression": "a", "ExpressionAttributeNames": {"#b": "b"}}, "unused in expressions"),
    ({"AttributesToGet": ["a", "a"]}, "One or more parameter values were invalid: Duplicate value in attribute name: a"),
])
def test_get_item_complains_of_expressions_before_the_table(wire, more, words):
    with pytest.raises(Refused) as refused:
        wire("GetItem", TableName="no-such-table", Key={"pk": S("a")}, **more)
    assert refused.value.kind == "ValidationException"
    assert words in refused.value.text


def test_get_item_complains_of_the_table_before_the_key(wire, h):
    with pytest.raises(Refused) as refused:
        wire("GetItem", TableName="no-such-table", Key={"other": S("a")})
    assert (refused.value.kind, refused.value.text) == ("ResourceNotFoundException", "Requested resource not found")
    for key in ({}, {"pk": N(1)}, {"other": S("a")}, {"pk": S("a"), "more": S("b")}):
        with pytest.raises(Refused) as refused:
            wire("GetItem", TableName=h, Key=key)
        assert refused.value.text == "The provided key element does not match the schema"
        with pytest.raises(Refused):
            wire("GetItem", TableName=h, Key=key)       # a refusal is not cached as anything


def test_projections_of_a_cached_item(wire, h):
    wire("PutItem", TableName=h, Item={"pk": S("a"), "m": {"M": {"x": N(1), "y": N(2)}}, "l": {"L": [N(1), N(2), N(3)]}})
    for _ in range(2):
        got = wire("GetItem", TableName=h, Key={"pk": S("a")}, ProjectionExpression="m.x, l[1], nothing")
        assert got == {"Item": {"m": {"M": {"x": N(1)}}, "l": {"L": [N(2)]}}}
        assert wire("GetItem", TableName=h, Key={"pk": S("a")}, ProjectionExpression="nothing") == {"Item": {}}


def test_time_to_live_counts_from_the_fill():  # CCH-06
    with Daemon("--item-ttl", "300", "--query-ttl", "300") as d:
        wire = HttpDoor(d)
        t = create(wire, "ttl", HASH)
        wire("PutItem", TableName=t, Item={"pk": S("a")})
        ask = dict(TableName=t, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": S("a")})
        began = time.monotonic()
        misses = {"GetItem": 0, "Query": 0}
        while time.monotonic() - began < 1.0:
            for op, body in (("GetItem", dict(TableName=t, Key={"pk": S("a")})), ("Query", ask)):
                wire(op, **body)
                misses[op] += wire.source == "miss"
            time.sleep(0.02)
        assert 3 <= misses["GetItem"] <= 5, "expiry is not put off by use"
        assert 3 <= misses["Query"] <= 5
        assert metric(d, "dynax_item_cache_expirations_total") >= 2
        assert d.stop() == 0


def test_caches_that_are_off_are_bypassed():
    with Daemon("--item-cache", "0", "--query-cache", "0") as d:
        wire = HttpDoor(d)
        t = create(wire, "off", HASH)
        for i in range(3):
            wire("PutItem", TableName=t, Item={"pk": S("a"), "v": N(i)})
            for op, body in (("GetItem", {"Key": {"pk": S("a")}}), ("Scan", {})):
                got = wire(op, TableName=t, **body)
                assert got.get("Item", got.get("Items", [None])[0])["v"] == N(i)
                assert wire.source == "bypass"
            wire("BatchGetItem", RequestItems={t: {"Keys": [{"pk": S("a")}]}})
            assert wire.source == "bypass"
        assert d.stop() == 0


def test_a_flood_of_absent_keys_leaves_the_items():  # CCH-03
    with Daemon("--item-cache", "4M") as d:
        wire = HttpDoor(d)
        t = create(wire, "flood", HASH)
        for i in range(100):
            wire("PutItem", TableName=t, Item={"pk": S(f"k{i}"), "d": S("x" * 10000)})
        for _ in range(3):
            for i in range(100):
                wire("GetItem", TableName=t, Key={"pk": S(f"k{i}")})
        for i in range(0, 10000, 100):
            wire("BatchGetItem", RequestItems={t: {"Keys": [{"pk": S(f"none-{k}")} for k in range(i, i + 100)]}})
        hits = 0
        for i in range(100):
            wire("GetItem", TableName=t, Key={"pk": S(f"k{i}")})
            hits += wire.source == "hit"
        assert hits >= 95
        assert metric(d, "dynax_item_cache_bytes") <= 4 << 20
        assert d.stop() == 0
