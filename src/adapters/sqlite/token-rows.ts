import type { TokenType } from '../../domain/token/types/token-type.js';
import type { DueRow, TokenRows } from '../../ports/token-rows.js';
import type { SqliteDatabase } from './database/open-database.js';
import { holdsTokenStream, packHash, packStream, streamName } from './database/packed-text.js';
import { reading } from './database/reading.js';
import { ofBothSlots, rowTables, type Slot, slots } from './database/rows-schema.js';
import { rowsWithCiphertexts, type TokenRow, viewColumns, viewOf } from './database/token-row.js';
import type { SearchConnections } from './search/search-connections.js';
import { searchRows, walkRows } from './search/search-rows.js';

type Count = { readonly type: TokenType; readonly count: number };

/** Implements `TokenRows` on `vault.db`. The unit of work writes the rows. */
export function sqliteTokenRows(database: SqliteDatabase, connections: SearchConnections): TokenRows {
  const readSlot = database.prepare(`SELECT slot FROM generations WHERE state = 'read'`).pluck();
  const of = ofBothSlots((slot) => statementsOf(database, slot));
  // This statement runs for most requests, so it must be fast. In a single step, it determines which generation to read
  // and finds the row in that generation.
  const byStream = database.prepare(
    slots
      .map((slot) => {
        const isRead = `EXISTS (SELECT 1 FROM generations WHERE state = 'read' AND slot = ${slot})`;
        return `SELECT ${viewColumns} FROM ${rowsWithCiphertexts(rowTables(slot).rows)}
          WHERE r.stream = @stream AND ${isRead}`;
      })
      .join(' UNION ALL '),
  );
  /**
   * Returns the statements for the generation that is currently read. A swap to another generation takes effect as soon
   * as it is committed.
   */
  const read = () => of[readSlot.get() as Slot];

  function countsOf(tenantId: string, now: number): readonly [Count[], Count[]] {
    const { counts, expired } = read();
    return [counts.all(tenantId) as Count[], expired.all(now, tenantId) as Count[]];
  }

  function dueTimes(): readonly unknown[] {
    const { nextExpiry, nextPurge } = read();
    return [nextExpiry.get(), nextPurge.get()];
  }

  return {
    get(stream) {
      const row = reading(() => byStream.get({ stream: packStream(stream) }) as TokenRow | undefined);
      return row === undefined ? null : viewOf(row);
    },
    search: (plan, page) => searchRows(connections, plan, page),
    walk: (plan, step) => walkRows(connections, plan, step),
    async findByFingerprint(tenantId, fingerprintHash, at, limit) {
      return reading(() => read().byFingerprint.all(packHash(fingerprintHash), tenantId, at, limit)) as string[];
    },
    async countByType(tenantId, now) {
      const [all, gone] = reading(() => countsOf(tenantId, now));
      const living = new Map(all.map(({ type, count }) => [type, count]));
      for (const { type, count } of gone) living.set(type, (living.get(type) ?? 0) - count);
      return new Map([...living].filter(([, count]) => count > 0));
    },
    async due(now, limit, codesNow = now) {
      return reading(() => read().dueRows.all({ now, codesNow, limit }) as DueRow[]);
    },
    async nextDueAt() {
      const times = reading(() => dueTimes()).filter((time) => typeof time === 'number');
      return times.length === 0 ? null : Math.min(...times);
    },
    async page(afterStream, limit) {
      return (reading(() => read().pageAfter.all(packStream(afterStream), limit)) as TokenRow[]).map(viewOf);
    },
  };
}

function statementsOf(database: SqliteDatabase, slot: Slot) {
  const { rows, tokenCounts } = rowTables(slot);
  const byFingerprint = database
    .prepare(
      `SELECT ${streamName('stream')} FROM ${rows}
       WHERE fingerprint = ? AND tenant = ? AND (expires_at IS NULL OR expires_at > ?)
       ORDER BY seq DESC LIMIT ? + 0`,
    )
    .pluck();
  const pageAfter = database.prepare(
    `SELECT ${viewColumns} FROM ${rowsWithCiphertexts(rows)} WHERE r.stream > ? AND ${holdsTokenStream('r.stream')}
     ORDER BY r.stream LIMIT ? + 0`,
  );
  const counts = database.prepare(`SELECT type, count FROM ${tokenCounts} WHERE tenant = ? AND count > 0`);
  // Counts the tokens that are due but have not been swept. There are only a few of them, so the index on `expires_at`
  // finds them quickly.
  const expired = database.prepare(
    `SELECT type, count(*) AS count FROM ${rows} WHERE expires_at <= ? AND tenant = ? GROUP BY 1`,
  );
  const dueRows = database.prepare(
    `SELECT * FROM (
       SELECT ${streamName('stream')} AS stream, tenant AS tenantId, 'expiry' AS due, expires_at AS dueAt FROM ${rows}
       WHERE expires_at <= @now ORDER BY expires_at LIMIT @limit + 0)
     UNION ALL SELECT * FROM (
       SELECT ${streamName('stream')} AS stream, tenant AS tenantId, 'cvc' AS due, cvc_purge_at AS dueAt FROM ${rows}
       WHERE cvc_purge_at <= @codesNow ORDER BY cvc_purge_at LIMIT @limit + 0)
     ORDER BY dueAt LIMIT @limit + 0`,
  );
  const nextExpiry = database.prepare(`SELECT min(expires_at) FROM ${rows} WHERE expires_at IS NOT NULL`).pluck();
  const nextPurge = database.prepare(`SELECT min(cvc_purge_at) FROM ${rows} WHERE cvc_purge_at IS NOT NULL`).pluck();
  return { byFingerprint, pageAfter, counts, expired, dueRows, nextExpiry, nextPurge };
}
