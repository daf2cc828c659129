import type { MongoConnection } from '../connection.js';
import type { RowDocument } from '../token-rows/row-document.js';
import { tokenRowsCollection } from '../token-rows/token-rows-indexes.js';

/**
 * Throws MongoBroken when the user of the rows may not change those of a generation: better before everybody has to write
 * them than after. No row has this id.
 */
export async function proveRights({ call }: MongoConnection, generation: number): Promise<void> {
  const none = { _id: '' };
  await call(async (db) => {
    const rows = db.collection<RowDocument>(tokenRowsCollection(generation));
    await rows.updateOne(none, { $set: { revision: -1 } });
    await rows.deleteOne(none);
  });
}
