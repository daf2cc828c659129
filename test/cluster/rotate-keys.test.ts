import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { openTenantKey } from '#src/keys/tenant-key.js';
import { fill, rootKeyIn, unread } from '../rotation/support.js';
import { http, run, runJson, spawnCommand, startService, until } from '../support/process.js';
import { mongoUrl } from './own-database.js';
import { twoMachines } from './two-machines.js';

/**
 * Changes the oldest data key in a transaction that stays open, so that a rotation cannot rewrap this key and finish.
 * Returns a function that undoes the change.
 */
async function holdOldestKey(database: string): Promise<() => Promise<void>> {
  const client = await MongoClient.connect(mongoUrl);
  onTestFinished(() => client.close());
  const session = client.startSession();
  session.startTransaction();
  const held = { destroyed_at: null };
  const change = { $inc: { log_head: 1 } };
  const dataKeys = keyCollections.dataKeys(client.db(database));
  expect(await dataKeys.findOneAndUpdate(held, change, { session, sort: { stamp: 1 } })).not.toBeNull();
  return () => session.abortTransaction();
}

test('processes on two machines keep working through a rotation that is killed and resumed; afterwards, the old root key unwraps nothing', {
  timeout: 600_000,
}, async () => {
  const { one, other, oldRootKeyFile, key, keysDb } = await twoMachines();
  const api = await startService(['--role', 'api'], other.options);
  const both = [await startService(['--role', 'all'], one.options), api] as const;
  const made = await fill(api.address, { key }, 200);
  const rotate = ['keys', 'rotate', '--all'];
  const lacks = await run(rotate, one.options);
  expect(lacks).toMatchObject({ code: 1, stdout: '' });
  expect(lacks.stderr).toContain(`there is no next root key in ${one.nextFile}`);
  expect((await run(['keys', 'generate-root', one.nextFile])).code).toBe(0);
  copyFileSync(one.nextFile, other.nextFile);

  let isOver = false;
  const failures: string[] = [];
  const load = Promise.all(
    both.map(async ({ address }) => {
      while (!isOver) {
        const body = { type: 'token', data: 'meanwhile' };
        const created = await http('POST', `${address}/tokens`, { key, body });
        const id = String(created.body['id']);
        const read = await http('GET', `${address}/tokens/${id}`, { key });
        if (created.status !== 201 || read.status !== 200) failures.push(`${created.text} ${read.text}`);
        else made.set(id, 'meanwhile');
      }
    }),
  );
  const release = await holdOldestKey(keysDb.databaseName);
  const cut = spawnCommand(rotate, one.options);
  await until('the beginning', 60_000, async () =>
    (await keyCollections.meta(keysDb).findOne({ _id: 'rotation' })) === null ? undefined : true,
  );
  await cut.stop('SIGKILL');
  await release();
  expect(await runJson(rotate, one.options)).toMatchObject({ type: 'summary' });
  isOver = true;
  await load;
  expect(failures).toEqual([]);
  for (const { address } of both) expect(await unread(address, key, made)).toEqual([]);

  const living = await keyCollections.tenantKeys(keysDb).find({ destroyed_at: null }).toArray();
  expect(living.length).toBeGreaterThan(1);
  for (const { _id: id, tenant, purpose, wrapped } of living) {
    if (wrapped === null) throw new Error('a living key is wrapped');
    expect(openTenantKey(rootKeyIn(oldRootKeyFile), wrapped, { id, tenant, purpose })).toBeNull();
    expect(openTenantKey(rootKeyIn(one.file), wrapped, { id, tenant, purpose })).not.toBeNull();
  }
  const old = { env: { ...one.options.env, STRONGROOM_ROOT_KEY_FILE: oldRootKeyFile } };
  expect(await run(['tenants', 'list'], old)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('this root key does not open'),
  });
  // The other machine still has the old and the new key file. When the command runs on that machine, it removes the old
  // key there too.
  expect(existsSync(other.nextFile)).toBe(true);
  await api.stop();
  expect((await runJson(rotate, other.options))['state']).toBe('cleared');
  expect(existsSync(other.nextFile)).toBe(false);
  expect(rootKeyIn(other.file)).toEqual(rootKeyIn(one.file));
  const again = await startService(['--role', 'api'], other.options);
  expect(await unread(again.address, key, made)).toEqual([]);
});

test('a process without the new root key returns 503 and is not ready until it gets that key', async () => {
  const { one, other, key } = await twoMachines();
  const service = await startService(['--role', 'api'], other.options);
  const made = await fill(service.address, { key }, 3);
  const [id = ''] = made.keys();
  await run(['keys', 'generate-root', one.nextFile]);
  const kept = join(one.file, '..', 'kept.key');
  copyFileSync(one.nextFile, kept);
  expect((await runJson(['keys', 'rotate', '--all'], one.options))['state']).toBe('rotated');
  await until('the end of what it knew', 60_000, async () =>
    (await http('GET', `${service.address}/tokens/${id}`, { key })).status === 503 ? true : undefined,
  );
  const ready = async () => (await http('GET', `${service.address}/health/ready`)).status;
  expect(await ready()).toBe(503);
  copyFileSync(kept, other.nextFile);
  await until('the new root key', 60_000, async () =>
    (await http('GET', `${service.address}/tokens/${id}`, { key })).status === 200 ? true : undefined,
  );
  expect(await unread(service.address, key, made)).toEqual([]);
  await until('readiness', 30_000, async () => ((await ready()) === 200 ? true : undefined));
});
