// OneTable: a schema of two models, unique fields, and what it keeps by transactions.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Table } from 'dynamodb-onetable';
import { withDaemon, expireBy } from './support.mjs';

let table, User, Post;

withDaemon(async (client) => {
  table = new Table({
    client,
    name: 'onetable',
    logger: false,
    partial: true,
    schema: {
      format: 'onetable:1.1.0',
      version: '0.0.1',
      indexes: {
        primary: { hash: 'pk', sort: 'sk' },
        gs1: { hash: 'gs1pk', sort: 'gs1sk', project: 'all' },
        ls1: { type: 'local', sort: 'ls1sk', project: 'all' },
      },
      models: {
        User: {
          pk: { type: String, value: 'user#${id}' },
          sk: { type: String, value: 'user' },
          id: { type: String, generate: 'ulid' },
          email: { type: String, required: true, unique: true },
          name: { type: String },
          role: { type: String, enum: ['user', 'admin'], default: 'user' },
          visits: { type: Number, default: 0 },
          tags: { type: Set },
          log: { type: Array },
          address: { type: Object, schema: { city: { type: String }, zip: { type: String } } },
          gs1pk: { type: String, value: 'role#${role}' },
          gs1sk: { type: String, value: '${name}' },
          expires: { type: Date, ttl: true },
        },
        Post: {
          pk: { type: String, value: 'user#${userId}' },
          sk: { type: String, value: 'post#${id}' },
          userId: { type: String, required: true },
          id: { type: String, required: true },
          stars: { type: Number },
          ls1sk: { type: String, value: 'day#${day}' },
          day: { type: String },
          data: { type: Buffer },
        },
      },
      params: { isoDates: true, timestamps: true },
    },
  });
  await table.createTable();
  for (let i = 0; i < 500 && (await table.describeTable()).Table.TableStatus !== 'ACTIVE'; i++)
    await new Promise((done) => setTimeout(done, 20));
  await expireBy(client, 'onetable', 'expires');
  User = table.getModel('User');
  Post = table.getModel('Post');
});

test('create, unique fields, get, update, remove', async () => {
  assert.ok(await table.exists());
  const ana = await User.create({
    id: '1',
    email: 'ana@x.io',
    name: 'Ana',
    tags: new Set(['a', 'b']),
    log: ['made'],
    address: { city: 'Porto', zip: '1' },
    expires: new Date(4102444800000),
  });
  assert.equal(ana.role, 'user');
  await assert.rejects(User.create({ id: '1', email: 'other@x.io' }), /exists|unique/i);
  await assert.rejects(User.create({ id: '2', email: 'ana@x.io' }), /unique/i);
  for (let round = 0; round < 2; round++) {
    const got = await User.get({ id: '1' });
    assert.deepEqual(
      [got.name, [...got.tags].sort(), got.log, got.expires.getTime()],
      ['Ana', ['a', 'b'], ['made'], 4102444800000],
    );
  }
  const next = await User.update(
    { id: '1' },
    { add: { visits: 3 }, push: { log: ['seen'] }, set: { 'address.city': '{"Lisboa"}' }, remove: ['expires'], return: 'get' },
  ).catch((e) => {
    throw e;
  });
  assert.deepEqual([next.visits, next.log, next.expires], [3, ['made', 'seen'], undefined]);
  await User.update({ id: '1' }, { delete: { tags: new Set(['a']) } });
  assert.deepEqual([...(await User.get({ id: '1' })).tags], ['b']);
  await assert.rejects(User.update({ id: '1', name: 'x' }, { where: '${visits} > {10}' }), /condition/i);
  await assert.rejects(User.update({ id: 'none', name: 'x' }), /condition|not.*exist|find/i);
  await User.upsert({ id: '9', email: 'i@x.io', name: 'Ix' });
  await User.update({ id: '1', email: 'new@x.io' });
  await User.create({ id: '2', email: 'ana@x.io', name: 'Bo', role: 'admin' });
  assert.equal((await User.get({ email: 'new@x.io', role: 'user', name: 'Ana' }, { index: 'gs1', follow: true })).id, '1');
});

test('batches, finding by index, pages, scans', async () => {
  for (let from = 0; from < 50; from += 25) {
    const batch = {};
    for (let i = from; i < from + 25; i++) {
      await Post.create(
        { userId: '1', id: String(i).padStart(3, '0'), stars: i % 5, day: `d${String(99 - i)}`, data: Buffer.from([i]) },
        { batch },
      );
    }
    await table.batchWrite(batch);
  }
  const batch = {};
  for (let i = 0; i < 10; i++) await Post.get({ userId: '1', id: String(i).padStart(3, '0') }, { batch });
  assert.equal((await table.batchGet(batch, { parse: true, hidden: false })).length, 10);

  const seen = [];
  let next;
  do {
    const page = await Post.find({ userId: '1' }, { limit: 8, next });
    seen.push(...page.map((p) => p.id));
    next = page.next;
  } while (next);
  assert.deepEqual(seen, [...seen].sort());
  assert.equal(seen.length, 50);
  const found = async (...args) => (await Post.find(...args)).map((p) => p.id);
  assert.deepEqual(await found({ userId: '1', sk: { between: ['post#010', 'post#012'] } }), ['010', '011', '012']);
  assert.deepEqual(await found({ userId: '1', sk: { begins: 'post#04' } }, { reverse: true, limit: 2 }), ['049', '048']);
  assert.deepEqual(await found({ userId: '1', ls1sk: { '<': 'day#d53' } }, { index: 'ls1' }), ['049', '048', '047']);
  assert.equal((await Post.find({ userId: '1' }, { where: '${stars} >= {3} and contains(${day}, {d9})' })).length, 4);
  assert.equal((await Post.find({ userId: '1' }, { count: true })).count, 50);
  assert.deepEqual(
    (await User.find({ role: 'admin' }, { index: 'gs1' })).map((u) => u.name),
    ['Bo'],
  );
  assert.equal((await Post.scan()).length, 50);
  const parts = await Promise.all([0, 1, 2].map((segment) => Post.scan({}, { segments: 3, segment })));
  assert.equal(parts.flat().length, 50);
  const of1 = await table.queryItems({ pk: 'user#1' }, { parse: true, hidden: true });
  assert.equal(table.groupByType(of1).Post.length, 50);
  await Post.remove({ userId: '1', id: '049' });
  assert.equal(await Post.get({ userId: '1', id: '049' }), undefined);
});

test('transactions', async () => {
  const transaction = {};
  await Post.update({ userId: '1', id: '000', stars: 9 }, { transaction });
  await Post.create({ userId: '2', id: '000', stars: 1 }, { transaction });
  await User.check({ id: '1' }, { transaction, where: '${name} = {Ana}' });
  await table.transact('write', transaction);
  assert.equal((await Post.get({ userId: '1', id: '000' })).stars, 9);
  const refused = {};
  await Post.create({ userId: '2', id: '000' }, { transaction: refused });
  await Post.remove({ userId: '1', id: '000' }, { transaction: refused });
  await assert.rejects(table.transact('write', refused), /Cancel|condition/i);
  const reading = {};
  await Post.get({ userId: '1', id: '000' }, { transaction: reading });
  await User.get({ id: '2' }, { transaction: reading });
  const got = await table.transact('get', reading, { parse: true, hidden: true });
  assert.deepEqual(
    got.map((x) => x.stars ?? x.name),
    [9, 'Bo'],
  );
});
