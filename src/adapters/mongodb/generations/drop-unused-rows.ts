import type { MongoConnection } from '../connection.js';
import { tokenRowsCollection } from '../token-rows/token-rows-indexes.js';
import { loadGenerations } from './generations-document.js';

/**
 * Drops the rows of every generation that is not written. Any process may call it at any time. Rows are created only
 * for a generation that is already written, and a generation that was left is never written again. So a collection that
 * exists, and whose generation is not in the list read afterwards, has been left.
 */
export async function dropUnusedRows(connection: MongoConnection): Promise<void> {
  const found = await connection.call((db) =>
    db.listCollections({ name: /^token_rows_\d+$/ }, { nameOnly: true }).toArray(),
  );
  const kept = (await loadGenerations(connection)).write.map(tokenRowsCollection);
  for (const { name } of found) if (!kept.includes(name)) await connection.call((db) => db.collection(name).drop());
}
