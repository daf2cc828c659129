import { setTimeout as wait } from 'node:timers/promises';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { mongoBudgets } from '#src/adapters/mongodb/budgets.js';
import { mongoDirectory } from '#src/adapters/mongodb/directory/directory.js';
import { directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { mongoDirectoryWriter } from '#src/adapters/mongodb/directory/directory-writer.js';
import { mongoErasureProbe } from '#src/adapters/mongodb/erasure-probe.js';
import { mongoEventChain } from '#src/adapters/mongodb/event-chain.js';
import { ensureGenerations } from '#src/adapters/mongodb/generations/generations-document.js';
import { mongoGenerations } from '#src/adapters/mongodb/generations/mongo-generations.js';
import { rowWriterInUse } from '#src/adapters/mongodb/generations/row-writer-in-use.js';
import { tokenRowsInUse } from '#src/adapters/mongodb/generations/rows-in-use.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { tokenRowsIndexes } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import { createBatches } from '#src/adapters/mongodb/work/batches.js';
import { createFingerprintClaims } from '#src/adapters/mongodb/work/fingerprint-claims.js';
import { createMongoClaims } from '#src/adapters/mongodb/work/mongo-claims.js';
import { mongoUnitOfWork } from '#src/adapters/mongodb/work/mongo-unit-of-work.js';
import { usualWaits } from '#src/adapters/mongodb/work/waits.js';
import { workIndexes } from '#src/adapters/mongodb/work-indexes.js';
import { loadToken } from '#src/vault/load-token.js';
import type { ContractStores } from '../contract/support.js';
import { eventStoreDb } from '../support/eventstoredb.js';
import { authenticated, testIntegrityKeys } from '../support/integrity.js';
import { manualClock } from '../support/manual-clock.js';
import { type MongoDatabase, mongoDatabase } from './own-database.js';

const limitMs = 30_000;
const notAsked = new Proxy({}, { get: () => () => Promise.reject(new Error('not part of these suites')) });

/** Opens the log, the rows, the claims and the unit of work of the cluster profile. Each call uses a new database. */
export async function clusterStores(): Promise<ContractStores> {
  const [server, database] = await Promise.all([eventStoreDb(), mongoDatabase()]);
  await ensureIndexes(database.connection.db, [tokenRowsIndexes(1), directoryIndexes, ...workIndexes]);
  await ensureGenerations(database.connection, async () => 1);
  return open(server, database, database.connection);
}

async function open(
  server: Awaited<ReturnType<typeof eventStoreDb>>,
  database: MongoDatabase,
  connection: MongoDatabase['connection'],
): Promise<ContractStores> {
  const { log: stored, close: closeLog } = await openEventStoreDb(server.url, limitMs);
  const log = authenticated(stored);
  const generations = mongoGenerations(connection, log);
  const rows = tokenRowsInUse(connection, generations);
  const clock = manualClock();
  const closeConnection = async () => {
    await closeLog();
    if (connection !== database.connection) await connection.close();
  };

  /**
   * Waits until the rows are complete, but does not complete the rows itself. The events in these suites have no
   * content, so only the process that writes a row can complete it.
   */
  async function project(_tenantId: string, stream: string): Promise<void> {
    if (!stream.startsWith('token-')) return;
    const head = (await log.readStream(stream)).length - 1;
    const { revisionsOf } = mongoRowWriter(connection, (await generations.fresh()).read);
    while (((await revisionsOf([stream])).get(stream) ?? -1) < head) await wait(10);
  }

  const needs = {
    connection,
    log,
    rows,
    project,
    waits: usualWaits,
    workKey: async () => testIntegrityKeys.rows,
    now: () => clock.now(),
    destroyKeys: async () => 0,
    stateOf: async (tenantId: string, stream: string) => (await loadToken({ log }, tenantId, stream)).state,
  };
  const batches = createBatches(needs);
  const fingerprints = createFingerprintClaims({ ...needs, batches });
  const rowWriter = rowWriterInUse(connection, generations, fingerprints.forget);
  const claims = createMongoClaims({ ...needs, batches });
  const directory = mongoDirectoryWriter(connection);
  return {
    chain: mongoEventChain(connection, log),
    erasureProbe: mongoErasureProbe(connection),
    budgets: mongoBudgets(connection),
    log,
    rows,
    generations,
    clock,
    claims: claims.port,
    directory: mongoDirectory(connection),
    work: mongoUnitOfWork({ ...needs, rows: rowWriter, directory, claims, fingerprints, batches }),
    keys: notAsked as ContractStores['keys'],
    accessLog: notAsked as ContractStores['accessLog'],
    async reopen() {
      // Releases the lease first. A killed process would hold its lease for up to ten seconds.
      await generations.release();
      await closeConnection();
      return open(server, database, await database.connect());
    },
    async close() {
      await closeConnection();
      await database.drop();
      await server.remove();
    },
  };
}
