import type { ChainBatch } from '../../audit/verify/verify-access.js';
import type { Checkpoint } from '../../events/audit/checkpoint.js';
import type { Answers } from '../operations.js';
import type { RunOperation } from '../run-command.js';
import type { AuditBegin } from './audit-begin-operation.js';

/**
 * Yields, chain by chain, the access log batches that belong to a range of the log. Skips batches covered by a
 * checkpoint before the range. If the range ends before the log does (`isPart`), also skips batches not covered by any
 * checkpoint in the range.
 */
export async function* accessBatches(
  run: RunOperation,
  { chains, signed_before: before }: AuditBegin,
  isPart: boolean,
  checkpoints: readonly Checkpoint[],
): AsyncGenerator<ChainBatch> {
  const ends = new Map<string, number>();
  for (const { access } of checkpoints) for (const { chain, sequence } of access) ends.set(chain, sequence);
  for (const chain of chains) {
    const end = isPart ? (ends.get(chain) ?? 0) : Number.POSITIVE_INFINITY;
    const start = before.find((signed) => signed.chain === chain)?.sequence ?? 0;
    for (let after: number | undefined = start; after !== undefined && after < end; ) {
      const answer: Answers['audit-access'] = await run('audit-access', { chain, after });
      for (const batch of answer.batches) if (batch.sequence <= end) yield { chain, ...batch };
      after = answer.batches.at(-1)?.sequence;
    }
  }
}
