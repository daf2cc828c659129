import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openMongoKeys } from '#src/compose/cluster/open-mongo-keys.js';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { keyRotationContract } from '../contract/key-rotation.js';
import { keyStoreContract } from '../contract/key-store.js';
import type { ContractStores } from '../contract/support.js';
import { manualClock } from '../support/manual-clock.js';
import { databaseOfTest, mongoDatabase } from './own-database.js';

/** Opens the key store on a new MongoDB database. The log and all other stores are in SQLite. */
async function mongoKeys(): Promise<ContractStores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-contract-'));
  const database = await mongoDatabase();
  const ofOthers = randomBytes(32);
  let rootKey: Buffer = randomBytes(32);
  const clock = manualClock();
  const open = async () => {
    const fail = (error: unknown) => {
      throw error;
    };
    const others = await openAuthenticStores(dataDir, ofOthers, clock, fail);
    const connection = await database.connect();
    const { keys } = await openMongoKeys(connection, rootKey, clock, () => others.log.head());
    return { ...others, keys, connection, closeOthers: others.close };
  };
  let stores = await open();
  const close = async () => {
    await stores.keys.close();
    await stores.connection.close();
    await stores.closeOthers();
  };
  const contractStores = (): ContractStores => ({
    ...stores,
    clock,
    async reopen(given = rootKey) {
      await close();
      rootKey = given;
      stores = await open();
      return contractStores();
    },
    async close() {
      await close();
      await database.drop();
      await rm(dataDir, { recursive: true });
    },
  });
  return contractStores();
}

keyStoreContract('mongodb', mongoKeys);
keyRotationContract('mongodb', mongoKeys);

test('returns the statuses of more keys than fit into one command', async () => {
  const { connection } = await databaseOfTest();
  const { keys } = await openMongoKeys(connection, randomBytes(32), manualClock(), async () => 0);
  onTestFinished(() => keys.close());
  const tenantId = randomUUID();
  await keys.createTenant(tenantId);
  const [first, last] = [await keys.create(tenantId), await keys.create(tenantId)];
  const others = Array.from({ length: 600_000 }, () => randomUUID());
  const statuses = await keys.keyStatuses([first.id, ...others, last.id]);
  expect(statuses).toEqual([first, last].map(({ id }) => ({ keyId: id, destroyedAt: null })));
});
