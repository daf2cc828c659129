import type { Collection, Db } from 'mongodb';
import type { GenerationsInUse, Rebuild } from '../../../ports/generations.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { type ProjectionVersions, projectionVersions } from '../../../views/versions.js';
import type { MongoConnection } from '../connection.js';

/** The only document in the collection `generations`. Every change to it is a single compare-and-set operation. */
export type GenerationsDocument = GenerationsInUse & {
  readonly _id: 'token_rows';
  readonly versions: ProjectionVersions;
  /** The current rebuild, or the last one if no rebuild is running. */
  readonly rebuild: Rebuild | null;
  /** The generation whose rebuild an operator asked to cancel, or null. */
  readonly cancelled: number | null;
  /** Generations up to this number are never added again. */
  readonly retired: number;
  /**
   * The id of the current rebuild lease holder, or null. `until` is the time when the lease expires, according to
   * MongoDB's clock.
   */
  readonly holder: string | null;
  readonly until: Date | null;
};

export const theGenerations = { _id: 'token_rows' } as const;

export function generationsCollection(db: Db): Collection<GenerationsDocument> {
  return db.collection<GenerationsDocument>('generations');
}

/**
 * Creates the document if it is missing. The new document lists only the generation that `toRead` returns, both as read
 * and as written.
 */
export async function ensureGenerations({ call }: MongoConnection, toRead: () => Promise<number>): Promise<void> {
  const found = await call((db) => generationsCollection(db).findOne(theGenerations));
  if (found !== null) return;
  const generation = await toRead();
  const first: Omit<GenerationsDocument, '_id'> = {
    read: generation,
    write: [generation],
    versions: projectionVersions,
    rebuild: null,
    cancelled: null,
    retired: 0,
    holder: null,
    until: null,
  };
  await call((db) => generationsCollection(db).updateOne(theGenerations, { $setOnInsert: first }, { upsert: true }));
}

/**
 * Returns the document. Throws StoreUnavailable if the document is missing. A missing document never means that the
 * vault is empty.
 */
export async function loadGenerations({ call }: MongoConnection): Promise<GenerationsDocument> {
  const found = await call((db) => generationsCollection(db).findOne(theGenerations));
  if (found === null) throw new StoreUnavailable('mongodb', 'generations_missing');
  return found;
}
