import type { ChainLink, EventChain } from '../../ports/event-chain.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';

/** Implements `EventChain` on `vault.db`. The last event of each commit stores the commit's link. */
export function sqliteEventChain(database: SqliteDatabase): EventChain & { newest(): ChainLink | null } {
  const links = 'SELECT position, number AS count, link AS hash FROM events WHERE link IS NOT NULL';
  const head = database.prepare(`${links} AND position <= ? ORDER BY position DESC LIMIT 1`);
  const after = database.prepare(`${links} AND position > ? ORDER BY position LIMIT ? + 0`);

  const newest = (upTo = Number.MAX_SAFE_INTEGER) => reading(() => (head.get(upTo) as ChainLink | undefined) ?? null);

  return {
    newest: () => newest(),
    head: async (upTo) => newest(upTo),
    after: async (position, limit) => reading(() => after.all(position, limit) as ChainLink[]),
    follow: async () => undefined,
  };
}
