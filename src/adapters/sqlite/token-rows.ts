import type { TokenType } from '../../domain/token/token-type.js';
import type { DueRow, TokenRows } from '../../ports/token-rows.js';
import type { SqliteDatabase } from './open-database.js';
import { reading } from './reading.js';
import type { SearchConnections } from './search/search-connections.js';
import { searchRows, walkRows } from './search/search-rows.js';
import { type TokenRow, viewOf } from './token-row.js';

type Count = { readonly type: TokenType; readonly count: number };

/** `TokenRows` on `vault.db`; rows are written by the unit of work. */
export function sqliteTokenRows(database: SqliteDatabase, connections: SearchConnections): TokenRows {
  const byStream = database.prepare('SELECT stream, tenant, state, content, cvc FROM token_rows WHERE stream = ?');
  const byFingerprint = database
    .prepare(
      `SELECT stream FROM token_rows
       WHERE fingerprint = ? AND tenant = ? AND (expires_at IS NULL OR expires_at > ?) LIMIT 1`,
    )
    .pluck();
  const counts = database.prepare('SELECT type, count FROM token_counts WHERE tenant = ? AND count > 0');
  // Those that are due and not yet swept: the index on expires_at holds few of them.
  const expired = database.prepare(
    `SELECT state ->> '$.life.tokenType' AS type, count(*) AS count FROM token_rows
     WHERE expires_at <= ? AND tenant = ? GROUP BY 1`,
  );
  const dueRows = database.prepare(
    `SELECT * FROM (
       SELECT stream, tenant AS tenantId, 'expiry' AS due, expires_at AS dueAt FROM token_rows
       WHERE expires_at <= @now ORDER BY expires_at LIMIT @limit)
     UNION ALL SELECT * FROM (
       SELECT stream, tenant AS tenantId, 'cvc' AS due, cvc_purge_at AS dueAt FROM token_rows
       WHERE cvc_purge_at <= @now ORDER BY cvc_purge_at LIMIT @limit)
     ORDER BY dueAt LIMIT @limit`,
  );
  const nextExpiry = database.prepare('SELECT min(expires_at) FROM token_rows WHERE expires_at IS NOT NULL').pluck();
  const nextPurge = database.prepare('SELECT min(cvc_purge_at) FROM token_rows WHERE cvc_purge_at IS NOT NULL').pluck();

  return {
    async get(stream) {
      const row = reading(() => byStream.get(stream) as TokenRow | undefined);
      return row === undefined ? null : viewOf(row);
    },
    search: (plan, page) => searchRows(connections, plan, page),
    walk: (plan, step) => walkRows(connections, plan, step),
    async findByFingerprint(tenantId, fingerprintHash, now) {
      return reading(() => (byFingerprint.get(fingerprintHash, tenantId, now) as string | undefined) ?? null);
    },
    async countByType(tenantId, now) {
      const [all, gone] = reading(() => [counts.all(tenantId) as Count[], expired.all(now, tenantId) as Count[]]);
      const living = new Map(all.map(({ type, count }) => [type, count]));
      for (const { type, count } of gone) living.set(type, (living.get(type) ?? 0) - count);
      return new Map([...living].filter(([, count]) => count > 0));
    },
    async due(now, limit) {
      return reading(() => dueRows.all({ now, limit }) as DueRow[]);
    },
    async nextDueAt() {
      const times = reading(() => [nextExpiry.get(), nextPurge.get()]).filter((time) => typeof time === 'number');
      return times.length === 0 ? null : Math.min(...times);
    },
  };
}
