import type { MongoConnection } from '../connection.js';
import { tokenRowsCollection } from '../token-rows/token-rows-indexes.js';
import { loadGenerations } from './generations-document.js';

/**
 * Drops the rows of every generation that is no longer written. Any process may call this at any time. A generation is
 * listed as written before its first row is created, and a generation that was removed from the list is never written
 * again. We therefore look for collections first and read the list afterwards. If a collection's generation is not in
 * the list, it was removed from the list and will not return.
 */
export async function dropUnusedRows(connection: MongoConnection): Promise<void> {
  const found = await connection.call((db) =>
    db.listCollections({ name: /^token_rows_\d+$/ }, { nameOnly: true }).toArray(),
  );
  const kept = (await loadGenerations(connection)).write.map(tokenRowsCollection);
  for (const { name } of found) if (!kept.includes(name)) await connection.call((db) => db.collection(name).drop());
}
