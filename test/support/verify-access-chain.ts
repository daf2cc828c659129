import { verifyAccess } from '#src/audit/verify/verify-access.js';
import { linesOf } from '#src/events/access-log/batch-hash.js';
import type { AccessLog } from '#src/ports/access-log.js';

const pageSize = 200;

/** The sequence numbers of the first and the last stored batch of a chain. */
export type StoredChain = { readonly chain: string; readonly from: number; readonly head: number };

/** What `audit verify` finds in the access log: the description of a fault, or null. */
export type ChainReport = { readonly problem: string | null; readonly chains: readonly StoredChain[] };

/**
 * Verifies the chains of the access log as `audit verify` does, without checkpoints. By default, each chain must begin
 * with batch 1. If `hasDropped` is true, the months of the first batches may have been removed.
 */
export async function verifyAccessChain(log: AccessLog, { hasDropped = false } = {}): Promise<ChainReport> {
  const chains: StoredChain[] = [];
  async function* stored() {
    for (const chain of await log.chains()) {
      const found = { chain, from: 0, head: 0 };
      chains.push(found);
      const next = () => log.batches(chain, found.head, pageSize);
      for (let page = await next(); page.length > 0; page = await next()) {
        for (const { sequence, previous, hash, entries } of page) {
          if (found.from === 0) found.from = sequence;
          found.head = sequence;
          yield { chain, sequence, previous: hex(previous), hash: hex(hash), lines: linesOf(entries) };
        }
      }
    }
  }
  // A checkpoint from before the time that the log must contain makes it possible that batches were removed.
  const checkpoints = hasDropped ? [{ number: 1, time: 0, access: [] }] : [];
  const { problem } = await verifyAccess(stored(), { checkpoints, from: null, mustContainFrom: 1 });
  return { problem: problem?.message ?? null, chains };
}

/** Returns the total number of batches in all chains. */
export function batchCount({ problem, chains }: ChainReport): number {
  if (problem !== null) throw new Error(problem);
  return chains.reduce((count, { from, head }) => count + head - from + 1, 0);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
