"""Time to live as boto3 sees it: what expires, the window before, the mark in the stream, and restarts."""

import time

import pytest
from botocore.exceptions import ClientError

from daemon import Daemon, DataDirectory
from test_streams import drain, iterator

INTERVAL = ("--ttl-interval", "100")


def create(ddb, name):
    ddb.create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"})


def enable(ddb, name, enabled=True, attribute="exp"):
    return ddb.update_time_to_live(TableName=name, TimeToLiveSpecification={"AttributeName": attribute, "Enabled": enabled})


def put(ddb, name, pk, seconds):
    ddb.put_item(TableName=name, Item={"pk": {"S": pk}, "exp": {"N": str(int(time.time()) + seconds)}})


def get(ddb, name, pk, consistent=True):
    return ddb.get_item(TableName=name, Key={"pk": {"S": pk}}, ConsistentRead=consistent).get("Item")


def await_gone(ddb, name, pk, seconds=10):
    end = time.monotonic() + seconds
    while get(ddb, name, pk):
        assert time.monotonic() < end, f"{pk} is still there"
        time.sleep(0.05)
    assert get(ddb, name, pk, consistent=False) is None, "a cache has kept it"


@pytest.fixture(scope="module")
def daemon():
    with Daemon(*INTERVAL) as d:
        yield d
        assert d.stop() == 0, d.stderr()


@pytest.fixture(scope="module")
def ddb(daemon):
    return daemon.client()


def test_expired_items_go_marked_as_the_services(daemon, ddb):
    create(ddb, "marked")
    assert enable(ddb, "marked")["TimeToLiveSpecification"] == {"AttributeName": "exp", "Enabled": True}
    put(ddb, "marked", "user", 3600)
    put(ddb, "marked", "gone", -60)
    put(ddb, "marked", "soon", 2)
    ddb.delete_item(TableName="marked", Key={"pk": {"S": "user"}})
    assert get(ddb, "marked", "soon")
    await_gone(ddb, "marked", "gone")
    await_gone(ddb, "marked", "soon")
    streams = daemon.client("dynamodbstreams")
    arn = ddb.describe_table(TableName="marked")["Table"]["LatestStreamArn"]
    records, _ = drain(streams, iterator(streams, arn))
    removed = {r["dynamodb"]["Keys"]["pk"]["S"]: r for r in records if r["eventName"] == "REMOVE"}
    assert set(removed) == {"user", "gone", "soon"}
    assert "userIdentity" not in removed["user"]
    for pk in ("gone", "soon"):
        assert removed[pk]["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
        assert removed[pk]["dynamodb"]["OldImage"]["pk"] == {"S": pk}


def test_an_update_saves_an_item():
    with Daemon("--ttl-interval", "2000") as d:
        ddb = d.client()
        create(ddb, "saved")
        enable(ddb, "saved")
        put(ddb, "saved", "a", -60)
        assert get(ddb, "saved", "a"), "between expiry and deletion it is there"
        ddb.update_item(TableName="saved", Key={"pk": {"S": "a"}}, UpdateExpression="SET exp = :f",
                        ExpressionAttributeValues={":f": {"N": str(int(time.time()) + 3600)}})
        put(ddb, "saved", "b", -60)
        await_gone(ddb, "saved", "b")
        assert get(ddb, "saved", "a")


def test_each_misuse_has_its_message(ddb):
    create(ddb, "misuse")

    def refused(words, **how):
        with pytest.raises(ClientError) as e:
            enable(ddb, "misuse", **how)
        assert e.value.response["Error"]["Code"] == "ValidationException"
        assert words in e.value.response["Error"]["Message"]

    refused("already disabled", enabled=False)
    enable(ddb, "misuse")
    refused("already enabled")
    refused("active on a different AttributeName", attribute="other")
    refused("different", enabled=False, attribute="other")
    refused("length", attribute="x" * 256)
    assert ddb.describe_time_to_live(TableName="misuse")["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED", "AttributeName": "exp"}


def test_expiry_goes_on_after_a_kill():
    with DataDirectory() as data:
        with Daemon("--ttl-interval", "100000", data=data) as d:
            ddb = d.client()
            create(ddb, "restart")
            for i in range(300):
                put(ddb, "restart", f"old-{i}", -60)
            enable(ddb, "restart")
            for i in range(100):
                put(ddb, "restart", f"new-{i}", -60)
                put(ddb, "restart", f"stays-{i}", 3600)
            d.kill()
        with Daemon(*INTERVAL, data=data) as d:
            ddb = d.client()
            for pk in ("old-0", "old-299", "new-0", "new-99"):
                await_gone(ddb, "restart", pk)
            end = time.monotonic() + 10
            while (n := ddb.scan(TableName="restart", Select="COUNT")["Count"]) != 100:
                assert time.monotonic() < end, n
                time.sleep(0.05)
            assert ddb.describe_table(TableName="restart")["Table"]["ItemCount"] == 100
