"""A consumer sees every change of every item once and in order: across splits of shards, crashes, its own restarts and expired
iterators, whatever several clients write (puts, updates, deletes, batches, transactions, times to live)."""

import os
import random
import threading
import time
import urllib.request

from botocore.exceptions import BotoCoreError

from daemon import Daemon, DataDirectory
from stream_consumer import END, Consumer

TABLE = "load"
SERVICE = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
# A page of the keeper every 20 ms; partitions of some kilobytes.
OPTIONS = ("--ttl-interval", "20", "--partition-bytes", "4000", "--test-clock")


def create(ddb, **billing):
    table = ddb.create_table(
        TableName=TABLE, **billing or {"BillingMode": "PAY_PER_REQUEST"}, KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})["TableDescription"]
    ddb.update_time_to_live(TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    return table["LatestStreamArn"]


def key(name):
    return {"pk": {"S": name}}


class Writer:
    """Owns some items and changes them at random; remembers what was acknowledged, and what was on its way at the end.

    A change is (name, image), image None where the item goes. Those of a transaction happen together, of a batch alone."""

    def __init__(self, number, seed):
        self.prefix = f"w{number}-"
        self.dice = random.Random(seed)
        self.history = {}                               # name -> images after each acknowledged change
        self.now = {}                                   # name -> image
        self.mortal = set()                             # names that time to live deletes
        self.in_flight, self.together = [], False
        self.version = 0
        self.failure = None

    def start(self, daemon, padding):
        """In a thread, until the daemon is killed."""
        self.ddb, self.padding = daemon.client(), padding
        thread = threading.Thread(target=self.run)
        thread.start()
        return thread

    def image(self, name):
        self.version += 1
        return {**key(name), "v": {"N": str(self.version)}, "body": {"S": "x" * self.dice.randrange(self.padding)}}

    def change(self, name):
        return name, (None if name in self.now and self.dice.random() < 0.3 else self.image(name))

    def several(self, most):
        return [self.change(self.prefix + str(i)) for i in self.dice.sample(range(10), self.dice.randrange(1, most))]

    def one(self, changes):
        (name, image), = changes
        if image is None:
            self.ddb.delete_item(TableName=TABLE, Key=key(name))
        elif self.dice.random() < 0.5:
            self.ddb.put_item(TableName=TABLE, Item=image)
        else:
            self.ddb.update_item(TableName=TABLE, Key=key(name), UpdateExpression="SET v = :v, body = :b",
                                 ExpressionAttributeValues={":v": image["v"], ":b": image["body"]})

    def batch(self, changes):
        self.ddb.batch_write_item(RequestItems={TABLE: [
            {"DeleteRequest": {"Key": key(n)}} if i is None else {"PutRequest": {"Item": i}} for n, i in changes]})

    def transaction(self, changes):
        self.ddb.transact_write_items(TransactItems=[
            {"Delete": {"TableName": TABLE, "Key": key(n)}} if i is None else {"Put": {"TableName": TABLE, "Item": i}}
            for n, i in changes])

    def passing(self, changes):
        """An item that has expired when it comes: the service deletes it, nobody touches it again."""
        (name, image), = changes
        self.mortal.add(name)
        self.ddb.put_item(TableName=TABLE, Item=image)

    def passing_change(self):
        name = f"{self.prefix}ttl{self.version}"
        return [(name, {**self.image(name), "ttl": {"N": str(int(time.time()) - 1000)}})]

    def step(self):
        how = self.dice.choice([self.one, self.one, self.batch, self.transaction, self.passing])
        self.together = how == self.transaction
        self.in_flight = self.passing_change() if how == self.passing else self.several(2 if how == self.one else 5)
        how(self.in_flight)
        self.settle(self.in_flight)

    def settle(self, changes):
        """These have happened."""
        for name, image in changes:
            self.history.setdefault(name, []).append(image)
            self.now[name] = image
            if image is None or name in self.mortal:
                del self.now[name]
        self.in_flight = []

    def run(self):
        try:
            while True:
                self.step()
        except (BotoCoreError, OSError):
            pass                                        # the kill
        except Exception as wrong:
            self.failure = wrong

    def check(self, told):
        """What the stream tells (name -> records) is what happened, and perhaps what was on its way."""
        assert self.failure is None, self.failure
        mine = {name: records for name, records in told.items() if name.startswith(self.prefix)}
        happened = [(n, i) for n, i in self.in_flight
                    if len(self.users(n, mine.get(n, []))) > len(self.history.get(n, []))]
        assert not self.together or len(happened) in (0, len(self.in_flight)), "a transaction is whole"
        self.settle(happened)
        assert set(mine) == set(self.history)
        for name, records in mine.items():
            assert [r["dynamodb"].get("NewImage") for r in self.users(name, records)] == self.history[name], name
            check_chain(name, records)

    def users(self, name, records):
        """Without what time to live did, which is one deletion and the last thing that happens to an item."""
        by_service = [r for r in records if "userIdentity" in r]
        if by_service:
            assert name in self.mortal and by_service == records[-1:], name
            assert by_service[0]["userIdentity"] == SERVICE and by_service[0]["eventName"] == "REMOVE"
            return records[:-1]
        return records


def check_chain(name, records):
    """Each record begins with the image that the one before left."""
    image = None
    for r in records:
        assert r["dynamodb"].get("OldImage") == image, name
        assert r["eventName"] == ("INSERT" if image is None else "MODIFY" if "NewImage" in r["dynamodb"] else "REMOVE"), name
        image = r["dynamodb"].get("NewImage")


def by_name(records):
    told = {}
    for r in records:
        told.setdefault(r["dynamodb"]["Keys"]["pk"]["S"], []).append(r)
    return told


def advance(daemon, seconds):
    urllib.request.urlopen(urllib.request.Request(f"{daemon.admin_url}/clock?advance={seconds}", method="POST")).close()


def follow(daemon, arn, leases, dice, seconds):
    """Read for a while, in pages of any size; consumers take over from each other, and half-way all iterators expire.
    Gives the records, and how many iterators had expired."""
    streams = daemon.client("dynamodbstreams")
    records, consumers, start = [], [Consumer(streams, arn, leases)], time.monotonic()
    late = False
    while time.monotonic() < start + seconds:
        records += consumers[-1].step(limit=dice.choice([1, 7, 100, 1000]))
        if dice.random() < 0.1:
            consumers.append(Consumer(streams, arn, leases))
            continue
        if not late and time.monotonic() > start + seconds / 2:
            late = True
            advance(daemon, 901)
    return records, sum(c.expired for c in consumers)


def test_every_change_once_in_order():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("SEED", seed)
    dice = random.Random(seed)
    writers = [Writer(n, seed + n) for n in range(4)]
    records, leases, arn, expired = [], {}, None, 0
    with DataDirectory() as data:
        for round_number in range(3):
            with Daemon(*OPTIONS, data=data) as d:
                arn = arn or create(d.client())
                threads = [w.start(d, 500 * (round_number + 1)) for w in writers]
                more, late = follow(d, arn, leases, dice, 0.8)
                records += more
                expired += late
                d.kill()
                for t in threads:
                    t.join()
            with Daemon(data=data) as d:               # what came after the consumer's last page
                records += Consumer(d.client("dynamodbstreams"), arn, leases).drain()
                told = by_name(records)
                for w in writers:
                    w.check(told)
        with Daemon(*OPTIONS, data=data) as d:
            streams = d.client("dynamodbstreams")
            again = Consumer(streams, arn)
            told_again = by_name(again.drain())        # time to live may have gone on
            assert all(told_again[name][:len(told[name])] == told[name] for name in told)
            shards = [s["ShardId"] for s in again.describe(limit=3)]
            assert len(shards) == len(set(shards)) and set(leases) <= set(shards)    # there may be more by now
    ended = sum(lease.checkpoint == END for lease in leases.values())
    print(f"{len(records)} records, {len(leases)} shards, {ended} ended, {expired} iterators expired")
    assert len({r["eventID"] for r in records}) == len(records) > 200
    assert ended > 5 and expired > 0
    assert any("userIdentity" in r for r in records)


def put(ddb, name, version):
    """Whether it passed."""
    try:
        ddb.put_item(TableName=TABLE, Item={**key(name), "v": {"N": str(version)}})
        return True
    except ddb.exceptions.ProvisionedThroughputExceededException:
        return False


def roots(leases):
    return [lease for lease in leases.values() if lease.parent is None]


def test_heat():
    """A table begins with a shard for each of its partitions; a hot key gets a partition of its own, and so a shard."""
    written = {name: [] for name in ("hot", "a", "b", "c", "d")}
    records = []
    with Daemon("--test-clock", "--partition-wcu", "10") as d:
        ddb = d.client()
        arn = create(ddb, ProvisionedThroughput={"ReadCapacityUnits": 100, "WriteCapacityUnits": 40})
        consumer = Consumer(d.client("dynamodbstreams"), arn)
        consumer.discover()
        assert len(roots(consumer.leases)) == len(consumer.leases) == 4
        for second in range(60):
            for number, name in enumerate(["a", "b", "c", "d"] + ["hot"] * 12, start=second * 100):
                if put(ddb, name, number):
                    written[name].append(number)
            advance(d, 1)
            records += consumer.step()
            if len(consumer.leases) == 8:              # two cuts, before the key and behind it
                break
            time.sleep(0.01)
        records += consumer.drain()
        assert len(consumer.leases) == 8 and len(roots(consumer.leases)) == 4
        assert sum(lease.checkpoint == END for lease in consumer.leases.values()) == 2
        told = by_name(records)
        for name in written:
            assert [int(r["dynamodb"]["NewImage"]["v"]["N"]) for r in told[name]] == written[name], name
