"""SIGKILL with everything on: indexes, sometimes late, stream, expiry, transactions with tokens and plain writes, from many
threads.

After each restart: every index is, in the end, exactly what a scan of the table says it must be; the stream's records, applied in order,
give the table, each one's old image being what the one before left; ItemCount and TableSizeBytes are exact; pairs that are
only ever written by one transaction agree; and a token whose transaction was acknowledged is answered again without being
executed again."""

import http.client
import itertools
import json
import os
import random
import re
import threading
import time
import urllib.request

from daemon import Daemon, DataDirectory
from doors import HttpDoor, Refused, definitions, index, item, keys, values
from rules import item_size

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "5"))
THREADS = 8
KEYS = 30
TABLE = "everything"


def create(call):
    call("CreateTable", TableName=TABLE, KeySchema=keys("pk", "sk"), BillingMode="PAY_PER_REQUEST",
         AttributeDefinitions=definitions(pk="S", sk="S", color="S", n="N"),
         GlobalSecondaryIndexes=[index("by-color", "color", "n"), index("by-n", "n", projection="KEYS_ONLY")],
         LocalSecondaryIndexes=[index("local-n", "pk", "n")],
         StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    call("UpdateTimeToLive", TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})


class Caller:
    def __init__(self, daemon):
        self.door = HttpDoor(daemon)

    def __call__(self, operation, **body):
        return self.door.call(operation, json.dumps(body))


class Worker(threading.Thread):
    def __init__(self, daemon, number, seed, last, tokens):
        super().__init__()
        self.call = Caller(daemon)
        self.number, self.random = number, random.Random(seed)
        self.last = last                # token -> the counter that its transaction brought, acknowledged
        self.tokens = tokens
        self.in_flight = None           # a token
        self.count, self.wrong = 0, None

    def key(self):
        return item(pk=f"p{self.random.randrange(4)}", sk=f"s{self.random.randrange(KEYS)}")

    def body(self):
        r = self.random
        more = {"pad": "x" * r.randrange(1500)}
        if r.random() < 0.8:
            more["color"] = r.choice(["red", "green", "blue"])
        if r.random() < 0.9:
            more["n"] = r.randrange(100)
        if r.random() < 0.1:
            more["expires"] = int(time.time()) - r.randrange(1000)
        return item(**more)

    def transaction(self):
        """The two halves of a pair and this thread's counter, together; a token for it."""
        token = f"{self.number}-{next(self.tokens)}"
        version = values(v=token, one=1)
        pair = [{"Update": {"TableName": TABLE, "Key": item(pk=f"pair-{self.number}", sk=sk), "ExpressionAttributeValues":
                            version, "UpdateExpression": "SET tok = :v ADD n :one"}} for sk in ("a", "b")]
        put = {"Put": {"TableName": TABLE, "Item": {**self.key(), **self.body()}}}
        self.in_flight = {"ClientRequestToken": token, "TransactItems": pair + [put]}
        self.call("TransactWriteItems", **self.in_flight)
        self.last.append(self.in_flight)
        self.in_flight = None

    def step(self):
        dice = self.random.random()
        if dice < 0.35:
            self.call("PutItem", TableName=TABLE, Item={**self.key(), **self.body()})
        elif dice < 0.6:
            self.call("UpdateItem", TableName=TABLE, Key=self.key(), UpdateExpression="SET color = :c ADD n :d",
                      ExpressionAttributeValues=values(c=self.random.choice(["red", "blue"]), d=1))
        elif dice < 0.75:
            self.call("DeleteItem", TableName=TABLE, Key=self.key())
        elif dice < 0.85:
            some = {json.dumps(k): k for k in (self.key() for _ in range(5))}
            self.call("BatchWriteItem", RequestItems={TABLE: [{"PutRequest": {"Item": {**k, **self.body()}}}
                                                              for k in some.values()]})
        else:
            self.transaction()

    def run(self):
        try:
            while True:
                self.step()
                self.count += 1
        except Refused as r:
            self.wrong = r
        except (OSError, http.client.HTTPException):
            pass                        # the kill


