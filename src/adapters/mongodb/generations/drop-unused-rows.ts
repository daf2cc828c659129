import type { MongoConnection } from '../connection.js';
import { tokenRowsCollection } from '../token-rows/token-rows-indexes.js';
import { loadGenerations } from './generations-document.js';

/**
 * Drops the rows of every generation that is not written. Anybody may do it at any time: rows are made only for one
 * that is written by then, and one that was left is never written again; so what is there, and is not written when that
 * is looked at afterwards, has been left.
 */
export async function dropUnusedRows(connection: MongoConnection): Promise<void> {
  const found = await connection.call((db) =>
    db.listCollections({ name: /^token_rows_\d+$/ }, { nameOnly: true }).toArray(),
  );
  const kept = (await loadGenerations(connection)).write.map(tokenRowsCollection);
  for (const { name } of found) if (!kept.includes(name)) await connection.call((db) => db.collection(name).drop());
}
