import { batchHash } from '../../events/access-log/batch-hash.js';
import type { Checkpoint } from '../../events/audit/checkpoint.js';
import type { Problem } from './problem.js';

/** A batch with the lines that its hash is over; hashes in hex. */
export type LinedBatch = {
  readonly sequence: number;
  readonly previous: string;
  readonly hash: string;
  readonly lines: readonly string[];
};

/** Batches of a chain after a sequence, in order; empty: there are no more. */
export type BatchesAfter = (chain: string, afterSequence: number) => Promise<readonly LinedBatch[]>;

export type AccessReport = { readonly problem: Problem | null; readonly chains: number; readonly batches: number };

type Signed = { readonly sequence: number; readonly hash: string; readonly number: number; readonly time: number };

/**
 * Recomputes the chains of the access log and compares them with their ends that checkpoints have signed. What is older
 * than `keptFrom` (ms) may have been dropped by its age.
 */
export async function verifyAccess(
  chains: readonly string[],
  batchesAfter: BatchesAfter,
  checkpoints: readonly Checkpoint[],
  keptFrom: number,
): Promise<AccessReport> {
  const signed = signedEnds(checkpoints.filter(({ time }) => time >= keptFrom));
  let batches = 0;
  for (const chain of chains) {
    const ends = signed.get(chain) ?? [];
    const found = await verifyChain(chain, batchesAfter, ends);
    batches += found.batches;
    if (found.message !== null) return { problem: problem(found.message), chains: chains.length, batches };
  }
  for (const [chain, [first]] of signed) {
    if (chains.includes(chain) || first === undefined) continue;
    const message = `the access log lacks chain ${chain}, which checkpoint ${first.number} has signed`;
    return { problem: problem(message), chains: chains.length, batches };
  }
  return { problem: null, chains: chains.length, batches };
}

async function verifyChain(chain: string, batchesAfter: BatchesAfter, ends: readonly Signed[]) {
  const left = new Map(ends.map((end) => [end.sequence, end]));
  let last = 0;
  let hash: string | null = null;
  let batches = 0;
  const answer = (message: string | null) => ({ message, batches });
  for (let page = await batchesAfter(chain, 0); page.length > 0; page = await batchesAfter(chain, last)) {
    for (const batch of page) {
      const { sequence, previous, lines } = batch;
      const computed = batchHash(Buffer.from(previous, 'hex'), sequence, lines).toString('hex');
      const where = `batch ${sequence} of chain ${chain} of the access log`;
      if (computed !== batch.hash) return answer(`${where} was changed`);
      if (hash === null) {
        const lost = ends.find((end) => end.sequence < sequence);
        if (lost !== undefined)
          return answer(`${where} is the first; checkpoint ${lost.number} has signed earlier ones`);
      } else if (sequence !== last + 1 || previous !== hash) {
        return answer(`${where} does not follow the one before it: batches were removed or exchanged`);
      }
      const end = left.get(sequence);
      if (end !== undefined && end.hash !== batch.hash) {
        return answer(`up to ${where} it is not what checkpoint ${end.number} has signed`);
      }
      left.delete(sequence);
      last = sequence;
      hash = batch.hash;
      batches += 1;
    }
  }
  const [cut] = [...left.values()].sort((one, other) => one.sequence - other.sequence);
  if (cut === undefined) return answer(null);
  return answer(`the access log was cut: checkpoint ${cut.number} has signed batch ${cut.sequence} of chain ${chain}`);
}

function signedEnds(checkpoints: readonly Checkpoint[]): ReadonlyMap<string, readonly Signed[]> {
  const signed = new Map<string, Signed[]>();
  for (const { number, time, access } of checkpoints) {
    for (const { chain, sequence, hash } of access) {
      const ends = signed.get(chain) ?? [];
      ends.push({ sequence, hash, number, time });
      signed.set(chain, ends);
    }
  }
  return signed;
}

function problem(message: string): Problem {
  return { kind: 'access_log', message, position: null };
}
