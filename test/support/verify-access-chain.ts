import { batchHash, linesOf } from '#src/events/access-log/batch-hash.js';
import type { AccessLog } from '#src/ports/access-log.js';

const pageSize = 200;

/** A valid chain. `from` is the oldest batch that still exists, because the vault deletes the batches of old months. */
export type IntactChain = { readonly chain: string; readonly from: number; readonly head: number };

/** The result of recomputing the access log's chains. */
export type ChainReport =
  | { readonly intact: true; readonly chains: readonly IntactChain[] }
  | { readonly intact: false; readonly brokenAt: number };

/**
 * Recomputes the hash chain of each access log writer. This detects every changed, removed or swapped batch, with one
 * exception: only a signed checkpoint reveals that the newest batches of a chain were removed.
 */
export async function verifyAccessChain(log: AccessLog): Promise<ChainReport> {
  const chains: IntactChain[] = [];
  for (const chain of await log.chains()) {
    const found = await verifyOne(log, chain);
    if ('brokenAt' in found) return { intact: false, brokenAt: found.brokenAt };
    chains.push(found);
  }
  return { intact: true, chains };
}

/** Returns the total number of batches in all chains. */
export function batchCount(report: ChainReport): number {
  if (!report.intact) throw new Error('a chain is broken');
  return report.chains.reduce((count, { from, head }) => count + head - from + 1, 0);
}

async function verifyOne(log: AccessLog, chain: string): Promise<IntactChain | { readonly brokenAt: number }> {
  let from = 0;
  let head = 0;
  let hash: Uint8Array | null = null;
  const after = (sequence: number) => log.batches(chain, sequence, pageSize);
  for (let page = await after(0); page.length > 0; page = await after(head)) {
    for (const { sequence, previous, hash: stored, entries } of page) {
      if (hash === null) from = sequence;
      const follows = hash === null || (sequence === head + 1 && Buffer.compare(previous, hash) === 0);
      const computed = batchHash(previous, sequence, linesOf(entries));
      if (!follows || Buffer.compare(computed, stored) !== 0) return { brokenAt: sequence };
      head = sequence;
      hash = stored;
    }
  }
  return { chain, from, head };
}
