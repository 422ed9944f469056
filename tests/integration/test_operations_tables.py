"""Every operation on tables, tags, expiry and streams: what it does, each way to be refused; through both doors, alike."""

import os
import re
import time

import pytest
from daemon import ROOT
from doors import definitions, index, item, keys, values

ARN = "arn:aws:dynamodb:ddblocal:000000000000:table/"
HASH = {"BillingMode": "PAY_PER_REQUEST", "KeySchema": keys("pk"), "AttributeDefinitions": definitions(pk="S")}


def invalid(text):
    return "ValidationException", text


def missing(table="none"):
    return "ResourceNotFoundException", f"Requested resource not found: Table: {table} not found"


@pytest.fixture(scope="module")
def table(twin):
    twin("CreateTable", TableName="main", **HASH, Tags=[{"Key": "team", "Value": "shop"}])
    return "main"


def settle(twin, name):
    """Wait until table and indexes are active, or gone, at both sides."""
    for side in twin.sides:
        for _ in range(500):
            answer, refused = side.ask("DescribeTable", {"TableName": name})
            if refused or all(s == "ACTIVE" for s in [answer["Table"]["TableStatus"]] + [
                    i["IndexStatus"] for i in answer["Table"].get("GlobalSecondaryIndexes", [])]):
                break
            time.sleep(0.01)


# ---- the life of a table ----

def test_create_describe_list_delete(twin):
    made = twin("CreateTable", TableName="life", KeySchema=keys("pk", "sk"),
                AttributeDefinitions=definitions(pk="S", sk="B", x="N"),
                ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}, TableClass="STANDARD",
                GlobalSecondaryIndexes=[{"IndexName": "by-x", "KeySchema": keys("x"), "Projection": {
                    "ProjectionType": "INCLUDE", "NonKeyAttributes": ["y"]},
                    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}],
                LocalSecondaryIndexes=[index("local", "pk", "x", projection="KEYS_ONLY")])["TableDescription"]
    assert (made["TableArn"], made["ProvisionedThroughput"]["WriteCapacityUnits"], made["ItemCount"]) == (ARN + "life", 6, 0)
    settle(twin, "life")
    seen = twin("DescribeTable", TableName="life")["Table"]
    assert seen["TableStatus"] == "ACTIVE" and seen["GlobalSecondaryIndexes"][0]["IndexArn"] == ARN + "life/index/by-x"
    assert twin("DescribeTable", TableName=ARN + "life")["Table"] == seen, "by its ARN"
    twin.refuse("ResourceInUseException", "Table already exists: life", "CreateTable", TableName="life", **HASH)
    for i in range(5):
        twin("CreateTable", TableName=f"list-{i}", **HASH)
    page = twin("ListTables", Limit=2, ExclusiveStartTableName="life")
    assert page == {"TableNames": ["list-0", "list-1"], "LastEvaluatedTableName": "list-1"}
    assert twin("ListTables", ExclusiveStartTableName="list-1")["TableNames"][:3] == ["list-2", "list-3", "list-4"]
    for name in ["life"] + [f"list-{i}" for i in range(5)]:
        assert twin("DeleteTable", TableName=name)["TableDescription"]["TableStatus"] == "DELETING"
        settle(twin, name)
        twin.refuse(*missing(name), "DescribeTable", TableName=name)


@pytest.mark.parametrize("text, body", [
    ("Member must have length greater than or equal to 3", {"TableName": "ab"}),
    ("Member must have length less than or equal to", {"TableName": "a" * 1025}),
    ("", {"TableName": "a b c"}),
    ("Member must not be null", {"KeySchema": None}),
    ("Some index key attributes are not defined in AttributeDefinitions", {"KeySchema": keys("other")}),
    ("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
     {"AttributeDefinitions": definitions(pk="S", more="S")}),
    ("Member must satisfy enum value set", {"AttributeDefinitions": definitions(pk="X")}),
    ("Both the Hash Key and the Range Key element in the KeySchema have the same name",
     {"KeySchema": keys("pk", "pk"), "AttributeDefinitions": definitions(pk="S", sk="S")}),
    ("Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
     {"KeySchema": [{"AttributeName": "pk", "KeyType": "RANGE"}]}),
    ("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
     {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}),
    ("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
     {"BillingMode": "PROVISIONED"}),
    ("Duplicate index name: twice", {"GlobalSecondaryIndexes": [index("twice", "pk"), index("twice", "pk")]}),
    ("List of GlobalSecondaryIndexes is empty", {"GlobalSecondaryIndexes": []}),
    ("Unknown ProjectionType: null", {"GlobalSecondaryIndexes": [{"IndexName": "one", "KeySchema": keys("pk"),
                                                                  "Projection": {}}]}),
    ("", {"LocalSecondaryIndexes": [index("one", "pk")]}),
    ("UpdateViewType is required", {"StreamSpecification": {"StreamEnabled": True}}),
])
def test_tables_refused(twin, text, body):
    body = {k: v for k, v in {"TableName": "refused", **HASH, **body}.items() if v is not None}
    twin.refuse(*invalid(text), "CreateTable", **body)
    twin.refuse(*missing("refused"), "DescribeTable", TableName="refused")


