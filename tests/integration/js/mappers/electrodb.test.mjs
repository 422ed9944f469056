// ElectroDB: a shop of two entities in one table, with a service over both.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Entity, Service } from 'electrodb';
import { createTable, expireBy, withDaemon } from './support.mjs';

const table = 'electro';
let Customer, Order, Shop;

withDaemon(async (client) => {
  await createTable(
    client,
    table,
    { hash: 'pk', range: 'sk' },
    { gsi1: { hash: 'gsi1pk', range: 'gsi1sk' }, gsi2: { hash: 'gsi2pk', range: 'gsi2sk' } },
  );
  await expireBy(client, table, 'expires');
  Customer = new Entity(
    {
      model: { entity: 'customer', version: '1', service: 'shop' },
      attributes: {
        customerId: { type: 'string', required: true },
        name: { type: 'string', required: true },
        email: { type: 'string' },
        visits: { type: 'number', default: 0 },
        tags: { type: 'set', items: 'string' },
        log: { type: 'list', items: { type: 'string' } },
        address: { type: 'map', properties: { city: { type: 'string' }, zip: { type: 'string' } } },
        expires: { type: 'number' },
      },
      indexes: {
        primary: { collection: 'account', pk: { field: 'pk', composite: ['customerId'] }, sk: { field: 'sk', composite: [] } },
        byEmail: {
          index: 'gsi2',
          pk: { field: 'gsi2pk', composite: ['email'] },
          sk: { field: 'gsi2sk', composite: [] },
          condition: (a) => a.email !== undefined,
        },
      },
    },
    { client, table },
  );
  Order = new Entity(
    {
      model: { entity: 'order', version: '1', service: 'shop' },
      attributes: {
        customerId: { type: 'string', required: true },
        orderId: { type: 'string', required: true },
        day: { type: 'string', required: true },
        status: { type: ['placed', 'shipped'], default: 'placed' },
        total: { type: 'number', required: true },
      },
      indexes: {
        primary: {
          collection: 'account',
          pk: { field: 'pk', composite: ['customerId'] },
          sk: { field: 'sk', composite: ['orderId'] },
        },
        byStatus: {
          index: 'gsi1',
          pk: { field: 'gsi1pk', composite: ['status'] },
          sk: { field: 'gsi1sk', composite: ['day', 'orderId'] },
        },
      },
    },
    { client, table },
  );
  Shop = new Service({ customer: Customer, order: Order }, { client, table });
});

test('create only once, get, patch what exists', async () => {
  const ana = {
    customerId: '42',
    name: 'Ana',
    email: 'ana@x.io',
    tags: ['vip', 'eu'],
    log: ['made'],
    address: { city: 'Porto', zip: '1' },
  };
  await Customer.create({ ...ana, expires: 4102444800 }).go();
  await assert.rejects(Customer.create(ana).go(), /conditional request failed/);
  for (let round = 0; round < 2; round++) {
    const { data } = await Customer.get({ customerId: '42' }).go();
    assert.deepEqual({ ...data, tags: data.tags.sort() }, { ...ana, tags: ['eu', 'vip'], visits: 0, expires: 4102444800 });
  }
  const { data } = await Customer.patch({ customerId: '42' })
    .add({ visits: 2, tags: ['new'] })
    .append({ log: ['seen'] })
    .set({ 'address.city': 'Lisboa' })
    .remove(['expires'])
    .go({ response: 'all_new' });
  assert.equal(data.visits, 2);
  assert.deepEqual(data.tags.sort(), ['eu', 'new', 'vip']);
  assert.deepEqual(data.log, ['made', 'seen']);
  assert.deepEqual(data.address, { city: 'Lisboa', zip: '1' });
  assert.equal('expires' in data, false);
  await Customer.patch({ customerId: '42' })
    .delete({ tags: ['eu', 'none'] })
    .go();
  assert.deepEqual((await Customer.get({ customerId: '42' }).go({ consistent: true })).data.tags.sort(), ['new', 'vip']);
  await assert.rejects(Customer.patch({ customerId: 'nobody' }).set({ name: 'x' }).go(), /conditional request failed/);
});

