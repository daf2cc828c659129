import type { Collection, Db } from 'mongodb';
import type { Rebuild } from '../../../ports/generations.js';
import { type ProjectionVersions, projectionVersions } from '../../../projections/versions.js';
import { firstGeneration } from '../../key-ring/generation-key.js';
import type { MongoConnection } from '../connection.js';

/** The one document of `generations`: every change of it is one compare-and-set. */
export type GenerationsDocument = {
  readonly _id: 'token_rows';
  readonly read: number;
  readonly write: readonly number[];
  readonly versions: ProjectionVersions;
  /** The rebuild that is under way, or the last one. */
  readonly rebuild: Rebuild | null;
  /** Somebody asked to take it back. */
  readonly cancelled: boolean;
};

export const theGenerations = { _id: 'token_rows' } as const;

/** Of a new vault. */
const firstGenerations: Omit<GenerationsDocument, '_id'> = {
  ...{ read: firstGeneration, write: [firstGeneration], versions: projectionVersions, rebuild: null, cancelled: false },
};

export function generationsCollection(db: Db): Collection<GenerationsDocument> {
  return db.collection<GenerationsDocument>('generations');
}

/** The document; in a new vault it is made. */
export async function loadGenerations({ call }: MongoConnection): Promise<GenerationsDocument> {
  const found = await call((db) => generationsCollection(db).findOne(theGenerations));
  if (found !== null) return found;
  const made = await call((db) =>
    generationsCollection(db).findOneAndUpdate(
      theGenerations,
      { $setOnInsert: firstGenerations },
      { upsert: true, returnDocument: 'after' },
    ),
  );
  if (made === null) throw new Error('the document was made');
  return made;
}
