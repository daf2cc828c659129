import { MongoBroken } from '../../adapters/mongodb/connection.js';
import { logIdentity, openLog } from '../../vault/open-log.js';
import { systemRandom } from '../vault/compose-vault.js';
import type { ClusterStores } from './cluster-stores.js';

/**
 * Names a new log in the key store and answers its id. `looksOnly`: the log may be forged. Throws MongoBroken for stores that do not belong together, and for
 * rows that can no longer be searched.
 */
export async function identifyStores(stores: ClusterStores, prepares: boolean, looksOnly: boolean): Promise<string> {
  const { log, storedLog, clock, checkpoints, keyStore } = stores;
  // The log of another vault is no forged one: it has codes under keys of its own.
  const identity = await logIdentity(storedLog);
  if (identity === null) {
    // Threat: a new EventStoreDB would pass for the log of this vault, and every token would be gone.
    if (await holdsVault(stores)) throw new MongoBroken(emptyLog);
    if (!prepares) throw new MongoBroken('there is no vault in these stores yet. Create one with `strongroom init`.');
    const logId = await keyStore.bindKeysToLog(systemRandom.uuid());
    await openLog(log, systemRandom, { dev: false, at: clock.now(), logId });
    return logId;
  }
  if ((await keyStore.logIdOfKeys()) !== identity.logId) {
    throw new MongoBroken('EventStoreDB and the key store belong to different vaults. Name those of one vault.');
  }
  // Once more, with its code verified.
  if (!looksOnly) await logIdentity(log);
  if ((await checkpoints.position('tokens')) > (await log.head())) throw new MongoBroken(shortLog);
  await refuseUnsearchable(stores);
  return identity.logId;
}

/** Refuses rows that were restored from a copy of before a rebuild: the key that they are searched by is no more. */
async function refuseUnsearchable({ generations, keys }: ClusterStores): Promise<void> {
  const { read } = await generations.fresh();
  if (!(await keys.generations()).includes(read)) throw new MongoBroken(unsearchable);
}

/** Whether MongoDB has rows or keys of a vault whose log was in use. */
async function holdsVault({ directory, checkpoints, keys }: ClusterStores): Promise<boolean> {
  if ((await directory.list('tenant')).length > 0) return true;
  return (
    (await checkpoints.position('tokens')) > 0 ||
    (await keys.checkpoint('shredder')) > 0 ||
    (await keys.logMemory()).link !== null
  );
}

const emptyLog =
  'EventStoreDB is empty, but MongoDB already holds a vault. Name the EventStoreDB of that vault, or restore it; ' +
  'for a new vault name another mongodb.database.';

const unsearchable =
  'the rows in MongoDB are from before a rebuild, which destroyed their search key. Drop the collections ' +
  'generations, checkpoints and token_rows_<number>, and run `strongroom init`: a worker rebuilds the rows from the log.';

const shortLog =
  'EventStoreDB lacks events that MongoDB has recorded, as after a restore from an older copy. Restore the rows in ' +
  'MongoDB from a copy that is older still; the vault then brings them up to date from the log.';
