import type { MongoConnection } from '../connection.js';
import type { RowDocument } from './row-document.js';
import { rowIndexes } from './token-rows-indexes.js';

/** So many go at once, so that no call comes near its limit. */
const batchSize = 1_000;

/** Forgets the tombstones of tokens removed before an instant and answers how many. One that lives again meanwhile stays. */
export async function forgetTombstones(
  call: MongoConnection['call'],
  rowsName: string,
  notBefore: number,
): Promise<number> {
  const old = { removed_at: { $lt: notBefore } };
  for (let forgotten = 0; ; ) {
    const deleted = await call(async (db) => {
      const rows = db.collection<RowDocument>(rowsName);
      const found = await rows
        .find(old, { projection: { _id: 1 }, hint: rowIndexes.removedAt, limit: batchSize })
        .toArray();
      const { deletedCount } = await rows.deleteMany({ _id: { $in: found.map(({ _id }) => _id) }, ...old });
      return found.length === 0 ? null : deletedCount;
    });
    if (deleted === null) return forgotten;
    forgotten += deleted;
  }
}
