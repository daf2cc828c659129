import type { Db, IndexDescription } from 'mongodb';
import type { FoundProblem } from '../../ports/store-problem.js';

/** The indexes that the queries on one collection need. Each index has a different name. */
export type RequiredIndexes = {
  readonly collection: string;
  readonly indexes: readonly (IndexDescription & { readonly name: string })[];
};

/** Creates missing collections and indexes. Calling this function again has no effect. */
export async function ensureIndexes(db: Db, required: readonly RequiredIndexes[]): Promise<void> {
  for (const { collection, indexes } of required) await db.collection(collection).createIndexes([...indexes]);
}

/**
 * Returns the names of the missing indexes, each in the form `collection.index`. Queries pass an index as their hint,
 * so they fail if the index is missing.
 */
export async function checkIndexes(db: Db, required: readonly RequiredIndexes[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { collection, indexes } of required) {
    const found = await namesOf(db, collection);
    for (const { name } of indexes) if (!found.has(name)) missing.push(`${collection}.${name}`);
  }
  return missing;
}

/** Returns the problem that these indexes are missing. */
export function lacksIndexes(missing: readonly string[]): FoundProblem {
  const lacks = missing.length === 1 ? `the index ${missing[0]}` : `${missing.length} indexes: ${missing.join(', ')}`;
  return {
    check: 'indexes',
    says: `MongoDB lacks ${lacks}`,
    do: 'Run `strongroom init`, which creates what is missing',
  };
}

async function namesOf(db: Db, collection: string): Promise<ReadonlySet<string | undefined>> {
  const collections = await db.listCollections({ name: collection }, { nameOnly: true }).toArray();
  if (collections.length === 0) return new Set();
  const indexes = await db.collection(collection).listIndexes().toArray();
  return new Set(indexes.map(({ name }) => name as string));
}
