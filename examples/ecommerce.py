# A shop in one table. apt install python3-boto3 && python3 ecommerce.py
import boto3
from boto3.dynamodb.conditions import Key

db = boto3.resource("dynamodb", endpoint_url="http://127.0.0.1:8000", region_name="us-east-1",
                    aws_access_key_id="any", aws_secret_access_key="any")
shop = db.create_table(
    TableName="ecommerce", BillingMode="PAY_PER_REQUEST",
    KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"}])

shop.put_item(Item={"PK": "CUSTOMER#42", "SK": "PROFILE", "name": "Ana", "email": "ana@x.io"})
shop.put_item(Item={"PK": "CUSTOMER#42", "SK": "ORDER#2025-05-30#o-7", "total": 20})
shop.put_item(Item={"PK": "CUSTOMER#42", "SK": "ORDER#2025-06-12#o-9", "total": 60})
shop.put_item(Item={"PK": "ORDER#o-9", "SK": "META", "status": "PLACED"})
shop.put_item(Item={"PK": "ORDER#o-9", "SK": "ITEM#1", "sku": "kettle", "qty": 1})

# a profile
print(shop.get_item(Key={"PK": "CUSTOMER#42", "SK": "PROFILE"})["Item"])
# a customer's orders, newest first
print(shop.query(KeyConditionExpression=Key("PK").eq("CUSTOMER#42") & Key("SK").begins_with("ORDER#"),
                 ScanIndexForward=False)["Items"])
# an order with its items, in one Query
print(shop.query(KeyConditionExpression=Key("PK").eq("ORDER#o-9"))["Items"])

# the status changes from PLACED to SHIPPED; the second time the condition fails
for attempt in range(2):
    try:
        print(shop.update_item(Key={"PK": "ORDER#o-9", "SK": "META"}, UpdateExpression="SET #s = :new",
                               ConditionExpression="#s = :old", ExpressionAttributeNames={"#s": "status"},
                               ExpressionAttributeValues={":new": "SHIPPED", ":old": "PLACED"},
                               ReturnValues="ALL_NEW")["Attributes"])
    except shop.meta.client.exceptions.ConditionalCheckFailedException as refused:
        print(refused)      # ... The conditional request failed
