import type { ClientSession, Db } from 'mongodb';
import type { MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { DuplicateKey } from '../mongo-error.js';
import { keyCollections, metaValue } from './key-collections.js';

/** Returns the check value that identifies the root key of the key store, or null if the key store is new. */
export async function storedRootCheck(connection: MongoConnection): Promise<Buffer | null> {
  const value = await metaValue(connection, 'root_check');
  return Buffer.isBuffer(value) ? value : null;
}

/**
 * If the root check has changed since the caller read it, aborts the surrounding transaction. Otherwise, replaces the
 * root check with `next`, or leaves it unchanged if `next` is omitted.
 */
type ExpectCheck = (next?: Buffer) => Promise<void>;

/**
 * Runs `store` in a transaction. The transaction is aborted if another process has replaced the root key. Every
 * transaction that stores wrapped keys writes the root check when it calls `expectCheck`. From that write until the
 * transaction ends, all other such transactions wait. `store` must therefore call `expectCheck` as late as possible.
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

/**
 * Inserts the document of a wrapped key with `insert`, unless another process has replaced the root key. Returns `taken`
 * if another process has already inserted a key in its place.
 */
export async function insertWrappedKey(
  connection: MongoConnection,
  check: Buffer,
  insert: (db: Db, session: ClientSession) => Promise<unknown>,
): Promise<'stored' | 'taken' | 'root_replaced'> {
  try {
    return await underRootCheck(connection, check, async (db, session, expectCheck) => {
      await insert(db, session);
      await expectCheck();
      return 'stored' as const;
    });
  } catch (error) {
    if (error instanceof DuplicateKey) return 'taken';
    throw error;
  }
}
