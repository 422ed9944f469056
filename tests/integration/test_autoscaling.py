"""test_autoscaling - throughput follows the traffic, as clients and `dynax autoscaling` see it; minutes pass by POST /clock."""

import json
import os
import subprocess

import pytest

from daemon import BINARY, DataDirectory, Daemon
from test_capacity import advance, metric, raw

DYNAX = os.environ.get("DYNAX", os.path.join(os.path.dirname(BINARY), "dynax"))
KB = "x" * 1024


def autoscaling(daemon, *args, code=0):
    """What the command shows; with a code, what it complains of."""
    done = subprocess.run([DYNAX, "autoscaling", *args, "--admin", "%s:%d" % daemon.admin], capture_output=True, text=True, timeout=10)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)["AutoScaling"] if code == 0 else done.stderr


def create(client, units=5):
    throughput = {"ReadCapacityUnits": units, "WriteCapacityUnits": units}
    client.create_table(TableName="tab", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
                        ProvisionedThroughput=throughput,
                        GlobalSecondaryIndexes=[{"IndexName": "byg", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                                 "Projection": {"ProjectionType": "KEYS_ONLY"}, "ProvisionedThroughput": throughput}])


def minute(daemon, client, units):
    """Write so many units, then let a minute pass."""
    while units > 0:
        n = min(units, 100)
        client.put_item(TableName="tab", Item={"pk": {"S": f"k{n}"}, "v": {"S": KB * (n - 1)}})
        units -= n
    advance(daemon, 60)


def provisioned(client):
    return client.describe_table(TableName="tab")["Table"]["ProvisionedThroughput"]


def test_out_and_in():
    with Daemon("--test-clock") as daemon:
        client = daemon.client()
        create(client)
        assert autoscaling(daemon, "tab") == []
        shown = autoscaling(daemon, "tab", "--write", "--min", "5", "--max", "50", "--target", "50")
        assert shown == autoscaling(daemon, "tab") == [
            {"Capacity": "write", "MinCapacity": 5, "MaxCapacity": 50, "TargetValue": 50, "ScaleInCooldown": 0, "ScaleOutCooldown": 0,
             "CapacityUnits": 5}]
        minute(daemon, client, 300)
        assert provisioned(client)["WriteCapacityUnits"] == 5
        minute(daemon, client, 300)
        now = provisioned(client)
        assert now["WriteCapacityUnits"] == 10      # 5 a second are half of it
        assert metric(daemon, "dynax_throughput_units", table="tab", index="", use="write") == 10
        assert "LastIncreaseDateTime" in now and now["ReadCapacityUnits"] == 5
        minute(daemon, client, 120)                 # 2 a second are 20 percent
        for _ in range(13):
            minute(daemon, client, 0)
        assert provisioned(client)["WriteCapacityUnits"] == 10
        minute(daemon, client, 0)
        assert provisioned(client)["WriteCapacityUnits"] == 5, "the fifteenth"
        assert provisioned(client)["NumberOfDecreasesToday"] == 1
        assert autoscaling(daemon, "tab", "--write", "--off") == []
        minute(daemon, client, 300)
        minute(daemon, client, 300)
        assert provisioned(client)["WriteCapacityUnits"] == 5


def test_index_and_restart():
    with DataDirectory() as data:
        with Daemon("--test-clock", data=data) as daemon:
            create(daemon.client())
            autoscaling(daemon, "tab", "--index", "byg", "--read", "--min", "7", "--max", "9", "--in-cooldown", "60",
                        "--out-cooldown", "30")
        with Daemon("--test-clock", data=data) as daemon:
            assert autoscaling(daemon, "tab") == [
                {"IndexName": "byg", "Capacity": "read", "MinCapacity": 7, "MaxCapacity": 9, "TargetValue": 70, "ScaleInCooldown": 60,
                 "ScaleOutCooldown": 30, "CapacityUnits": 7}]
            index = daemon.client().describe_table(TableName="tab")["Table"]["GlobalSecondaryIndexes"][0]
            assert index["ProvisionedThroughput"]["ReadCapacityUnits"] == 7


@pytest.mark.parametrize("args, code, text", [
    (["none"], 3, "Table: none not found"),
    (["none", "--read", "--min", "1", "--max", "2"], 3, "Table: none not found"),
    (["tab", "--read", "--min", "1"], 3, "POST /autoscaling"),
    (["tab", "--min", "1", "--max", "2"], 3, "POST /autoscaling"),
    (["tab", "--read", "--min", "3", "--max", "2"], 3, "not greater than the maximum"),
    (["tab", "--read", "--min", "1", "--max", "2", "--target", "91"], 3, "from 20 to 90 percent"),
    (["tab", "--read", "--min", "x", "--max", "2"], 3, "POST /autoscaling"),
    (["tab", "--read", "--min", "1", "--max", "2", "--index", "other"], 3, "does not have the specified index: other"),
    (["tab", "--read", "--limit", "1"], 2, "autoscaling takes no --limit"),
    (["t b"], 2, "bad value 't b' for table"),
])
def test_refused(refusing, args, code, text):
    assert text in autoscaling(refusing, *args, code=code)


@pytest.fixture(scope="module")
def refusing():
    with Daemon() as daemon:
        create(daemon.client())
        yield daemon


def test_options_are_for_autoscaling(refusing):
    done = subprocess.run([DYNAX, "scan", "tab", "--off", "--endpoint", "%s:%d" % refusing.msgpack], capture_output=True, text=True)
    assert done.returncode == 2 and "scan takes no --off" in done.stderr


def test_on_demand_as_the_service_has_it():
    """A new on-demand table gives 12,000 reads a second, and not more; what it was asked for in advance, it gives too."""
    with Daemon("--test-clock", "--capacity", "aws", "--partition-rcu", "1000000", "--query-cache", "0") as daemon:
        client = daemon.client()
        client.create_table(TableName="tab", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"},
                                                        {"AttributeName": "sk", "KeyType": "RANGE"}], BillingMode="PAY_PER_REQUEST",
                            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                                                  {"AttributeName": "sk", "AttributeType": "S"}])
        for i in range(5):
            client.put_item(TableName="tab", Item={"pk": {"S": "a"}, "sk": {"S": str(i)}, "v": {"S": KB * 200}})
        query = {"TableName": "tab", "Select": "COUNT", "ConsistentRead": True, "ReturnConsumedCapacity": "TOTAL",
                 "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}

        def read():
            """Units until it is refused, and the refusal."""
            used = 0
            while used < 50000:
                try:
                    used += client.query(**query)["ConsumedCapacity"]["CapacityUnits"]
                except client.exceptions.ClientError as refused:
                    return used, refused.response
            return used, None

        used, refused = read()
        assert 12000 <= used < 12300
        assert refused["Error"]["Code"] == "ThrottlingException"
        assert refused["Error"]["Message"].startswith("Throughput exceeds the current capacity of your table or index. ")
        advance(daemon, 60)
        assert 11700 < read()[0] < 12300
        assert raw(daemon, "UpdateTable", TableName="tab", WarmThroughput={"ReadUnitsPerSecond": 20000})[0] == 200
        status, table = raw(daemon, "DescribeTable", TableName="tab")
        assert table["Table"]["WarmThroughput"] == {"ReadUnitsPerSecond": 20000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}
        advance(daemon, 60)
        assert 19700 < read()[0] < 20300
        status, answer = raw(daemon, "Query", **query)
        assert (status, answer["throttlingReasons"][0]["reason"]) == (400, "TableReadKeyRangeThroughputExceeded")
