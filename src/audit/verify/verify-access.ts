import { batchHash } from '../../events/access-log/batch-hash.js';
import type { Checkpoint } from '../../events/audit/checkpoint.js';
import type { Problem } from './problem.js';

/** A batch of access-log entries. `lines` are the lines of text that are hashed. Hashes are in hex. */
export type LinedBatch = {
  readonly sequence: number;
  readonly previous: string;
  readonly hash: string;
  readonly lines: readonly string[];
};

export type ChainBatch = LinedBatch & { readonly chain: string };

export type AccessChecks = {
  /** The checkpoints to compare with. The access log must contain the chain ends that they sign. */
  readonly checkpoints: readonly Checkpoint[];
  /**
   * The batches begin after this checkpoint, and continue the chains from the ends signed by it. If it is null, the
   * batches are the whole access log.
   */
  readonly from: Checkpoint | null;
  /** Batches from before this time (in ms) may be missing, because the service removes old batches. */
  readonly mustContainFrom: number;
};

export type AccessReport = { readonly problem: Problem | null; readonly chains: number; readonly batches: number };

type Signed = { readonly sequence: number; readonly hash: string; readonly number: number };

/**
 * Recomputes the chains of the access log, and compares them with the chain ends signed by checkpoints. In `batches`,
 * the batches of each chain must be adjacent and in order.
 */
export async function verifyAccess(
  batches: AsyncIterable<ChainBatch>,
  { checkpoints, from, mustContainFrom }: AccessChecks,
): Promise<AccessReport> {
  const signed = signedEnds(checkpoints.filter(({ time }) => time >= mustContainFrom));
  const before = signedEnds(from === null ? [] : [from]);
  const seen = new Set<string>();
  let chain: ReturnType<typeof createChain> | null = null;
  let count = 0;
  const report = (message: string | null): AccessReport => ({
    problem: message === null ? null : { kind: 'access_log', message, position: null },
    chains: seen.size,
    batches: count,
  });

  for await (const batch of batches) {
    if (chain?.name !== batch.chain) {
      const cut = chain?.cut() ?? null;
      if (cut !== null) return report(cut);
      if (seen.has(batch.chain)) return report(`chain ${batch.chain} of the access log is broken`);
      seen.add(batch.chain);
      chain = createChain(batch.chain, signed.get(batch.chain) ?? [], before.get(batch.chain)?.[0] ?? null);
    }
    const wrong = chain.next(batch);
    if (wrong !== null) return report(wrong);
    count += 1;
  }
  const cut = chain?.cut() ?? null;
  if (cut !== null) return report(cut);
  for (const [name, [first]] of signed) {
    if (seen.has(name) || first === undefined) continue;
    return report(`the access log lacks chain ${name}, which checkpoint ${first.number} has signed`);
  }
  return report(null);
}

/**
 * Returns a verifier for one chain. The chain must contain all batches in `ends`. If `start` is set, the first batch
 * must come right after the batch `start`. The methods return a description of the fault that they find, or null.
 */
function createChain(name: string, ends: readonly Signed[], start: Signed | null) {
  const left = new Map(ends.map((end) => [end.sequence, end]));
  let last: { readonly sequence: number; readonly hash: string } | null = start;
  let isFirst = true;
  return {
    name,
    next({ sequence, previous, hash, lines }: LinedBatch): string | null {
      const where = `batch ${sequence} of chain ${name} of the access log`;
      const computed = batchHash(Buffer.from(previous, 'hex'), sequence, lines).toString('hex');
      if (computed !== hash) return `${where} was changed`;
      const lost = isFirst ? ends.find((end) => end.sequence < sequence) : undefined;
      if (lost !== undefined) return `${where} is the first; checkpoint ${lost.number} has signed earlier ones`;
      if (last !== null && (sequence !== last.sequence + 1 || previous !== last.hash)) {
        return `${where} does not follow the one before it: batches were removed or replaced`;
      }
      const end = left.get(sequence);
      if (end !== undefined && end.hash !== hash) {
        return `up to ${where} it is not what checkpoint ${end.number} has signed`;
      }
      left.delete(sequence);
      last = { sequence, hash };
      isFirst = false;
      return null;
    },
    /** Describes which signed batches are missing at the end of the chain. Returns null if none is missing. */
    cut(): string | null {
      const [first] = [...left.values()].sort((one, other) => one.sequence - other.sequence);
      if (first === undefined) return null;
      return `the access log was cut: checkpoint ${first.number} has signed batch ${first.sequence} of chain ${name}`;
    },
  };
}

function signedEnds(checkpoints: readonly Checkpoint[]): ReadonlyMap<string, readonly Signed[]> {
  const signed = new Map<string, Signed[]>();
  for (const { number, access } of checkpoints) {
    for (const { chain, sequence, hash } of access) {
      const ends = signed.get(chain) ?? [];
      ends.push({ sequence, hash, number });
      signed.set(chain, ends);
    }
  }
  return signed;
}
