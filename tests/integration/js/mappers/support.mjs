// support - what the mappers' tests share: a daemon for a test file, its client, and SDK's CreateTable in short.
import { before, after } from 'node:test';
import assert from 'node:assert/strict';
import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { startDaemon } from '../daemon.mjs';

export const connection = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  maxAttempts: 1,
};

// A daemon for all tests of a file. `setUp` gets its client and endpoint before the first test runs.
export function withDaemon(setUp) {
  let daemon, client;
  before(async () => {
    daemon = await startDaemon();
    client = new DynamoDBClient({ ...connection, endpoint: daemon.endpoint });
    await setUp(client, daemon.endpoint);
  });
  after(async () => {
    client?.destroy();
    assert.equal(await daemon?.stop(), 0);
  });
}

// keys: { hash: 'pk', range: 'sk' }; indexes: { name: keys }. All keys are strings, except those that `types` names.
export async function createTable(client, TableName, keys, indexes = {}, types = {}) {
  const schema = ({ hash, range }) => [
    { AttributeName: hash, KeyType: 'HASH' },
    ...(range ? [{ AttributeName: range, KeyType: 'RANGE' }] : []),
  ];
  const names = new Set([keys, ...Object.values(indexes)].flatMap(({ hash, range }) => (range ? [hash, range] : [hash])));
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: schema(keys),
      AttributeDefinitions: [...names].map((AttributeName) => ({ AttributeName, AttributeType: types[AttributeName] ?? 'S' })),
      ...(Object.keys(indexes).length && {
        GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, k]) => ({
          IndexName,
          KeySchema: schema(k),
          Projection: { ProjectionType: 'ALL' },
        })),
      }),
    }),
  );
  await waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 60 }, { TableName });
}

export const expireBy = (client, TableName, AttributeName) =>
  client.send(
    new UpdateTimeToLiveCommand({
      TableName,
      TimeToLiveSpecification: { Enabled: true, AttributeName },
    }),
  );
