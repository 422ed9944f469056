"""The README's tour, with boto3's resource interface as most Python users have it."""

import boto3
import pytest
from boto3.dynamodb.conditions import Key
from botocore.exceptions import ClientError

import ecommerce


@pytest.fixture(scope="module")
def table(dynax):
    resource = boto3.resource("dynamodb", endpoint_url=dynax.url, region_name="us-east-1",
                              aws_access_key_id="any", aws_secret_access_key="any")
    table = resource.create_table(**ecommerce.TABLE)
    table.wait_until_exists()
    with table.batch_writer() as batch:
        for item in ecommerce.ITEMS:
            batch.put_item(Item=item)
    return table


def test_profile(table):
    got = table.get_item(Key={"PK": "CUSTOMER#42", "SK": "PROFILE"})
    assert got["Item"]["name"] == "Ana"
    assert got["ResponseMetadata"]["HTTPHeaders"]["x-dynax-cache"] in ("hit", "miss")
    again = table.get_item(Key={"PK": "CUSTOMER#42", "SK": "PROFILE"})
    assert again["ResponseMetadata"]["HTTPHeaders"]["x-dynax-cache"] == "hit"
    assert again["Item"] == got["Item"]


def test_orders_newest_first(table):
    got = table.query(KeyConditionExpression=Key("PK").eq("CUSTOMER#42") & Key("SK").begins_with("ORDER#"),
                      ScanIndexForward=False)
    assert [o["SK"] for o in got["Items"]] == ["ORDER#2025-06-12#o-9", "ORDER#2025-05-30#o-7"]


def test_order_with_its_items_in_one_query(table):
    got = table.query(KeyConditionExpression=Key("PK").eq("ORDER#o-9"))
    assert [i["SK"] for i in got["Items"]] == ["ITEM#1", "ITEM#2", "META"]
    assert sum(i["qty"] * i["price"] for i in got["Items"] if i["type"] == "item") == 60


def test_status_changes_once(table):
    change = dict(Key={"PK": "ORDER#o-9", "SK": "META"}, UpdateExpression="SET #s = :new", ConditionExpression="#s = :old",
                  ExpressionAttributeNames={"#s": "status"}, ExpressionAttributeValues={":new": "SHIPPED", ":old": "PLACED"})
    got = table.update_item(**change, ReturnValues="UPDATED_NEW")
    assert got["Attributes"] == {"status": "SHIPPED"}
    with pytest.raises(ClientError) as failure:
        table.update_item(**change)
    assert failure.value.response["Error"]["Code"] == "ConditionalCheckFailedException"
    assert failure.value.response["Error"]["Message"] == "The conditional request failed"
    seen = table.query(KeyConditionExpression=Key("PK").eq("ORDER#o-9") & Key("SK").eq("META"))
    assert seen["Items"][0]["status"] == "SHIPPED"
