import { MongoBroken } from '../../adapters/mongodb/connection.js';
import { rebuildByHand } from '../../adapters/mongodb/generations/generations-document.js';
import { logIdentity, openLog } from '../../vault/open-log.js';
import { systemRandom } from '../vault/compose-vault.js';
import { areOfVault, type ClusterStores, emptyLog } from './cluster-stores.js';

/**
 * Checks that the stores belong together, and returns the log's id. If the log is new, records its id in the key store.
 * If `looksOnly` is true, does not verify MACs, because the caller only wants to examine the log, even if it is forged.
 * Throws MongoBroken if the stores do not belong together or the rows can no longer be searched.
 */
export async function identifyStores(stores: ClusterStores, prepares: boolean, looksOnly: boolean): Promise<string> {
  const { log, storedLog, clock, checkpoints, keyStore } = stores;
  // Reads the id without verifying its MAC. If the log belongs to a different vault, its MACs were computed with that
  // vault's keys. Verifying them here would wrongly report a forged log.
  const identity = await logIdentity(storedLog);
  if (identity === null) {
    // Threat: an attacker substitutes an empty EventStoreDB. If the vault accepted it as its log, every token would
    // disappear.
    if (await holdsVault(stores)) throw new MongoBroken(emptyLog);
    if (!prepares) throw new MongoBroken('there is no vault in these stores yet. Create one with `strongroom init`.');
    const logId = await keyStore.bindKeysToLog(systemRandom.uuid());
    await openLog(log, systemRandom, { dev: false, at: clock.now(), logId });
    return logId;
  }
  if ((await keyStore.logIdOfKeys()) !== identity.logId) {
    throw new MongoBroken(
      'EventStoreDB and the key store belong to different vaults. Set eventstore.url and mongodb.keys_url to the ' +
        'servers of one vault.',
    );
  }
  // The log belongs to this vault, so we now read the id again and verify its MAC.
  if (!looksOnly) await logIdentity(log);
  if ((await checkpoints.position('tokens')) > (await log.head())) throw new MongoBroken(shortLog);
  await refuseUnsearchable(stores);
  return identity.logId;
}

/**
 * Throws MongoBroken if the rows are from a copy that was made before a rebuild. That rebuild destroyed the search key
 * for those rows.
 */
async function refuseUnsearchable({ generations, keys }: ClusterStores): Promise<void> {
  const { read } = await generations.fresh();
  if (!(await keys.generations()).includes(read)) throw new MongoBroken(unsearchable);
}

/** Returns true if MongoDB contains rows or keys of a vault whose log already contains events. */
async function holdsVault(stores: ClusterStores): Promise<boolean> {
  const { keys } = stores;
  if (await areOfVault(stores)) return true;
  return (await keys.checkpoint('shredder')) > 0 || (await keys.logMemory()).link !== null;
}

const unsearchable = `the rows in MongoDB are from before a rebuild, which destroyed their search key. ${rebuildByHand}.`;

const shortLog =
  'EventStoreDB lacks events that MongoDB has recorded, for example after a restore from an older copy. Restore ' +
  'the rows in MongoDB from a copy that is older still; the vault then brings them up to date from the log.';
