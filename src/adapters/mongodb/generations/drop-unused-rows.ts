import type { MongoConnection } from '../connection.js';
import { tokenRowsCollection } from '../token-rows/token-rows-indexes.js';
import { loadGenerations } from './generations-document.js';

/**
 * Drops the rows of every generation that is no longer written. Any process may call it at any time. Rows are created
 * only for a generation that is already listed as written, and a generation that was left is never written again. So if
 * a collection exists and its generation is not in the list that is read afterwards, that generation has been left.
 */
export async function dropUnusedRows(connection: MongoConnection): Promise<void> {
  const found = await connection.call((db) =>
    db.listCollections({ name: /^token_rows_\d+$/ }, { nameOnly: true }).toArray(),
  );
  const kept = (await loadGenerations(connection)).write.map(tokenRowsCollection);
  for (const { name } of found) if (!kept.includes(name)) await connection.call((db) => db.collection(name).drop());
}
