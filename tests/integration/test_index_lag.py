"""test_index_lag - global indexes that follow their tables: at once, late on request, behind when their capacity is used up.

Where time matters it is the daemon's clock, moved by hand."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

import pytest

from daemon import BINARY, DataDirectory, Daemon
from doors import HttpDoor, MsgpackDoor, Refused, definitions, index, item, keys, values

DYNAX = os.environ.get("DYNAX", os.path.join(os.path.dirname(BINARY), "dynax"))
DEFINITIONS = definitions(pk="S", sk="S", gpk="S", gsk="S")


def post(daemon, path):
    with urllib.request.urlopen(urllib.request.Request(daemon.admin_url + path, method="POST"), timeout=10) as answer:
        return answer.read().decode()


def gauge(daemon, name):
    """The value of an index's metric; None if it has none. All tests here have one index."""
    with urllib.request.urlopen(daemon.admin_url + "/metrics", timeout=5) as answer:
        found = re.search(rf'^{name}{{table="tab",index="by-g"}} (\S+)$', answer.read().decode(), re.M)
    return float(found[1]) if found else None


def command(daemon, *words):
    done = subprocess.run([DYNAX, *words, "--admin", "%s:%d" % daemon.admin], capture_output=True, text=True, timeout=10)
    return done.returncode, done.stdout.strip()


def await_backlog(daemon, n=0):
    deadline = time.monotonic() + 20
    while gauge(daemon, "dynax_index_backlog") != n:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def create(call, **more):
    call("CreateTable", TableName="tab", KeySchema=keys("pk", "sk"), AttributeDefinitions=DEFINITIONS,
         **(more or {"BillingMode": "PAY_PER_REQUEST", "GlobalSecondaryIndexes": [index("by-g", "gpk", "gsk")]}))


def put(call, gpk, pk="x", **more):
    return call("PutItem", TableName="tab", Item=item(pk=pk, sk="1", gpk=gpk, gsk="1", **more))


def found(call, gpk):
    return call("Query", TableName="tab", IndexName="by-g", KeyConditionExpression="gpk = :g",
                ExpressionAttributeValues=values(g=gpk))["Items"]


def test_steady_by_default_and_late_on_request():
    with Daemon() as daemon:
        call = HttpDoor(daemon)
        create(call)
        for i in range(2000):
            put(call, f"G{i}")
            assert [x["gpk"]["S"] for x in found(call, f"G{i}")] == [f"G{i}"]
            assert found(call, f"G{i - 1}") == []
        assert gauge(daemon, "dynax_index_propagated_total") == 0
        assert command(daemon, "index-delay") == (0, "0")
        assert command(daemon, "index-delay", "200") == (0, "200")
        put(call, "late")
        assert found(call, "late") == []
        assert len(found(call, "G1999")) == 1
        strong = call("GetItem", TableName="tab", Key=item(pk="x", sk="1"), ConsistentRead=True)
        assert strong["Item"]["gpk"]["S"] == "late"
        time.sleep(0.3)
        assert found(call, "late") == [item(pk="x", sk="1", gpk="late", gsk="1")]
        assert found(call, "G1999") == []
        assert command(daemon, "index-delay", "a b")[0] == 2
        assert command(daemon, "index-delay", "99999999999")[0] == 3


def test_cached_answers_go_when_the_change_arrives():
    with Daemon("--test-clock", "--index-delay", "1000") as daemon:
        call = HttpDoor(daemon)
        create(call)
        put(call, "a")
        assert [found(call, "a") for _ in range(2)] == [[], []]
        assert call.source == "hit"
        post(daemon, "/clock?advance=1")
        assert len(found(call, "a")) == 1 and call.source == "miss"
        assert len(found(call, "a")) == 1 and call.source == "hit"
        put(call, "b")
        assert len(found(call, "a")) == 1 and call.source == "hit"
        post(daemon, "/clock?advance=1")
        assert (found(call, "a"), len(found(call, "b"))) == ([], 1)


def test_a_late_index_never_goes_back():
    """Through both doors and the cache: what a query of the index shows, every later one shows, or something newer."""
    with Daemon("--index-delay", "2") as daemon:
        call = HttpDoor(daemon)
        create(call)
        put(call, "a", n=0)
        await_backlog(daemon)
        seen, over, wrong, hits = [0], threading.Event(), [], []

        def read(door):
            ask = json.dumps({"TableName": "tab", "IndexName": "by-g", "KeyConditionExpression": "gpk = :g",
                              "ExpressionAttributeValues": values(g="a")})
            while not over.is_set() and not wrong:
                least = seen[0]
                numbers = [int(x["n"]["N"]) for x in door.call("Query", ask)["Items"]]
                hits.append(door.source == "hit")
                if len(numbers) != 1 or numbers[0] < least:
                    wrong.append((least, numbers))
                seen[0] = max(seen[0], *numbers)

        readers = [threading.Thread(target=read, args=(door(daemon),)) for door in (HttpDoor, HttpDoor, MsgpackDoor)]
        for r in readers:
            r.start()
        for n in range(1, 501):
            put(call, "a", n=n)
        await_backlog(daemon)
        over.set()
        for r in readers:
            r.join()
        assert not wrong, wrong
        assert any(hits) and not all(hits)
        assert found(call, "a")[0]["n"]["N"] == "500"


