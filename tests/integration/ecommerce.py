"""ecommerce - the single-table design of the README's tour: its table and its items.

Access patterns: a customer's profile; a customer's orders, newest first; an order with its items in one Query."""

TABLE = {
    "TableName": "ecommerce",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"}],
}

ITEMS = [
    {"PK": "CUSTOMER#42", "SK": "PROFILE", "type": "customer", "name": "Ana", "email": "ana@x.io"},
    {"PK": "CUSTOMER#42", "SK": "ORDER#2025-05-30#o-7", "type": "orderref", "total": 20, "status": "SHIPPED"},
    {"PK": "CUSTOMER#42", "SK": "ORDER#2025-06-12#o-9", "type": "orderref", "total": 60, "status": "PLACED"},
    {"PK": "ORDER#o-9", "SK": "META", "type": "order", "customerId": "42", "status": "PLACED"},
    {"PK": "ORDER#o-9", "SK": "ITEM#1", "type": "item", "sku": "kettle", "qty": 1, "price": 40},
    {"PK": "ORDER#o-9", "SK": "ITEM#2", "type": "item", "sku": "cup", "qty": 4, "price": 5},
]
