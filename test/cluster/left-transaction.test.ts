import { describe, expect, test } from 'vitest';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { fill, unread } from '../rotation/support.js';
import { http, run, startService, until } from '../support/process.js';
import { killedHolding } from './killed-holding.js';
import { databaseOfTest, mongoUrl } from './own-database.js';
import { vaultOnServers } from './rebuild/support.js';

/** This limit is far below 60 s, the time after which the server itself aborts a transaction. */
const muchSoonerMs = 30_000;

describe.each(['root_check', 'tenant_keys'])(
  'a process that changed %s in a transaction and was then killed',
  (held) => {
    test('does not prevent other processes from creating tokens or rotating keys', { timeout: 300_000 }, async () => {
      const { options, key, keys, database } = await vaultOnServers();
      const { address } = await startService(['--role', 'api'], options);
      // Marks the wrapping keys for replacement, as a rotation does. The next block of keys then needs a new wrapping
      // key.
      await keyCollections.tenantKeys(keys).updateMany({ purpose: 'wrapping' }, { $set: { retiring: true } });
      await killedHolding(held, mongoUrl, `${database}_keys`);
      const created = await until('a token', muchSoonerMs, async () => {
        const answer = await http('POST', `${address}/tokens`, { key, body: { type: 'token', data: 'first' } });
        return answer.status === 201 ? answer : undefined;
      });
      const made = await fill(address, { key }, 20);
      made.set(String(created.body['id']), 'first');

      await killedHolding(held, mongoUrl, `${database}_keys`);
      const begunAt = performance.now();
      expect((await run(['keys', 'generate-root', `${options.env.STRONGROOM_ROOT_KEY_FILE}.new`])).code).toBe(0);
      expect(await run(['keys', 'rotate', '--all'], options)).toMatchObject({ code: 0 });
      expect(performance.now() - begunAt).toBeLessThan(muchSoonerMs);
      expect(await unread(address, key, made)).toEqual([]);
    });
  },
);

test('a process that is still alive retries its transaction, and transactions on other databases are not aborted', async () => {
  const { connection, connect } = await databaseOfTest();
  const { connection: elsewhere } = await databaseOfTest();
  const meta = keyCollections.meta(connection.db);
  await meta.insertOne({ _id: 'root_check', value: '', uses: 0 });
  const add = { $inc: { uses: 1 } };
  const other = elsewhere.db.client.startSession();
  other.startTransaction();
  await keyCollections.meta(elsewhere.db).insertOne({ _id: 'root_check', value: '' }, { session: other });

  let runs = 0;
  const waiting = await connect();
  await connection.db.client.withSession((session) =>
    session.withTransaction(async () => {
      runs += 1;
      await meta.updateOne({ _id: 'root_check' }, add, { session });
      if (runs > 1) return;
      // This process leaves its transaction open. The other process waits for the transaction, aborts it, and then
      // completes its own write. Only then does this process continue.
      await until('the other one', muchSoonerMs, () =>
        waiting.call((db) => keyCollections.meta(db).updateOne({ _id: 'root_check' }, add)).catch(() => undefined),
      );
    }),
  );
  expect(runs).toBe(2);
  expect(await meta.findOne({})).toMatchObject({ uses: 2 });
  await other.commitTransaction();
  await other.endSession();
  expect(await keyCollections.meta(elsewhere.db).countDocuments()).toBe(1);
});
