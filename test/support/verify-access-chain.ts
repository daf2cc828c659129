import { batchHash, entryLine } from '#src/events/access-log/batch-hash.js';
import type { AccessLog } from '#src/ports/access-log.js';

const pageSize = 200;

/** What recomputing the chain found. `from` is the first batch that is left: older months are dropped in whole. */
export type ChainReport =
  | { readonly intact: true; readonly from: number; readonly head: number; readonly hash: Uint8Array | null }
  | { readonly intact: false; readonly brokenAt: number };

/**
 * Recomputes the hash chain of the access log. It shows every change, removal and exchange of batches but that of the
 * newest ones together: whether the end is still there, only a signed checkpoint of it can tell.
 */
export async function verifyAccessChain(log: AccessLog): Promise<ChainReport> {
  let from = 0;
  let head = 0;
  let hash: Uint8Array | null = null;
  for (let page = await log.batches(0, pageSize); page.length > 0; page = await log.batches(head, pageSize)) {
    for (const { sequence, previous, hash: stored, entries } of page) {
      if (hash === null) from = sequence;
      const follows = hash === null || (sequence === head + 1 && Buffer.compare(previous, hash) === 0);
      const computed = batchHash(previous, sequence, entries.map(entryLine));
      if (!follows || Buffer.compare(computed, stored) !== 0) return { intact: false, brokenAt: sequence };
      head = sequence;
      hash = stored;
    }
  }
  return { intact: true, from, head, hash };
}
