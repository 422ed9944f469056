"""test_capacity - throughput that tables declare, as clients meet it: refused, left unprocessed, saved by the cache.

The daemon's clock stands still and is moved by hand, so that five minutes of burst take no time."""

import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from daemon import BINARY, Daemon

EXCEEDED = ("The level of configured provisioned throughput for the table was exceeded. "
            "Consider increasing your provisioning level with the UpdateTable API.")


def advance(daemon, seconds):
    request = urllib.request.Request(f"{daemon.admin_url}/clock?advance={seconds}", method="POST")
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert answer.status == 200


def metric(daemon, name, **labels):
    """The value of one line of /metrics; 0 if there is none."""
    with urllib.request.urlopen(daemon.admin_url + "/metrics", timeout=5) as answer:
        text = answer.read().decode()
    wanted = ",".join(f'{k}="{v}"' for k, v in labels.items())
    found = re.search(rf"^{name}\{{{re.escape(wanted)}\}} (\S+)$", text, re.M)
    return float(found[1]) if found else 0


def raw(daemon, op, **body):
    """Status and answer of a request that an older boto3 would not make, or not show in full."""
    request = urllib.request.Request(daemon.url, json.dumps(body).encode(), {
        "X-Amz-Target": f"DynamoDB_20120810.{op}", "Content-Type": "application/x-amz-json-1.0",
        "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
                         "SignedHeaders=host, Signature=00", "X-Amz-Date": "20260101T000000Z"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


@pytest.fixture
def served():
    with Daemon("--test-clock") as daemon:
        yield daemon, daemon.client()


def create(client, name="tab", units=1, **more):
    client.create_table(TableName=name, KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        **(more or {"ProvisionedThroughput": {"ReadCapacityUnits": units, "WriteCapacityUnits": units}}))


def put(client, key, **more):
    return client.put_item(TableName="tab", Item={"pk": {"S": key}, **more})


def use_up_writes(client):
    passed = 0
    with pytest.raises(client.exceptions.ProvisionedThroughputExceededException) as refused:
        for passed in range(10000):
            put(client, f"u{passed}")
    return passed, refused.value.response


def test_writes(served):
    daemon, client = served
    create(client)
    passed, response = use_up_writes(client)
    assert passed == 300
    assert response["Error"]["Message"] == EXCEEDED
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert raw(daemon, "PutItem", TableName="tab", Item={"pk": {"S": "x"}}) == (400, {
        "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", "message": EXCEEDED,
        "ThrottlingReasons": [{"reason": "TableWriteProvisionedThroughputExceeded",
                               "resource": "arn:aws:dynamodb:ddblocal:000000000000:table/tab"}]})
    assert metric(daemon, "dynax_consumed_units_total", table="tab", index="", use="write") == 300
    assert metric(daemon, "dynax_throttled_total", table="tab", index="", use="write") == 2
    assert "Item" not in client.get_item(TableName="tab", Key={"pk": {"S": "u300"}})
    advance(daemon, 2)
    assert use_up_writes(client)[0] == 2


def test_cache_hits_are_free(served):
    daemon, client = served
    create(client)
    put(client, "a", text={"S": "x" * 5000})
    for _ in range(1000):
        answer = client.get_item(TableName="tab", Key={"pk": {"S": "a"}}, ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
        assert answer["ConsumedCapacity"]["CapacityUnits"] == 2
    assert metric(daemon, "dynax_consumed_units_total", table="tab", index="", use="read") == 2
    assert metric(daemon, "dynax_saved_read_units_total", table="tab", index="") == 2 * 999
    query = {"TableName": "tab", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}
    for _ in range(100):
        client.query(**query)
    assert metric(daemon, "dynax_consumed_units_total", table="tab", index="", use="read") == 3
    assert metric(daemon, "dynax_saved_read_units_total", table="tab", index="") == 2 * 999 + 99


def test_reads():
    with Daemon("--test-clock", "--item-cache", "0", "--query-cache", "0") as daemon:
        client = daemon.client()
        create(client)
        put(client, "a")
        key = {"TableName": "tab", "Key": {"pk": {"S": "a"}}}
        for _ in range(600):
            client.get_item(**key)
        status, answer = raw(daemon, "GetItem", **key)
        assert (status, answer["ThrottlingReasons"][0]["reason"]) == (400, "TableReadProvisionedThroughputExceeded")
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException):
            client.scan(TableName="tab")
        keys = {"RequestItems": {"tab": {"Keys": [{"pk": {"S": "a"}}, {"pk": {"S": "b"}}, {"pk": {"S": "c"}}]}}}
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException):
            client.batch_get_item(**keys)
        with pytest.raises(client.exceptions.TransactionCanceledException) as cancelled:
            client.transact_get_items(TransactItems=[{"Get": key}])
        assert cancelled.value.response["CancellationReasons"] == [
            {"Code": "ProvisionedThroughputExceeded", "Message": EXCEEDED}]
        advance(daemon, 1)
        answer = client.batch_get_item(**keys)
        assert answer["Responses"]["tab"] == [{"pk": {"S": "a"}}]
        assert answer["UnprocessedKeys"] == {"tab": {"Keys": [{"pk": {"S": "c"}}]}}
        advance(daemon, 1)
        assert client.batch_get_item(RequestItems=answer["UnprocessedKeys"])["UnprocessedKeys"] == {}


def test_batch_write(served):
    """Some members throttled: exactly those come back. All: an error."""
    daemon, client = served
    create(client)
    use_up_writes(client)
    puts = [{"PutRequest": {"Item": {"pk": {"S": f"k{i}"}}}} for i in range(5)]
    with pytest.raises(client.exceptions.ProvisionedThroughputExceededException):
        client.batch_write_item(RequestItems={"tab": puts})
    advance(daemon, 3)
    answer = client.batch_write_item(RequestItems={"tab": puts})
    assert answer["UnprocessedItems"] == {"tab": puts[3:]}
    there = [i for i in range(5) if "Item" in client.get_item(TableName="tab", Key={"pk": {"S": f"k{i}"}})]
    assert there == [0, 1, 2]


def test_on_demand(served):
    daemon, client = served
    status, _ = raw(daemon, "CreateTable", TableName="tab", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                    AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST",
                    OnDemandThroughput={"MaxWriteRequestUnits": 1})
    assert status == 200
    for i in range(300):
        put(client, f"k{i}")
    assert raw(daemon, "PutItem", TableName="tab", Item={"pk": {"S": "x"}}) == (400, {
        "__type": "com.amazon.coral.availability#ThrottlingException",
        "message": "Throughput exceeds the maximum OnDemandThroughput configured on table or index",
        "throttlingReasons": [{"reason": "TableWriteMaxOnDemandThroughputExceeded",
                               "resource": "arn:aws:dynamodb:ddblocal:000000000000:table/tab"}]})


@pytest.mark.parametrize("mode", ["account", "off"])
def test_not_enforced(mode):
    with Daemon("--test-clock", "--capacity", mode) as daemon:
        client = daemon.client()
        create(client)
        for i in range(320):
            put(client, f"k{i}")
        used = metric(daemon, "dynax_consumed_units_total", table="tab", index="", use="write")
        assert used == (320 if mode == "account" else 0)


def test_clock_wants_its_option():
    with Daemon() as daemon:
        with pytest.raises(urllib.error.HTTPError) as refused:
            advance(daemon, 1)
        assert refused.value.code == 404


def test_clock_bad_requests(served):
    daemon, _ = served
    for path in ("/clock", "/clock?advance=", "/clock?advance=-1", "/clock?advance=1e99", "/clock?advance=x", "/clock?advance=1x"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(daemon.admin_url + path, method="POST"), timeout=5)
        assert refused.value.code == 400


def test_partiql(served):
    """Statements are held to the throughput like the operations that they stand for."""
    daemon, client = served
    create(client)
    use_up_writes(client)
    insert = "INSERT INTO tab VALUE {'pk': '%s'}"
    with pytest.raises(client.exceptions.ProvisionedThroughputExceededException):
        client.execute_statement(Statement=insert % "a")
    advance(daemon, 1)
    answer = client.batch_execute_statement(Statements=[{"Statement": insert % "a"}, {"Statement": insert % "b"}])
    assert [r.get("Error", {}).get("Code") for r in answer["Responses"]] == [None, "ProvisionedThroughputExceeded"]
    with pytest.raises(client.exceptions.TransactionCanceledException) as cancelled:
        client.execute_transaction(TransactStatements=[{"Statement": insert % "c"}])
    assert cancelled.value.response["CancellationReasons"][0]["Code"] == "ProvisionedThroughputExceeded"
    there = client.scan(TableName="tab", ConsistentRead=True)["Items"]
    assert {"pk": {"S": "a"}} in there and {"pk": {"S": "b"}} not in there and {"pk": {"S": "c"}} not in there


def test_stream_has_no_trace(served):
    """What is refused is in no stream, and expiry is not held up by throughput."""
    daemon, client = served
    client.create_table(TableName="tab", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
                        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    client.update_time_to_live(TableName="tab", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    put(client, "short", ttl={"N": str(int(time.time()) + 1)})
    use_up_writes(client)
    streams = daemon.client("dynamodbstreams")
    arn = client.describe_table(TableName="tab")["Table"]["LatestStreamArn"]
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    at = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    records = streams.get_records(ShardIterator=at)["Records"]
    assert len(records) == 300
    used = metric(daemon, "dynax_consumed_units_total", table="tab", index="", use="write")
    assert used == 300
    advance(daemon, 3600)
    deadline = time.monotonic() + 10
    while "Item" in client.get_item(TableName="tab", Key={"pk": {"S": "short"}}) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert "Item" not in client.get_item(TableName="tab", Key={"pk": {"S": "short"}})
    assert metric(daemon, "dynax_consumed_units_total", table="tab", index="", use="write") == 300


def test_rate_under_concurrency():
    """However many ask at once and wherever their reads are carried out: what was saved, and then the rate, passes."""
    with Daemon("--item-cache", "0", "--threads", "4") as daemon:
        client = daemon.client(max_pool_connections=8)
        create(client, units=2)
        began = time.monotonic()

        def ask(who):
            """Each asks for a key of its own: whoever joins another's read in flight is not charged for it."""
            passed, refused = 0, False
            while time.monotonic() < began + 4 or (not refused and time.monotonic() < began + 60):
                try:
                    client.get_item(TableName="tab", Key={"pk": {"S": f"a{who}"}}, ConsistentRead=True)
                    passed += 1
                except client.exceptions.ProvisionedThroughputExceededException:
                    refused = True
                    time.sleep(0.02)
            return passed

        with ThreadPoolExecutor(8) as pool:
            passed = sum(pool.map(ask, range(8)))
        seconds = int(time.monotonic() - began) + 1
        # Eight at most are under way when the last unit goes.
        assert 600 <= passed <= 600 + 2 * seconds + 8 * seconds
        assert metric(daemon, "dynax_consumed_units_total", table="tab", index="", use="read") == passed
        assert metric(daemon, "dynax_throttled_total", table="tab", index="", use="read") > 0