def test_update_table(twin):
    twin("CreateTable", TableName="changing", **HASH)
    for i in range(20):
        twin("PutItem", TableName="changing", Item=item(pk=f"k{i}",
                                                        **({"x": i} if i % 2 else {"x": "not a number"} if i == 4 else {})))
    twin("UpdateTable", TableName="changing", AttributeDefinitions=definitions(pk="S", x="N"), GlobalSecondaryIndexUpdates=[
        {"Create": index("by-x", "x", projection="KEYS_ONLY")}])
    settle(twin, "changing")
    assert twin("Scan", TableName="changing", IndexName="by-x")["Count"] == 10, "what has no number is left out"
    got = twin("Query", TableName="changing", IndexName="by-x", KeyConditionExpression="x = :x",
               ExpressionAttributeValues=values(x=7))
    assert got["Items"] == [item(pk="k7", x=7)]
    twin.refuse(*invalid(""), "UpdateTable", TableName="changing", AttributeDefinitions=definitions(pk="S", x="N"),
                GlobalSecondaryIndexUpdates=[{"Create": index("by-x", "x")}])
    twin.refuse("ResourceNotFoundException", "", "UpdateTable", TableName="changing",
                GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "nothing"}}])
    twin("UpdateTable", TableName="changing", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-x"}}])
    settle(twin, "changing")
    twin.refuse(*invalid("The table does not have the specified index: by-x"), "Scan", TableName="changing", IndexName="by-x")
    assert "GlobalSecondaryIndexes" not in twin("DescribeTable", TableName="changing")["Table"]

    twin("UpdateTable", TableName="changing", BillingMode="PROVISIONED",
         ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 4})
    settle(twin, "changing")
    assert twin("DescribeTable", TableName="changing")["Table"]["ProvisionedThroughput"]["ReadCapacityUnits"] == 3
    twin.refuse(*invalid(""), "UpdateTable", TableName="changing", ProvisionedThroughput={"ReadCapacityUnits": 3,
                                                                                          "WriteCapacityUnits": 4})
    twin("UpdateTable", TableName="changing", DeletionProtectionEnabled=True)
    settle(twin, "changing")
    twin.refuse(*invalid("Resource cannot be deleted as it is currently protected against deletion"), "DeleteTable",
                TableName="changing")
    twin("UpdateTable", TableName="changing", DeletionProtectionEnabled=False)
    twin("DeleteTable", TableName="changing")


@pytest.mark.parametrize("error, operation, body", [
    (missing(), "DescribeTable", {"TableName": "none"}),
    (missing(), "DeleteTable", {"TableName": "none"}),
    (missing(), "UpdateTable", {"TableName": "none", "DeletionProtectionEnabled": True}),
    (invalid("Member must have length greater than or equal to 3"), "DescribeTable", {"TableName": "ab"}),
    (invalid("Member must have length greater than or equal to 3"), "DeleteTable", {"TableName": "ab"}),
    (invalid("At least one of"), "UpdateTable", {"TableName": "main"}),
    (invalid("Member must have value less than or equal to 100"), "ListTables", {"Limit": 101}),
    (invalid("Member must have value greater than or equal to 1"), "ListTables", {"Limit": 0}),
    (missing(), "DescribeTimeToLive", {"TableName": "none"}),
    (missing(), "UpdateTimeToLive", {"TableName": "none", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "e"}}),
    (invalid("TimeToLive is already disabled"), "UpdateTimeToLive", {
        "TableName": "main", "TimeToLiveSpecification": {"Enabled": False, "AttributeName": "e"}}),
    (invalid("Member must have length greater than or equal to 1"), "UpdateTimeToLive", {
        "TableName": "main", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": ""}}),
    (("TableNotFoundException", "Table not found: none"), "DescribeContinuousBackups", {"TableName": "none"}),
    (("ResourceNotFoundException", "Requested resource not found"), "ListTagsOfResource", {"ResourceArn": ARN + "none"}),
    (("ResourceNotFoundException", "Requested resource not found"), "TagResource", {
        "ResourceArn": ARN + "none", "Tags": [{"Key": "k", "Value": "v"}]}),
    (("ResourceNotFoundException", "Requested resource not found"), "UntagResource",
     {"ResourceArn": ARN + "none", "TagKeys": ["k"]}),
    (invalid(""), "ListTagsOfResource", {"ResourceArn": "main"}),
    (invalid("Atleast one Tag needs to be provided as Input."), "TagResource", {"ResourceArn": ARN + "main", "Tags": []}),
    (invalid("Atleast one Tag Key needs to be provided as Input."), "UntagResource",
     {"ResourceArn": ARN + "main", "TagKeys": []}),
])
def test_refused(twin, table, error, operation, body):
    twin.refuse(*error, operation, **body)


# ---- what stands beside a table ----

def test_tags(twin, table):
    arn = ARN + table
    assert twin("ListTagsOfResource", ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "shop"}]
    assert twin("TagResource", ResourceArn=arn, Tags=[{"Key": "team", "Value": "till"}, {"Key": "stage", "Value": ""}]) == {}
    tags = {t["Key"]: t["Value"] for t in twin("ListTagsOfResource", ResourceArn=arn)["Tags"]}
    assert tags == {"team": "till", "stage": ""}
    assert twin("UntagResource", ResourceArn=arn, TagKeys=["stage", "absent"]) == {}
    assert twin("ListTagsOfResource", ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "till"}]


