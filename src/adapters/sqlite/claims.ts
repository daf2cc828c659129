import type { Claims } from '../../ports/claims.js';
import type { FinishedClaim } from '../../views/finished-claim.js';
import type { Stored } from '../../views/row-mac.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import type { Writer } from './writer/writer.js';

type ClaimRow = Omit<Stored<FinishedClaim>, 'result'> & { readonly result: string };

/**
 * Implements `Claims` on `vault.db`. A finished claim is stored in the same transaction as its command's changes.
 * Running commands are recorded only in memory. Memory is sufficient, because only one process uses the data. If that
 * process crashes, none of its commands is still running.
 */
export function sqliteClaims(database: SqliteDatabase, writer: Writer): Claims {
  const find = database.prepare('SELECT cmd, time, result, mac FROM claims WHERE cmd = ?');
  const page = database.prepare('SELECT cmd, time, result, mac FROM claims WHERE cmd > ? ORDER BY cmd LIMIT ? + 0');
  const open = new Set<string>();

  return {
    async begin(cmd, notBefore) {
      if (open.has(cmd)) return { state: 'in_flight' };
      const row = reading(() => find.get(cmd) as ClaimRow | undefined);
      if (row !== undefined && row.time >= notBefore) {
        return { state: 'done', claim: claimOf(row) };
      }
      open.add(cmd);
      try {
        // Removes this command's expired claim. Otherwise, storing the new claim under the same primary key would fail.
        if (row !== undefined) await writer.request('forget_claim', { cmd });
      } catch (error) {
        open.delete(cmd);
        throw error;
      }
      return { state: 'fresh' };
    },
    async release(cmd) {
      open.delete(cmd);
    },
    async forget(notBefore) {
      while (!(await writer.request('forget_claims', { notBefore })));
    },
    page: async (afterCmd, limit) => reading(() => page.all(afterCmd, limit) as ClaimRow[]).map(claimOf),
  };
}

function claimOf({ result, ...row }: ClaimRow): Stored<FinishedClaim> {
  return { ...row, result: JSON.parse(result) };
}
