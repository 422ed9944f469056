"""test_partitions - tables are cut by size and by heat while they are used; `dynax partitions` shows it."""

import json
import os
import random
import subprocess
import threading
import time
from collections import Counter

import pytest
from botocore.exceptions import ClientError

from daemon import BINARY, Daemon
from doors import HttpDoor
from stream_consumer import Consumer
from test_capacity import advance, metric, raw

DYNAX = os.environ.get("DYNAX", os.path.join(os.path.dirname(BINARY), "dynax"))


def show(daemon, table="tab"):
    done = subprocess.run([DYNAX, "partitions", table, "--admin", "%s:%d" % daemon.admin], capture_output=True, text=True,
                          timeout=10)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["Partitions"]


def test_size():
    """A table that grows is cut, while it is read and written; the command shows how."""
    with Daemon("--partition-bytes", "20K", "--ttl-interval", "10") as daemon:
        client = daemon.client()
        client.create_table(TableName="tab", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], BillingMode="PAY_PER_REQUEST",
                            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])

        assert [(p["FirstHash"], p["LastHash"], p["ItemCount"]) for p in show(daemon)] == [("0" * 16, "f" * 16, 0)]
        for i in range(200):
            client.put_item(TableName="tab", Item={"pk": {"S": f"k{i}"}, "text": {"S": "x" * 1000}})
            assert client.get_item(TableName="tab", Key={"pk": {"S": f"k{i // 2}"}})["Item"]["pk"]["S"] == f"k{i // 2}"
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            parts = show(daemon)
            if all(p["Counted"] and p["SizeBytes"] <= 20 * 1024 for p in parts):
                break
            time.sleep(0.02)
        assert all(p["Counted"] and p["SizeBytes"] <= 20 * 1024 for p in parts), parts
        assert 10 <= len(parts) <= 32
        assert sum(p["ItemCount"] for p in parts) == 200
        assert len(client.scan(TableName="tab")["Items"]) == 200
        table = client.describe_table(TableName="tab")["Table"]
        assert (table["ItemCount"], table["TableSizeBytes"]) == (200, sum(p["SizeBytes"] for p in parts))
        done = subprocess.run([DYNAX, "partitions", "none", "--admin", "%s:%d" % daemon.admin], capture_output=True, text=True)
        assert done.returncode == 3 and "no such table" in done.stderr


def create(client, **more):
    client.create_table(TableName="tab",
                        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}],
                        **more)


def put(client, pk, sk):
    """Whether it passed."""
    try:
        client.put_item(TableName="tab", Item={"pk": {"S": pk}, "sk": {"N": str(sk)}})
        return True
    except client.exceptions.ProvisionedThroughputExceededException:
        return False


def keys_of(client, pk):
    query = client.query(TableName="tab", KeyConditionExpression="pk = :k", ExpressionAttributeValues={":k": {"S": pk}})
    return [int(item["sk"]["N"]) for item in query["Items"]]


def test_heat():
    """One key asks for more than a partition gives: it alone is refused, gets a partition of its own, and stays limited. What
    others write and read passes all the time, and nothing is lost or told twice."""
    with Daemon("--test-clock", "--partition-wcu", "10", "--partition-rcu", "1000") as daemon:
        client = daemon.client()
        create(client, ProvisionedThroughput={"ReadCapacityUnits": 3000, "WriteCapacityUnits": 40})
        assert len(show(daemon)) == 4
        written = {pk: [] for pk in ("hot", "a", "b", "c", "d")}
        number = 0
        for second in range(40):
            passed = 0
            for i in range(15):
                number += 1
                for pk in written if i < 1 else ["hot"]:
                    if put(client, pk, number):
                        written[pk].append(number)
                        passed += pk == "hot"
            assert passed <= 10, "a partition's second"
            if second == 0:
                answer = raw(daemon, "PutItem", TableName="tab", Item={"pk": {"S": "hot"}, "sk": {"N": "0"}})[1]
                assert answer["ThrottlingReasons"][0]["reason"] == "TableWriteKeyRangeThroughputExceeded"
            if second > 25:
                assert passed == 10, "nobody else has a share of its partition"
            assert keys_of(client, "hot") == written["hot"]
            assert client.scan(TableName="tab", Select="COUNT")["Count"] == sum(map(len, written.values()))
            advance(daemon, 1)
            if second == 20:
                deadline = time.monotonic() + 10
                while time.monotonic() < deadline and len(show(daemon)) < 6:
                    time.sleep(0.02)
        parts = show(daemon)
        assert len(parts) == 6
        own = [p for p in parts if p["FirstHash"] == p["LastHash"]]
        assert len(own) == 1 and own[0]["ItemCount"] == len(written["hot"])
        assert own[0]["HottestKeys"][0]["Key"] == {"pk": {"S": "hot"}} and own[0]["HottestKeys"][0]["WriteShare"] == 1
        assert own[0]["WriteUnitsPerSecond"] > 2 and own[0]["ThrottledWrites"] > 0
        assert metric(daemon, "dynax_partition_cuts_total", table="tab", index="", reason="heat") == 2
        assert metric(daemon, "dynax_partitions", table="tab", index="") == 6
        assert metric(daemon, "dynax_partition_throttled_total", table="tab", index="", use="write") == \
            1 + number + 4 * 40 - sum(map(len, written.values()))
        for pk in written:
            assert keys_of(client, pk) == written[pk]


