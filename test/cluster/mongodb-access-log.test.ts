import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongoAccessLog } from '#src/adapters/mongodb/access-log/mongo-access-log.js';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { accessLogContract } from '../contract/access-log.js';
import type { ContractStores } from '../contract/support.js';
import { manualClock } from '../support/manual-clock.js';
import { mongoDatabase } from './own-database.js';

/** Opens the access log on a new MongoDB database. All other stores are in SQLite. */
async function mongoAccess(): Promise<ContractStores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-contract-'));
  const database = await mongoDatabase();
  const clock = manualClock();
  const fail = (error: unknown) => {
    throw error;
  };
  const others = await openAuthenticStores(dataDir, Buffer.alloc(32, 7), clock, fail);
  let connection = await database.connect();
  let accessLog = mongoAccessLog(connection);
  const close = async () => {
    await accessLog.close();
    await connection.close();
  };
  const contractStores = (): ContractStores => ({
    ...others,
    accessLog,
    clock,
    async reopen() {
      await close();
      connection = await database.connect();
      accessLog = mongoAccessLog(connection);
      return contractStores();
    },
    async close() {
      await close();
      await database.drop();
      await others.close();
      await rm(dataDir, { recursive: true });
    },
  });
  return contractStores();
}

accessLogContract('mongodb', mongoAccess);