test('conditions of an update', async () => {
  await Customer.put({ customerId: '43', name: 'Bo' }).go();
  await Customer.update({ customerId: '43' })
    .subtract({ visits: 1 })
    .where(({ visits }, { lt }) => lt(visits, 5))
    .go();
  await assert.rejects(
    Customer.update({ customerId: '43' })
      .set({ name: 'x' })
      .where(({ visits, tags }, { gt, contains }) => `${gt(visits, 5)} OR ${contains(tags, 'vip')}`)
      .go(),
    /conditional request failed/,
  );
  assert.equal((await Customer.get({ customerId: '43' }).go()).data.visits, -1);
  assert.equal(
    (await Customer.upsert({ customerId: '44', name: 'Cy' }).add({ visits: 3 }).go({ response: 'all_new' })).data.visits,
    3,
  );
});

test('batches, indexes and pages', async () => {
  const orders = Array.from({ length: 60 }, (_, i) => ({
    customerId: '42',
    orderId: `o-${String(i).padStart(2, '0')}`,
    day: `2025-06-${String(1 + (i % 20)).padStart(2, '0')}`,
    total: i,
  }));
  assert.deepEqual((await Order.put(orders).go()).unprocessed, []);
  const got = await Order.get(orders.slice(0, 30).map(({ customerId, orderId }) => ({ customerId, orderId }))).go();
  assert.equal(got.data.length, 30);

  const seen = [];
  let cursor = null,
    pages = 0;
  do {
    const page = await Order.query.byStatus({ status: 'placed' }).go({ cursor, limit: 7 });
    seen.push(...page.data.map((o) => o.orderId));
    cursor = page.cursor;
    pages++;
  } while (cursor);
  assert.equal(new Set(seen).size, 60);
  assert.equal(seen.length, 60);
  assert.ok(pages >= 9);

  const days = async (q) => new Set((await q.go({ pages: 'all' })).data.map((o) => o.day)).size;
  assert.equal(await days(Order.query.byStatus({ status: 'placed' }).between({ day: '2025-06-05' }, { day: '2025-06-10' })), 5);
  assert.equal(await days(Order.query.byStatus({ status: 'placed' }).begins({ day: '2025-06-1' })), 10);
  assert.equal(await days(Order.query.byStatus({ status: 'placed' }).gte({ day: '2025-06-15' })), 6);
  assert.equal(
    (
      await Order.query
        .primary({ customerId: '42' })
        .where(({ total }, { between }) => between(total, 10, 19))
        .go({ pages: 'all', order: 'desc' })
    ).data[0].total,
    19,
  );
  // Sparse: customers without a mail address are not in that index.
  assert.equal((await Customer.query.byEmail({ email: 'ana@x.io' }).go()).data.length, 1);

  const { data } = await Shop.collections.account({ customerId: '42' }).go({ pages: 'all' });
  assert.deepEqual([data.customer.length, data.order.length], [1, 60]);
  assert.equal((await Order.scan.go({ pages: 'all' })).data.length, 60);
  assert.deepEqual((await Order.delete(orders.slice(30)).go()).unprocessed, []);
  assert.equal((await Order.query.primary({ customerId: '42' }).go({ pages: 'all' })).data.length, 30);
});

test('transactions', async () => {
  const ship = () =>
    Shop.transaction
      .write(({ customer, order }) => [
        customer
          .check({ customerId: '42' })
          .where(({ name }, { eq }) => eq(name, 'Ana'))
          .commit(),
        order
          .patch({ customerId: '42', orderId: 'o-00' })
          .set({ status: 'shipped' })
          .where(({ status }, { eq }) => eq(status, 'placed'))
          .commit({ response: 'all_old' }),
        order.put({ customerId: '42', orderId: 'o-99', day: '2025-07-01', total: 9 }).commit(),
      ])
      .go();
  assert.equal((await ship()).canceled, false);
  const again = await ship();
  assert.equal(again.canceled, true);
  assert.deepEqual(
    again.data.map((d) => d.code),
    ['None', 'ConditionalCheckFailed', 'None'],
  );
  assert.equal(again.data[1].item.status, 'shipped');
  const { data } = await Shop.transaction
    .get(({ customer, order }) => [
      customer.get({ customerId: '42' }).commit(),
      order.get({ customerId: '42', orderId: 'o-00' }).commit(),
      order.get({ customerId: '42', orderId: 'none' }).commit(),
    ])
    .go();
  assert.deepEqual([data[0].item.name, data[1].item.status, data[2].item], ['Ana', 'shipped', null]);
});
