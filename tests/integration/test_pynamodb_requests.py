"""The kinds of request that PynamoDB sends, through the SDK below it: numbered placeholders, bracketed conditions, a version
attribute checked by every write, capacity asked for always. (Debian has no package of PynamoDB itself.)"""

import pytest
from botocore.exceptions import ClientError
from doors import definitions, index, item, keys

TOTAL = {"ReturnConsumedCapacity": "TOTAL"}


def names(*given):
    return {f"#{i}": n for i, n in enumerate(given)}


def numbered(*given):
    return {f":{i}": v for i, v in enumerate(item(**{str(i): v for i, v in enumerate(given)}).values())}


@pytest.fixture(scope="module")
def thread(ddb):
    with pytest.raises(ClientError) as missing:     # the model asks whether its table exists
        ddb.describe_table(TableName="Thread")
    assert missing.value.response["Error"]["Code"] == "ResourceNotFoundException"
    throughput = {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}
    ddb.create_table(TableName="Thread", KeySchema=keys("forum", "subject"), **throughput,
                     AttributeDefinitions=definitions(forum="S", subject="S", kind="S", view="N"),
                     GlobalSecondaryIndexes=[index("by_view", "kind", "view", **throughput)],
                     StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    assert ddb.describe_table(TableName="Thread")["Table"]["TableStatus"] == "ACTIVE"
    ddb.update_time_to_live(TableName="Thread", TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True})
    items = [item(forum="f", subject=f"t{i:02}", view=i, **({"kind": "odd"} if i % 2 else {})) for i in range(25)]
    got = ddb.batch_write_item(RequestItems={"Thread": [{"PutRequest": {"Item": i}} for i in items]}, **TOTAL)
    assert got["UnprocessedItems"] == {}
    return "Thread"


def test_versions(ddb, thread):
    new = dict(TableName=thread, Item=item(forum="v", subject="1", version=1, tags=["x"], view=3),
               ConditionExpression="attribute_not_exists (#0)", ExpressionAttributeNames=names("version"), **TOTAL)
    ddb.put_item(**new)
    with pytest.raises(ddb.exceptions.ConditionalCheckFailedException):
        ddb.put_item(**new)
    change = dict(TableName=thread, Key=item(forum="v", subject="1"), ReturnValues="ALL_NEW", **TOTAL,
                  ConditionExpression="((#0 > :0 AND contains (#1, :1)) AND #2 = :2)",
                  UpdateExpression="SET #0 = #0 + :3, #1 = list_append (#1, :4), #2 = :5 REMOVE #3 ADD #4 :6",
                  ExpressionAttributeNames=names("view", "tags", "version", "none", "labels"),
                  ExpressionAttributeValues={**numbered(1, "x", 1, 2, ["y"], 2), ":6": {"SS": ["a", "b"]}})
    got = ddb.update_item(**change)["Attributes"]
    assert got == {**item(forum="v", subject="1", view=5, version=2, tags=["x", "y"]), "labels": {"SS": ["a", "b"]}}
    with pytest.raises(ddb.exceptions.ConditionalCheckFailedException):
        ddb.update_item(**change)
    ddb.delete_item(TableName=thread, Key=item(forum="v", subject="1"), ConditionExpression="#0 = :0",
                    ExpressionAttributeNames=names("version"), ExpressionAttributeValues=numbered(2), **TOTAL)
    assert "Item" not in ddb.get_item(TableName=thread, Key=item(forum="v", subject="1"), ConsistentRead=False, **TOTAL)


def test_queries(ddb, thread):
    def subjects(**more):
        pages = ddb.get_paginator("query").paginate(TableName=thread, **more, **TOTAL)
        return [i["subject"]["S"] for p in pages for i in p["Items"]]

    one = dict(KeyConditionExpression="#0 = :0", ExpressionAttributeNames=names("forum"), ExpressionAttributeValues=numbered("f"))
    assert ddb.query(TableName=thread, Select="COUNT", **one, **TOTAL)["Count"] == 25
    assert subjects(KeyConditionExpression="(#0 = :0 AND #1 BETWEEN :1 AND :2)", IndexName="by_view", ScanIndexForward=False,
                    ExpressionAttributeNames=names("kind", "view"), ExpressionAttributeValues=numbered("odd", 11, 15)) \
        == ["t15", "t13", "t11"]
    assert len(subjects(KeyConditionExpression="(#0 = :0 AND begins_with (#1, :1))", Limit=3,
                        ExpressionAttributeNames=names("forum", "subject"),
                        ExpressionAttributeValues=numbered("f", "t1"))) == 10
    assert len(subjects(KeyConditionExpression="#0 = :0", FilterExpression="(#1 IN (:1, :2, :3) OR attribute_not_exists (#2))",
                        ProjectionExpression="#3", ExpressionAttributeNames=names("forum", "view", "kind", "subject"),
                        ExpressionAttributeValues=numbered("f", 1, 2, 3))) == 15
    # A page that ends early is gone on from a key made of an item.
    assert subjects(**one, ExclusiveStartKey=item(forum="f", subject="t22")) == ["t23", "t24"]


def test_transactions(ddb, thread):
    exists = {"ConditionExpression": "attribute_exists (#0)", "ExpressionAttributeNames": names("kind")}
    put = {"Put": {"TableName": thread, "Item": item(forum="g", subject="1", version=1),
                   "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                   "ConditionExpression": "(attribute_not_exists (#0) AND attribute_not_exists (#1))",
                   "ExpressionAttributeNames": names("forum", "version")}}
    ddb.transact_write_items(ClientRequestToken="token", TransactItems=[
        {"ConditionCheck": {"TableName": thread, "Key": item(forum="f", subject="t01"), **exists}},
        {"Delete": {"TableName": thread, "Key": item(forum="f", subject="t02")}}, put,
        {"Update": {"TableName": thread, "Key": item(forum="f", subject="t00"), "UpdateExpression": "ADD #0 :0",
                    "ExpressionAttributeNames": names("view"), "ExpressionAttributeValues": numbered(5)}}], **TOTAL)
    with pytest.raises(ddb.exceptions.TransactionCanceledException) as cancelled:
        ddb.transact_write_items(TransactItems=[put], **TOTAL)
    assert cancelled.value.response["CancellationReasons"] == [
        {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed", "Item": put["Put"]["Item"]}]
    got = ddb.transact_get_items(TransactItems=[{"Get": {"TableName": thread, "Key": item(forum="f", subject=s)}}
                                                for s in ("t00", "t02")],
                                 **TOTAL)
    assert [r.get("Item", {}).get("view") for r in got["Responses"]] == [{"N": "5"}, None]