def count_up(daemon, number, seed, done, stop):
    """A writer: adds to items of its own, one of them hot, and notes what was acknowledged."""
    client, dice = daemon.client(), random.Random(seed + number)
    while not stop.is_set():
        pk = f"hot{number}" if dice.random() < 0.8 else f"cold{number}-{dice.randrange(10)}"
        try:
            client.update_item(TableName="tab", Key={"pk": {"S": pk}, "sk": {"N": "1"}}, UpdateExpression="ADD n :one",
                               ExpressionAttributeValues={":one": {"N": "1"}})
            done[pk] += 1
        except client.exceptions.ProvisionedThroughputExceededException:
            pass


def look(daemon, stop, failed):
    """A reader: by scans and queries, no item is told twice, and no number goes back."""
    client, seen = daemon.client(), Counter()
    while not stop.is_set():
        items = [i for page in client.get_paginator("scan").paginate(TableName="tab", Limit=7) for i in page["Items"]]
        items += client.query(TableName="tab", KeyConditionExpression="pk = :k",
                              ExpressionAttributeValues={":k": {"S": "hot0"}})["Items"]
        failed += ["twice"] if len({i["pk"]["S"] for i in items[:-1]}) < len(items) - 1 else []
        for item in items:
            pk, n = item["pk"]["S"], int(item["n"]["N"])
            failed += [pk] if n < seen[pk] else []
            seen[pk] = n


