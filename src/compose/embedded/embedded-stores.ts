import type { StoreBroken } from '../../adapters/sqlite/database/database-error.js';
import { openSqliteStores } from '../../adapters/sqlite/open-stores.js';
import { authenticStores } from '../../audit/authentic-log.js';
import { openKeyRing } from '../../keys/open-key-ring.js';
import type { TraceUseLimits } from '../../keys/trace-uses.js';
import type { Clock } from '../../ports/clock.js';

/** The SQLite stores and the keys of a data directory. Events are authenticated when they are read from the log. */
export type EmbeddedStores = Awaited<ReturnType<typeof openAuthenticStores>>;

type Options = {
  /** Called with the number of changes in each group commit. */
  readonly onCommitted?: (changes: number) => void;
  /** The next root key of an interrupted rotation. The keys may already be wrapped under it. */
  readonly nextRootKey?: Buffer | null | undefined;
  readonly traceLimits?: TraceUseLimits | undefined;
};

/** Opens the stores and the keys of a data directory. */
export async function openAuthenticStores(
  dataDir: string,
  rootKey: Buffer,
  clock: Clock,
  onBroken: (error: StoreBroken) => void,
  { onCommitted = () => undefined, nextRootKey = null, traceLimits = {} }: Options = {},
) {
  const stores = await openSqliteStores(dataDir, clock, onBroken, onCommitted);
  try {
    const source = async () => (nextRootKey === null ? [] : [Buffer.from(nextRootKey)]);
    const keys = await openKeyRing({ store: stores.keyStore, rootKey, source, clock, traceLimits });
    return {
      ...authenticStores({ ...stores, keys }),
      rootKey: keys.rootKey,
      async close(): Promise<void> {
        try {
          await keys.close();
        } finally {
          await stores.close();
        }
      },
    };
  } catch (error) {
    await stores.close();
    throw error;
  }
}
