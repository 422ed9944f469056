"""DynamoDB Streams as boto3 sees them: pages and errors. What a consumer sees of all: test_stream_consumer.py."""

import pytest
from botocore.exceptions import ClientError


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