def test_heat_under_load():
    """While partitions are cut by heat, nothing acknowledged is lost, nothing refused is there, and the stream tells each change
    once, in order."""
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("SEED", seed)
    with Daemon("--test-clock", "--partition-wcu", "3", "--partition-rcu", "1000", "--ttl-interval", "20") as daemon:
        client = daemon.client()
        create(client, ProvisionedThroughput={"ReadCapacityUnits": 3000, "WriteCapacityUnits": 9},
               StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        arn = client.describe_table(TableName="tab")["Table"]["LatestStreamArn"]
        done, failed, stop = [Counter() for _ in range(3)], [], threading.Event()
        threads = [threading.Thread(target=count_up, args=(daemon, n, seed, done[n], stop)) for n in range(3)]
        threads.append(threading.Thread(target=look, args=(daemon, stop, failed)))
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and metric(daemon, "dynax_partition_cuts_total", table="tab", index="", reason="heat") < 4:
            time.sleep(0.05)
            advance(daemon, 1)
        stop.set()
        for thread in threads:
            thread.join()
        assert not failed
        assert 7 <= len(show(daemon)) <= 3 + metric(daemon, "dynax_partition_cuts_total", table="tab", index="", reason="heat")
        total = sum(done, Counter())
        items = client.scan(TableName="tab")["Items"]
        assert {item["pk"]["S"]: int(item["n"]["N"]) for item in items} == total
        told = {}
        for record in Consumer(daemon.client("dynamodbstreams"), arn).drain():
            image = record["dynamodb"]["NewImage"]
            told.setdefault(image["pk"]["S"], []).append(int(image["n"]["N"]))
        assert told == {pk: list(range(1, n + 1)) for pk, n in total.items()}


@pytest.mark.parametrize("mode, parts, limited", [("aws", 4, True), ("declared", 1, False)])
def test_on_demand(mode, parts, limited):
    """On-demand tables have partitions of limited throughput only as AWS has it."""
    with Daemon("--test-clock", "--capacity", mode) as daemon:
        client = daemon.client()
        create(client, BillingMode="PAY_PER_REQUEST")
        assert len(show(daemon)) == parts
        text = {"S": "x" * 300_000}
        passed = 0
        try:
            for passed in range(6):
                client.put_item(TableName="tab", Item={"pk": {"S": "hot"}, "sk": {"N": "1"}, "text": text})
        except ClientError as refused:
            assert refused.response["Error"]["Code"] == "ThrottlingException"
            assert "check if you have a hot key" in refused.response["Error"]["Message"]
        assert passed == (4 if limited else 5), "300 units each of 1,000 a second"


def test_cached_scans_tell_what_they_cost():
    """A Scan pays for each partition that it passes: cached answers go when those are cut, or paid for otherwise; no others."""
    def index(name, *key, **more):
        return {"IndexName": name, "Projection": {"ProjectionType": "KEYS_ONLY"}, **more,
                "KeySchema": [{"AttributeName": a, "KeyType": t} for a, t in zip(key, ("HASH", "RANGE"))]}

    def units(write):
        return {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": write}}

    def costs():
        """Of a Scan of the table, its local and its global index, and where the answers came from."""
        answers = []
        for name in (None, "local", "global"):
            answer = call("Scan", TableName="tab", ReturnConsumedCapacity="TOTAL", **({"IndexName": name} if name else {}))
            assert answer["Count"] == 1
            answers.append((answer["ConsumedCapacity"]["CapacityUnits"], call.source))
        return answers

    def query():
        call("Query", TableName="tab", KeyConditionExpression="pk = :k", ExpressionAttributeValues={":k": {"S": "a"}})
        return call.source

    def warm(*expected):
        assert costs() == [(cost, "miss") for cost in expected]
        assert costs() == [(cost, "hit") for cost in expected]
        query()
        assert query() == "hit"

    with Daemon("--test-clock", "--partition-wcu", "10") as daemon:
        call = HttpDoor(daemon)
        call("CreateTable", TableName="tab", **units(10), GlobalSecondaryIndexes=[index("global", "sk", **units(10))],
             LocalSecondaryIndexes=[index("local", "pk", "sk")],
             AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "id", "sk")],
             KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "id", "KeyType": "RANGE"}])
        call("PutItem", TableName="tab", Item={"pk": {"S": "a"}, "id": {"S": "1"}, "sk": {"S": "x"}})
        warm(0.5, 0.5, 0.5)
        call("UpdateTable", TableName="tab", **units(50))
        advance(daemon, 1)
        assert query() == "hit"
        assert costs() == [(2.5, "miss"), (2.5, "miss"), (0.5, "hit")]
        call("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=[
            {"Update": {"IndexName": "global", **units(30)}}])
        advance(daemon, 1)
        assert costs() == [(2.5, "hit"), (2.5, "hit"), (1.5, "miss")]
        call("UpdateTable", TableName="tab", BillingMode="PAY_PER_REQUEST")
        assert query() == "hit"
        warm(2.5, 2.5, 2)
        call("UpdateTable", TableName="tab", BillingMode="PROVISIONED", **units(50), GlobalSecondaryIndexUpdates=[
            {"Update": {"IndexName": "global", **units(30)}}])
        assert query() == "hit"
        warm(2.5, 2.5, 1.5)


def test_a_scan_begun_before_a_cut_is_not_kept_after_it():
    """Scans beside cuts: what is cached when all is done costs what a Scan costs then."""
    with Daemon("--test-clock", "--partition-wcu", "1", "--threads", "2") as daemon:
        call, stop = HttpDoor(daemon), threading.Event()
        create(daemon.client(), ProvisionedThroughput={"ReadCapacityUnits": 1000, "WriteCapacityUnits": 1})

        def scan(door):
            return door("Scan", TableName="tab", ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]["CapacityUnits"]

        def scan_on(seen):
            door = HttpDoor(daemon)
            while not stop.is_set():
                seen.append(scan(door))

        seen = [[] for _ in range(3)]
        threads = [threading.Thread(target=scan_on, args=(each,)) for each in seen]
        for thread in threads:
            thread.start()
        for n in range(2, 40):
            call("UpdateTable", TableName="tab", ProvisionedThroughput={"ReadCapacityUnits": 1000, "WriteCapacityUnits": n})
            advance(daemon, 1)
            assert scan(call) == n / 2
        stop.set()
        for thread in threads:
            thread.join()
        assert all(each == sorted(each) for each in seen)
