import type { Collection, Db } from 'mongodb';
import type { GenerationsInUse, Rebuild } from '../../../ports/generations.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { type ProjectionVersions, projectionVersions } from '../../../views/versions.js';
import type { MongoConnection } from '../connection.js';

/** The one document of `generations`: every change of it is one compare-and-set. */
export type GenerationsDocument = GenerationsInUse & {
  readonly _id: 'token_rows';
  readonly versions: ProjectionVersions;
  /** The rebuild that is under way, or the last one. */
  readonly rebuild: Rebuild | null;
  /** The generation that somebody asked to take back. */
  readonly cancelled: number | null;
  /** No generation up to this one is ever added any more. */
  readonly retired: number;
  /** Who works at the rebuild, and until when by the clock of MongoDB. */
  readonly holder: string | null;
  readonly until: Date | null;
};

export const theGenerations = { _id: 'token_rows' } as const;

export function generationsCollection(db: Db): Collection<GenerationsDocument> {
  return db.collection<GenerationsDocument>('generations');
}

/** Makes the document where there is none: the one generation that `toRead` answers then is read and written. */
export async function ensureGenerations({ call }: MongoConnection, toRead: () => Promise<number>): Promise<void> {
  const found = await call((db) => generationsCollection(db).findOne(theGenerations));
  if (found !== null) return;
  const generation = await toRead();
  const first: Omit<GenerationsDocument, '_id'> = {
    ...{ read: generation, write: [generation], versions: projectionVersions, rebuild: null, cancelled: null },
    ...{ retired: 0, holder: null, until: null },
  };
  await call((db) => generationsCollection(db).updateOne(theGenerations, { $setOnInsert: first }, { upsert: true }));
}

/** Throws StoreUnavailable, also when somebody removed the document: nobody may take the rows for none. */
export async function loadGenerations({ call }: MongoConnection): Promise<GenerationsDocument> {
  const found = await call((db) => generationsCollection(db).findOne(theGenerations));
  if (found === null) throw new StoreUnavailable('mongodb', 'generations_missing');
  return found;
}
