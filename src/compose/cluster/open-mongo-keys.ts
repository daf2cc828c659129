import type { MongoConnection } from '../../adapters/mongodb/connection.js';
import { openMongoKeyStore } from '../../adapters/mongodb/key-store/open-key-store.js';
import { openKeyRing } from '../../keys/open-key-ring.js';
import type { RootKeySource } from '../../keys/root-keys.js';
import type { TraceUseLimits } from '../../keys/trace-uses.js';
import type { Clock } from '../../ports/clock.js';

/**
 * Opens the cluster profile's keys. If the database is empty, creates the first keys. Throws MongoBroken if this
 * vault's keys are wrapped under neither `rootKey` nor a key from `source`. The caller must close the returned `keys`
 * before it closes the connection.
 */
export async function openMongoKeys(
  connection: MongoConnection,
  rootKey: Buffer,
  clock: Clock,
  logHead: () => Promise<number>,
  source?: RootKeySource,
  traceLimits: TraceUseLimits = {},
) {
  const { store, ...keyStore } = await openMongoKeyStore(connection, clock, logHead);
  const keys = await openKeyRing({ store, rootKey, clock, traceLimits, ...(source && { source }) });
  return { ...keyStore, keys };
}