def test_back_pressure_begins_and_ends():
    """An index with too little write capacity throttles its table, by name, until it has caught up."""
    few = {"ProvisionedThroughput": {"ReadCapacityUnits": 100, "WriteCapacityUnits": 2}}
    many = {"ProvisionedThroughput": {"ReadCapacityUnits": 1000, "WriteCapacityUnits": 1000}}
    with Daemon("--test-clock") as daemon:
        call = HttpDoor(daemon)
        create(call, GlobalSecondaryIndexes=[{**index("by-g", "gpk", "gsk"), **few}], **many)
        written = 0
        with pytest.raises(Refused) as refused:
            while True:
                put(call, "x", pk=f"k{written}")
                written += 1
        assert refused.value.kind == "ProvisionedThroughputExceededException"
        assert "global secondary indexes" in refused.value.text
        assert refused.value.body["ThrottlingReasons"] == [{
            "reason": "IndexWriteProvisionedThroughputExceeded",
            "resource": "arn:aws:dynamodb:ddblocal:000000000000:table/tab/index/by-g"}]
        assert written == 2 * 300 + 2 * 5 + 1         # five minutes saved, and five seconds behind
        assert len(found(call, "x")) == 600
        assert gauge(daemon, "dynax_index_backlog") == 11
        call("PutItem", TableName="tab", Item=item(pk="other", sk="1"))      # not in the index
        post(daemon, "/clock?advance=3")
        assert gauge(daemon, "dynax_index_lag_seconds") == 3
        assert len(found(call, "x")) == 606
        for _ in range(10):                           # at its own pace it takes as many as it pays for
            put(call, "x", pk=f"k{written}")
            put(call, "x", pk=f"k{written + 1}")
            written += 2
            post(daemon, "/clock?advance=1")
        post(daemon, "/clock?advance=5")
        assert gauge(daemon, "dynax_index_lag_seconds") == 0
        assert len(found(call, "x")) == written
        put(call, "y", pk="direct")
        assert len(found(call, "y")) == 1


def test_reload():
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as f, Daemon("--config", f.name) as daemon:
        f.write("index-delay 70\n")
        f.flush()
        daemon.process.send_signal(signal.SIGHUP)
        daemon.await_log("--index-delay changed")
        assert command(daemon, "index-delay") == (0, "70")
        command(daemon, "index-delay", "80")
        f.write("log-level debug\n")
        f.flush()
        daemon.process.send_signal(signal.SIGHUP)
        daemon.await_log("--log-level changed")
        assert command(daemon, "index-delay") == (0, "80")


def test_what_waits_survives_a_kill():
    with DataDirectory() as data:
        with Daemon("--index-delay", "60000", data=data) as daemon:
            call = HttpDoor(daemon)
            create(call)
            for i in range(150):
                put(call, f"G{i % 7}", pk=f"k{i % 50}")
            assert gauge(daemon, "dynax_index_backlog") == 150
            daemon.kill()
        with Daemon("--index-delay", "60000", data=data) as daemon:
            call = HttpDoor(daemon)
            assert gauge(daemon, "dynax_index_backlog") == 150
            assert call("Scan", TableName="tab", IndexName="by-g")["Items"] == []
            command(daemon, "index-delay", "0")
            await_backlog(daemon)
            table, indexed = (call("Scan", TableName="tab", **more)["Items"] for more in ({}, {"IndexName": "by-g"}))
            assert sorted(map(str, indexed)) == sorted(map(str, table))
            assert call("DescribeTable", TableName="tab")["Table"]["GlobalSecondaryIndexes"][0]["ItemCount"] == 50


def test_backfill_survives_a_kill():
    """A kill in the middle of filling: it begins again, and the index is whole, though items were written meanwhile."""
    items = 6000
    with DataDirectory() as data:
        with Daemon(data=data) as daemon:
            call = HttpDoor(daemon)
            create(call, BillingMode="PAY_PER_REQUEST", GlobalSecondaryIndexes=[index("other", "gpk"), index("more", "gsk")])
            for i in range(0, items, 25):
                call("BatchWriteItem", RequestItems={"tab": [{"PutRequest": {"Item": item(
                    pk=f"k{n}", sk="1", gpk=f"G{n % 50}", gsk="1")}} for n in range(i, i + 25)]})
            for _ in range(10):
                call("UpdateTable", TableName="tab", AttributeDefinitions=DEFINITIONS,
                     GlobalSecondaryIndexUpdates=[{"Create": index("by-g", "gpk", "gsk")}])
                if (ratio := gauge(daemon, "dynax_index_backfill_ratio")) is not None:
                    break           # otherwise it was built before anybody could look: once more
                call("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}])
            assert ratio < 1
            put(call, "mine", pk="k5999")
            daemon.kill()
        with Daemon("--index-delay", "20", data=data) as daemon:
            call = HttpDoor(daemon)
            n = 0
            while gauge(daemon, "dynax_index_backfill_ratio") is not None:
                put(call, "mine", pk=f"k{n % items}")
                n += 1
            for _ in range(5):
                put(call, "mine", pk=f"k{n % items}")
                n += 1
            await_backlog(daemon)
            indexed, at = [], {}
            while at is not None:
                page = call("Scan", TableName="tab", IndexName="by-g", **at)
                indexed += page["Items"]
                at = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if "LastEvaluatedKey" in page else None
            assert len(indexed) == items
            assert {x["pk"]["S"]: x["gpk"]["S"] for x in indexed} == {
                f"k{i}": "mine" if i < n or i == 5999 else f"G{i % 50}" for i in range(items)}
            described = call("DescribeTable", TableName="tab")["Table"]["GlobalSecondaryIndexes"]
            assert [(x["ItemCount"], x["IndexStatus"]) for x in described] == [(items, "ACTIVE")] * 3
