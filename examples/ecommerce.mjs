// A shop in one table. npm install @aws-sdk/client-dynamodb @aws-sdk/lib-dynamodb && node ecommerce.mjs
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

const db = DynamoDBDocumentClient.from(new DynamoDBClient({
  endpoint: 'http://127.0.0.1:8000', region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
}));
const TableName = 'ecommerce';

await db.send(new CreateTableCommand({
  TableName, BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
  AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }, { AttributeName: 'SK', AttributeType: 'S' }],
}));
for (const Item of [
  { PK: 'CUSTOMER#42', SK: 'PROFILE', name: 'Ana', email: 'ana@x.io' },
  { PK: 'CUSTOMER#42', SK: 'ORDER#2025-05-30#o-7', total: 20 },
  { PK: 'CUSTOMER#42', SK: 'ORDER#2025-06-12#o-9', total: 60 },
  { PK: 'ORDER#o-9', SK: 'META', status: 'PLACED' },
  { PK: 'ORDER#o-9', SK: 'ITEM#1', sku: 'kettle', qty: 1 },
]) await db.send(new PutCommand({ TableName, Item }));

// a profile
console.log((await db.send(new GetCommand({ TableName, Key: { PK: 'CUSTOMER#42', SK: 'PROFILE' } }))).Item);
// a customer's orders, newest first
console.log((await db.send(new QueryCommand({
  TableName, KeyConditionExpression: 'PK = :p AND begins_with(SK, :o)', ScanIndexForward: false,
  ExpressionAttributeValues: { ':p': 'CUSTOMER#42', ':o': 'ORDER#' },
}))).Items);
// an order with its items, in one Query
console.log((await db.send(new QueryCommand({
  TableName, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': 'ORDER#o-9' },
}))).Items);

// the status changes from PLACED to SHIPPED; the second time the condition fails
for (let attempt = 0; attempt < 2; attempt++) {
  try {
    console.log((await db.send(new UpdateCommand({
      TableName, Key: { PK: 'ORDER#o-9', SK: 'META' }, UpdateExpression: 'SET #s = :new', ConditionExpression: '#s = :old',
      ExpressionAttributeNames: { '#s': 'status' }, ExpressionAttributeValues: { ':new': 'SHIPPED', ':old': 'PLACED' },
      ReturnValues: 'ALL_NEW',
    }))).Attributes);
  } catch (refused) {
    console.log(`${refused.name}: ${refused.message}`);
  }
}
