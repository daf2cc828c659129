import { authenticLog } from '#src/audit/authentic-log.js';
import type { IntegrityKeys } from '#src/keys/key-ring.js';
import type { EventLog, StoredLog } from '#src/ports/event-log.js';

/** The integrity keys of a log that `authenticated` opens. */
export const testIntegrityKeys: IntegrityKeys = {
  commits: Buffer.alloc(32, 1),
  rows: Buffer.alloc(32, 2),
  backups: Buffer.alloc(32, 3),
  cursors: Buffer.alloc(32, 4),
  console: Buffer.alloc(32, 5),
};

/**
 * Opens a stored log as a vault does, but with the integrity keys for tests. Suites that test a store without a key
 * ring use this function.
 */
export function authenticated(stored: StoredLog): EventLog {
  return authenticLog(stored, { integrityKeys: async () => testIntegrityKeys });
}
