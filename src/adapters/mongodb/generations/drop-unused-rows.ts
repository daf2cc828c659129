import type { MongoConnection } from '../connection.js';
import { tokenRowsCollection, tokenRowsCollections } from '../token-rows/token-rows-indexes.js';
import { loadGenerations } from './generations-document.js';

/**
 * Drops the rows of every generation that is no longer written. Any process can call this function at any time. A
 * generation is listed as written before its first row is created. After it has been removed from the list, it is never
 * written again. This function therefore looks up the collections first and reads the list afterwards. If a
 * collection's generation is not in the list, it has been removed from the list and will not be added again.
 */
export async function dropUnusedRows(connection: MongoConnection): Promise<void> {
  const found = await connection.call(tokenRowsCollections);
  const kept = (await loadGenerations(connection)).write.map(tokenRowsCollection);
  for (const name of found) if (!kept.includes(name)) await connection.call((db) => db.collection(name).drop());
}
