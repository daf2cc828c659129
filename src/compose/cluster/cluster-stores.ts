import { openEventStoreDb } from '../../adapters/eventstoredb/open-event-store-db.js';
import { ensureAccessIndexes } from '../../adapters/mongodb/access-log/access-collections.js';
import { mongoAccessLog } from '../../adapters/mongodb/access-log/mongo-access-log.js';
import { mongoCheckpoints } from '../../adapters/mongodb/checkpoints.js';
import { connectMongo, MongoBroken, type MongoConnection } from '../../adapters/mongodb/connection.js';
import { mongoDirectory } from '../../adapters/mongodb/directory/directory.js';
import { directoryIndexes } from '../../adapters/mongodb/directory/directory-indexes.js';
import { mongoDirectoryWriter } from '../../adapters/mongodb/directory/directory-writer.js';
import { openMongoKeyStore } from '../../adapters/mongodb/key-ring/open-key-store.js';
import { checkIndexes, ensureIndexes } from '../../adapters/mongodb/required-indexes.js';
import { mongoRowWriter } from '../../adapters/mongodb/token-rows/row-writer.js';
import { mongoTokenRows } from '../../adapters/mongodb/token-rows/token-rows.js';
import { tokenRowsIndexes } from '../../adapters/mongodb/token-rows/token-rows-indexes.js';
import { createBatches } from '../../adapters/mongodb/work/batches.js';
import { createFingerprintClaims } from '../../adapters/mongodb/work/fingerprint-claims.js';
import { createMongoClaims } from '../../adapters/mongodb/work/mongo-claims.js';
import { mongoUnitOfWork } from '../../adapters/mongodb/work/mongo-unit-of-work.js';
import { workIndexes } from '../../adapters/mongodb/work/work-indexes.js';
import type { KeyRing } from '../../ports/key-ring.js';
import type { StoreUrls } from '../config/store-urls.js';
import type { ClusterClock } from './cluster-clock.js';

/** The one generation of token rows there is. */
const generation = 1;
const indexes = [tokenRowsIndexes(generation), directoryIndexes, ...workIndexes];

export type ClusterStores = Awaited<ReturnType<typeof openClusterStores>>;

type Opening = {
  readonly urls: StoreUrls;
  readonly database: string;
  readonly rootKey: Buffer;
  /** Makes indexes and collections that are not there; without it, one that is missing is refused. */
  readonly prepares: boolean;
  readonly clockOf: (connection: MongoConnection) => Promise<ClusterClock>;
  /** Brings the row of a stream to the end of the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/** Opens EventStoreDB and both databases of MongoDB. Throws StoreUnavailable, and MongoBroken with what to do. */
export async function openClusterStores({ urls, database, rootKey, prepares, clockOf, project }: Opening) {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.reverse()) await one();
  };
  try {
    const rowsConnection = await connectMongo(urls.mongodb, database);
    closing.push(() => rowsConnection.close());
    const keysConnection = await connectMongo(urls.keys, `${database}_keys`);
    closing.push(() => keysConnection.close());
    if (prepares) {
      await ensureIndexes(rowsConnection.db, indexes);
      await ensureAccessIndexes(rowsConnection.db, Date.now());
    } else await refuseMissing(rowsConnection);
    const { log, close: closeLog } = await openEventStoreDb(urls.eventstore);
    closing.push(closeLog);
    const clock = await clockOf(rowsConnection);
    const keyStore = await openMongoKeyStore(keysConnection, rootKey, clock, log.head);
    closing.push(() => keyStore.keys.close());

    const accessLog = mongoAccessLog(rowsConnection);
    closing.push(() => accessLog.close());
    const rows = mongoTokenRows(rowsConnection, generation);
    const rowWriter = mongoRowWriter(rowsConnection, generation);
    const directoryWriter = mongoDirectoryWriter(rowsConnection);
    const destroyKeys: KeyRing['destroy'] = (ended) => keyStore.keys.destroy(ended);
    const shared = { connection: rowsConnection, log, project, now: () => clock.now() };
    const batches = createBatches({ ...shared, destroyKeys });
    const fingerprints = createFingerprintClaims({ ...shared, rows });
    const claims = createMongoClaims({ ...shared, batches });
    const parts = { log, rows: rowWriter, directory: directoryWriter, claims, fingerprints, batches, project };
    return {
      ...{ log, rows, clock, batches, rowWriter, directoryWriter, keyStore },
      ...{ rowsConnection, keysConnection },
      keys: keyStore.keys,
      work: mongoUnitOfWork(parts),
      claims: claims.port,
      directory: mongoDirectory(rowsConnection),
      accessLog,
      checkpoints: mongoCheckpoints(rowsConnection),
      close,
    };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

async function refuseMissing(connection: MongoConnection): Promise<void> {
  const missing = await connection.call((db) => checkIndexes(db, indexes));
  const [first] = missing;
  if (first === undefined) return;
  throw new MongoBroken(
    `MongoDB lacks ${missing.length === 1 ? `the index ${first}` : `${missing.length} indexes, the first is ${first}`}. ` +
      'Run `strongroom init`, which makes what is missing.',
  );
}
