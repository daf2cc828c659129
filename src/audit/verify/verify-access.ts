import { batchHash, noBatch } from '../../events/access-log/batch-hash.js';
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

/** What a checkpoint says about the access log. */
type AccessCheckpoint = Pick<Checkpoint, 'number' | 'time' | 'access'>;

export type AccessChecks = {
  /** The checkpoints to compare with. The access log must contain the chain ends that they sign. */
  readonly checkpoints: readonly AccessCheckpoint[];
  /**
   * The batches begin after this checkpoint, and continue the chains from the ends signed by it. If it is null, the
   * batches are the whole access log.
   */
  readonly from: AccessCheckpoint | null;
  /** Batches from before this time (in ms) may be missing, because the service removes old batches. */
  readonly mustContainFrom: number;
};

export type AccessReport = { readonly problem: Problem | null; readonly chains: number; readonly batches: number };

type Signed = { readonly sequence: number; readonly hash: string; readonly number: number };
type Place = Pick<Signed, 'sequence' | 'hash'>;

/** The place before the first batch of a chain. */
const beginning: Place = { sequence: 0, hash: Buffer.from(noBatch).toString('hex') };

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
  // If no checkpoint is so old that batches from its time may be missing, the service has not removed any batch yet.
  const isWhole = from === null && checkpoints.every(({ time }) => time >= mustContainFrom);
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
      const start = isWhole ? beginning : (before.get(batch.chain)?.[0] ?? null);
      chain = createChain(batch.chain, signed.get(batch.chain) ?? [], start);
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
function createChain(name: string, ends: readonly Signed[], start: Place | null) {
  const left = new Map(ends.map((end) => [end.sequence, end]));
  let last = start;
  return {
    name,
    next({ sequence, previous, hash, lines }: LinedBatch): string | null {
      const where = `batch ${sequence} of chain ${name} of the access log`;
      const computed = batchHash(Buffer.from(previous, 'hex'), sequence, lines).toString('hex');
      if (computed !== hash) return `${where} was changed`;
      if (sequence === last?.sequence && hash === last.hash) {
        return `${where} is stored twice: \`strongroom doctor\` names the files`;
      }
      if (last !== null && (sequence !== last.sequence + 1 || previous !== last.hash)) {
        return `${where} does not follow the one before it: batches were removed or replaced`;
      }
      const end = left.get(sequence);
      if (end !== undefined && end.hash !== hash) {
        return `the entries up to ${where} are not those that checkpoint ${end.number} has signed`;
      }
      left.delete(sequence);
      last = { sequence, hash };
      return null;
    },
    /** Describes the first signed batch that is missing, after the last batch. Returns null if none is missing. */
    cut(): string | null {
      const [first] = [...left.values()].sort((one, other) => one.sequence - other.sequence);
      if (first === undefined) return null;
      const { number, sequence } = first;
      return `the access log was truncated: checkpoint ${number} has signed batch ${sequence} of chain ${name}`;
    },
  };
}

function signedEnds(checkpoints: readonly AccessCheckpoint[]): ReadonlyMap<string, readonly Signed[]> {
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
