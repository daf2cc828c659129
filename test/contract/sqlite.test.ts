import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sqliteDailyCounts } from '#src/adapters/sqlite/daily-counts.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { manualClock } from '../support/manual-clock.js';
import { accessLogContract } from './access-log.js';
import { budgetsContract } from './budgets.js';
import { claimsContract } from './claims.js';
import { dailyCountsContract } from './daily-counts.js';
import { directoryContract } from './directory.js';
import { erasureProbeContract } from './erasure-probe.js';
import { eventChainContract } from './event-chain.js';
import { eventLogContract } from './event-log.js';
import { generationsContract } from './generations.js';
import { keyRotationContract } from './key-rotation.js';
import { keyStoreContract } from './key-store.js';
import { type IndexedStores, searchIndexCheckContract } from './search-index-check.js';
import { change, noTokenYet, tokenCreated, tokenWrite } from './support.js';
import { tokenRowsContract } from './token-rows.js';
import { unitOfWorkContract } from './unit-of-work.js';
import { webhookStoreContract } from './webhook-store.js';

/** Opens all SQLite files in a new folder. */
async function sqlite(): Promise<IndexedStores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-contract-'));
  let rootKey: Buffer = randomBytes(32);
  const clock = manualClock();
  const fail = (error: unknown) => {
    throw error;
  };
  const open = async () => await openAuthenticStores(dataDir, rootKey, clock, fail);
  let stores = await open();
  const contractStores = (): IndexedStores => ({
    ...stores,
    clock,
    damage() {
      const vault = pinStatements(join(dataDir, 'vault.db'), {});
      vault.exec('DELETE FROM index_changes_1 WHERE number = (SELECT max(number) FROM index_changes_1)');
      vault.close();
    },
    async reopen(given = rootKey) {
      await stores.close();
      rootKey = given;
      stores = await open();
      return contractStores();
    },
    async close() {
      await stores.close();
      await rm(dataDir, { recursive: true });
    },
  });
  return contractStores();
}

eventLogContract('sqlite', sqlite);
eventChainContract('sqlite', sqlite);
unitOfWorkContract('sqlite', sqlite);
tokenRowsContract('sqlite', sqlite);
erasureProbeContract('sqlite', sqlite);
searchIndexCheckContract('sqlite', sqlite);
generationsContract('sqlite', sqlite);

test('if a change lacks the terms for a newly added generation, the command decides again', async () => {
  const stores = await sqlite();
  const { work, generations, log } = stores;
  const rebuild = {
    generation: 2,
    from: 1,
    phase: 'building',
    position: 0,
    head: 0,
    startedAt: 0,
    swappedAt: null,
  } as const;
  await generations.begin({ ...rebuild, acceptNew: false, outcome: null, different: 0, examples: [], rate: null });
  const head = await log.head();
  expect(await work.commit(change(tokenWrite(noTokenYet(), [tokenCreated()])))).toEqual({ outcome: 'conflict' });
  expect(await log.head()).toBe(head);
  await stores.close();
});
keyStoreContract('sqlite', sqlite);
keyRotationContract('sqlite', sqlite);
claimsContract('sqlite', sqlite);
budgetsContract('sqlite', sqlite);
directoryContract('sqlite', sqlite);
accessLogContract('sqlite', sqlite);
dailyCountsContract('sqlite', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-contract-'));
  const counts = sqliteDailyCounts(dataDir, 'a log');
  return {
    counts,
    async close() {
      counts.close();
      await rm(dataDir, { recursive: true });
    },
  };
});
webhookStoreContract('sqlite', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-contract-'));
  const fail = (error: unknown) => {
    throw error;
  };
  const stores = await openAuthenticStores(dataDir, randomBytes(32), manualClock(), fail);
  return {
    webhooks: stores.webhookStore,
    async close() {
      await stores.close();
      await rm(dataDir, { recursive: true });
    },
  };
});
