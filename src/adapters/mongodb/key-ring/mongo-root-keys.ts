import type { ClientSession, Db } from 'mongodb';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { ownBuffer } from '../../key-ring/random-key.js';
import { newRootCheck, passesRootCheck } from '../../key-ring/root-check.js';
import type { MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { keyCollections } from './key-collections.js';

/** Reads anew what may be the root key by now; each is the caller's to zero. */
export type RootKeySource = () => Promise<readonly Buffer[]>;

/** Writes what was read and rewrapped. */
type Store = () => Promise<void>;

/**
 * The root key as one of many processes has it. Another one may replace it at any time: then `refresh` finds the new
 * one where the settings say, and what was wrapped meanwhile under the old one is not stored.
 */
export type MongoRootKeys = {
  /** Opens something with the root key; null: it does not open. */
  open<T>(attempt: (rootKey: Buffer) => T | null): T | null;
  /** Stores what `store` wraps, in a transaction that fails when the root key is another one by then. */
  wrapping(store: (rootKey: Buffer, db: Db, session: ClientSession) => Promise<void>): Promise<void>;
  /** Puts everything under `next` that `rewrap` reads, and then stores in one transaction with the new root check. */
  replace(next: Buffer, rewrap: (rootKey: Buffer, db: Db, session: ClientSession) => Promise<Store>): Promise<void>;
  /**
   * Learns of a root key that another process put everything under. Throws StoreUnavailable when it is not there yet.
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

  /** What is under way may still hold the old key: it is zeroed behind that. */
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
   * Every transaction that wraps writes this document: of two that meet, one waits for the other. As late as can be,
   * for all others wait for this one from then on.
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

/** What tells which root key the key store is under; null in a new one. */
export async function storedRootCheck({ call }: MongoConnection): Promise<Buffer | null> {
  const stored = await call((db) => keyCollections.meta(db).findOne({ _id: 'root_check' }));
  return Buffer.isBuffer(stored?.value) ? stored.value : null;
}

class RootReplaced extends Error {}
