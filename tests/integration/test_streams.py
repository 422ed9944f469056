"""DynamoDB Streams as boto3 sees them: pages, restarts, and a consumer that must see every change once, in order."""

import os
import random
import threading
import time

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from daemon import Daemon, DataDirectory


def create(ddb, name, view="NEW_AND_OLD_IMAGES"):
    table = ddb.create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": view})["TableDescription"]
    return table["LatestStreamArn"]


def key(pk, sk="1"):
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def shards(streams, arn):
    found, start = [], {}
    while True:
        page = streams.describe_stream(StreamArn=arn, Limit=1, **start)["StreamDescription"]
        found += page["Shards"]
        if "LastEvaluatedShardId" not in page:
            return found
        start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}


def iterator(streams, arn, kind="TRIM_HORIZON", number=None):
    more = {"SequenceNumber": number} if number else {}
    return streams.get_shard_iterator(StreamArn=arn, ShardId=shards(streams, arn)[0]["ShardId"],
                                      ShardIteratorType=kind, **more)["ShardIterator"]


def drain(streams, it, limit=1000):
    """All records from an iterator on, and the iterator after them (None: the shard has ended)."""
    records = []
    while it:
        page = streams.get_records(ShardIterator=it, Limit=limit)
        records += page["Records"]
        it = page.get("NextShardIterator")
        if not page["Records"]:
            break
    return records, it


@pytest.fixture(scope="module")
def streams(dynax):
    return dynax.client("dynamodbstreams")


def test_one_write_one_record(ddb, streams):
    arn = create(ddb, "one")
    ddb.put_item(TableName="one", Item={**key("a"), "x": {"N": "1"}})
    ddb.put_item(TableName="one", Item={**key("a"), "y": {"N": "2"}})
    ddb.batch_write_item(RequestItems={"one": [
        {"PutRequest": {"Item": key("a", "2")}}, {"PutRequest": {"Item": key("a", "3")}}, {"DeleteRequest": {"Key": key("a")}}]})
    records, _ = drain(streams, iterator(streams, arn))
    assert len(records) == 5
    of_first = [r for r in records if r["dynamodb"]["Keys"] == key("a")]
    assert [r["eventName"] for r in of_first] == ["INSERT", "MODIFY", "REMOVE"]
    assert of_first[1]["dynamodb"]["OldImage"] == {**key("a"), "x": {"N": "1"}}
    assert of_first[1]["dynamodb"]["NewImage"] == {**key("a"), "y": {"N": "2"}}
    numbers = [int(r["dynamodb"]["SequenceNumber"]) for r in records]
    assert numbers == sorted(set(numbers))
    assert all(21 <= len(r["dynamodb"]["SequenceNumber"]) <= 40 for r in records)
    assert len({r["eventID"] for r in records}) == 5
    assert all("userIdentity" not in r for r in records)


def test_idle_shards_and_ends(ddb, streams):
    arn = create(ddb, "ends", "KEYS_ONLY")
    page = streams.get_records(ShardIterator=iterator(streams, arn, "LATEST"))
    assert page["Records"] == [] and page["NextShardIterator"]
    ddb.put_item(TableName="ends", Item=key("a"))
    page = streams.get_records(ShardIterator=page["NextShardIterator"])
    assert len(page["Records"]) == 1
    page = streams.get_records(ShardIterator=page["NextShardIterator"])
    assert page["Records"] == []
    ddb.update_table(TableName="ends", StreamSpecification={"StreamEnabled": False})
    page = streams.get_records(ShardIterator=page["NextShardIterator"])
    assert page["Records"] == [] and "NextShardIterator" not in page
    description = streams.describe_stream(StreamArn=arn)["StreamDescription"]
    assert description["StreamStatus"] == "DISABLED"
    assert all("EndingSequenceNumber" in s["SequenceNumberRange"] for s in description["Shards"])
    assert arn in [s["StreamArn"] for s in streams.list_streams(TableName="ends")["Streams"]]


def test_errors(streams):
    with pytest.raises(ClientError) as e:
        streams.get_records(ShardIterator="x" * 100)
    assert e.value.response["Error"]["Code"] == "ValidationException"
    with pytest.raises(ClientError) as e:
        streams.describe_stream(StreamArn="arn:aws:dynamodb:ddblocal:000000000000:table/nowhere/stream/2026-01-01T00:00:00.000")
    assert e.value.response["Error"]["Code"] == "ResourceNotFoundException"


