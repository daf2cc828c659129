import { mongoAccessLog } from '../../adapters/mongodb/access-log/mongo-access-log.js';
import { mongoBudgets } from '../../adapters/mongodb/budgets.js';
import { mongoCheckpoints } from '../../adapters/mongodb/checkpoints.js';
import type { MongoConnection } from '../../adapters/mongodb/connection.js';
import { mongoConsoleSessions } from '../../adapters/mongodb/console-sessions.js';
import { mongoDailyCounts } from '../../adapters/mongodb/daily-counts.js';
import { mongoDirectory } from '../../adapters/mongodb/directory/directory.js';
import { mongoDirectoryWriter } from '../../adapters/mongodb/directory/directory-writer.js';
import { mongoErasureProbe } from '../../adapters/mongodb/erasure-probe.js';
import { mongoEventChain } from '../../adapters/mongodb/event-chain.js';
import { mongoGenerations } from '../../adapters/mongodb/generations/mongo-generations.js';
import { rowWriterInUse } from '../../adapters/mongodb/generations/row-writer-in-use.js';
import { tokenRowsInUse } from '../../adapters/mongodb/generations/rows-in-use.js';
import { mongoWebhookStore } from '../../adapters/mongodb/webhook-store.js';
import { createBatches } from '../../adapters/mongodb/work/batches.js';
import { createFingerprintClaims } from '../../adapters/mongodb/work/fingerprint-claims.js';
import { createMongoClaims } from '../../adapters/mongodb/work/mongo-claims.js';
import { mongoUnitOfWork } from '../../adapters/mongodb/work/mongo-unit-of-work.js';
import { usualWaits, type Waits } from '../../adapters/mongodb/work/waits.js';
import { authenticLog } from '../../audit/authentic-log.js';
import type { RootKeySource } from '../../keys/root-keys.js';
import type { TraceUseLimits } from '../../keys/trace-uses.js';
import type { Clock } from '../../ports/clock.js';
import type { StoredLog } from '../../ports/event-log.js';
import { loadToken } from '../../vault/load-token.js';
import { guardLostRows } from './lost-rows.js';
import { openMongoKeys } from './open-mongo-keys.js';

type Deps<C extends Clock> = {
  readonly rowsConnection: MongoConnection;
  readonly keysConnection: MongoConnection;
  readonly log: StoredLog;
  readonly clock: C;
  readonly rootKey: Buffer;
  readonly rereadRootKeys?: RootKeySource;
  readonly traceLimits?: TraceUseLimits;
  /** Updates a stream's row with all events in the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
  readonly waits?: Waits;
};

/** Creates the cluster profile's stores on open connections. `close` does not close these connections. */
export async function storesOn<C extends Clock>(needs: Deps<C>) {
  const { rowsConnection, keysConnection, log: stored, clock, rootKey, project } = needs;
  const { waits = usualWaits, rereadRootKeys, traceLimits } = needs;
  const keyStore = await openMongoKeys(keysConnection, rootKey, clock, stored.head, rereadRootKeys, traceLimits);
  const { keys } = keyStore;
  const log = authenticLog(stored, keys);
  const generations = mongoGenerations(rowsConnection, log);
  const accessLog = mongoAccessLog(rowsConnection);
  const rows = tokenRowsInUse(rowsConnection, generations);
  const directory = mongoDirectory(rowsConnection);
  const directoryWriter = mongoDirectoryWriter(rowsConnection);
  const workKey = async () => (await keys.integrityKeys()).rows;
  const shared = { connection: rowsConnection, log, project, waits, workKey, now: () => clock.now() };
  const batches = createBatches({
    ...shared,
    destroyKeys: (ended) => keys.destroy(ended),
    stateOf: async (tenantId, stream) => (await loadToken({ log }, tenantId, stream)).state,
  });
  const fingerprints = createFingerprintClaims({ ...shared, rows, batches });
  const rowWriter = rowWriterInUse(rowsConnection, generations, fingerprints.forget);
  const claims = createMongoClaims({ ...shared, batches });
  const guarded = guardLostRows({ rowsConnection, keysConnection, generations, keys, directory, rows });
  const parts = { ...shared, rows: rowWriter, directory: directoryWriter, claims, fingerprints, batches };
  return {
    storedLog: stored,
    log,
    rows: guarded.rows,
    directory: guarded.directory,
    findLostRows: guarded.find,
    clock,
    batches,
    /** Removes old fingerprint claims. */
    clearFingerprints: () => fingerprints.clear(rowWriter.revisionsOf),
    rowWriter,
    directoryWriter,
    keyStore,
    rowsConnection,
    keysConnection,
    accessLog,
    chain: mongoEventChain(rowsConnection, log),
    erasureProbe: mongoErasureProbe(rowsConnection),
    // The cluster profile has no separate search index to check. MongoDB indexes the search terms in the rows and
    // checks its own files.
    searchIndex: { run: async () => [] },
    keys,
    generations,
    work: mongoUnitOfWork(parts),
    claims: claims.port,
    budgets: mongoBudgets(rowsConnection),
    dailyCounts: mongoDailyCounts(rowsConnection),
    webhookStore: mongoWebhookStore(rowsConnection),
    consoleSessions: mongoConsoleSessions(rowsConnection),
    checkpoints: mongoCheckpoints(rowsConnection),
    async close(): Promise<void> {
      await generations.release().catch(() => undefined);
      await accessLog.close();
      await keys.close();
    },
  };
}
