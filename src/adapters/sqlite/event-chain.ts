import type { ChainLink, EventChain } from '../../ports/event-chain.js';
import type { SqliteDatabase } from './open-database.js';
import { reading } from './reading.js';

/** `EventChain` on `vault.db`, where each event is stored with its link. */
export function sqliteEventChain(database: SqliteDatabase): EventChain {
  const columns = 'position, position AS count, chain AS hash';
  const head = database.prepare(`SELECT ${columns} FROM events WHERE position <= ? ORDER BY position DESC LIMIT 1`);
  const after = database.prepare(`SELECT ${columns} FROM events WHERE position > ? ORDER BY position LIMIT ?`);

  return {
    async head(upTo = Number.MAX_SAFE_INTEGER) {
      return reading(() => (head.get(upTo) as ChainLink | undefined) ?? null);
    },
    after: async (position, limit) => reading(() => after.all(position, limit) as ChainLink[]),
    follow: async () => undefined,
  };
}
