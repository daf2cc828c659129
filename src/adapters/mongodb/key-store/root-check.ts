import type { ClientSession, Db } from 'mongodb';
import type { MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { keyCollections } from './key-collections.js';

/** Returns the check value that identifies the key store's root key, or null for a new key store. */
export async function storedRootCheck({ call }: MongoConnection): Promise<Buffer | null> {
  const stored = await call((db) => keyCollections.meta(db).findOne({ _id: 'root_check' }));
  return Buffer.isBuffer(stored?.value) ? stored.value : null;
}

/** Aborts the transaction if the root check has changed. If not, replaces the root check with `next`, if given. */
type ExpectCheck = (next?: Buffer) => Promise<void>;

/**
 * Runs `store` in a transaction, which is aborted if another process has replaced the root key. `store` must call
 * `expectCheck` as late as possible. Every transaction that stores wrapped keys writes the root check, so all other
 * such transactions wait after that call.
 */
export async function underRootCheck<T>(
  connection: MongoConnection,
  check: Buffer,
  store: (db: Db, session: ClientSession, expectCheck: ExpectCheck) => Promise<T>,
): Promise<T | 'root_replaced'> {
  try {
    return await inTransaction(connection, (db, session) =>
      store(db, session, async (value = check) => {
        const { matchedCount } = await keyCollections
          .meta(db)
          .updateOne({ _id: 'root_check', value: check }, { $set: { value }, $inc: { uses: 1 } }, { session });
        if (matchedCount === 0) throw new RootReplaced();
      }),
    );
  } catch (error) {
    if (error instanceof RootReplaced) return 'root_replaced';
    throw error;
  }
}

class RootReplaced extends Error {}
