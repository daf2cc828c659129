import type { Collection } from 'mongodb';
import { type TokenType, tokenTypes } from '../../../domain/token/types/token-type.js';
import type { DueRow, TokenRows } from '../../../ports/token-rows.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import type { MongoConnection } from '../connection.js';
import { countBy, readSnapshot } from '../snapshot-reading.js';
import { hashBytes, type RowDocument, viewFields, viewOf } from './row-document.js';
import { searchRows, walkRows } from './search-rows.js';
import { rowIndexes, tokenRowsCollection } from './token-rows-indexes.js';

export type MongoTokenRows = TokenRows & {
  /** Like `get`, but for several streams. The results are in the order of `streams`. */
  getMany(streams: readonly string[]): Promise<readonly (Stored<TokenView> | null)[]>;
};

/**
 * Implements `TokenRows` on one generation of rows. The rows are written by `mongoRowWriter`. `searchLimitMs` is the
 * time limit for a search (4.5 s by default).
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
    async findByFingerprint(tenantId, fingerprintHash, now, limit) {
      const found = await call((db) =>
        db
          .collection<RowDocument>(rowsName)
          .find(
            { fingerprint: hashBytes(fingerprintHash), tenant: tenantId, expires_at: { $not: { $lte: now } } },
            { projection: { _id: 1 }, sort: { seq: -1 }, limit, hint: rowIndexes.fingerprint },
          )
          .toArray(),
      );
      return found.map(({ _id }) => _id);
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

/** The kinds of due time. Each kind has its own field and index. */
const kinds = [
  { due: 'expiry', field: 'expires_at', hint: rowIndexes.expiresAt },
  { due: 'cvc', field: 'cvc_purge_at', hint: rowIndexes.cvcPurgeAt },
] as const;

/** The row fields needed to read the due times. */
type Due = Pick<RowDocument, '_id' | 'tenant'> & { readonly expires_at?: number; readonly cvc_purge_at?: number };

/**
 * Implements `TokenRows.due`. Each kind of due time is read in a separate query. If a row is swept between the two
 * queries, it appears in only one of the results.
 */
async function dueRows(
  rows: Collection<RowDocument>,
  now: number,
  limit: number,
  codesNow = now,
): Promise<readonly DueRow[]> {
  const found = kinds.map(async ({ due, field, hint }) => {
    const few = await rows
      .find<Due>({ [field]: { $lte: due === 'cvc' ? codesNow : now } }, { projection: { tenant: 1, [field]: 1 }, hint })
      .sort({ [field]: 1 })
      .limit(limit)
      .toArray();
    return few.map((row) => ({ stream: row._id, tenantId: row.tenant, due, dueAt: Number(row[field]) }));
  });
  return (await Promise.all(found))
    .flat()
    .sort((a, b) => a.dueAt - b.dueAt)
    .slice(0, limit);
}

/** Implements `TokenRows.nextDueAt`. */
async function nextDueAt(rows: Collection<RowDocument>): Promise<number | null> {
  const found = kinds.map(async ({ field, hint }) => {
    const first = await rows
      .find<Due>({ [field]: { $gte: Number.MIN_SAFE_INTEGER } }, { projection: { _id: 0, [field]: 1 }, hint })
      .sort({ [field]: 1 })
      .limit(1)
      .next();
    return first?.[field];
  });
  const times = (await Promise.all(found)).filter((time) => time !== undefined);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Implements `TokenRows.countByType`. Counts the rows of each type with an index, and then subtracts the rows that are
 * due but have not been swept.
 */
function countByType(
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
