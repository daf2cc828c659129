import type { Db, IndexDescription } from 'mongodb';

/** The indexes that queries of one collection are written for; each has a name of its own. */
export type RequiredIndexes = {
  readonly collection: string;
  readonly indexes: readonly (IndexDescription & { readonly name: string })[];
};

/** Makes the collections and the indexes that are not there yet. Again does nothing. */
export async function ensureIndexes(db: Db, required: readonly RequiredIndexes[]): Promise<void> {
  for (const { collection, indexes } of required) await db.collection(collection).createIndexes([...indexes]);
}

/** Which indexes are missing, as `collection.index`; empty: none. Without one a query fails, because each names its own. */
export async function checkIndexes(db: Db, required: readonly RequiredIndexes[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { collection, indexes } of required) {
    const found = await namesOf(db, collection);
    for (const { name } of indexes) if (!found.has(name)) missing.push(`${collection}.${name}`);
  }
  return missing;
}

async function namesOf(db: Db, collection: string): Promise<ReadonlySet<string | undefined>> {
  const collections = await db.listCollections({ name: collection }, { nameOnly: true }).toArray();
  if (collections.length === 0) return new Set();
  const indexes = await db.collection(collection).listIndexes().toArray();
  return new Set(indexes.map(({ name }) => name as string));
}
