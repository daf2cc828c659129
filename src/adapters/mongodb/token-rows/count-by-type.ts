import { type TokenType, tokenTypes } from '../../../domain/token/token-type.js';
import type { MongoConnection } from '../connection.js';
import { countBy, readSnapshot } from '../snapshot-reading.js';
import { rowIndexes } from './token-rows-indexes.js';

/** `TokenRows.countByType`: each type by its index alone, less those that are due and not yet swept. */
export function countByType(
  connection: MongoConnection,
  rowsName: string,
  tenantId: string,
  now: number,
): Promise<ReadonlyMap<TokenType, number>> {
  return readSnapshot(connection, 'count_took_too_long', async (db, options) => {
    const due = await db
      .collection(rowsName)
      .aggregate<{ _id: TokenType; count: number }>(
        [{ $match: { expires_at: { $lte: now }, tenant: tenantId } }, { $group: { _id: '$type', count: { $sum: 1 } } }],
        { ...options(), hint: rowIndexes.expiresAt },
      )
      .toArray();
    const gone = new Map(due.map(({ _id, count }) => [_id, count]));
    const living = new Map<TokenType, number>();
    for (const type of tokenTypes) {
      const all = await countBy(db, rowsName, { tenant: tenantId, type }, { ...options(), hint: rowIndexes.type });
      const count = all - (gone.get(type) ?? 0);
      if (count > 0) living.set(type, count);
    }
    return living;
  });
}
