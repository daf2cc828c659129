import type { MongoConnection } from '../connection.js';
import { tokenRowsCollection } from '../token-rows/token-rows-indexes.js';

/** Drops the rows of every generation that is none of these. */
export function dropRowsNotIn(call: MongoConnection['call'], generations: readonly number[]): Promise<void> {
  const kept = generations.map(tokenRowsCollection);
  return call(async (db) => {
    const found = await db.listCollections({ name: /^token_rows_\d+$/ }, { nameOnly: true }).toArray();
    for (const { name } of found) if (!kept.includes(name)) await db.collection(name).drop();
  });
}
