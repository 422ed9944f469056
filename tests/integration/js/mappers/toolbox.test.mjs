// DynamoDB-Toolbox: entities of one table, with its actions for tables and entities.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  $add,
  $append,
  $delete,
  $get,
  $prepend,
  $remove,
  $sum,
  BatchGetCommand,
  BatchGetRequest,
  BatchPutRequest,
  BatchDeleteRequest,
  BatchWriteCommand,
  ConditionCheck,
  DeleteItemCommand,
  Entity,
  GetItemCommand,
  GetTransaction,
  PutItemCommand,
  PutTransaction,
  QueryCommand,
  ScanCommand,
  Table,
  UpdateItemCommand,
  UpdateTransaction,
  executeBatchGet,
  executeBatchWrite,
  executeTransactGet,
  executeTransactWrite,
  item,
  list,
  map,
  number,
  set,
  string,
} from 'dynamodb-toolbox';
import { createTable, expireBy, withDaemon } from './support.mjs';

let PokeTable, Pokemon;

withDaemon(async (client) => {
  await createTable(
    client,
    'toolbox',
    { hash: 'pk', range: 'sk' },
    { byTrainer: { hash: 'trainer', range: 'level' } },
    { level: 'N' },
  );
  await expireBy(client, 'toolbox', 'expires');
  PokeTable = new Table({
    documentClient: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    name: 'toolbox',
    partitionKey: { name: 'pk', type: 'string' },
    sortKey: { name: 'sk', type: 'string' },
    indexes: {
      byTrainer: {
        type: 'global',
        partitionKey: { name: 'trainer', type: 'string' },
        sortKey: { name: 'level', type: 'number' },
      },
    },
  });
  Pokemon = new Entity({
    name: 'POKEMON',
    table: PokeTable,
    schema: item({
      name: string().key(),
      id: string().key(),
      level: number().default(1),
      trainer: string().optional(),
      types: set(string()).optional(),
      moves: list(string()).optional(),
      stats: map({ hp: number(), mp: number().optional() }).optional(),
      expires: number().optional(),
    }),
    computeKey: ({ name, id }) => ({ pk: `POKEMON#${name}`, sk: id }),
  });
});

const key = { name: 'pika', id: '01' };
const get = async (k = key) => (await Pokemon.build(GetItemCommand).key(k).send()).Item;

test('put, get, conditions', async () => {
  const put = Pokemon.build(PutItemCommand).item({
    ...key,
    level: 5,
    types: new Set(['electric', 'mouse']),
    moves: ['bolt'],
    stats: { hp: 10 },
    expires: 4102444800,
  });
  await put.send();
  for (let round = 0; round < 2; round++) {
    const got = await get();
    assert.deepEqual([got.level, [...got.types].sort(), got.moves, got.stats], [5, ['electric', 'mouse'], ['bolt'], { hp: 10 }]);
  }
  await assert.rejects(put.options({ condition: { attr: 'id', exists: false } }).send(), {
    name: 'ConditionalCheckFailedException',
  });
  const { Attributes } = await put
    .options({
      returnValues: 'ALL_OLD',
      condition: {
        and: [
          { attr: 'level', gte: 5 },
          { attr: 'moves', contains: 'bolt' },
          { attr: 'level', in: [1, 5] },
          { not: { attr: 'trainer', exists: true } },
          { size: 'types', eq: 2 },
        ],
      },
    })
    .send();
  assert.equal(Attributes.level, 5);
});

test('updates', async () => {
  const { Attributes } = await Pokemon.build(UpdateItemCommand)
    .item({
      ...key,
      level: $add(2),
      types: $add(new Set(['fast'])),
      moves: $append(['tail']),
      stats: { hp: $sum($get('stats.hp'), 5), mp: 3 },
      expires: $remove(),
      trainer: 'ash',
    })
    .options({ returnValues: 'ALL_NEW' })
    .send();
  assert.deepEqual(
    [Attributes.level, Attributes.moves, Attributes.stats, Attributes.expires],
    [7, ['bolt', 'tail'], { hp: 15, mp: 3 }, undefined],
  );
  await Pokemon.build(UpdateItemCommand)
    .item({ ...key, types: $delete(new Set(['mouse', 'fast'])), moves: $prepend(['nap']) })
    .send();
  await Pokemon.build(UpdateItemCommand)
    .item({ ...key, moves: { 1: 'zap' } })
    .send();
  const got = await get();
  assert.deepEqual([[...got.types], got.moves], [['electric'], ['nap', 'zap', 'tail']]);
  await assert.rejects(
    Pokemon.build(UpdateItemCommand)
      .item({ ...key, level: 0 })
      .options({ condition: { attr: 'level', gt: 50 } })
      .send(),
    { name: 'ConditionalCheckFailedException' },
  );
});

