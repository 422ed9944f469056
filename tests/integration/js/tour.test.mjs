// The README's tour, with the AWS SDK for JavaScript's document client.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { DynamoDBClient, CreateTableCommand, ConditionalCheckFailedException, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, BatchWriteCommand, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { startDaemon } from './daemon.mjs';

const TableName = 'ecommerce';
let daemon, client, doc;

before(async () => {
  daemon = await startDaemon();
  client = new DynamoDBClient({
    endpoint: daemon.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  doc = DynamoDBDocumentClient.from(client);
  await client.send(new CreateTableCommand({
    TableName, BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
    AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }, { AttributeName: 'SK', AttributeType: 'S' }],
  }));
  await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
  const items = [
    { PK: 'CUSTOMER#42', SK: 'PROFILE', name: 'Ana', tags: new Set(['vip', 'eu']), avatar: new Uint8Array([0, 255, 7]) },
    { PK: 'CUSTOMER#42', SK: 'ORDER#2025-05-30#o-7', total: 20 },
    { PK: 'CUSTOMER#42', SK: 'ORDER#2025-06-12#o-9', total: 60 },
    { PK: 'ORDER#o-9', SK: 'META', status: 'PLACED' },
    { PK: 'ORDER#o-9', SK: 'ITEM#1', sku: 'kettle', options: { colour: 'red', sizes: [1, 2.5], gift: false, note: null } },
  ];
  await doc.send(new BatchWriteCommand({ RequestItems: { [TableName]: items.map((Item) => ({ PutRequest: { Item } })) } }));
});

after(async () => {
  client?.destroy();
  assert.equal(await daemon?.stop(), 0);
});

test('a profile, every type intact, cold and warm', async () => {
  for (let round = 0; round < 2; round++) {
    const { Item } = await doc.send(new GetCommand({ TableName, Key: { PK: 'CUSTOMER#42', SK: 'PROFILE' } }));
    assert.equal(Item.name, 'Ana');
    assert.deepEqual([...Item.tags].sort(), ['eu', 'vip']);
    assert.deepEqual([...Item.avatar], [0, 255, 7]);
  }
});

test('orders, newest first', async () => {
  const { Items } = await doc.send(new QueryCommand({
    TableName, KeyConditionExpression: 'PK = :p AND begins_with(SK, :o)', ScanIndexForward: false,
    ExpressionAttributeValues: { ':p': 'CUSTOMER#42', ':o': 'ORDER#' },
  }));
  assert.deepEqual(Items.map((i) => i.SK), ['ORDER#2025-06-12#o-9', 'ORDER#2025-05-30#o-7']);
});

test('an order with its items in one query', async () => {
  const { Items } = await doc.send(new QueryCommand({
    TableName, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': 'ORDER#o-9' },
  }));
  assert.deepEqual(Items.map((i) => i.SK), ['ITEM#1', 'META']);
  assert.deepEqual(Items[0].options, { colour: 'red', sizes: [1, 2.5], gift: false, note: null });
});

test('a status changes on condition, and only once', async () => {
  const change = new UpdateCommand({
    TableName, Key: { PK: 'ORDER#o-9', SK: 'META' }, UpdateExpression: 'SET #s = :new', ConditionExpression: '#s = :old',
    ExpressionAttributeNames: { '#s': 'status' }, ExpressionAttributeValues: { ':new': 'SHIPPED', ':old': 'PLACED' },
  });
  await doc.send(change);
  await assert.rejects(doc.send(change), ConditionalCheckFailedException);
});
