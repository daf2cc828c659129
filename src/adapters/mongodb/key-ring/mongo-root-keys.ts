import type { ClientSession, Db } from 'mongodb';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { ownBuffer } from '../../key-ring/random-key.js';
import { newRootCheck, passesRootCheck } from '../../key-ring/root-check.js';
import type { MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { keyCollections } from './key-collections.js';

/** Reads the candidates for the current root key again. The caller zeroes each of them. */
export type RootKeySource = () => Promise<readonly Buffer[]>;

/** Writes the rewrapped keys. */
type Store = () => Promise<void>;

/**
 * The root key as one of many processes holds it. Another process may replace it at any time. `refresh` then reads the
 * new key from where the settings say, and keys wrapped meanwhile under the old one are not stored.
 */
export type MongoRootKeys = {
  /** Opens something with the root key. Returns null if it does not open. */
  open<T>(attempt: (rootKey: Buffer) => T | null): T | null;
  /**
   * Runs `store` in a transaction that fails if the root key was replaced meanwhile. It is then run again under the new
   * one.
   */
  wrapping(store: (rootKey: Buffer, db: Db, session: ClientSession) => Promise<void>): Promise<void>;
  /**
   * Replaces the root key by `next`. `rewrap` reads and rewraps the keys; one transaction stores them with the new root
   * check.
   */
  replace(next: Buffer, rewrap: (rootKey: Buffer, db: Db, session: ClientSession) => Promise<Store>): Promise<void>;
  /**
   * Finds the root key that another process has put in place. Throws StoreUnavailable if that key is not available here
   * yet.
   */
  refresh(): Promise<void>;
};

export function createMongoRootKeys(
  connection: MongoConnection,
  found: { readonly rootKey: Buffer; readonly check: Buffer },
  source: RootKeySource,
): MongoRootKeys {
  let present = { rootKey: ownBuffer(Buffer.from(found.rootKey)), check: found.check };
  let last: Promise<unknown> = Promise.resolve();

  function alone<T>(work: () => Promise<T>): Promise<T> {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  }

  /** Switches to the next root key. Pending work may still use the old key, so it is zeroed after that work. */
  function goOver(next: Buffer, check: Buffer): void {
    const { rootKey: old } = present;
    present = { rootKey: ownBuffer(Buffer.from(next)), check };
    void alone(async () => old.fill(0));
  }

  async function refresh(): Promise<void> {
    const check = await storedRootCheck(connection);
    if (check?.equals(present.check)) return;
    const candidates = await source();
    const rootKey = candidates.find((candidate) => check !== null && passesRootCheck(candidate, check));
    if (rootKey !== undefined && check !== null) goOver(rootKey, check);
    for (const candidate of candidates) candidate.fill(0);
    if (rootKey === undefined) throw new StoreUnavailable('key store', 'root_key_replaced');
  }

  /**
   * Verifies within the transaction that the root key is unchanged. Every transaction that wraps keys writes this
   * document, so two concurrent ones wait for each other. Call it as late as possible, because all others wait from
   * then on.
   */
  async function expectPresent(db: Db, session: ClientSession, value: Buffer): Promise<void> {
    const { matchedCount } = await keyCollections
      .meta(db)
      .updateOne({ _id: 'root_check', value: present.check }, { $set: { value }, $inc: { uses: 1 } }, { session });
    if (matchedCount === 0) throw new RootReplaced();
  }

  return {
    open: (attempt) => attempt(present.rootKey),
    refresh: () => alone(refresh),
    wrapping: (store) =>
      alone(async () => {
        for (;;) {
          try {
            return await inTransaction(connection, async (db, session) => {
              await store(present.rootKey, db, session);
              await expectPresent(db, session, present.check);
            });
          } catch (error) {
            if (!(error instanceof RootReplaced)) throw error;
            await refresh();
          }
        }
      }),
    replace: (next, rewrap) =>
      alone(async () => {
        const check = newRootCheck(next);
        try {
          await inTransaction(connection, async (db, session) => {
            const store = await rewrap(present.rootKey, db, session);
            await expectPresent(db, session, check);
            await store();
          });
        } catch (error) {
          if (error instanceof RootReplaced) throw new StoreUnavailable('key store', 'root_key_replaced');
          throw error;
        }
        goOver(next, check);
      }),
  };
}

/** Returns the check value that identifies the root key of the key store, or null in a new key store. */
export async function storedRootCheck({ call }: MongoConnection): Promise<Buffer | null> {
  const stored = await call((db) => keyCollections.meta(db).findOne({ _id: 'root_check' }));
  return Buffer.isBuffer(stored?.value) ? stored.value : null;
}

class RootReplaced extends Error {}