def test_time_to_live(twin):
    twin("CreateTable", TableName="expiring", **HASH)
    assert twin("DescribeTimeToLive", TableName="expiring") == {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    on = {"Enabled": True, "AttributeName": "e"}
    assert twin("UpdateTimeToLive", TableName="expiring", TimeToLiveSpecification=on) == {"TimeToLiveSpecification": on}
    assert twin("DescribeTimeToLive", TableName="expiring")["TimeToLiveDescription"] == {"AttributeName": "e",
                                                                                         "TimeToLiveStatus": "ENABLED"}
    twin.refuse(*invalid("TimeToLive is already enabled"), "UpdateTimeToLive", TableName="expiring", TimeToLiveSpecification=on)
    twin("DeleteTable", TableName="expiring")


def test_of_the_account(twin, table):
    assert twin("DescribeLimits")["AccountMaxReadCapacityUnits"] == 80000
    assert len(twin("DescribeEndpoints")["Endpoints"]) == 1
    assert twin("DescribeContinuousBackups", TableName=table)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"] \
        == {"PointInTimeRecoveryStatus": "DISABLED"}
    twin.refuse("UnknownOperationException", "", "UpdateContinuousBackups", TableName=table,
                PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})


# ---- streams ----

def test_streams(twin):
    twin("CreateTable", TableName="streamed", **HASH, StreamSpecification={"StreamEnabled": True,
                                                                           "StreamViewType": "NEW_AND_OLD_IMAGES"})
    arn = {side: a["TableDescription"]["LatestStreamArn"] for side, a in twin.answers.items()}
    assert len(twin("ListStreams", TableName="streamed")["Streams"]) == 1 and twin("ListStreams",
                                                                                   TableName="main")["Streams"] == []
    assert twin("DescribeStream", StreamArn=arn.get)["StreamDescription"]["StreamStatus"] == "ENABLED"
    shard = {side: a["StreamDescription"]["Shards"][0]["ShardId"] for side, a in twin.answers.items()}
    for n in (1, 2, 2):
        twin("PutItem", TableName="streamed", Item=item(pk="a", n=n))
    twin("DeleteItem", TableName="streamed", Key=item(pk="a"))

    def iterator(kind, **more):
        twin("GetShardIterator", StreamArn=arn.get, ShardId=shard.get, ShardIteratorType=kind, **more)
        return {side: a["ShardIterator"] for side, a in twin.answers.items()}

    def records(at, **more):
        return twin("GetRecords", ShardIterator=at.get, **more)["Records"]

    oldest = iterator("TRIM_HORIZON")
    got = records(oldest)
    assert [r["eventName"] for r in got] == ["INSERT", "MODIFY", "REMOVE"], "the same again is no change"
    assert got[1]["dynamodb"]["OldImage"]["n"] == {"N": "1"} and got[1]["dynamodb"]["NewImage"]["n"] == {"N": "2"}
    second = {side: a["Records"][1]["dynamodb"]["SequenceNumber"] for side, a in twin.answers.items()}
    assert len(records(oldest, Limit=2)) == 2
    assert [r["eventName"] for r in records({s: a["NextShardIterator"] for s, a in twin.answers.items()})] == ["REMOVE"]
    assert len(records(iterator("AT_SEQUENCE_NUMBER", SequenceNumber=second.get))) == 2
    assert len(records(iterator("AFTER_SEQUENCE_NUMBER", SequenceNumber=second.get))) == 1
    assert records(iterator("LATEST")) == []

    gone = ARN + "streamed/stream/2020-01-01T00:00:00.000"
    twin.refuse("ResourceNotFoundException", f"Requested resource not found: Stream: {gone} not found", "DescribeStream",
                StreamArn=gone)
    twin.refuse("ResourceNotFoundException", "", "GetShardIterator", StreamArn=gone,
                ShardId="shardId-00000000000000000000-00000000",
                ShardIteratorType="LATEST")
    twin.refuse("ValidationException", "", "GetShardIterator", StreamArn=arn.get, ShardId=shard.get,
                ShardIteratorType="AT_SEQUENCE_NUMBER")
    twin.refuse("ValidationException", "", "GetRecords", ShardIterator="x")
    twin.refuse("ValidationException", "", "GetRecords", ShardIterator=oldest.get, Limit=1001)
    twin.refuse("ValidationException", "", "ListStreams", Limit=0)


