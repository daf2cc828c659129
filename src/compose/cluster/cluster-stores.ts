import { openEventStoreDb } from '../../adapters/eventstoredb/open-event-store-db.js';
import {
  accessIndexes,
  ensureAccessIndexes,
  monthsStored,
} from '../../adapters/mongodb/access-log/access-collections.js';
import { mongoCheckpoints } from '../../adapters/mongodb/checkpoints.js';
import { connectMongo, MongoBroken, type MongoConnection } from '../../adapters/mongodb/connection.js';
import { consoleSessionIndexes } from '../../adapters/mongodb/console-sessions.js';
import { mongoDirectory } from '../../adapters/mongodb/directory/directory.js';
import { directoryIndexes } from '../../adapters/mongodb/directory/directory-indexes.js';
import { generationToRead } from '../../adapters/mongodb/generations/generation-to-read.js';
import {
  ensureGenerations,
  findGenerations,
  loadGenerations,
} from '../../adapters/mongodb/generations/generations-document.js';
import { livingGenerations } from '../../adapters/mongodb/key-store/generation-keys.js';
import { keyCollections, keysDatabase } from '../../adapters/mongodb/key-store/key-collections.js';
import { createReadProof } from '../../adapters/mongodb/read-proof.js';
import { checkIndexes, ensureIndexes, lacksIndexes } from '../../adapters/mongodb/required-indexes.js';
import { tokenRowsIndexes } from '../../adapters/mongodb/token-rows/token-rows-indexes.js';
import { workIndexes } from '../../adapters/mongodb/work-indexes.js';
import type { RootKeySource } from '../../keys/root-keys.js';
import type { TraceUseLimits } from '../../keys/trace-uses.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { logIdentity } from '../../vault/open-log.js';
import type { StoreUrls } from '../config/store-urls.js';
import type { ClusterClock } from './cluster-clock.js';
import { storesOn } from './stores-on.js';

const indexes = [directoryIndexes, consoleSessionIndexes, ...workIndexes];

export const emptyLog =
  'EventStoreDB is empty, but MongoDB already contains a vault. Set eventstore.url to the EventStoreDB of that ' +
  'vault, or restore EventStoreDB. For a new vault, choose another mongodb.database.';

export type ClusterStores = Awaited<ReturnType<typeof openClusterStores>>;

type Opening = {
  readonly urls: StoreUrls;
  readonly database: string;
  readonly rootKey: Buffer;
  readonly rereadRootKeys: RootKeySource;
  /**
   * If true, creates missing indexes and collections. If false, throws MongoBroken if an index or collection is
   * missing.
   */
  readonly prepares: boolean;
  readonly traceLimits: TraceUseLimits;
  readonly clockOf: (connection: MongoConnection) => Promise<ClusterClock>;
  /** Updates a stream's row with all events in the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/**
 * Opens EventStoreDB and both MongoDB databases. Throws StoreUnavailable if a store cannot be reached, and MongoBroken
 * with advice if a store cannot be used.
 */
export async function openClusterStores({ urls, database, prepares, clockOf, ...needs }: Opening) {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.reverse()) await one();
  };
  try {
    const rowsConnection = await connectMongo(urls.mongodb, database);
    closing.push(() => rowsConnection.close());
    const keysConnection = await connectMongo(urls.keys, keysDatabase(database));
    closing.push(() => keysConnection.close());
    const { log, close: closeLog } = await openEventStoreDb(urls.eventstore);
    closing.push(closeLog);
    // The rows may have been restored without their indexes, and every query needs its index.
    if (prepares) await completeIndexes(rowsConnection, (db) => ensureIndexes(db, indexes));
    // An init that runs at the same time creates its keys, then its log, and then its rows. The log is therefore read
    // before the keys, and after the rows.
    const rows = { directory: mongoDirectory(rowsConnection), checkpoints: mongoCheckpoints(rowsConnection) };
    const hasRows = prepares && (await areOfVault(rows));
    const identity = await logIdentity(log);
    if (identity !== null) await refuseNoKeys(keysConnection);
    if (prepares) {
      // If this process created keys for rows that were restored before their log, `strongroom restore` would reject
      // the key store.
      if (identity === null && hasRows) throw new MongoBroken(emptyLog);
      await ensureGenerations(rowsConnection, async () =>
        generationToRead(rowsConnection, await livingGenerations(keysConnection)),
      );
      const { write } = await loadGenerations(rowsConnection);
      await completeIndexes(rowsConnection, (db) => ensureIndexes(db, write.map(tokenRowsIndexes)));
      await completeIndexes(rowsConnection, (db) => ensureAccessIndexes(db, Date.now()));
    } else {
      await refuseMissing(rowsConnection);
      await refuseNoKeys(keysConnection);
    }
    const clock = await clockOf(rowsConnection);
    const stores = await storesOn({ ...needs, rowsConnection, keysConnection, log, clock });
    closing.push(stores.close);
    return { ...stores, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/**
 * Runs `ensure`, which creates missing indexes, until all of them are complete. The server continues to build an index
 * when the call that asked for it has reached its time limit. Throws StoreUnavailable if the server no longer confirms
 * writes.
 */
export async function completeIndexes(
  connection: MongoConnection,
  ensure: (db: MongoConnection['db']) => Promise<void>,
): Promise<void> {
  const confirmWrites = createReadProof(connection);
  for (;;) {
    try {
      return await connection.call(ensure);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await confirmWrites();
    }
  }
}

/** Returns true if the rows are those of a vault whose log already contains events. */
export async function areOfVault({ directory, checkpoints }: Pick<ClusterStores, 'directory' | 'checkpoints'>) {
  return (await directory.list('tenant')).length > 0 || (await checkpoints.position('tokens')) > 0;
}

/**
 * Throws MongoBroken if the key store is empty. If a process that starts before the keys are restored created new keys,
 * `strongroom restore` would reject the key store because it is not empty.
 */
async function refuseNoKeys({ call }: MongoConnection): Promise<void> {
  if ((await call((db) => keyCollections.meta(db).findOne({}))) !== null) return;
  throw new MongoBroken({
    check: 'keys',
    says: 'the database for the keys is empty',
    do:
      'Set mongodb.keys_url and mongodb.database to those of the vault, or restore its keys with `strongroom ' +
      'restore`. To create a new vault instead, use an empty EventStoreDB and a new mongodb.database, and run ' +
      '`strongroom init`',
  });
}

async function refuseMissing(connection: MongoConnection): Promise<void> {
  const generations = await findGenerations(connection);
  // Checks only the indexes on the rows in use. If a rebuild is running, its process creates the indexes on the new
  // rows.
  const rows = generations === null ? [] : [tokenRowsIndexes(generations.read)];
  const missing = [...(await connection.call((db) => checkIndexes(db, [...indexes, ...rows])))];
  for (const month of await connection.call(monthsStored)) {
    const lacking = await connection.call((db) => checkIndexes(db, [accessIndexes(month)]));
    // Another process may have removed the month since, because its retention has ended.
    if (lacking.length > 0 && (await connection.call(monthsStored)).includes(month)) missing.push(...lacking);
  }
  if (missing.length > 0) throw new MongoBroken(lacksIndexes(missing));
  if (generations !== null) return;
  throw new MongoBroken({
    check: 'indexes',
    says: 'MongoDB lacks the record of which rows are in use',
    do: 'Run `strongroom init`, which creates what is missing',
  });
}