class Writer(threading.Thread):
    """Owns some items and changes them at random; remembers what was acknowledged, and what was on its way at the end."""

    def __init__(self, daemon, number, seed):
        super().__init__()
        self.ddb = daemon.client()
        self.dice = random.Random(seed)
        self.names = [f"w{number}-{i}" for i in range(8)]
        self.now = {}                                   # item -> version, absent = none
        self.history = {name: [] for name in self.names}  # acknowledged images, None = removed
        self.in_flight = None
        self.failure = None

    def step(self, version):
        name = self.dice.choice(self.names)
        image = None if name in self.now and self.dice.random() < 0.3 else {**key(name), "v": {"N": str(version)}}
        self.in_flight = (name, image)
        if image is None:
            self.ddb.delete_item(TableName="load", Key=key(name))
            del self.now[name]
        elif self.dice.random() < 0.5:
            self.ddb.put_item(TableName="load", Item=image)
            self.now[name] = version
        else:
            self.ddb.transact_write_items(TransactItems=[{"Put": {"TableName": "load", "Item": image}}])
            self.now[name] = version
        self.history[name].append(image)
        self.in_flight = None

    def run(self):
        try:
            for version in range(1, 1 << 30):
                self.step(version)
        except (BotoCoreError, OSError):
            pass                                        # the kill
        except Exception as wrong:
            self.failure = wrong


def check_item(name, writer, seen):
    """What the stream tells of an item is its acknowledged history, then perhaps the write that was on its way."""
    told = [r["dynamodb"].get("NewImage") for r in seen]
    wanted = writer.history[name]
    if writer.in_flight and writer.in_flight[0] == name and len(told) == len(wanted) + 1:
        wanted = wanted + [writer.in_flight[1]]
    assert told == wanted, name
    image = None
    for r in seen:
        assert r["dynamodb"].get("OldImage") == image, name
        assert r["eventName"] == ("INSERT" if image is None else "MODIFY" if "NewImage" in r["dynamodb"] else "REMOVE")
        image = r["dynamodb"].get("NewImage")
    return wanted


def test_every_change_once_in_order_across_kills():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("SEED", seed)
    records, last = [], None
    writers = None
    with DataDirectory() as data:
        for round_number in range(4):
            with Daemon(data=data) as d:
                streams = d.client("dynamodbstreams")
                if writers is None:
                    arn = create(d.client(), "load")
                # Where the consumer stopped, by number: iterators do not outlive what they were asked for.
                it = iterator(streams, arn, "AFTER_SEQUENCE_NUMBER", last) if last else iterator(streams, arn)
                started = [Writer(d, n, seed + 10 * round_number + n) for n in range(4)]
                for n, w in enumerate(started):
                    if writers is not None:
                        w.history, w.now = writers[n].history, writers[n].now
                    w.start()
                end = time.monotonic() + 1.0
                while time.monotonic() < end:
                    more, it = drain(streams, it, limit=random.Random(seed).randrange(1, 50))
                    records += more
                if records:
                    last = records[-1]["dynamodb"]["SequenceNumber"]
                d.kill()
                for w in started:
                    w.join()
                    assert w.failure is None, w.failure
                writers = started
            with Daemon(data=data) as d:               # what came after the consumer's last page
                streams = d.client("dynamodbstreams")
                more, _ = drain(streams, iterator(streams, arn, "AFTER_SEQUENCE_NUMBER", last) if last
                                else iterator(streams, arn))
                records += more
                last = records[-1]["dynamodb"]["SequenceNumber"]
                everything, _ = drain(streams, iterator(streams, arn))
                assert everything == records
            numbers = [int(r["dynamodb"]["SequenceNumber"]) for r in records]
            assert numbers == sorted(set(numbers))
            for w in writers:
                for name in w.names:
                    seen = [r for r in records if r["dynamodb"]["Keys"] == key(name)]
                    w.history[name] = check_item(name, w, seen)
                    if w.history[name] and w.history[name][-1] is not None:
                        w.now[name] = True
                    else:
                        w.now.pop(name, None)
    assert len(records) > 50