# ---- Application Auto Scaling; test_scaling_api.py has more ----

def test_auto_scaling(twin):
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    twin("CreateTable", TableName="scaled", **{**HASH, "BillingMode": "PROVISIONED"}, ProvisionedThroughput=units)
    reads = {"ServiceNamespace": "dynamodb", "ResourceId": "table/scaled", "ScalableDimension": "dynamodb:table:ReadCapacityUnits"}
    config = {"TargetValue": 60.0, "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"}}
    twin.refuse("ObjectNotFoundException", "No scalable target registered", "PutScalingPolicy", PolicyName="p", **reads,
                TargetTrackingScalingPolicyConfiguration=config)
    twin.refuse("ObjectNotFoundException", "No scalable target found", "DeregisterScalableTarget", **reads)
    twin.refuse("ValidationException", "DynamoDB table does not exist: table/none", "RegisterScalableTarget", MinCapacity=1,
                MaxCapacity=2, **{**reads, "ResourceId": "table/none"})
    assert twin("RegisterScalableTarget", MinCapacity=7, MaxCapacity=9, **reads) == {}
    twin.refuse("ObjectNotFoundException", "No scaling policy found", "DeleteScalingPolicy", PolicyName="p", **reads)
    assert twin("PutScalingPolicy", PolicyName="p", **reads, TargetTrackingScalingPolicyConfiguration=config)["Alarms"] == []
    assert twin("DescribeTable", TableName="scaled")["Table"]["ProvisionedThroughput"]["ReadCapacityUnits"] == 7
    targets = twin("DescribeScalableTargets", ServiceNamespace="dynamodb")["ScalableTargets"]
    assert [(t["ResourceId"], t["MinCapacity"], t["MaxCapacity"]) for t in targets] == [("table/scaled", 7, 9)]
    policies = twin("DescribeScalingPolicies", ServiceNamespace="dynamodb")["ScalingPolicies"]
    assert [(p["PolicyName"], p["TargetTrackingScalingPolicyConfiguration"]["TargetValue"]) for p in policies] == [("p", 60.0)]
    twin.refuse("ValidationException", "", "DescribeScalableTargets", ServiceNamespace="")
    twin.refuse("ValidationException", "", "DescribeScalingPolicies", ServiceNamespace="")
    assert twin("DeleteScalingPolicy", PolicyName="p", **reads) == {}
    assert twin("DeregisterScalableTarget", **reads) == {}


# ---- nothing is left out ----

def test_each_operation_is_here():
    """Answered in one of these files, and refused; an operation that is added must be tested."""
    with open(os.path.join(ROOT, "protocol", "op.h"), encoding="utf-8") as f:
        operations = set(re.findall(r"X\((\w+), \w+, \w+, [A-Z]+, [A-Z]+\)", f.read()))
    text = ""
    for name in ("test_operations_items.py", "test_operations_tables.py"):
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as f:
            text += f.read()
    assert len(operations) > 30
    never_refused = {"DescribeLimits", "DescribeEndpoints"}
    unimplemented = {"UpdateContinuousBackups"}
    for op in operations - unimplemented:
        assert f'twin("{op}"' in text, op + " is never answered"
    for op in operations - never_refused:
        # A call of refuse, or a line of a table of refusals: (error, operation, request).
        assert re.search(rf'(?s)twin\.refuse\([^(]*(\([^()]*\))?[^(]*"{op}"|\), "{op}",', text), op + " is never refused"
