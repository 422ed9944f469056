// Dynamoose: models that make their own tables, with indexes and a time to live.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import dynamoose from 'dynamoose';
import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { connection, withDaemon } from './support.mjs';

let client, Cat;
const options = {
  throughput: 'ON_DEMAND',
  initialize: false,
  waitForActive: { enabled: true, check: { timeout: 30000, frequency: 20 } },
};
const definition = {
  id: { type: String, hashKey: true },
  age: { type: Number, rangeKey: true },
  owner: { type: String, index: { name: 'by-owner', type: 'global', rangeKey: 'age' } },
  home: { type: String, index: { name: 'by-home', type: 'local' } },
  toys: { type: Array, schema: [String] },
  colours: { type: Set, schema: [String] },
  meals: { type: Number, default: 0 },
  chip: { type: Object, schema: { maker: String, no: Number } },
  born: Date,
  photo: Buffer,
};

withDaemon(async (c, endpoint) => {
  client = c;
  dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB({ ...connection, endpoint }));
  Cat = dynamoose.model('Cat', new dynamoose.Schema(definition, { timestamps: true }));
  await new dynamoose.Table('cats', [Cat], {
    ...options,
    expires: { ttl: 3600 * 1000 * 24 * 365, attribute: 'expires' },
  }).initialize();
});

test('the table is as the model says', async () => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'cats' }));
  assert.equal(Table.TableStatus, 'ACTIVE');
  assert.deepEqual(
    Table.GlobalSecondaryIndexes.map((i) => i.IndexName),
    ['by-owner'],
  );
  assert.deepEqual(
    Table.LocalSecondaryIndexes.map((i) => i.IndexName),
    ['by-home'],
  );
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'cats' }));
  assert.equal(TimeToLiveDescription.AttributeName, 'expires');
});

test('create, get, save, update', async () => {
  const tom = {
    id: 'tom',
    age: 3,
    owner: 'ana',
    home: 'barn',
    toys: ['ball'],
    colours: new Set(['red', 'white']),
    chip: { maker: 'x', no: 7 },
    born: new Date('2022-01-02'),
    photo: Buffer.from([0, 255]),
  };
  await Cat.create(tom);
  await assert.rejects(Cat.create(tom), { name: 'ConditionalCheckFailedException' });
  for (let round = 0; round < 2; round++) {
    const got = await Cat.get({ id: 'tom', age: 3 });
    assert.deepEqual(
      [got.toys, got.colours, got.chip, got.meals, got.born.getTime()],
      [tom.toys, tom.colours, tom.chip, 0, tom.born.getTime()],
    );
    assert.deepEqual([...got.photo], [0, 255]);
    assert.ok(got.expires.getTime() > Date.now());
  }
  const updated = await Cat.update(
    { id: 'tom', age: 3 },
    { $ADD: { meals: 2, toys: ['mouse'] }, $SET: { home: 'loft' }, $REMOVE: ['photo'] },
  );
  assert.deepEqual([updated.meals, updated.toys, updated.home, updated.photo], [2, ['ball', 'mouse'], 'loft', undefined]);
  await assert.rejects(
    Cat.update({ id: 'tom', age: 3 }, { meals: 0 }, { condition: new dynamoose.Condition().where('meals').gt(5) }),
    { name: 'ConditionalCheckFailedException' },
  );
  const saved = await Cat.get({ id: 'tom', age: 3 });
  saved.meals = 9;
  await saved.save();
  assert.equal((await Cat.get({ id: 'tom', age: 3 })).meals, 9);
  assert.equal(await Cat.get({ id: 'nobody', age: 1 }), undefined);
});

test('batches, queries, scans and pages', async () => {
  const cats = Array.from({ length: 20 }, (_, i) => ({
    id: 'k',
    age: i,
    ...(i % 2 && { owner: 'bo' }),
    home: `h${String(19 - i).padStart(2, '0')}`,
  }));
  assert.deepEqual((await Cat.batchPut(cats)).unprocessedItems, []);
  assert.equal((await Cat.batchGet(cats.slice(0, 10).map(({ id, age }) => ({ id, age })))).length, 10);
  const ages = (found) => found.map((c) => c.age);
  assert.deepEqual(ages(await Cat.query('id').eq('k').where('age').between(3, 6).exec()), [3, 4, 5, 6]);
  assert.deepEqual(ages(await Cat.query('id').eq('k').sort('descending').limit(2).exec()), [19, 18]);
  assert.deepEqual(ages(await Cat.query('owner').eq('bo').using('by-owner').where('age').ge(15).exec()), [15, 17, 19]);
  assert.deepEqual(
    ages(await Cat.query('id').eq('k').where('home').beginsWith('h1').using('by-home').limit(3).exec()),
    [9, 8, 7],
  );
  assert.equal((await Cat.query('id').eq('k').filter('owner').not().exists().count().exec()).count, 10);
  const first = await Cat.query('id').eq('k').limit(12).exec();
  const rest = await Cat.query('id').eq('k').startAt(first.lastKey).exec();
  assert.deepEqual(
    [...ages(first), ...ages(rest)],
    cats.map((c) => c.age),
  );
  assert.equal((await Cat.scan().limit(4).all().exec()).length, 21);
  assert.equal((await Cat.scan('owner').eq('bo').and().where('age').lt(10).exec()).length, 5);
  const halves = await Promise.all([0, 1].map((segment) => Cat.scan().parallel(2).exec()));
  assert.equal(halves[0].length, 21);
  assert.deepEqual((await Cat.batchDelete(cats.slice(0, 10).map(({ id, age }) => ({ id, age })))).unprocessedItems, []);
  assert.equal((await Cat.query('id').eq('k').all().exec()).length, 10);
});

test('transactions', async () => {
  await dynamoose.transaction([
    Cat.transaction.create({ id: 'new', age: 1 }),
    Cat.transaction.update({ id: 'tom', age: 3 }, { $SET: { home: 'sea' } }),
    Cat.transaction.condition({ id: 'k', age: 19 }, new dynamoose.Condition().where('owner').eq('bo')),
    Cat.transaction.delete({ id: 'k', age: 18 }),
  ]);
  await assert.rejects(
    dynamoose.transaction([Cat.transaction.create({ id: 'new', age: 1 }), Cat.transaction.delete({ id: 'k', age: 17 })]),
    (e) => e.name === 'TransactionCanceledException' && e.CancellationReasons[0].Code === 'ConditionalCheckFailed',
  );
  const [tom, kept] = await dynamoose.transaction([
    Cat.transaction.get({ id: 'tom', age: 3 }),
    Cat.transaction.get({ id: 'k', age: 17 }),
  ]);
  assert.deepEqual([tom.home, kept.owner], ['sea', 'bo']);
  assert.equal(await Cat.get({ id: 'k', age: 18 }), undefined);
});

test('a later model adds an index to its table', async () => {
  const later = dynamoose.model(
    'Cat2',
    new dynamoose.Schema({
      ...definition,
      home: { type: String, index: [definition.home.index, { name: 'by-home-all', type: 'global' }] },
    }),
  );
  await new dynamoose.Table('cats', [later], { ...options, update: ['indexes'] }).initialize();
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'cats' }));
  assert.deepEqual(Table.GlobalSecondaryIndexes.map((i) => i.IndexName).sort(), ['by-home-all', 'by-owner']);
  assert.deepEqual(
    (await later.query('home').eq('sea').using('by-home-all').exec()).map((c) => c.id),
    ['tom'],
  );
});
