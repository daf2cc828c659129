import { keptFrom } from '../../events/access-log/retention.js';
import type { FoundProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { Vault } from '../../vault/vault.js';

/**
 * Returns a problem if the access log lacks entries that were stored, or if it cannot be read. Returns null if no
 * entries are known to be missing, or if the store offers no check. `audit verify` also finds missing entries that a
 * checkpoint has signed.
 */
export async function lostEntries({
  accessLog,
  storedLog,
  clock,
}: Pick<Vault, 'accessLog' | 'storedLog' | 'clock'>): Promise<FoundProblem | null> {
  if (accessLog.missing === null) return null;
  const [first] = await storedLog.readClear(0, 1);
  try {
    return await accessLog.missing(first !== undefined && first.time >= keptFrom(clock.now()));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const unreadable = { check: 'access log', says: error.message, do: 'Check the disk and the access log files' };
    return error.found ?? unreadable;
  }
}
