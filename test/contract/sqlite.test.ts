import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStores } from '#src/adapters/sqlite/open-stores.js';
import { manualClock } from '../support/manual-clock.js';
import { accessLogContract } from './access-log.js';
import { claimsContract } from './claims.js';
import { directoryContract } from './directory.js';
import { eventChainContract } from './event-chain.js';
import { eventLogContract } from './event-log.js';
import { keyRingContract } from './key-ring.js';
import { keyRotationContract } from './key-rotation.js';
import type { ContractStores } from './support.js';
import { tokenRowsContract } from './token-rows.js';
import { unitOfWorkContract } from './unit-of-work.js';

/** Both SQLite files in a folder of their own. */
async function sqlite(): Promise<ContractStores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-contract-'));
  let rootKey: Buffer = randomBytes(32);
  const clock = manualClock();
  const open = () =>
    openSqliteStores(dataDir, rootKey, clock, (error) => {
      throw error;
    });
  let stores = await open();
  const contractStores = (): ContractStores => ({
    ...stores,
    clock,
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
keyRingContract('sqlite', sqlite);
keyRotationContract('sqlite', sqlite);
claimsContract('sqlite', sqlite);
directoryContract('sqlite', sqlite);
accessLogContract('sqlite', sqlite);
