import type { Collection, Db } from 'mongodb';
import type { GenerationsInUse, Rebuild } from '../../../ports/generations.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { type ProjectionVersions, projectionVersions } from '../../../views/versions.js';
import { MongoBroken, type MongoConnection } from '../connection.js';

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

/** The `check` of the problem that the document is damaged. */
export const generationsCheck = 'generations';

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

/** Returns the document, or null if it is missing. Throws MongoBroken if it was damaged. */
export async function findGenerations({ call }: MongoConnection): Promise<GenerationsDocument | null> {
  const found = await call((db) => generationsCollection(db).findOne(theGenerations));
  if (found !== null) refuseDamaged(found);
  return found;
}

/**
 * Returns the document. Throws StoreUnavailable if the document is missing, and MongoBroken if it was damaged. A missing
 * document never means that the vault is empty.
 */
export async function loadGenerations(connection: MongoConnection): Promise<GenerationsDocument> {
  const found = await findGenerations(connection);
  if (found === null) throw new StoreUnavailable('mongodb', 'generations_missing');
  return found;
}

/**
 * Throws MongoBroken if a part of the document on which reads depend was changed by hand. Threat: an attacker plants a
 * list without the generation that is read, for which every read would wait forever.
 */
function refuseDamaged({ read, write, retired, versions }: GenerationsDocument): void {
  const isSound =
    [read, retired].every(Number.isSafeInteger) &&
    Array.isArray(write) &&
    write.every(Number.isSafeInteger) &&
    write.includes(read) &&
    typeof versions === 'object' &&
    versions !== null;
  if (isSound) return;
  throw new MongoBroken({
    check: generationsCheck,
    says: 'the record of which rows are in use, in the collection generations in MongoDB, is damaged',
    do: `Find out who can write to the store of the rows. Then stop all processes. ${rebuildByHand}`,
  });
}

/** How an operator rebuilds the rows if MongoDB no longer records which of them are in use. */
export const rebuildByHand =
  'Drop the collections generations, checkpoints and token_rows_<number>, and run `strongroom init`: a worker ' +
  'rebuilds the rows from the log. Start the API processes once `strongroom projections status` shows that `tokens` is ' +
  'up to date';
