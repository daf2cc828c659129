import type { TokenRows } from '../../../ports/token-rows.js';
import type { Stored } from '../../../projections/row-mac.js';
import type { TokenView } from '../../../projections/token-view.js';
import type { MongoConnection } from '../connection.js';
import { countByType } from './count-by-type.js';
import { dueRows, nextDueAt } from './due-rows.js';
import { hashBytes, type RowDocument, viewFields, viewOf } from './row-document.js';
import { searchRows, walkRows } from './search/search-rows.js';
import { rowIndexes, tokenRowsCollection } from './token-rows-indexes.js';

export type MongoTokenRows = TokenRows & {
  /** The rows of several streams, each as `get` answers it, by the index of its stream. */
  getMany(streams: readonly string[]): Promise<readonly (Stored<TokenView> | null)[]>;
};

/**
 * `TokenRows` on one generation of rows; they are written by `mongoRowWriter`. A search is refused after `searchLimitMs`,
 * or after 4.5 s.
 */
export function mongoTokenRows(
  connection: MongoConnection,
  generation: number,
  searchLimitMs?: number,
): MongoTokenRows {
  const { call } = connection;
  const rowsName = tokenRowsCollection(generation);

  async function getMany(streams: readonly string[]): Promise<readonly (Stored<TokenView> | null)[]> {
    const rows = await call((db) =>
      db
        .collection<RowDocument>(rowsName)
        .find({ _id: { $in: [...new Set(streams)] } }, { projection: viewFields })
        .toArray(),
    );
    const views = new Map(rows.map((row) => [row._id, viewOf(row)]));
    return streams.map((stream) => views.get(stream) ?? null);
  }

  return {
    getMany,
    async get(stream) {
      return (await getMany([stream]))[0] ?? null;
    },
    async findByFingerprint(tenantId, fingerprintHash, now) {
      const row = await call((db) =>
        db
          .collection<RowDocument>(rowsName)
          .findOne(
            { fingerprint: hashBytes(fingerprintHash), tenant: tenantId, expires_at: { $not: { $lte: now } } },
            { projection: { _id: 1 }, sort: { seq: -1 }, hint: rowIndexes.fingerprint },
          ),
      );
      return row?._id ?? null;
    },
    search: (plan, page) => searchRows(connection, rowsName, plan, page, searchLimitMs),
    walk: (plan, step) => walkRows(connection, rowsName, plan, step, searchLimitMs),
    countByType: (tenantId, now) => countByType(connection, rowsName, tenantId, now),
    due: (now, limit, codesNow) => call((db) => dueRows(db.collection(rowsName), now, limit, codesNow)),
    nextDueAt: () => call((db) => nextDueAt(db.collection(rowsName))),
    async page(afterStream, limit) {
      const found = await call((db) =>
        db
          .collection<RowDocument>(rowsName)
          .find({ _id: { $gt: afterStream } }, { projection: viewFields })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(viewOf);
    },
  };
}
