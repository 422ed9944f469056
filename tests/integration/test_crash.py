"""Nothing acknowledged is lost, nothing unacknowledged is half applied: SIGKILL under load, again and again.

Each writer owns keys and writes versions 1, 2, 3 ... of an item whose attributes a and b always agree. After a kill,
every item must be the last acknowledged version, or the one that was in flight; a and b must agree; and the table's
own count must be the number of items a Scan finds."""

import http.client
import os
import random
import threading
import time

from daemon import Daemon, DataDirectory
from doors import HttpDoor, Refused, definitions, keys

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "8"))
WRITERS = 8
KEYS = 40


class Writer(threading.Thread):
    def __init__(self, daemon, number, acked, seed):
        super().__init__()
        self.daemon_under_test = daemon
        self.number = number
        self.acked = acked              # key -> last acknowledged version; this thread's keys only
        self.in_flight = {}             # key -> version sent and not answered
        self.random = random.Random(seed)
        self.count = 0
        self.refused = None

    def run(self):
        wire = HttpDoor(self.daemon_under_test)
        try:
            while True:
                key = f"w{self.number}-{self.random.randrange(KEYS)}"
                version = self.acked.get(key, 0) + 1
                self.in_flight = {key: version}
                if version % 3 == 0:
                    wire("UpdateItem", TableName="crash", Key={"pk": {"S": key}}, UpdateExpression="SET a = :v, b = :v",
                         ExpressionAttributeValues={":v": {"N": str(version)}})
                else:
                    wire("PutItem", TableName="crash", Item={
                        "pk": {"S": key}, "a": {"N": str(version)}, "b": {"N": str(version)},
                        "pad": {"S": "x" * self.random.randrange(2000)}})
                self.acked[key] = version
                self.in_flight = {}
                self.count += 1
        except (OSError, http.client.HTTPException):
            pass                        # the kill
        except Refused as refused:
            self.refused = refused


def scan(wire):
    items, start = [], {}
    while True:
        page = wire("Scan", TableName="crash", ConsistentRead=True, **start)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def check(daemon, acked, in_flight):
    wire = HttpDoor(daemon)
    items = scan(wire)
    found = {i["pk"]["S"]: (int(i["a"]["N"]), int(i["b"]["N"])) for i in items}
    assert len(found) == len(items)
    for key, (a, b) in found.items():
        assert a == b, f"{key} is half applied: a={a} b={b}"
        allowed = {acked.get(key, 0), in_flight.get(key, acked.get(key, 0))}
        assert a in allowed, f"{key} is at {a}, not one of {allowed}"
    lost = [k for k in acked if k not in found]
    assert not lost, f"acknowledged and gone: {lost}"
    table = wire("DescribeTable", TableName="crash")["Table"]
    assert table["ItemCount"] == len(items)
    return {k: a for k, (a, _) in found.items()}


def test_sigkill_under_load():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("SEED", seed)
    dice = random.Random(seed)
    acked, in_flight, total = {}, {}, 0
    with DataDirectory() as data:
        with Daemon(data=data) as first:
            HttpDoor(first)("CreateTable", TableName="crash", BillingMode="PAY_PER_REQUEST", KeySchema=keys("pk"),
                            AttributeDefinitions=definitions(pk="S"))
            assert first.stop() == 0
        for _ in range(ROUNDS):
            with Daemon(data=data) as daemon:
                versions = check(daemon, acked, in_flight)
                writers = [Writer(daemon, n, {k: v for k, v in versions.items() if k.startswith(f"w{n}-")}, dice.random())
                           for n in range(WRITERS)]
                for w in writers:
                    w.start()
                time.sleep(0.2 + dice.random() * 0.8)
                daemon.kill()
                for w in writers:
                    w.join()
                    assert w.refused is None, w.refused
                acked, in_flight = {}, {}
                for w in writers:
                    acked.update(w.acked)
                    in_flight.update(w.in_flight)
                    total += w.count
        with Daemon(data=data) as last:
            check(last, acked, in_flight)
            assert last.stop() == 0
    assert total > ROUNDS * 50, f"only {total} writes were acknowledged: too few to prove anything"