test('batches, queries, scans and pages', async () => {
  const all = Array.from({ length: 24 }, (_, i) => ({
    name: 'mob',
    id: String(i).padStart(2, '0'),
    level: i,
    ...(i % 2 && { trainer: 'gary' }),
  }));
  await executeBatchWrite(PokeTable.build(BatchWriteCommand).requests(...all.map((x) => Pokemon.build(BatchPutRequest).item(x))));
  const { Responses } = await executeBatchGet(
    PokeTable.build(BatchGetCommand).requests(...all.map(({ name, id }) => Pokemon.build(BatchGetRequest).key({ name, id }))),
  );
  assert.equal(Responses[0].length, 24);

  const ids = async (query, options = {}) =>
    (await PokeTable.build(QueryCommand).entities(Pokemon).query(query).options(options).send()).Items.map((x) => x.id);
  assert.deepEqual(await ids({ partition: 'POKEMON#mob', range: { between: ['03', '05'] } }), ['03', '04', '05']);
  assert.deepEqual(await ids({ partition: 'POKEMON#mob', range: { beginsWith: '2' } }, { reverse: true }), [
    '23',
    '22',
    '21',
    '20',
  ]);
  assert.deepEqual(await ids({ index: 'byTrainer', partition: 'gary', range: { gt: 18 } }), ['19', '21', '23']);
  assert.deepEqual(await ids({ partition: 'POKEMON#mob' }, { filters: { POKEMON: { attr: 'level', lt: 2 } } }), ['00', '01']);
  const seen = [];
  let exclusiveStartKey;
  do {
    const page = await PokeTable.build(QueryCommand)
      .entities(Pokemon)
      .query({ partition: 'POKEMON#mob' })
      .options({ limit: 5, exclusiveStartKey })
      .send();
    seen.push(...page.Items.map((x) => x.id));
    exclusiveStartKey = page.LastEvaluatedKey;
  } while (exclusiveStartKey);
  assert.deepEqual(
    seen,
    all.map((x) => x.id),
  );
  assert.equal(
    (await PokeTable.build(ScanCommand).entities(Pokemon).options({ maxPages: Infinity, limit: 4 }).send()).Items.length,
    25,
  );
  const parts = await Promise.all(
    [0, 1, 2].map((segment) => PokeTable.build(ScanCommand).options({ segment, totalSegments: 3 }).send()),
  );
  assert.equal(parts.flatMap((p) => p.Items).length, 25);
  assert.equal(
    (
      await PokeTable.build(QueryCommand)
        .query({ partition: 'POKEMON#mob' })
        .options({ select: 'COUNT', consistent: true, capacity: 'TOTAL' })
        .send()
    ).Count,
    24,
  );
  await executeBatchWrite(
    PokeTable.build(BatchWriteCommand).requests(
      ...all.slice(0, 12).map(({ name, id }) => Pokemon.build(BatchDeleteRequest).key({ name, id })),
    ),
  );
  assert.equal((await ids({ partition: 'POKEMON#mob' })).length, 12);
});

test('transactions', async () => {
  const fight = () =>
    executeTransactWrite(
      Pokemon.build(ConditionCheck).key(key).condition({ attr: 'trainer', eq: 'ash' }),
      Pokemon.build(UpdateTransaction)
        .item({ name: 'mob', id: '20', level: $add(1) })
        .options({ condition: { attr: 'level', eq: 20 } }),
      Pokemon.build(PutTransaction).item({ name: 'egg', id: '0' }),
    );
  await fight();
  await assert.rejects(
    fight(),
    (e) =>
      e.name === 'TransactionCanceledException' &&
      e.CancellationReasons.map((r) => r.Code).join() === 'None,ConditionalCheckFailed,None',
  );
  const { Responses } = await executeTransactGet(
    Pokemon.build(GetTransaction).key({ name: 'mob', id: '20' }),
    Pokemon.build(GetTransaction).key({ name: 'none', id: '0' }),
  );
  assert.deepEqual([Responses[0].Item.level, Responses[1].Item], [21, undefined]);
  const { Attributes } = await Pokemon.build(DeleteItemCommand)
    .key({ name: 'egg', id: '0' })
    .options({ returnValues: 'ALL_OLD' })
    .send();
  assert.equal(Attributes.level, 1);
});