def everything(call, operation, **body):
    found = []
    while True:
        page = call(operation, TableName=TABLE, **body)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            return found
        body["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def name(i):
    return i["pk"]["S"], i["sk"]["S"]


def by_name(items):
    table = {name(i): i for i in items}
    assert len(table) == len(items), "one key twice"
    return table


def check_indexes(call, table):
    wanted = {"by-color": [i for i in table.values() if "color" in i and "n" in i],
              "by-n": [{k: i[k] for k in ("pk", "sk", "n")} for i in table.values() if "n" in i],
              "local-n": [i for i in table.values() if "n" in i]}
    for one, items in wanted.items():
        found = by_name(everything(call, "Scan", IndexName=one))
        assert found == by_name(items), f"{one} differs from its table"
    parts = {k[0] for k in table}
    for p in parts:
        found = everything(call, "Query", IndexName="local-n", KeyConditionExpression="pk = :p",
                           ExpressionAttributeValues=values(p=p))
        assert [float(i["n"]["N"]) for i in found] == sorted(float(i["n"]["N"]) for i in table.values()
                                                             if "n" in i and i["pk"]["S"] == p)


def check_counters(call, table):
    t = call("DescribeTable", TableName=TABLE)["Table"]
    assert t["ItemCount"] == len(table)
    assert t["TableSizeBytes"] == sum(map(item_size, table.values()))
    counts = {"by-color": sum("color" in i and "n" in i for i in table.values()),
              "by-n": sum("n" in i for i in table.values()), "local-n": sum("n" in i for i in table.values())}
    for one in t["GlobalSecondaryIndexes"] + t["LocalSecondaryIndexes"]:
        assert one["ItemCount"] == counts[one["IndexName"]], one["IndexName"]


def records(call):
    arn = call("DescribeTable", TableName=TABLE)["Table"]["LatestStreamArn"]
    shards = call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    for shard in shards:
        at = call("GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
        at = at["ShardIterator"]
        while at:
            page = call("GetRecords", ShardIterator=at)
            at = page.get("NextShardIterator")
            yield from page["Records"]
            if not page["Records"]:
                break


def check_stream(call, table):
    state, last = {}, {}
    for r in records(call):
        d = r["dynamodb"]
        key = name(d["Keys"])
        number = int(d["SequenceNumber"])
        assert number > last.get(key, 0), "records of an item out of order"
        last[key] = number
        assert d.get("OldImage") == state.get(key), f"{key}: a record is missing before {number}"
        assert (r["eventName"] == "INSERT") == (key not in state) and (r["eventName"] == "REMOVE") == ("NewImage" not in d)
        if "NewImage" in d:
            state[key] = d["NewImage"]
        else:
            del state[key]
    assert state == table, "the stream does not give the table"


def check_pairs(call, table, workers):
    for w in workers:
        a, b = (table.get((f"pair-{w.number}", sk), {}) for sk in ("a", "b"))
        assert a.get("n") == b.get("n") and a.get("tok") == b.get("tok"), f"half a transaction: {a}, {b}"
        if w.last:
            allowed = {w.last[-1]["ClientRequestToken"]} | ({w.in_flight["ClientRequestToken"]} if w.in_flight else set())
            assert a["tok"]["S"] in allowed, f"{a['tok']} is not one of {allowed}"
            before = int(a["n"]["N"])
            for sent in w.last[-3:]:
                call("TransactWriteItems", **sent)
            again = call("GetItem", TableName=TABLE, Key=item(pk=f"pair-{w.number}", sk="a"))["Item"]
            assert int(again["n"]["N"]) == before, "a token's transaction was executed twice"


def backlog(daemon):
    """Changes that the indexes have not been told yet."""
    with urllib.request.urlopen(daemon.admin_url + "/metrics", timeout=5) as answer:
        return sum(map(int, re.findall(r"^dynax_index_backlog{.*} (\d+)$", answer.read().decode(), re.M)))


def settle(daemon, call):
    """The table and its indexes at rest: no expired item is left that a sweep could still take, and no change waits."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        items = everything(call, "Scan", ConsistentRead=True)
        if not any("expires" in i for i in items) and backlog(daemon) == 0:
            return by_name(items)
        time.sleep(0.05)
    raise AssertionError("expired items stay")


def check(daemon, workers):
    call = Caller(daemon)
    table = settle(daemon, call)
    check_indexes(call, table)
    check_stream(call, table)
    check_counters(call, table)
    check_pairs(call, table, workers)


def test_sigkill_with_everything_on():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("SEED", seed)
    dice, total, tokens, workers = random.Random(seed), 0, itertools.count(), []
    options = ("--ttl-interval", "100", "--overlay", "16M", "--item-cache", "1M")
    with DataDirectory() as data:
        with Daemon(*options, data=data) as first:
            create(Caller(first))
        for _ in range(ROUNDS):
            with Daemon(*options, "--index-delay", dice.choice(["0", "30", "300"]), data=data) as daemon:
                check(daemon, workers)
                workers = [Worker(daemon, n, dice.random(), [], tokens) for n in range(THREADS)]
                for w in workers:
                    w.start()
                time.sleep(0.2 + dice.random() * 0.6)
                daemon.kill()
                for w in workers:
                    w.join()
                    assert w.wrong is None, w.wrong
                    total += w.count
        with Daemon(*options, data=data) as last:
            check(last, workers)
    assert total > ROUNDS * 50, f"only {total} writes were acknowledged: too few to prove anything"
