// dynamodb-admin: the browser's pages over our tables, fetched as a browser does.
import { test, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { withDaemon } from './support.mjs';

const home = path.dirname(createRequire(import.meta.url).resolve('dynamodb-admin'));
let admin, base;

// It takes port 0 and prints the one that it got.
withDaemon(async (_, endpoint) => {
  admin = spawn(process.execPath, [path.join(home, 'dynamodb-admin.js'), '--host', '127.0.0.1', '--port', '0'], {
    env: { ...process.env, DYNAMO_ENDPOINT: endpoint },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  base = await new Promise((resolve, reject) => {
    let text = '';
    admin.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /listening on (http:\/\/[\d.]+:\d+)/.exec(text);
      if (found) resolve(found[1]);
    });
    admin.on('exit', (code) => reject(new Error(`dynamodb-admin ended with ${code}`)));
  });
});
after(() => {
  admin?.kill();
});

async function ask(method, url, body) {
  const answer = await fetch(base + url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${url}: ${answer.status} ${text}`);
  return text;
}
const items = async (query) => JSON.parse(await ask('GET', `/tables/shop/items?${new URLSearchParams(query)}`));

test('tables', async () => {
  await ask('POST', '/create-table', {
    TableDefinition: {
      TableName: 'shop',
      HashAttributeName: 'pk',
      HashAttributeType: 'S',
      RangeAttributeName: 'n',
      RangeAttributeType: 'N',
      ReadCapacityUnits: 3,
      WriteCapacityUnits: 3,
    },
    SecondaryIndexes: [
      {
        IndexName: 'by-kind',
        IndexType: 'global',
        HashAttributeName: 'kind',
        HashAttributeType: 'S',
        RangeAttributeName: 'n',
        RangeAttributeType: 'N',
        ReadCapacityUnits: 3,
        WriteCapacityUnits: 3,
      },
      {
        IndexName: 'by-name',
        IndexType: 'local',
        HashAttributeName: 'pk',
        HashAttributeType: 'S',
        RangeAttributeName: 'name',
        RangeAttributeType: 'S',
      },
    ],
  });
  assert.match(await ask('GET', '/'), /\/tables\/shop/);
  const [table] = JSON.parse(await ask('GET', '/api/tables'));
  assert.deepEqual([table.TableName, table.TableStatus, table.ProvisionedThroughput.ReadCapacityUnits], ['shop', 'ACTIVE', 3]);
  assert.match(await ask('GET', '/tables/shop/get'), /shop/);
  const meta = await ask('GET', '/tables/shop/meta');
  assert.ok(meta.includes('by-kind') && meta.includes('by-name'), meta);
  assert.match(await ask('GET', '/tables/shop/ttl'), /DISABLED/);
});

test('items', async () => {
  for (let n = 0; n < 60; n++) {
    await ask('PUT', '/tables/shop/add-item', {
      pk: 'p',
      n,
      kind: n % 2 ? 'odd' : 'even',
      name: `name ${n}`,
      nested: { list: [n, null, true] },
    });
  }
  assert.match(await ask('GET', '/tables/shop'), /by-kind/);
  assert.match(await ask('GET', `/tables/shop/items/${encodeURIComponent('p,7')}`), /name 7/);
  await ask('PUT', `/tables/shop/items/${encodeURIComponent('p,7')}`, { pk: 'p', n: 7, name: 'seven' });
  assert.match(await ask('GET', `/tables/shop/items/${encodeURIComponent('p,7')}`), /seven/);
  await ask('DELETE', `/tables/shop/items/${encodeURIComponent('p,8')}`);

  const seen = [];
  let page = await items({});
  for (;;) {
    seen.push(...page.Items.map((i) => i.n));
    if (!page.nextKey) break;
    page = await items({ startKey: decodeURIComponent(page.nextKey) });
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 60 }, (_, n) => n).filter((n) => n !== 8),
  );
  const odd = await items({
    operationType: 'query',
    queryableSelection: 'by-kind',
    pageSize: 100,
    filters: JSON.stringify({ kind: { type: 'S', value: 'odd', operator: '=' }, n: { type: 'N', value: '50', operator: '>' } }),
  });
  assert.deepEqual(
    odd.Items.map((i) => i.n),
    [51, 53, 55, 57, 59],
  );
  const named = await items({ filters: JSON.stringify({ name: { type: 'S', value: 'name 1', operator: 'begins_with' } }) });
  assert.equal(named.Items.length, 11);
});

test('emptying and dropping', async () => {
  await ask('DELETE', '/tables/shop/all');
  assert.equal((await items({})).Items.length, 0);
  await ask('DELETE', '/tables/shop');
  assert.deepEqual(JSON.parse(await ask('GET', '/api/tables')), []);
});
